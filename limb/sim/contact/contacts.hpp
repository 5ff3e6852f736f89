#pragma once

#include <limits>

#include "limb/sim/configuration_space.hpp"
#include "limb/sim/contact/collide.hpp"
#include "limb/sim/contact/cone_solver.hpp"
#include "limb/sim/contact/impulse_rows.hpp"

namespace limb {

class StickingJoints;

struct ContactParameters {
  /// N/m of each contact point; infinite: rigid. Finite: the compliant mode, a spring and damper
  /// along the normal that pushes and never pulls, taken at the end of the step and so stable for
  /// any stiffness; friction is the same; no restitution.
  double stiffness = std::numeric_limits<double>::infinity();
  double damping = 0;  ///< N s/m, of the compliant mode

  /// m/s; slower impacts do not bounce, and end with the step. Faster ones act at their moment.
  double restitution_speed = 0.02;
  double slop = 1e-5;         ///< m of overlap that is left alone
  double recovery_speed = 1;  ///< m/s at which more than that is taken back, by position alone
  /// m; a step in which the path of something that touches bends towards the other by more is taken
  /// in parts.
  double bend = 2e-4;
  bool self_contact = false;  ///< shapes of different links, not neighbours, touch each other
  Surface self_surface = {};  ///< of those, where they have none of their own
  ConeSolver::Options solver = {};
};
/// @throws Error for numbers that are no parameters.
void check_parameters(const char* call, const ContactParameters& parameters);

/// The ground, what of the robot can touch it, and how.
struct ContactSetup {
  Ground ground;
  std::vector<ContactShape> shapes;
  ContactParameters parameters = {};
};

/// A contact point of the last step.
struct ContactPoint {
  int shape = 0;    ///< index in the setup
  int other = 0;    ///< index of the ground's solid; -1 - i: shape i of the robot
  int feature = 0;  ///< of the pair: the same from step to step
  double gap = 0;   ///< m, at the begin of the step
  double friction = 0;
  Vector3<double> p_W = Vector3<double>::Zero();
  Vector3<double> n_W = Vector3<double>::Zero();         ///< unit normal, towards `shape`
  Vector3<double> force_W = Vector3<double>::Zero();     ///< N on `shape`, mean over the step
  Vector3<double> velocity_W = Vector3<double>::Zero();  ///< m/s, of `shape` seen from the other,
                                                         ///< at the end of the step
};

/// How well the laws of contact hold after a step.
struct ContactReport {
  int contacts = 0, touching = 0;  ///< candidates, and those with a force
  int sweeps = 0, newton_steps = 0;
  double residual = 0;           ///< m/s, of the whole problem (ConeSolver)
  double complementarity = 0;    ///< W, largest normal force times separating speed
  double cone = 0;               ///< N, largest excess of a friction force over its cone
  double penetration = 0;        ///< m, deepest overlap at the begin of the step
  double dissipated = 0;         ///< J, in this step by contacts
  double joints_dissipated = 0;  ///< J, in this step by stops and friction of joints
  /// J, kinetic energy of the motion with all impulses of the step less that of the motion without
  /// them, where they bounce at that moment: never above zero, but for rounding.
  double impulse_energy = 0;
  bool converged = true;
};

/// The worst of all steps since the time went back last.
struct ContactTotals {
  long steps = 0, not_converged = 0;
  double residual = 0;     ///< m/s
  double penetration = 0;  ///< m
  double energy_gain = 0;  ///< J, impulse_energy
};

/// Contact of a robot with the ground and with itself, as impulses of a step of the semi-implicit
/// method. Hard stops, exact joint friction and loops are part of the same problem. Solved exactly
/// by ConeSolver; the impulses never add energy (docs/contact.md).
class Contacts {
 public:
  /// @throws Error for shapes without a body of the model, sizes or parameters that are none.
  Contacts(const Model<double>& model, ContactSetup setup);

  const ContactSetup& setup() const { return setup_; }
  /// As ImpulseRows::use().
  void use(const Compiled* compiled) { rows_.use(compiled); }

  /// Changes v, the velocities at the end of a step of length h without impulses. The step began
  /// in `before`. With the rows of `joints`, if there are some. Allocates only while the number of
  /// contacts reaches a new maximum.
  void apply(const Model<double>& model, const State<double>& before, double h, VectorX<double>& v,
             StickingJoints* joints);
  /// The step has ended in s: its impulses count from now on, and s gives way where solids overlap.
  void settle(State<double>& s);
  /// s; the length of the step that was applied last, or a shorter one, over which what touches
  /// moves nearly straight (ContactParameters::bend).
  double straight_step() const { return straight_step_; }

  // Of the last step that has ended:

  const std::vector<ContactPoint>& points() const { return points_; }
  const ContactReport& report() const { return report_; }
  /// Impulses over the length of the step, as an acceleration of the robot's velocities.
  const VectorX<double>& impulse_acceleration() const { return acceleration_; }
  /// Whether it ended at t, but for rounding.
  bool ended_at(double t) const;
  /// Force on the shapes of that name, or where none has it on those of the frame's body, and its
  /// moment about the frame's origin; in world axes.
  Force<double> force_on(const Model<double>& model, const Kinematics<double>& kinematics,
                         FrameId frame) const;
  /// Whether any of them pushes.
  bool touches(const Model<double>& model, FrameId frame) const;
  /// Where the normal forces of the ground have no moment along it; NaN without a force. For
  /// contacts in one plane; else the mean of their places, each with its normal force.
  Vector3<double> center_of_pressure() const;
  /// J, taken by contacts since the time went back last; joints' friction and stops not included.
  double dissipated() const { return dissipated_; }
  const ContactTotals& totals() const { return totals_; }
  /// J in the springs of the compliant mode.
  double stored() const { return stored_; }

 private:
  struct Candidate {
    ContactPoint point;
    Matrix3<double> axes_W;  ///< columns n, t1, t2
    double restitution = 0, target = 0, softness = 0;
    // In a step with landings: the gap at the last of them, and the time of the own one.
    double height = 0, landing = 0;
    bool lands = false, bounces = false;
  };
  double reach(const Model<double>& model, const VectorX<double>& v, double h);
  void find(double margin);
  void attempt(const Model<double>& model, const State<double>& before, double h, double margin,
               VectorX<double>& v, StickingJoints* joints);
  void add_candidates(int shape, int other, const Surface& surface);
  // contact_impulses.cpp
  void set_targets(double h, const StickingJoints* joints, int joint_rows);
  void warm_start(double h, const StickingJoints* joints, int joint_rows);
  void solve_problem(double h, double time, int joint_rows);
  void solve_step(double h, const StickingJoints* joints, int joint_rows);
  double closing(int c, double h, double time) const;
  double drift(int c) const;
  double next_landing(double h, double last);
  void set_landing(double h, double last, double time, bool all, int joint_rows);
  void note_result(double h);
  // contact_positions.cpp
  void correct(double h, const StickingJoints* joints, int joint_rows);
  void find_bend(const Model<double>& model, double h, const VectorX<double>& v);
  bool counts(const Model<double>& model, FrameId frame, int shape) const;

  ContactSetup setup_;
  std::vector<double> radius_, reach_;      ///< about the shape's, the body's origin
  std::vector<std::pair<int, int>> pairs_;  ///< of shapes that may touch each other
  ConfigurationSpace<double> space_;
  ImpulseRows rows_;
  ConeSolver solver_;
  Touches touches_;
  std::vector<PlacedShape> placed_;
  std::vector<Candidate> candidates_;
  struct Overlap {
    int row;
    double sign, wanted;  ///< the way out, and how far
  };
  std::vector<Overlap> overlaps_;
  VectorX<double> u_begin_, u_free_, u_end_, v_free_, push_, correction_;
  VectorX<double> drift_;           ///< accelerations of the rows without landings
  VectorX<double> impulse_, late_;  ///< of the step; each times the time at which it acts
  VectorX<double> joint_impulse_, pending_joint_impulse_;  ///< over all rows of the joints
  // Of the step that was computed last, and of the last one that has ended.
  std::vector<ContactPoint> pending_points_, points_;
  ContactReport pending_report_, report_;
  VectorX<double> pending_acceleration_, acceleration_;
  double pending_end_ = std::numeric_limits<double>::quiet_NaN(), pending_stored_ = 0;
  double time_ = -std::numeric_limits<double>::infinity();
  double dissipated_ = 0, stored_ = 0, step_ = 0, pending_step_ = 0;
  double straight_step_ = std::numeric_limits<double>::infinity();
  ContactTotals totals_;
  bool correct_ = false;
};

}  // namespace limb
