#pragma once

#include <array>
#include <chrono>
#include <limits>

#include "limb/sim/contact/collide.hpp"
#include "limb/sim/contact/cone_solver.hpp"
#include "limb/sim/contact/delassus_matrix.hpp"
#include "limb/sim/integrate/configuration_space.hpp"

namespace limb {

class JointImpulseSolver;

struct ContactParameters {
  /// N/m per contact point; infinite: rigid. Finite: the compliant mode, a unilateral spring and
  /// damper along the normal, evaluated at the end of the step (implicitly) and therefore stable
  /// for any stiffness; the same friction, no restitution.
  double stiffness = std::numeric_limits<double>::infinity();
  double damping = 0;  ///< N s/m, of the compliant mode

  /// m/s; slower impacts do not bounce and are resolved at the end of the step, also those slower
  /// than what gravity adds in two steps. Faster ones act at their time of impact.
  double restitution_speed = 0.02;
  double slop = 1e-5;         ///< allowed overlap, m
  double recovery_speed = 1;  ///< m/s; deeper overlap is removed at this speed, in position only
  /// m; a step in which the path of a contact point curves towards the other surface by more than
  /// this is subdivided.
  double max_path_deviation = 2e-4;
  bool self_contact = false;         ///< contact between shapes of links that are not neighbours
  ContactSurface self_surface = {};  ///< for self-contact, where a shape has no surface
  ConeSolver::Options solver = {};
};
/// @throws Error for invalid parameters.
void check_parameters(const char* call, const ContactParameters& parameters);

/// The ground, the shapes of the robot that collide, and the parameters of contact.
struct ContactSetup {
  Ground ground;
  std::vector<ContactShape> shapes;
  ContactParameters parameters = {};
  /// Friction of each shape (row) with each solid of the ground, then with each shape; NaN: they
  /// never touch. Empty: by their surfaces.
  std::vector<std::vector<double>> friction = {};
  /// The same of torsion and rolling friction (ContactSurface), m. Empty: by their surfaces.
  std::vector<std::vector<double>> torsion = {}, rolling = {};
  /// Shapes of one tree that overlap here are assumed to do so by design, and never touch. Empty:
  /// the neutral configuration.
  std::vector<double> configuration = {};
};

/// A contact point of the last step.
struct ContactPoint {
  int shape = 0;    ///< index in the setup
  int other = 0;    ///< index of the solid of the ground; -1 - i: shape i of the robot
  int feature = 0;  ///< of the pair: constant from step to step
  double gap = 0;   ///< m, at the start of the step
  double friction = 0, torsion = 0, rolling = 0;
  Vector3<double> p_W = Vector3<double>::Zero();
  Vector3<double> n_W = Vector3<double>::Zero();         ///< unit normal, towards `shape`
  Vector3<double> force_W = Vector3<double>::Zero();     ///< N on `shape`, mean over the step
  Vector3<double> moment_W = Vector3<double>::Zero();    ///< N m, of torsional and rolling friction
  Vector3<double> velocity_W = Vector3<double>::Zero();  ///< m/s, of `shape` relative to the
                                                         ///< other, at the end of the step
};

/// Residuals of the contact laws after a step.
struct ContactReport {
  int contacts = 0, touching = 0;  ///< candidates, and those with a force
  int sweeps = 0, newton_steps = 0;
  double residual = 0;         ///< m/s (ConeSolver)
  double complementarity = 0;  ///< W, largest normal force times separating speed
  double cone = 0;             ///< N, N m, largest excess of a friction force over its cone
  double penetration = 0;      ///< m, deepest overlap at the start of the step
  // J, dissipated in this step, never negative: by contacts, exact joint friction and hard stops.
  double dissipated = 0, friction_dissipated = 0, stops_dissipated = 0;
  /// J, kinetic energy after the impulses of the step minus that without them (for a bounce, at the
  /// time of impact): at most zero, to rounding.
  double impulse_energy = 0;
  bool converged = true;
};

/// Maxima over all steps since the last restart at an earlier time.
struct ContactTotals {
  long steps = 0, not_converged = 0;
  double residual = 0;     ///< m/s
  double penetration = 0;  ///< m
  double energy_gain = 0;  ///< J, largest impulse_energy
};

/// Time spent in the phases of a step, s, summed over steps.
struct ContactTimes {
  double kinematics = 0;  ///< poses of all bodies, and bounds of their motion
  double collision = 0;
  double matrix = 0;  ///< Jacobians and the Delassus matrix, with the factor of the mass matrix
  double solver = 0;
  double rest = 0;  ///< velocities, positions and reports
};

/// Contact of a robot with the ground and with itself, as impulses in a step of the semi-implicit
/// Euler method. Hard stops, exact joint friction and loops are part of the same problem, which
/// ConeSolver solves exactly; the impulses never add energy (docs/contact.md).
class Contacts {
 public:
  /// Shapes of body 0, the world, are fixed and touch others by self-contact.
  /// @throws Error for shapes without a body of the model, invalid sizes or parameters.
  Contacts(const Model<double>& model, ContactSetup setup);

  const ContactSetup& setup() const { return setup_; }
  /// See DelassusMatrix::set_compiled().
  void set_compiled(const StepFunctions* compiled) { delassus_.set_compiled(compiled, true); }
  /// The mass matrix of the step. If it is already factorized for the configuration and added
  /// inertia of a step, apply() uses that factor.
  DelassusMatrix& mass() { return delassus_; }

  /// Computes the impulses of a step of length h from the state `before` and adds their effect to
  /// v: on input the velocities at the end of the step without impulses. Includes the rows of
  /// `joints` (null: none). Allocates only when the number of contacts reaches a new maximum.
  void apply(const Model<double>& model, const RobotState<double>& before, double h,
             VectorX<double>& v, JointImpulseSolver* joints);
  /// Accepts the last computed step, which ended in s: its impulses become the current ones, and
  /// overlaps are corrected in s.q.
  void commit_step(RobotState<double>& s);
  /// s; length of the last computed step, or a shorter one over which contact points move nearly
  /// straight (ContactParameters::max_path_deviation).
  double accepted_step() const { return accepted_step_; }

  /// Measures the phases of the steps from now on; null: no longer. Must outlive its use.
  void measure(ContactTimes* times) { times_ = times; }

  // Results of the last committed step:

  const std::vector<ContactPoint>& points() const { return points_; }
  const ContactReport& report() const { return report_; }
  /// Change of velocity by all impulses of the step, divided by its length.
  const VectorX<double>& impulse_acceleration() const { return acceleration_; }
  /// Whether it ended at t, to rounding.
  bool ended_at(double t) const;
  /// Force on the shapes with the name of the frame, or else on all shapes of its body, and
  /// its moment about the origin of the frame; in world axes.
  Force<double> force_on(const Model<double>& model, const Kinematics<double>& kinematics,
                         FrameId frame) const;
  /// Whether a contact of these shapes has a normal force.
  bool touches(const Model<double>& model, FrameId frame) const;
  /// Centre of pressure: mean of the contact points with the ground, weighted by normal force; NaN
  /// without a force. Exact for contacts in one plane.
  Vector3<double> center_of_pressure() const;
  /// J, dissipated by contacts since the last restart at an earlier time, without joint friction
  /// and stops.
  double dissipated() const { return dissipated_; }
  const ContactTotals& totals() const { return totals_; }
  /// J, stored in the springs of the compliant mode.
  double stored() const { return stored_; }
  /// Displacement that lifted overlapping bodies at the end of the last step; null: none.
  const VectorX<double>* lift() const { return lifted_ ? &lift_ : nullptr; }

 private:
  struct Candidate {
    ContactPoint point;
    Matrix3<double> axes_W;  ///< columns n, t1, t2
    /// Target of the normal velocity, m/s; softness: compliance of the spring and damper over a
    /// step, m/s per N s.
    double restitution = 0, target = 0, softness = 0;
    // In a step with landings (contacts that close within it): gap at the last landing, and time of
    // this contact's landing.
    double height = 0, landing = 0;
    bool lands = false, bounces = false;
    int torsion_row = -1, rolling_row = -1;  ///< of its torsional and rolling friction; -1: none
  };
  /// Two shapes that are tested for self-contact.
  struct Pair {
    int first, second;
    bool capsules;    ///< the least gap is the distance
    bool same_base;   ///< one free base moves both, which does not change their distance
    double distance;  ///< m, lower bound
  };
  /// How far a shape moves at most, relative to the world and to its free base (if it has one).
  struct Travel {
    double world = 0, inner = 0;  ///< m
    double of(const Pair& pair) const { return pair.same_base ? inner : world; }
  };
  double max_travel(const Model<double>& model, const VectorX<double>& v, double h);
  void find_candidates();
  void find_pair(Pair& pair, double margin);
  void solve_with_margins(const Model<double>& model, const RobotState<double>& before, double h,
                          VectorX<double>& v, JointImpulseSolver* joints);
  void add_candidates(int shape, int other, const ContactSurface& surface);
  /// Entry of a table of the setup for a shape and a solid or shape (as in ContactPoint::other).
  double given(const std::vector<std::vector<double>>& table, int shape, int other) const;
  void set_targets(double h, const JointImpulseSolver* joints, int joint_rows);
  void warm_start(double h, const JointImpulseSolver* joints, int joint_rows);
  void solve_problem(double h, double time, int joint_rows);
  ConeSolver::Report solve_with_effort();
  void solve_step(double h, const JointImpulseSolver* joints, int joint_rows);
  double gap_velocity(int c, double h, double time) const;
  double gap_acceleration(int c) const;
  double next_landing(double h, double last);
  void set_landing(double h, double last, double time, bool all, int joint_rows);
  void store_result(double h);
  void keep_losses();
  void correct_positions(const Model<double>& model, double h, const JointImpulseSolver* joints,
                         int joint_rows);
  void limit_path_deviation(const Model<double>& model, double h, const VectorX<double>& v);
  bool belongs_to(const Model<double>& model, FrameId frame, int shape) const;

  ContactSetup setup_;
  std::vector<double> shape_radius_,
      body_radius_;   ///< bounds about the origin of the shape, of the body
  double reach_ = 0;  ///< m, largest distance of a point from the joints that move it
  /// How far each shape moves at most in the step, and the margin of the collision search.
  std::vector<Travel> travel_, margins_;
  VectorX<double> velocity_change_;
  std::vector<Pair> pairs_;
  std::vector<int> base_of_;              ///< body of each shape's free base, 0: none
  std::vector<Travel> moved_;             ///< of each shape since the last search
  std::vector<Pose<double>> inner_pose_;  ///< of each shape relative to its free base, then
  ConfigurationSpace<double> space_;
  DelassusMatrix delassus_;
  ConeSolver solver_;
  CollisionPoints collision_points_;
  std::vector<PlacedShape> placed_;
  std::vector<Candidate> candidates_;
  std::vector<ConeSolver::Spin> spins_;
  struct Overlap {
    int row;
    double sign, target;  ///< direction out of the overlap, and distance
  };
  std::vector<Overlap> overlaps_;
  VectorX<double> u_begin_, u_free_, u_end_, v_free_, position_impulse_, correction_;
  VectorX<double> free_acceleration_;  ///< of the rows, without landings
  VectorX<double> impulse_,
      delayed_impulse_;  ///< of the step; the sum of impulse times time of action
  VectorX<double> joint_impulse_, pending_joint_impulse_;  ///< indexed by JointImpulseSolver::row()
  // The last computed step (pending), and the last committed one.
  std::vector<ContactPoint> pending_points_, points_;
  ContactReport pending_report_, report_;
  VectorX<double> pending_acceleration_, acceleration_;
  double pending_end_ = std::numeric_limits<double>::quiet_NaN(), pending_stored_ = 0;
  double time_ = -std::numeric_limits<double>::infinity();
  double dissipated_ = 0, stored_ = 0, step_ = 0, pending_step_ = 0;
  double accepted_step_ = std::numeric_limits<double>::infinity();
  ContactTotals totals_;
  std::array<double, 3> ahead_ = {};  ///< J, positive work of contacts, joint friction and stops
  double effort_ = 1;     ///< part of the limits of the solver that the next problem may use
  double hard_part_ = 0;  ///< moving mean: part of the problems that took much work
  VectorX<double> lift_;  ///< part of the correction
  bool has_correction_ = false, has_lift_ = false, lifted_ = false;
  void add_time(double ContactTimes::*phase);
  ContactTimes* times_ = nullptr;
  double slow_ = 0;  ///< m/s; slower approaches are those of a contact at rest
  std::chrono::steady_clock::time_point last_time_;
};

}  // namespace limb
