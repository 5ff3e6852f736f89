#include "limb/control/locomotion/single_body_mpc.hpp"

#include <gtest/gtest.h>

#include "limb/base/error.hpp"
#include "limb/base/testing/worst.hpp"

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

// Without a solution the stance feet share the weight equally: vertical, inside any cone.
TEST_F(SingleBodyMpcTest, WithoutASolutionTheFeetShareTheWeight) {
  MpcOptions options;
  options.friction = 0.05;
  SingleBodyMpc mpc(4, 12, {0, 0, -9.81}, options);
  for (const int lifted : {0, 1, 2, 3}) {
    MpcProblem problem = standing(options);
    for (int i = 0; i < lifted; ++i) problem.stands[static_cast<std::size_t>(i)] = 0;
    problem.v.x() = std::nan("");
    EXPECT_NE(mpc.solve(problem), Status::ok);
    for (int i = 0; i < 4; ++i) {
      const Vector3<double> expected(0, 0, i < lifted ? 0 : 12 * 9.81 / (4 - lifted));
      EXPECT_LT((mpc.forces()[static_cast<std::size_t>(i)] - expected).norm(), 1e-13) << lifted;
    }
    EXPECT_LT(mpc.acceleration().norm(), 1e-14);
    EXPECT_EQ(mpc.angular_acceleration().norm(), 0);
  }
}

// Where no bound is active, the forces minimize the squared errors at the end of every step, with
// p' = v, v' = sum f / m + g, turn' = w, w' = I^-1 sum r x f integrated exactly, plus the squared
// deviation of u = f / weight from equal forces: a linear system.
TEST_F(SingleBodyMpcTest, HorizonIsLinearLeastSquares) {
  MpcOptions options;
  options.steps = 3;
  options.step = 0.08;
  options.qp.tolerance = 1e-9;
  const double mass = 12, h = options.step, weight = mass * 9.81;
  const Vector3<double> gravity(0, 0, -9.81);
  SingleBodyMpc mpc(4, mass, gravity, options);
  MpcProblem problem = standing(options);
  problem.inertia << 0.1, 0.01, -0.02, 0.01, 0.3, 0.015, -0.02, 0.015, 0.25;
  problem.p = {0.01, -0.005, 0.295};
  problem.v = {0.02, 0.03, -0.05};
  problem.w = {0.05, -0.04, 0.03};
  problem.w_desired = {0.01, 0.02, 0.06};
  problem.turn = {0.01, -0.02, 0.03};
  for (int k = 0; k < options.steps; ++k) {
    problem.p_desired[static_cast<std::size_t>(k)] = {0.02 + 0.01 * k, 0.01, 0.3 - 0.002 * k};
    problem.v_desired[static_cast<std::size_t>(k)] = {0.03, 0.01 * k, 0.02};
  }
  problem.stands[5] = 0;  // in the second step one foot is in the air
  ASSERT_EQ(mpc.solve(problem), Status::ok);

  // Each quantity as an affine function of u: columns of u, then the constant.
  const int n = 11 * 3;
  using Affine = Eigen::Matrix<double, 3, Eigen::Dynamic>;
  Affine p = Affine::Zero(3, n + 1), v = p, turn = p, w = p;
  p.col(n) = problem.p;
  v.col(n) = problem.v;
  turn.col(n) = problem.turn;
  w.col(n) = problem.w - problem.w_desired;
  MatrixX<double> H = options.force * MatrixX<double>::Identity(n, n);
  VectorX<double> g = VectorX<double>::Zero(n);
  const auto add = [&](const Vector3<double>& weights, const Affine& x,
                       const Vector3<double>& desired) {
    const auto J = x.leftCols(n);
    H += J.transpose() * weights.asDiagonal() * J;
    g += J.transpose() * weights.asDiagonal() * (x.col(n) - desired);
  };
  int column = 0;
  for (int k = 0; k < options.steps; ++k) {
    const auto step = static_cast<std::size_t>(k);
    Affine a = Affine::Zero(3, n + 1), dw = a;
    a.col(n) = gravity;
    const Vector3<double> center =
        problem.p + k * h * (problem.v + problem.v_desired[step]) / 2;  // as the controller
    const int standing = k == 1 ? 3 : 4;
    for (int i = 0; i < 4; ++i) {
      if (problem.stands[4 * step + static_cast<std::size_t>(i)] == 0) continue;
      const Vector3<double> r = problem.feet[4 * step + static_cast<std::size_t>(i)] - center;
      for (int axis = 0; axis < 3; ++axis, ++column) {
        a.col(column) = weight / mass * Vector3<double>::Unit(axis);
        dw.col(column) = weight * problem.inertia.inverse() * r.cross(Vector3<double>::Unit(axis));
        if (axis == 2) g[column] -= options.force / standing;
      }
    }
    p += h * v + h * h / 2 * a;
    v += h * a;
    turn += h * w + h * h / 2 * dw;
    w += h * dw;
    add(options.position, p, problem.p_desired[step]);
    add(options.velocity, v, problem.v_desired[step]);
    add(options.turn, turn, Vector3<double>::Zero());
    add(options.angular_velocity, w, Vector3<double>::Zero());
  }
  ASSERT_EQ(column, n);
  const VectorX<double> u = H.ldlt().solve(-g);
  for (int s = 0; s < n / 3; ++s) {
    ASSERT_LT(u.segment<2>(3 * s).cwiseAbs().maxCoeff<Eigen::PropagateNaN>(),
              0.6 * std::sqrt(0.5) * u[3 * s + 2]);
  }
  Worst worst;
  Vector3<double> a = gravity, dw = Vector3<double>::Zero();
  for (int i = 0; i < 4; ++i) {
    const Vector3<double> f = weight * u.segment<3>(3 * i);
    worst.add((mpc.forces()[static_cast<std::size_t>(i)] - f).norm() / weight);
    a += f / mass;
    dw += problem.inertia.inverse() *
          (problem.feet[static_cast<std::size_t>(i)] - problem.p).cross(f);
  }
  EXPECT_LT(worst.value(), 1e-7);  // the tolerance of the solver over the smallest curvature, 0.3
  EXPECT_LT((mpc.acceleration() - a).norm(), 1e-6);
  EXPECT_LT((mpc.angular_acceleration() - dw).norm(), 1e-5);
}

// More than friction allows: the forces are on the faces of the pyramid inside the cone, also for a
// friction of 0.05; and the bound on the normal force holds.
TEST_F(SingleBodyMpcTest, BoundsAreActiveWhereTheyLimit) {
  for (const double friction : {0.05, 0.6}) {
    MpcOptions options;
    options.friction = friction;
    SingleBodyMpc mpc(4, 12, {0, 0, -9.81}, options);
    MpcProblem problem = standing(options);
    problem.v = {3, 0, 0};
    ASSERT_EQ(mpc.solve(problem), Status::ok);
    double horizontal = 0, vertical = 0;
    for (const auto& f : mpc.forces()) {
      horizontal -= f.x();
      vertical += f.z();
      EXPECT_LE(std::abs(f.x()), friction * std::sqrt(0.5) * f.z() + 0.01);
    }
    EXPECT_NEAR(horizontal, friction * std::sqrt(0.5) * vertical, 0.05);
  }
  MpcOptions options;
  options.max_normal_force = 20;  // the weight is 118 N
  SingleBodyMpc mpc(4, 12, {0, 0, -9.81}, options);
  ASSERT_EQ(mpc.solve(standing(options)), Status::ok);
  for (const auto& f : mpc.forces()) EXPECT_NEAR(f.z(), 20, 0.01);
}

// A falling body on one foot below it needs more than twice the weight, the default bound.
TEST_F(SingleBodyMpcTest, NormalForceIsAtMostTwiceTheWeightByDefault) {
  MpcOptions options;
  SingleBodyMpc mpc(4, 12, {0, 0, -9.81}, options);
  EXPECT_DOUBLE_EQ(mpc.options().max_normal_force, 2 * 12 * 9.81);
  MpcProblem problem = standing(options);
  problem.p.head<2>() = problem.feet[0].head<2>();
  problem.v.z() = -20;
  for (std::size_t k = 0; k < problem.stands.size(); ++k) problem.stands[k] = k % 4 == 0;
  ASSERT_EQ(mpc.solve(problem), Status::ok);
  EXPECT_NEAR(mpc.forces()[0].z(), 2 * 12 * 9.81, 0.01);
}

}  // namespace
}  // namespace limb
