#pragma once

#include "limb/dynamics/aba.hpp"
#include "limb/sim/integrator.hpp"

namespace limb::testing {

/// A robot under its weight, and under constant torques where given.
class FreeMotion final : public Equation<double> {
 public:
  explicit FreeMotion(const Model<double>& model, const JointEffects& effects = {})
      : tau(VectorX<double>::Zero(model.velocity_size())),
        model_(model),
        work_(model),
        effects_(effects) {}
  void rates(const State<double>& s, VectorX<double>& a, VectorX<double>&) override {
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
inline State<double> run(Equation<double>& equation, Integrator<double>& integrator,
                         State<double> s, double t_end) {
  while (s.t < t_end) integrator.advance(equation, s, t_end);
  return s;
}
inline State<double> run(Equation<double>& equation, const Model<double>& model, Method method,
                         double step, const State<double>& s, double t_end) {
  const ConfigurationSpace<double> space(model);
  const auto integrator = make_integrator<double>(method, space, 0, {step});
  return run(equation, *integrator, s, t_end);
}
/// By Dormand and Prince, as exactly as doubles allow.
inline State<double> run_exactly(Equation<double>& equation, const Model<double>& model,
                                 const State<double>& s, double t_end) {
  const ConfigurationSpace<double> space(model);
  const auto integrator =
      make_integrator<double>(Method::dormand_prince, space, 0, {0.01, 1e-13, 1e-13});
  return run(equation, *integrator, s, t_end);
}

}  // namespace limb::testing
