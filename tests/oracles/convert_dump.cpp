// Writes a random tree, random states of it in another library's convention, and limb's kinematics
// and dynamics there, as JSON for convert_vs_pinocchio_test.py.
//
//   convert_dump LIBRARY SEED [urdf]     LIBRARY: pinocchio, mujoco, drake, rbdl
//
// "urdf" restricts the tree to joint types of URDF, including fixed ones, on a fixed root.
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "limb/model/convert/convert_drake.hpp"
#include "limb/model/convert/convert_mujoco.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/convert/convert_rbdl.hpp"
#include "limb/model/testing/random_tree.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;

template <typename Derived>
Json numbers(const Eigen::MatrixBase<Derived>& m) {
  Json rows = Json::array();
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    if (m.cols() == 1) {
      rows.push_back(double(m(r, 0)));
      continue;
    }
    Json row = Json::array();
    for (Eigen::Index c = 0; c < m.cols(); ++c) row.push_back(double(m(r, c)));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json pose(const Pose<double>& X) {
  return numbers(X.matrix());
}

testing::RandomTreeOptions options_for(const ConventionFacts& facts, bool urdf) {
  testing::RandomTreeOptions options;
  if (urdf) {
    options.joints = 16;
    options.types = {JointType::revolute, JointType::continuous, JointType::prismatic,
                     JointType::fixed};
    return options;
  }
  options.joints = 22;
  options.root = JointType::free;
  if (!facts.has_helical) std::erase(options.types, JointType::helical);
  if (facts.free_reference == FreeJointReference::world) std::erase(options.types, JointType::free);
  return options;
}

Json describe(const Description<double>& d) {
  Json links = Json::array(), joints = Json::array();
  for (const auto& link : d.links) {
    links.push_back({{"name", link.name},
                     {"mass", link.inertial->mass},
                     {"X_LI", pose(link.inertial->X_LI)},
                     {"tensor", numbers(link.inertial->tensor)}});
  }
  for (const auto& joint : d.joints) {
    joints.push_back({{"name", joint.name},
                      {"type", to_text(joint.type)},
                      {"parent", joint.parent},
                      {"child", joint.child},
                      {"X_PJ", pose(joint.X_PJ)},
                      {"axis", numbers(joint.axis)}});
  }
  return {{"links", links}, {"joints", joints}};
}

Json bodies(const Model<double>& model) {
  Json list = Json::array();
  for (int i = 1; i < model.body_count(); ++i) {
    const Body<double>& body = model.body(BodyId(i));
    list.push_back({{"name", body.name},
                    {"type", to_text(body.joint.type())},
                    {"parent", body.parent == BodyId(0) ? "" : model.body(body.parent).name},
                    {"X_PJ", pose(body.X_PJ)},
                    {"axis", numbers(body.joint.axis())},
                    {"axis2", numbers(body.joint.axis2())},
                    {"pitch", body.joint.pitch()},
                    {"plane", numbers(body.joint.plane())},
                    {"mass", body.inertia.mass()},
                    {"com", numbers(body.inertia.com())},
                    {"tensor", numbers(body.inertia.tensor_about_com())}});
  }
  return list;
}

Json state(const Model<double>& model, const Convention& convention, unsigned seed) {
  testing::Random random(seed);
  std::mt19937_64 engine(seed);
  VectorX<double> v(model.uncoupled_nv()), a(model.uncoupled_nv());
  for (double& x : v) x = random.uniform(-1, 1);
  for (double& x : a) x = random.uniform(-1, 1);
  const VectorX<double> q = model.random_configuration(engine);
  const VectorX<double> tau = testing::inverse_dynamics(model, q, v, a);
  Json motions = Json::object();
  const auto motion = testing::tree_motion(model, q, v, a);
  for (int i = 1; i < model.body_count(); ++i) {
    const auto& m = motion[static_cast<std::size_t>(i)];
    motions[model.body(BodyId(i)).name] = {{"X_WB", pose(m.X_WB)},
                                           {"V", numbers(convention.motion_to(m.V_WB_B))},
                                           {"A", numbers(convention.motion_to(m.A_WB_B))}};
  }
  const BodyId last(model.body_count() - 1);
  return {{"q", numbers(convention.q_to(q))},
          {"v", numbers(convention.v_to(q, v))},
          {"a", numbers(convention.a_to(q, v, a))},
          {"tau", numbers(convention.tau_to(q, tau))},
          {"M", numbers(convention.mass_matrix_to(q, testing::mass_matrix(model, q)))},
          {"J", numbers(convention.jacobian_to(
                    q, testing::body_jacobian(model, q, static_cast<std::size_t>(last.value()))))},
          {"J_body", model.body(last).name},
          {"bodies", motions}};
}

int dump(const std::string& library, unsigned seed, bool urdf) {
  const std::map<std::string, const ConventionFacts*> libraries = {{"pinocchio", &kPinocchioFacts},
                                                                   {"mujoco", &kMujocoFacts},
                                                                   {"drake", &kDrakeFacts},
                                                                   {"rbdl", &kRbdlFacts}};
  const ConventionFacts& facts = *libraries.at(library);
  const auto description = testing::random_tree(seed, options_for(facts, urdf));
  const auto model = build_model(description);
  const Convention convention(facts, model, description);
  Json joints = Json::array(), states = Json::array();
  for (const auto& place : convention.joints()) {
    joints.push_back({{"name", place.name}, {"q", place.q_start}, {"v", place.v_start}});
  }
  for (unsigned i = 0; i < 3; ++i) states.push_back(state(model, convention, 100 * seed + i));
  std::cout << Json({{"description", describe(description)},
                     {"bodies", bodies(model)},
                     {"joints", joints},
                     {"nq", convention.nq()},
                     {"nv", convention.nv()},
                     {"states", states}})
            << "\n";
  return 0;
}

}  // namespace
}  // namespace limb

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: convert_dump LIBRARY SEED [urdf]\n";
    return 1;
  }
  return limb::dump(argv[1], static_cast<unsigned>(std::stoul(argv[2])),
                    argc > 3 && std::string(argv[3]) == "urdf");
}
