#include "limb/model/mjcf/read_mjcf_body.hpp"

#include <fmt/format.h>

namespace limb::mjcf {
namespace {

using Severity = Diagnostic::Severity;

/// A child body, read after its parent is complete.
struct ChildBody {
  const Node* node;
  Pose<double> X_PF;  ///< pose of the enclosing <frame> in the parent
  const DefaultClass* default_class;
};

/// The contents of a body, with those of its <frame> elements.
struct BodyContents {
  std::optional<InertialDescription<double>> inertial;
  std::vector<BodyJoint> joints;
  std::vector<Geom> geoms;
  std::vector<ChildBody> bodies;
};

enum class BodyLevel { world, top_level, nested };

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
    r_.named.bodies.emplace(kWorldLink, Pose<double>());
    for (const ChildBody& body : contents.bodies)
      read_body(body, kWorldLink, {}, BodyLevel::top_level);
  }

 private:
  void read_body(const ChildBody& body, const std::string& parent, const Pose<double>& X_WP,
                 BodyLevel level) {
    const Node& node = *body.node;
    expect_attributes(r_.diagnostics, node,
                      {"axisangle", "childclass", "euler", "fuse", "gravcomp", "mocap", "name",
                       "pos", "quat", "simple", "sleep", "user", "xyaxes", "zaxis"});
    ++r_.bodies;
    std::string name = name_of(node, r_.diagnostics);
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
    if (a.number("gravcomp", 0) != 0) {
      a.note("gravcomp-not-modelled", "attribute 'gravcomp' is not read",
             "in limb gravity acts on every body");
    }
    const DefaultClass& default_class =
        r_.defaults.named_by(node, "childclass", *body.default_class, r_.diagnostics);

    BodyContents contents;
    read_contents(node, {}, default_class, level, name, contents);
    r_.named.bodies.emplace(name, X_WB);
    add_joints(contents.joints, name, parent, X_PB, level, node);
    LinkDescription<double> link;
    link.name = name;
    link.source = node.source();
    link.inertial = body_inertial(contents.inertial, contents.geoms, r_.meshes, r_.compiler, X_FB,
                                  node, r_.diagnostics);
    for (Geom& geom : contents.geoms) {
      if (geom.geometry) link.geometry.push_back(std::move(*geom.geometry));
    }
    r_.result.links.push_back(std::move(link));
    for (const ChildBody& child : contents.bodies) read_body(child, name, X_WB, BodyLevel::nested);
  }

  void read_contents(const Node& node, const Pose<double>& X_BF, const DefaultClass& default_class,
                     BodyLevel level, const std::string& link, BodyContents& contents) {
    for (const Node& child : node.children) {
      const std::string_view tag = child.tag();
      const auto class_of = [&]() -> const DefaultClass& {
        return r_.defaults.named_by(child, "class", default_class, r_.diagnostics);
      };
      if (tag == "body") {
        contents.bodies.push_back({&child, X_BF, &default_class});
      } else if (tag == "frame") {
        expect_attributes(
            r_.diagnostics, child,
            {"axisangle", "childclass", "euler", "name", "pos", "quat", "xyaxes", "zaxis"});
        const Attributes a(child, r_.diagnostics);
        read_contents(child, X_BF * pose(a, r_.compiler),
                      r_.defaults.named_by(child, "childclass", default_class, r_.diagnostics),
                      level, link, contents);
      } else if (tag == "geom") {
        read_geom_into(child, class_of(), X_BF, level, contents);
      } else if (tag == "site") {
        read_site(child, class_of(), X_BF, link);
      } else if (tag == "joint" || tag == "freejoint" || tag == "inertial") {
        read_body_element(child, tag == "joint" ? class_of() : default_class, X_BF, level,
                          contents);
      } else if (tag == "attach" || tag == "replicate" || tag == "composite" || tag == "flexcomp") {
        add(r_.diagnostics, Severity::warning, child, "element-not-read",
            fmt::format("<{}> is not read", tag),
            "bodies and joints that MuJoCo generates from it are missing",
            "save the compiled model with MuJoCo and read that file");
      } else if (tag != "camera" && tag != "light" && tag != "plugin") {
        note_unknown_child(
            r_.diagnostics, node, child,
            {"body", "frame", "geom", "site", "joint", "freejoint", "inertial", "camera", "light",
             "attach", "replicate", "composite", "flexcomp", "plugin", "include"});
      }
    }
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
                      BodyLevel level, BodyContents& contents) {
    expect_attributes(
        r_.diagnostics, node,
        {"adhesion", "axisangle",  "castshadow",   "class",    "conaffinity", "condim",
         "contype",  "density",    "euler",        "fitscale", "fluidcoef",   "fluidshape",
         "friction", "fromto",     "gap",          "group",    "hfield",      "margin",
         "mass",     "material",   "mesh",         "name",     "pos",         "priority",
         "quat",     "rgba",       "shellinertia", "size",     "solimp",      "solmix",
         "solref",   "surfacevel", "type",         "user",     "xyaxes",      "zaxis"});
    if (level == BodyLevel::world) return;
    const Attributes a(node, "geom", default_class, r_.diagnostics);
    contents.geoms.push_back(read_geom(a, X_BF, r_.compiler, r_.meshes));
  }

  void read_site(const Node& node, const DefaultClass& default_class, const Pose<double>& X_BF,
                 const std::string& link) {
    expect_attributes(r_.diagnostics, node,
                      {"axisangle", "class", "euler", "fromto", "group", "material", "mesh", "name",
                       "pos", "quat", "rgba", "size", "type", "user", "xyaxes", "zaxis"});
    ++r_.sites;
    const Attributes a(node, "site", default_class, r_.diagnostics);
    FrameDescription<double> frame;
    frame.name = name_of(node, r_.diagnostics);
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
      r_.named.joints.emplace(d.name, NamedElements::Joint{r_.result.joints.size(), joints[i].ref});
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

void read_worldbody(const Node& world, ReadContext& context) {
  Tree(context).read_world(world);
}

}  // namespace limb::mjcf
