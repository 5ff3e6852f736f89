#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "limb/math/check.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/mirror_names.hpp"

// A left and a right part are compared in the frame of their common ancestor link at zero
// coordinates, after a reflection of the left one: the result does not depend on the link frames.

namespace limb {
namespace {

using Severity = Diagnostic::Severity;

// Two measurements of equal parts, or two exports of mirrored drawings, agree better than this.
constexpr double kMass = 0.01;       // of the mass
constexpr double kLength = 1e-3;     // m, placements
constexpr double kCentre = 0.05;     // of the radius of gyration, and at least kLength
constexpr double kTensor = 0.05;     // of the trace
constexpr double kDirection = 0.01;  // rad, axes
constexpr double kLimit = 0.01;      // rad or m, and of effort and velocity
constexpr double kProduct = 2.5e-3;  // of the trace: products that matter

struct Pair {
  std::size_t left, right;
  int ancestor = LinkTree::kNone;
  int plane = 1;        // index of the coordinate that changes sign
  bool aligned = true;  // placed as mirror images, so that their subtrees can be compared
};

Vector3<double> mirrored(int plane, Vector3<double> p) {
  p[plane] = -p[plane];
  return p;
}

Matrix3<double> mirrored(int plane, Matrix3<double> I) {
  I.row(plane) *= -1;
  I.col(plane) *= -1;
  return I;
}

class Checker {
 public:
  Checker(const Description<double>& robot, const LinkTree& tree, LintFindings& findings)
      : robot_(robot), tree_(tree), findings_(findings) {}

  void run() {
    std::vector<std::string> names;
    for (const auto& link : robot_.links) names.push_back(link.name);
    pair_of_.assign(names.size(), LinkTree::kNone);
    for (const auto& [left, right] : mirror_pairs(names)) {
      Pair pair;
      pair.left = left;
      pair.right = right;
      if (!tree_.reached(static_cast<int>(left)) || !tree_.reached(static_cast<int>(right))) {
        continue;
      }
      pair_of_[left] = pair_of_[right] = static_cast<int>(pairs_.size());
      pairs_.push_back(pair);
    }
    const std::vector<bool> negligible = negligible_links(robot_, tree_);
    for (const int link : tree_.order) {  // parents first: their plane is known
      const auto i = static_cast<std::size_t>(link);
      if (pair_of_[i] == LinkTree::kNone) continue;
      Pair& pair = pairs_[static_cast<std::size_t>(pair_of_[i])];
      if (pair.left == i && !(negligible[pair.left] && negligible[pair.right]) &&
          find_ancestor_and_plane(pair)) {
        compare(pair);
      }
    }
    report_copied();
  }

 private:
  /// Notes: left and right may differ on purpose. Tensors that were copied without mirroring are
  /// wrong on one side.
  void add(const Pair& pair, std::string rule, const SourceLocation& source,
           const std::string& message, std::string reason, std::string fix) {
    const Severity severity = rule == "products-mirrored" ? Severity::warning : Severity::note;
    findings_.push_back({{severity, std::move(rule), source,
                          fmt::format("'{}' and '{}': {}", robot_.links[pair.left].name,
                                      robot_.links[pair.right].name, message),
                          std::move(reason), std::move(fix)},
                         {}});
  }

  /// Finds the common ancestor and the mirror plane. False: the links cannot be compared.
  bool find_ancestor_and_plane(Pair& pair) {
    const int a = tree_.parent[pair.left], b = tree_.parent[pair.right];
    if (a == LinkTree::kNone || b == LinkTree::kNone) return false;
    if (a == b) {
      pair.ancestor = a;
      pair.plane = best_plane(pair);
      return true;
    }
    const int above = pair_of_[static_cast<std::size_t>(a)];
    if (above == LinkTree::kNone || above != pair_of_[static_cast<std::size_t>(b)]) return false;
    const Pair& parent = pairs_[static_cast<std::size_t>(above)];
    if (parent.ancestor == LinkTree::kNone) return false;
    pair.ancestor = parent.ancestor;
    pair.plane = parent.plane;
    pair.aligned = parent.aligned;
    return true;
  }

  [[nodiscard]] Pose<double> pose(const Pair& pair, std::size_t link) const {
    return tree_.X_RL[static_cast<std::size_t>(pair.ancestor)].inverse() * tree_.X_RL[link];
  }
  [[nodiscard]] Vector3<double> centre(const Pair& pair, std::size_t link) const {
    return pose(pair, link) * robot_.links[link].inertial->X_LI.p;
  }
  [[nodiscard]] Matrix3<double> tensor(const Pair& pair, std::size_t link) const {
    const auto& inertial = *robot_.links[link].inertial;
    return rotate_tensor<double>(pose(pair, link).R * inertial.X_LI.R, inertial.tensor);
  }
  [[nodiscard]] bool both_massive(const Pair& pair) const {
    const auto& l = robot_.links[pair.left].inertial;
    const auto& r = robot_.links[pair.right].inertial;
    return l && r && l->mass > 0 && r->mass > 0;
  }

  /// y, unless another plane fits and y does not.
  [[nodiscard]] int best_plane(const Pair& pair) const {
    std::array<double, 3> error{};
    for (int plane = 0; plane < 3; ++plane) {
      auto& m = error[static_cast<std::size_t>(plane)];
      m = (mirrored(plane, pose(pair, pair.left).p) - pose(pair, pair.right).p).norm();
      if (both_massive(pair)) {
        m += (mirrored(plane, centre(pair, pair.left)) - centre(pair, pair.right)).norm();
      }
    }
    const auto best = std::min_element(error.begin(), error.end()) - error.begin();
    return error[1] > 2 * kLength && error[static_cast<std::size_t>(best)] < 0.1 * error[1]
               ? static_cast<int>(best)
               : 1;
  }

  void compare(Pair& pair) {
    const auto& jl = robot_.joints[static_cast<std::size_t>(tree_.joint[pair.left])];
    const auto& jr = robot_.joints[static_cast<std::size_t>(tree_.joint[pair.right])];
    if (jl.type != jr.type) {
      add(pair, "asymmetry-joint", jr.source,
          fmt::format("joint '{}' is {}, joint '{}' is {}", jl.name, to_text(jl.type), jr.name,
                      to_text(jr.type)),
          "mirrored parts have mirrored motion", "give both joints one type");
      pair.aligned = false;
    } else if (joint_nv(jl.type) > 0) {
      compare_joints(pair, jl, jr);
    }
    if (both_massive(pair)) compare_masses(pair);
  }

  void compare_joints(Pair& pair, const JointDescription<double>& jl,
                      const JointDescription<double>& jr) {
    if (!pair.aligned) return;
    const Pose<double> X_AL = pose(pair, pair.left), X_AR = pose(pair, pair.right);
    const Vector3<double> image = mirrored(pair.plane, X_AL.p);
    Vector3<double> error = image - X_AR.p;
    double sense = 0;
    if (joint_nv(jl.type) == 1) {
      const Matrix3<double> R_LJ = jl.X_JC.R.transpose(), R_RJ = jr.X_JC.R.transpose();
      const Vector3<double> left = X_AL.R * R_LJ * jl.axis.stableNormalized();
      const Vector3<double> right = X_AR.R * R_RJ * jr.axis.stableNormalized();
      // A reflection reverses a sense of rotation, but not a direction.
      const bool slides = jl.type == JointType::prismatic;
      const Vector3<double> expected = (slides ? 1 : -1) * mirrored(pair.plane, left);
      sense = expected.dot(right);
      if (expected.cross(right).norm() > kDirection) {
        add(pair, "asymmetry-axis", jr.source,
            fmt::format("axes of joints '{}' and '{}' are {:.3g} rad from mirror images", jl.name,
                        jr.name, std::asin(std::min(1.0, expected.cross(right).norm()))),
            "mirrored parts have mirrored motion", "mirror the axis or the rpy of one joint");
        pair.aligned = false;
        return;
      }
      if (slides) error.setZero();  // the origin along the axis is arbitrary
      error -= error.dot(right) * right;
    }
    if (error.norm() > kLength) {
      add(pair, "asymmetry-placement", jr.source,
          fmt::format("joint '{}' is {:.3g} m from the mirror image of joint '{}'", jr.name,
                      error.norm(), jl.name),
          "the robot is not symmetric, or a sign was lost in mirroring",
          fmt::format("in link '{}' the mirror image is at {}",
                      robot_.links[static_cast<std::size_t>(pair.ancestor)].name, to_text(image)));
      pair.aligned = false;
      return;
    }
    if (sense != 0 && jl.limits.size() == 1 && jr.limits.size() == 1) {
      compare_limits(pair, jl, jr, sense > 0);
    }
  }

  void compare_limits(const Pair& pair, const JointDescription<double>& jl,
                      const JointDescription<double>& jr, bool same_sense) {
    const auto& l = jl.limits[0];
    const auto& r = jr.limits[0];
    if (l.lower && l.upper && r.lower && r.upper && jl.type != JointType::continuous) {
      const double lower = same_sense ? *l.lower : -*l.upper;
      const double upper = same_sense ? *l.upper : -*l.lower;
      const double tolerance = kLimit * std::max(1.0, upper - lower);
      if (std::abs(*r.lower - lower) > tolerance || std::abs(*r.upper - upper) > tolerance) {
        add(pair, "asymmetry-limits", jr.source,
            fmt::format("joint '{}' has limits {} to {}, the mirror image of joint '{}' {} to {}",
                        jr.name, to_text(*r.lower), to_text(*r.upper), jl.name, to_text(lower),
                        to_text(upper)),
            "one side reaches where the other cannot",
            fmt::format("lower = {}, upper = {}", to_text(lower), to_text(upper)));
      }
    }
    const auto same = [&](const char* what, const std::optional<double>& x,
                          const std::optional<double>& y) {
      if (!x || !y || std::abs(*x - *y) <= kLimit * std::max(std::abs(*x), std::abs(*y))) return;
      add(pair, "asymmetry-limits", jr.source,
          fmt::format("{} limit of joint '{}' is {}, of joint '{}' {}", what, jl.name, to_text(*x),
                      jr.name, to_text(*y)),
          "mirrored joints have equal motors", fmt::format("{} = {}", what, to_text(*x)));
    };
    same("effort", l.effort, r.effort);
    same("velocity", l.velocity, r.velocity);
  }

  void compare_masses(const Pair& pair) {
    const auto& l = *robot_.links[pair.left].inertial;
    const auto& r = *robot_.links[pair.right].inertial;
    if (std::abs(l.mass - r.mass) > kMass * std::max(l.mass, r.mass)) {
      add(pair, "asymmetry-mass", r.source,
          fmt::format("masses are {} and {}", to_text(l.mass), to_text(r.mass)),
          "mirrored parts have equal masses", fmt::format("mass = {}", to_text(l.mass)));
      return;  // what depends on the mass differs too
    }
    if (!pair.aligned) return;
    const double trace = tensor(pair, pair.left).trace();
    const double radius = std::sqrt(std::max(0.0, trace / 2 / l.mass));
    const Vector3<double> image = mirrored(pair.plane, centre(pair, pair.left));
    const double error = (image - centre(pair, pair.right)).norm();
    const double tolerance = std::max(kLength, kCentre * radius);
    // The same part may be mounted on both sides, unmirrored: then all its numbers are equal.
    const bool same_centre = (l.X_LI.p - r.X_LI.p).norm() <= 1e-3 * tolerance;
    const bool same_tensor = (l.tensor - r.tensor).norm() <= 1e-3 * trace;
    if (same_centre && same_tensor && l.X_LI.R.isApprox(r.X_LI.R, 1e-6)) {
      if (error > tolerance ||
          (tensor(pair, pair.right) - mirrored(pair.plane, tensor(pair, pair.left))).norm() >
              2 * kProduct * trace) {
        copied_.push_back(pair);
      }
      return;
    }
    if (error > tolerance) {
      const Vector3<double> expected = pose(pair, pair.right).inverse() * image;
      add(pair, "asymmetry-com", r.source,
          fmt::format("mass centres are {:.3g} m from mirror images", error),
          "the robot is not symmetric, or a sign was lost in mirroring",
          fmt::format("mass centre of '{}' = {}", robot_.links[pair.right].name,
                      to_text(expected)));
    }
    compare_tensors(pair, l, r, trace);
  }

  /// One note for all pairs.
  void report_copied() {
    if (copied_.empty()) return;
    std::string names;
    for (std::size_t k = 0; k < std::min<std::size_t>(copied_.size(), 8); ++k) {
      names += fmt::format("{}'{}'", k == 0 ? "" : ", ", robot_.links[copied_[k].right].name);
    }
    if (copied_.size() > 8) names += fmt::format(" and {} more", copied_.size() - 8);
    findings_.push_back(
        {{Severity::note, "asymmetry-copied", robot_.links[copied_[0].right].inertial->source,
          fmt::format("the inertials of {} are copies of the other side, not mirror images", names),
          "right for one part mounted on both sides, wrong for mirrored parts",
          "for mirrored parts, change the sign of the mirrored coordinate of the mass centre and "
          "of "
          "the two products with it"},
         {}});
  }

  void compare_tensors(const Pair& pair, const InertialDescription<double>& l,
                       const InertialDescription<double>& r, double trace) {
    const Matrix3<double> right = tensor(pair, pair.right);
    const Matrix3<double> image = mirrored(pair.plane, tensor(pair, pair.left));
    // In axes of the right link's file, where it would be written.
    const Matrix3<double> R_AI = pose(pair, pair.right).R * r.X_LI.R;
    const Matrix3<double> expected = rotate_tensor<double>(R_AI.transpose(), image);
    const Matrix3<double> error = expected - r.tensor;
    const Vector3<double> products(error(0, 1), error(0, 2), error(1, 2));
    const std::string fix =
        fmt::format("ixx iyy izz ixy ixz iyz = {} for '{}', if '{}' is right",
                    to_text(std::span<const double>(written_entries(expected))),
                    robot_.links[pair.right].name, robot_.links[pair.left].name);
    const bool copied = (l.tensor - r.tensor).norm() <= 1e-3 * trace;
    if (copied && products.norm() > 2 * kProduct * trace &&
        error.diagonal().norm() <= kTensor * trace) {
      add(pair, "products-mirrored", r.source,
          fmt::format("both have the products of inertia ixy ixz iyz = {}",
                      to_text(Vector3<double>(r.tensor(0, 1), r.tensor(0, 2), r.tensor(1, 2)))),
          fmt::format("mirroring in {} changes the sign of two of them", "xyz"[pair.plane]), fix);
    } else if ((image - right).norm() > kTensor * trace) {
      add(pair, "asymmetry-inertia", r.source,
          fmt::format("inertias differ from mirror images by {:.2g} of the trace",
                      (image - right).norm() / trace),
          "mirrored parts have mirrored inertias", fix);
    }
  }

  const Description<double>& robot_;
  const LinkTree& tree_;
  LintFindings& findings_;
  std::vector<Pair> pairs_;
  std::vector<int> pair_of_;
  std::vector<Pair> copied_;
};

}  // namespace

void find_asymmetry(const Description<double>& robot, const LinkTree& tree,
                    LintFindings& findings) {
  Checker(robot, tree, findings).run();
}

}  // namespace limb
