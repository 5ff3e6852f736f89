// Contacts, tasks and coordinates of Robot: the results of the free functions, never those of a
// previous state.
#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/loops.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"

namespace limb {
namespace {

using testing::message;
using testing::Sample;
using Vector = VectorX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

const char* const kFeet[] = {"FL_foot", "FR_foot", "RL_foot", "RR_foot"};

Robot standing_quadruped() {
  Robot quadruped = Robot::load("builtin:quadruped", Base::free);
  for (const char* foot : kFeet) quadruped.add_contact(foot);
  return quadruped;
}

// At rest on four feet with the static torques: no acceleration, and the contact forces sum up to
// its weight.
TEST(RobotContacts, StandingQuadruped) {
  Robot quadruped = standing_quadruped();
  const int n = quadruped.model().nv();
  const ConstrainedTorques held = quadruped.constrained_inverse_dynamics(Vector::Zero(n));
  // Weight 9.81 m; sums of some tens of terms, condition number of the feet 1e2. Worst: 40 eps.
  const double weight = 9.81 * quadruped.model().total_mass();
  EXPECT_LT(held.report.residual, 1e3 * kEps * weight);
  EXPECT_EQ(held.f.size(), 12);
  EXPECT_NEAR(held.f[2] + held.f[5] + held.f[8] + held.f[11], weight, 1e3 * kEps * weight);
  EXPECT_EQ(held.tau.head(6), Vector::Zero(6));
  const ConstrainedMotion& motion = quadruped.constrained_forward_dynamics(held.tau);
  EXPECT_EQ(motion.report.rank, 12);
  // Through the inverse of the mass matrix, condition number 1e4.
  EXPECT_LT(motion.a.norm(), 1e7 * kEps);
  EXPECT_EQ(quadruped.underactuation().rank, 18);
  quadruped.clear_contacts();
  EXPECT_EQ(quadruped.underactuation().rank, 12);
  EXPECT_EQ(quadruped.constrained_forward_dynamics(held.tau).f.size(), 0);
  // In the air it falls: the mass centre with the acceleration of gravity.
  Robot falling = quadruped;
  falling.set_state(quadruped.q(), quadruped.v(),
                    quadruped.constrained_forward_dynamics(Vector::Zero(n)).a);
  EXPECT_NEAR(falling.center_of_mass_acceleration()[2], -9.81, 1e4 * kEps);
}

TEST(RobotContacts, ExternalWrenchesAreIncluded) {
  Robot quadruped = standing_quadruped();
  const int n = quadruped.model().nv();
  const Vector none = Vector::Zero(n);
  const Vector before = quadruped.constrained_inverse_dynamics(none).f;
  quadruped.set_external("trunk", {{0, 0, -100}, {0, 0, 0}});
  const Vector after = quadruped.constrained_inverse_dynamics(none).f;
  EXPECT_NEAR((after - before)(Eigen::seqN(2, 4, 3)).sum(), 100, 1e4 * kEps * 100);
}

TEST(RobotContacts, ImpactStopsTheFeet) {
  Robot quadruped = standing_quadruped();
  Vector v = Vector::Zero(quadruped.model().nv());
  v[2] = -1;
  v[7] = 0.4;
  quadruped.set_state(quadruped.q(), v);
  const double energy = quadruped.kinetic_energy();
  Robot after = quadruped;
  after.set_velocity(quadruped.impact().v);
  for (const char* foot : kFeet) {
    EXPECT_LT(after.velocity(foot, FrameAxes::local_world_aligned).v.norm(), 1e5 * kEps);
    EXPECT_GT(quadruped.velocity(foot, FrameAxes::local_world_aligned).v.norm(), 0.1);
  }
  EXPECT_LT(after.kinetic_energy(), energy);
  after.set_velocity(quadruped.impact(1).v);
  EXPECT_NEAR(after.kinetic_energy(), energy, 1e5 * kEps * energy);
  EXPECT_EQ(message([&] { quadruped.impact(2); }), "impact: restitution[0] is 2, expected 0 to 1");
}

TEST(RobotContacts, MatchesTheFreeFunctions) {
  for (const Sample& s : testing::samples(2)) {
    SCOPED_TRACE(s.name);
    Robot robot(s.model);
    robot.set_state(s.q, s.v, s.a);
    const int n = s.model.nv();
    const std::string tip = s.model.frames().back().name;
    const FrameId id = s.model.find_frame(tip);
    Kinematics<double> k(s.model);
    forward_kinematics(s.model, s.q, s.v, s.a, k);
    for (const FrameAxes axes :
         {FrameAxes::local, FrameAxes::local_world_aligned, FrameAxes::world}) {
      Matrix6X<double> dJ(6, n);
      frame_jacobian_rate(s.model, k, id, axes, dJ);
      EXPECT_EQ(robot.jacobian_rate(tip, axes), dJ);
      KinematicHessian<double> H(s.model);
      frame_hessian(s.model, k, id, axes, H);
      const KinematicHessian<double>& found = robot.hessian(tip, axes);
      for (int i = 0; i < n; ++i) EXPECT_EQ(found.along(i), H.along(i));

      Workspace<double> work(s.model);
      OperationalSpace<double> task(s.model, 6);
      Vector dJ_v = frame_jacobian_rate_times_v(s.model, k, id, axes).vector();
      EXPECT_TRUE(
          operational_space(s.model, work, s.q, s.v, robot.jacobian(tip, axes), dJ_v, task).ok());
      EXPECT_EQ(robot.operational_space(tip, axes).Lambda, task.Lambda);
      EXPECT_EQ(robot.operational_space(tip, axes).mu, task.mu);
    }
    Vector q(s.q.size()), v(n);
    integrate(s.model, s.q, s.v, q);
    EXPECT_EQ(robot.integrate(s.v), q);
    difference(s.model, s.q, q, v);
    EXPECT_EQ(robot.difference(q), v);
    if (has_floating_base(s.model)) {
      for (const BaseVelocityConvention convention :
           {BaseVelocityConvention::body, BaseVelocityConvention::mujoco,
            BaseVelocityConvention::world}) {
        EXPECT_EQ(robot.base_velocity(convention).vector(),
                  base_velocity(s.model, k, convention).vector());
        EXPECT_EQ(robot.base_acceleration(convention).vector(),
                  base_acceleration(s.model, k, convention).vector());
      }
    }
    BaseJointPartition<double> partition(s.model);
    base_joint_partition<double>(s.model, robot.mass_matrix(), robot.bias(), partition);
    EXPECT_EQ(robot.base_joint_partition().M_jj, partition.M_jj);
    EXPECT_EQ(robot.base_joint_partition().h_b, partition.h_b);
    MatrixX<double> S(motor_count(s.model), s.model.nv());
    selection_matrix(s.model, S);
    EXPECT_EQ(robot.selection_matrix(), S);
  }
}

// Compute at one state, change one thing, and compare with a new robot at the second state.
TEST(RobotContacts, NoResultOutlivesItsState) {
  const auto everything = [](const Robot& r) {
    const int n = r.model().nv();
    const Vector tau = Vector::Constant(n, 0.3);
    std::vector<double> x;
    const auto add = [&](const auto& m) { x.insert(x.end(), m.data(), m.data() + m.size()); };
    add(r.constrained_forward_dynamics(tau).a), add(r.constrained_forward_dynamics(tau).f);
    add(r.constrained_inverse_dynamics(tau).tau), add(r.impact(0.5).v);
    add(r.operational_space("trunk", FrameAxes::local).mu), add(r.base_joint_partition().h_b);
    add(r.jacobian_rate("FL_foot", FrameAxes::local));
    add(r.integrate(tau)), add(r.difference(r.q()));
    x.push_back(r.hessian("FL_foot", FrameAxes::world)(0, 7, 6));
    return x;
  };
  Robot used = standing_quadruped();
  Vector v = Vector::Constant(18, 0.2), q = used.integrate(v);
  everything(used);
  used.set_state(q, v);
  Robot fresh = standing_quadruped();
  fresh.set_state(q, v);
  EXPECT_EQ(everything(used), everything(fresh));
  used.clear_contacts();
  used.add_contact("RL_foot", ContactKind::surface, ContactAxes::contact);
  fresh = Robot::load("builtin:quadruped", Base::free);
  fresh.set_state(q, v);
  fresh.add_contact("RL_foot", ContactKind::surface, ContactAxes::contact);
  EXPECT_EQ(everything(used), everything(fresh));
  used.set_external("FL_foot", {{1, 2, 3}, {0, 0, 0}});
  const Robot copy = used;
  fresh.set_external("FL_foot", {{1, 2, 3}, {0, 0, 0}});
  EXPECT_EQ(everything(used), everything(fresh));
  used.set_velocity(2 * v);
  EXPECT_EQ(everything(copy), everything(fresh));
}

TEST(RobotContacts, DoesNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "allocations cannot be counted in this build";
  Robot quadruped = standing_quadruped();
  const Vector q = quadruped.q(), v = Vector::Constant(18, 0.1);
  quadruped.operational_space("FL_foot", FrameAxes::world);
  quadruped.hessian("FL_foot", FrameAxes::world);
  EXPECT_EQ(testing::allocations([&] {
              quadruped.set_state(q, v, v);
              quadruped.constrained_forward_dynamics(v), quadruped.constrained_inverse_dynamics(v);
              quadruped.impact(0.2), quadruped.base_joint_partition();
              quadruped.operational_space("FR_foot", FrameAxes::world);
              quadruped.hessian("FR_foot", FrameAxes::local);
              quadruped.jacobian_rate("FR_foot", FrameAxes::local);
              quadruped.integrate(v), quadruped.difference(q),
                  quadruped.base_velocity(BaseVelocityConvention::mujoco);
            }),
            0);
}

TEST(RobotContacts, InverseKinematicsReturnsToThePose) {
  Robot arm = Robot::load("builtin:arm7");
  Vector q = arm.q();
  for (int i = 0; i < 7; ++i) q[i] = 0.3 + 0.1 * i;
  arm.set_position(q);
  const std::string tip = arm.model().frames().back().name;
  const Pose<double> goal = arm.pose(tip);
  Robot start = arm;
  start.set_position(start.integrate(Vector::Constant(7, 0.2)));
  const IkSolution answer = start.inverse_kinematics(tip, goal);
  ASSERT_TRUE(answer.report.ok());
  start.set_position(answer.q);
  // The default tolerance of the goals.
  EXPECT_LT((start.pose(tip).p - goal.p).norm(), 1e-8);
}

TEST(RobotContacts, BadInput) {
  Robot quadruped = standing_quadruped();
  const Vector v = Vector::Zero(18);
  EXPECT_EQ(message([&] { quadruped.add_contact("FL_fot"); }),
            "Robot::add_contact: no frame is named 'FL_fot' (closest: 'FL_foot')");
  Vector bad = v;
  bad[4] = std::nan("");
  EXPECT_EQ(message([&] { quadruped.constrained_forward_dynamics(bad); }),
            "Robot::constrained_forward_dynamics: tau[4] is nan, expected a finite number");
  EXPECT_EQ(message([&] { quadruped.constrained_inverse_dynamics(bad); }),
            "Robot::constrained_inverse_dynamics: a[4] is nan, expected a finite number");
  EXPECT_EQ(message([&] { quadruped.integrate(bad); }),
            "Robot::integrate: v[4] is nan, expected a finite number");
  EXPECT_EQ(message([&] { quadruped.difference(v); }),
            "Robot::difference: q_other has 18 entries, expected 19 (a free joint needs 7 numbers "
            "in q but 6 in v)");
  // A contact of the world with itself is rejected; the contacts are unchanged.
  RobotBuilder<double> b("fixed");
  b.link("base").link("arm", 1.0, {0.2, 0, 0}, 0.01 * Matrix3<double>::Identity());
  b.joint("shoulder", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "arm");
  Robot fixed(b.build());
  fixed.add_contact("arm");
  EXPECT_THROW(fixed.add_contact("base"), Error);
  EXPECT_EQ(fixed.constrained_forward_dynamics(Vector::Zero(1)).f.size(), 3);
}

}  // namespace
}  // namespace limb
