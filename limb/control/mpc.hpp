#pragma once

#include <vector>

#include "limb/control/qp.hpp"

/// Forces of the feet over a while ahead, for a robot that is taken for one rigid body.
/// [Di Carlo 2018]; docs/whole_body.md.
namespace limb {

struct MpcOptions {
  int steps = 10;               ///< of the horizon
  double step = 0.03;           ///< s
  double friction = 0.6;        ///< that the forces may use
  double max_normal_force = 0;  ///< N, a foot; 0: twice the weight

  /// Weights of squared errors at every step; angular ones in rad, rad/s about world axes.
  Vector3<double> turn = {20, 20, 10}, position = {10, 10, 50};
  Vector3<double> angular_velocity = {0.3, 0.3, 0.5}, velocity = {2, 2, 1};
  double force = 0.3;  ///< of a force equal to the weight, squared, beyond an even share of it
  QpOptions qp = {1e-5, 30, 50, 0};  ///< forces count in weights there
};

/// A body now, and what is wanted of it.
struct MpcProblem {
  MpcProblem(int feet, int steps);

  Vector3<double> turn;  ///< rotation vector from the wanted orientation to the present one, world
  Vector3<double> p, w, v;  ///< mass centre, angular velocity, velocity, world axes
  Matrix3<double> inertia;  ///< about the mass centre, world axes
  /// Wanted at the end of each step; the orientation turns with w_wanted.
  std::vector<Vector3<double>> p_wanted, v_wanted;
  Vector3<double> w_wanted;
  /// Of each step and foot (step * feet + foot): whether it stands, and where.
  std::vector<char> stands;
  std::vector<Vector3<double>> feet;
};

/// Convex: orientation errors are small, the gyroscopic moment is left out, and where the feet
/// stand is given. States are eliminated; the variables are the forces of feet that stand. After
/// its construction nothing allocates but the solver.
class SingleBodyMpc {
 public:
  /// @throws Error for numbers out of range.
  SingleBodyMpc(int feet, double mass, const Vector3<double>& gravity,
                const MpcOptions& options = {});

  /// Where it is not solved, the even share of the weight.
  QpStatus solve(const MpcProblem& problem) noexcept;

  /// Of the last solve: forces of the first step, N, world axes; what they do to the body.
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
    Matrix3<double> B;  ///< angular acceleration by this force
  };
  void write(const MpcProblem& problem);

  int feet_;
  double mass_;
  Vector3<double> gravity_;
  MpcOptions options_;
  std::vector<Qp> programs_;  ///< for up to a half, three quarters, all of the feet standing
  Qp* used_;
  std::vector<Slot> slots_;
  int count_ = 0;
  std::vector<double> position_sum_, velocity_sum_;  ///< of each pair of steps
  std::vector<Vector3<double>> forces_, turn_pull_, pull_;
  Vector3<double> a_ = Vector3<double>::Zero(), dw_ = Vector3<double>::Zero();
};

}  // namespace limb
