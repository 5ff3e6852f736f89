// Writes random states of a robot with frames in contact, in Pinocchio's convention, and limb's
// accelerations, contact forces and impacts there with their derivatives, as JSON for
// constrained_vs_pinocchio_test.py.
//
//   constrained_dump ROBOT.urdf point|surface JOINT,JOINT,... FRAME...
//
// The joints are named in Pinocchio's order.
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "limb/dynamics/constraints/constrained_derivatives.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;

Json numbers(const VectorX<double>& x) {
  return std::vector<double>(x.begin(), x.end());
}
Json rows_of(const MatrixX<double>& x) {
  Json rows = Json::array();
  for (Eigen::Index r = 0; r < x.rows(); ++r) rows.push_back(numbers(x.row(r)));
  return rows;
}

Json dump(const std::string& file, ContactKind kind, const std::vector<std::string>& joints,
          const std::vector<std::string>& frames) {
  const Model<double> model = load_model(file, Base::free).without_couplings();
  const PinocchioConvention to(model, joints);
  std::vector<Contact<double>> contacts;
  for (const std::string& name : frames) {
    Contact<double> contact{model.find_frame(name)};
    contact.kind = kind;
    contacts.push_back(contact);
  }
  const ConstraintSet<double> set(model, contacts);
  ConstrainedDerivativeWorkspace<double> work(model, set);
  ConstrainedDerivatives<double> d(model, set);
  ImpactDerivatives<double> impact(model, set);
  const VectorX<double> restitution = VectorX<double>::Constant(1, 0.3);
  std::mt19937_64 engine(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto random = [&](double size) {
    VectorX<double> x(model.uncoupled_nv());
    for (double& y : x) y = size * uniform(engine);
    return x;
  };
  ConstrainedOptions options;
  options.effects = JointEffects::none();
  Json states = Json::array();
  for (int i = 0; i < 8; ++i) {
    const VectorX<double> q = model.random_configuration(engine), tau = random(20);
    // If a constrained frame moves, the two libraries define the rates of its rows differently.
    const VectorX<double> v = random(kind == ContactKind::point ? 1 : 0);
    const auto report = constrained_derivatives(model, set, work, q, v, tau, d, options);
    // Impacts do not depend on these rates: any velocity.
    const VectorX<double> v_before = random(1);
    impact_derivatives(model, set, work, q, v_before, restitution, impact, options);
    const MatrixX<double> P = to.velocity_matrix(q);
    const auto n_by_n = [&](const MatrixX<double>& x) { return rows_of(P * x * P.transpose()); };
    const auto rows_by_n = [&](const MatrixX<double>& x) { return rows_of(x * P.transpose()); };
    states.push_back({{"q", numbers(to.q_to(q))},
                      {"v", numbers(to.v_to(q, v))},
                      {"tau", numbers(to.tau_to(q, tau))},
                      {"a", numbers(to.a_to(q, v, d.a))},
                      {"f", numbers(d.f)},
                      {"rank", report.rank},
                      {"da_dq", n_by_n(d.da_dq)},
                      {"da_dv", n_by_n(d.da_dv)},
                      {"da_dtau", n_by_n(d.da_dtau)},
                      {"df_dq", rows_by_n(d.df_dq)},
                      {"df_dv", rows_by_n(d.df_dv)},
                      {"df_dtau", rows_by_n(d.df_dtau)},
                      {"v_before", numbers(to.v_to(q, v_before))},
                      {"v_after", numbers(to.v_to(q, impact.v))},
                      {"impulse", numbers(impact.impulse)},
                      {"dv_dq", n_by_n(impact.dv_dq)},
                      {"dv_dv", n_by_n(impact.dv_dv)},
                      {"dimpulse_dq", rows_by_n(impact.dimpulse_dq)},
                      {"dimpulse_dv", rows_by_n(impact.dimpulse_dv)}});
  }
  return states;
}

}  // namespace
}  // namespace limb

int main(int argc, char** argv) {
  if (argc < 5) return 1;
  std::vector<std::string> joints;
  std::istringstream list(argv[3]);
  for (std::string name; std::getline(list, name, ',');) joints.push_back(name);
  const auto kind =
      std::string(argv[2]) == "point" ? limb::ContactKind::point : limb::ContactKind::surface;
  std::cout << limb::dump(argv[1], kind, joints, {argv + 4, argv + argc}) << "\n";
}
