// The Delassus matrix against dense algebra, on random trees of all joint types with couplings and
// loops; contact, joints and loops of one robot in one problem.
#include "limb/sim/contact/delassus_matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "limb/dynamics/constraints/constrained_dynamics.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/testing/loops.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

TEST(DelassusMatrix, AgreesWithDenseAlgebra) {
  for (const testing::Sample& sample : testing::samples_with_loops(6)) {
    for (const bool loops : {false, true}) {
      SCOPED_TRACE(sample.name + (loops ? ", loops" : ""));
      Model<double> model = sample.model;
      if (!loops) {
        Description<double> d = testing::random_tree_with_loops(
            static_cast<unsigned>(sample.name[5] - '0'), sample.name.size() > 6);
        testing::remove_loops(d);
        model = build_model(d, Base::free);
      }
      const int n = model.nv();
      testing::Random random(7);
      DelassusMatrix rows(model);
      rows.update_kinematics(model, sample.q);
      Kinematics<double> kinematics(model);
      forward_kinematics(model, sample.q, kinematics);
      Matrix J(10, n);
      J.setZero();
      for (int i = 0; i < 3; ++i) {
        const int a = 3 + 4 * i, b = i == 0 ? 0 : a - 2;
        const Matrix3<double> axes = random.rotation<double>();
        const Vector3<double> p = random.vector<double>(0.5);
        rows.add_point(a, b, p, axes);
        for (const int body : {a, b}) {
          if (body == 0) continue;
          Matrix6X<double> part(6, n);
          const Pose<double> X_WP{Matrix3<double>::Identity(), p};
          const Pose<double> X_BP =
              kinematics.X_WB[static_cast<std::size_t>(body)].inverse() * X_WP;
          frame_jacobian<double>(model, kinematics, AnyFrame<double>(BodyId(body), X_BP),
                                 FrameAxes::local_world_aligned, part);
          J.middleRows(3 * i, 3) += (body == a ? 1 : -1) * axes.transpose() * part.topRows(3);
        }
      }
      const int joint = model.bodies()[5].v_start;
      rows.add_joint(model, joint);
      for (int k = 0; k < n; ++k) {
        const Vector unit = Vector::Unit(n, k);
        Vector joints(model.uncoupled_nv());
        model.coupling().expand_velocity(unit.data(), joints.data());
        J(9, k) = joints[joint];
      }
      Matrix A = Matrix::Zero(10, 10);
      ASSERT_TRUE(rows.compute(model, A).ok());

      Workspace<double> work(model, Loops::open);
      Matrix M(n, n);
      crba<double>(model, work, sample.q, M);
      const Matrix W = M.inverse();
      // P projects velocities onto those that keep the loops closed.
      Matrix P = Matrix::Identity(n, n);
      if (loops) {
        ConstraintSet<double> set(model, {}, all_loops(model));
        ConstraintWorkspace<double> scratch(model, set);
        Matrix L(set.rows(), n);
        Vector drift(set.rows());
        constraint_jacobian<double>(model, set, scratch, sample.q, sample.v, L, drift);
        const Matrix inverse =
            (L * W * L.transpose()).completeOrthogonalDecomposition().pseudoInverse();
        P -= W * L.transpose() * inverse * L;
      }
      const Matrix expected = J * P * W * J.transpose();
      // The condition numbers of M (1e4 here) and of the loops multiply.
      const double tolerance = 1e-9 * expected.norm();
      EXPECT_LT((A - expected).norm(), tolerance);
      Vector u(10), v = sample.v;
      rows.row_velocities(v, u);
      EXPECT_LT((u - J * P * v).norm(), 1e-9 * (1 + u.norm()));
      const Vector p = testing::random_numbers(random, 10);
      rows.apply_impulses(p, v);
      EXPECT_LT((v - P * (sample.v + W * J.transpose() * p)).norm(), 1e-9 * (1 + v.norm()));
      Vector moved(n);
      rows.displacement(p, moved);
      EXPECT_LT((moved - P * W * J.transpose() * p).norm(), 1e-9 * (1 + moved.norm()));
    }
  }
}

/// Points on the ground, each moved by one chain of velocities, up to nine of them and with two
/// points of one body.
TEST(DelassusMatrix, PointsOnTheGroundAgreeWithDenseAlgebra) {
  for (const testing::Sample& sample : testing::samples(4)) {
    SCOPED_TRACE(sample.name);
    const Model<double>& model = sample.model;
    const int n = model.nv();
    Workspace<double> work(model, Loops::open);
    Matrix M(n, n);
    crba<double>(model, work, sample.q, M);
    Kinematics<double> kinematics(model);
    forward_kinematics(model, sample.q, kinematics);
    DelassusMatrix rows(model);
    for (const int points : {1, 2, 4, 9}) {
      testing::Random random(11);
      rows.update_kinematics(model, sample.q);
      Matrix J(3 * points, n);
      for (int i = 0; i < points; ++i) {
        const int body = 1 + (5 * (i / 2)) % (model.body_count() - 1);
        const Matrix3<double> axes = random.rotation<double>();
        const Vector3<double> p = random.vector<double>(0.5);
        const bool second = i == 3;  // of the pair: the velocity of the ground relative to the body
        rows.add_point(second ? 0 : body, second ? body : 0, p, axes);
        Matrix6X<double> part(6, n);
        const Pose<double> X_WP{Matrix3<double>::Identity(), p};
        const Pose<double> X_BP = kinematics.X_WB[static_cast<std::size_t>(body)].inverse() * X_WP;
        frame_jacobian<double>(model, kinematics, AnyFrame<double>(BodyId(body), X_BP),
                               FrameAxes::local_world_aligned, part);
        J.middleRows(3 * i, 3) = (second ? -1 : 1) * axes.transpose() * part.topRows(3);
      }
      Matrix A = Matrix::Zero(3 * points, 3 * points);
      ASSERT_TRUE(rows.compute(model, A).ok());
      const Matrix expected = J * M.ldlt().solve(J.transpose());
      EXPECT_LT((A - expected).norm(), 1e-9 * expected.norm());  // condition number of M: 1e4
      Vector u(3 * points), w(3 * points);
      rows.row_velocities(sample.v, u, sample.a, w);
      EXPECT_LT((u - J * sample.v).norm(), 1e-12 * (1 + u.norm()));
      EXPECT_LT((w - J * sample.a).norm(), 1e-12 * (1 + w.norm()));
    }
  }
}

/// A cheap bound of speeds is not below the bounds of the single bodies.
TEST(DelassusMatrix, BoundOfAllSpeedsIsNotBelowThoseOfBodies) {
  for (const testing::Sample& sample : testing::samples(4)) {
    SCOPED_TRACE(sample.name);
    DelassusMatrix rows(sample.model);
    rows.update_kinematics(sample.model, sample.q);
    const auto speeds = rows.speed_bounds(sample.model, sample.v);
    constexpr double kRadius = 0.3;
    for (int body = 1; body < sample.model.body_count(); ++body) {
      const auto& speed = speeds[static_cast<std::size_t>(body)];
      const double bound = rows.speed_bound(sample.model, sample.v, rows.reach(body) + kRadius);
      EXPECT_GE(bound * (1 + 1e-12), speed.linear + speed.angular * kRadius);
    }
  }
}

/// Inner speeds are those of the joints alone: of the robot with its free base at rest.
TEST(DelassusMatrix, InnerSpeedsLeaveOutTheFreeBase) {
  int bases = 0;
  for (const testing::Sample& sample : testing::samples(4)) {
    SCOPED_TRACE(sample.name);
    if (sample.model.body(BodyId(1)).joint.type() != JointType::free) continue;
    ++bases;
    DelassusMatrix rows(sample.model);
    rows.update_kinematics(sample.model, sample.q);
    const auto moving = rows.speed_bounds(sample.model, sample.v);
    Vector v = sample.v;
    v.head(6).setZero();
    const auto resting = rows.speed_bounds(sample.model, v);
    for (std::size_t body = 1; body < moving.size(); ++body) {
      EXPECT_NEAR(moving[body].inner_linear, resting[body].linear, 1e-12);
      EXPECT_NEAR(moving[body].inner_angular, resting[body].angular, 1e-12);
    }
  }
  EXPECT_GT(bases, 0);
}

/// A parallelogram of rods that rests on a plane with its coupler: hinge friction, a stop, a loop
/// and contacts together.
TEST(ContactProblem, IncludesLoopsStopsAndJointFriction) {
  RobotBuilder<double> robot("lift");
  const Matrix3<double> I = 0.01 * Matrix3<double>::Identity();
  robot.link("left", 1, {0.5, 0, 0}, I).link("coupler", 2, {0.4, 0, 0}, I);
  robot.link("right", 1.5, {0.5, 0, 0}, I);
  const auto hinge = Joint<double>::revolute({0, 1, 0});
  const Matrix3<double> E = Matrix3<double>::Identity();
  robot.joint("a", hinge, "world", "left").drive(0, 0.2, 0);
  DofLimits<double> stop;
  stop.upper = 0.5;
  robot.limits({stop});
  robot.joint("b", hinge, "left", "coupler", {E, {1, 0, 0}});
  robot.joint("c", hinge, "world", "right", {E, {0.8, 0, 0}}).drive(0, 0.1, 0);
  LoopDescription<double> loop;
  loop.name = "pin";
  loop.link_a = "coupler";
  loop.link_b = "right";
  loop.X_AL.p = {0.8, 0, 0};
  loop.X_BL.p = {1, 0, 0};
  robot.loop(loop);
  for (const bool with_ground : {true, false}) {
    World world(robot.build(),
                {.friction = WorldOptions::Friction::exact, .stops = WorldOptions::Stops::hard});
    ContactSetup setup;
    // Rotation about y by +q lowers the tips: by sin(0.3); the stop is at 0.5.
    setup.ground = Ground::plane({0.5, 0}, with_ground ? -std::sin(0.3) - 0.02 : -5);
    ContactShape foot;
    foot.name = "coupler";
    foot.body = world.model().find_body("b");
    foot.kind = ContactShape::Kind::capsule;
    foot.X_BS = {axis_rotation(1, 1.5707963267948966), {0.4, 0, 0}};
    foot.size = {0.02, 0.8, 0};
    setup.shapes = {foot};
    world.set_contact(setup);
    Simulation simulation(world, {.step = 1e-3});
    simulation.set_state(0, Eigen::Vector3d(0, 0, 0), Vector::Zero(3));
    simulation.run_until(3);
    Kinematics<double> kinematics(world.model());
    forward_kinematics(world.model(), simulation.state().q, kinematics);
    EXPECT_LT(loop_error(world.model(), kinematics), 1e-11);
    EXPECT_LT(simulation.state().v.norm(), 1e-9);
    EXPECT_NEAR(simulation.state().q[0], with_ground ? 0.3 : 0.5, 3e-5);
    double sum = 0;
    for (const ContactPoint& c : world.contacts()->points()) sum += c.force_W[2];
    if (with_ground) {
      EXPECT_GT(sum, 1);  // it rests on the coupler
      EXPECT_LT(world.contacts()->report().residual, 1e-6);
    } else {
      EXPECT_EQ(sum, 0);  // it rests on the stop
    }
  }
}

}  // namespace
}  // namespace limb
