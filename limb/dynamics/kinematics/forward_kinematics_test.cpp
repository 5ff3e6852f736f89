#include "limb/dynamics/kinematics/forward_kinematics.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/testing/random_tree.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

// Against the plain traversal of limb/model/testing, which uses other operations.
TEST(ForwardKinematics, AgreesWithThePlainTraversal) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const testing::RandomTreeOptions options{.joints = 20, .with_couplings = seed % 2 == 0};
    const Model<double> model = build_model(testing::random_tree(seed, options), Base::free);
    const auto k = testing::kinematics_at(model, testing::random_state(model, seed));
    const auto expected = testing::tree_motion(model, k.q, k.v, k.a);
    for (std::size_t i = 1; i < expected.size(); ++i) {
      // Some 20 products of sums per level and up to a dozen levels; worst seen 19 eps of the size.
      const auto size = [](const Vector6<double>& x) { return 1 + x.norm(); };
      const auto& e = expected[i];
      EXPECT_LT((k.X_WB[i].matrix() - e.X_WB.matrix()).norm(), 128 * kEps);
      EXPECT_LT((k.V_WB_B[i].vector() - e.V_WB_B.vector()).norm(),
                128 * kEps * size(e.V_WB_B.vector()));
      EXPECT_LT((k.A_WB_B[i].vector() - e.A_WB_B.vector()).norm(),
                128 * kEps * size(e.A_WB_B.vector()));
    }
  }
}

// The parts of Jacobians: columns S_W, their rates by dual numbers, and the arms from body 1. One
// or two rotations per column in addition to the poses; worst seen: 17 eps.
TEST(ForwardKinematics, ColumnsTheirRatesAndArms) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    for (const Model<double>& model : testing::random_robots(seed)) {
      const auto s = testing::random_state(model, seed);
      const auto k = testing::kinematics_at(model, s);
      const auto k_t = testing::kinematics_in_time(model.cast<testing::Dual>(), s);
      for (std::size_t j = 0; j < k.S_W.size(); ++j) {
        const auto dS = testing::derivative(k_t.S_W[j]);
        EXPECT_LT(testing::relative(k.dS_W[j].vector(), dS), 128 * kEps);
        const Body<double>& body = model.bodies()[static_cast<std::size_t>(k.body_of_v[j])];
        EXPECT_GE(static_cast<int>(j), body.v_start);
        EXPECT_LT(static_cast<int>(j), body.v_start + body.joint.nv());
      }
      for (std::size_t i = 0; i < k.X_WB.size(); ++i) {
        const Vector3<double> arm = k.X_WB[i].p - k.X_WB[1].p;
        EXPECT_LT(testing::relative(k.p_OB_W[i], arm), 64 * kEps);
      }
    }
  }
}

}  // namespace
}  // namespace limb
