#include "limb/model/urdf/write_urdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "limb/model/urdf/urdf_text.hpp"

namespace limb {
namespace {

using Severity = Diagnostic::Severity;
using urdf::UrdfText;

/// Written for other tools if there is no bound: larger than for any robot, and finite, because not
/// all of them can read infinity.
constexpr double kUnlimited = 1e9;

/// Name of the type in URDF; types that URDF lacks keep limb's name.
std::string_view type_text(JointType type) {
  return type == JointType::free ? "floating" : to_text(type);
}

bool is_own_type(JointType type) {
  return type == JointType::spherical || type == JointType::universal ||
         type == JointType::cylindrical || type == JointType::helical ||
         type == JointType::translation;
}

bool has_axis(JointType type) {
  return type != JointType::fixed && type != JointType::free && type != JointType::spherical &&
         type != JointType::translation;
}

bool is_identity(const Pose<double>& X) {
  return X.R == Matrix3<double>::Identity() && X.p == Vector3<double>::Zero();
}

class Writer {
 public:
  Writer(const Description<double>& robot, Diagnostics& diagnostics)
      : robot_(robot), diagnostics_(diagnostics) {
    for (const auto& link : robot_.links) names_.insert(link.name);
    for (const auto& joint : robot_.joints) joint_names_.insert(joint.name);
    for (const auto& coupling : robot_.couplings) couplings_[coupling.joint].push_back(&coupling);
    for (const auto& joint : robot_.joints) {
      if (joint.type == JointType::fixed || is_identity(joint.X_JC)) continue;
      if (!moved_.try_emplace(joint.child, joint.X_JC).second) continue;
      add(Severity::note, "frame-moved", joint.source,
          fmt::format("link '{}': its frame is moved to that of joint '{}'", joint.child,
                      joint.name),
          "URDF has no other frame for it; the motion is the same");
    }
  }

  std::string write() {
    text_.open("robot").attribute("name", robot_.name);
    write_world();
    for (const auto& link : robot_.links) write_link(link);
    for (const auto& joint : robot_.joints) write_joint(joint);
    for (const auto& frame : robot_.frames) write_frame(frame);
    for (const auto& actuator : robot_.actuators) write_actuator(actuator);
    text_.close();
    report_lost();
    return text_.finish();
  }

 private:
  void add(Severity severity, std::string rule, const SourceLocation& source, std::string message,
           std::string reason) {
    diagnostics_.push_back(
        {severity, std::move(rule), source, std::move(message), std::move(reason), ""});
  }

  /// A placement in a link, relative to the link's frame in the written file.
  Pose<double> moved(const std::string& link, const Pose<double>& X) const {
    const auto found = moved_.find(link);
    return found == moved_.end() ? X : found->second * X;
  }

  void write_world() {
    for (const auto& joint : robot_.joints) {
      if (joint.parent != kWorldLink || names_.contains(kWorldLink)) continue;
      text_.open("link").attribute("name", kWorldLink).close();
      names_.insert(kWorldLink);
    }
  }

  void write_link(const LinkDescription<double>& link) {
    text_.open("link").attribute("name", link.name);
    const std::string title = fmt::format("link '{}'", link.name);
    if (link.inertial) {
      const auto& inertial = *link.inertial;
      const Matrix3<double>& I = inertial.tensor;
      text_.open("inertial");
      text_.origin(title + " inertial", moved(link.name, inertial.X_LI));
      text_.open("mass").number(title + " mass", "value", inertial.mass).close();
      text_.open("inertia")
          .number(title + " inertia", "ixx", I(0, 0))
          .number(title + " inertia", "ixy", I(0, 1))
          .number(title + " inertia", "ixz", I(0, 2))
          .number(title + " inertia", "iyy", I(1, 1))
          .number(title + " inertia", "iyz", I(1, 2))
          .number(title + " inertia", "izz", I(2, 2))
          .close();
      text_.close();
    }
    for (const Geometry& geometry : link.geometry) write_geometry(link, geometry, title);
    text_.close();
  }

  void write_geometry(const LinkDescription<double>& link, const Geometry& geometry,
                      const std::string& title) {
    using Shape = Geometry::Shape;
    const Vector3<double>& size = geometry.size;
    if (geometry.shape == Shape::ellipsoid || geometry.shape == Shape::plane) {
      add(Severity::warning, "geometry-lost", geometry.source,
          fmt::format("{}: {} is left out", title,
                      geometry.shape == Shape::plane ? "a plane" : "an ellipsoid"),
          "URDF has no such shape");
      return;
    }
    text_.open(geometry.role == Geometry::Role::visual ? "visual" : "collision");
    text_.origin(title + " shape", moved(link.name, geometry.X_LG));
    text_.open("geometry");
    switch (geometry.shape) {
      case Shape::box:
        text_.open("box").vector(title, "size", size);
        break;
      case Shape::sphere:
        text_.open("sphere").number(title, "radius", size[0]);
        break;
      case Shape::mesh:
        text_.open("mesh").attribute("filename", geometry.mesh_uri);
        if (geometry.mesh_scale != Vector3<double>::Ones()) {
          text_.vector(title, "scale", geometry.mesh_scale);
        }
        break;
      default:
        text_.open(geometry.shape == Shape::capsule ? "capsule" : "cylinder")
            .number(title, "radius", size[0])
            .number(title, "length", size[1]);
    }
    text_.close().close().close();
  }

  void write_joint(const JointDescription<double>& joint) {
    const std::string title = fmt::format("joint '{}'", joint.name);
    if (is_own_type(joint.type)) {
      add(Severity::note, "joint-type-own", joint.source,
          fmt::format("{}: type '{}' is an extension of limb", title, to_text(joint.type)),
          "other tools reject it");
    }
    text_.open("joint").attribute("name", joint.name).attribute("type", type_text(joint.type));
    const bool is_fixed = joint.type == JointType::fixed;
    text_.origin(
        title, moved(joint.parent, is_fixed ? Pose<double>(joint.X_PJ * joint.X_JC) : joint.X_PJ));
    text_.open("parent").attribute("link", joint.parent).close();
    text_.open("child").attribute("link", joint.child).close();
    if (has_axis(joint.type)) {
      text_.open("axis").vector(title, "xyz", joint.axis);
      if (joint.type == JointType::helical) text_.number(title, "pitch", joint.pitch);
      text_.close();
    }
    if (joint.type == JointType::universal) {
      text_.open("axis2").vector(title, "xyz", joint.axis2).close();
    }
    if (!is_fixed) {
      write_limits(joint, title);
      write_dynamics(joint, title);
    }
    write_mimic(joint, title);
    text_.close();
  }

  void write_limits(const JointDescription<double>& joint, const std::string& title) {
    if (joint_nv(joint.type) > 1 || joint.type == JointType::helical) {
      for (std::size_t i = 0; i < joint.limits.size(); ++i) {
        const DofLimits<double>& l = joint.limits[i];
        if (!l.lower && !l.upper && !l.velocity && !l.effort) continue;
        text_.open("limit");
        if (joint_nv(joint.type) > 1) text_.attribute("dof", std::to_string(i));
        for (const auto& [name, bound] : bounds(l)) {
          if (*bound) text_.number(title, name, **bound);
        }
        text_.close();
      }
      return;
    }
    // URDF requires all bounds of a range, and effort and velocity; unlimited ones are marked.
    const DofLimits<double> l = joint.limits.empty() ? DofLimits<double>() : joint.limits[0];
    const bool has_range = joint.type != JointType::continuous;
    if (!has_range && !l.velocity && !l.effort) return;
    text_.open("limit");
    std::string unlimited;
    for (const auto& [name, bound] : bounds(l)) {
      const bool is_range = bound == &l.lower || bound == &l.upper;
      if (is_range && !has_range) continue;
      const double none = bound == &l.lower ? -kUnlimited : kUnlimited;
      text_.number(title, name, bound->value_or(none));
      if (!*bound) unlimited += unlimited.empty() ? name : fmt::format(" {}", name);
    }
    if (!unlimited.empty()) {
      text_.attribute("unlimited", unlimited);
      add(Severity::note, "limit-unlimited", joint.source,
          fmt::format("{}: unlimited {} is written as 1e9", title, unlimited),
          "URDF requires a number");
    }
    text_.close();
  }

  static std::array<std::pair<const char*, const std::optional<double>*>, 4> bounds(
      const DofLimits<double>& l) {
    return {{{"lower", &l.lower},
             {"upper", &l.upper},
             {"effort", &l.effort},
             {"velocity", &l.velocity}}};
  }

  void write_dynamics(const JointDescription<double>& joint, const std::string& title) {
    if (joint.damping == 0 && joint.friction == 0 && joint.armature == 0) return;
    text_.open("dynamics")
        .number(title, "damping", joint.damping)
        .number(title, "friction", joint.friction);
    if (joint.armature != 0) {
      text_.number(title, "armature", joint.armature);
      add(Severity::note, "armature-own", joint.source,
          fmt::format("{}: armature {} is written", title, to_text(joint.armature)),
          "other tools ignore it");
    }
    text_.close();
  }

  void write_mimic(const JointDescription<double>& joint, const std::string& title) {
    const auto found = couplings_.find(joint.name);
    if (found == couplings_.end()) return;
    // The first coupling of a joint counts; it is not repeated for a second joint of that name.
    const CouplingDescription<double>& coupling = *found->second.front();
    if (coupling.terms.empty() || coupling.is_polynomial() || !coupled_.insert(joint.name).second)
      return;
    for (std::size_t i = 0; i < coupling.terms.size(); ++i) {
      text_.open("mimic").attribute("joint", coupling.terms[i].joint);
      text_.number(title, "multiplier", coupling.terms[i].ratio);
      if (i == 0) text_.number(title, "offset", coupling.offset);
      text_.close();
    }
    if (coupling.terms.size() > 1) {
      add(Severity::note, "coupling-own", coupling.source,
          fmt::format("{}: follows {} joints", title, coupling.terms.size()),
          "other tools use one of them");
    }
  }

  void write_frame(const FrameDescription<double>& frame) {
    if (!names_.insert(frame.name).second) {
      add(Severity::warning, "frame-lost", frame.source,
          fmt::format("frame '{}' is left out", frame.name), "a link has the same name");
      return;
    }
    std::string joint = frame.name + "_frame";
    while (!joint_names_.insert(joint).second) joint += '_';
    text_.open("link").attribute("name", frame.name).close();
    text_.open("joint").attribute("name", joint).attribute("type", "fixed");
    text_.origin(fmt::format("frame '{}'", frame.name), moved(frame.link, frame.X_LF));
    text_.open("parent").attribute("link", frame.link).close();
    text_.open("child").attribute("link", frame.name).close();
    text_.close();
    add(Severity::note, "frame-as-link", frame.source,
        fmt::format("frame '{}' is written as a link without mass", frame.name),
        "URDF has no frames");
  }

  void write_actuator(const ActuationDescription& actuator) {
    const std::string title = fmt::format("actuator of '{}'", actuator.joint);
    check_finite("write_urdf", title + " gear", actuator.gear);
    text_.open("transmission").attribute("name", actuator.joint + "_transmission");
    text_.open("type").content("transmission_interface/SimpleTransmission").close();
    text_.open("joint").attribute("name", actuator.joint).close();
    text_.open("actuator").attribute("name", actuator.joint + "_motor");
    text_.open("mechanicalReduction").content(to_text(actuator.gear)).close();
    text_.close().close();
  }

  void report_lost() {
    for (const auto& loop : robot_.loops) {
      add(Severity::warning, "loop-lost", loop.source,
          fmt::format("loop '{}' between '{}' and '{}' is left out", loop.name, loop.link_a,
                      loop.link_b),
          "URDF has no loops: the written robot has an open chain there");
    }
    for (const auto& coupling : robot_.couplings) {
      const bool is_first = couplings_[coupling.joint].front() == &coupling;
      if (is_first && coupled_.contains(coupling.joint)) continue;
      add(Severity::warning, "coupling-lost", coupling.source,
          fmt::format("coupling of joint '{}' is left out", coupling.joint),
          coupling.is_polynomial()
              ? "URDF has no polynomial couplings: the joint moves freely in the written robot"
              : "URDF couples an existing joint, once, to at least one other");
    }
    for (const auto& joint : robot_.joints) {
      if (joint.stiffness == 0) continue;
      add(Severity::warning, "spring-lost", joint.source,
          fmt::format("the spring of joint '{}' is left out", joint.name), "URDF has no springs");
    }
    if (has_scene()) {
      add(Severity::warning, "scene-lost", {robot_.file, 0},
          "servos, tendons, keyframes, fixed shapes, drag and gravity compensation are left out",
          "URDF describes the robot and not its simulation");
    }
    if (robot_.gravity != Description<double>().gravity) {
      add(Severity::warning, "gravity-lost", {robot_.file, 0},
          fmt::format("gravity {} is left out",
                      to_text(std::span<const double>(robot_.gravity.data(), 3))),
          "URDF has no gravity, it is read as [0, 0, -9.81]");
    }
  }

  /// Whether the file says something about simulations that is lost.
  bool has_scene() const {
    const auto servo = [](const auto& actuator) { return actuator.servo.has_feedback(); };
    const auto held = [](const auto& link) { return link.gravity_compensation != 0; };
    return std::any_of(robot_.actuators.begin(), robot_.actuators.end(), servo) ||
           std::any_of(robot_.links.begin(), robot_.links.end(), held) || !robot_.tendons.empty() ||
           !robot_.scene.keyframes.empty() || !robot_.scene.fixed.empty() ||
           robot_.scene.medium.acts();
  }

  const Description<double>& robot_;
  Diagnostics& diagnostics_;
  UrdfText text_;
  std::unordered_set<std::string> names_, joint_names_, coupled_;
  std::unordered_map<std::string, std::vector<const CouplingDescription<double>*>> couplings_;
  std::unordered_map<std::string, Pose<double>> moved_;  // by link: X of its frame in the new one
};

}  // namespace

std::string write_urdf(const Description<double>& robot, Diagnostics& diagnostics) {
  return Writer(robot, diagnostics).write();
}

}  // namespace limb
