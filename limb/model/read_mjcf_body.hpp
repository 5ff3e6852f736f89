#pragma once

#include <string>
#include <unordered_map>

#include "limb/model/description.hpp"
#include "limb/model/read_mjcf_geom.hpp"

/// The tree of bodies: links, joints and frames of the description.
namespace limb::mjcf {

/// What equalities and actuators refer to by name.
struct Named {
  struct Joint {
    std::size_t index;  ///< in Description::joints
    double ref = 0;     ///< q at the pose that the file gives
  };
  struct Site {
    std::string link;
    Pose<double> X_LS;
  };
  std::unordered_map<std::string, Pose<double>> bodies;  ///< X_WB as the file gives it
  std::unordered_map<std::string, Joint> joints;
  std::unordered_map<std::string, Site> sites;
};

/// Everything that reading shares.
struct Reading {
  const Document& document;
  Diagnostics& diagnostics;
  Compiler compiler;
  Defaults defaults;
  MeshAssets meshes;
  Named named;
  Description<double> result;
  std::size_t bodies = 0, sites = 0;  ///< read so far; they number what has no name
};

/// Reads one <worldbody>.
void read_worldbody(const Node& world, Reading& reading);

/// One joint of a body as MJCF says it.
struct BodyJoint {
  JointDescription<double> description;           ///< all but parent, child and placements
  Vector3<double> pos = Vector3<double>::Zero();  ///< anchor in the body's frame
  double ref = 0;
  bool named = false;
};

/// A <joint> or <freejoint>; X_BF is the <frame> in which it stands.
BodyJoint read_joint(const Node& node, const DefaultClass& its_class, const Pose<double>& X_BF,
                     Reading& reading);

}  // namespace limb::mjcf
