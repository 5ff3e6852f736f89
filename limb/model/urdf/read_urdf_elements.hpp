#pragma once

#include "limb/model/core/description.hpp"
#include "limb/model/core/xml.hpp"
#include "limb/model/urdf/mesh_path.hpp"

/// Internal functions of read_urdf, one per element.
namespace limb::urdf {

using Element = XmlFile::Element;

/// State shared by the functions: the document, its diagnostics, and the mesh folders.
struct ReadContext {
  const XmlFile& file;
  XmlReader xml;
  MeshPaths meshes;

  /// The first child of that name, or null; a warning if there are more.
  const Element* only_child(const Element& element, const char* name);
  /// The same; an error if it is missing. `owner` names the parent in the message.
  const Element* required_child(const Element& element, const char* name, const std::string& owner);
  /// A required number; 0 and an error if it is missing.
  double required_number(const Element& element, const char* attribute);
  /// <origin xyz rpy> below `element`, or identity. Its angles go to `rpy`, if it has any.
  Pose<double> origin(const Element& element, std::optional<Vector3<double>>* rpy = nullptr);
};

LinkDescription<double> read_link(ReadContext& context, const Element& element);
/// Adds the joint to `robot`, and its <mimic> to `robot.couplings`.
void read_joint(ReadContext& context, const Element& element, Description<double>& robot);
/// The joints that are actuated by the <transmission> elements below `element`.
std::vector<ActuationDescription> read_transmissions(ReadContext& context, const Element& element);

}  // namespace limb::urdf
