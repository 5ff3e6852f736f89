#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "limb/dynamics/base_velocity.hpp"
#include "limb/dynamics/constrained_derivatives.hpp"
#include "limb/dynamics/frames.hpp"
#include "limb/dynamics/inverse_kinematics.hpp"
#include "limb/dynamics/jacobian.hpp"
#include "limb/dynamics/legged.hpp"
#include "limb/dynamics/operational_space.hpp"
#include "limb/dynamics/torque_budget.hpp"

namespace limb {

/// C(q, v) v = squares [v_i^2] + products [v_i v_j]; columns as in centrifugal_coriolis_split.
struct VelocitySplit {
  MatrixX<double> squares, products;
};

/// What constraints do to the motion: forces f are those of the contacts in the order in which they
/// were added, 3 or 6 numbers each in their axes, then those of the model's loops.
struct ConstrainedMotion {
  VectorX<double> a, f;
  ConstrainedReport<double> report;
};
struct ConstrainedTorques {
  VectorX<double> tau, f;
  ConstrainedReport<double> report;
};
struct ImpactResult {
  VectorX<double> v, impulse;  ///< velocities afterwards; impulses in the order of f
  ConstrainedReport<double> report;
};

/// Derivatives by tangents of q, by v, and by a or tau; n x n each.
struct InverseDerivatives {
  MatrixX<double> dq, dv, da;
};
struct ForwardDerivatives {
  VectorX<double> a;  ///< the accelerations themselves
  MatrixX<double> dq, dv, dtau;
};
/// Of a velocity or momentum, and of its rate: a column for each of the robot's velocities.
struct VelocityDerivatives {
  MatrixX<double> dq, dv;
};
struct AccelerationDerivatives {
  MatrixX<double> dq, dv, da;
};
/// By the inertial parameters, a column for each.
struct ParameterDerivatives {
  VectorX<double> a, f;
  MatrixX<double> da, df;
};

/// Blocks of a Hessian by tangents of q, by v, and by u: a for inverse, tau for forward dynamics.
/// The blocks vu and uu are zero.
struct HessianBlocks {
  MatrixX<double> qq, qv, vv, qu;
};

struct IkAnswer {
  VectorX<double> q;
  IkReport<double> report;
};

/// A robot at one state, asked by names. What is asked is computed then, at most once a state, and
/// never answers for a state that has been replaced.
///
///   Robot arm = Robot::load("panda.urdf", Base::fixed);
///   arm.set_state(q, v);
///   arm.mass_matrix();  arm.jacobian("panda_hand", FrameAxes::local);
///
/// The state is q, v, a and the external wrenches, in this order; setting one of them makes those
/// after it zero. It begins as the neutral configuration at rest. Contacts are no part of it: they
/// stay until they are cleared. Loops of the model are closed.
///
/// References stay valid as long as the robot, and hold until the state changes. After
/// construction nothing allocates but what needs n^3 numbers or is rarely wanted (christoffel,
/// centrifugal_coriolis_split, hessian, operational_space: room when first asked for), changes of
/// the contacts, inverse_kinematics, underactuation, selection_matrix, and errors. Answers are
/// cached, so a Robot is for one thread; a copy has the same state, computes for itself and shares
/// only the immutable model.
class Robot {
 public:
  /// A .urdf file, an MJCF .xml file, a .toml recipe, or builtin:NAME. @throws Error as load_model.
  static Robot load(const std::string& path, Base base = Base::described,
                    const JointEffects& effects = {});
  /// The effects count in mass_matrix, mass_inverse, bias, inverse_dynamics, forward_dynamics,
  /// torque_budget and kinetic_energy.
  explicit Robot(Model<double> model, const JointEffects& effects = {});
  Robot(const Robot& other);
  Robot& operator=(const Robot& other);
  Robot(Robot&& other) noexcept;
  Robot& operator=(Robot&& other) noexcept;
  ~Robot();

  const Model<double>& model() const;
  const JointEffects& effects() const;

  // ---- State ----

  /// Each refuses wrong sizes, numbers that are not finite (with their index) and quaternions off
  /// unit length by more than 1e-6 (kQuaternionTolerance); nearer, the state holds them made unit.
  /// @throws Error; the state is then as before.
  void set_state(VectorIn<double>& q, VectorIn<double>& v);
  void set_state(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& a);
  void set_position(VectorIn<double>& q);
  void set_velocity(VectorIn<double>& v);
  void set_acceleration(VectorIn<double>& a);
  /// What the environment exerts on a frame, at its origin and in its axes. Replaces what was set
  /// for this frame before.
  void set_external(std::string_view frame, const Force<double>& F_F);
  void clear_external();

  const VectorX<double>& q() const;
  const VectorX<double>& v() const;
  const VectorX<double>& a() const;
  /// Where the coordinates of a joint begin in q and in v, a, tau.
  /// @throws Error for an unknown name, with the nearest one, and for a joint that follows others.
  int position_index(std::string_view joint) const;
  int velocity_index(std::string_view joint) const;

  // ---- Frames: links and sites of the file. @throws Error for an unknown name, with the nearest
  // one. The walk over the tree is done once a state; these read it off. ----

  Pose<double> pose(std::string_view frame) const;  ///< X_WF
  Motion<double> velocity(std::string_view frame, FrameAxes axes) const;
  /// Gravity not included.
  Motion<double> acceleration(std::string_view frame, FrameAxes axes, AccelerationKind kind) const;
  /// J with velocity(frame, axes) = J v, 6 x n.
  const Matrix6X<double>& jacobian(std::string_view frame, FrameAxes axes) const;
  /// dJ/dt, of the latest frame and axes asked for; copy it before asking for another.
  const Matrix6X<double>& jacobian_rate(std::string_view frame, FrameAxes axes) const;
  /// dJ/dt v.
  Motion<double> jacobian_rate_times_v(std::string_view frame, FrameAxes axes) const;
  /// dJ/dq, of the latest frame and axes asked for.
  const KinematicHessian<double>& hessian(std::string_view frame, FrameAxes axes) const;
  /// Of the floating base, in the custom of another program. @throws Error without such a base.
  Motion<double> base_velocity(FreeVelocity custom) const;
  Motion<double> base_acceleration(FreeVelocity custom) const;

  // ---- Coordinates ----

  /// q moved with velocity v for unit time; the velocity that moves q to q_other so. Each keeps its
  /// latest answer only.
  const VectorX<double>& integrate(VectorIn<double>& v) const;
  const VectorX<double>& difference(VectorIn<double>& q_other) const;
  /// Coordinates at which the frame is at the pose G, sought from q; the state stays.
  IkAnswer inverse_kinematics(std::string_view frame, const Pose<double>& X_WG,
                              const IkOptions<double>& options = {}) const;
  /// The same for several goals, frames by Model::find_frame.
  IkAnswer inverse_kinematics(std::span<const FrameGoal<double>> goals,
                              const IkOptions<double>& options = {}) const;

  // ---- Equations of motion: M a + h = tau + sum of J^T F ----

  const MatrixX<double>& mass_matrix() const;
  /// @throws Error (computation failed) that names the joint if M is singular.
  const MatrixX<double>& mass_inverse() const;
  const VectorX<double>& bias() const;     ///< h(q, v), gravity included
  const VectorX<double>& gravity() const;  ///< g(q)
  /// tau for the accelerations of the state, or for those given; against the external wrenches. The
  /// second keeps the answer to its latest argument only: copy it before asking for another.
  const VectorX<double>& inverse_dynamics() const;
  const VectorX<double>& inverse_dynamics(VectorIn<double>& a) const;
  /// a at these torques and the external wrenches, loops closed, contacts not counted; keeps the
  /// answer to its latest argument only.
  /// @throws Error (computation failed) that names the joint if M is singular.
  const VectorX<double>& forward_dynamics(VectorIn<double>& tau) const;

  const MatrixX<double>& coriolis_matrix() const;  ///< dM/dt - 2 C is skew
  const ChristoffelTensor<double>& christoffel() const;
  const VelocitySplit& centrifugal_coriolis_split() const;
  /// inverse_dynamics(), itemised.
  const TorqueBudget<double>& torque_budget() const;

  // ---- Derivatives; room when first asked for ----

  /// Of inverse_dynamics() by q, v, a at the state, against the external wrenches.
  const InverseDerivatives& rnea_derivatives() const;
  /// Of forward_dynamics(tau) by q, v, tau; keeps its latest answer only.
  /// @throws Error (computation failed) that names the joint if M is singular.
  const ForwardDerivatives& aba_derivatives(VectorIn<double>& tau) const;
  /// Hessian of lambda . inverse_dynamics() by q, v, a (rnea_hessian); keeps its latest answer
  /// only.
  const HessianBlocks& rnea_hessian(VectorIn<double>& lambda) const;
  /// The same of lambda . forward_dynamics(tau), by q, v, tau (aba_hessian).
  /// @throws Error if the model has loops, or (computation failed) if M is singular.
  const HessianBlocks& aba_hessian(VectorIn<double>& tau, VectorIn<double>& lambda) const;

  // ---- What is linear in p, the ten inertial parameters of each body (inertial_parameters);
  // drives and wrenches do not count; room when first asked for ----

  const MatrixX<double>& regressor() const;                   ///< inverse_dynamics() = Y p
  const MatrixX<double>& static_regressor() const;            ///< gravity() = Y p
  const VectorX<double>& kinetic_energy_regressor() const;    ///< kinetic_energy() = y . p
  const VectorX<double>& potential_energy_regressor() const;  ///< potential_energy() = y . p
  /// Momentum about the world's origin, in its axes, is Y p; 6 rows.
  const Matrix6X<double>& momentum_regressor() const;

  /// Of velocity(frame, axes), 6 x n, and of acceleration(frame, axes, kind); of the latest frame,
  /// axes and kind asked for.
  const VelocityDerivatives& velocity_derivatives(std::string_view frame, FrameAxes axes) const;
  const AccelerationDerivatives& acceleration_derivatives(std::string_view frame, FrameAxes axes,
                                                          AccelerationKind kind) const;
  /// 3 x n; the mass centre's own by q is center_of_mass_jacobian.
  const VelocityDerivatives& center_of_mass_velocity_derivatives() const;
  const AccelerationDerivatives& center_of_mass_acceleration_derivatives() const;
  /// 6 x n.
  const VelocityDerivatives& centroidal_momentum_derivatives() const;
  const AccelerationDerivatives& centroidal_momentum_rate_derivatives() const;
  /// Of constrained_forward_dynamics(tau) and of impact(restitution); each keeps its latest answer
  /// only. @throws Error (computation failed) that names the joint if M is singular.
  const ConstrainedDerivatives<double>& constrained_derivatives(VectorIn<double>& tau) const;
  const ImpactDerivatives<double>& impact_derivatives(double restitution = 0) const;
  /// Of forward_dynamics(tau), and of constrained_forward_dynamics(tau), by the inertial parameters
  /// of the bodies; as those of them otherwise.
  const MatrixX<double>& aba_parameter_derivatives(VectorIn<double>& tau) const;
  const ParameterDerivatives& constrained_parameter_derivatives(VectorIn<double>& tau) const;

  // ---- Contacts ----

  /// The world holds the origin of this frame (point), or the frame (surface), from now on.
  void add_contact(std::string_view frame, ContactKind kind = ContactKind::point,
                   ContactAxes axes = ContactAxes::world);
  void clear_contacts();

  /// M a + h = tau + J^T f + wrenches with J a + dJ/dt v = 0. Keeps its latest answer only.
  /// @throws Error (computation failed) that names the joint if M is singular.
  const ConstrainedMotion& constrained_forward_dynamics(VectorIn<double>& tau) const;
  /// Torques of motors, and the least forces that carry what has no motor, for these accelerations.
  const ConstrainedTorques& constrained_inverse_dynamics(VectorIn<double>& a) const;
  /// All contacts and loops are hit at once with the velocities of the state.
  const ImpactResult& impact(double restitution = 0) const;
  /// The dynamics that a frame feels, with contacts and loops holding; of the latest frame and
  /// axes.
  /// @throws Error (computation failed) that names the joint if M is singular.
  const OperationalSpace<double>& operational_space(std::string_view frame, FrameAxes axes) const;
  /// M and h in parts: base and joints.
  const LeggedParts<double>& legged_parts() const;
  MatrixX<double> selection_matrix() const;  ///< S with S v the velocities of the motors
  Underactuation<double> underactuation() const;

  // ---- The whole: what is welded to the world does not count ----

  double kinetic_energy() const;
  double potential_energy() const;
  const Vector3<double>& center_of_mass() const;
  const Vector3<double>& center_of_mass_velocity() const;
  const Vector3<double>& center_of_mass_acceleration() const;
  const Matrix3X<double>& center_of_mass_jacobian() const;
  const Force<double>& centroidal_momentum() const;
  const Force<double>& centroidal_momentum_rate() const;
  const Matrix6X<double>& centroidal_matrix() const;
  const Matrix6X<double>& centroidal_matrix_rate() const;

  /// How many results have been computed so far: each quantity and each walk over the tree counts
  /// one, an answer from the cache none.
  long evaluations() const;

 private:
  struct Cache;
  std::unique_ptr<Cache> cache_;
};

}  // namespace limb
