// Prints the description of robot files as JSON, for comparison with other programs:
//   describe_dump FILE...     one JSON array with one object per file
// Poses are {"R": rows, "p": []}; the inertial is about the mass centre, in axes of the link.
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

json to_json(const LinkDescription<double>& link) {
  json result = {{"name", link.name}, {"line", link.source.line}, {"inertial", nullptr}};
  if (link.inertial) {
    const auto& [mass, X_LI, tensor, source] = *link.inertial;
    result["inertial"] = {{"mass", mass},
                          {"com", to_json(X_LI.p)},
                          {"tensor", to_json(rotate_tensor<double>(X_LI.R, tensor))}};
  }
  result["geometry"] = json::array();
  for (const Geometry& g : link.geometry) {
    result["geometry"].push_back({{"shape", static_cast<int>(g.shape)},
                                  {"visual", g.role == Geometry::Role::visual},
                                  {"X", to_json(g.X_LG)},
                                  {"size", to_json(g.size)},
                                  {"mesh", g.mesh_uri}});
  }
  return result;
}

json to_json(const JointDescription<double>& joint) {
  json limits = json::array();
  for (const auto& l : joint.limits) {
    limits.push_back({{"lower", to_json(l.lower)},
                      {"upper", to_json(l.upper)},
                      {"velocity", to_json(l.velocity)},
                      {"effort", to_json(l.effort)}});
  }
  return {{"name", joint.name},          {"type", to_text(joint.type)},
          {"parent", joint.parent},      {"child", joint.child},
          {"X_PJ", to_json(joint.X_PJ)}, {"X_JC", to_json(joint.X_JC)},
          {"axis", to_json(joint.axis)}, {"limits", limits},
          {"damping", joint.damping},    {"friction", joint.friction},
          {"armature", joint.armature},  {"line", joint.source.line}};
}

json to_json(const Description<double>& d, const Diagnostics& diagnostics) {
  json result = {{"name", d.name}, {"gravity", to_json(d.gravity)}};
  for (const char* list :
       {"links", "joints", "frames", "loops", "couplings", "actuators", "diagnostics"}) {
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
    result["couplings"].push_back({{"joint", c.joint}, {"terms", terms}, {"offset", c.offset}});
  }
  for (const auto& a : d.actuators) {
    result["actuators"].push_back({{"joint", a.joint}, {"gear", a.gear}});
  }
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
