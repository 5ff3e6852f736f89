#include "limb/dynamics/robot/robot.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"

namespace limb {
namespace {

using testing::message;
using testing::Sample;
constexpr double kEps = std::numeric_limits<double>::epsilon();

Robot robot_of(const Sample& s) {
  Robot robot(s.model);
  robot.set_state(s.q, s.v, s.a);
  return robot;
}

template <typename A, typename B>
double relative_error(const A& found, const B& expected) {
  return (found - expected).norm() / std::max(1.0, double(expected.norm()));
}

// Robot calls the free functions: the results are bit-identical.
TEST(Robot, MatchesTheFreeFunctions) {
  for (const Sample& s : testing::samples(3)) {
    SCOPED_TRACE(s.name);
    const Robot robot = robot_of(s);
    const Eigen::Index n = s.model.nv();
    Kinematics<double> k(s.model);
    forward_kinematics(s.model, s.q, s.v, s.a, k);
    Workspace<double> work(s.model);
    SubtreeScratch<double> subtree(s.model);

    for (const Frame<double>& frame : s.model.frames()) {
      const FrameId id = s.model.find_frame(frame.name);
      EXPECT_EQ(robot.pose(frame.name).p, frame_pose(s.model, k, id).p);
      for (const FrameAxes axes :
           {FrameAxes::local, FrameAxes::local_world_aligned, FrameAxes::world}) {
        Matrix6X<double> J(6, n);
        frame_jacobian(s.model, k, id, axes, J);
        EXPECT_EQ(robot.jacobian(frame.name, axes), J);
        EXPECT_EQ(robot.velocity(frame.name, axes).vector(),
                  frame_velocity(s.model, k, id, axes).vector());
        EXPECT_EQ(robot.acceleration(frame.name, axes, AccelerationKind::classical).vector(),
                  frame_acceleration(s.model, k, id, axes, AccelerationKind::classical).vector());
        EXPECT_EQ(robot.jacobian_rate_times_v(frame.name, axes).vector(),
                  frame_jacobian_rate_times_v(s.model, k, id, axes).vector());
      }
    }

    MatrixX<double> M(n, n);
    crba(s.model, work, s.q, M);
    EXPECT_EQ(robot.mass_matrix(), M);
    VectorX<double> x(n);
    bias(s.model, work, s.q, s.v, x);
    EXPECT_EQ(robot.bias(), x);
    gravity(s.model, work, s.q, x);
    EXPECT_EQ(robot.gravity(), x);
    rnea(s.model, work, s.q, s.v, s.a, x);
    EXPECT_EQ(robot.inverse_dynamics(s.a), x);
    aba(s.model, work, s.q, s.v, s.tau, x);
    EXPECT_EQ(robot.forward_dynamics(s.tau), x);
    EXPECT_EQ(robot.center_of_mass(), center_of_mass(s.model, k));
    EXPECT_EQ(robot.center_of_mass_velocity(), center_of_mass_velocity(s.model, k));
    EXPECT_EQ(robot.center_of_mass_acceleration(), center_of_mass_acceleration(s.model, k));
    EXPECT_EQ(robot.kinetic_energy(), kinetic_energy(s.model, k));
    EXPECT_EQ(robot.potential_energy(), potential_energy(s.model, k));
    EXPECT_EQ(robot.centroidal_momentum().vector(), centroidal_momentum(s.model, k).vector());
    EXPECT_EQ(robot.centroidal_momentum_rate().vector(),
              centroidal_momentum_rate(s.model, k).vector());
  }
}

// Quantities against each other. Worst of 12 robots: 1.4e-13 (620 eps); random mass matrices are
// ill conditioned, so 16 times that.
TEST(Robot, QuantitiesAgreeWithEachOther) {
  const double tolerance = 1e4 * kEps;
  for (const Sample& s : testing::samples(3)) {
    SCOPED_TRACE(s.name);
    Robot robot = robot_of(s);
    const int n = s.model.nv();
    const MatrixX<double>& M = robot.mass_matrix();
    EXPECT_LT(relative_error(robot.mass_inverse() * M, MatrixX<double>::Identity(n, n)), tolerance);
    EXPECT_EQ(robot.mass_inverse(), robot.mass_inverse().transpose());
    EXPECT_LT(relative_error(robot.inverse_dynamics(), M * s.a + robot.bias()), tolerance);
    EXPECT_LT(relative_error(robot.forward_dynamics(robot.inverse_dynamics()), s.a), tolerance);

    // Velocity-dependent torques by four formulas; damping is part of bias() but not of C.
    const Robot rigid = [&] {
      Robot r(s.model, JointEffects::none());
      r.set_state(s.q, s.v);
      return r;
    }();
    const VectorX<double> Cv = rigid.bias() - rigid.gravity();
    EXPECT_LT(relative_error(robot.coriolis_matrix() * s.v, Cv), tolerance);
    VectorX<double> pairs(n * (n - 1) / 2), from_tensor = VectorX<double>::Zero(n);
    velocity_products<double>(s.v, pairs);
    const VelocitySplit& split = robot.centrifugal_coriolis_split();
    EXPECT_LT(relative_error(split.squares * s.v.cwiseAbs2() + split.products * pairs, Cv),
              tolerance);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int m = 0; m < n; ++m) {
          from_tensor[i] += robot.christoffel()(i, j, m) * s.v[j] * s.v[m];
        }
      }
    }
    EXPECT_LT(relative_error(from_tensor, Cv), tolerance);

    EXPECT_LT(
        relative_error(robot.center_of_mass_jacobian() * s.v, robot.center_of_mass_velocity()),
        tolerance);
    EXPECT_LT(relative_error(robot.centroidal_matrix() * s.v, robot.centroidal_momentum().vector()),
              tolerance);
    EXPECT_LT(relative_error(robot.centroidal_matrix() * s.a + robot.centroidal_matrix_rate() * s.v,
                             robot.centroidal_momentum_rate().vector()),
              tolerance);

    // A wrench on a frame: tau changes by -J^T F, and the torque budget shows it.
    const std::string frame = s.model.frames().back().name;
    const Force<double> F{{1, -2, 3}, {0.5, 0.25, -1}};
    const VectorX<double> without = robot.inverse_dynamics();
    robot.set_external(frame, F);
    const VectorX<double> push = robot.jacobian(frame, FrameAxes::local).transpose() * F.vector();
    EXPECT_LT(relative_error(robot.inverse_dynamics(), without - push), tolerance);
    EXPECT_LT(relative_error(robot.torque_budget().external, -push), tolerance);
    EXPECT_LT(relative_error(robot.torque_budget().tau, robot.inverse_dynamics()), tolerance);
    EXPECT_LT(relative_error(robot.forward_dynamics(robot.inverse_dynamics()), s.a), tolerance);
    robot.clear_external();
    EXPECT_EQ(robot.inverse_dynamics(), without);
  }
}

TEST(Robot, ComputesEachQuantityOncePerState) {
  Robot robot = Robot::load("builtin:quadruped", Base::free);
  const int n = robot.model().nv();
  const VectorX<double> v = VectorX<double>::Constant(n, 0.1);
  robot.set_state(robot.q(), v);
  const auto ask = [&] {
    robot.mass_matrix(), robot.bias(), robot.gravity(), robot.inverse_dynamics();
    robot.jacobian("FL_foot", FrameAxes::local), robot.pose("FL_foot");
    robot.velocity("FR_foot", FrameAxes::world), robot.center_of_mass();
    robot.coriolis_matrix(), robot.forward_dynamics(v), robot.inverse_dynamics(v);
  };
  ask();
  // Nine cached quantities, and two passes of forward kinematics: positions and velocities.
  EXPECT_EQ(robot.evaluations(), 11);
  const double* before = robot.mass_matrix().data();
  ask();
  EXPECT_EQ(robot.evaluations(), 11);

  robot.set_state(robot.q(), v);
  EXPECT_EQ(robot.evaluations(), 11);  // nothing is computed before it is requested
  ask();
  EXPECT_EQ(robot.evaluations(), 22);
  EXPECT_EQ(robot.mass_matrix().data(), before);

  // Kept, since they do not depend on v: mass matrix, gravity, Jacobian, mass centre, positions.
  robot.set_velocity(2 * v);
  ask();
  EXPECT_EQ(robot.evaluations(), 28);
  // Only torques depend on accelerations and wrenches here.
  robot.set_acceleration(v);
  ask();
  EXPECT_EQ(robot.evaluations(), 31);
  robot.set_external("FL_foot", {{0, 0, 10}, {0, 0, 0}});
  ask();
  EXPECT_EQ(robot.evaluations(), 34);
  // A new argument requires a new evaluation.
  robot.forward_dynamics(3 * v);
  EXPECT_EQ(robot.evaluations(), 35);
}

TEST(Robot, NoResultOutlivesItsState) {
  const auto all = testing::samples(2);
  for (const Sample& s : all) {
    SCOPED_TRACE(s.name);
    Robot used = robot_of(s);
    // Compute everything at one state, move, and compare with a new robot at the second state.
    const auto everything = [&](const Robot& r) {
      const std::string frame = s.model.frames().back().name;
      std::vector<double> x;
      const auto add = [&](const auto& m) { x.insert(x.end(), m.data(), m.data() + m.size()); };
      add(r.mass_matrix()), add(r.mass_inverse()), add(r.bias()), add(r.gravity());
      add(r.inverse_dynamics()), add(r.inverse_dynamics(s.tau)), add(r.forward_dynamics(s.tau));
      add(r.coriolis_matrix()), add(r.centrifugal_coriolis_split().products);
      add(r.torque_budget().tau), add(r.center_of_mass()), add(r.center_of_mass_velocity());
      add(r.center_of_mass_acceleration()), add(r.center_of_mass_jacobian());
      add(r.centroidal_momentum().vector()), add(r.centroidal_momentum_rate().vector());
      add(r.centroidal_matrix()), add(r.centroidal_matrix_rate()), add(r.pose(frame).p);
      add(r.velocity(frame, FrameAxes::world).vector());
      add(r.acceleration(frame, FrameAxes::world, AccelerationKind::spatial).vector());
      add(r.jacobian(frame, FrameAxes::local));
      x.insert(x.end(), {r.kinetic_energy(), r.potential_energy(), r.christoffel()(0, 0, 0)});
      return x;
    };
    everything(used);
    const VectorX<double> q = testing::integrate_configuration<double>(s.model, s.q, s.tau);
    used.set_state(q, s.a, s.v);
    Robot fresh(s.model);
    fresh.set_state(q, s.a, s.v);
    EXPECT_EQ(everything(used), everything(fresh));
    used.set_velocity(s.tau);
    fresh.set_state(q, s.tau);
    EXPECT_EQ(everything(used), everything(fresh));
    used.set_acceleration(s.v);
    fresh.set_state(q, s.tau, s.v);
    EXPECT_EQ(everything(used), everything(fresh));
    const Robot copy = used;
    used.set_position(s.q);
    EXPECT_EQ(everything(copy), everything(fresh));
    EXPECT_EQ(used.v().norm() + used.a().norm(), 0);
  }
}

// Both names of a function give the same result, for free functions and for Robot.
TEST(Robot, AliasesGiveTheSameResults) {
  for (const Sample& s : testing::samples(2)) {
    const Eigen::Index n = s.v.size();
    Workspace<double> work(s.model);
    VectorX<double> x(n), y(n);
    MatrixX<double> M(n, n), W(n, n);
    const FrameWrench<double> push{FrameId(static_cast<int>(s.model.frames().size()) - 1),
                                   {{1, 2, 3}, {4, 5, 6}}};
    rnea(s.model, work, s.q, s.v, s.a, x);
    inverse_dynamics(s.model, work, s.q, s.v, s.a, y);
    EXPECT_EQ(x, y);
    rnea(s.model, work, s.q, s.v, s.a, std::span(&push, 1), x);
    inverse_dynamics(s.model, work, s.q, s.v, s.a, std::span(&push, 1), y);
    EXPECT_EQ(x, y);
    aba(s.model, work, s.q, s.v, s.tau, x);
    EXPECT_TRUE(forward_dynamics(s.model, work, s.q, s.v, s.tau, y).ok());
    EXPECT_EQ(x, y);
    crba(s.model, work, s.q, M);
    mass_matrix(s.model, work, s.q, W);
    EXPECT_EQ(M, W);

    DerivativeWorkspace<double> derivative_work(s.model);
    MatrixX<double> A[3] = {M, M, M}, B[3] = {M, M, M};
    rnea_derivatives(s.model, derivative_work, s.q, s.v, s.a, A[0], A[1], A[2]);
    inverse_dynamics_derivatives(s.model, derivative_work, s.q, s.v, s.a, B[0], B[1], B[2]);
    for (int k = 0; k < 3; ++k) EXPECT_EQ(A[k], B[k]);
    aba_derivatives(s.model, derivative_work, s.q, s.v, s.tau, x, A[0], A[1], A[2]);
    forward_dynamics_derivatives(s.model, derivative_work, s.q, s.v, s.tau, y, B[0], B[1], B[2]);
    EXPECT_EQ(x, y);
    for (int k = 0; k < 3; ++k) EXPECT_EQ(A[k], B[k]);

    const Robot robot = robot_of(s);
    EXPECT_EQ(robot.rnea(), robot.inverse_dynamics());
    EXPECT_EQ(robot.rnea(s.v), robot.inverse_dynamics(s.v));
    EXPECT_EQ(robot.aba(s.tau), robot.forward_dynamics(s.tau));
    EXPECT_EQ(&robot.crba(), &robot.mass_matrix());
    EXPECT_EQ(&robot.rnea_derivatives(), &robot.inverse_dynamics_derivatives());
    EXPECT_EQ(&robot.aba_derivatives(s.tau), &robot.forward_dynamics_derivatives(s.tau));
  }
}

TEST(Robot, DoesNotAllocateAfterConstruction) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "allocations cannot be counted in this build";
  EXPECT_GT(testing::allocations([] { MatrixX<double>(3, 3).setZero(); }), 0);  // counting works
  Robot robot = Robot::load("builtin:humanoid", Base::free);
  const int n = robot.model().nv();
  const VectorX<double> q = robot.q(), v = VectorX<double>::Constant(n, 0.1), tau = 2 * v;
  const std::string left = "left_hip_pitch_link";  // too long for the small-string optimization
  const long count = testing::allocations([&] {
    robot.set_state(q, v, v);
    robot.set_external(left, {{0, 0, 1}, {0, 0, 0}});
    robot.pose(left), robot.velocity(left, FrameAxes::world);
    robot.acceleration(left, FrameAxes::local, AccelerationKind::classical);
    robot.jacobian(left, FrameAxes::local), robot.jacobian(left, FrameAxes::world);
    robot.jacobian_rate_times_v(left, FrameAxes::local_world_aligned);
    robot.mass_matrix(), robot.mass_inverse(), robot.bias(), robot.gravity();
    robot.inverse_dynamics(), robot.inverse_dynamics(v), robot.forward_dynamics(tau);
    robot.coriolis_matrix(), robot.torque_budget(), robot.kinetic_energy();
    robot.potential_energy(), robot.center_of_mass(), robot.center_of_mass_velocity();
    robot.center_of_mass_acceleration(), robot.center_of_mass_jacobian();
    robot.centroidal_momentum(), robot.centroidal_momentum_rate(), robot.centroidal_matrix();
    robot.centroidal_matrix_rate(), robot.position_index("left_knee");
  });
  EXPECT_EQ(count, 0);
  robot.christoffel(), robot.centrifugal_coriolis_split();  // allocate on first use
  EXPECT_EQ(testing::allocations([&] {
              robot.set_position(q);
              robot.christoffel(), robot.centrifugal_coriolis_split();
            }),
            0);
}

TEST(Robot, RefusesInvalidStates) {
  Robot robot = Robot::load("builtin:quadruped", Base::free);
  const VectorX<double> q = robot.q(), v = VectorX<double>::Zero(robot.model().nv());
  VectorX<double> bad = q;
  bad[3] = std::nan("");
  EXPECT_EQ(message([&] { robot.set_state(bad, v); }),
            "Robot::set_state: q[3] is nan, expected a finite number");
  VectorX<double> fast = v;
  fast[7] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message([&] { robot.set_state(q, fast); }),
            "Robot::set_state: v[7] is inf, expected a finite number");
  EXPECT_EQ(message([&] { robot.set_state(q, v, fast); }),
            "Robot::set_state: a[7] is inf, expected a finite number");
  EXPECT_EQ(message([&] { robot.forward_dynamics(fast); }),
            "Robot::forward_dynamics: tau[7] is inf, expected a finite number");
  EXPECT_EQ(message([&] { robot.set_position(v); }),
            "Robot::set_position: q has 18 entries, expected 19 (a free joint needs 7 numbers in q "
            "but 6 in v)");
  bad = q;
  bad.segment<4>(3) *= 2;
  EXPECT_EQ(message([&] { robot.set_position(bad); }),
            "Robot::set_position: norm of the quaternion q[3] to q[6] of joint 'base' is 2, "
            "expected 1 within 1e-06 (normalize(model, q) makes it unit)");
  EXPECT_EQ(message([&] {
              robot.set_external("FL_foot", {{0, std::nan(""), 0}, {0, 0, 0}});
            }),
            "Robot::set_external: f[1] is nan, expected a finite number");
  // A rejected state changes nothing.
  EXPECT_EQ(robot.q(), q);
  EXPECT_EQ(robot.evaluations(), 0);
}

TEST(Robot, NearlyUnitQuaternionsAreNormalized) {
  Robot robot = Robot::load("builtin:quadruped", Base::free);
  VectorX<double> q = robot.q();
  q.segment<4>(3) = Vector4<double>(0.1, 0.2, 0.3, 0.9).normalized();
  const Vector4<double> exact = q.segment<4>(3);
  robot.set_position(q);
  EXPECT_EQ(robot.q(), q);
  q.segment<4>(3) *= 1 + 0.9 * kQuaternionTolerance;
  robot.set_position(q);
  // One division: each number to 2 eps.
  EXPECT_LT((robot.q().segment<4>(3) - exact).norm(), 2 * kEps);
  q.segment<4>(3) = exact * (1 + 1.1 * kQuaternionTolerance);
  EXPECT_THROW(robot.set_position(q), Error);
}

TEST(Robot, WrongNamesGiveTheNearest) {
  Robot robot = Robot::load("builtin:quadruped", Base::free);
  EXPECT_EQ(message([&] { robot.pose("FL_fot"); }),
            "Robot::pose: no frame is named 'FL_fot' (closest: 'FL_foot')");
  EXPECT_EQ(message([&] { robot.jacobian("nothing_like_it", FrameAxes::local); }),
            "Robot::jacobian: no frame is named 'nothing_like_it'");
  EXPECT_EQ(message([&] { robot.set_external("FL_fot", {}); }),
            "Robot::set_external: no frame is named 'FL_fot' (closest: 'FL_foot')");
  EXPECT_EQ(message([&] { robot.velocity_index("FL_kne"); }),
            "Robot::velocity_index: no joint is named 'FL_kne' (closest: 'FL_knee')");
  EXPECT_EQ(robot.position_index("FL_knee"), 9);
  EXPECT_EQ(robot.velocity_index("FL_knee"), 8);
  const Robot leg = Robot::load("builtin:belt-leg");
  EXPECT_EQ(leg.velocity_index("motor"), 1);
  EXPECT_EQ(message([&] { leg.position_index("knee"); }),
            "Robot::position_index: joint 'knee' follows others and has no coordinate of its own");
}

TEST(Robot, ASingularMassMatrixNamesTheJoint) {
  RobotBuilder<double> b("massless");
  b.link("base").link("arm", 1.0, {0.2, 0, 0}, 0.01 * Matrix3<double>::Identity()).link("tip");
  b.joint("shoulder", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "arm");
  b.joint("wrist", Joint<double>::revolute(Vector3<double>::UnitX()), "arm", "tip");
  Robot robot(b.build());
  const std::string why =
      "the mass matrix is singular: no inertia opposes joint 'wrist', velocity 1 [computation "
      "failed]";
  EXPECT_EQ(message([&] { robot.forward_dynamics(Eigen::Vector2d(1, 1)); }),
            "Robot::forward_dynamics: " + why);
  EXPECT_EQ(message([&] { robot.mass_inverse(); }), "Robot::mass_inverse: " + why);
  // Two coaxial joints with a massless link between them: no inertia opposes the inner one.
  RobotBuilder<double> coaxial("coaxial");
  coaxial.link("base").link("ring").link("arm", 1.0, {0.2, 0, 0}, Matrix3<double>::Identity());
  coaxial.joint("first", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "ring");
  coaxial.joint("second", Joint<double>::revolute(Vector3<double>::UnitZ()), "ring", "arm");
  const Robot ring(coaxial.build());
  const std::string first =
      "the mass matrix is singular: no inertia opposes joint 'first', velocity 0 [computation "
      "failed]";
  EXPECT_EQ(message([&] { ring.mass_inverse(); }), "Robot::mass_inverse: " + first);
  EXPECT_EQ(message([&] { ring.forward_dynamics(Eigen::Vector2d(1, 1)); }),
            "Robot::forward_dynamics: " + first);
  // A failed computation is not cached: it fails again.
  EXPECT_THROW(robot.forward_dynamics(Eigen::Vector2d(1, 1)), Error);
  EXPECT_THROW(robot.mass_inverse(), Error);
}

// Arguments may alias the stored state.
TEST(Robot, TakesItsOwnState) {
  const Sample s = testing::samples(1)[1];
  Robot robot = robot_of(s);
  robot.set_state(robot.q(), robot.v(), robot.a());
  EXPECT_EQ(robot.v(), s.v);
  EXPECT_EQ(robot.a(), s.a);
  robot.set_state(robot.q(), robot.a());
  EXPECT_EQ(robot.v(), s.a);
  EXPECT_EQ(robot.a().norm(), 0);
}

}  // namespace
}  // namespace limb
