// The summary of a few steps whose numbers are known.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "limb/legged/legged_summary.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace {

using Mode = LeggedController::Mode;
using Vec = Vector3<double>;

Matrix3<double> turn(double yaw, double pitch = 0) {
  return axis_rotation(2, yaw) * axis_rotation(1, pitch);
}

/// A step in mode walk with a perfect estimate, of small deviations.
LeggedStep make_step(double t, const Vec& p, const Matrix3<double>& R, const Vec& v_B) {
  LeggedStep s;
  s.t = t;
  s.q = VectorX<double>::Zero(7);
  s.q << p, quaternion_from_matrix(R).xyzw();
  s.v = VectorX<double>::Zero(6);
  s.v.head<3>() = v_B;
  s.mode = Mode::walk;
  s.estimated = true;
  s.X_WB = {R, p};
  s.v_WB = R * v_B;
  s.deviation.setConstant(0.01);
  return s;
}

// Rounding of quaternions and of acos near 1: sqrt(eps).
constexpr double kAngle = 5e-8;

TEST(LeggedSummary, TrueMotionOfKnownSteps) {
  // 3-4-5 and 5-12-13 triangles; heights do not count.
  std::vector<LeggedStep> steps = {
      make_step(0.9, {9, 9, 9}, turn(1, 0.6), {9, 9, 9}),  // before
      make_step(1, {1, 2, 0.3}, turn(0.5), {1, 0, 0}),
      make_step(1.5, {4, 6, 0.9}, turn(2.5, 0.2), {0, 2, 0}),
      make_step(2, {-1, -6, 0.1}, turn(-2), {-3, 0, 0.6}),
  };
  for (LeggedStep& s : steps) s.estimated = false;
  const LeggedSummary r = summarize(steps, true, 1);
  EXPECT_EQ(r.begin, 1);
  EXPECT_EQ(r.end, 2);
  EXPECT_EQ(r.steps, 3);
  EXPECT_TRUE(r.fell);
  EXPECT_FALSE(summarize(steps, false, 1).fell);
  // In the heading frame, each velocity is that in the body: pitch leaves y unchanged.
  EXPECT_LT((r.mean_velocity - Vec(-2. / 3, 2. / 3, 0.2)).norm(), 1e-14);
  EXPECT_NEAR(r.distance, 5 + 13, 1e-14);
  EXPECT_NEAR(r.largest_tilt, 0.2, 1e-14);
  EXPECT_EQ(r.position_error, 0);
  EXPECT_EQ(r.yaw_error, 0);
  EXPECT_EQ(r.velocity_error, 0);
  EXPECT_EQ(r.tilt_error, 0);
  EXPECT_EQ(r.beyond_three_sigma, 0);
  // Without any step all is zero.
  const LeggedSummary none = summarize(steps, false, 3);
  EXPECT_EQ(none.steps, 0);
  EXPECT_EQ(none.mean_velocity, Vec::Zero());
}

TEST(LeggedSummary, PitchedVelocitiesAreInTheHeadingFrame) {
  const LeggedSummary r =
      summarize(std::vector{make_step(0, {0, 0, 0}, turn(2.5, 0.3), {1, 0, 0})}, false, 0);
  EXPECT_LT((r.mean_velocity - Vec(std::cos(0.3), 0, -std::sin(0.3))).norm(), 1e-14);
}

TEST(LeggedSummary, CountsProgramsOfWalkingSteps) {
  std::vector<LeggedStep> steps(6, make_step(0, {0, 0, 0}, turn(0), {0, 0, 0}));
  steps[0].mode = Mode::hold;  // not counted
  steps[0].whole_body.fell_back = true;
  steps[0].whole_body.status = Status::iteration_limit;
  steps[0].mpc_solved = false;
  steps[1].whole_body.fell_back = true;
  steps[1].whole_body.status = Status::primal_infeasible;
  steps[2].whole_body.fell_back = true;
  steps[3].mpc_solved = false;
  steps[4].mpc_solved = false;
  steps[4].whole_body.status = Status::iteration_limit;
  const LeggedSummary r = summarize(steps, false, 0);
  EXPECT_EQ(r.fell_back, 2);
  EXPECT_EQ(r.unsolved, 4);
}

TEST(LeggedSummary, ErrorsOfKnownEstimates) {
  std::vector<LeggedStep> steps;
  for (int k = 0; k < 4; ++k) {
    steps.push_back(make_step(k, {double(k), 2. * k, 0.3}, turn(0.4 * k), {1, 0, 0}));
  }
  steps[0].v_WB += Vec(0.06, 0, 0.08);  // 0.1 in norm; two components beyond 0.03
  steps[1].v_WB += Vec(0, -0.05, 0);
  // About x of the body: a tilt; about z: none. The rotation error is in the axes of the body.
  steps[1].X_WB.R = steps[1].X_WB.R * axis_rotation(0, 0.04);
  steps[2].X_WB.R = steps[2].X_WB.R * axis_rotation(2, -0.2);
  steps[2].deviation.segment<3>(3) << 0.01, 0.01, 0.07;  // 0.2 < 3 * 0.07
  steps[3].X_WB.p += Vec(0.02, 0.04, -0.04);             // 0.06 in norm
  steps[3].X_WB.R = steps[3].X_WB.R * axis_rotation(2, 0.025);
  const LeggedSummary r = summarize(steps, false, 0);
  EXPECT_NEAR(r.velocity_error, std::sqrt((0.01 + 0.0025) / 4), 1e-15);
  EXPECT_NEAR(r.tilt_error, 0.04 / 2, kAngle);
  EXPECT_NEAR(r.beyond_three_sigma, (2 + 2 + 0 + 2) / 36., 1e-15);
  EXPECT_NEAR(r.position_error, 0.06, 1e-14);
  EXPECT_NEAR(r.yaw_error, 0.025, 1e-14);
  // Steps without an estimate do not count in its errors.
  steps[1].estimated = false;
  const LeggedSummary fewer = summarize(steps, false, 0);
  EXPECT_NEAR(fewer.velocity_error, std::sqrt(0.01 / 3), 1e-15);
  EXPECT_NEAR(fewer.tilt_error, 0, kAngle);
  EXPECT_NEAR(fewer.beyond_three_sigma, 4 / 27., 1e-15);
  // Displacements need an estimate at the first and at the last step.
  for (const std::size_t end : {0, 3}) {
    std::vector<LeggedStep> some = steps;
    some[end].estimated = false;
    EXPECT_EQ(summarize(some, false, 0).position_error, 0);
    EXPECT_EQ(summarize(some, false, 0).yaw_error, 0);
  }
}

// An estimate with another origin and yaw has no error of displacement.
TEST(LeggedSummary, DisplacementsDoNotDependOnTheOriginOfTheEstimate) {
  const Pose<double> X_EW = {turn(0.3), {5, -2, 1}};
  std::vector<LeggedStep> steps;
  for (int k = 0; k < 3; ++k) {
    steps.push_back(make_step(k, {double(k), 2. * k, 0.3}, turn(0.9 * k), {1, 0, 0}));
    steps.back().X_WB = X_EW * steps.back().X_WB;
  }
  const LeggedSummary same = summarize(steps, false, 0);
  EXPECT_NEAR(same.position_error, 0, 1e-14);
  EXPECT_NEAR(same.yaw_error, 0, 1e-14);
  // Yaw errors are across the cut at pi, too: turned by 3.13 and estimated 3.16.
  steps[0] = make_step(0, {0, 0, 0}, turn(0), {0, 0, 0});
  steps[2] = make_step(2, {0, 0, 0}, turn(3.13), {0, 0, 0});
  steps[2].X_WB.R = turn(3.16);
  EXPECT_NEAR(summarize(steps, false, 0).yaw_error, 0.03, 1e-14);
}

}  // namespace
}  // namespace limb
