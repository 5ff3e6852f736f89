#include "limb/control/locomotion/single_body_mpc.hpp"

#include <gtest/gtest.h>

#include "limb/base/error.hpp"

namespace limb {
namespace {

class SingleBodyMpcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
  static MpcProblem standing(const MpcOptions& options) {
    MpcProblem problem(4, options.steps);
    problem.inertia = Vector3<double>(0.1, 0.3, 0.3).asDiagonal();
    problem.p = {0, 0, 0.3};
    for (auto& p : problem.p_desired) p = problem.p;
    for (std::size_t k = 0; k < problem.feet.size(); ++k) {
      problem.feet[k] = {k % 4 < 2 ? 0.2 : -0.2, k % 2 == 0 ? 0.15 : -0.15, 0};
    }
    return problem;
  }
};

TEST_F(SingleBodyMpcTest, AtRestTheFeetShareTheWeightEqually) {
  const MpcOptions options;
  SingleBodyMpc mpc(4, 12, {0, 0, -9.81}, options);
  ASSERT_EQ(mpc.solve(standing(options)), Status::ok);
  for (const auto& f : mpc.forces()) {
    EXPECT_LT((f - Vector3<double>(0, 0, 12 * 9.81 / 4)).norm(), 1e-3 * 12 * 9.81);
  }
  EXPECT_LT(mpc.acceleration().norm(), 0.01);
  EXPECT_LT(mpc.angular_acceleration().norm(), 0.1);
}

// An error in any coordinate causes an acceleration against it.
TEST_F(SingleBodyMpcTest, ErrorsAreCorrected) {
  const MpcOptions options;
  SingleBodyMpc mpc(4, 12, {0, 0, -9.81}, options);
  for (int axis = 0; axis < 3; ++axis) {
    for (const double sign : {-1.0, 1.0}) {
      MpcProblem problem = standing(options);
      problem.p[axis] += 0.02 * sign;
      for (auto& f : problem.feet) f[axis] += axis < 2 ? 0.02 * sign : 0;  // the feet move along
      ASSERT_EQ(mpc.solve(problem), Status::ok);
      EXPECT_LT(sign * mpc.acceleration()[axis], -0.05) << "position " << axis;
      problem = standing(options);
      problem.v[axis] = 0.2 * sign;
      ASSERT_EQ(mpc.solve(problem), Status::ok);
      EXPECT_LT(sign * mpc.acceleration()[axis], -0.05) << "velocity " << axis;
      problem = standing(options);
      problem.turn[axis] = 0.1 * sign;
      ASSERT_EQ(mpc.solve(problem), Status::ok);
      EXPECT_LT(sign * mpc.angular_acceleration()[axis], -0.05) << "turn " << axis;
    }
  }
}

TEST_F(SingleBodyMpcTest, ForcesStayInTheirFrictionPyramids) {
  MpcOptions options;
  SingleBodyMpc mpc(4, 12, {0, 0, -9.81}, options);
  MpcProblem problem = standing(options);
  problem.v = {2, 1, 0};  // more than friction can stop at once
  for (int k = 0; k < options.steps; ++k) {
    problem.stands[static_cast<std::size_t>(4 * k + 1)] = 0;
    problem.stands[static_cast<std::size_t>(4 * k + 2)] = 0;
  }
  ASSERT_EQ(mpc.solve(problem), Status::ok);
  EXPECT_EQ(mpc.variables(), 3 * 2 * options.steps);  // the smallest program
  EXPECT_EQ(mpc.forces()[1].norm(), 0);
  const double allowed = 10 * options.qp.tolerance * 12 * 9.81;
  for (const int foot : {0, 3}) {
    const Vector3<double>& f = mpc.forces()[static_cast<std::size_t>(foot)];
    EXPECT_GE(f.z(), -allowed);
    EXPECT_LE(f.head<2>().norm(), options.friction * f.z() + allowed);
  }
  EXPECT_THROW(SingleBodyMpc(0, 12, {0, 0, -9.81}), Error);
  EXPECT_THROW(SingleBodyMpc(4, 12, {0, 0, 0}), Error);
}

}  // namespace
}  // namespace limb
