#include <fmt/format.h>

#include <algorithm>

#include "limb/math/check.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/link_size.hpp"

namespace limb {
namespace {

using Severity = Diagnostic::Severity;

/// m, diagonal of the smallest bounding box that is compared with a mass: smaller shapes are
/// markers.
constexpr double kMinSize = 0.05;

class Checker {
 public:
  Checker(const Description<double>& robot, const LinkTree& tree, const MeshBoxes& meshes,
          LintFindings& findings)
      : robot_(robot), tree_(tree), meshes_(meshes), findings_(findings) {}

  void run() {
    check_signs();
    check_units();
    check_missing();
  }

 private:
  void add(Severity severity, std::string rule, const SourceLocation& source, std::string message,
           std::string reason, std::string fix, std::vector<FileEdit> edits = {}) {
    findings_.push_back(
        {{severity, std::move(rule), source, std::move(message), std::move(reason), std::move(fix)},
         std::move(edits)});
  }

  void check_signs() {
    for (const auto& link : robot_.links) {
      if (!link.inertial) continue;
      const auto& inertial = *link.inertial;
      if (inertial.mass < 0) {
        add(Severity::error, "mass-negative", inertial.source,
            fmt::format("link '{}': mass is {}, expected > 0", link.name, to_text(inertial.mass)),
            "a negative mass accelerates against the force",
            fmt::format("mass = {}, if only the sign is wrong", to_text(-inertial.mass)));
      } else if (inertial.mass == 0 && !inertial.tensor.isZero(0)) {
        add(Severity::error, "mass-zero", inertial.source,
            fmt::format("link '{}': mass is 0 but the inertia is not", link.name),
            "no body without mass has a moment of inertia",
            "write the mass, or remove the inertial element");
      }
    }
  }

  /// Grams: the robot would be denser than any metal if it filled a cube with its diagonal.
  void check_units() {
    double total = 0;
    const Box box = robot_box(robot_, tree_, meshes_);
    for (const auto& link : robot_.links) {
      if (link.inertial) total += std::max(0.0, link.inertial->mass);
    }
    const double diagonal = box.isEmpty() ? 0 : box.diagonal().norm();
    if (!(diagonal > kMinSize) || !(total > 0)) return;
    const double volume = std::pow(diagonal, 3) / std::pow(3, 1.5);
    if (total > kMaxDensity * volume) {
      report_grams(total, diagonal, total / volume);
      return;
    }
    for (const auto& link : robot_.links) check_density(link);
  }

  void report_grams(double total, double diagonal, double density) {
    // The unit applies to the whole file, unless one link has a hundred times the mass of all
    // others.
    std::size_t heaviest = 0;
    double most = 0;
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      const auto& inertial = robot_.links[i].inertial;
      if (!inertial || !(inertial->mass > most)) continue;
      most = inertial->mass;
      heaviest = i;
    }
    const bool alone = most > 100 * (total - most) && total > most;
    // Grams explain only a factor of 1000: a larger density is another mistake.
    const bool explained = density / 1000 < kMaxDensity;
    std::vector<FileEdit> edits;
    for (std::size_t i = 0; i < robot_.links.size() && explained; ++i) {
      const auto& inertial = robot_.links[i].inertial;
      if (!inertial || !(inertial->mass > 0) || (alone && i != heaviest)) continue;
      edits.push_back(edit_mass("mass-units", robot_, i, inertial->mass / 1000));
    }
    add(Severity::error, "mass-units", robot_.links[heaviest].inertial->source,
        fmt::format("link '{}' has mass {}, all links together {:.6g}, in a robot whose bounding "
                    "box has a diagonal of {:.4g} m",
                    robot_.links[heaviest].name, to_text(most), total, diagonal),
        "that is denser than any metal; masses are in kilograms",
        explained ? fmt::format("divide {} by 1000 if it is grams: {:.6g} kg",
                                alone ? "this mass" : "every mass", (alone ? most : total) / 1000)
                  : std::string("write masses in kilograms and lengths in metres"),
        std::move(edits));
  }

  void check_density(const LinkDescription<double>& link) {
    if (!link.inertial || !has_known_shape(link, meshes_)) return;
    const Box box = shape_box(link, meshes_);
    if (!(box.diagonal().norm() > kMinSize)) return;
    const double volume = box.volume();
    // Twice the density of the densest metal: shapes may be slightly smaller than the body.
    if (!(volume > 0) || link.inertial->mass <= 2 * kMaxDensity * volume) return;
    add(Severity::warning, "mass-density", link.inertial->source,
        fmt::format("link '{}': {} kg in a bounding box of {:.3g} m^3 are {:.3g} kg/m^3", link.name,
                    to_text(link.inertial->mass), volume, link.inertial->mass / volume),
        "no metal is so dense",
        fmt::format("if the mass is in grams, mass = {}", to_text(link.inertial->mass / 1000)));
  }

  /// Links that are welded together form one body; its mass is the sum.
  void check_missing() {
    const std::size_t n = robot_.links.size();
    std::vector<double> own(n, 0), below(n, 0);
    std::vector<bool> stated(n, false);
    for (const int link : tree_.order) {
      const auto i = static_cast<std::size_t>(link);
      const auto body = static_cast<std::size_t>(tree_.body[i]);
      if (!robot_.links[i].inertial) continue;
      own[body] += std::abs(robot_.links[i].inertial->mass);
      stated[body] = true;
    }
    for (auto it = tree_.order.rbegin(); it != tree_.order.rend(); ++it) {
      const auto i = static_cast<std::size_t>(*it);
      if (tree_.body[i] != *it) continue;
      below[i] += own[i];
      if (tree_.parent[i] != LinkTree::kNone) {
        const auto parent = static_cast<std::size_t>(tree_.parent[i]);
        below[static_cast<std::size_t>(tree_.body[parent])] += below[i];
      }
    }
    for (const int link : tree_.order) {
      const auto i = static_cast<std::size_t>(link);
      if (tree_.body[i] != link || tree_.welded_to_root[i] || own[i] > 0) continue;
      report_missing(i, below[i], stated[i]);
    }
  }

  void report_missing(std::size_t i, double below, bool stated) {
    const auto& link = robot_.links[i];
    const auto& joint = robot_.joints[static_cast<std::size_t>(tree_.joint[i])];
    const std::string what = stated ? "has the mass 0" : "has no inertial";
    const SourceLocation& source = link.inertial ? link.inertial->source : link.source;
    if (below > 0) {
      add(Severity::warning, "inertial-missing", source,
          fmt::format("link '{}' moves by joint '{}' and {}", link.name, joint.name, what),
          "a body without mass between joints makes the mass matrix singular where axes meet",
          "give it the mass of the part, or combine the joints into one with more freedom");
    } else if (joint.armature > 0) {
      add(Severity::warning, "inertial-missing", source,
          fmt::format("link '{}' at the end of joint '{}' {}; only the armature {} moves",
                      link.name, joint.name, what, to_text(joint.armature)),
          "gravity and contact do not act on it", "give it the mass of the part");
    } else {
      add(Severity::error, "inertial-missing-leaf", source,
          fmt::format("link '{}' at the end of joint '{}' {}", link.name, joint.name, what),
          "any torque accelerates it without bound: the mass matrix is singular",
          "give it the mass of the part, or make the joint fixed");
    }
  }

  const Description<double>& robot_;
  const LinkTree& tree_;
  const MeshBoxes& meshes_;
  LintFindings& findings_;
};

}  // namespace

void find_mass(const Description<double>& robot, const LinkTree& tree, const MeshBoxes& meshes,
               LintFindings& findings) {
  Checker(robot, tree, meshes, findings).run();
}

}  // namespace limb
