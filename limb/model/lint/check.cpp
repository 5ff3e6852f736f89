#include "limb/model/lint/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "limb/math/check.hpp"
#include "limb/model/lint/check_structure.hpp"

namespace limb {
namespace {

bool is_finite(const Pose<double>& X) {
  return X.R.allFinite() && X.p.allFinite();
}

bool is_finite(const std::optional<double>& value) {
  return !value || std::isfinite(*value);
}

}  // namespace

void find_not_finite(const Description<double>& robot, LintFindings& findings) {
  const auto add = [&](const SourceLocation& source, const std::string& owner,
                       std::string_view what) {
    findings.push_back({{Diagnostic::Severity::error, "not-finite", source,
                         fmt::format("{}: {} is not finite", owner, what),
                         "it cannot be used in a computation", "write a finite number"},
                        {}});
  };
  for (const auto& link : robot.links) {
    if (!link.inertial) continue;
    const auto& inertial = *link.inertial;
    const std::string owner = fmt::format("link '{}'", link.name);
    if (!std::isfinite(inertial.mass)) add(inertial.source, owner, "mass");
    if (!is_finite(inertial.X_LI)) add(inertial.source, owner, "origin of the inertial");
    if (!inertial.tensor.allFinite()) add(inertial.source, owner, "inertia");
  }
  for (const auto& link : robot.links) {
    for (const Geometry& g : link.geometry) {
      if (!is_finite(g.X_LG) || !g.size.allFinite()) {
        add(g.source, fmt::format("link '{}'", link.name), "geometry");
      }
    }
  }
  for (const auto& joint : robot.joints) {
    const std::string owner = fmt::format("joint '{}'", joint.name);
    if (!is_finite(joint.X_PJ) || !is_finite(joint.X_JC)) add(joint.source, owner, "origin");
    if (!joint.axis.allFinite() || !joint.axis2.allFinite()) add(joint.source, owner, "axis");
    if (!std::isfinite(joint.pitch)) add(joint.source, owner, "pitch");
    if (!std::isfinite(joint.damping)) add(joint.source, owner, "damping");
    if (!std::isfinite(joint.friction)) add(joint.source, owner, "friction");
    if (!std::isfinite(joint.armature)) add(joint.source, owner, "armature");
    for (const auto& limits : joint.limits) {
      if (!is_finite(limits.lower) || !is_finite(limits.upper) || !is_finite(limits.velocity) ||
          !is_finite(limits.effort)) {
        add(joint.source, owner, "limit");
      }
    }
  }
  for (const auto& frame : robot.frames) {
    if (!is_finite(frame.X_LF)) add(frame.source, fmt::format("frame '{}'", frame.name), "origin");
  }
  for (const auto& coupling : robot.couplings) {
    bool finite = std::isfinite(coupling.offset);
    for (const auto& term : coupling.terms) finite = finite && std::isfinite(term.ratio);
    for (const double c : coupling.powers) finite = finite && std::isfinite(c);
    if (!finite) {
      add(coupling.source, fmt::format("coupling of joint '{}'", coupling.joint), "a number");
    }
  }
  if (!robot.gravity.allFinite()) add({robot.file, 0}, "robot", "gravity");
}

void find_meshes(const Description<double>& robot, LintFindings& findings) {
  struct Use {
    const Geometry* first;
    const std::string* link;
    int count;
  };
  std::map<std::string, Use> missing;
  std::vector<std::string> order;
  for (const auto& link : robot.links) {
    for (const Geometry& g : link.geometry) {
      if (g.mesh_uri.empty() || !g.mesh_path.empty()) continue;
      const auto [use, fresh] = missing.try_emplace(g.mesh_uri, Use{&g, &link.name, 0});
      if (fresh) order.push_back(g.mesh_uri);
      ++use->second.count;
    }
  }
  for (const std::string& uri : order) {
    const Use& use = missing.at(uri);
    const std::string shown = uri.size() > 120 ? uri.substr(0, 117) + "..." : uri;
    findings.push_back(
        {{Diagnostic::Severity::note, "mesh-not-found", use.first->source,
          fmt::format("link '{}': mesh '{}' is not in the given folders{}", *use.link, shown,
                      use.count > 1 ? fmt::format(" (used {} times)", use.count) : std::string()),
          "the link has no size to compare its inertia with, and no picture",
          "name the folder that contains it as a root"},
         {}});
  }
}

LintFindings find_values(const Description<double>& robot, const MeshBoxes& meshes) {
  LintFindings findings;
  find_not_finite(robot, findings);
  if (findings.empty()) {
    const LinkTree tree = link_tree(robot);
    find_mass(robot, tree, meshes, findings);
    find_inertia(robot, tree, meshes, findings);
    find_joints(robot, findings);
    find_asymmetry(robot, tree, findings);
  }
  find_meshes(robot, findings);
  return findings;
}

void check_values(const Description<double>& robot, Diagnostics& diagnostics,
                  const MeshBoxes& meshes) {
  const bool meshes_reported =
      std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) {
        return d.rule == "mesh-not-found" || d.rule == "mesh-outside-root";
      });
  for (LintFinding& finding : find_values(robot, meshes)) {
    if (meshes_reported && finding.diagnostic.rule == "mesh-not-found") continue;
    diagnostics.push_back(std::move(finding.diagnostic));
  }
}

Diagnostics check_robot(const Description<double>& robot, const MeshBoxes& meshes) {
  Diagnostics diagnostics;
  check_structure(robot, diagnostics);
  check_values(robot, diagnostics, meshes);
  return diagnostics;
}

}  // namespace limb
