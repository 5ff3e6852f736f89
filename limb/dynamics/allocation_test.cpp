// Functions for control loops do not allocate: a counting allocator checks each one on a humanoid
// with a floating base and on a robot with couplings.
#include <gtest/gtest.h>

#include "limb/dynamics/constraints/operational_space.hpp"
#include "limb/dynamics/derivatives/centroidal_derivatives.hpp"
#include "limb/dynamics/derivatives/frame_derivatives.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/identify/parameter_derivatives.hpp"
#include "limb/dynamics/identify/regressor.hpp"
#include "limb/dynamics/kinematics/base_velocity.hpp"
#include "limb/dynamics/kinematics/center_of_mass.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/lagrange/torque_budget.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

template <typename Call>
long count(const Call& call) {
  call();  // the first call may initialize static data
  return testing::allocations(call);
}

class Allocation : public ::testing::TestWithParam<const char*> {};

TEST(AllocationHook, Counts) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  EXPECT_GT(count([] { ::operator delete(::operator new(10)); }), 0);
  EXPECT_GT(count([] {
              VectorX<double> x(50);
              EXPECT_EQ(x.size(), 50);
            }),
            0);
}

TEST_P(Allocation, NoneInControlLoopFunctions) {
  const Model<double> model = load_model(GetParam());
  const int n = model.nv();
  VectorX<double> q(model.nq()), q2(q.size());
  neutral(model, q);
  const VectorX<double> v = VectorX<double>::Constant(n, 0.1), a = 2 * v, tau = 3 * v;
  VectorX<double> out(n);
  MatrixX<double> M(n, n), J_a(n, n), J_b(n, n);
  Matrix6X<double> J(6, n);
  Matrix3X<double> J3(3, n);
  Workspace<double> work(model);
  Kinematics<double> kinematics(model);
  SubtreeScratch<double> subtree(model);
  LagrangeScratch<double> lagrange(model);
  TorqueBudget<double> budget(model);
  TorqueBudgetScratch<double> budget_scratch(model);
  MassFactor<double> factor(model);
  const FrameId tip(static_cast<int>(model.frames().size()) - 1);
  const FrameWrench<double> wrench[] = {{tip, {{1, 2, 3}, {4, 5, 6}}}};
  const Vector3<double> point(0.1, 0, 0);
  constexpr FrameAxes kAxes = FrameAxes::local_world_aligned;

  EXPECT_EQ(count([&] { rnea(model, work, q, v, a, out); }), 0) << "rnea";
  EXPECT_EQ(count([&] { rnea(model, work, q, v, a, wrench, out); }), 0) << "rnea, external";
  EXPECT_EQ(count([&] { bias(model, work, q, v, out); }), 0) << "bias";
  EXPECT_EQ(count([&] { gravity(model, work, q, out); }), 0) << "gravity";
  EXPECT_EQ(count([&] { crba(model, work, q, M); }), 0) << "crba";
  EXPECT_EQ(count([&] { aba(model, work, q, v, tau, out); }), 0) << "aba";
  EXPECT_EQ(count([&] { aba(model, work, q, v, tau, wrench, out); }), 0) << "aba, external";
  EXPECT_EQ(count([&] { mass_inverse(model, work, q, factor, M); }), 0) << "mass_inverse";
  EXPECT_EQ(count([&] { solve_mass(factor, tau, out); }), 0) << "solve_mass";
  EXPECT_EQ(count([&] { forward_kinematics(model, q, v, a, kinematics); }), 0) << "kinematics";
  EXPECT_EQ(count([&] { frame_pose(model, kinematics, tip); }), 0) << "frame_pose";
  EXPECT_EQ(count([&] { frame_velocity(model, kinematics, tip, kAxes); }), 0) << "frame_velocity";
  EXPECT_EQ(count([&] {
              frame_acceleration(model, kinematics, tip, kAxes, AccelerationKind::classical);
            }),
            0)
      << "frame_acceleration";
  EXPECT_EQ(count([&] { frame_jacobian(model, kinematics, tip, kAxes, J); }), 0) << "jacobian";
  EXPECT_EQ(count([&] { frame_jacobian_rate(model, kinematics, tip, kAxes, J); }), 0) << "rate";
  EXPECT_EQ(count([&] { point_jacobian(model, kinematics, tip, point, J3); }), 0) << "point";
  EXPECT_EQ(count([&] { center_of_mass(model, kinematics); }), 0) << "center_of_mass";
  EXPECT_EQ(count([&] { center_of_mass_jacobian(model, kinematics, subtree, J3); }), 0) << "com J";
  EXPECT_EQ(count([&] { kinetic_energy(model, kinematics); }), 0) << "kinetic_energy";
  EXPECT_EQ(count([&] { potential_energy(model, kinematics); }), 0) << "potential_energy";
  EXPECT_EQ(count([&] { centroidal_momentum(model, kinematics); }), 0) << "centroidal_momentum";
  EXPECT_EQ(count([&] { centroidal_matrix(model, kinematics, subtree, J); }), 0) << "A_G";
  EXPECT_EQ(count([&] { centroidal_matrix_rate(model, kinematics, subtree, J); }), 0) << "dA_G";
  EXPECT_EQ(count([&] { coriolis_matrix(model, kinematics, lagrange, M); }), 0) << "coriolis";
  EXPECT_EQ(count([&] { torque_budget(model, kinematics, budget_scratch, wrench, budget); }), 0)
      << "torque_budget";
  EXPECT_EQ(count([&] { integrate(model, q, v, q2); }), 0) << "integrate";
  EXPECT_EQ(count([&] { difference(model, q, q2, out); }), 0) << "difference";
  EXPECT_EQ(count([&] { normalize(model, q2); }), 0) << "normalize";
  EXPECT_EQ(count([&] { integrate_jacobians(model, v, J_a, J_b); }), 0) << "integrate_jacobians";
}

TEST_P(Allocation, NoneUnderContacts) {
  const Model<double> model = load_model(GetParam());
  const int n = model.nv();
  VectorX<double> q(model.nq());
  neutral(model, q);
  const VectorX<double> v = VectorX<double>::Constant(n, 0.1), tau = 3 * v;
  const FrameId tip(static_cast<int>(model.frames().size()) - 1);
  const Contact<double> contact{tip};
  const ConstraintSet<double> set(model, {contact});
  ConstraintWorkspace<double> work(model, set);
  Workspace<double> plain(model);
  Kinematics<double> kinematics(model);
  VectorX<double> a(n), f(set.rows());
  const VectorX<double> restitution = VectorX<double>::Zero(1);
  Matrix6X<double> J(6, n);
  OperationalSpace<double> space(model, 6);
  const VectorX<double> drift = VectorX<double>::Zero(6);
  forward_kinematics(model, q, v, kinematics);
  frame_jacobian(model, kinematics, tip, FrameAxes::local, J);

  EXPECT_EQ(count([&] { constrained_forward_dynamics(model, set, work, q, v, tau, a, f); }), 0);
  EXPECT_EQ(count([&] { constrained_inverse_dynamics(model, set, work, q, v, tau, a, f); }), 0);
  EXPECT_EQ(count([&] { impact(model, set, work, q, v, restitution, a, f); }), 0);
  EXPECT_EQ(count([&] { operational_space(model, plain, q, v, J, drift, space); }), 0);
}

TEST_P(Allocation, NoneInDerivatives) {
  const Model<double> model = load_model(GetParam());
  const int n = model.nv();
  VectorX<double> q(model.nq());
  neutral(model, q);
  const VectorX<double> v = VectorX<double>::Constant(n, 0.1), tau = 3 * v;
  const FrameId tip(static_cast<int>(model.frames().size()) - 1);
  const FrameWrench<double> wrench[] = {{tip, {{1, 2, 3}, {4, 5, 6}}}};
  // Independent rows, then redundant ones.
  Contact<double> surface{tip};
  surface.kind = ContactKind::surface;
  surface.stabilization = {10, 3};
  ConstraintSet<double> set(model, {Contact<double>{tip}, surface});
  ConstrainedDerivativeWorkspace<double> work(model, set);
  ConstrainedDerivatives<double> constrained(model, set);
  ImpactDerivatives<double> hit(model, set);
  ParameterDerivativeWorkspace<double> parameters(model);
  Kinematics<double> kinematics(model);
  SubtreeScratch<double> subtree(model);
  VectorX<double> a(n);
  MatrixX<double> da(n, parameter_count(model));
  Matrix6X<double> x(6, n), y(6, n), z(6, n);
  Matrix3X<double> x3(3, n), y3(3, n), z3(3, n);
  const VectorX<double> restitution = VectorX<double>::Zero(1);
  constexpr auto kAxes = FrameAxes::world;
  constexpr auto kKind = AccelerationKind::classical;
  forward_kinematics(model, q, v, v, kinematics);

  EXPECT_EQ(count([&] { frame_velocity_derivatives(model, kinematics, tip, kAxes, x, y); }), 0);
  EXPECT_EQ(
      count([&] { frame_acceleration_derivatives(model, kinematics, tip, kAxes, kKind, x, y, z); }),
      0);
  EXPECT_EQ(count([&] { center_of_mass_velocity_derivatives(model, kinematics, subtree, x3, y3); }),
            0);
  EXPECT_EQ(count([&] {
              center_of_mass_acceleration_derivatives(model, kinematics, subtree, x3, y3, z3);
            }),
            0);
  EXPECT_EQ(count([&] { centroidal_momentum_derivatives(model, kinematics, subtree, x, y); }), 0);
  EXPECT_EQ(
      count([&] { centroidal_momentum_rate_derivatives(model, kinematics, subtree, x, y, z); }), 0);
  for (const bool redundant : {false, true}) {
    set.set_active(1, redundant);
    EXPECT_EQ(
        count([&] { constrained_derivatives(model, set, work, q, v, tau, wrench, constrained); }),
        0);
    EXPECT_EQ(count([&] { constrained_derivatives(model, set, work, q, v, tau, constrained); }), 0);
    EXPECT_EQ(count([&] { impact_derivatives(model, set, work, q, v, restitution, hit); }), 0);
  }
  EXPECT_EQ(count([&] { aba_parameter_derivatives(model, parameters, q, v, tau, wrench, a, da); }),
            0);
}

TEST_P(Allocation, NoneInRobot) {
  Robot robot = Robot::load(GetParam());
  const int n = robot.model().nv();
  const VectorX<double> q = robot.q(), v = VectorX<double>::Constant(n, 0.1);
  const std::string tip = robot.model().frames().back().name;
  EXPECT_EQ(count([&] {
              robot.set_state(q, v, v);
              robot.set_external(tip, {{1, 2, 3}, {4, 5, 6}});
              robot.mass_matrix();
              robot.mass_inverse();
              robot.bias();
              robot.inverse_dynamics();
              robot.forward_dynamics(v);
              robot.coriolis_matrix();
              robot.jacobian(tip, FrameAxes::local);
              robot.pose(tip);
              robot.center_of_mass();
              robot.centroidal_matrix();
              robot.torque_budget();
            }),
            0);
}

INSTANTIATE_TEST_SUITE_P(Robots, Allocation,
                         ::testing::Values("builtin:humanoid", "builtin:belt-leg"));

}  // namespace
}  // namespace limb
