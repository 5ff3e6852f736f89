#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "limb/math/check.hpp"
#include "limb/model/lint/check_inertia_rules.hpp"
#include "limb/model/lint/link_size.hpp"

// The measure is rho = tr(S) / (m r^2): second moments about the mass centre over mass and the half
// diagonal of the bounding box squared. A body inside the box has at most 1; a uniform box has
// 1/3, a ball 1/5, a rod 1/3. A wrong unit changes rho by three decades or more.

namespace limb {
namespace {

using Severity = Diagnostic::Severity;

struct Unit {
  double factor;
  const char* name;
};

/// Factor of the number in this unit relative to kg m^2; the most common units first.
constexpr std::array kUnits = {Unit{1e6, "kg mm^2"}, Unit{1e3, "g m^2"}, Unit{1e9, "g mm^2"},
                               Unit{1e4, "kg cm^2"}, Unit{1e7, "g cm^2"}};
/// From a heavy core in a wide housing to a body larger than its shapes: less than the three
/// decades between the units, so that at most one of the common units explains a tensor.
constexpr double kMinRho = 0.05, kMaxRho = 1.5;

/// The same round number about all axes, as people write it who do not know the inertia.
bool is_placeholder(const Matrix3<double>& tensor) {
  const double moment = tensor(0, 0);
  if (!(moment > 0) ||
      !tensor.isApprox(Matrix3<double>(moment * Matrix3<double>::Identity()), 1e-9))
    return false;
  const double digit = moment / std::pow(10, std::floor(std::log10(moment) + 1e-9));
  return std::abs(digit - std::round(digit)) < 1e-6;
}

struct Suspect {
  std::size_t link;
  double rho;
  double half_diagonal;            // of the box that it was compared with
  bool large;                      // otherwise too small
  bool placeholder;                // a round number about all axes
  bool has_shape;                  // compared with its shape, otherwise with the robot
  std::vector<std::size_t> units;  // indices into kUnits that explain it
};

class Checker {
 public:
  Checker(const Description<double>& robot, const LinkTree& tree, const MeshBoxes& meshes,
          std::vector<bool>& done, LintFindings& findings)
      : robot_(robot), tree_(tree), meshes_(meshes), done_(done), findings_(findings) {}

  void run() {
    check_centres();
    collect();
    // A file uses one unit: the one that explains most links is used for all. Placeholders, often
    // the same number in many links, say nothing about it.
    std::map<std::pair<bool, std::size_t>, int> votes;
    for (const Suspect& s : suspects_) {
      if (s.placeholder) continue;
      for (const std::size_t unit : s.units) ++votes[{s.large, unit}];
    }
    for (const Suspect& s : suspects_) {
      const Unit* best = nullptr;
      int most = 0;
      for (const std::size_t unit : s.units) {
        if (votes[{s.large, unit}] <= most) continue;
        most = votes[{s.large, unit}];
        best = &kUnits[unit];
      }
      report(s, best, most);
    }
  }

 private:
  void add(Severity severity, std::string rule, std::size_t link, const std::string& message,
           std::string reason, std::string fix, std::vector<FileEdit> edits) {
    const auto& l = robot_.links[link];
    done_[link] = true;
    findings_.push_back(
        {{severity, std::move(rule), l.inertial->source,
          fmt::format("link '{}': {}", l.name, message), std::move(reason), std::move(fix)},
         std::move(edits)});
  }

  /// Mass centres outside the shapes.
  void check_centres() {
    const std::vector<bool> negligible = negligible_links(robot_, tree_);
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      const auto& link = robot_.links[i];
      if (negligible[i] || !link.inertial || !(link.inertial->mass > 0) ||
          !has_known_shape(link, meshes_))
        continue;
      const Box box = shape_box(link, meshes_);
      const Vector3<double> com = link.inertial->X_LI.p;
      const double size = box.diagonal().norm(), distance = box.exteriorDistance(com);
      if (!(distance > size)) continue;
      const Vector3<double> metres = com / 1000;
      const bool mm = distance > 20 * size && box.exteriorDistance(metres) <= 0.1 * size;
      std::vector<FileEdit> edits;
      if (mm) edits.push_back(edit_com("com-units", robot_, i, metres));
      add(mm ? Severity::error : Severity::warning, mm ? "com-units" : "com-outside", i,
          fmt::format("mass centre {} lies {:.4g} m outside the shapes of the link", to_text(com),
                      distance),
          "the mass centre of a body lies within its convex hull",
          mm ? fmt::format("in metres it would be {}", to_text(metres))
             : std::string("give the mass centre in the link's frame"),
          std::move(edits));
    }
  }

  void collect() {
    const std::vector<Box> boxes = link_boxes(robot_, tree_, meshes_);
    const Box whole = robot_box(robot_, tree_, meshes_);
    const std::vector<bool> negligible = negligible_links(robot_, tree_);
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      const auto& link = robot_.links[i];
      if (done_[i] || negligible[i] || !link.inertial || !(link.inertial->mass > 0)) continue;
      const double second = link.inertial->tensor.trace() / 2;
      if (!(second > 0)) continue;
      Suspect s;
      s.link = i;
      s.placeholder = is_placeholder(link.inertial->tensor);
      s.has_shape = has_plausible_shape(link, meshes_);
      const Box& box = s.has_shape ? boxes[i] : whole;
      if (box.isEmpty() || !(box.diagonal().norm() > 0)) continue;
      if (!s.placeholder) {
        if (s.has_shape) ++known_;
        ++examined_;
      }
      s.half_diagonal = box.diagonal().norm() / 2;
      s.rho = second / (link.inertial->mass * s.half_diagonal * s.half_diagonal);
      // A robot without shapes may be larger than the extent of its joints.
      s.large = s.rho > (s.has_shape ? 10 : 100);
      // A small tensor is possible: it is suspect only if all shapes are known.
      if (!s.large && !(s.rho < 1e-4 && s.has_shape)) continue;
      for (std::size_t u = 0; u < kUnits.size(); ++u) {
        const double corrected = s.large ? s.rho / kUnits[u].factor : s.rho * kUnits[u].factor;
        // Compared with the whole robot a link may be small: rho 5e-4 is a thirtieth of its length.
        const double least = s.has_shape ? kMinRho : kMinRho / 100;
        if (corrected >= least && corrected <= (s.has_shape ? kMaxRho : 0.5)) s.units.push_back(u);
      }
      suspects_.push_back(std::move(s));
    }
  }

  void report(const Suspect& s, const Unit* unit, int votes) {
    const auto& inertial = *robot_.links[s.link].inertial;
    const double radius = std::sqrt(inertial.tensor.trace() / 2 / inertial.mass);
    const std::string found =
        fmt::format("radius of gyration is {:.4g} m, {} reaches {:.4g} m from its middle", radius,
                    s.has_shape ? "the link" : "the whole robot", s.half_diagonal);
    // Two signs are needed: the size of the link and its density, or a unit that most links have.
    const bool many = votes >= 2 && 2 * votes >= examined_;
    if (s.large && s.placeholder && !many) {
      add(Severity::note, "inertia-placeholder", s.link,
          fmt::format("{}; the tensor is {} about all axes", found, to_text(inertial.tensor(0, 0))),
          "it looks like a placeholder", "write the tensor of the part", {});
      return;
    }
    if (unit == nullptr || !(s.has_shape || many)) {
      if (!s.large) return;  // a small heavy core, or placeholders
      add(Severity::warning, "inertia-implausible", s.link, found,
          "a body that fits the link has a smaller one",
          fmt::format("a full box of this size has a trace of {:.4g} kg m^2",
                      2 * inertial.mass * s.half_diagonal * s.half_diagonal / 3),
          {});
      return;
    }
    const Matrix3<double> tensor = s.large ? Matrix3<double>(inertial.tensor / unit->factor)
                                           : Matrix3<double>(inertial.tensor * unit->factor);
    const std::string entries = fmt::format(
        "ixx iyy izz ixy ixz iyz = {}", to_text(std::span<const double>(written_entries(tensor))));
    // Small tensors are often placeholders: it is a unit only if most links have it.
    const bool sure = s.large || (votes >= 2 && 2 * votes >= known_);
    if (!s.large && !sure) return;
    std::vector<FileEdit> edits = {edit_tensor("inertia-units", robot_, s.link, tensor)};
    if (s.large) {
      add(Severity::error, "inertia-units", s.link, found,
          fmt::format("the tensor looks like {} where kg m^2 is expected", unit->name),
          fmt::format("divide by {:g}: {}", unit->factor, entries), std::move(edits));
    } else {
      add(Severity::warning, "inertia-units", s.link, found,
          "the tensor is far too small for the size of the link",
          fmt::format("multiply by {:g}, if it was converted twice: {}", unit->factor, entries),
          std::move(edits));
    }
  }

  const Description<double>& robot_;
  const LinkTree& tree_;
  const MeshBoxes& meshes_;
  std::vector<bool>& done_;
  LintFindings& findings_;
  std::vector<Suspect> suspects_;
  // Links with mass and inertia other than a placeholder:
  int known_ = 0;     // whose shapes are known
  int examined_ = 0;  // all
};

}  // namespace

void find_inertia_units(const Description<double>& robot, const LinkTree& tree,
                        const MeshBoxes& meshes, std::vector<bool>& done, LintFindings& findings) {
  Checker(robot, tree, meshes, done, findings).run();
}

}  // namespace limb
