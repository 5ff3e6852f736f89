#pragma once

#include <functional>
#include <utility>

#include "limb/dynamics/arguments.hpp"

/// State and equation of motion of a robot, for integrators.
namespace limb {

/// State of a robot: configuration q, velocities v, and further states x, such as the lags of
/// motors.
template <typename T>
struct RobotState {
  T t = T(0);  ///< s
  VectorX<T> q, v, x;
};

/// The neutral configuration at rest, with `extra` zeros in x.
template <typename T>
RobotState<T> make_state(const Model<T>& model, int extra = 0);

/// An equation of motion: dv/dt = a, dx/dt = dx, and q moves with v.
template <typename T>
class Equation {
 public:
  virtual ~Equation() = default;
  /// Writes a and dx/dt at the state. Integrators call it many times per step: it should not
  /// allocate.
  virtual void rates(const RobotState<T>& s, VectorX<T>& a, VectorX<T>& dx) = 0;
  /// The same at the start of a step of the semi-implicit method, before add_impulses(): an
  /// equation whose add_impulses() computes the velocities by itself may leave a at zero.
  virtual void step_rates(const RobotState<T>& s, VectorX<T>& a, VectorX<T>& dx) {
    rates(s, a, dx);
  }
  /// Impulses in a step: exact friction, stops, contacts. Changes the velocities v at the end of a
  /// step of length h from the state `before`. Called only by the semi-implicit method, before v
  /// moves the configuration.
  virtual void add_impulses(const RobotState<T>& before, const T& h, VectorX<T>& v);
  /// Called by the implicit midpoint rule, which may divide a step, after each part: its length,
  /// and the velocities in its middle, at which rates() was evaluated last.
  virtual void end_part(const T& h, const VectorX<T>& v, bool first);
};

template <typename T>
void Equation<T>::end_part(const T&, const VectorX<T>&, bool) {}

template <typename T>
void Equation<T>::add_impulses(const RobotState<T>&, const T&, VectorX<T>&) {}

/// An equation of motion from a function (state, a, dx).
template <typename T, typename Function>
class FunctionEquation final : public Equation<T> {
 public:
  explicit FunctionEquation(Function function) : function_(std::move(function)) {}
  void rates(const RobotState<T>& s, VectorX<T>& a, VectorX<T>& dx) override {
    function_(s, a, dx);
  }

 private:
  Function function_;
};
template <typename T, typename Function>
FunctionEquation<T, Function> make_equation(Function function) {
  return FunctionEquation<T, Function>(std::move(function));
}

}  // namespace limb
