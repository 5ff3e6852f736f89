// Robot: derivatives and regressor.
#include "limb/dynamics/aba_derivatives.hpp"
#include "limb/dynamics/regressor.hpp"
#include "limb/dynamics/robot.hpp"
#include "limb/dynamics/robot_cache.hpp"

namespace limb {
namespace {

DerivativeWorkspace<double>& ready(std::optional<DerivativeWorkspace<double>>& work,
                                   const Model<double>& model) {
  if (!work) work.emplace(model);
  return *work;
}

}  // namespace

const InverseDerivatives& Robot::rnea_derivatives() const {
  Cache& c = *cache_;
  return c.get(c.inverse_derivatives, Cache::kExternal, [&](InverseDerivatives& d) {
    const Eigen::Index n = c.v.size();
    for (auto* matrix : {&d.dq, &d.dv, &d.da}) matrix->resize(n, n);
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
        for (auto* matrix : {&d.dq, &d.dv, &d.dtau}) matrix->resize(n, n);
        auto& work = ready(c.derivative_work, *c.model);
        const int singular = limb::aba_derivatives(*c.model, work, c.q, c.v, c.derivatives_tau,
                                                   c.external, d.a, d.dq, d.dv, d.dtau, c.effects);
        if (singular >= 0) c.fail_singular("Robot::aba_derivatives", singular);
      });
}

const MatrixX<double>& Robot::regressor() const {
  Cache& c = *cache_;
  return c.get(c.regressor, Cache::kAcceleration, [&](MatrixX<double>& Y) {
    Y.resize(c.v.size(), parameter_count(*c.model));
    if (!c.regressor_scratch) c.regressor_scratch.emplace(*c.model);
    torque_regressor(*c.model, c.walked(Kinematics<double>::Order::acceleration),
                     *c.regressor_scratch, Y);
  });
}

}  // namespace limb
