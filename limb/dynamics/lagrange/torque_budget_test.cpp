// The terms of a torque budget sum up to inverse dynamics, and each term agrees with its
// definition.
#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/lagrange/torque_budget_impl.hpp"
#include "limb/dynamics/testing/armature.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/textbook/craig.hpp"
#include "limb/dynamics/textbook/lagrange.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/scalars.hpp"
#include "limb/model/core/build_model_impl.hpp"
#include "limb/model/core/builder.hpp"

namespace limb {
namespace {

using testing::Dual;
using testing::message;
using testing::Pack;
using testing::Sample;
using testing::samples;
using Vector = VectorX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

template <typename T>
TorqueBudget<T> budget_of(const Model<T>& model, const VectorX<T>& q, const VectorX<T>& v,
                          const VectorX<T>& a, std::span<const FrameWrench<T>> external = {},
                          const JointEffects& effects = {}) {
  Kinematics<T> kinematics(model);
  forward_kinematics<T>(model, q, v, a, kinematics);
  TorqueBudgetScratch<T> scratch(model);
  TorqueBudget<T> budget(model);
  torque_budget<T>(model, kinematics, scratch, external, budget, effects);
  return budget;
}

/// A random tree with different armature, damping and friction on every joint.
Sample with_drives(unsigned seed, Base base, bool coupled) {
  testing::RandomTreeOptions options;
  options.with_couplings = coupled;
  auto description = testing::random_tree(seed, options);
  testing::Random random(seed);
  for (auto& joint : description.joints) {
    joint.damping = random.uniform(0, 1);
    joint.friction = random.uniform(0, 1);
    joint.armature = random.uniform(0, 1);
  }
  return testing::sample_of("", build_model(description, base), seed);
}

// Sums of some n d^2 symbols, where the recursion sums n forces; relative to the sum of the norms
// of all terms: worst seen 7 eps.
TEST(TorqueBudget, SumsUpToInverseDynamics) {
  Worst worst;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    for (const Base base : {Base::fixed, Base::free}) {
      for (const bool coupled : {false, true}) {
        SCOPED_TRACE(seed);
        const auto [name, model, q, v, a, tau] = with_drives(seed, base, coupled);
        testing::Random random(seed);
        std::vector<FrameWrench<double>> external;
        const int frames = static_cast<int>(model.frames().size());
        external.push_back({FrameId(frames - 1), random.force<double>(5)});
        external.push_back({FrameId(frames / 2), random.force<double>(5)});
        const auto b = budget_of<double>(model, q, v, a, external);

        // The drives directly: each joint's parameters, then the transpose of the couplings.
        const Coupling<double>& G = model.coupling();
        const Vector v_joint = G.expand_velocity(v), a_joint = G.expand_velocity(a);
        Vector drives = testing::armature_force(model, v_joint, a_joint);
        for (const Body<double>& body : model.bodies()) {
          for (int x = body.v_start; x < body.v_start + body.joint.nv(); ++x) {
            drives[x] += body.damping * v_joint[x] + std::copysign(body.friction, v_joint[x]);
          }
        }
        const Vector expected =
            textbook::craig::inverse_dynamics(model, q, v, a, external) + G.reduce_force(drives);
        const double parts = b.inertial.norm() + b.centrifugal.norm() + b.coriolis.norm() +
                             b.gravity.norm() + b.external.norm();
        const double error = (b.tau - expected).norm() / parts;
        EXPECT_LT(error, 64 * kEps);
        worst.add(error);
        // Exactly, not nearly: tau is defined as this sum.
        EXPECT_EQ(b.tau, b.inertial + b.centrifugal + b.coriolis + b.gravity + b.damping +
                             b.friction + b.armature + b.external);
      }
    }
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value() / kEps));
}

TEST(TorqueBudget, TermsAgreeWithTheirDefinitions) {
  for (const auto& [name, model, q, v, a, tau] : samples(4)) {
    SCOPED_TRACE(name);
    const Vector rest = Vector::Zero(v.size());
    const auto b = budget_of<double>(model, q, v, a);
    const double tolerance = 64 * kEps * (1 + b.tau.norm() + b.gravity.norm() + b.coriolis.norm());
    EXPECT_LT((b.inertial - textbook::lagrange::mass_matrix(model, q) * a).norm(), tolerance);
    EXPECT_LT((b.gravity - textbook::lagrange::gravity(model, q)).norm(), tolerance);
    // Centrifugal: sum of the torques of each velocity on its own. Coriolis: the rest.
    Vector alone = rest;
    const auto g = textbook::craig::inverse_dynamics(model, q, rest, rest);
    for (Eigen::Index j = 0; j < v.size(); ++j) {
      const Vector only = v[j] * Vector::Unit(v.size(), j);
      alone += textbook::craig::inverse_dynamics(model, q, only, rest) - g;
    }
    const Vector together = textbook::craig::inverse_dynamics(model, q, v, rest) - g;
    const double sums = 64 * kEps * (1 + static_cast<double>(v.size()) * g.norm());
    EXPECT_LT((b.centrifugal - alone).norm(), sums);
    EXPECT_LT((b.coriolis - (together - alone)).norm(), sums);
    EXPECT_EQ(b.external, rest);
  }
}

TEST(TorqueBudget, EffectsMayBeLeftOut) {
  const Sample s = with_drives(3, Base::free, true);
  const auto none = budget_of<double>(s.model, s.q, s.v, s.a, {}, JointEffects::none());
  const Vector zero = Vector::Zero(s.v.size());
  EXPECT_EQ(none.armature, zero);
  EXPECT_EQ(none.damping, zero);
  EXPECT_EQ(none.friction, zero);
  const auto all = budget_of<double>(s.model, s.q, s.v, s.a);
  EXPECT_GT(all.armature.norm(), 0.1);
  EXPECT_GT(all.damping.norm(), 0.1);
  EXPECT_GT(all.friction.norm(), 0.1);
  EXPECT_EQ(none.inertial, all.inertial);
}

TEST(TorqueBudget, FrictionActsAgainstTheMotionAndNotAtRest) {
  RobotBuilder<double> builder("slider");
  builder.link("base").link("cart", 2.0, {0, 0, 0}, Matrix3<double>::Zero());
  builder.joint("rail", Joint<double>::prismatic(Vector3<double>::UnitX()), "base", "cart");
  builder.drive(0.25, 0.5, 0.125);
  const Model<double> model = builder.build();
  const Vector q = Vector::Zero(1);
  for (const double v : {-2.0, 0.0, 2.0}) {
    const auto b = budget_of<double>(model, q, Vector::Constant(1, v), Vector::Constant(1, 3.0));
    EXPECT_EQ(b.friction[0], v > 0 ? 0.5 : v < 0 ? -0.5 : 0.0);
    EXPECT_EQ(b.damping[0], 0.25 * v);
    EXPECT_EQ(b.armature[0], 0.375);
    EXPECT_EQ(b.inertial[0], 6);
    EXPECT_EQ(b.tau[0], 6.375 + 0.25 * v + b.friction[0]);
  }
  // A push along the motion reduces the torque of the drive by as much.
  const FrameWrench<double> push[] = {{model.find_frame("cart"), {{1.5, 0, 7}, {1, 2, 3}}}};
  EXPECT_EQ(budget_of<double>(model, q, q, q, push).tau[0], -1.5);
}

// d(tau)/dv by dual numbers, against a central difference.
TEST(TorqueBudget, DualNumbersAndPacksPassThrough) {
  const Sample s = samples(1)[3];
  const Model<Dual> dual_model = s.model.cast<Dual>();
  const VectorX<Dual> v_dual = testing::dual<-1, 1>(s.v, s.a);
  const auto dual = budget_of<Dual>(dual_model, s.q.cast<Dual>(), v_dual, s.a.cast<Dual>());
  const double step = 1e-5;
  const auto at = [&](double t) { return budget_of<double>(s.model, s.q, s.v + t * s.a, s.a).tau; };
  const Vector expected = (at(step) - at(-step)) / (2 * step);
  // Quadratic in v, so the difference is exact but for rounding over the step.
  EXPECT_LT((testing::derivative<-1, 1>(dual.tau) - expected).norm(),
            16 * kEps / step * (1 + at(0).norm()));

  const auto pack =
      budget_of<Pack>(s.model.cast<Pack>(), s.q.cast<Pack>(), s.v.cast<Pack>(), s.a.cast<Pack>());
  for (Eigen::Index i = 0; i < s.v.size(); ++i) {
    EXPECT_NEAR(pack.tau[i].lane[2], at(0)[i], 64 * kEps * (1 + at(0).norm()));
  }
}

TEST(TorqueBudget, ErrorsNameTheCall) {
  const Sample s = samples(1)[0];
  Kinematics<double> kinematics(s.model);
  TorqueBudgetScratch<double> scratch(s.model);
  TorqueBudget<double> budget(s.model);
  forward_kinematics(s.model, s.q, s.v, kinematics);
  EXPECT_EQ(message([&] { torque_budget(s.model, kinematics, scratch, budget); }),
            "torque_budget: these kinematics are incomplete; call forward_kinematics with q, "
            "v and a first");
  forward_kinematics(s.model, s.q, s.v, s.a, kinematics);
  const FrameWrench<double> nowhere[] = {{FrameId(-1), {}}};
  EXPECT_EQ(message([&] { torque_budget(s.model, kinematics, scratch, nowhere, budget); }),
            "torque_budget: frame of external wrench 0 is -1, expected one of the " +
                std::to_string(s.model.frames().size()) + " frames of the model");
}

}  // namespace
}  // namespace limb
