#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <array>

#include "limb/math/check.hpp"
#include "limb/model/lint/check_inertia_rules.hpp"
#include "limb/model/lint/link_size.hpp"

namespace limb {
namespace {

using Severity = Diagnostic::Severity;

constexpr std::array<std::pair<int, int>, 3> kPairs = {{{0, 1}, {0, 2}, {1, 2}}};

/// The tensor about the mass centre if the given one is about the link's origin.
Matrix3<double> tensor_about_com(const InertialDescription<double>& inertial) {
  const Vector3<double> d = inertial.X_LI.R.transpose() * inertial.X_LI.p;
  return parallel_axis_to_com<double>(inertial.tensor, inertial.mass, d);
}

bool has_volume(const Matrix3<double>& tensor) {
  const Matrix3<double> S = second_moments<double>(tensor);
  const Eigen::SelfAdjointEigenSolver<Matrix3<double>> solver(S, Eigen::EigenvaluesOnly);
  return solver.eigenvalues()[0] > 1e-9 * std::abs(S.trace());
}

/// Bodies in the box with this mass centre have int(x^2) dm <= m (hi - c) (c - lo), with equality
/// for masses at both ends only [Bhatia 2000, bound of the variance]. True if the tensor violates
/// the bound and the one moved to the mass centre satisfies it with a margin.
/// @param box  of the shapes and the joints of the link: what holds a shape there is often not
/// drawn.
bool exceeds_shape_bound(const LinkDescription<double>& link, const Box& box,
                         const Matrix3<double>& moved) {
  const auto& inertial = *link.inertial;
  const Vector3<double> c = inertial.X_LI.p;
  const Vector3<double> bound = inertial.mass * (box.max() - c).cwiseProduct(c - box.min());
  const Matrix3<double>& R = inertial.X_LI.R;
  const auto moments = [&](const Matrix3<double>& tensor) {
    return Vector3<double>(rotate_tensor<double>(R, second_moments<double>(tensor)).diagonal());
  };
  const Vector3<double> given = moments(inertial.tensor), corrected = moments(moved);
  bool broken = false;
  for (int k = 0; k < 3; ++k) {
    // A uniform rod about its end has 4/3 of the bound, about its centre 1/3.
    broken = broken || given[k] > 1.15 * bound[k];
    if (corrected[k] > 0.75 * bound[k]) return false;
  }
  return broken;
}

/// Number of products equal to the parallel-axis term -m c_i c_j; -1 if one differs.
int count_parallel_axis_products(const InertialDescription<double>& inertial) {
  const Vector3<double> d = inertial.X_LI.R.transpose() * inertial.X_LI.p;
  const double scale = inertial.tensor.diagonal().maxCoeff();
  int count = 0;
  for (const auto& [i, j] : kPairs) {
    const double shift = -inertial.mass * d[i] * d[j], found = inertial.tensor(i, j);
    if (std::abs(shift) > 5e-3 * scale) {
      if (std::abs(found - shift) > 0.01 * std::abs(shift)) return -1;
      ++count;
    } else if (std::abs(found) > 5e-3 * scale) {
      return -1;
    }
  }
  return count;
}

}  // namespace

void find_wrong_point(const Description<double>& robot, const LinkTree& tree,
                      const MeshBoxes& meshes, std::vector<bool>& done, LintFindings& findings) {
  const std::vector<Box> boxes = link_boxes(robot, tree, meshes);
  for (std::size_t i = 0; i < robot.links.size(); ++i) {
    const auto& link = robot.links[i];
    if (done[i] || !link.inertial || !(link.inertial->mass > 0)) continue;
    const auto& inertial = *link.inertial;
    const Matrix3<double> moved = tensor_about_com(inertial);
    if (inertial.X_LI.p.isZero(0) || !has_volume(moved)) continue;
    const bool shape = has_known_shape(link, meshes) &&
                       shape_box(link, meshes).contains(inertial.X_LI.p) &&
                       exceeds_shape_bound(link, boxes[i], moved);
    const int products = count_parallel_axis_products(inertial);
    if (!shape && products < 1) continue;
    done[i] = true;
    std::vector<FileEdit> edits;
    // Two signs: a single product may agree by chance, in one link of a hundred, and a shape may be
    // smaller than the part, unless the mass fits it.
    if ((shape && has_plausible_shape(link, meshes)) || products >= 2) {
      edits.push_back(edit_tensor("inertia-wrong-point", robot, i, moved));
    }
    findings.push_back(
        {{Severity::warning, "inertia-wrong-point", inertial.source,
          shape ? fmt::format("link '{}': the inertia is larger than any body within the shapes "
                              "of the link has about its mass centre {}",
                              link.name, to_text(inertial.X_LI.p))
                : fmt::format("link '{}': the products of inertia are those of the mass at {} "
                              "about the link's origin",
                              link.name, to_text(inertial.X_LI.p)),
          "the tensor seems to be about the link's origin where one about the mass centre is "
          "expected",
          fmt::format("about the mass centre: ixx iyy izz ixy ixz iyz = {}",
                      to_text(std::span<const double>(written_entries(moved))))},
         std::move(edits)});
  }
}

void find_wrong_products(const Description<double>& robot, const MeshBoxes& meshes,
                         std::vector<bool>& done, LintFindings& findings) {
  for (std::size_t i = 0; i < robot.links.size(); ++i) {
    const auto& link = robot.links[i];
    if (done[i] || !link.inertial || !(link.inertial->mass > 0)) continue;
    const auto& inertial = *link.inertial;
    const auto shape = shape_inertia(link);
    if (!shape || !(inertial.tensor.trace() > 0)) continue;
    const Matrix3<double>& R = inertial.X_LI.R;
    const Matrix3<double> drawn =
        rotate_tensor<double>(R.transpose(), shape->tensor_about_com()) / shape->mass();
    const Matrix3<double> given = inertial.tensor / inertial.mass;
    // The shape counts as evidence only if it fits the tensor except for the signs.
    const Vector3<double> ratio = given.diagonal().cwiseQuotient(drawn.diagonal());
    if (ratio.maxCoeff() > 2.5 * ratio.minCoeff()) continue;
    Matrix3<double> corrected = inertial.tensor;
    int wrong = 0;
    bool fits = true;
    bool sure = has_plausible_shape(link, meshes) && ratio.maxCoeff() < 1.25 * ratio.minCoeff();
    for (const auto& [a, b] : kPairs) {
      const double d = drawn(a, b) / drawn.trace(), g = given(a, b) / given.trace();
      if (std::abs(d) < 0.03) continue;
      if (g * d < 0 && std::abs(g) > 0.4 * std::abs(d) && std::abs(g) < 2.5 * std::abs(d)) {
        corrected(a, b) = corrected(b, a) = -inertial.tensor(a, b);
        sure = sure && std::abs(g + d) < 0.25 * std::abs(d);
        ++wrong;
      } else if (g * d <= 0) {
        fits = false;
      }
    }
    if (wrong == 0 || !fits) continue;
    done[i] = true;
    // Most shapes are approximate: only if all numbers but the signs agree, an edit is offered.
    std::vector<FileEdit> edits;
    if (sure) edits.push_back(edit_tensor("products-mirrored", robot, i, corrected));
    findings.push_back(
        {{sure ? Severity::warning : Severity::note, "products-mirrored", inertial.source,
          fmt::format("link '{}': products of inertia ixy ixz iyz = {} have the opposite sign "
                      "of those of its shapes",
                      link.name,
                      to_text(Vector3<double>(inertial.tensor(0, 1), inertial.tensor(0, 2),
                                              inertial.tensor(1, 2)))),
          "the entry is minus the integral of xy; some textbooks and mirrored parts have plus",
          fmt::format("ixy ixz iyz = {}",
                      to_text(Vector3<double>(corrected(0, 1), corrected(0, 2), corrected(1, 2))))},
         std::move(edits)});
  }
}

}  // namespace limb
