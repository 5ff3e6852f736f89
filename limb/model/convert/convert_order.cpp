#include "limb/model/convert/convert_order.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace limb::convert_order {
namespace {

std::size_t at(BodyId id) {
  return static_cast<std::size_t>(id.value());
}

std::vector<BodyId> limb_order(const Model<double>& model) {
  std::vector<BodyId> order;
  for (int i = 1; i < model.body_count(); ++i) order.emplace_back(i);
  return order;
}

std::string prefix(const ConventionFacts& facts) {
  return std::string(facts.call) + ": ";
}

}  // namespace

std::vector<BodyId> from_model(const ConventionFacts& facts, const Model<double>& model) {
  if (facts.joint_order == JointOrder::file) return limb_order(model);

  std::vector<std::vector<BodyId>> children(static_cast<std::size_t>(model.body_count()));
  for (const BodyId id : limb_order(model)) children[at(model.body(id).parent)].push_back(id);
  std::vector<int> links(children.size(), 0);
  for (const Frame<double>& frame : model.frames()) {
    if (frame.kind == Frame<double>::Kind::link) ++links[at(frame.body)];
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (links[i] > 1 && children[i].size() > 1) {
      throw Error(prefix(facts) + std::string(facts.library) + "'s order of the joints on body '" +
                  model.bodies()[i].name +
                  "' depends on the names of the fixed joints between its " +
                  std::to_string(links[i]) +
                  " links, which the model does not keep (give the description too, or the names "
                  "of the joints in order)");
    }
    std::sort(children[i].begin(), children[i].end(),
              [&](BodyId a, BodyId b) { return model.body(a).name < model.body(b).name; });
  }

  std::vector<BodyId> order, pending(children[0].rbegin(), children[0].rend());
  while (!pending.empty()) {
    const BodyId id = pending.back();
    pending.pop_back();
    order.push_back(id);
    pending.insert(pending.end(), children[at(id)].rbegin(), children[at(id)].rend());
  }
  return order;
}

std::vector<BodyId> from_description(const ConventionFacts& facts, const Model<double>& model,
                                     const Description<double>& description) {
  if (facts.joint_order == JointOrder::file) return limb_order(model);

  std::unordered_map<std::string, int> body_of;
  for (const BodyId id : limb_order(model)) body_of[model.body(id).name] = id.value();
  std::unordered_map<std::string, std::vector<const JointDescription<double>*>> children;
  std::unordered_set<std::string> has_parent, listed;
  for (const auto& joint : description.joints) {
    children[joint.parent].push_back(&joint);
    has_parent.insert(joint.child);
    listed.insert(joint.name);
  }
  for (auto& [link, joints] : children) {
    std::sort(joints.begin(), joints.end(), [](auto* a, auto* b) { return a->name < b->name; });
  }

  // A free base that is not in the file comes before its subtree.
  std::vector<BodyId> order;
  for (const BodyId id : limb_order(model)) {
    const Body<double>& body = model.body(id);
    if (listed.count(body.name) != 0) continue;
    if (body.joint.type() != JointType::free || body.parent != BodyId(0)) {
      throw Error(prefix(facts) + "the description lacks joint '" + body.name +
                  "' of the model, expected the one that the model was built from");
    }
    order.push_back(id);
  }
  std::vector<std::string> pending;
  for (auto link = description.links.rbegin(); link != description.links.rend(); ++link) {
    if (has_parent.count(link->name) == 0 && link->name != kWorldLink)
      pending.push_back(link->name);
  }
  pending.push_back(kWorldLink);

  std::vector<const JointDescription<double>*> joints;
  const auto push_children = [&](const std::string& link) {
    const auto found = children.find(link);
    if (found == children.end()) return;
    joints.insert(joints.end(), found->second.rbegin(), found->second.rend());
  };
  while (!pending.empty()) {
    push_children(pending.back());
    pending.pop_back();
    while (!joints.empty()) {
      const auto* joint = joints.back();
      joints.pop_back();
      const auto body = body_of.find(joint->name);
      if (body != body_of.end()) order.emplace_back(body->second);
      push_children(joint->child);
    }
  }
  if (order.size() != body_of.size()) {
    throw Error(prefix(facts) + "the description connects " + std::to_string(order.size()) +
                " of the model's " + std::to_string(body_of.size()) +
                " joints to its root, expected the description that the model was built from");
  }
  return order;
}

std::vector<BodyId> from_names(const ConventionFacts& facts, const Model<double>& model,
                               const std::vector<std::string>& names) {
  check_size(facts.call, "joint_names", static_cast<std::ptrdiff_t>(names.size()),
             model.body_count() - 1, "one name per moving joint, without fixed joints");
  std::vector<BodyId> order;
  std::unordered_set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw Error(prefix(facts) + "joint_names has '" + name + "' twice, expected each joint once");
    }
    order.push_back(model.find_body(name));
  }
  return order;
}

}  // namespace limb::convert_order
