#include "limb/sim/forces/medium_law.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "limb/base/error.hpp"

namespace limb {
namespace {

/// Principal axes of a symmetric tensor. A tensor that is diagonal but for rounding keeps its axes,
/// which decide about the drag if two moments are equal.
Matrix3<double> principal_axes(const Matrix3<double>& tensor, Vector3<double>& moments) {
  constexpr double kRounding = 1e-12;
  Matrix3<double> off = tensor;
  off.diagonal().setZero();
  if (off.norm() <= kRounding * tensor.norm()) {
    moments = tensor.diagonal();
    return Matrix3<double>::Identity();
  }
  const Eigen::SelfAdjointEigenSolver<Matrix3<double>> solver(tensor);
  moments = solver.eigenvalues();
  Matrix3<double> axes = solver.eigenvectors();
  if (axes.determinant() < 0) axes.col(0) *= -1;
  return axes;
}

/// Edges of the box with this mass and these moments about its axes.
Vector3<double> box_edges(double mass, const Vector3<double>& moments) {
  constexpr double kSmallest = 1e-15;  // kg m^2, as in MuJoCo
  Vector3<double> edges;
  for (int i = 0; i < 3; ++i) {
    const double twice = moments[(i + 1) % 3] + moments[(i + 2) % 3] - moments[i];
    edges[i] = std::sqrt(6 * std::max(kSmallest, twice) / mass);
  }
  return edges;
}

}  // namespace

std::vector<MediumLaw::Link> MediumLaw::links_of(const Model<double>& model,
                                                 const Description<double>& description) {
  std::vector<Link> links;
  for (const LinkDescription<double>& link : description.links) {
    if (!link.inertial || !(link.inertial->mass > 0)) continue;
    const FrameId id = model.find_frame(link.name);
    const Frame<double>& frame = model.frame(id);
    if (frame.body.value() == 0) continue;
    Vector3<double> moments;
    const Matrix3<double> axes = principal_axes(link.inertial->tensor, moments);
    const Pose<double> X_FI{link.inertial->X_LI.R * axes, link.inertial->X_LI.p};
    links.push_back(
        {id, frame.body, X_FI, frame.X_BF * X_FI, box_edges(link.inertial->mass, moments)});
  }
  return links;
}

MediumLaw::MediumLaw(const Model<double>& model, const MediumDescription& medium,
                     std::vector<Link> links)
    : medium_(medium), links_(std::move(links)) {
  check_not_negative("MediumLaw", "density", medium.density);
  check_not_negative("MediumLaw", "viscosity", medium.viscosity);
  check_finite("MediumLaw", "wind", medium.wind);
  constexpr double pi = std::numbers::pi;
  Eigen::Index longest = 0;
  for (const Link& link : links_) {
    const Vector3<double>& b = link.edges;
    const double d = b.mean();
    Drag drag{3 * pi * medium.viscosity * d, pi * medium.viscosity * d * d * d, {}, {}};
    for (int i = 0; i < 3; ++i) {
      const double bj = b[(i + 1) % 3], bk = b[(i + 2) % 3];
      drag.linear_square[i] = medium.density / 2 * bj * bk;
      drag.angular_square[i] = medium.density / 64 * b[i] * (std::pow(bj, 4) + std::pow(bk, 4));
    }
    drag_.push_back(drag);
    std::vector<int>& path = path_.emplace_back();
    for (BodyId body = link.body; body.value() != 0; body = model.body(body).parent) {
      const Body<double>& b_i = model.body(body);
      for (int x = b_i.v_start; x < b_i.v_start + b_i.joint.nv(); ++x) path.push_back(x);
    }
    longest = std::max(longest, static_cast<Eigen::Index>(path.size()));
  }
  columns_.setZero(6, longest);
}

Motion<double> MediumLaw::velocity(const Link& link, const Kinematics<double>& kinematics) const {
  const auto body = static_cast<std::size_t>(link.body.value());
  const Motion<double>& V = kinematics.V_WB_B[body];
  const Matrix3<double>& R = link.X_BI.R;
  const Vector3<double> wind = kinematics.X_WB[body].R.transpose() * medium_.wind;
  return {R.transpose() * (V.v + V.w.cross(link.X_BI.p) - wind), R.transpose() * V.w};
}

void MediumLaw::append_ports(std::vector<WrenchPort>& ports) const {
  for (const Link& link : links_) ports.push_back({link.frame, WrenchAxes::frame});
}

void MediumLaw::add(ForceInput& now, AppliedLoads& loads) {
  const Kinematics<double>& kinematics = now.kinematics();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Motion<double> V = velocity(links_[i], kinematics);
    const Drag& drag = drag_[i];
    const Vector3<double> f =
        -(drag.linear + drag.linear_square.array() * V.v.array().abs()) * V.v.array();
    const Vector3<double> n =
        -(drag.angular + drag.angular_square.array() * V.w.array().abs()) * V.w.array();
    loads.add({links_[i].frame, WrenchAxes::frame}, links_[i].X_FI.act(Force<double>{f, n}));
  }
}

// The drag of a link falls with the velocities of the joints by J^T D J. The sum of the magnitudes
// of a row on the diagonal is at least as much.
void MediumLaw::add_stiffness(ForceInput& now, JointStiffness& joints) {
  const Kinematics<double>& k = now.kinematics();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    const Drag& drag = drag_[i];
    const Motion<double> V = velocity(link, k);
    const Pose<double>& X_WB = k.X_WB[static_cast<std::size_t>(link.body.value())];
    const Pose<double> X_WI = X_WB * link.X_BI;
    const std::vector<int>& path = path_[i];
    for (std::size_t c = 0; c < path.size(); ++c) {
      const auto x = static_cast<std::size_t>(path[c]);
      const Motion<double>& S = k.S_W[x];
      const Vector3<double> r = X_WI.p - k.X_WB[static_cast<std::size_t>(k.body_of_v[x])].p;
      const Vector3<double> v = X_WI.R.transpose() * (S.v + S.w.cross(r)),
                            w = X_WI.R.transpose() * S.w;
      auto column = columns_.col(static_cast<Eigen::Index>(c));
      column.head<3>() =
          v.array() * (drag.linear + 2 * drag.linear_square.array() * V.v.array().abs()).sqrt();
      column.tail<3>() =
          w.array() * (drag.angular + 2 * drag.angular_square.array() * V.w.array().abs()).sqrt();
    }
    const auto n = static_cast<Eigen::Index>(path.size());
    for (Eigen::Index r = 0; r < n; ++r) {
      double sum = 0;
      for (Eigen::Index c = 0; c < n; ++c) sum += std::abs(columns_.col(r).dot(columns_.col(c)));
      joints.damping[path[static_cast<std::size_t>(r)]] += sum;
    }
  }
}

}  // namespace limb
