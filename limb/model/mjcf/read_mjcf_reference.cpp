#include "limb/model/mjcf/read_mjcf_reference.hpp"

namespace limb::mjcf {

void missing_attribute(const Attributes& a, const char* what) {
  a.error("attribute-missing", fmt::format("has no attribute '{}'", what),
          "without it the element has no meaning");
}

bool is_scalar(const JointDescription<double>& joint) {
  return joint.type == JointType::revolute || joint.type == JointType::continuous ||
         joint.type == JointType::prismatic;
}

std::vector<std::string> references(const Node& node) {
  std::vector<std::string> names;
  for (const char* attribute : {"joint", "jointinparent", "joint1", "joint2", "tendon", "tendon1",
                                "tendon2", "body1", "body2", "site1", "site2", "geom1", "geom2"}) {
    if (const char* name = node.element->Attribute(attribute)) names.emplace_back(name);
  }
  return names;
}

}  // namespace limb::mjcf
