#pragma once

#include <vector>

#include "limb/control/qp/qp.hpp"

/// Model-predictive control of the contact forces with a single-rigid-body model.
/// [Di Carlo 2018]; docs/whole_body.md.
namespace limb {

struct MpcOptions {
  int steps = 10;               ///< of the horizon
  double step = 0.03;           ///< s
  double friction = 0.6;        ///< coefficient that the forces may use
  double max_normal_force = 0;  ///< N, per foot; 0: twice the weight

  /// Weights of squared errors at every step; angular errors in rad, rad/s about world axes.
  Vector3<double> turn = {20, 20, 10}, position = {10, 10, 50};
  Vector3<double> angular_velocity = {0.3, 0.3, 0.5}, velocity = {2, 2, 1};
  double force = 0.3;  ///< of the squared deviation from equal forces, in units of the weight
  QpOptions qp = {1e-5, 30, 50, 0};  ///< forces are in units of the weight there
};

/// The present state of the body, its reference and the contact schedule.
struct MpcProblem {
  MpcProblem(int feet, int steps);

  Vector3<double> turn;  ///< rotation vector from the desired orientation to the present one, world
  Vector3<double> p, w, v;  ///< mass centre, angular velocity, velocity, world axes
  Matrix3<double> inertia;  ///< about the mass centre, world axes
  /// Desired at the end of each step; the desired orientation rotates with w_desired.
  std::vector<Vector3<double>> p_desired, v_desired;
  Vector3<double> w_desired;
  /// For each step and foot (step * feet + foot): whether it is in stance, and its position.
  std::vector<char> stands;
  std::vector<Vector3<double>> feet;
};

/// Convex MPC: orientation errors are assumed small, the gyroscopic moment is neglected, and the
/// footholds are given. The states are eliminated; the variables are the forces of the stance feet.
/// After the construction only the solver may allocate.
class SingleBodyMpc {
 public:
  /// @throws Error for parameters out of range.
  SingleBodyMpc(int feet, double mass, const Vector3<double>& gravity,
                const MpcOptions& options = {});

  /// Without a solution, the forces share the weight equally.
  Status solve(const MpcProblem& problem) noexcept;

  /// Results of the last solve: forces of the first step, N, world axes, and the accelerations that
  /// they cause.
  const std::vector<Vector3<double>>& forces() const { return forces_; }
  const Vector3<double>& acceleration() const { return a_; }
  const Vector3<double>& angular_acceleration() const { return dw_; }
  QpResiduals residuals() const { return used_->residuals(); }
  int iterations() const { return used_->iterations(); }
  int variables() const { return used_->variables(); }
  const MpcOptions& options() const { return options_; }

 private:
  struct Slot {
    int step, foot;
    Matrix3<double> B;  ///< angular acceleration per unit of this force
  };
  void write(const MpcProblem& problem);

  int feet_;
  double mass_;
  Vector3<double> gravity_;
  MpcOptions options_;
  std::vector<Qp> programs_;  ///< for up to half, three quarters and all of the feet in stance
  Qp* used_;
  std::vector<Slot> slots_;
  int count_ = 0;
  std::vector<double> position_sum_, velocity_sum_;  ///< for each pair of steps
  std::vector<Vector3<double>> forces_, angular_gradient_, linear_gradient_;
  Vector3<double> a_ = Vector3<double>::Zero(), dw_ = Vector3<double>::Zero();
};

}  // namespace limb
