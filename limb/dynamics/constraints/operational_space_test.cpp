// Operational-space dynamics: the force computed for a task acceleration produces it, for any
// torque in the null space. Oracle: aba and constrained_forward_dynamics.
#include "limb/dynamics/constraints/operational_space.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
using testing::Sample;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Motion of the origin of a body (3 rows), or its whole motion (6), world axes.
struct Task {
  Matrix J;
  Vector dJ_v;
};
Task task_of(const Sample& s, int body, int rows) {
  Kinematics<double> k(s.model);
  forward_kinematics(s.model, s.q, s.v, k);
  Matrix6X<double> J(6, s.model.nv());
  const auto axes = FrameAxes::local_world_aligned;
  frame_jacobian(s.model, k, BodyId(body), axes, J);
  const Vector6<double> dJ_v = frame_jacobian_rate_times_v(s.model, k, BodyId(body), axes).vector();
  return {J.topRows(rows), dJ_v.head(rows)};
}

/// The body with the most joint velocities on its path, so that the task is regular.
int far_body(const Model<double>& model) {
  int best = 1, most = -1;
  for (int i = 1; i < model.body_count(); ++i) {
    int count = 0;
    for (int b = i; b > 0; b = model.body(BodyId(b)).parent.value()) {
      count += model.body(BodyId(b)).joint.nv();
    }
    if (count > most) {
      most = count;
      best = i;
    }
  }
  return best;
}

TEST(OperationalSpace, ForceProducesTheTaskAcceleration) {
  int regular = 0;
  Worst worst;
  for (const Sample& s : testing::samples(15)) {
    for (const int rows : {3, 6}) {
      SCOPED_TRACE(s.name + ", rows " + std::to_string(rows));
      const int n = s.model.nv();
      const Task task = task_of(s, far_body(s.model), rows);
      Workspace<double> work(s.model);
      OperationalSpace<double> out(s.model, rows);
      ASSERT_TRUE(operational_space(s.model, work, s.q, s.v, task.J, task.dJ_v, out).ok());
      if (out.damped > 0) continue;
      ++regular;
      const Matrix one = Matrix::Identity(rows, rows), N = out.N;
      // The condition number of J M^-1 J^T is at most 1 / threshold^2 = 1e6.
      const double tolerance = 1e6 * 16 * kEps;
      EXPECT_LT((task.J * out.J_bar - one).norm(), tolerance * rows);
      EXPECT_LT((task.J * N).norm(), tolerance * task.J.norm() * N.norm());
      EXPECT_LT((N * N - N).norm(), tolerance * N.norm() * N.norm());
      Matrix M(n, n);
      crba(s.model, work, s.q, M);
      const Matrix M_inverse = M.ldlt().solve(Matrix::Identity(n, n));
      EXPECT_LT((task.J * M_inverse * N.transpose()).norm(),
                tolerance * (task.J * M_inverse).norm() * N.norm());
      EXPECT_EQ(out.Lambda, Matrix(out.Lambda.transpose()));

      Vector target = s.a.head(rows), a(n);
      const Vector F = out.Lambda * target + out.mu + out.rho;
      const Vector tau = task.J.transpose() * F + N.transpose() * s.tau;
      EXPECT_TRUE(aba(s.model, work, s.q, s.v, tau, a).ok());
      worst.add((task.J * a + task.dJ_v - target).norm() / (1 + a.norm()));
    }
  }
  std::printf("worst %.1e over %d tasks\n", worst.value(), regular);
  EXPECT_LT(worst.value(), 1e6 * 16 * kEps);
  EXPECT_GT(regular, 80);
}

TEST(OperationalSpace, RespectsConstraints) {
  int regular = 0;
  Worst worst;
  for (const Sample& s : testing::samples(15)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv(), body = far_body(s.model);
    const Task task = task_of(s, body, 3);
    Contact<double> contact{BodyId(s.model.body_count() - 1 == body ? body - 1 : body + 1)};
    const ConstraintSet<double> set(s.model, {contact});
    ConstraintWorkspace<double> work(s.model, set);
    OperationalSpace<double> out(s.model, 3);
    ASSERT_TRUE(operational_space(s.model, set, work, s.q, s.v, task.J, task.dJ_v, out).ok());
    if (out.damped > 0) continue;
    const Vector target = s.a.head(3);
    const Vector tau =
        task.J.transpose() * (out.Lambda * target + out.mu + out.rho) + out.N.transpose() * s.tau;
    Vector a(n), f(3);
    const auto report = constrained_forward_dynamics(s.model, set, work, s.q, s.v, tau, a, f);
    if (report.rank < 3) continue;
    ++regular;
    worst.add((task.J * a + task.dJ_v - target).norm() / (1 + a.norm()));
  }
  std::printf("worst %.1e over %d tasks\n", worst.value(), regular);
  EXPECT_LT(worst.value(), 1e6 * 16 * kEps);
  EXPECT_GT(regular, 15);
}

// A point in contact cannot be a task: all three directions are singular, and results are finite.
TEST(OperationalSpace, TaskThatAContactHolds) {
  const Sample s = testing::sample_of("quadruped", load_model("builtin:quadruped"), 2);
  const Task task = task_of(s, 4, 3);
  const ConstraintSet<double> set(s.model, {{BodyId(4)}});
  ConstraintWorkspace<double> work(s.model, set);
  OperationalSpace<double> out(s.model, 3);
  operational_space(s.model, set, work, s.q, s.v, task.J, task.dJ_v, out);
  EXPECT_LT(out.largest_singular_value, 1e-6);
  EXPECT_TRUE(out.N.allFinite());
}

// A mass on three prismatic joints: Lambda = m 1, mu = 0, rho = m g upwards.
TEST(OperationalSpace, PointMass) {
  const double m = 2.5;
  RobotBuilder<double> builder("mass");
  builder.link("mass", m, {0, 0, 0}, Matrix3<double>::Identity());
  builder.joint("slides", Joint<double>::translation(), kWorldLink, "mass");
  const Sample s = testing::sample_of("mass", builder.build(), 1);
  const Task task = task_of(s, 1, 3);
  Workspace<double> work(s.model);
  OperationalSpace<double> out(s.model, 3);
  operational_space(s.model, work, s.q, s.v, task.J, task.dJ_v, out);
  EXPECT_LT((out.Lambda - m * Matrix::Identity(3, 3)).norm(), 16 * kEps * m);
  EXPECT_LT(out.mu.norm(), 16 * kEps * m);
  EXPECT_LT((out.rho - Vector3<double>(0, 0, m * 9.81)).norm(), 16 * kEps * m * 9.81);
  EXPECT_NEAR(out.smallest_singular_value, 1 / std::sqrt(m), 16 * kEps);
  EXPECT_EQ(out.damped, 0);
}

// A two-link arm approaches the stretched singularity: Lambda grows up to the threshold and then
// falls back to zero, without a jump.
TEST(OperationalSpace, IsDampedWhereTheArmIsStretched) {
  const Model<double> model = load_model("builtin:2r");
  Workspace<double> work(model);
  OperationalSpace<double> out(model, 2);
  double before = 0;
  Worst most;
  bool was_damped = false;
  int jumps = 0;
  for (double elbow = 0.2; elbow > 1e-7; elbow *= 0.99) {
    Kinematics<double> k(model);
    const Vector q = Eigen::Vector2d(0.3, elbow), v = Eigen::Vector2d(0.5, -0.2);
    forward_kinematics(model, q, v, k);
    Matrix6X<double> J(6, 2);
    const FrameId tip(static_cast<int>(model.frames().size()) - 1);
    frame_jacobian(model, k, tip, FrameAxes::local_world_aligned, J);
    // The two nonzero rows: the plane of the arm.
    Matrix J2(2, 2);
    int row = 0;
    for (int r = 0; r < 3 && row < 2; ++r) {
      if (J.row(r).norm() > 1e-3) J2.row(row++) = J.row(r);
    }
    ASSERT_EQ(row, 2);
    operational_space(model, work, q, v, J2, Eigen::Vector2d(0, 0), out);
    const double size = out.Lambda.norm();
    if (before > 0 && std::abs(size - before) > 0.05 * most.value()) ++jumps;
    before = size;
    most.add(size);
    EXPECT_EQ(out.damped, out.smallest_singular_value < out.threshold ? 1 : 0);
    EXPECT_TRUE(!was_damped || out.damped == 1);
    was_damped = out.damped == 1;
    EXPECT_LT(size, 1.1 / (out.threshold * out.threshold));
  }
  EXPECT_TRUE(was_damped);
  EXPECT_EQ(jumps, 0);
  EXPECT_LT(before, 1e-2 * most.value());  // almost no force along the arm any more
}

TEST(OperationalSpace, NamesTheArgumentOfTheWrongSize) {
  const Model<double> model = load_model("builtin:arm7");
  Workspace<double> work(model);
  OperationalSpace<double> out(model, 3);
  const Vector q = Vector::Zero(7);
  EXPECT_EQ(testing::message([&] {
              operational_space(model, work, q, q, Matrix::Zero(3, 6), Vector::Zero(3), out);
            }),
            "operational_space: J is 3 x 6, expected 3 x 7");
  EXPECT_EQ(testing::message([&] {
              operational_space(model, work, q, q, Matrix::Zero(3, 7), Vector::Zero(2), out);
            }),
            "operational_space: dJ_v has 2 entries, expected 3");
}

}  // namespace
}  // namespace limb
