// Statistics of a run, computed again from its record.
#include "limb/legged/legged_summary.hpp"
#include "limb/base/testing/worst.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

namespace limb {
namespace {

Eigen::Quaterniond true_turn(const LeggedStep& s) {
  return Eigen::Quaterniond(s.q[6], s.q[3], s.q[4], s.q[5]);
}
double heading(const Matrix3<double>& R) {
  return Eigen::Rotation2Dd(std::atan2(R(1, 0), R(0, 0))).smallestAngle();
}

// A turning trot with a push, so that all entries are clearly nonzero and differ from each other.
TEST(LeggedSummary, IsThatOfTheRecord) {
  if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  LeggedRunOptions options;
  options.seed = 9;
  options.plan = {{0.8, Gait::trot(), {0.4, 0.1, 0.5}}};
  options.pushes = {{2, {0, 4, 0}}};
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(2.5);
  constexpr double kBegin = 1.2;
  const LeggedSummary r = summarize(run, kBegin);

  std::vector<const LeggedStep*> used;
  for (const LeggedStep& s : run.steps()) {
    if (s.t >= kBegin) used.push_back(&s);
  }
  ASSERT_GT(used.size(), 500u);
  const auto n = static_cast<double>(used.size());
  Vector3<double> mean = Vector3<double>::Zero();
  double tilt = 0, way = 0, velocity = 0, tilt_error = 0, beyond = 0;
  long fell_back = 0, unsolved = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const LeggedStep& s = *used[i];
    ASSERT_TRUE(s.estimated);
    const Matrix3<double> R = true_turn(s).toRotationMatrix();
    const Vector3<double> v_W = R * s.v.head<3>();
    mean += Eigen::AngleAxisd(-heading(R), Vector3<double>::UnitZ()) * v_W / n;
    const Vector3<double> up = R.col(2), up_estimated = s.X_WB.R.row(2), up_true = R.row(2);
    tilt = worse(tilt, std::atan2(up.head<2>().norm(), up.z()));
    if (i > 0) way += std::hypot(s.q[0] - used[i - 1]->q[0], s.q[1] - used[i - 1]->q[1]);
    velocity += (s.v_WB - v_W).squaredNorm() / n;
    const double angle = std::asin(std::min(up_true.cross(up_estimated).norm(), 1.0));
    tilt_error += angle * angle / n;
    const Eigen::AngleAxisd off(Eigen::Quaterniond(Matrix3<double>(R.transpose() * s.X_WB.R)));
    const Vector3<double> turn = off.angle() * off.axis(), p = s.X_WB.p - s.q.head<3>(),
                          v = s.v_WB - v_W;
    for (int k = 0; k < 3; ++k) {
      beyond += (std::abs(p[k]) > 3 * s.deviation[k]) +
                (std::abs(turn[k]) > 3 * s.deviation[3 + k]) +
                (std::abs(v[k]) > 3 * s.deviation[6 + k]);
    }
    fell_back += s.whole_body.fell_back;
    unsolved += (s.whole_body.status != Status::ok) + !s.mpc_solved;
  }
  EXPECT_EQ(r.steps, static_cast<long>(used.size()));
  EXPECT_EQ(r.begin, used.front()->t);
  EXPECT_EQ(r.end, used.back()->t);
  EXPECT_FALSE(r.fell);
  EXPECT_EQ(r.fell_back, fell_back);
  EXPECT_EQ(r.unsolved, unsolved);
  EXPECT_LT((r.mean_velocity - mean).norm(), 1e-12);
  EXPECT_NEAR(r.largest_tilt, tilt, 1e-9);  // acos loses half of the digits
  EXPECT_NEAR(r.distance, way, 1e-12);
  EXPECT_NEAR(r.velocity_error, std::sqrt(velocity), 1e-12);
  EXPECT_NEAR(r.tilt_error, std::sqrt(tilt_error), 1e-6);
  EXPECT_NEAR(r.beyond_three_sigma, beyond / (9 * n), 1e-12);

  // Displacements since the first step, each in the axes of its own first pose.
  const LeggedStep &first = *used.front(), &last = *used.back();
  const Vector3<double> moved =
      true_turn(first).conjugate() * (last.q.head<3>() - first.q.head<3>());
  const Vector3<double> moved_estimated = first.X_WB.R.transpose() * (last.X_WB.p - first.X_WB.p);
  EXPECT_NEAR(r.position_error, (moved - moved_estimated).norm(), 1e-12);
  EXPECT_GT(r.position_error, 1e-4);
  const Matrix3<double> turned =
      (true_turn(first).conjugate() * true_turn(last)).toRotationMatrix();
  const Matrix3<double> turned_estimated = first.X_WB.R.transpose() * last.X_WB.R;
  EXPECT_NEAR(r.yaw_error, std::abs(heading(turned) - heading(turned_estimated)), 1e-12);
  // Turning at 0.5 rad/s while walking ahead and to the left.
  EXPECT_GT(heading(turned), 0.3);
  EXPECT_NEAR(mean.x(), 0.4, 0.1);
}

}  // namespace
}  // namespace limb
