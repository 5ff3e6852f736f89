#pragma once

#include <string>
#include <unordered_map>

#include "limb/model/core/description.hpp"
#include "limb/model/mjcf/read_mjcf_geom.hpp"

/// The tree of bodies: links, joints and frames of the description.
namespace limb::mjcf {

/// Elements that equalities and actuators refer to by name.
struct NamedElements {
  struct Joint {
    std::size_t index;  ///< in Description::joints
    double ref = 0;     ///< q at the pose in the file
  };
  struct Site {
    std::string link;
    Pose<double> X_LS;
  };
  std::unordered_map<std::string, Pose<double>> bodies;  ///< X_WB in the file
  std::unordered_map<std::string, Joint> joints;
  std::unordered_map<std::string, Site> sites;
};

/// State shared by the functions of the reader.
struct ReadContext {
  const Document& document;
  Diagnostics& diagnostics;
  Compiler compiler;
  Defaults defaults;
  MeshLibrary meshes;
  NamedElements named;
  Description<double> result;
  std::size_t bodies = 0, sites = 0;  ///< number read so far, for elements without a name
};

/// Reads one <worldbody>.
void read_worldbody(const Node& world, ReadContext& context);

/// One joint of a body as in MJCF.
struct BodyJoint {
  JointDescription<double> description;           ///< except parent, child and placements
  Vector3<double> pos = Vector3<double>::Zero();  ///< anchor in the body's frame
  double ref = 0;
  bool named = false;
};

/// A <joint> or <freejoint>; X_BF is the pose of the enclosing <frame> in the body.
BodyJoint read_joint(const Node& node, const DefaultClass& default_class, const Pose<double>& X_BF,
                     ReadContext& context);

}  // namespace limb::mjcf
