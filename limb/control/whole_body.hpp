#pragma once

#include <vector>

#include "limb/control/qp.hpp"
#include "limb/dynamics/center_of_mass.hpp"
#include "limb/dynamics/frames.hpp"
#include "limb/dynamics/workspace.hpp"

/// Torques for a robot that stands on its feet, from accelerations that one wants: one quadratic
/// program a step over accelerations and forces of the contacts (docs/whole_body.md).
namespace limb {

/// A part of the robot that may stand on the ground: a frame with one point (a ball foot) or with
/// three and more (a sole, its corners), given in the frame's axes.
struct Foot {
  FrameId frame;
  std::vector<Vector3<double>> points = {Vector3<double>::Zero()};
  bool is_sole() const { return points.size() > 1; }
};

/// Which tasks come first: a lower number before a higher one, strictly. Tasks of one number share
/// by their weights.
struct TaskPriorities {
  int mass_center = 0, turn = 0, swing = 0, posture = 0, force = 0;
};

struct WholeBodyOptions {
  double friction = 0.6;  ///< that the forces may use; less than the ground is thought to have
  int cone_faces = 4;     ///< of the pyramid inside the cone of friction; even, 4 or more
  double max_normal_force = 0;  ///< N, at one point; 0: four times the weight
  double effort_share = 1;      ///< of the torques that the motors can
  VectorX<double> effort;       ///< N m, N: of each velocity; empty: what the model says

  double mass_center_weight = 10;  ///< of its acceleration, each component
  double turn_weight = 3;          ///< of the angular acceleration of the base
  double swing_weight = 3;         ///< of a foot in the air; of its turning, too, if it is a sole
  double posture_weight = 1e-3;    ///< of each joint's acceleration
  double force_weight = 1e-3;      ///< of a force equal to the weight, squared

  /// All alike: one program. Else one for each number, in which what the tasks before have reached
  /// is kept by equations.
  TaskPriorities priority = {};

  double contact_damping = 50;       ///< 1/s: the rate at which what moves of a standing foot stops
  double contact_brake = 20;         ///< m/s^2, rad/s^2: but no harder than this
  double limit_rate = 50;            ///< 1/s: the rate at which a joint may approach its limit
  double fall_back_stiffness = 0.3;  ///< of the effort of a joint at an error of 1 rad
  double fall_back_damping = 0.02;   ///< of the effort of a joint at 1 rad/s
  QpOptions qp = {};                 ///< forces and torques count in weights there
};

/// What one wants in this step. Vectors are in world axes.
struct WholeBodyTargets {
  struct Limb {
    bool stands = true;
    Vector3<double> normal = Vector3<double>::UnitZ();  ///< of the ground, unit
    Vector3<double> force = Vector3<double>::Zero();    ///< N: of a standing foot, all its points
    Motion<double> acceleration;  ///< of a foot in the air: of its point; of a sole, turning too
  };
  std::vector<Limb> feet;
  Vector3<double> mass_center = Vector3<double>::Zero();  ///< its acceleration, m/s^2
  Vector3<double> turn = Vector3<double>::Zero();  ///< angular acceleration of the base, rad/s^2
  VectorX<double> posture;                         ///< accelerations; those of motors are read
};

struct WholeBodyReport {
  QpStatus status = QpStatus::solved;
  bool fell_back = false;  ///< the torques are those of the fall-back, not of the program
  int levels = 0;  ///< of priority that were solved; torques are those of the last one of them
  int iterations = 0;
  QpResiduals residuals;              ///< of the program
  double outside_cone = 0;            ///< N: how far a force is outside its pyramid or pulls
  double over_limit = 0;              ///< N m: how far a torque is beyond what its motor can
  double setup_us = 0, solve_us = 0;  ///< to write the program, to solve it
};

/// Holds the model's numbers, the program, and room for both: after its construction nothing
/// allocates, and no step throws.
///
///   minimise  sum over tasks of weight |J a + dJ v - wanted|^2
///   where     M a + h = S^T tau + J_c^T f           (rows without motors as equations)
///             J_c a + dJ_c v = -damping v_c          for feet that stand, f = 0 for the others
///             f in the pyramid, |tau| <= effort, joints stay inside their limits
class WholeBody {
 public:
  /// @throws Error for feet that are no frames of the model, none at all or with two points,
  /// numbers out of range, models with loops, or a limb without a solver of quadratic programs. The
  /// model must outlive this.
  WholeBody(const Model<double>& model, std::vector<Foot> feet,
            const WholeBodyOptions& options = {});

  /// Where everything is now. @throws Error for wrong sizes.
  void update(VectorIn<double>& q, VectorIn<double>& v);

  /// Of the last update: kinematics, mass centre and its velocity; of feet the one point, or the
  /// origin of the sole's frame.
  const Kinematics<double>& kinematics() const { return kinematics_; }
  const Vector3<double>& mass_center() const { return p_WC_; }
  const Vector3<double>& mass_center_velocity() const { return v_WC_; }
  Vector3<double> foot_position(int foot) const;
  Vector3<double> foot_velocity(int foot) const;
  const MatrixX<double>& mass_matrix() const { return M_; }

  /// Torques at the last update's state, on all of the robot's velocities, zero without motors.
  /// Where the program has no solution, or none was found in time: weight carried by the standing
  /// feet, and joints held with springs where they were when this began.
  const VectorX<double>& solve(const WholeBodyTargets& targets) noexcept;

  /// Of the last solve.
  const WholeBodyReport& report() const { return report_; }
  const VectorX<double>& torque() const { return tau_; }
  const VectorX<double>& acceleration() const { return a_; }
  /// 3 x points of all feet, in world axes.
  const Matrix3X<double>& forces() const { return f_; }
  Vector3<double> foot_force(int foot) const;
  /// Torques as shares of what their motors can, -1 to 1; zero where there is no limit.
  void effort_shares(Eigen::Ref<VectorX<double>> shares) const;

  const Model<double>& model() const { return model_; }
  const std::vector<Foot>& feet() const { return feet_; }
  const WholeBodyOptions& options() const { return options_; }
  /// Targets of the right sizes: all feet stand, nothing accelerates.
  WholeBodyTargets targets() const;
  /// Of the last level.
  Qp& program() { return levels_.back().program; }

 private:
  struct Joint {
    int velocity, position;  ///< where it stands; position -1: no single number
    double effort, lower, upper, speed;
  };
  struct Place {
    int first_point, first_row, rows;
  };

  /// Tasks of one priority, and the equations that keep what those before have reached.
  struct Level {
    int priority;
    int kept;  ///< equations
    Qp program;
  };

  void make_levels();
  int task_rows(int before) const;
  void write_tasks(const WholeBodyTargets& targets, const Level& level, Qp& qp);
  void write_dynamics(Qp& qp);
  void write_feet(const WholeBodyTargets& targets, Qp& qp);
  void write_limits(Qp& qp);
  void write_kept(const WholeBodyTargets& targets, const Level& level, Qp& qp);
  bool serves(const Qp& qp, QpStatus status) const;
  void judge(const WholeBodyTargets& targets);
  void fall_back(const WholeBodyTargets& targets);
  /// How hard a standing foot that moves is stopped.
  Vector3<double> brake(const Vector3<double>& v) const;
  /// Bounds on the acceleration of a joint that keep it inside its limits.
  void acceleration_bounds(const Joint& joint, double& lower, double& upper) const;

  const Model<double>& model_;
  std::vector<Foot> feet_;
  WholeBodyOptions options_;
  int n_, points_ = 0;
  std::vector<Joint> joints_;  ///< with motors
  std::vector<int> undriven_;
  std::vector<Place> places_;
  double weight_;  ///< N
  std::vector<Level> levels_;
  VectorX<double> x_;  ///< of the last level that was solved

  Workspace<double> work_;
  Kinematics<double> kinematics_;
  SubtreeScratch<double> scratch_;
  VectorX<double> q_, v_, h_, a_, tau_, hold_, gravity_;
  MatrixX<double> M_;
  Matrix3X<double> J_com_, f_;
  Matrix6X<double> J_base_;
  std::vector<AnyFrame<double>> frames_;    ///< of the feet: where their one point is, or the sole
  std::vector<Matrix6X<double>> J_feet_;    ///< of these, local world aligned
  std::vector<Matrix3X<double>> J_points_;  ///< of all points
  std::vector<Motion<double>> V_feet_, bias_feet_;
  std::vector<Vector3<double>> p_points_;
  Vector3<double> p_WC_, v_WC_, bias_com_;
  Motion<double> bias_base_;
  std::vector<Vector3<double>> directions_;  ///< of the pyramid's faces, in the plane
  bool holding_ = false;
  WholeBodyReport report_;
};

}  // namespace limb
