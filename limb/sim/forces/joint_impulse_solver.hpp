#pragma once

#include <Eigen/Cholesky>

#include "limb/dynamics/recursive/aba.hpp"
#include "limb/sim/forces/joint_laws.hpp"

namespace limb {

class DelassusMatrix;

/// Coulomb friction and hard stops of the model's joints, exact for a step of any length: impulses
/// p within their bounds such that, at the end of the step,
///
///   friction   |p| <= h f,    and the joint is at rest if |p| < h f
///   stops       p >= 0,       and the joint moves away from the stop, or p > 0
///
/// A sticking joint does not creep. The velocities at the end of the step are v + M^-1 G^T p,
/// with the loops of the model closed. [Stewart 2000, time-stepping with friction]
class JointImpulseSolver {
 public:
  struct Parameters {
    bool friction = true, stops = true;
    FrictionCurve curve = {};  ///< static_ratio and stribeck_speed are used
    double restitution = 0;    ///< of a stop: rebound speed over approach speed, 0 to 1
  };
  JointImpulseSolver(const Model<double>& model, const Parameters& parameters);

  int rows() const { return static_cast<int>(rows_.size()); }
  /// Adds the effect of the impulses to v: on input the velocities at the end of a step of length h
  /// from the state `before`, without these impulses. `work` is scratch of forward dynamics. Does
  /// not allocate.
  /// mass: the mass matrix of the step, factored; null: that of the model.
  void apply(const Model<double>& model, Workspace<double>& work, const RobotState<double>& before,
             double h, VectorX<double>& v, DelassusMatrix* mass = nullptr);
  /// Displacement at the end of the step that returns joints beyond their stops, in position only:
  /// a velocity would add energy; null: none.
  const VectorX<double>* correction() const { return has_correction_ ? &correction_ : nullptr; }
  /// J, what friction and stops took in the last apply(), for the mean velocity of the step.
  double friction_dissipated() const { return friction_dissipated_; }
  double stops_dissipated() const { return stops_dissipated_; }

  // For a problem that includes other impulses too (Contacts): the rows that are active in a step,
  // with the arguments of apply(), and their bounds.

  /// Selects the active rows. @returns their number.
  int choose_rows(const Model<double>& model, const RobotState<double>& before, double h,
                  const VectorX<double>& v);
  int row(int k) const { return active_[static_cast<std::size_t>(k)]; }  ///< index in rows()
  int joint_velocity(int k) const { return rows_[static_cast<std::size_t>(row(k))].coordinate.v; }
  double lower(int k) const { return lower_[k]; }
  double upper(int k) const { return upper_[k]; }
  double velocity_error(int k) const { return velocity_error_[k]; }  ///< end velocity minus target
  double end_velocity(int k) const { return v_[joint_velocity(k)]; }
  /// Distance of the joint beyond its stop at the start of the step, and the direction back, +1 or
  /// -1; both 0 for friction.
  double beyond(int k) const { return beyond_[k]; }
  double return_sign(int k) const { return rows_[static_cast<std::size_t>(row(k))].sign; }
  /// Whether the end velocities v, changed by other impulses, violate stops that were not active.
  /// choose_rows() then includes these until clear_missed().
  bool find_missed(const Model<double>& model, double h, const VectorX<double>& v);
  void clear_missed();

 private:
  struct Row {
    JointCoordinate coordinate;
    double friction;     ///< N m or N; 0: a stop
    double level, sign;  ///< of a stop: sign (q - level) >= 0
  };
  double velocity(const Row& row) const { return v_[row.coordinate.v]; }
  void responses(const Model<double>& model, Workspace<double>& work,
                 const RobotState<double>& before, DelassusMatrix* mass);
  enum class At : char { free, lower, upper };
  void correct_positions();
  void solve_free();
  At next_side(Eigen::Index i, double slack) const;
  void pivot();

  Parameters parameters_;
  std::vector<Row> rows_;
  // Active rows of the step:
  std::vector<int> active_;
  VectorX<double> q_, v_, unit_, tau_, a0_, zero_;
  MatrixX<double> response_;  ///< columns M^-1 G^T of the active rows, in the robot's velocities
  MatrixX<double> W_;         ///< G M^-1 G^T of the active rows
  VectorX<double> p_, lower_, upper_, velocity_error_, right_, beyond_;
  VectorX<double> begin_velocity_;  ///< of the active rows
  double friction_dissipated_ = 0, stops_dissipated_ = 0;
  VectorX<double> correction_, position_impulse_;
  bool has_correction_ = false;
  std::vector<char> missed_;  ///< per row
  std::vector<At> at_, next_;
  std::vector<int> free_;
  MatrixX<double> block_;
  Eigen::LDLT<MatrixX<double>> factor_;
};

}  // namespace limb
