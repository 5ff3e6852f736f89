#pragma once

#include <functional>
#include <utility>

#include "limb/dynamics/arguments.hpp"

/// What is integrated: a robot's state, and what says how it changes.
namespace limb {

/// A robot at a moment: coordinates q on its manifold, velocities v, and whatever else has a rate,
/// such as the lag of motors.
template <typename T>
struct State {
  T t = T(0);  ///< s
  VectorX<T> q, v, x;
};

/// The neutral configuration at rest, with `extra` zeros in x.
template <typename T>
State<T> make_state(const Model<T>& model, int extra = 0);

/// An equation of motion: dv/dt = a, dx/dt as this says, and q moves with v.
template <typename T>
class Equation {
 public:
  virtual ~Equation() = default;
  /// Writes a and dx/dt at the state. Integrators call it many times a step: it should not
  /// allocate.
  virtual void rates(const State<T>& s, VectorX<T>& a, VectorX<T>& dx) = 0;
  /// What happens in a step at once and not at a rate: exact friction, stops, contacts. Changes the
  /// velocities v at the end of a step of length h that began in `before`. Asked by the
  /// semi-implicit method alone, before v moves the position.
  virtual void add_impulses(const State<T>& before, const T& h, VectorX<T>& v);
};

template <typename T>
void Equation<T>::add_impulses(const State<T>&, const T&, VectorX<T>&) {}

/// An equation of motion from a function (state, a, dx).
template <typename T, typename Function>
class FunctionEquation final : public Equation<T> {
 public:
  explicit FunctionEquation(Function function) : function_(std::move(function)) {}
  void rates(const State<T>& s, VectorX<T>& a, VectorX<T>& dx) override { function_(s, a, dx); }

 private:
  Function function_;
};
template <typename T, typename Function>
FunctionEquation<T, Function> make_equation(Function function) {
  return FunctionEquation<T, Function>(std::move(function));
}

}  // namespace limb
