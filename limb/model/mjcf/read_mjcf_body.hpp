#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "limb/model/core/description.hpp"
#include "limb/model/mjcf/read_mjcf_geom.hpp"

/// The tree of bodies: links, joints and frames of the description.
namespace limb::mjcf {

struct AttachedModel;

/// Elements that equalities, actuators and other sections refer to by name.
struct NamedElements {
  struct Body {
    Pose<double> X_WB;        ///< in the file
    std::size_t first_joint;  ///< in Description::joints: the joint at the parent body
  };
  struct Joint {
    std::size_t index;  ///< in Description::joints
    double ref = 0;     ///< q at the pose in the file
  };
  struct Site {
    std::string link;
    Pose<double> X_LS;
  };
  std::unordered_map<std::string, Body> bodies;
  std::unordered_map<std::string, Joint> joints;
  std::unordered_map<std::string, Site> sites;
  std::unordered_map<std::string, std::size_t> tendons;  ///< fixed ones, in Description::tendons
  std::unordered_set<std::string> spatial_tendons;
};

/// `springdamper` of a joint: a spring and a damper by the motion that they cause.
struct SpringDamper {
  double time_constant, damping_ratio;  ///< s, 1
};

/// Numbers that all attached models share.
struct ReadLimits {
  std::size_t elements = 0;  ///< read so far, with copies
  std::size_t models = 0;    ///< attached so far
  std::size_t bytes = 0;     ///< of their files
  std::size_t points = 0;    ///< of height fields
};
/// More elements are refused: a few lines of <replicate> could ask for any number.
inline constexpr std::size_t kMaxElements = 200'000;
inline constexpr std::size_t kMaxModels = 1'000;
inline constexpr int kMaxAttachDepth = 16;

/// State shared by the functions of the reader.
struct ReadContext {
  ReadContext(const Document& read_document, const ReadOptions& read_options, Diagnostics& found,
              ReadLimits& read_limits)
      : document(read_document),
        options(read_options),
        diagnostics(found),
        limits(read_limits),
        meshes(read_options.missing_meshes),
        height_fields(read_limits.points) {}

  /// The name of an element with the suffix of its copy, which <replicate> gives; "" if it has
  /// none.
  std::string name_of_copy(const Node& node);
  /// Counts an element; true, and once an error, beyond kMaxElements.
  bool exceeds_limit(const Node& node);

  const Document& document;
  const ReadOptions& options;
  Diagnostics& diagnostics;
  ReadLimits& limits;
  Compiler compiler;
  Defaults defaults;
  MeshLibrary meshes;
  HeightFieldLibrary height_fields;
  NamedElements named;
  Description<double> result;
  std::size_t bodies = 0, sites = 0;  ///< number read so far, for elements without a name
  int depth = 0;                      ///< of attached models
  std::string suffix;                 ///< of the copy that is being read
  /// Suffixes of the copies of an element, by the name that the file gives it.
  std::unordered_map<std::string, std::vector<std::string>> copies;
  std::vector<Geom> world_geoms;
  /// Models that <attach> names; their defaults and meshes are used until the end.
  std::vector<std::shared_ptr<AttachedModel>> attached;
  /// Attached models in the order of their bodies.
  std::vector<const AttachedModel*> merged;
  /// For each actuator of the file a joint that it drives; empty if it drives none.
  std::vector<std::string> controls;
  std::map<std::size_t, SpringDamper> spring_dampers;  ///< by index in Description::joints
  bool contact_disabled = false;
  bool softness_reported = false;  ///< the warning about solref and solimp is given once
};

/// Reads all sections of a model, except that the description has no name yet.
void read_model(const Node& root, ReadContext& context);

/// Reads one <worldbody>.
void read_worldbody(const Node& world, ReadContext& context);

/// The coordinates of a free joint: position, quaternion x y z w.
std::vector<double> free_coordinates(const Pose<double>& X);

/// One joint of a body as in MJCF.
struct BodyJoint {
  JointDescription<double> description;           ///< except parent, child and placements
  Vector3<double> pos = Vector3<double>::Zero();  ///< anchor in the body's frame
  double ref = 0;
  bool named = false;
  std::optional<SpringDamper> spring_damper;
};

/// A <joint> or <freejoint>; X_BF is the pose of the enclosing <frame> in the body.
BodyJoint read_joint(const Node& node, const DefaultClass& default_class, const Pose<double>& X_BF,
                     ReadContext& context);

}  // namespace limb::mjcf
