#include "limb/model/mjcf/read_mjcf_spring_damper.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace limb::mjcf {
namespace {

/// The tree of joints at the pose of the file.
///
/// Symbols: S = unit motion of a degree of freedom, Ic = composite inertia of all bodies beyond a
/// joint, both about the origin of the tree's first body and in world axes.
class InitialTree {
 public:
  explicit InitialTree(const ReadContext& context) : r_(context) {
    const auto& joints = r_.result.joints;
    std::unordered_map<std::string, int> above;  // joint above each link
    for (std::size_t i = 0; i < joints.size(); ++i) {
      const auto parent = above.find(joints[i].parent);
      parent_.push_back(parent == above.end() ? -1 : parent->second);
      above.emplace(joints[i].child, static_cast<int>(i));
      place(i);
      start_.push_back(static_cast<Eigen::Index>(S_.size()));
      add_motions(i);
    }
    Ic_.resize(joints.size());
    for (const auto& link : r_.result.links) {
      const auto found = above.find(link.name);
      if (!link.inertial || found == above.end()) continue;
      const auto i = static_cast<std::size_t>(found->second);
      Ic_[i] = Ic_[i] + link.inertial->inertia().transformed(relative(i, X_WC_[i]));
    }
  }

  [[nodiscard]] Eigen::Index nv() const { return static_cast<Eigen::Index>(S_.size()); }
  [[nodiscard]] Eigen::Index start(std::size_t joint) const { return start_[joint]; }

  /// Composite rigid bodies [Featherstone 2008, Sec. 6.2]: children come after their parents.
  MatrixX<double> mass_matrix() {
    MatrixX<double> M = MatrixX<double>::Zero(nv(), nv());
    for (std::size_t i = Ic_.size(); i-- > 0;) {
      const int parent = parent_[i];
      if (parent >= 0) Ic_[at(parent)] = Ic_[at(parent)] + Ic_[i];
      for (Eigen::Index a = start_[i]; a < end(i); ++a) {
        const Force<double> F = Ic_[i] * S_[at(a)];
        for (int j = static_cast<int>(i); j >= 0; j = parent_[at(j)]) {
          for (Eigen::Index b = start_[at(j)]; b < end(at(j)); ++b) {
            M(a, b) = M(b, a) = dot(S_[at(b)], F);
          }
        }
        M(a, a) += r_.result.joints[i].armature;
      }
    }
    return M;
  }

 private:
  template <typename Index>
  static std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
  }
  [[nodiscard]] Eigen::Index end(std::size_t joint) const {
    return joint + 1 < start_.size() ? start_[joint + 1] : nv();
  }
  /// The same pose relative to the origin of the tree, where numbers are small.
  [[nodiscard]] Pose<double> relative(std::size_t joint, const Pose<double>& X_W) const {
    return {X_W.R, X_W.p - origin_[joint]};
  }

  /// Frames of the joint and of its child in the world.
  void place(std::size_t i) {
    const JointDescription<double>& joint = r_.result.joints[i];
    const auto known = r_.named.joints.find(joint.name);
    const double q = known == r_.named.joints.end() ? 0 : known->second.ref;
    Pose<double> X_J;  // by the coordinate
    if (joint.type == JointType::prismatic) {
      X_J.p = q * joint.axis;
    } else if (q != 0 && !joint.axis.isZero(0)) {
      X_J.R = to_matrix(quaternion_from_axis_angle<double>(joint.axis, q));
    }
    const Pose<double> X_WP = parent_[i] < 0 ? Pose<double>() : X_WC_[at(parent_[i])];
    X_WJ_.push_back(X_WP * joint.X_PJ * X_J);
    X_WC_.push_back(X_WJ_.back() * joint.X_JC);
    origin_.push_back(parent_[i] < 0 ? X_WC_.back().p : origin_[at(parent_[i])]);
  }

  void add_motions(std::size_t i) {
    const Pose<double> X = relative(i, X_WJ_[i]);
    const auto turn = [&](const Vector3<double>& axis) { S_.push_back({X.p.cross(axis), axis}); };
    const auto slide = [&](const Vector3<double>& axis) {
      S_.push_back({axis, Vector3<double>::Zero()});
    };
    switch (r_.result.joints[i].type) {
      case JointType::fixed:
        return;
      case JointType::prismatic:
        return slide(X.R * r_.result.joints[i].axis);
      case JointType::free:
        for (int k = 0; k < 3; ++k) slide(X.R.col(k));
        [[fallthrough]];
      case JointType::spherical:
        for (int k = 0; k < 3; ++k) turn(X.R.col(k));
        return;
      default:
        return turn(X.R * r_.result.joints[i].axis);
    }
  }

  const ReadContext& r_;
  std::vector<int> parent_;  ///< joint above the parent link; -1: the world
  std::vector<Pose<double>> X_WJ_, X_WC_;
  std::vector<Vector3<double>> origin_;  ///< of the tree
  std::vector<Eigen::Index> start_;      ///< first degree of freedom
  std::vector<Motion<double>> S_;
  std::vector<Inertia<double>> Ic_;
};

}  // namespace

void set_spring_dampers(ReadContext& context) {
  if (context.spring_dampers.empty()) return;
  const auto refuse = [&](const std::string& message, const char* reason) {
    const auto& joint = context.result.joints[context.spring_dampers.begin()->first];
    context.diagnostics.push_back({Diagnostic::Severity::error, "spring-not-supported",
                                   joint.source, message, reason,
                                   "write 'stiffness' and 'damping'"});
  };
  constexpr Eigen::Index kMost = 3000;  // a few seconds and 72 MB
  InitialTree tree(context);
  if (tree.nv() > kMost) {
    return refuse(fmt::format("<joint>: 'springdamper' in a model of {} degrees of freedom, "
                              "expected at most {}",
                              tree.nv(), kMost),
                  "it needs the inverse of the mass matrix");
  }
  const MatrixX<double> M = tree.mass_matrix();
  const Eigen::LLT<MatrixX<double>> factor(M);
  if (factor.info() != Eigen::Success || !M.allFinite()) {
    return refuse("<joint>: 'springdamper' in a model with a singular mass matrix",
                  "stiffness and damping are computed from its inverse");
  }
  for (const auto& [index, spring] : context.spring_dampers) {
    JointDescription<double>& joint = context.result.joints[index];
    // (M^-1)_ii = |L^-1 e_i|^2
    const VectorX<double> column =
        factor.matrixL().solve(VectorX<double>::Unit(tree.nv(), tree.start(index)));
    const double inertia = 1 / column.squaredNorm();
    constexpr double kSmallest = 1e-15;  // MuJoCo's
    const double product = spring.time_constant * spring.damping_ratio;
    joint.stiffness = inertia / std::max(kSmallest, product * product);
    // Actuators have added theirs.
    joint.damping += 2 * inertia / std::max(kSmallest, spring.time_constant);
    if (!std::isfinite(joint.stiffness + joint.damping)) {
      joint.stiffness = joint.damping = 0;
      return refuse("<joint>: stiffness and damping by 'springdamper' are not finite",
                    "the mass matrix is nearly singular, or the numbers are too large");
    }
  }
}

}  // namespace limb::mjcf
