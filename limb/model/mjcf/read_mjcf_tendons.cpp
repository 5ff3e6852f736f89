#include "limb/model/mjcf/read_mjcf_tendons.hpp"

#include <fmt/format.h>

#include "limb/model/mjcf/read_mjcf_reference.hpp"

namespace limb::mjcf {
namespace {

void read_fixed(const Node& node, const Attributes& a, ReadContext& context) {
  TendonDescription tendon;
  tendon.name = context.name_of_copy(node);
  tendon.source = node.source();
  double length = 0;  // where the springs of the joints are at rest
  for (const Node& child : node.children) {
    const Attributes term(child, context.diagnostics);
    if (child.tag() != "joint") {
      note_unknown_child(context.diagnostics, node, child, {"joint"});
      continue;
    }
    const auto* joint = find(term, "joint", "joint", context.named.joints, context);
    if (joint == nullptr) continue;
    if (!is_scalar(context.result.joints[joint->second.index])) {
      term.error("tendon-joint-type", "the tendon has a joint that is not hinge or slide",
                 "MuJoCo refuses it");
      continue;
    }
    const double ratio = term.number("coef", 0);
    length += ratio * context.result.joints[joint->second.index].spring_rest;
    tendon.terms.push_back({joint->first, ratio});
  }
  tendon.stiffness = a.linear_coefficient("stiffness");
  tendon.damping = a.linear_coefficient("damping");
  // -1: the length where the springs of the joints are at rest. One number: a single length.
  std::vector<double> rest = {-1, -1};
  const std::size_t given = a.overlay("springlength", rest);
  if (given == 1) rest[1] = rest[0];
  tendon.rest_min = given == 0 || rest[0] == -1 ? length : rest[0];
  tendon.rest_max = given == 0 || rest[0] == -1 ? length : rest[1];
  if (const auto range = active_range(a, "range", "limited", context.compiler)) {
    tendon.lower = (*range)[0];
    tendon.upper = (*range)[1];
  }
  if (a.number("frictionloss", 0) != 0 || a.number("armature", 0) != 0) {
    a.error("tendon-not-supported", "'frictionloss' and 'armature' of tendons are not supported",
            "the motion would differ");
  }
  if (!tendon.name.empty())
    context.named.tendons.emplace(tendon.name, context.result.tendons.size());
  context.result.tendons.push_back(std::move(tendon));
}

/// Spatial tendons have no length in limb.
void check_spatial(const Attributes& a, const Compiler& compiler) {
  const bool acts = a.linear_coefficient("stiffness") != 0 ||
                    a.linear_coefficient("damping") != 0 || a.number("frictionloss", 0) != 0 ||
                    a.number("armature", 0) != 0 || active_range(a, "range", "limited", compiler);
  if (acts) {
    a.error("tendon-not-supported", "spatial tendons with forces or limits are not supported",
            "the motion would differ", "remove the tendon, or replace it by springs of joints");
  } else {
    a.note("tendon-not-read", "spatial tendons are not read", "it exerts no force by itself");
  }
}

}  // namespace

void read_tendons(const Node& section, ReadContext& context) {
  for (const Node& node : section.children) {
    const DefaultClass& default_class =
        context.defaults.named_by(node, "class", context.defaults.main(), context.diagnostics);
    const Attributes a(node, "tendon", default_class, context.diagnostics);
    if (node.tag() == "spatial") {
      check_spatial(a, context.compiler);
      if (a.has("name")) context.named.spatial_tendons.insert(a.text("name"));
    } else if (node.tag() == "fixed") {
      std::vector<std::string> names;
      for (const Node& child : node.children) {
        for (std::string& name : references(child)) names.push_back(std::move(name));
      }
      for_each_copy(names, context, [&] { read_fixed(node, a, context); });
    } else {
      note_unknown_child(context.diagnostics, section, node, {"fixed", "spatial"});
    }
  }
}

}  // namespace limb::mjcf
