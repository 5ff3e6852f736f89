// Robot: derivatives and regressors.
#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/derivatives/centroidal_derivatives.hpp"
#include "limb/dynamics/derivatives/frame_derivatives.hpp"
#include "limb/dynamics/derivatives/second_derivatives.hpp"
#include "limb/dynamics/identify/parameter_derivatives.hpp"
#include "limb/dynamics/identify/regressor.hpp"
#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/robot/robot_cache.hpp"

namespace limb {
namespace {

using Order = Kinematics<double>::Order;

/// The value, constructed on first use.
template <typename V, typename... Arguments>
V& make_once(std::optional<V>& value, const Arguments&... arguments) {
  if (!value) value.emplace(arguments...);
  return *value;
}
/// Allocates only if the size changes.
template <typename... Matrices>
void resize_all(Eigen::Index rows, Eigen::Index cols, Matrices&... matrices) {
  (matrices.resize(rows, cols), ...);
}

SecondDerivativeWorkspace<double>& make_once(CopyablePtr<SecondDerivativeWorkspace<double>>& work,
                                             const Model<double>& model) {
  if (!work) work = CopyablePtr<SecondDerivativeWorkspace<double>>::make(model);
  return *work;
}

void resize(HessianBlocks& H, Eigen::Index n) {
  for (auto* matrix : {&H.qq, &H.qv, &H.vv, &H.qu}) matrix->resize(n, n);
}

}  // namespace

const InverseDerivatives& Robot::inverse_dynamics_derivatives() const {
  Cache& c = *cache_;
  return c.get(c.inverse_derivatives, Cache::kExternal, [&](InverseDerivatives& d) {
    const Eigen::Index n = c.v.size();
    resize_all(n, n, d.dtau_dq, d.dtau_dv, d.dtau_da);
    auto& work = make_once(c.derivative_work, *c.model);
    if (c.external.empty()) {
      limb::rnea_derivatives(*c.model, work, c.q, c.v, c.a, d.dtau_dq, d.dtau_dv, d.dtau_da,
                             c.effects);
    } else {
      limb::rnea_derivatives(*c.model, work, c.q, c.v, c.a, c.external, d.dtau_dq, d.dtau_dv,
                             d.dtau_da, c.effects);
    }
  });
}

const ForwardDerivatives& Robot::forward_dynamics_derivatives(VectorIn<double>& tau) const {
  Cache& c = *cache_;
  c.check_v("Robot::forward_dynamics_derivatives", "tau", tau);
  return c.get(c.forward_derivatives, c.derivatives_tau, tau, Cache::kExternal,
               [&](ForwardDerivatives& d) {
                 const Eigen::Index n = c.v.size();
                 d.a.resize(n);
                 resize_all(n, n, d.da_dq, d.da_dv, d.da_dtau);
                 auto& work = make_once(c.derivative_work, *c.model);
                 const FactorReport report =
                     limb::aba_derivatives(*c.model, work, c.q, c.v, c.derivatives_tau, c.external,
                                           d.a, d.da_dq, d.da_dv, d.da_dtau, c.effects);
                 if (!report.ok())
                   c.fail_singular("Robot::forward_dynamics_derivatives", report.velocity);
               });
}

const HessianBlocks& Robot::rnea_hessian(VectorIn<double>& lambda) const {
  Cache& c = *cache_;
  c.check_v("Robot::rnea_hessian", "lambda", lambda);
  return c.get(
      c.inverse_hessian, c.inverse_multipliers, lambda, Cache::kExternal, [&](HessianBlocks& H) {
        resize(H, c.v.size());
        limb::rnea_hessian(*c.model, make_once(c.second_work, *c.model), c.q, c.v, c.a, c.external,
                           c.inverse_multipliers, H.qq, H.qv, H.vv, H.qu, c.effects);
      });
}

const HessianBlocks& Robot::aba_hessian(VectorIn<double>& tau, VectorIn<double>& lambda) const {
  Cache& c = *cache_;
  c.check_v("Robot::aba_hessian", "tau", tau);
  c.check_v("Robot::aba_hessian", "lambda", lambda);
  const Eigen::Index n = c.v.size();
  c.forward_inputs.resize(2 * n);
  c.forward_inputs << tau, lambda;
  return c.get(c.forward_hessian, c.forward_kept, c.forward_inputs, Cache::kExternal,
               [&](HessianBlocks& H) {
                 resize(H, n);
                 const FactorReport report = limb::aba_hessian(
                     *c.model, make_once(c.second_work, *c.model), c.q, c.v, c.forward_kept.head(n),
                     c.external, c.forward_kept.tail(n), H.qq, H.qv, H.vv, H.qu, c.effects);
                 if (!report.ok()) c.fail_singular("Robot::aba_hessian", report.velocity);
               });
}

const MatrixX<double>& Robot::regressor() const {
  Cache& c = *cache_;
  return c.get(c.regressor, Cache::kAcceleration, [&](MatrixX<double>& Y) {
    Y.resize(c.v.size(), parameter_count(*c.model));
    torque_regressor(*c.model, c.updated_kinematics(Order::acceleration),
                     make_once(c.regressor_scratch, *c.model), Y);
  });
}

const MatrixX<double>& Robot::static_regressor() const {
  Cache& c = *cache_;
  return c.get(c.static_regressor, Cache::kPosition, [&](MatrixX<double>& Y) {
    Y.resize(c.v.size(), parameter_count(*c.model));
    limb::static_regressor(*c.model, c.updated_kinematics(Order::position),
                           make_once(c.regressor_scratch, *c.model), Y);
  });
}

const VectorX<double>& Robot::kinetic_energy_regressor() const {
  Cache& c = *cache_;
  return c.get(c.kinetic_regressor, Cache::kVelocity, [&](VectorX<double>& y) {
    y.resize(parameter_count(*c.model));
    limb::kinetic_energy_regressor(*c.model, c.updated_kinematics(Order::velocity), y);
  });
}

const VectorX<double>& Robot::potential_energy_regressor() const {
  Cache& c = *cache_;
  return c.get(c.potential_regressor, Cache::kPosition, [&](VectorX<double>& y) {
    y.resize(parameter_count(*c.model));
    limb::potential_energy_regressor(*c.model, c.updated_kinematics(Order::position), y);
  });
}

const Matrix6X<double>& Robot::momentum_regressor() const {
  Cache& c = *cache_;
  return c.get(c.momentum_regressor, Cache::kVelocity, [&](Matrix6X<double>& Y) {
    Y.resize(6, parameter_count(*c.model));
    limb::momentum_regressor(*c.model, c.updated_kinematics(Order::velocity), Y);
  });
}

const VelocityDerivatives& Robot::velocity_derivatives(std::string_view frame,
                                                       FrameAxes axes) const {
  Cache& c = *cache_;
  const FrameId id = c.frame("Robot::velocity_derivatives", frame);
  return c.get(c.frame_velocity, c.velocity_view, {id.value(), axes}, Cache::kVelocity,
               [&](VelocityDerivatives& d) {
                 resize_all(6, c.v.size(), d.dq, d.dv);
                 frame_velocity_derivatives(*c.model, c.updated_kinematics(Order::velocity), id,
                                            axes, d.dq, d.dv);
               });
}
const AccelerationDerivatives& Robot::acceleration_derivatives(std::string_view frame,
                                                               FrameAxes axes,
                                                               AccelerationKind kind) const {
  Cache& c = *cache_;
  const FrameId id = c.frame("Robot::acceleration_derivatives", frame);
  return c.get(c.frame_acceleration, c.acceleration_view, {id.value(), axes, kind},
               Cache::kAcceleration, [&](AccelerationDerivatives& d) {
                 resize_all(6, c.v.size(), d.dq, d.dv, d.da);
                 frame_acceleration_derivatives(*c.model, c.updated_kinematics(Order::acceleration),
                                                id, axes, kind, d.dq, d.dv, d.da);
               });
}

const VelocityDerivatives& Robot::center_of_mass_velocity_derivatives() const {
  Cache& c = *cache_;
  return c.get(c.com_velocity_derivatives, Cache::kVelocity, [&](VelocityDerivatives& d) {
    resize_all(3, c.v.size(), d.dq, d.dv);
    limb::center_of_mass_velocity_derivatives(*c.model, c.updated_kinematics(Order::velocity),
                                              c.subtree, d.dq, d.dv);
  });
}
const AccelerationDerivatives& Robot::center_of_mass_acceleration_derivatives() const {
  Cache& c = *cache_;
  return c.get(
      c.com_acceleration_derivatives, Cache::kAcceleration, [&](AccelerationDerivatives& d) {
        resize_all(3, c.v.size(), d.dq, d.dv, d.da);
        limb::center_of_mass_acceleration_derivatives(
            *c.model, c.updated_kinematics(Order::acceleration), c.subtree, d.dq, d.dv, d.da);
      });
}
const VelocityDerivatives& Robot::centroidal_momentum_derivatives() const {
  Cache& c = *cache_;
  return c.get(c.momentum_derivatives, Cache::kVelocity, [&](VelocityDerivatives& d) {
    resize_all(6, c.v.size(), d.dq, d.dv);
    limb::centroidal_momentum_derivatives(*c.model, c.updated_kinematics(Order::velocity),
                                          c.subtree, d.dq, d.dv);
  });
}
const AccelerationDerivatives& Robot::centroidal_momentum_rate_derivatives() const {
  Cache& c = *cache_;
  return c.get(c.momentum_rate_derivatives, Cache::kAcceleration, [&](AccelerationDerivatives& d) {
    resize_all(6, c.v.size(), d.dq, d.dv, d.da);
    limb::centroidal_momentum_rate_derivatives(*c.model, c.updated_kinematics(Order::acceleration),
                                               c.subtree, d.dq, d.dv, d.da);
  });
}

const ConstrainedDerivatives<double>& Robot::constrained_derivatives(VectorIn<double>& tau) const {
  Cache& c = *cache_;
  c.check_v("Robot::constrained_derivatives", "tau", tau);
  return *c.get(c.constrained, c.constrained_tau, tau, Cache::kExternal,
                [&](std::optional<ConstrainedDerivatives<double>>& d) {
                  auto& work = make_once(c.constrained_work, *c.model, *c.set);
                  const auto report = limb::constrained_derivatives(
                      *c.model, *c.set, work, c.q, c.v, c.constrained_tau, c.external,
                      make_once(d, *c.model, *c.set), {c.effects});
                  if (report.ok()) return;
                  c.fail_singular("Robot::constrained_derivatives", report.velocity);
                });
}
const ImpactDerivatives<double>& Robot::impact_derivatives(double restitution) const {
  Cache& c = *cache_;
  if (restitution != c.impact_derivatives_restitution[0])
    c.impact_derivatives.version = Cache::kNever;
  c.impact_derivatives_restitution[0] = restitution;
  return *c.get(
      c.impact_derivatives, Cache::kExternal, [&](std::optional<ImpactDerivatives<double>>& d) {
        auto& work = make_once(c.constrained_work, *c.model, *c.set);
        const auto report = limb::impact_derivatives(*c.model, *c.set, work, c.q, c.v,
                                                     c.impact_derivatives_restitution,
                                                     make_once(d, *c.model, *c.set), {c.effects});
        if (!report.ok()) c.fail_singular("Robot::impact_derivatives", report.velocity);
      });
}

const MatrixX<double>& Robot::aba_parameter_derivatives(VectorIn<double>& tau) const {
  Cache& c = *cache_;
  c.check_v("Robot::aba_parameter_derivatives", "tau", tau);
  return c.get(c.by_parameters, c.parameter_tau, tau, Cache::kExternal, [&](MatrixX<double>& d) {
    resize_all(c.v.size(), parameter_count(*c.model), d);
    const FactorReport report = limb::aba_parameter_derivatives(
        *c.model, make_once(c.parameter_work, *c.model), c.q, c.v, c.parameter_tau, c.external,
        c.a_by_parameters, d, c.effects);
    if (!report.ok()) c.fail_singular("Robot::aba_parameter_derivatives", report.velocity);
  });
}
const ParameterDerivatives& Robot::constrained_parameter_derivatives(VectorIn<double>& tau) const {
  Cache& c = *cache_;
  c.check_v("Robot::constrained_parameter_derivatives", "tau", tau);
  return c.get(c.constrained_by_parameters, c.constrained_parameter_tau, tau, Cache::kExternal,
               [&](ParameterDerivatives& d) {
                 const int count = parameter_count(*c.model);
                 resize_all(c.v.size(), count, d.da_dp);
                 resize_all(c.set->rows(), count, d.df_dp);
                 d.a.resize(c.v.size());
                 d.f.resize(c.set->rows());
                 auto& work = make_once(c.constrained_work, *c.model, *c.set);
                 const auto report = limb::constrained_parameter_derivatives(
                     *c.model, *c.set, work, c.q, c.v, c.constrained_parameter_tau, c.external, d.a,
                     d.f, d.da_dp, d.df_dp, {c.effects});
                 if (report.ok()) return;
                 c.fail_singular("Robot::constrained_parameter_derivatives", report.velocity);
               });
}

}  // namespace limb
