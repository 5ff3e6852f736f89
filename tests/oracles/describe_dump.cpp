// Prints the description of robot files as JSON, for comparison with other programs:
//   describe_dump FILE...     one JSON array with one object per file
// Poses are {"R": rows, "p": []}; the inertial is about the mass centre, in axes of the link.
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "limb/model/core/load.hpp"

namespace {

using nlohmann::json;
using namespace limb;

json to_json(const Vector3<double>& v) {
  return {v[0], v[1], v[2]};
}
json to_json(const Matrix3<double>& m) {
  return {to_json(Vector3<double>(m.row(0))), to_json(Vector3<double>(m.row(1))),
          to_json(Vector3<double>(m.row(2)))};
}
json to_json(const Pose<double>& X) {
  return {{"R", to_json(X.R)}, {"p", to_json(X.p)}};
}
json to_json(const std::optional<double>& x) {
  return x ? json(*x) : json();
}

json to_json(const std::vector<Geometry>& shapes) {
  json result = json::array();
  for (const Geometry& g : shapes) {
    result.push_back({{"name", g.name},
                      {"shape", static_cast<int>(g.shape)},
                      {"visual", g.role == Geometry::Role::visual},
                      {"X", to_json(g.X_LG)},
                      {"size", to_json(g.size)},
                      {"mesh", g.mesh_uri},
                      {"friction", {to_json(g.friction), g.torsion, g.rolling}},
                      {"dimension", g.contact_dimension},
                      {"priority", g.priority},
                      {"contact", {g.contact_type, g.contact_affinity}}});
  }
  return result;
}

json to_json(const LinkDescription<double>& link) {
  json result = {{"name", link.name}, {"line", link.source.line}, {"inertial", nullptr}};
  if (link.inertial) {
    const auto& [mass, X_LI, tensor, source] = *link.inertial;
    result["inertial"] = {{"mass", mass},
                          {"com", to_json(X_LI.p)},
                          {"tensor", to_json(rotate_tensor<double>(X_LI.R, tensor))}};
  }
  result["geometry"] = to_json(link.geometry);
  result["gravity_compensation"] = link.gravity_compensation;
  return result;
}

json to_json(const StateDescription& state) {
  json joints = json::object();
  for (const auto& joint : state.joints) joints[joint.joint] = {{"q", joint.q}, {"v", joint.v}};
  return {{"name", state.name}, {"joints", joints}, {"control", state.control}};
}

json to_json(const SceneDescription& scene) {
  json result = {{"fixed", to_json(scene.fixed)}, {"initial", to_json(scene.initial)},
                 {"step", to_json(scene.step)},   {"keyframes", json::array()},
                 {"excluded", json::array()},     {"pairs", json::array()}};
  for (const auto& key : scene.keyframes) result["keyframes"].push_back(to_json(key));
  for (const auto& [a, b] : scene.excluded) result["excluded"].push_back({a, b});
  for (const auto& pair : scene.pairs) {
    result["pairs"].push_back({pair.first, pair.second, pair.friction, pair.torsion, pair.rolling});
  }
  return result;
}

/// Infinite numbers as null.
json finite(double x) {
  return std::isfinite(x) ? json(x) : json();
}

json to_json(const ServoDescription& s) {
  return {{"gain", s.gain},
          {"offset", s.offset},
          {"stiffness", s.stiffness},
          {"damping", s.damping},
          {"ratio", s.damping_ratio},
          {"control", {finite(s.control_min), finite(s.control_max)}},
          {"force", {finite(s.force_min), finite(s.force_max)}}};
}

json to_json(const JointDescription<double>& joint) {
  json limits = json::array();
  for (const auto& l : joint.limits) {
    limits.push_back({{"lower", to_json(l.lower)},
                      {"upper", to_json(l.upper)},
                      {"velocity", to_json(l.velocity)},
                      {"effort", to_json(l.effort)}});
  }
  return {{"name", joint.name},           {"type", to_text(joint.type)},
          {"parent", joint.parent},       {"child", joint.child},
          {"X_PJ", to_json(joint.X_PJ)},  {"X_JC", to_json(joint.X_JC)},
          {"axis", to_json(joint.axis)},  {"limits", limits},
          {"damping", joint.damping},     {"friction", joint.friction},
          {"armature", joint.armature},   {"line", joint.source.line},
          {"stiffness", joint.stiffness}, {"spring_rest", joint.spring_rest}};
}

json to_json(const Description<double>& d, const Diagnostics& diagnostics) {
  json result = {{"name", d.name}, {"gravity", to_json(d.gravity)}};
  for (const char* list :
       {"links", "joints", "frames", "loops", "couplings", "actuators", "tendons", "diagnostics"}) {
    result[list] = json::array();
  }
  for (const auto& link : d.links) result["links"].push_back(to_json(link));
  for (const auto& joint : d.joints) result["joints"].push_back(to_json(joint));
  for (const auto& f : d.frames) {
    result["frames"].push_back({{"name", f.name}, {"link", f.link}, {"X_LF", to_json(f.X_LF)}});
  }
  for (const auto& l : d.loops) {
    const bool weld = l.kind == LoopDescription<double>::Kind::weld;
    result["loops"].push_back({{"name", l.name},
                               {"kind", weld ? "weld" : "connect"},
                               {"link_a", l.link_a},
                               {"link_b", l.link_b},
                               {"X_AL", to_json(l.X_AL)},
                               {"X_BL", to_json(l.X_BL)}});
  }
  for (const auto& c : d.couplings) {
    json terms = json::array();
    for (const auto& t : c.terms) terms.push_back({{"joint", t.joint}, {"ratio", t.ratio}});
    result["couplings"].push_back(
        {{"joint", c.joint}, {"terms", terms}, {"offset", c.offset}, {"powers", c.powers}});
  }
  for (const auto& a : d.actuators) {
    result["actuators"].push_back({{"joint", a.joint},
                                   {"gear", a.gear},
                                   {"control", a.control},
                                   {"servo", to_json(a.servo)}});
  }
  for (const auto& t : d.tendons) {
    json terms = json::object();
    for (const auto& term : t.terms) terms[term.joint] = term.ratio;
    json motors = json::array();
    for (const auto& motor : t.motors) {
      motors.push_back(
          {{"gear", motor.gear}, {"control", motor.control}, {"servo", to_json(motor.servo)}});
    }
    result["tendons"].push_back({{"name", t.name},
                                 {"terms", terms},
                                 {"motors", motors},
                                 {"stiffness", t.stiffness},
                                 {"damping", t.damping},
                                 {"rest", {t.rest_min, t.rest_max}},
                                 {"lower", to_json(t.lower)},
                                 {"upper", to_json(t.upper)}});
  }
  result["scene"] = to_json(d.scene);
  for (const auto& diagnostic : diagnostics) result["diagnostics"].push_back(diagnostic.text());
  return result;
}

json describe(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  const auto description = parse_robot(path.string(), {}, diagnostics);
  return to_json(description, diagnostics);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    json all = json::array();
    for (int i = 1; i < argc; ++i) all.push_back(describe(argv[i]));
    std::cout << all.dump() << "\n";
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
