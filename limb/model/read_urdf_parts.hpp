#pragma once

#include "limb/model/description.hpp"
#include "limb/model/mesh_path.hpp"
#include "limb/model/xml.hpp"

/// The parts of read_urdf: one function an element. For its own use.
namespace limb::urdf {

using Element = XmlFile::Element;

/// What the functions share: the document, its messages, and where meshes may lie.
struct Reading {
  const XmlFile& file;
  XmlReader xml;
  MeshPaths meshes;

  /// The first child of that name, or null; a warning where there are more.
  const Element* only_child(const Element& element, const char* name);
  /// The same; an error where there is none. `owner` names the whole in the message.
  const Element* required_child(const Element& element, const char* name, const std::string& owner);
  /// A number that must be there; 0 and an error where it is not.
  double required_number(const Element& element, const char* attribute);
  /// <origin xyz rpy> below `element`; identity where there is none. Its angles into `rpy`, if any.
  Pose<double> origin(const Element& element, std::optional<Vector3<double>>* rpy = nullptr);
};

LinkDescription<double> read_link(Reading& reading, const Element& element);
/// The joint, and its <mimic> into `robot.couplings`.
void read_joint(Reading& reading, const Element& element, Description<double>& robot);
/// The joints that the <transmission> elements below `element` drive.
std::vector<ActuationDescription> read_transmissions(Reading& reading, const Element& element);

}  // namespace limb::urdf
