#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "limb/dynamics/constraints/actuation.hpp"
#include "limb/dynamics/constraints/constrained_derivatives.hpp"
#include "limb/dynamics/constraints/operational_space.hpp"
#include "limb/dynamics/ik/inverse_kinematics.hpp"
#include "limb/dynamics/kinematics/base_velocity.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/lagrange/torque_budget.hpp"

namespace limb {

/// C(q, v) v = squares [v_i^2] + products [v_i v_j]; columns as in centrifugal_coriolis_split.
struct VelocitySplit {
  MatrixX<double> squares, products;
};

/// Results of constrained dynamics: forces f are those of the contacts in the order in which they
/// were added, 3 or 6 numbers each in their axes, then those of the model's loops
/// (constraint_set.hpp).
struct ConstrainedMotion {
  VectorX<double> a, f;
  ConstrainedReport<double> report;
};
struct ConstrainedTorques {
  VectorX<double> tau, f;
  ConstrainedReport<double> report;
};
struct ImpactResult {
  VectorX<double> v, impulse;  ///< velocities after the impact; impulses in the order of f
  ConstrainedReport<double> report;
};

/// Derivatives by tangents of q, by v, and by a or tau; n x n each.
struct InverseDerivatives {
  MatrixX<double> dtau_dq, dtau_dv, dtau_da;
};
struct ForwardDerivatives {
  VectorX<double> a;  ///< the accelerations themselves
  MatrixX<double> da_dq, da_dv, da_dtau;
};
/// Derivatives of a velocity or momentum, and of its rate: one column per generalized velocity.
struct VelocityDerivatives {
  MatrixX<double> dq, dv;
};
struct AccelerationDerivatives {
  MatrixX<double> dq, dv, da;
};
/// Derivatives by the inertial parameters, one column per parameter.
struct ParameterDerivatives {
  VectorX<double> a, f;
  MatrixX<double> da_dp, df_dp;
};

/// Blocks of a Hessian by tangents of q, by v, and by u: a for inverse, tau for forward dynamics.
/// The blocks vu and uu are zero.
struct HessianBlocks {
  MatrixX<double> qq, qv, vv, qu;
};

struct IkSolution {
  VectorX<double> q;
  IkReport<double> report;
};

/// A robot at one state, with frames and joints addressed by name. Each quantity is computed on
/// request, at most once per state, and cached until the state changes.
///
///   Robot arm = Robot::load("panda.urdf", Base::fixed);
///   arm.set_state(q, v);
///   arm.mass_matrix();  arm.jacobian("panda_hand", FrameAxes::local);
///
/// The state is q, v, a and the external wrenches, in this order; setting one of them zeroes those
/// after it. The initial state is the neutral configuration at rest. Contacts are not part of the
/// state: they stay until they are cleared. Loops of the model are closed.
///
/// References stay valid as long as the robot; their values are those of the state until it
/// changes. After construction the only allocations are those of the first call of functions with
/// large or rarely used results (christoffel, centrifugal_coriolis_split, hessian,
/// operational_space, derivatives, regressors), changes of the contacts, inverse_kinematics,
/// underactuation, selection_matrix, and errors. Results are cached, so use one Robot per thread; a
/// copy has the same state and shares only the immutable model.
class Robot {
 public:
  /// A .urdf file, an MJCF .xml file, a .toml recipe, or builtin:NAME. @throws Error as load_model.
  static Robot load(const std::string& path, Base base = Base::described,
                    const JointEffects& effects = {});
  /// The effects apply to mass_matrix, mass_inverse, bias, inverse_dynamics, forward_dynamics,
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

  /// Each rejects wrong sizes, numbers that are not finite (with their index) and quaternions whose
  /// norm differs from 1 by more than 1e-6 (kQuaternionTolerance); others are normalized.
  /// @throws Error; the state is then unchanged.
  void set_state(VectorIn<double>& q, VectorIn<double>& v);
  void set_state(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& a);
  void set_position(VectorIn<double>& q);
  void set_velocity(VectorIn<double>& v);
  void set_acceleration(VectorIn<double>& a);
  /// External wrench on a frame, at its origin and in its axes. Replaces an earlier one on this
  /// frame.
  void set_external(std::string_view frame, const Force<double>& F_F);
  void clear_external();

  const VectorX<double>& q() const;
  const VectorX<double>& v() const;
  const VectorX<double>& a() const;
  /// Index of the first coordinate of a joint in q, and in v, a, tau.
  /// @throws Error for an unknown name, with the nearest one, and for a joint that follows others.
  int position_index(std::string_view joint) const;
  int velocity_index(std::string_view joint) const;

  // ---- Frames: links and sites of the file. @throws Error for an unknown name, with the nearest
  // one. Forward kinematics runs once per state and is shared. ----

  Pose<double> pose(std::string_view frame) const;  ///< X_WF
  Motion<double> velocity(std::string_view frame, FrameAxes axes) const;
  /// Gravity not included.
  Motion<double> acceleration(std::string_view frame, FrameAxes axes, AccelerationKind kind) const;
  /// J with velocity(frame, axes) = J v, 6 x n.
  const Matrix6X<double>& jacobian(std::string_view frame, FrameAxes axes) const;
  /// dJ/dt; only the result for the latest frame and axes is kept: copy it before the next call.
  const Matrix6X<double>& jacobian_rate(std::string_view frame, FrameAxes axes) const;
  /// dJ/dt v.
  Motion<double> jacobian_rate_times_v(std::string_view frame, FrameAxes axes) const;
  /// dJ/dq; only the result for the latest frame and axes is kept.
  const KinematicHessian<double>& hessian(std::string_view frame, FrameAxes axes) const;
  /// Velocity and acceleration of the floating base in a given convention. @throws Error without a
  /// floating base.
  Motion<double> base_velocity(BaseVelocityConvention convention) const;
  Motion<double> base_acceleration(BaseVelocityConvention convention) const;

  // ---- Coordinates ----

  /// q moved with velocity v for unit time; the velocity that moves q to q_other in unit time. Each
  /// keeps only its latest result.
  const VectorX<double>& integrate(VectorIn<double>& v) const;
  const VectorX<double>& difference(VectorIn<double>& q_other) const;
  /// Coordinates at which the frame is at the pose G, starting from q; the state is unchanged.
  IkSolution inverse_kinematics(std::string_view frame, const Pose<double>& X_WG,
                                const IkOptions<double>& options = {}) const;
  /// The same for several goals; frames from Model::find_frame.
  IkSolution inverse_kinematics(std::span<const FrameGoal<double>> goals,
                                const IkOptions<double>& options = {}) const;

  // ---- Equations of motion: M a + h = tau + sum of J^T F ----

  const MatrixX<double>& mass_matrix() const;
  /// @throws Error (computation failed) that names the joint if M is singular.
  const MatrixX<double>& mass_inverse() const;
  const VectorX<double>& bias() const;     ///< h(q, v), gravity included
  const VectorX<double>& gravity() const;  ///< g(q)
  /// tau for the accelerations of the state, or for those given, with the external wrenches. The
  /// second keeps only the result of its latest argument: copy it before the next call.
  const VectorX<double>& inverse_dynamics() const;
  const VectorX<double>& inverse_dynamics(VectorIn<double>& a) const;
  /// a at these torques and the external wrenches, with closed loops, without contacts; keeps only
  /// the result of its latest argument.
  /// @throws Error (computation failed) that names the joint if M is singular.
  const VectorX<double>& forward_dynamics(VectorIn<double>& tau) const;
  /// Aliases of inverse_dynamics, forward_dynamics and mass_matrix.
  const VectorX<double>& rnea() const { return inverse_dynamics(); }
  const VectorX<double>& rnea(VectorIn<double>& a) const { return inverse_dynamics(a); }
  const VectorX<double>& aba(VectorIn<double>& tau) const { return forward_dynamics(tau); }
  const MatrixX<double>& crba() const { return mass_matrix(); }

  const MatrixX<double>& coriolis_matrix() const;  ///< dM/dt - 2 C is skew
  const ChristoffelTensor<double>& christoffel() const;
  const VelocitySplit& centrifugal_coriolis_split() const;
  /// inverse_dynamics() split into its terms.
  const TorqueBudget<double>& torque_budget() const;

  // ---- Derivatives; the first call allocates ----

  /// Derivatives of inverse_dynamics() by q, v, a at the state, with the external wrenches.
  const InverseDerivatives& inverse_dynamics_derivatives() const;
  /// Derivatives of forward_dynamics(tau) by q, v, tau; keeps only its latest result.
  /// @throws Error (computation failed) that names the joint if M is singular.
  const ForwardDerivatives& forward_dynamics_derivatives(VectorIn<double>& tau) const;
  /// Aliases of inverse_dynamics_derivatives and forward_dynamics_derivatives.
  const InverseDerivatives& rnea_derivatives() const { return inverse_dynamics_derivatives(); }
  const ForwardDerivatives& aba_derivatives(VectorIn<double>& tau) const {
    return forward_dynamics_derivatives(tau);
  }
  /// Hessian of lambda . inverse_dynamics() by q, v, a (rnea_hessian); keeps only its latest
  /// result.
  const HessianBlocks& rnea_hessian(VectorIn<double>& lambda) const;
  /// The same of lambda . forward_dynamics(tau), by q, v, tau (aba_hessian).
  /// @throws Error if the model has loops, or (computation failed) if M is singular.
  const HessianBlocks& aba_hessian(VectorIn<double>& tau, VectorIn<double>& lambda) const;

  // ---- Regressors: linear in p, the ten inertial parameters of each body (inertial_parameters);
  // without joint effects and external wrenches; the first call allocates ----

  const MatrixX<double>& regressor() const;                   ///< inverse_dynamics() = Y p
  const MatrixX<double>& static_regressor() const;            ///< gravity() = Y p
  const VectorX<double>& kinetic_energy_regressor() const;    ///< kinetic_energy() = y . p
  const VectorX<double>& potential_energy_regressor() const;  ///< potential_energy() = y . p
  /// Momentum about the world's origin, in world axes, is Y p; 6 rows.
  const Matrix6X<double>& momentum_regressor() const;

  /// Derivatives of velocity(frame, axes), 6 x n, and of acceleration(frame, axes, kind); only the
  /// result for the latest frame, axes and kind is kept.
  const VelocityDerivatives& velocity_derivatives(std::string_view frame, FrameAxes axes) const;
  const AccelerationDerivatives& acceleration_derivatives(std::string_view frame, FrameAxes axes,
                                                          AccelerationKind kind) const;
  /// 3 x n; the derivative of center_of_mass() by q is center_of_mass_jacobian().
  const VelocityDerivatives& center_of_mass_velocity_derivatives() const;
  const AccelerationDerivatives& center_of_mass_acceleration_derivatives() const;
  /// 6 x n.
  const VelocityDerivatives& centroidal_momentum_derivatives() const;
  const AccelerationDerivatives& centroidal_momentum_rate_derivatives() const;
  /// Derivatives of constrained_forward_dynamics(tau) and of impact(restitution); each keeps only
  /// its latest result. @throws Error (computation failed) that names the joint if M is singular.
  const ConstrainedDerivatives<double>& constrained_derivatives(VectorIn<double>& tau) const;
  const ImpactDerivatives<double>& impact_derivatives(double restitution = 0) const;
  /// Derivatives of forward_dynamics(tau), and of constrained_forward_dynamics(tau), by the
  /// inertial parameters of the bodies; caching and errors as above.
  const MatrixX<double>& aba_parameter_derivatives(VectorIn<double>& tau) const;
  const ParameterDerivatives& constrained_parameter_derivatives(VectorIn<double>& tau) const;

  // ---- Contacts ----

  /// Adds a contact: the world fixes the origin of this frame (point), or the frame (surface).
  void add_contact(std::string_view frame, ContactKind kind = ContactKind::point,
                   ContactAxes axes = ContactAxes::world);
  void clear_contacts();

  /// M a + h = tau + J^T f + wrenches with J a + dJ/dt v = 0. Keeps only its latest result.
  /// @throws Error (computation failed) that names the joint if M is singular.
  const ConstrainedMotion& constrained_forward_dynamics(VectorIn<double>& tau) const;
  /// Torques of the motors and least-norm contact forces for these accelerations.
  const ConstrainedTorques& constrained_inverse_dynamics(VectorIn<double>& a) const;
  /// Simultaneous impact on all contacts and loops at the velocities of the state.
  const ImpactResult& impact(double restitution = 0) const;
  /// Operational-space dynamics of a frame, with contacts and loops; only the result for the latest
  /// frame and axes is kept.
  /// @throws Error (computation failed) that names the joint if M is singular.
  const OperationalSpace<double>& operational_space(std::string_view frame, FrameAxes axes) const;
  /// M and h partitioned into base and joints.
  const BaseJointPartition<double>& base_joint_partition() const;
  MatrixX<double> selection_matrix() const;  ///< S with S v the velocities of the motors
  Underactuation<double> underactuation() const;

  // ---- Whole robot: links welded to the world are excluded ----

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

  /// Number of results computed so far: each quantity and each pass of forward kinematics counts
  /// one, a cached result zero.
  long evaluations() const;

 private:
  struct Cache;
  std::unique_ptr<Cache> cache_;
};

}  // namespace limb
