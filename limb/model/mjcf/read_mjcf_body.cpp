#include "limb/model/mjcf/read_mjcf_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "limb/model/mjcf/read_mjcf_attach.hpp"

namespace limb::mjcf {
namespace {

using Severity = Diagnostic::Severity;

/// A child body or an attached model, read after its parent is complete.
struct ChildBody {
  const Node* node;
  Pose<double> X_PF;  ///< pose of the enclosing <frame> in the parent
  const DefaultClass* default_class;
  std::string suffix;                 ///< of its copy
  AttachedModel* attached = nullptr;  ///< of <attach>
};

/// The contents of a body, with those of its <frame> elements.
struct BodyContents {
  std::optional<InertialDescription<double>> inertial;
  std::vector<BodyJoint> joints;
  std::vector<Geom> geoms;
  std::vector<ChildBody> bodies;
};

enum class BodyLevel { world, top_level, nested };

/// Copies of a <replicate>.
constexpr double kMaxCopies = 100'000;

class Tree {
 public:
  explicit Tree(ReadContext& context) : r_(context) {}

  void read_world(const Node& world) {
    if (const auto* a = world.element->FirstAttribute()) {
      add(r_.diagnostics, Severity::error, world, "worldbody-attribute",
          fmt::format("<worldbody> has the attribute '{}', expected none", a->Name()),
          "the world does not move, and has no class");
    }
    BodyContents contents;
    read_contents(world, {}, r_.defaults.main(), BodyLevel::world, kWorldLink, contents);
    read_children(contents.bodies, kWorldLink, {}, BodyLevel::top_level);
    std::move(contents.geoms.begin(), contents.geoms.end(), std::back_inserter(r_.world_geoms));
  }

 private:
  void read_children(const std::vector<ChildBody>& children, const std::string& parent,
                     const Pose<double>& X_WP, BodyLevel level) {
    for (const ChildBody& child : children) {
      const std::string outer = std::exchange(r_.suffix, child.suffix);
      if (child.attached != nullptr) {
        merge_bodies(*child.attached, parent, X_WP, child.X_PF, r_);
      } else {
        read_body(child, parent, X_WP, level);
      }
      r_.suffix = outer;
    }
  }

  void read_body(const ChildBody& body, const std::string& parent, const Pose<double>& X_WP,
                 BodyLevel level) {
    const Node& node = *body.node;
    expect_attributes(r_.diagnostics, node,
                      {"axisangle", "childclass", "euler", "fuse", "gravcomp", "mocap", "name",
                       "pos", "quat", "simple", "sleep", "user", "xyaxes", "zaxis"});
    ++r_.bodies;
    std::string name = r_.name_of_copy(node);
    if (name.empty()) name = fmt::format("body#{}", r_.bodies);
    const Attributes a(node, r_.diagnostics);
    if (name == kWorldLink) {
      a.error("name-world", "the name 'world' belongs to the world itself",
              "joints could not distinguish the two");
    }
    const Pose<double> X_FB = pose(a, r_.compiler), X_PB = body.X_PF * X_FB;
    const Pose<double> X_WB = X_WP * X_PB;
    if (a.keyword("mocap", {"true", "false"}, "false") == "true") {
      a.note("mocap-not-read", "attribute 'mocap' is not read", "the body is fixed to the world");
    }
    const DefaultClass& default_class =
        r_.defaults.named_by(node, "childclass", *body.default_class, r_.diagnostics);

    BodyContents contents;
    read_contents(node, {}, default_class, level, name, contents);
    r_.named.bodies.emplace(name, NamedElements::Body{X_WB, r_.result.joints.size()});
    add_joints(contents.joints, name, parent, X_PB, level, node);
    LinkDescription<double> link;
    link.name = name;
    link.source = node.source();
    link.gravity_compensation = a.number("gravcomp", 0);
    link.inertial = body_inertial(contents.inertial, contents.geoms, r_.meshes, r_.compiler, X_FB,
                                  child_origins(contents.bodies), node, r_.diagnostics);
    for (Geom& geom : contents.geoms) {
      if (geom.geometry) link.geometry.push_back(std::move(*geom.geometry));
      if (geom.height_field) {
        r_.diagnostics.push_back({Severity::warning, "height-field-not-read",
                                  geom.height_field->geometry.source,
                                  "a height field of a body is not read",
                                  "nothing touches this geom", "move it to <worldbody>"});
      }
    }
    r_.result.links.push_back(std::move(link));
    read_children(contents.bodies, name, X_WB, BodyLevel::nested);
  }

  std::vector<Vector3<double>> child_origins(const std::vector<ChildBody>& children) const {
    std::vector<Vector3<double>> origins;
    if (r_.options.missing_meshes != MissingMeshes::box) return origins;
    Diagnostics repeated;  // when the child is read
    for (const ChildBody& child : children) {
      if (child.attached != nullptr) continue;
      origins.push_back(child.X_PF * Attributes(*child.node, repeated).vector("pos"));
    }
    return origins;
  }

  void read_contents(const Node& node, const Pose<double>& X_BF, const DefaultClass& default_class,
                     BodyLevel level, const std::string& link, BodyContents& contents) {
    for (const Node& child : node.children) {
      if (r_.exceeds_limit(child)) return;
      const std::string_view tag = child.tag();
      const auto class_of = [&]() -> const DefaultClass& {
        return r_.defaults.named_by(child, "class", default_class, r_.diagnostics);
      };
      if (tag == "body") {
        contents.bodies.push_back({&child, X_BF, &default_class, r_.suffix});
      } else if (tag == "frame") {
        expect_attributes(
            r_.diagnostics, child,
            {"axisangle", "childclass", "euler", "name", "pos", "quat", "xyaxes", "zaxis"});
        const Attributes a(child, r_.diagnostics);
        read_contents(child, X_BF * pose(a, r_.compiler),
                      r_.defaults.named_by(child, "childclass", default_class, r_.diagnostics),
                      level, link, contents);
      } else if (tag == "geom") {
        read_geom_into(child, class_of(), X_BF, contents);
      } else if (tag == "site") {
        read_site(child, class_of(), X_BF, link);
      } else if (tag == "joint" || tag == "freejoint" || tag == "inertial") {
        read_body_element(child, tag == "joint" ? class_of() : default_class, X_BF, level,
                          contents);
      } else if (tag == "replicate") {
        read_copies(child, X_BF, default_class, level, link, contents);
      } else if (tag == "attach") {
        read_attach(child, X_BF, default_class, contents);
      } else if (tag == "composite" || tag == "flexcomp") {
        add(r_.diagnostics, Severity::error, child, "element-not-supported",
            fmt::format("<{}> is not supported", tag),
            "bodies and joints that MuJoCo generates from it would be missing",
            "save the compiled model with MuJoCo and read that file");
      } else if (tag != "camera" && tag != "light" && tag != "plugin") {
        note_unknown_child(
            r_.diagnostics, node, child,
            {"body", "frame", "geom", "site", "joint", "freejoint", "inertial", "camera", "light",
             "attach", "replicate", "composite", "flexcomp", "plugin", "include"});
      }
    }
  }

  /// Each copy is placed relative to the one before it; names get the number of the copy.
  void read_copies(const Node& node, const Pose<double>& X_BF, const DefaultClass& default_class,
                   BodyLevel level, const std::string& link, BodyContents& contents) {
    expect_attributes(r_.diagnostics, node, {"count", "euler", "offset", "sep", "childclass"});
    const Attributes a(node, r_.diagnostics);
    const double count = a.number("count", 0);
    if (!(count >= 1 && count <= kMaxCopies && count == std::floor(count))) {
      return a.error("replicate-count",
                     fmt::format("attribute 'count' is '{}', expected a whole number from 1 to {}",
                                 a.text("count").substr(0, 20), kMaxCopies),
                     "the number of copies is not known");
    }
    const Pose<double> X_next{orientation(a, r_.compiler), a.vector("offset")};
    const std::string sep = a.text("sep"), outer = r_.suffix;
    const auto digits = fmt::format("{:.0f}", count).size();
    Pose<double> X_BC = X_BF;
    for (int i = 0; i < count && r_.limits.elements <= kMaxElements; ++i) {
      r_.suffix = fmt::format("{}{:0{}}{}", sep, i, digits, outer);
      read_contents(node, X_BC,
                    r_.defaults.named_by(node, "childclass", default_class, r_.diagnostics), level,
                    link, contents);
      X_BC = X_BC * X_next;
    }
    r_.suffix = outer;
  }

  /// The bodies of another model, which is read at once: its fixed geoms belong to this body.
  void read_attach(const Node& node, const Pose<double>& X_BF, const DefaultClass& default_class,
                   BodyContents& contents) {
    AttachedModel* model = read_attached(node, r_);
    if (model == nullptr) return;
    if (model->body.empty()) {
      for (Geom geom : model->context.world_geoms) {
        geom.X_BG = X_BF * geom.X_BG;
        if (geom.geometry) {
          geom.geometry->X_LG = X_BF * geom.geometry->X_LG;
          if (!geom.geometry->name.empty()) {
            geom.geometry->name = model->prefix + geom.geometry->name;
          }
        }
        if (geom.height_field) {
          Geometry& field = geom.height_field->geometry;
          field.X_LG = X_BF * field.X_LG;
          if (!field.name.empty()) field.name = model->prefix + field.name;
        }
        contents.geoms.push_back(std::move(geom));
      }
    }
    contents.bodies.push_back({&node, X_BF, &default_class, r_.suffix, model});
  }

  /// Joints and inertial of the body.
  void read_body_element(const Node& node, const DefaultClass& default_class,
                         const Pose<double>& X_BF, BodyLevel level, BodyContents& contents) {
    if (level == BodyLevel::world) {
      add(r_.diagnostics, Severity::error, node, "world-element",
          fmt::format("<{}> is in <worldbody>, expected in a body", node.tag()),
          "the world has no joint and no mass; it is ignored");
      return;
    }
    if (node.tag() != "inertial") {
      contents.joints.push_back(read_joint(node, default_class, X_BF, r_));
      return;
    }
    expect_attributes(r_.diagnostics, node,
                      {"axisangle", "diaginertia", "euler", "fullinertia", "mass", "pos", "quat",
                       "xyaxes", "zaxis"});
    if (contents.inertial) {
      add(r_.diagnostics, Severity::error, node, "inertial-twice",
          "the body has more than one <inertial>", "only one can be meant; the first is used");
      return;
    }
    contents.inertial = read_inertial(Attributes(node, r_.diagnostics), X_BF, r_.compiler);
  }

  void read_geom_into(const Node& node, const DefaultClass& default_class, const Pose<double>& X_BF,
                      BodyContents& contents) {
    expect_attributes(
        r_.diagnostics, node,
        {"adhesion", "axisangle",  "castshadow",   "class",    "conaffinity", "condim",
         "contype",  "density",    "euler",        "fitscale", "fluidcoef",   "fluidshape",
         "friction", "fromto",     "gap",          "group",    "hfield",      "margin",
         "mass",     "material",   "mesh",         "name",     "pos",         "priority",
         "quat",     "rgba",       "shellinertia", "size",     "solimp",      "solmix",
         "solref",   "surfacevel", "type",         "user",     "xyaxes",      "zaxis"});
    const Attributes a(node, "geom", default_class, r_.diagnostics);
    Geom geom = read_geom(a, X_BF, r_.compiler, r_.meshes, r_.height_fields);
    if (geom.geometry) geom.geometry->name = r_.name_of_copy(node);
    if (geom.height_field) geom.height_field->geometry.name = r_.name_of_copy(node);
    if (!r_.softness_reported && (a.has("solref") || a.has("solimp"))) {
      r_.softness_reported = true;
      a.warn("softness-not-read", "attributes 'solref' and 'solimp' of geoms are not read",
             "contact in limb is rigid; a scenario can make it compliant ([contact] stiffness)");
    }
    for (const char* name : {"adhesion", "surfacevel"}) {
      std::vector<double> values(6, 0.0);
      if (a.overlay(name, values) == 0) continue;
      if (std::all_of(values.begin(), values.end(), [](double x) { return x == 0; })) continue;
      a.error("surface-not-supported", fmt::format("attribute '{}' is not supported", name),
              "surfaces in limb neither stick nor move");
    }
    if (r_.result.scene.medium.acts() &&
        a.keyword("fluidshape", {"none", "ellipsoid"}, "none") == "ellipsoid") {
      a.error("medium-not-supported", "fluidshape 'ellipsoid' is not supported",
              "limb has the drag of a box with the inertia of the body");
    }
    contents.geoms.push_back(std::move(geom));
  }

  void read_site(const Node& node, const DefaultClass& default_class, const Pose<double>& X_BF,
                 const std::string& link) {
    expect_attributes(r_.diagnostics, node,
                      {"axisangle", "class", "euler", "fromto", "group", "material", "mesh", "name",
                       "pos", "quat", "rgba", "size", "type", "user", "xyaxes", "zaxis"});
    ++r_.sites;
    const Attributes a(node, "site", default_class, r_.diagnostics);
    FrameDescription<double> frame;
    frame.name = r_.name_of_copy(node);
    if (frame.name.empty()) frame.name = fmt::format("site#{}", r_.sites);
    frame.link = link;
    frame.source = node.source();
    const auto segment = read_fromto(a);
    frame.X_LF = X_BF * (segment ? segment->X : pose(a, r_.compiler));
    r_.named.sites.emplace(frame.name, NamedElements::Site{link, frame.X_LF});
    r_.result.frames.push_back(std::move(frame));
  }

  /// The joints of a body as a chain: parent, massless links, body.
  void add_joints(std::vector<BodyJoint>& joints, const std::string& body,
                  const std::string& parent, const Pose<double>& X_PB, BodyLevel level,
                  const Node& node) {
    if (joints.empty()) {
      BodyJoint fixed;
      fixed.description.name = body + "/fixed";
      fixed.description.source = node.source();
      fixed.named = true;
      joints.push_back(fixed);
    }
    std::string before = parent;
    for (std::size_t i = 0; i < joints.size(); ++i) {
      JointDescription<double> d = std::move(joints[i].description);
      const bool last = i + 1 == joints.size();
      std::string link = fmt::format("{}/{}", body, d.name);
      if (!joints[i].named) {
        d.name = i == 0 ? body + "/joint" : fmt::format("{}/joint{}", body, i + 1);
        link = d.name;
      }
      if (last) link = body;
      // The first joint has the pose of the file; q = 0 is `ref` before it.
      const Pose<double> X_PC = i == 0 ? X_PB : Pose<double>();
      d.parent = before;
      d.child = link;
      if (d.type == JointType::free) {
        check_free(d, joints.size(), level, node);
        r_.result.scene.initial.joints.push_back({d.name, free_coordinates(X_PB), {}});
      } else {
        d.X_PJ = X_PC * pose_before_ref(d, joints[i].pos, joints[i].ref);
        d.X_JC.p = -joints[i].pos;
      }
      if (!last) {
        LinkDescription<double> between;
        between.name = link;
        between.source = d.source;
        r_.result.links.push_back(std::move(between));
      }
      if (joints[i].ref != 0)
        r_.result.scene.initial.joints.push_back({d.name, {joints[i].ref}, {}});
      r_.named.joints.emplace(d.name, NamedElements::Joint{r_.result.joints.size(), joints[i].ref});
      if (joints[i].spring_damper) {
        r_.spring_dampers.emplace(r_.result.joints.size(), *joints[i].spring_damper);
      }
      before = link;
      r_.result.joints.push_back(std::move(d));
    }
  }

  /// Joint frame in the body, rotated or translated back by ref.
  static Pose<double> pose_before_ref(const JointDescription<double>& d, const Vector3<double>& pos,
                                      double ref) {
    Pose<double> X{Matrix3<double>::Identity(), pos};
    if (ref == 0 || d.axis.isZero(0)) return X;
    if (d.type == JointType::prismatic) {
      X.p -= ref * d.axis;
    } else if (d.type != JointType::spherical) {
      X.R = to_matrix(quaternion_from_axis_angle<double>(d.axis, -ref));
    }
    return X;
  }

  void check_free(const JointDescription<double>& d, std::size_t joints, BodyLevel level,
                  const Node& body) {
    const auto refuse = [&](const char* rule, std::string message, const char* reason) {
      r_.diagnostics.push_back({Severity::error, rule, d.source, std::move(message), reason, {}});
    };
    if (joints > 1) {
      refuse("free-joint-not-alone",
             fmt::format("{}: free joint '{}' together with other joints", body.title(), d.name),
             "a body has at most six degrees of freedom");
    }
    if (level == BodyLevel::nested) {
      refuse("free-joint-nested",
             fmt::format("{}: free joint '{}' in a body that is not in <worldbody> itself",
                         body.title(), d.name),
             "its coordinates would be relative to the world, not to the parent");
    }
  }

  ReadContext& r_;
};

}  // namespace

std::string ReadContext::name_of_copy(const Node& node) {
  const std::string name = name_of(node, diagnostics);
  if (name.empty() || suffix.empty()) return name;
  std::vector<std::string>& suffixes = copies[name];
  if (suffixes.empty() || suffixes.back() != suffix) suffixes.push_back(suffix);
  return name + suffix;
}

bool ReadContext::exceeds_limit(const Node& node) {
  if (++limits.elements <= kMaxElements) return false;
  if (limits.elements == kMaxElements + 1) {
    add(diagnostics, Severity::error, node, "too-many-elements",
        fmt::format("the model has more than {} elements with all copies", kMaxElements),
        "the rest is not read");
  }
  return true;
}

std::vector<double> free_coordinates(const Pose<double>& X) {
  const Quaternion<double> quaternion = quaternion_from_matrix<double>(X.R);
  return {X.p[0], X.p[1], X.p[2], quaternion.x(), quaternion.y(), quaternion.z(), quaternion.w()};
}

void read_worldbody(const Node& world, ReadContext& context) {
  Tree(context).read_world(world);
}

}  // namespace limb::mjcf
