#include "limb/legged/legged_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/math/quaternion.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace {

Pose<double> true_base(const LeggedStep& s) {
  return {to_matrix(Quaternion<double>::from_xyzw(s.q.segment<4>(3))), s.q.head<3>()};
}
double yaw_of(const Matrix3<double>& R) {
  return std::atan2(R(1, 0), R(0, 0));
}
/// Angle between the directions of gravity in the base.
double tilt_between(const Matrix3<double>& A, const Matrix3<double>& B) {
  return std::acos(std::clamp(A.row(2).dot(B.row(2)), -1.0, 1.0));
}

}  // namespace

LeggedSummary summarize(const LeggedRun& run, double begin) {
  return summarize(run.steps(), run.fell(), begin);
}

LeggedSummary summarize(std::span<const LeggedStep> steps, bool fell, double begin) {
  LeggedSummary r;
  r.fell = fell;
  const LeggedStep *first = nullptr, *last = nullptr;
  long components = 0, beyond = 0, estimated = 0;
  for (const LeggedStep& s : steps) {
    if (s.t < begin) continue;
    const Pose<double> X = true_base(s);
    const double yaw = yaw_of(X.R), c = std::cos(yaw), d = std::sin(yaw);
    const Vector3<double> v_W = X.R * s.v.head<3>();
    r.mean_velocity +=
        Vector3<double>(c * v_W.x() + d * v_W.y(), c * v_W.y() - d * v_W.x(), v_W.z());
    r.largest_tilt = std::max(r.largest_tilt, std::acos(std::clamp(X.R(2, 2), -1.0, 1.0)));
    if (last != nullptr) r.distance += (s.q.head<2>() - last->q.head<2>()).norm();
    if (s.mode == LeggedController::Mode::walk) {
      r.fell_back += s.whole_body.fell_back ? 1 : 0;
      r.unsolved += (s.whole_body.status == Status::ok ? 0 : 1) + (s.mpc_solved ? 0 : 1);
    }
    if (s.estimated) {
      Eigen::Matrix<double, 9, 1> e;
      e << s.X_WB.p - X.p, so3::log<double>(X.R.transpose() * s.X_WB.R), s.v_WB - v_W;
      beyond += (e.cwiseAbs().array() > 3 * s.deviation.array()).count();
      components += 9;
      ++estimated;
      r.velocity_error += e.tail<3>().squaredNorm();
      const double tilt = tilt_between(s.X_WB.R, X.R);
      r.tilt_error += tilt * tilt;
    }
    if (first == nullptr) r.begin = s.t;
    if (first == nullptr) first = &s;
    last = &s;
    r.end = s.t;
    ++r.steps;
  }
  if (r.steps > 0) r.mean_velocity /= static_cast<double>(r.steps);
  if (estimated == 0) return r;
  r.velocity_error = std::sqrt(r.velocity_error / static_cast<double>(estimated));
  r.tilt_error = std::sqrt(r.tilt_error / static_cast<double>(estimated));
  r.beyond_three_sigma = static_cast<double>(beyond) / static_cast<double>(components);
  if (!first->estimated || !last->estimated) return r;
  // True and estimated displacement, relative to the first pose.
  const Pose<double> a = true_base(*first).inverse() * true_base(*last);
  const Pose<double> b = first->X_WB.inverse() * last->X_WB;
  r.position_error = (a.p - b.p).norm();
  r.yaw_error = std::abs(std::remainder(yaw_of(b.R) - yaw_of(a.R), 2 * std::numbers::pi));
  return r;
}

}  // namespace limb
