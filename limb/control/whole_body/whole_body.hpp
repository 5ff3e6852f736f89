#pragma once

#include <vector>

#include "limb/control/qp/qp.hpp"
#include "limb/dynamics/kinematics/center_of_mass.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/recursive/workspace.hpp"

/// Whole-body control of a robot on its feet: torques from desired accelerations, by one quadratic
/// program per step over accelerations and contact forces (docs/whole_body.md).
namespace limb {

/// A foot: a frame with one contact point (a ball foot) or three and more (the corners of a sole),
/// given in the axes of the frame.
struct Foot {
  FrameId frame;
  std::vector<Vector3<double>> points = {Vector3<double>::Zero()};
  bool is_sole() const { return points.size() > 1; }
};

/// Strict priorities of the tasks, a lower number before a higher one. Tasks with the same number
/// are traded off by their weights.
struct TaskPriorities {
  int mass_center = 0, turn = 0, swing = 0, posture = 0, force = 0;
};

struct WholeBodyOptions {
  double friction = 0.6;  ///< coefficient that the forces may use; less than that of the ground
  int cone_faces = 4;     ///< of the pyramid inside the friction cone; even, 4 or more
  double max_normal_force = 0;  ///< N, at one point; 0: four times the weight
  double effort_share = 1;      ///< fraction of the effort limits that may be used
  VectorX<double> effort;       ///< N m or N, limit of each velocity; empty: those of the model

  double mass_center_weight = 10;   ///< of its acceleration, each component
  double turn_weight = 3;           ///< of the angular acceleration of the base
  double swing_weight = 3;          ///< of the acceleration of a swing foot; of a sole, angular too
  double posture_weight = 1e-3;     ///< of each joint's acceleration
  VectorX<double> posture_weights;  ///< the same for each velocity; empty: posture_weight for all
  double force_weight = 1e-3;       ///< of a force equal to the weight, squared

  /// All equal: one program. Otherwise one program per number, in which equality constraints fix
  /// the results of the tasks before.
  TaskPriorities priority = {};

  double contact_damping = 50;       ///< 1/s: rate at which the velocity of a stance foot decays
  double contact_brake = 20;         ///< m/s^2, rad/s^2: bound on that deceleration
  double limit_rate = 50;            ///< 1/s: the rate at which a joint may approach its limit
  double fall_back_stiffness = 0.3;  ///< fraction of the torque limit per rad
  double fall_back_damping = 0.02;   ///< fraction of the torque limit per rad/s
  QpOptions qp = {};                 ///< forces and torques are in units of the weight there
};

/// Targets of one step. Vectors are in world axes.
struct WholeBodyTargets {
  struct FootTarget {
    bool stands = true;
    Vector3<double> normal = Vector3<double>::UnitZ();  ///< of the ground, unit vector
    Vector3<double> force = Vector3<double>::Zero();    ///< N: sum over the points of a stance foot
    Motion<double> acceleration;  ///< of a swing foot: of its point; for a sole, angular too
  };
  std::vector<FootTarget> feet;
  Vector3<double> mass_center = Vector3<double>::Zero();  ///< its acceleration, m/s^2
  Vector3<double> turn = Vector3<double>::Zero();  ///< angular acceleration of the base, rad/s^2
  VectorX<double> posture;  ///< accelerations of all velocities; only actuated ones are used
};

struct WholeBodyReport {
  Status status = Status::ok;  ///< of the last program solved, as Qp::solve
  bool fell_back = false;      ///< the torques come from the fall-back, not from the program
  int levels = 0;              ///< priority levels solved; the torques are those of the last one
  int iterations = 0;
  QpResiduals residuals;    ///< of the program
  double outside_cone = 0;  ///< N: largest violation of a friction pyramid or of f_normal >= 0
  double over_limit = 0;    ///< N m: largest torque above its limit, before clamping
  double setup_us = 0, solve_us = 0;  ///< time to write the programs, and to solve them

  bool ok() const { return status == Status::ok; }
};

/// The whole-body quadratic program of a robot, with its workspace. Nothing allocates after the
/// construction, and no step throws.
///
///   minimize  sum over tasks of weight |J a + dJ v - target|^2
///   where     M a + h = S^T tau + J_c^T f           (unactuated rows as equations)
///             J_c a + dJ_c v = -damping v_c          for stance feet, f = 0 for the others
///             f in the pyramid, |tau| <= effort, joints stay inside their limits
class WholeBody {
 public:
  /// @throws Error if there is no foot, a foot is not a frame of the model or has two points, an
  /// option is out of range, the model has loops, or limb was built without a QP solver. The model
  /// must outlive this object.
  WholeBody(const Model<double>& model, std::vector<Foot> feet,
            const WholeBodyOptions& options = {});

  /// Sets the state and computes its kinematics and dynamics. @throws Error for wrong sizes.
  void update(VectorIn<double>& q, VectorIn<double>& v);

  /// Kinematics, mass centre and its velocity at the last update. The position of a foot is that of
  /// its point, or of the origin of the sole's frame.
  const Kinematics<double>& kinematics() const { return kinematics_; }
  const Vector3<double>& mass_center() const { return p_WC_; }
  const Vector3<double>& mass_center_velocity() const { return v_WC_; }
  Vector3<double> foot_position(int foot) const;
  Vector3<double> foot_velocity(int foot) const;
  const MatrixX<double>& mass_matrix() const { return M_; }

  /// Torques for all velocities at the state of the last update, zero where there is no motor. If
  /// the program has no solution, or none was found in time, the fall-back applies: the stance feet
  /// support the weight, and springs hold the joints where they were when the fall-back started.
  const VectorX<double>& solve(const WholeBodyTargets& targets) noexcept;

  /// Results of the last solve.
  const WholeBodyReport& report() const { return report_; }
  const VectorX<double>& torque() const { return tau_; }
  const VectorX<double>& acceleration() const { return a_; }
  /// Contact forces, 3 x (points of all feet), in world axes.
  const Matrix3X<double>& forces() const { return f_; }
  Vector3<double> foot_force(int foot) const;
  /// Torques as fractions of their effort limits, -1 to 1; zero where there is no limit.
  void effort_shares(Eigen::Ref<VectorX<double>> shares) const;

  const Model<double>& model() const { return model_; }
  const std::vector<Foot>& feet() const { return feet_; }
  const WholeBodyOptions& options() const { return options_; }
  /// Targets of the right sizes: all feet in stance, zero accelerations.
  WholeBodyTargets targets() const;
  /// The program of the last level.
  Qp& program() { return levels_.back().program; }

 private:
  struct Joint {
    int velocity, position;  ///< indices in v and q; position -1: not a single number
    double effort, lower, upper, speed;
  };
  struct FootRows {
    int first_point, first_row, rows;
  };

  /// Tasks of one priority, and the equations that fix the results of the levels before.
  struct Level {
    int priority;
    int fixed_rows;  ///< number of these equations
    Qp program;
  };

  void make_levels();
  int task_rows(int before) const;
  void write_tasks(const WholeBodyTargets& targets, const Level& level, Qp& qp);
  void write_dynamics(Qp& qp);
  void write_feet(const WholeBodyTargets& targets, Qp& qp);
  void write_limits(Qp& qp);
  void write_fixed_tasks(const WholeBodyTargets& targets, const Level& level, Qp& qp);
  bool is_usable(const Qp& qp, Status status) const;
  void read_solution(const WholeBodyTargets& targets);
  void fall_back(const WholeBodyTargets& targets);
  /// Deceleration of a stance foot that moves.
  Vector3<double> brake(const Vector3<double>& v) const;
  /// Bounds on the acceleration of a joint that keep it inside its limits.
  void acceleration_bounds(const Joint& joint, double& lower, double& upper) const;

  const Model<double>& model_;
  std::vector<Foot> feet_;
  WholeBodyOptions options_;
  int n_, points_ = 0;
  std::vector<Joint> joints_;  ///< those with motors
  std::vector<int> unactuated_;
  std::vector<FootRows> foot_rows_;
  double weight_;  ///< N
  std::vector<Level> levels_;
  VectorX<double> x_;  ///< solution of the last level that was solved

  Workspace<double> work_;
  Kinematics<double> kinematics_;
  SubtreeScratch<double> scratch_;
  VectorX<double> q_, v_, h_, a_, tau_, q_hold_, gravity_;
  MatrixX<double> M_;
  Matrix3X<double> J_com_, f_;
  Matrix6X<double> J_base_;
  std::vector<AnyFrame<double>> frames_;    ///< of the feet: at their point, or that of the sole
  std::vector<Matrix6X<double>> J_feet_;    ///< of these frames, local world aligned
  std::vector<Matrix3X<double>> J_points_;  ///< of all points
  std::vector<Motion<double>> V_feet_, bias_feet_;
  std::vector<Vector3<double>> p_points_;
  Vector3<double> p_WC_, v_WC_, bias_com_;
  Motion<double> bias_base_;
  std::vector<Vector3<double>> directions_;  ///< tangential directions of the pyramid's faces
  bool fell_back_before_ = false;
  WholeBodyReport report_;
};

}  // namespace limb
