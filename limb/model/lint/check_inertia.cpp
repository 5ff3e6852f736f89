#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "limb/math/check.hpp"
#include "limb/math/inertia_consistency.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/check_inertia_rules.hpp"

namespace limb {
namespace {

using Severity = Diagnostic::Severity;

/// "0.1, 0.2, 0.3": six digits, and 0 for rounding errors.
std::string shown(const Vector3<double>& moments) {
  const double least = 1e-12 * moments.cwiseAbs().maxCoeff();
  std::string text;
  for (const double m : moments) {
    text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", std::abs(m) < least ? 0.0 : m);
  }
  return text;
}

/// A tensor that no body can have, with the nearest one that a body can have.
/// @param welded  inertia of the body that the link is part of.
/// @param negligible  kg m^2, moments below are zeros with rounding errors.
void find_inconsistent(const Description<double>& robot, std::size_t i,
                       const Inertia<double>& welded, double negligible, LintFindings& findings) {
  const auto& link = robot.links[i];
  const auto& inertial = *link.inertial;
  // About the mass centre, where the numbers and rounding errors are smallest.
  const Inertia<double> I(inertial.mass, Vector3<double>::Zero(), inertial.tensor);
  const InertiaReport<double> report = inertia_report(I);
  const std::string owner = fmt::format("link '{}'", link.name);
  if (report.realizable()) {
    if (inertial.tensor.isZero(0)) {
      findings.push_back({{Severity::note, "inertia-zero", inertial.source,
                           fmt::format("{}: inertia is 0, mass is {}", owner, to_text(report.mass)),
                           "the link is a point mass, which is valid unless a joint rotates it "
                           "about its own centre",
                           "write the tensor of the part"},
                          {}});
    }
    return;
  }
  const double largest = report.moments.cwiseAbs().maxCoeff();
  if (largest <= negligible) return;
  const Inertia<double> corrected = nearest_consistent(I);
  const bool negative = report.smallest_moment() < -report.moment_tolerance;
  // Entries with three digits may violate the inequality by a few thousandths.
  const bool slight = !negative && report.triangle_margin > -0.01 * largest;
  const bool covered = welded.mass() > inertial.mass && inertia_report(welded).consistent();
  const std::string rule = negative ? "inertia-not-positive" : "inertia-triangle";
  findings.push_back(
      {{slight || covered ? Severity::warning : Severity::error, rule, inertial.source,
        negative ? fmt::format("{}: principal moments {} are not all positive", owner,
                               shown(report.moments))
                 : fmt::format("{}: principal moments {} violate the triangle inequality: the "
                               "largest exceeds the sum of the others by {:.3g}",
                               owner, shown(report.moments), -report.triangle_margin),
        covered  ? "no body has this inertia, but the links that it is welded to compensate it"
        : slight ? "no body has this inertia, by a small margin; energies stay positive"
                 : "no body has this inertia, and simulated motion gains energy or diverges",
        fmt::format("nearest valid ixx iyy izz ixy ixz iyz = {}",
                    to_text(std::span<const double>(written_entries(corrected.tensor()))))},
       {edit_tensor(rule, robot, i, corrected.tensor())}});
}

}  // namespace

void find_inertia(const Description<double>& robot, const LinkTree& tree, const MeshBoxes& meshes,
                  LintFindings& findings) {
  // Masses in grams cannot be compared with tensors yet.
  const bool grams = std::any_of(findings.begin(), findings.end(), [](const LintFinding& f) {
    return f.diagnostic.rule == "mass-units";
  });
  std::vector<bool> done(robot.links.size(), false);
  if (!grams) {
    find_inertia_units(robot, tree, meshes, done, findings);
    find_wrong_point(robot, tree, meshes, done, findings);
    find_wrong_products(robot, meshes, done, findings);
  }
  const std::vector<Inertia<double>> I_B = body_inertias(robot, tree);
  double largest = 0;
  for (const auto& link : robot.links) {
    if (link.inertial) largest = std::max(largest, link.inertial->tensor.trace());
  }
  for (std::size_t i = 0; i < robot.links.size(); ++i) {
    const auto& inertial = robot.links[i].inertial;
    if (!inertial || !(inertial->mass > 0) || done[i]) continue;
    const bool reached = tree.reached(static_cast<int>(i));
    find_inconsistent(robot, i,
                      reached ? I_B[static_cast<std::size_t>(tree.body[i])] : Inertia<double>(),
                      1e-12 * largest, findings);
  }
  find_singular(robot, tree, findings);
}

void find_singular(const Description<double>& robot, const LinkTree& tree, LintFindings& findings) {
  // Leaf bodies: links welded together, without a joint below them.
  const std::vector<Inertia<double>> I_B = body_inertias(robot, tree);
  std::vector<bool> leaf(robot.links.size(), true);
  for (const int link : tree.order) {
    const auto i = static_cast<std::size_t>(link);
    if (tree.body[i] != link || tree.parent[i] == LinkTree::kNone) continue;
    const auto parent = static_cast<std::size_t>(tree.parent[i]);
    leaf[static_cast<std::size_t>(tree.body[parent])] = false;
  }
  for (const int link : tree.order) {
    const auto i = static_cast<std::size_t>(link);
    if (tree.body[i] != link || tree.welded_to_root[i] || !leaf[i] || !(I_B[i].mass() > 0))
      continue;
    const auto& joint = robot.joints[static_cast<std::size_t>(tree.joint[i])];
    if (joint.type != JointType::revolute && joint.type != JointType::continuous) continue;
    const Inertia<double> I_J = I_B[i].transformed(joint.X_JC);
    const Vector3<double> axis = joint.axis.stableNormalized();
    const double moment = axis.dot(I_J.tensor() * axis);
    const double scale = I_J.mass() * (I_J.com().squaredNorm() + 1e-6);
    if (joint.armature > 0 || axis.isZero(0) || std::abs(moment) > 1e-12 * scale) continue;
    const SourceLocation& source =
        robot.links[i].inertial ? robot.links[i].inertial->source : robot.links[i].source;
    findings.push_back(
        {{Severity::error, "inertia-singular", source,
          fmt::format("link '{}' has no moment of inertia about the axis of joint '{}'",
                      robot.links[i].name, joint.name),
          "any torque accelerates it without bound: the mass matrix is singular",
          fmt::format("write the tensor of the part; a ball of 1 cm of this mass has {:.3g}",
                      0.4 * I_J.mass() * 1e-4)},
         {}});
  }
}

}  // namespace limb
