// Every convention with every joint type and with random trees: round trips, and invariants: power,
// kinetic energy, accelerations as derivatives of velocities.
#include "limb/model/convert/convert.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/model/convert/convert_drake.hpp"
#include "limb/model/convert/convert_mujoco.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/convert/convert_rbdl.hpp"
#include "limb/model/testing/random_tree.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

using testing::random_tree;
using testing::RandomTreeOptions;
constexpr double kEps = std::numeric_limits<double>::epsilon();
using Vector = VectorX<double>;

const ConventionFacts* const kAllFacts[] = {&kPinocchioFacts, &kMujocoFacts, &kDrakeFacts,
                                            &kRbdlFacts};

/// MuJoCo has no helical joint, and free joints only on the world.
RandomTreeOptions options_for(const ConventionFacts& facts) {
  RandomTreeOptions options;
  options.joints = 22;
  options.root = JointType::free;
  if (!facts.has_helical) std::erase(options.types, JointType::helical);
  if (facts.free_reference == FreeJointReference::world) std::erase(options.types, JointType::free);
  return options;
}

struct State {
  Vector q, v, a, tau;
};

State random_state(const Model<double>& model, unsigned seed) {
  testing::Random random(seed);
  std::mt19937_64 engine(seed);
  const auto vector = [&] {
    Vector x(model.uncoupled_nv());
    for (double& entry : x) entry = random.uniform(-1, 1);
    return x;
  };
  State state{model.random_configuration(engine), vector(), vector(), vector()};
  return state;
}

/// Largest difference of the joint poses of two configurations; ignores full turns.
double distance(const Model<double>& model, const Vector& q0, const Vector& q1) {
  Worst largest;
  for (const Body<double>& body : model.bodies()) {
    if (body.joint.nq() == 0) continue;
    const auto X0 = body.joint.pose(q0.data() + body.q_start);
    const auto X1 = body.joint.pose(q1.data() + body.q_start);
    largest.add(max_abs(X0.matrix() - X1.matrix()));
  }
  return model.nq() == 0 ? 0 : largest.value();
}

class EveryConvention : public ::testing::TestWithParam<const ConventionFacts*> {
 protected:
  const ConventionFacts& facts() const { return *GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Libraries, EveryConvention, ::testing::ValuesIn(kAllFacts),
                         [](const auto& test) { return std::string(test.param->library); });

// 16 eps: a quaternion converted to angles and back, or rotated by a placement and back.
void expect_round_trip(const ConventionFacts& facts, const Model<double>& model,
                       const Description<double>& description, unsigned seed) {
  const Convention convention(facts, model, description);
  const auto [q, v, a, tau] = random_state(model, seed);
  const Vector q_other = convention.q_to(q);
  ASSERT_EQ(q_other.size(), convention.nq());
  const Vector back = convention.q_from(q_other);
  EXPECT_LT(distance(model, back, q), 16 * kEps);
  EXPECT_LT((convention.q_to(back) - q_other).norm(), 64 * kEps);
  EXPECT_LT((convention.v_from(q, convention.v_to(q, v)) - v).norm(), 16 * kEps);
  EXPECT_LT((convention.a_from(q, v, convention.a_to(q, v, a)) - a).norm(), 16 * kEps);
  EXPECT_LT((convention.tau_from(q, convention.tau_to(q, tau)) - tau).norm(), 16 * kEps);
}

TEST_P(EveryConvention, RoundTripForEveryJointType) {
  for (const JointType type : kJointTypes) {
    SCOPED_TRACE(to_text(type));
    RandomTreeOptions options;
    options.joints = 1;
    options.types = {type};
    if (type == JointType::helical && !facts().has_helical) continue;
    if (type == JointType::free) {
      options.root = JointType::free;
      options.types = {JointType::fixed};
    }
    for (unsigned seed = 1; seed <= 20; ++seed) {
      const auto description = random_tree(seed, options);
      expect_round_trip(facts(), build_model(description), description, seed);
    }
  }
}

TEST_P(EveryConvention, RoundTripForTrees) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto description = random_tree(seed, options_for(facts()));
    expect_round_trip(facts(), build_model(description), description, seed);
  }
}

TEST_P(EveryConvention, KeepsPowerAndKineticEnergy) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto description = random_tree(seed, options_for(facts()));
    const auto model = build_model(description);
    const Convention convention(facts(), model, description);
    const auto [q, v, a, tau] = random_state(model, seed);
    const MatrixX<double> P = convention.velocity_matrix(q);
    const MatrixX<double> one =
        MatrixX<double>::Identity(model.uncoupled_nv(), model.uncoupled_nv());
    // Entries of R are squares of a quaternion that is unit to a few eps, and six sum up.
    EXPECT_LT(max_abs(P * P.transpose() - one), 32 * kEps);
    const Vector v_other = convention.v_to(q, v), tau_other = convention.tau_to(q, tau);
    // Sums of nv products, all terms below 1 in size.
    EXPECT_NEAR(tau_other.dot(v_other), tau.dot(v), 4 * model.uncoupled_nv() * kEps);
    EXPECT_LT((P * v - v_other).norm(), 8 * kEps * v.norm());

    const MatrixX<double> M = testing::mass_matrix(model, q);
    const MatrixX<double> M_other = convention.mass_matrix_to(q, M);
    const double energy = v.dot(M * v);
    EXPECT_NEAR(v_other.dot(M_other * v_other), energy, 16 * kEps * M.norm() * v.squaredNorm());
    EXPECT_LT((convention.mass_matrix_from(q, M_other) - M).norm(), 16 * kEps * M.norm());

    const BodyId last(model.body_count() - 1);
    const MatrixX<double> J =
        testing::body_jacobian(model, q, static_cast<std::size_t>(last.value()));
    const MatrixX<double> J_other = convention.jacobian_to(q, J);
    const auto V = Motion<double>::from_vector(J * v);
    EXPECT_LT((convention.motion_to(V) - J_other * v_other).norm(), 32 * kEps * J.norm());
    EXPECT_LT((convention.jacobian_from(q, J_other) - J).norm(), 16 * kEps * J.norm());
  }
}

// a_other = d/dt v_other along q(t) with velocity v + a t. Central difference, h = eps^(1/3):
// errors h^2 and eps / h, times products of rates below 1 in at most six parts per joint.
TEST_P(EveryConvention, AccelerationIsTheDerivativeOfVelocity) {
  const double h = std::cbrt(kEps);
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto description = random_tree(seed, options_for(facts()));
    const auto model = build_model(description);
    const Convention convention(facts(), model, description);
    const State s = random_state(model, seed);
    const auto v_other_at = [&](double t) {
      return convention.v_to(model.integrate(s.q, s.v * t + s.a * (t * t / 2)), s.v + s.a * t);
    };
    const Vector difference = (v_other_at(h) - v_other_at(-h)) / (2 * h);
    EXPECT_LT(max_abs(convention.a_to(s.q, s.v, s.a) - difference), 16 * h * h);
  }
}

TEST_P(EveryConvention, SpatialVectorsKeepTheirPower) {
  const auto description = random_tree(1, options_for(facts()));
  const Convention convention(facts(), build_model(description), description);
  const Motion<double> V{{1, 2, 3}, {4, 5, 6}};
  const Force<double> F{{6, 5, 4}, {3, 2, 1}};
  EXPECT_EQ(convention.motion_to(V).dot(convention.wrench_to(F)), dot(V, F));
  EXPECT_EQ(convention.motion_from(convention.motion_to(V)).vector(), V.vector());
  EXPECT_EQ(convention.wrench_from(convention.wrench_to(F)).vector(), F.vector());
  const bool linear_first = facts().spatial_order == SpatialOrder::linear_first;
  EXPECT_EQ(convention.motion_to(V)[0], linear_first ? 1 : 4);
  const MatrixX<double> J = V.vector();
  EXPECT_EQ(convention.jacobian_rows_to(J), MatrixX<double>(convention.motion_to(V)));
  EXPECT_EQ(convention.jacobian_rows_from(convention.jacobian_rows_to(J)), J);
}

}  // namespace
}  // namespace limb
