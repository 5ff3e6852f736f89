// What WholeBody does when its program has no solution.
#include <algorithm>

#include "limb/control/whole_body.hpp"
#include "limb/control/whole_body_contact.hpp"
#include "limb/dynamics/manifold.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/math/so3.hpp"

namespace limb {

// The standing points carry the weight by the smallest forces that do it, each cut to its cone:
// with the map G from forces to the wrench about the mass centre, f = G^T (G G^T)^-1 (-m g, 0).
// Joints are held by springs where they were when this began, with damping.
void WholeBody::fall_back(const WholeBodyTargets& targets) {
  report_.fell_back = true;
  if (!holding_) hold_ = q_;
  holding_ = true;

  using Matrix6 = Eigen::Matrix<double, 6, 6>;
  Matrix6 GGt = Matrix6::Zero();
  const auto each_standing_point = [&](const auto& use) {
    for (std::size_t i = 0; i < feet_.size(); ++i) {
      if (!targets.feet[i].stands) continue;
      for (std::size_t k = 0; k < feet_[i].points.size(); ++k) {
        const int point = places_[i].first_point + static_cast<int>(k);
        use(point, targets.feet[i].normal,
            Vector3<double>(p_points_[static_cast<std::size_t>(point)] - p_WC_));
      }
    }
  };
  each_standing_point([&](int, const Vector3<double>&, const Vector3<double>& r) {
    Eigen::Matrix<double, 6, 3> G;
    G << Matrix3<double>::Identity(), skew<double>(r);
    GGt += G * G.transpose();
  });
  GGt.diagonal().array() += 1e-6;  // few points cannot do it: as near as they can
  Vector6<double> load = Vector6<double>::Zero();
  load.head<3>() = -model_.total_mass() * model_.gravity();
  const Vector6<double> y = GGt.ldlt().solve(load);

  f_.setZero();
  a_.setZero();
  gravity(model_, work_, q_, gravity_);
  each_standing_point([&](int point, const Vector3<double>& normal, const Vector3<double>& r) {
    Vector3<double> f = y.head<3>() - r.cross(Vector3<double>(y.tail<3>()));
    const double pressing = std::clamp(f.dot(normal), 0.0, options_.max_normal_force);
    Vector3<double> along = f - f.dot(normal) * normal;
    const double most = options_.friction * pressing;
    if (along.norm() > most) along *= most / along.norm();
    f = pressing * normal + along;
    f_.col(point) = f;
    gravity_.noalias() -= J_points_[static_cast<std::size_t>(point)].transpose() * f;
  });

  tau_.setZero();
  difference(model_, q_, hold_, a_);
  for (const Joint& joint : joints_) {
    const int i = joint.velocity;
    const double effort = std::isfinite(joint.effort) ? joint.effort : weight_;
    const double spring =
        effort * (options_.fall_back_stiffness * a_[i] - options_.fall_back_damping * v_[i]);
    tau_[i] = std::clamp(gravity_[i] + spring, -joint.effort, joint.effort);
  }
  a_.setZero();
}

}  // namespace limb
