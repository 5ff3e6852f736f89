// Reads robots with states, torques and the accelerations that another library found, in
// Pinocchio's convention, and writes how well limb's accelerations and those satisfy the equations
// of motion. For aba_conditioning_vs_pinocchio_test.py.
//
//   forward_residual_dump < {"robots": [{"urdf", "free", "states": [{"q", "v", "tau", "a"}]}]}
#include <iostream>
#include <nlohmann/json.hpp>

#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/testing/forward_residual.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;
using Vector = VectorX<double>;

Vector vector_of(const Json& j) {
  const auto x = j.get<std::vector<double>>();
  return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

Json residuals(const Json& robot) {
  const auto description = load_description(robot["urdf"].get<std::string>());
  const Base base = robot["free"].get<bool>() ? Base::free : Base::fixed;
  const Model<double> model = build_model(description, base).without_couplings();
  const PinocchioConvention convention(model, description);
  Workspace<double> work(model);
  Json all = Json::array();
  for (const Json& state : robot["states"]) {
    const Vector q = convention.q_from(vector_of(state["q"]));
    const Vector v = convention.v_from(q, vector_of(state["v"]));
    const Vector tau = convention.tau_from(q, vector_of(state["tau"]));
    const Vector other = convention.a_from(q, v, vector_of(state["a"]));
    Vector a(model.nv());
    aba(model, work, q, v, tau, a, JointEffects::none());
    const testing::ForwardResidual residual(model, q, v, tau);
    all.push_back({{"condition", residual.condition()},
                   {"limb", residual.of(a)},
                   {"limb_entries", residual.of_entries(a)},
                   {"other", residual.of(other)},
                   {"other_entries", residual.of_entries(other)}});
  }
  return all;
}

}  // namespace
}  // namespace limb

int main() {
  const nlohmann::json input = nlohmann::json::parse(std::cin);
  nlohmann::json output = nlohmann::json::array();
  for (const auto& robot : input["robots"]) output.push_back(limb::residuals(robot));
  std::cout << output << "\n";
}
