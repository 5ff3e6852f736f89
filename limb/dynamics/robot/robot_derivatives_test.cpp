// Derivatives through Robot: values, allocations and errors.
#include <gtest/gtest.h>

#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/derivatives/centroidal_derivatives.hpp"
#include "limb/dynamics/derivatives/frame_derivatives.hpp"
#include "limb/dynamics/identify/parameter_derivatives.hpp"
#include "limb/dynamics/identify/regressor.hpp"
#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::message;
using testing::Sample;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// The frame with the longest path to the root.
std::string tip_of(const Model<double>& model) {
  const auto depth = [&](BodyId body) {
    int count = 0;
    for (; body.value() > 0; body = model.bodies()[static_cast<std::size_t>(body.value())].parent) {
      ++count;
    }
    return count;
  };
  const auto& frames = model.frames();
  return std::max_element(
             frames.begin(), frames.end(),
             [&](const auto& a, const auto& b) { return depth(a.body) < depth(b.body); })
      ->name;
}

/// All that a facade at the state of the sample, with two contacts and a wrench, is results.
struct RobotResults {
  explicit RobotResults(Robot& robot, const Sample& s, const std::string& tip) {
    robot.set_state(s.q, s.v, s.a);
    robot.set_external(tip, {{1, 2, 3}, {4, 5, 6}});
    velocity = &robot.velocity_derivatives(tip, FrameAxes::world);
    acceleration =
        &robot.acceleration_derivatives(tip, FrameAxes::local, AccelerationKind::classical);
    com_v = &robot.center_of_mass_velocity_derivatives();
    com_a = &robot.center_of_mass_acceleration_derivatives();
    h = &robot.centroidal_momentum_derivatives();
    dh = &robot.centroidal_momentum_rate_derivatives();
    constrained = &robot.constrained_derivatives(s.tau);
    impact = &robot.impact_derivatives(0.5);
    da_dp = &robot.aba_parameter_derivatives(s.tau);
    by_p = &robot.constrained_parameter_derivatives(s.tau);
  }
  const VelocityDerivatives *velocity, *com_v, *h;
  const AccelerationDerivatives *acceleration, *com_a, *dh;
  const ConstrainedDerivatives<double>* constrained;
  const ImpactDerivatives<double>* impact;
  const Matrix* da_dp;
  const ParameterDerivatives* by_p;
};

TEST(RobotDerivatives, AreThoseOfTheFreeFunctions) {
  for (const Sample& s : testing::samples(1)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv(), count = parameter_count(s.model);
    const std::string tip = tip_of(s.model);
    const FrameId frame = s.model.find_frame(tip);
    const std::string knee = s.model.frames()[s.model.frames().size() / 2].name;
    Robot robot(s.model);
    robot.add_contact(tip, ContactKind::surface);
    robot.add_contact(knee, ContactKind::point, ContactAxes::contact);
    const RobotResults results(robot, s, tip);

    Kinematics<double> k(s.model);
    forward_kinematics(s.model, s.q, s.v, s.a, k);
    SubtreeScratch<double> scratch(s.model);
    Matrix6X<double> dq(6, n), dv(6, n), da(6, n);
    Matrix3X<double> dq3(3, n), dv3(3, n), da3(3, n);
    frame_velocity_derivatives(s.model, k, frame, FrameAxes::world, dq, dv);
    EXPECT_EQ(results.velocity->dq, dq);
    EXPECT_EQ(results.velocity->dv, dv);
    frame_acceleration_derivatives(s.model, k, frame, FrameAxes::local, AccelerationKind::classical,
                                   dq, dv, da);
    EXPECT_EQ(results.acceleration->dq, dq);
    EXPECT_EQ(results.acceleration->da, da);
    center_of_mass_velocity_derivatives(s.model, k, scratch, dq3, dv3);
    EXPECT_EQ(results.com_v->dq, dq3);
    center_of_mass_acceleration_derivatives(s.model, k, scratch, dq3, dv3, da3);
    EXPECT_EQ(results.com_a->dv, dv3);
    centroidal_momentum_derivatives(s.model, k, scratch, dq, dv);
    EXPECT_EQ(results.h->dq, dq);
    centroidal_momentum_rate_derivatives(s.model, k, scratch, dq, dv, da);
    EXPECT_EQ(results.dh->dq, dq);

    Contact<double> first{frame}, second{s.model.find_frame(knee)};
    first.kind = ContactKind::surface;
    first.axes = ContactAxes::world;
    const ConstraintSet<double> set(s.model, {first, second});
    ConstrainedDerivativeWorkspace<double> work(s.model, set);
    ConstrainedDerivatives<double> constrained(s.model, set);
    const FrameWrench<double> wrench[] = {{frame, {{1, 2, 3}, {4, 5, 6}}}};
    constrained_derivatives(s.model, set, work, s.q, s.v, s.tau, wrench, constrained);
    EXPECT_EQ(results.constrained->da_dq, constrained.da_dq);
    EXPECT_EQ(results.constrained->df_dv, constrained.df_dv);
    EXPECT_EQ(results.constrained->a, robot.constrained_forward_dynamics(s.tau).a);
    EXPECT_EQ(results.constrained->f, robot.constrained_forward_dynamics(s.tau).f);
    ImpactDerivatives<double> impact(s.model, set);
    impact_derivatives(s.model, set, work, s.q, s.v, Vector::Constant(1, 0.5), impact);
    EXPECT_EQ(results.impact->dv_dq, impact.dv_dq);
    EXPECT_EQ(results.impact->v, robot.impact(0.5).v);

    // A tree: M da_dp = -Y at the accelerations of the torques, wrench included.
    const Vector a = robot.forward_dynamics(s.tau);
    const Matrix M = robot.mass_matrix(), da_dp = *results.da_dp;
    EXPECT_EQ(results.by_p->da_dp.cols(), count);
    EXPECT_EQ(results.by_p->a, constrained.a);
    robot.set_state(s.q, s.v, a);
    const Matrix Y = robot.regressor();
    // Through a mass matrix whose condition number is up to 1e4.
    EXPECT_LT((M * da_dp + Y).norm(), 1e5 * kEps * Y.norm());
  }
}

// A result is that of the current state, contacts and arguments, and is computed once.
TEST(RobotDerivatives, AreCachedAndNeverStale) {
  const Sample s = testing::samples(1)[1];
  const std::string tip = tip_of(s.model);
  Robot robot(s.model);
  robot.add_contact(tip);
  const RobotResults results(robot, s, tip);
  const long before = robot.evaluations();
  robot.constrained_derivatives(s.tau);
  robot.impact_derivatives(0.5);
  robot.aba_parameter_derivatives(s.tau);
  robot.velocity_derivatives(tip, FrameAxes::world);
  EXPECT_EQ(robot.evaluations(), before);
  const Matrix first = robot.constrained_derivatives(s.tau).da_dq;
  const Matrix spatial =
      robot.acceleration_derivatives(tip, FrameAxes::local, AccelerationKind::spatial).dq;
  EXPECT_NE(robot.acceleration_derivatives(tip, FrameAxes::local, AccelerationKind::classical).dq,
            spatial);
  EXPECT_NE(robot.constrained_derivatives(2 * s.tau).da_dq, first);
  robot.clear_contacts();
  EXPECT_EQ(robot.constrained_derivatives(s.tau).df_dq.rows(), 0);
  const Matrix free = robot.constrained_derivatives(s.tau).da_dq;
  // No contact: the unconstrained derivatives, by another solver; condition number of M up to 1e4.
  const Matrix plain = robot.aba_derivatives(s.tau).da_dq;
  EXPECT_LT((free - plain).norm(), 1e5 * kEps * plain.norm());
  const Matrix p = robot.aba_parameter_derivatives(s.tau);
  EXPECT_LT((robot.constrained_parameter_derivatives(s.tau).da_dp - p).norm(),
            1e5 * kEps * p.norm());
}

TEST(RobotDerivatives, DoNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "allocations cannot be counted in this build";
  for (const char* name : {"builtin:humanoid", "builtin:belt-leg"}) {
    SCOPED_TRACE(name);
    const Sample s = testing::sample_of(name, load_model(name), 2);
    const std::string tip = tip_of(s.model);
    Robot robot(s.model);
    robot.add_contact(tip, ContactKind::surface);
    robot.add_contact(tip);  // redundant
    { const RobotResults first(robot, s, tip); }
    EXPECT_EQ(testing::allocations([&] { const RobotResults again(robot, s, tip); }), 0);
  }
}

TEST(RobotDerivatives, BadInput) {
  const Model<double> model = load_model("builtin:2r");
  const FrameId tip(static_cast<int>(model.frames().size()) - 1);
  const Contact<double> contact{tip};
  const ConstraintSet<double> set(model, {contact}), other(model, {contact, contact});
  ConstrainedDerivativeWorkspace<double> work(model, set), wrong_work(model, other);
  ConstrainedDerivatives<double> result(model, set), wrong(model, other);
  ImpactDerivatives<double> impact(model, set), wrong_impact(model, other);
  const Vector x = Vector::Zero(2), e = Vector::Zero(1);
  EXPECT_EQ(
      message([&] { constrained_derivatives(model, set, work, x, x, Vector::Zero(3), result); }),
      "constrained_derivatives: tau has 3 entries, expected 2 (a free joint needs 7 numbers "
      "in q but 6 in v)");
  EXPECT_EQ(message([&] { constrained_derivatives(model, set, work, x, x, x, wrong); }),
            "constrained_derivatives: result is of another model or set, expected one made from "
            "these");
  EXPECT_EQ(message([&] { constrained_derivatives(model, set, wrong_work, x, x, x, result); }),
            "constrained_derivatives: work is of another model or set, expected one made from "
            "these");
  EXPECT_EQ(message([&] { impact_derivatives(model, set, work, x, x, e, wrong_impact); }),
            "impact_derivatives: result is of another model or set, expected one made from these");
  EXPECT_EQ(message([&] {
              impact_derivatives(model, set, work, x, x, Vector::Constant(1, 1.5), impact);
            }),
            "impact: restitution[0] is 1.5, expected 0 to 1");
  ParameterDerivativeWorkspace<double> parameters(model);
  Vector a(2);
  Matrix bad(2, 3);
  EXPECT_EQ(message([&] { aba_parameter_derivatives(model, parameters, x, x, x, {}, a, bad); }),
            "aba_parameter_derivatives: da_dp is 2 x 3, expected 2 x 20");
  Robot robot(model);
  EXPECT_EQ(message([&] { robot.velocity_derivatives("tol", FrameAxes::local); }),
            "Robot::velocity_derivatives: no frame is named 'tol' (closest: 'tool')");
  EXPECT_EQ(message([&] { robot.impact_derivatives(2); }),
            "impact: restitution[0] is 2, expected 0 to 1");
}

TEST(RobotDerivatives, ASingularMassMatrixIsNamed) {
  RobotBuilder<double> b("feather");
  b.link("base").link("wing", 0, {0, 0, 0}, Matrix3<double>::Zero());
  b.joint("hinge", Joint<double>::revolute(Vector3<double>::UnitY()), "base", "wing");
  const Model<double> model = b.build();
  const ConstraintSet<double> set(model, {Contact<double>{model.find_frame("wing")}});
  ConstrainedDerivativeWorkspace<double> work(model, set);
  ConstrainedDerivatives<double> result(model, set);
  const Vector x = Vector::Zero(1);
  EXPECT_EQ(constrained_derivatives(model, set, work, x, x, x, result).velocity, 0);
  EXPECT_TRUE(std::isnan(result.da_dq(0, 0)));
  EXPECT_TRUE(std::isnan(result.df_dtau(2, 0)));
  Robot robot(model);
  EXPECT_EQ(message([&] { robot.constrained_derivatives(x); }),
            "Robot::constrained_derivatives: the mass matrix is singular: no inertia opposes joint "
            "'hinge', velocity 0 [computation failed]");
  EXPECT_EQ(message([&] { robot.aba_parameter_derivatives(x); }),
            "Robot::aba_parameter_derivatives: the mass matrix is singular: no inertia opposes "
            "joint 'hinge', velocity 0 [computation failed]");
}

}  // namespace
}  // namespace limb
