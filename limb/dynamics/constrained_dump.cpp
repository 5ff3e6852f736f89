// Writes random states of a robot that stands on frames, in Pinocchio's terms, and limb's
// accelerations and contact forces there, as JSON for constrained_wheels_test.py.
//
//   constrained_dump ROBOT.urdf point|surface JOINT,JOINT,... FRAME...
//
// The joints are named in Pinocchio's order.
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "limb/dynamics/constrained.hpp"
#include "limb/model/convert_pinocchio.hpp"
#include "limb/model/load.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;

Json numbers(const VectorX<double>& x) {
  return std::vector<double>(x.begin(), x.end());
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
  ConstraintWorkspace<double> work(model, set);
  std::mt19937_64 engine(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto random = [&](double size) {
    VectorX<double> x(model.nv());
    for (double& y : x) y = size * uniform(engine);
    return x;
  };
  ConstrainedOptions options;
  options.effects = JointEffects::none();
  Json states = Json::array();
  for (int i = 0; i < 8; ++i) {
    const VectorX<double> q = model.random(engine), tau = random(20);
    // Where a frame moves while it is held the two libraries mean different rates of its rows.
    const VectorX<double> v = random(kind == ContactKind::point ? 1 : 0);
    VectorX<double> a(model.nv()), f(set.rows());
    const auto report = constrained_forward_dynamics(model, set, work, q, v, tau, a, f, options);
    states.push_back({{"q", numbers(to.q_to(q))},
                      {"v", numbers(to.v_to(q, v))},
                      {"tau", numbers(to.tau_to(q, tau))},
                      {"a", numbers(to.a_to(q, v, a))},
                      {"f", numbers(f)},
                      {"rank", report.rank}});
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
