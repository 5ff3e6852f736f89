#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "limb/base/copyable_ptr.hpp"
#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/identify/parameter_derivatives.hpp"
#include "limb/dynamics/identify/regressor.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/recursive/workspace.hpp"
#include "limb/dynamics/robot/robot.hpp"

namespace limb {

template <typename T>
class SecondDerivativeWorkspace;

/// The state of a Robot and the results computed from it.
struct Robot::Cache {
  /// Dependency of a quantity: this part of the state and all before it.
  enum Level { kPosition, kVelocity, kAcceleration, kExternal, kLevels };
  static constexpr std::uint64_t kNever = 0;

  /// A result and the version of the state that it belongs to.
  template <typename V>
  struct Cached {
    V value;
    std::uint64_t version = kNever;
  };

  Cache(std::shared_ptr<const Model<double>> robot, const JointEffects& effects_of_joints);

  /// The value, computed first if it is not that of the current state.
  template <typename V, typename Compute>
  const V& get(Cached<V>& cached, Level level, const Compute& compute) {
    if (cached.version != version[level]) {
      compute(cached.value);
      cached.version = version[level];
      ++evaluations;
    }
    return cached.value;
  }
  /// The same for a function of an argument: only the latest is kept.
  template <typename V, typename Compute>
  const V& get(Cached<V>& cached, VectorX<double>& kept, VectorIn<double>& argument, Level level,
               const Compute& compute) {
    if (cached.version == version[level] && argument != kept) cached.version = kNever;
    kept = argument;
    return get(cached, level, compute);
  }

  /// The same for a frame, axes and the kind of acceleration.
  struct View {
    int frame = -1;
    FrameAxes axes = FrameAxes::local;
    AccelerationKind kind = AccelerationKind::spatial;
    bool operator==(const View&) const = default;
  };
  template <typename V, typename Compute>
  const V& get(Cached<V>& cached, View& kept, const View& view, Level level,
               const Compute& compute) {
    if (!(kept == view)) cached.version = kNever;
    kept = view;
    return get(cached, level, compute);
  }

  /// Marks this part of the state as changed: all results that depend on it become stale.
  void changed(Level level);
  /// Forward kinematics up to this order, each order computed once per state.
  const Kinematics<double>& updated_kinematics(Kinematics<double>::Order order);

  /// With the external wrenches, if there are any.
  void inverse_dynamics(VectorIn<double>& acceleration, VectorOut<double> torque);

  /// Rebuilds the constraint set: the contacts, and all loops of the model.
  void make_constraints();
  bool is_constrained() const { return set->size() > 0; }

  FrameId frame(const char* call, std::string_view name) const;
  const Coupling<double>::Row& own_row(const char* call, std::string_view joint) const;
  void check_v(const char* call, const char* argument, VectorIn<double>& v) const;
  void store_q(VectorIn<double>& given);
  /// @throws Error of kind computation_failed with the name of the joint that no inertia opposes:
  /// from the tips to the root, the first whose pivot in M vanishes; if none does to rounding, the
  /// joint of velocity y.
  [[noreturn]] void fail_singular(const char* call, int y);

  std::shared_ptr<const Model<double>> model;
  JointEffects effects;
  /// Names are views into the model, sorted, so that a lookup allocates no string.
  std::vector<std::pair<std::string_view, int>> frames, joints;

  VectorX<double> q, v, a;
  std::vector<FrameWrench<double>> external;

  std::array<std::uint64_t, kLevels> version;
  std::uint64_t latest_version = 1;
  long evaluations = 0;

  Kinematics<double> kinematics;
  Workspace<double> work;
  SubtreeScratch<double> subtree;
  TorqueBudgetScratch<double> budget_scratch;
  MassFactor<double> factor;

  std::vector<Cached<Matrix6X<double>>> jacobians;  ///< three axes for each frame
  Cached<MatrixX<double>> M, M_inverse, C;
  Cached<VectorX<double>> bias, gravity, tau, tau_of_a, a_of_tau;
  VectorX<double> a_given, tau_given;
  Cached<std::optional<ChristoffelTensor<double>>> gamma;
  Cached<VelocitySplit> split;
  Cached<TorqueBudget<double>> budget;
  Cached<double> kinetic, potential;

  std::optional<DerivativeWorkspace<double>> derivative_work;
  std::optional<RegressorScratch<double>> regressor_scratch;
  Cached<InverseDerivatives> inverse_derivatives;
  Cached<ForwardDerivatives> forward_derivatives;
  CopyablePtr<SecondDerivativeWorkspace<double>> second_work;
  Cached<HessianBlocks> inverse_hessian, forward_hessian;
  VectorX<double> inverse_multipliers, forward_inputs, forward_kept;
  Cached<MatrixX<double>> regressor, static_regressor;
  Cached<VectorX<double>> kinetic_regressor, potential_regressor;
  Cached<Matrix6X<double>> momentum_regressor;
  VectorX<double> derivatives_tau;
  Cached<VelocityDerivatives> frame_velocity, com_velocity_derivatives, momentum_derivatives;
  Cached<AccelerationDerivatives> frame_acceleration, com_acceleration_derivatives,
      momentum_rate_derivatives;
  View velocity_view, acceleration_view;
  std::optional<ConstrainedDerivativeWorkspace<double>> constrained_work;
  std::optional<ParameterDerivativeWorkspace<double>> parameter_work;
  Cached<std::optional<ConstrainedDerivatives<double>>> constrained;
  Cached<std::optional<ImpactDerivatives<double>>> impact_derivatives;
  Cached<MatrixX<double>> by_parameters;
  Cached<ParameterDerivatives> constrained_by_parameters;
  VectorX<double> constrained_tau, parameter_tau, constrained_parameter_tau, a_by_parameters;
  VectorX<double> impact_derivatives_restitution = VectorX<double>::Zero(1);

  // Contacts are not part of the state; changing them makes results that depend on kExternal stale.
  std::vector<Contact<double>> contacts;
  std::optional<ConstraintSet<double>> set;
  std::optional<ConstraintWorkspace<double>> constraint_work;
  Cached<ConstrainedMotion> motion;
  Cached<ConstrainedTorques> torques;
  Cached<ImpactResult> impact;
  VectorX<double> motion_tau, torques_a, restitution = VectorX<double>::Zero(1);
  Cached<BaseJointPartition<double>> partition;
  Cached<std::optional<OperationalSpace<double>>> task;
  Cached<std::optional<KinematicHessian<double>>> hessian;
  Cached<Matrix6X<double>> jacobian_rate;
  View task_view, hessian_view, rate_view;
  VectorX<double> q_moved, v_between;
  Cached<Vector3<double>> com, com_velocity, com_acceleration;
  Cached<Matrix3X<double>> com_jacobian;
  Cached<Force<double>> momentum, momentum_rate;
  Cached<Matrix6X<double>> A_G, dA_G;
};

}  // namespace limb
