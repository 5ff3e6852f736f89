#include "limb/model/mjcf/read_mjcf_scene.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/number.hpp"
#include "limb/model/mjcf/read_mjcf_reference.hpp"

namespace limb::mjcf {
namespace {

/// All numbers of an attribute, at most `at_most`; empty if it is missing or invalid.
std::vector<double> numbers(const Attributes& a, const char* name, std::size_t at_most,
                            const char* meaning) {
  if (!a.has(name)) return {};
  const auto values = parse_numbers(a.text(name));
  if (!values) {
    a.error("attribute-not-a-number", fmt::format("attribute '{}': expected finite numbers", name),
            "the value cannot be used");
    return {};
  }
  if (values->size() > at_most) {
    a.error("keyframe-size",
            fmt::format("attribute '{}' has {} numbers, expected at most {}, one per {}", name,
                        values->size(), at_most, meaning),
            "MuJoCo refuses it");
    return {};
  }
  return *values;
}

/// The coordinates of the joint at the pose of the file.
std::vector<double> initial_position(const ReadContext& context,
                                     const JointDescription<double>& joint) {
  const auto& states = context.result.scene.initial.joints;
  const auto same = [&](const auto& state) { return state.joint == joint.name; };
  const auto found = std::find_if(states.begin(), states.end(), same);
  if (found != states.end()) return found->q;
  std::vector<double> q(static_cast<std::size_t>(joint_nq(joint.type)), 0.0);
  if (joint.type == JointType::spherical || joint.type == JointType::free) q.back() = 1;
  return q;
}

/// Quaternions are w x y z in the file and x y z w here; zero ones are the identity.
void reorder_quaternion(double* q) {
  const Vector4<double> wxyz = Vector4<double>(q[0], q[1], q[2], q[3]);
  const double norm = wxyz.norm();
  const Vector4<double> unit =
      norm > 1e-15 ? Vector4<double>(wxyz / norm) : Vector4<double>(1, 0, 0, 0);
  std::copy_n(unit.data() + 1, 3, q);
  q[3] = unit[0];
}

/// Writes the first numbers of a joint, with those of a quaternion in the order of the file, w x y
/// z; the others keep their values. A zero quaternion is the identity.
void overwrite(const std::vector<double>& given, std::size_t begin, JointType type,
               std::vector<double>& q) {
  if (begin >= given.size()) return;
  const bool turns = type == JointType::free || type == JointType::spherical;
  const auto quaternion = q.end() - 4;
  if (turns) std::rotate(quaternion, q.end() - 1, q.end());
  std::copy_n(given.begin() + static_cast<std::ptrdiff_t>(begin),
              std::min(q.size(), given.size() - begin), q.begin());
  if (turns) reorder_quaternion(&*quaternion);
}

/// Velocities of a free joint: the linear one is in world axes in the file, in body axes here.
void turn_velocity(const std::vector<double>& q, std::vector<double>& v) {
  const Matrix3<double> R = to_matrix(Quaternion<double>::from_xyzw({q[3], q[4], q[5], q[6]}));
  const Vector3<double> turned = R.transpose() * Vector3<double>(v[0], v[1], v[2]);
  std::copy_n(turned.data(), 3, v.data());
}

class KeyframeReader {
 public:
  KeyframeReader(const Node& node, ReadContext& context)
      : r_(context), a_(node, context.diagnostics) {
    for (const auto& joint : r_.result.joints) {
      nq_ += static_cast<std::size_t>(joint_nq(joint.type));
      nv_ += static_cast<std::size_t>(joint_nv(joint.type));
    }
  }

  StateDescription read() {
    StateDescription state;
    state.name = name_of(a_.node(), r_.diagnostics);
    state.source = a_.node().source();
    const auto qpos = numbers(a_, "qpos", nq_, "coordinate of the joints");
    const auto qvel = numbers(a_, "qvel", nv_, "velocity of the joints");
    const auto ctrl = numbers(a_, "ctrl", r_.controls.size(), "actuator");
    std::size_t iq = 0, iv = 0;
    for (const auto& joint : r_.result.joints) {
      if (joint.type == JointType::fixed) continue;
      const auto nq = static_cast<std::size_t>(joint_nq(joint.type));
      const auto nv = static_cast<std::size_t>(joint_nv(joint.type));
      StateDescription::JointState entry{joint.name, initial_position(r_, joint), {}};
      overwrite(qpos, iq, joint.type, entry.q);
      if (iv < qvel.size()) {
        entry.v.assign(nv, 0.0);
        std::copy_n(qvel.begin() + static_cast<std::ptrdiff_t>(iv), std::min(nv, qvel.size() - iv),
                    entry.v.begin());
        if (joint.type == JointType::free) turn_velocity(entry.q, entry.v);
      }
      iq += nq;
      iv += nv;
      state.joints.push_back(std::move(entry));
    }
    if (!ctrl.empty()) {
      state.control = ctrl;
      state.control.resize(r_.controls.size());
    }
    return state;
  }

 private:
  ReadContext& r_;
  Attributes a_;
  std::size_t nq_ = 0, nv_ = 0;
};

void read_exclude(const Attributes& a, ReadContext& context) {
  for (const char* name : {"body1", "body2"}) {
    if (!a.has(name)) return missing_attribute(a, name);
  }
  const auto* first = find(a, "body1", "body", context.named.bodies, context);
  const auto* second = find(a, "body2", "body", context.named.bodies, context);
  if (first == nullptr || second == nullptr) return;
  context.result.scene.excluded.emplace_back(first->first, second->first);
}

void read_pair(const Attributes& a, ReadContext& context) {
  for (const char* name : {"geom1", "geom2"}) {
    if (!a.has(name)) return missing_attribute(a, name);
  }
  SceneDescription::Pair pair{a.text("geom1"), a.text("geom2")};
  if (!context.suffix.empty()) {
    const auto copied = [&](std::string& name) {
      if (context.copies.contains(name)) name += context.suffix;
    };
    copied(pair.first);
    copied(pair.second);
  }
  const std::vector<double> friction = contact_friction(a, {1, 1, 0.005, 0.0001, 0.0001});
  const int dimension = contact_dimension(a);
  pair.friction = dimension > 1 ? friction[0] : 0;
  pair.torsion = dimension > 3 ? friction[2] : 0;
  pair.rolling = dimension > 4 ? friction[3] : 0;
  if ((dimension > 1 && friction[0] != friction[1]) ||
      (dimension > 4 && friction[3] != friction[4])) {
    a.warn("friction-anisotropic",
           fmt::format("friction is [{}]: two directions differ", fmt::join(friction, ", ")),
           "the first number counts for both");
  }
  context.result.scene.pairs.push_back(std::move(pair));
}

}  // namespace

void read_option(const Node& node, ReadContext& context) {
  const Attributes a(node, context.diagnostics);
  context.result.gravity = a.vector("gravity", context.result.gravity);
  if (a.has("timestep")) {
    const double step = a.number("timestep", 0);
    if (step > 0) {
      context.result.scene.step = step;
    } else {
      a.error("timestep", fmt::format("timestep is {}, expected > 0", step),
              "the default step is used");
    }
  }
  if (a.text("cone") == "pyramidal") {
    a.note("cone-not-read", "cone 'pyramidal' is not read", "friction cones are elliptic in limb");
  }
  if (a.has("integrator")) {
    a.note("integrator-not-read",
           fmt::format("integrator '{}' is not read", a.text("integrator").substr(0, 20)),
           "limb simulates with its own default", "choose one with --integrator");
  }
  MediumDescription& medium = context.result.scene.medium;
  medium.wind = a.vector("wind", medium.wind);
  for (const auto& [name, value] :
       {std::pair{"density", &medium.density}, std::pair{"viscosity", &medium.viscosity}}) {
    const double given = a.number(name, *value);
    if (given >= 0) {
      *value = given;
    } else {
      a.error("medium", fmt::format("{} is {}, expected 0 or more", name, given), "it is left out");
    }
  }
  for (const Node& flag : node.children) {
    const Attributes f(flag, context.diagnostics);
    if (f.keyword("gravity", {"enable", "disable"}, "enable") == "disable") {
      f.note("gravity-disabled", "gravity is disabled", "it is read as zero");
      context.result.gravity.setZero();
    }
    if (f.keyword("contact", {"enable", "disable"}, "enable") == "disable") {
      f.note("contact-disabled", "contact is disabled", "nothing touches in simulations");
      context.contact_disabled = true;
    }
  }
}

void read_contact(const Node& section, ReadContext& context) {
  for (const Node& node : section.children) {
    const DefaultClass& default_class =
        context.defaults.named_by(node, "class", context.defaults.main(), context.diagnostics);
    const Attributes a(node, "pair", default_class, context.diagnostics);
    if (node.tag() == "exclude") {
      for_each_copy(references(node), context, [&] { read_exclude(a, context); });
    } else if (node.tag() == "pair") {
      for_each_copy(references(node), context, [&] { read_pair(a, context); });
    } else {
      note_unknown_child(context.diagnostics, section, node, {"exclude", "pair"});
    }
  }
}

void read_keyframes(const Node& section, ReadContext& context) {
  for (const Node& node : section.children) {
    if (node.tag() != "key") {
      note_unknown_child(context.diagnostics, section, node, {"key"});
      continue;
    }
    expect_attributes(context.diagnostics, node,
                      {"act", "ctrl", "mpos", "mquat", "name", "qpos", "qvel", "time"});
    context.result.scene.keyframes.push_back(KeyframeReader(node, context).read());
  }
}

void add_world_geoms(ReadContext& context) {
  if (context.contact_disabled) {
    for (LinkDescription<double>& link : context.result.links) {
      for (Geometry& geometry : link.geometry) geometry.friction.reset();
    }
  }
  for (Geom& geom : context.world_geoms) {
    if (geom.geometry) context.result.scene.fixed.push_back(*geom.geometry);
    if (!geom.height_field) continue;
    const Geometry& field = geom.height_field->geometry;
    constexpr double kRounding = 1e-12;  // of a rotation matrix from numbers of a file
    if ((field.X_LG.R - Matrix3<double>::Identity()).norm() > kRounding) {
      context.diagnostics.push_back({Diagnostic::Severity::warning,
                                     "height-field-not-read",
                                     field.source,
                                     "a rotated height field is not read",
                                     "nothing touches this geom",
                                     {}});
    } else {
      context.result.scene.height_fields.push_back(*geom.height_field);
    }
  }
}

}  // namespace limb::mjcf
