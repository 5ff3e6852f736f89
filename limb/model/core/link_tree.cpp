#include "limb/model/core/link_tree.hpp"

#include <unordered_map>

namespace limb {

LinkTree link_tree(const Description<double>& robot) {
  constexpr int kNone = LinkTree::kNone;
  const std::size_t n = robot.links.size();
  LinkTree tree;
  tree.joint.assign(n, kNone);
  tree.parent.assign(n, kNone);
  tree.X_RL.resize(n);
  tree.body.assign(n, kNone);
  tree.welded_to_root.assign(n, false);

  std::unordered_map<std::string, int> index;
  for (std::size_t i = 0; i < n; ++i) index.emplace(robot.links[i].name, static_cast<int>(i));
  const auto find = [&](const std::string& name) {
    const auto found = index.find(name);
    return found == index.end() ? kNone : found->second;
  };

  std::vector<std::vector<int>> children(n);
  std::vector<bool> unreachable(n, false);
  for (std::size_t j = 0; j < robot.joints.size(); ++j) {
    const auto& joint = robot.joints[j];
    const int child = find(joint.child), parent = find(joint.parent);
    if (child == kNone) continue;
    const auto c = static_cast<std::size_t>(child);
    if (tree.joint[c] != kNone) continue;
    tree.joint[c] = static_cast<int>(j);
    tree.parent[c] = parent;
    if (parent != kNone) children[static_cast<std::size_t>(parent)].push_back(child);
    unreachable[c] = parent == kNone && joint.parent != kWorldLink;
  }

  for (std::size_t i = 0; i < n; ++i) {
    if (tree.parent[i] == kNone && !unreachable[i]) tree.order.push_back(static_cast<int>(i));
  }
  for (std::size_t k = 0; k < tree.order.size(); ++k) {
    const int link = tree.order[k];
    const auto i = static_cast<std::size_t>(link);
    const int parent = tree.parent[i];
    const auto* joint =
        tree.joint[i] == kNone ? nullptr : &robot.joints[static_cast<std::size_t>(tree.joint[i])];
    const bool welded = joint == nullptr || joint->type == JointType::fixed;
    if (joint != nullptr) tree.X_RL[i] = joint->X_PJ * joint->X_JC;
    if (parent == kNone) {
      tree.body[i] = link;
      tree.welded_to_root[i] = welded;
    } else {
      const auto p = static_cast<std::size_t>(parent);
      tree.X_RL[i] = tree.X_RL[p] * tree.X_RL[i];
      tree.body[i] = welded ? tree.body[p] : link;
      tree.welded_to_root[i] = welded && tree.welded_to_root[p];
    }
    tree.order.insert(tree.order.end(), children[i].begin(), children[i].end());
  }
  return tree;
}

std::vector<Inertia<double>> body_inertias(const Description<double>& robot, const LinkTree& tree) {
  std::vector<Inertia<double>> I_B(robot.links.size());
  for (const int link : tree.order) {
    const auto i = static_cast<std::size_t>(link);
    const auto body = static_cast<std::size_t>(tree.body[i]);
    if (!robot.links[i].inertial) continue;
    const Pose<double> X_BL = tree.X_RL[body].inverse() * tree.X_RL[i];
    I_B[body] = I_B[body] + robot.links[i].inertial->inertia().transformed(X_BL);
  }
  return I_B;
}

std::vector<bool> negligible_links(const Description<double>& robot, const LinkTree& tree) {
  const std::vector<Inertia<double>> I_B = body_inertias(robot, tree);
  std::vector<bool> negligible(robot.links.size(), false);
  for (const int link : tree.order) {
    const auto i = static_cast<std::size_t>(link);
    const Inertia<double>& I = I_B[static_cast<std::size_t>(tree.body[i])];
    const auto& inertial = robot.links[i].inertial;
    if (!inertial || !(I.mass() > 0)) continue;
    negligible[i] = std::abs(inertial->mass) < 1e-3 * I.mass() &&
                    inertial->tensor.norm() < 1e-3 * I.tensor_about_com().norm();
  }
  return negligible;
}

}  // namespace limb
