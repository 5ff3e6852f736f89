#include "limb/dynamics/kinematics.hpp"

#include <gtest/gtest.h>

#include "limb/math/testing/compare.hpp"
#include "limb/model/testing/random_tree.hpp"
#include "limb/model/testing/walk.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

struct State {
  VectorX<double> q, v, a;
};

State random_state(const Model<double>& model, unsigned seed) {
  testing::Random random(seed);
  const auto numbers = [&](int n) {
    VectorX<double> x(n);
    for (int i = 0; i < n; ++i) x[i] = random.uniform(-1, 1);
    return x;
  };
  const VectorX<double> neutral = model.without_couplings().neutral();
  return {model.integrate(neutral, numbers(model.nv())), numbers(model.nv()), numbers(model.nv())};
}

// The room below walks the tree in its own plain way, with other operations.
TEST(ForwardKinematics, AgreesWithThePlainWalk) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Model<double> model = build_model(testing::random_tree(seed, {.joints = 20}), Base::free);
    const State s = random_state(model, seed);
    Kinematics<double> k(model);
    forward_kinematics(model, s.q, s.v, s.a, k);
    const auto expected = testing::tree_motion(model, s.q, s.v, s.a);
    for (std::size_t i = 1; i < expected.size(); ++i) {
      // Some 20 products of sums a level and up to a dozen levels; worst seen 60 eps of the size.
      const auto size = [](const Vector6<double>& x) { return 1 + x.norm(); };
      const auto& e = expected[i];
      EXPECT_LT((k.X_WB[i].matrix() - e.X_WB.matrix()).norm(), 400 * kEps);
      EXPECT_LT((k.V_WB_B[i].vector() - e.V_WB_B.vector()).norm(),
                400 * kEps * size(e.V_WB_B.vector()));
      EXPECT_LT((k.A_WB_B[i].vector() - e.A_WB_B.vector()).norm(),
                400 * kEps * size(e.A_WB_B.vector()));
    }
  }
}

}  // namespace
}  // namespace limb
