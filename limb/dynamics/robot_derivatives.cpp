// Robot: derivatives and regressors.
#include "limb/dynamics/aba_derivatives.hpp"
#include "limb/dynamics/centroidal_derivatives.hpp"
#include "limb/dynamics/frame_derivatives.hpp"
#include "limb/dynamics/parameter_derivatives.hpp"
#include "limb/dynamics/regressor.hpp"
#include "limb/dynamics/robot.hpp"
#include "limb/dynamics/robot_cache.hpp"
#include "limb/dynamics/second_derivatives.hpp"

namespace limb {
namespace {

using Order = Kinematics<double>::Order;

/// Made when first asked for.
template <typename V, typename... Arguments>
V& ready(std::optional<V>& room, const Arguments&... arguments) {
  if (!room) room.emplace(arguments...);
  return *room;
}
/// Nothing happens where the size is right.
template <typename... Matrices>
void make_room(Eigen::Index rows, Eigen::Index cols, Matrices&... matrices) {
  (matrices.resize(rows, cols), ...);
}

SecondDerivativeWorkspace<double>& ready(Owned<SecondDerivativeWorkspace<double>>& work,
                                         const Model<double>& model) {
  if (!work) work = Owned<SecondDerivativeWorkspace<double>>::make(model);
  return *work;
}

void resize(HessianBlocks& H, Eigen::Index n) {
  for (auto* matrix : {&H.qq, &H.qv, &H.vv, &H.qu}) matrix->resize(n, n);
}

}  // namespace

const InverseDerivatives& Robot::rnea_derivatives() const {
  Cache& c = *cache_;
  return c.get(c.inverse_derivatives, Cache::kExternal, [&](InverseDerivatives& d) {
    const Eigen::Index n = c.v.size();
    make_room(n, n, d.dq, d.dv, d.da);
    auto& work = ready(c.derivative_work, *c.model);
    if (c.external.empty()) {
      limb::rnea_derivatives(*c.model, work, c.q, c.v, c.a, d.dq, d.dv, d.da, c.effects);
    } else {
      limb::rnea_derivatives(*c.model, work, c.q, c.v, c.a, c.external, d.dq, d.dv, d.da,
                             c.effects);
    }
  });
}

const ForwardDerivatives& Robot::aba_derivatives(VectorIn<double>& tau) const {
  Cache& c = *cache_;
  c.check_v("Robot::aba_derivatives", "tau", tau);
  return c.get(
      c.forward_derivatives, c.derivatives_tau, tau, Cache::kExternal, [&](ForwardDerivatives& d) {
        const Eigen::Index n = c.v.size();
        d.a.resize(n);
        make_room(n, n, d.dq, d.dv, d.dtau);
        auto& work = ready(c.derivative_work, *c.model);
        const int singular = limb::aba_derivatives(*c.model, work, c.q, c.v, c.derivatives_tau,
                                                   c.external, d.a, d.dq, d.dv, d.dtau, c.effects);
        if (singular >= 0) c.fail_singular("Robot::aba_derivatives", singular);
      });
}

const HessianBlocks& Robot::rnea_hessian(VectorIn<double>& lambda) const {
  Cache& c = *cache_;
  c.check_v("Robot::rnea_hessian", "lambda", lambda);
  return c.get(
      c.inverse_hessian, c.inverse_multipliers, lambda, Cache::kExternal, [&](HessianBlocks& H) {
        resize(H, c.v.size());
        limb::rnea_hessian(*c.model, ready(c.second_work, *c.model), c.q, c.v, c.a,
                           c.inverse_multipliers, H.qq, H.qv, H.vv, H.qu, c.external, c.effects);
      });
}

const HessianBlocks& Robot::aba_hessian(VectorIn<double>& tau, VectorIn<double>& lambda) const {
  Cache& c = *cache_;
  c.check_v("Robot::aba_hessian", "tau", tau);
  c.check_v("Robot::aba_hessian", "lambda", lambda);
  const Eigen::Index n = c.v.size();
  c.forward_inputs.resize(2 * n);
  c.forward_inputs << tau, lambda;
  return c.get(
      c.forward_hessian, c.forward_kept, c.forward_inputs, Cache::kExternal, [&](HessianBlocks& H) {
        resize(H, n);
        const int singular = limb::aba_hessian(*c.model, ready(c.second_work, *c.model), c.q, c.v,
                                               c.forward_kept.head(n), c.forward_kept.tail(n), H.qq,
                                               H.qv, H.vv, H.qu, c.external, c.effects);
        if (singular >= 0) c.fail_singular("Robot::aba_hessian", singular);
      });
}

const MatrixX<double>& Robot::regressor() const {
  Cache& c = *cache_;
  return c.get(c.regressor, Cache::kAcceleration, [&](MatrixX<double>& Y) {
    Y.resize(c.v.size(), parameter_count(*c.model));
    torque_regressor(*c.model, c.walked(Order::acceleration), ready(c.regressor_scratch, *c.model),
                     Y);
  });
}

const MatrixX<double>& Robot::static_regressor() const {
  Cache& c = *cache_;
  return c.get(c.static_regressor, Cache::kPosition, [&](MatrixX<double>& Y) {
    Y.resize(c.v.size(), parameter_count(*c.model));
    limb::static_regressor(*c.model, c.walked(Order::position),
                           ready(c.regressor_scratch, *c.model), Y);
  });
}

const VectorX<double>& Robot::kinetic_energy_regressor() const {
  Cache& c = *cache_;
  return c.get(c.kinetic_regressor, Cache::kVelocity, [&](VectorX<double>& y) {
    y.resize(parameter_count(*c.model));
    limb::kinetic_energy_regressor(*c.model, c.walked(Order::velocity), y);
  });
}

const VectorX<double>& Robot::potential_energy_regressor() const {
  Cache& c = *cache_;
  return c.get(c.potential_regressor, Cache::kPosition, [&](VectorX<double>& y) {
    y.resize(parameter_count(*c.model));
    limb::potential_energy_regressor(*c.model, c.walked(Order::position), y);
  });
}

const Matrix6X<double>& Robot::momentum_regressor() const {
  Cache& c = *cache_;
  return c.get(c.momentum_regressor, Cache::kVelocity, [&](Matrix6X<double>& Y) {
    Y.resize(6, parameter_count(*c.model));
    limb::momentum_regressor(*c.model, c.walked(Order::velocity), Y);
  });
}

const VelocityDerivatives& Robot::velocity_derivatives(std::string_view frame,
                                                       FrameAxes axes) const {
  Cache& c = *cache_;
  const FrameId id = c.frame("Robot::velocity_derivatives", frame);
  return c.get(c.frame_velocity, c.velocity_view, {id.value(), axes}, Cache::kVelocity,
               [&](VelocityDerivatives& d) {
                 make_room(6, c.v.size(), d.dq, d.dv);
                 frame_velocity_derivatives(*c.model, c.walked(Order::velocity), id, axes, d.dq,
                                            d.dv);
               });
}
const AccelerationDerivatives& Robot::acceleration_derivatives(std::string_view frame,
                                                               FrameAxes axes,
                                                               AccelerationKind kind) const {
  Cache& c = *cache_;
  const FrameId id = c.frame("Robot::acceleration_derivatives", frame);
  return c.get(c.frame_acceleration, c.acceleration_view, {id.value(), axes, kind},
               Cache::kAcceleration, [&](AccelerationDerivatives& d) {
                 make_room(6, c.v.size(), d.dq, d.dv, d.da);
                 frame_acceleration_derivatives(*c.model, c.walked(Order::acceleration), id, axes,
                                                kind, d.dq, d.dv, d.da);
               });
}

const VelocityDerivatives& Robot::center_of_mass_velocity_derivatives() const {
  Cache& c = *cache_;
  return c.get(c.com_velocity_derivatives, Cache::kVelocity, [&](VelocityDerivatives& d) {
    make_room(3, c.v.size(), d.dq, d.dv);
    limb::center_of_mass_velocity_derivatives(*c.model, c.walked(Order::velocity), c.subtree, d.dq,
                                              d.dv);
  });
}
const AccelerationDerivatives& Robot::center_of_mass_acceleration_derivatives() const {
  Cache& c = *cache_;
  return c.get(c.com_acceleration_derivatives, Cache::kAcceleration,
               [&](AccelerationDerivatives& d) {
                 make_room(3, c.v.size(), d.dq, d.dv, d.da);
                 limb::center_of_mass_acceleration_derivatives(
                     *c.model, c.walked(Order::acceleration), c.subtree, d.dq, d.dv, d.da);
               });
}
const VelocityDerivatives& Robot::centroidal_momentum_derivatives() const {
  Cache& c = *cache_;
  return c.get(c.momentum_derivatives, Cache::kVelocity, [&](VelocityDerivatives& d) {
    make_room(6, c.v.size(), d.dq, d.dv);
    limb::centroidal_momentum_derivatives(*c.model, c.walked(Order::velocity), c.subtree, d.dq,
                                          d.dv);
  });
}
const AccelerationDerivatives& Robot::centroidal_momentum_rate_derivatives() const {
  Cache& c = *cache_;
  return c.get(c.momentum_rate_derivatives, Cache::kAcceleration, [&](AccelerationDerivatives& d) {
    make_room(6, c.v.size(), d.dq, d.dv, d.da);
    limb::centroidal_momentum_rate_derivatives(*c.model, c.walked(Order::acceleration), c.subtree,
                                               d.dq, d.dv, d.da);
  });
}

const ConstrainedDerivatives<double>& Robot::constrained_derivatives(VectorIn<double>& tau) const {
  Cache& c = *cache_;
  c.check_v("Robot::constrained_derivatives", "tau", tau);
  return *c.get(c.constrained, c.constrained_tau, tau, Cache::kExternal,
                [&](std::optional<ConstrainedDerivatives<double>>& d) {
                  auto& work = ready(c.constrained_work, *c.model, *c.set);
                  const auto report = limb::constrained_derivatives(
                      *c.model, *c.set, work, c.q, c.v, c.constrained_tau, c.external,
                      ready(d, *c.model, *c.set), {c.effects});
                  if (report.singular < 0) return;
                  c.fail_singular("Robot::constrained_derivatives", report.singular);
                });
}
const ImpactDerivatives<double>& Robot::impact_derivatives(double restitution) const {
  Cache& c = *cache_;
  if (restitution != c.struck_restitution[0]) c.struck.version = Cache::kNever;
  c.struck_restitution[0] = restitution;
  return *c.get(c.struck, Cache::kExternal, [&](std::optional<ImpactDerivatives<double>>& d) {
    auto& work = ready(c.constrained_work, *c.model, *c.set);
    const auto report =
        limb::impact_derivatives(*c.model, *c.set, work, c.q, c.v, c.struck_restitution,
                                 ready(d, *c.model, *c.set), {c.effects});
    if (report.singular >= 0) c.fail_singular("Robot::impact_derivatives", report.singular);
  });
}

const MatrixX<double>& Robot::aba_parameter_derivatives(VectorIn<double>& tau) const {
  Cache& c = *cache_;
  c.check_v("Robot::aba_parameter_derivatives", "tau", tau);
  return c.get(c.by_parameters, c.parameter_tau, tau, Cache::kExternal, [&](MatrixX<double>& d) {
    make_room(c.v.size(), parameter_count(*c.model), d);
    const int singular = limb::aba_parameter_derivatives(
        *c.model, ready(c.parameter_work, *c.model), c.q, c.v, c.parameter_tau, c.external,
        c.a_by_parameters, d, c.effects);
    if (singular >= 0) c.fail_singular("Robot::aba_parameter_derivatives", singular);
  });
}
const ParameterDerivatives& Robot::constrained_parameter_derivatives(VectorIn<double>& tau) const {
  Cache& c = *cache_;
  c.check_v("Robot::constrained_parameter_derivatives", "tau", tau);
  return c.get(c.constrained_by_parameters, c.constrained_parameter_tau, tau, Cache::kExternal,
               [&](ParameterDerivatives& d) {
                 const int count = parameter_count(*c.model);
                 make_room(c.v.size(), count, d.da);
                 make_room(c.set->rows(), count, d.df);
                 d.a.resize(c.v.size());
                 d.f.resize(c.set->rows());
                 auto& work = ready(c.constrained_work, *c.model, *c.set);
                 const auto report = limb::constrained_parameter_derivatives(
                     *c.model, *c.set, work, c.q, c.v, c.constrained_parameter_tau, c.external, d.a,
                     d.f, d.da, d.df, {c.effects});
                 if (report.singular < 0) return;
                 c.fail_singular("Robot::constrained_parameter_derivatives", report.singular);
               });
}

}  // namespace limb
