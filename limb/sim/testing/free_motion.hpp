#pragma once

#include "limb/dynamics/recursive/aba.hpp"
#include "limb/sim/integrate/integrator.hpp"

namespace limb::testing {

/// A robot under gravity and constant torques.
class FreeMotion final : public Equation<double> {
 public:
  explicit FreeMotion(const Model<double>& model, const JointEffects& effects = {})
      : tau(VectorX<double>::Zero(model.nv())), model_(model), work_(model), effects_(effects) {}
  void rates(const RobotState<double>& s, VectorX<double>& a, VectorX<double>&) override {
    ++calls;
    aba(model_, work_, s.q, s.v, tau, a, effects_);
  }

  VectorX<double> tau;
  long calls = 0;

 private:
  const Model<double>& model_;
  Workspace<double> work_;
  JointEffects effects_;
};

/// The state at t_end.
inline RobotState<double> run(Equation<double>& equation, Integrator<double>& integrator,
                              RobotState<double> s, double t_end) {
  while (s.t < t_end) integrator.advance(equation, s, t_end);
  return s;
}
inline RobotState<double> run(Equation<double>& equation, const Model<double>& model,
                              IntegrationMethod method, double step, const RobotState<double>& s,
                              double t_end) {
  const ConfigurationSpace<double> space(model);
  const auto integrator = make_integrator<double>(method, space, 0, {step});
  return run(equation, *integrator, s, t_end);
}
/// By Dormand-Prince, near the limit of double precision.
inline RobotState<double> run_exactly(Equation<double>& equation, const Model<double>& model,
                                      const RobotState<double>& s, double t_end) {
  const ConfigurationSpace<double> space(model);
  const auto integrator =
      make_integrator<double>(IntegrationMethod::dormand_prince, space, 0, {0.01, 1e-13, 1e-13});
  return run(equation, *integrator, s, t_end);
}

}  // namespace limb::testing
