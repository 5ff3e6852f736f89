#include "limb/dynamics/kinematics/acceleration_split.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr FrameAxes kAxes[] = {FrameAxes::local, FrameAxes::local_world_aligned, FrameAxes::world};

// 2R with its tip at (l1 c1 + l2 c12, l1 s1 + l2 s12): the second derivative by hand.
// [Lynch 2017, Sec. 8.1.1]
TEST(AccelerationSplit, TipOfThe2RArm) {
  const Model<double> model = load_model("builtin:2r");
  const double l1 = 1.0, l2 = 0.8;
  const Vector2<double> v(0.5, -0.4), a(0.9, -1.1);
  Kinematics<double> k(model);
  for (const Vector2<double>& q : {Vector2<double>(0, std::numbers::pi / 2), {0.3, 0.7}}) {
    forward_kinematics(model, VectorX<double>(q), k);
    const auto split = frame_acceleration_split<double>(model, k, v, a, model.find_frame("tool"),
                                                        FrameAxes::local_world_aligned);
    const double c1 = std::cos(q[0]), s1 = std::sin(q[0]);
    const double c12 = std::cos(q[0] + q[1]), s12 = std::sin(q[0] + q[1]);
    const Vector3<double> along1(c1, s1, 0), along12(c12, s12, 0);
    const Vector3<double> across1(-s1, c1, 0), across12(-s12, c12, 0);
    const Vector3<double> tangential = l1 * a[0] * across1 + l2 * (a[0] + a[1]) * across12;
    const Vector3<double> centripetal =
        -l1 * v[0] * v[0] * along1 - l2 * (v[0] * v[0] + v[1] * v[1]) * along12;
    const Vector3<double> coriolis = -2 * l2 * v[0] * v[1] * along12;
    EXPECT_LT((split.tangential.v - tangential).norm(), 16 * kEps);
    EXPECT_LT((split.centripetal.v - centripetal).norm(), 16 * kEps);
    EXPECT_LT((split.coriolis.v - coriolis).norm(), 16 * kEps);
  }
}

// The terms add up to the acceleration, and the centripetal ones are those of one velocity at a
// time. The derivatives of the Jacobian are sums over a dozen levels.
TEST(AccelerationSplit, TermsAddUp) {
  Worst worst;
  int count = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    for (const Model<double>& model : testing::random_robots(seed)) {
      const auto s = testing::random_state(model, seed);
      Kinematics<double> k(model);
      forward_kinematics(model, s.q, s.v, s.a, k);
      const FrameId frame(static_cast<int>(model.frames().size()) - 1);
      for (const FrameAxes axes : kAxes) {
        const auto kind = axes == FrameAxes::local_world_aligned ? AccelerationKind::classical
                                                                 : AccelerationKind::spatial;
        const auto split = frame_acceleration_split<double>(model, k, s.v, s.a, frame, axes);
        const Vector6<double> whole = frame_acceleration(model, k, frame, axes, kind).vector();
        worst.add((split.sum().vector() - whole).norm() / (1 + whole.norm()));
        Vector6<double> alone = Vector6<double>::Zero();
        for (int i = 0; i < model.nv(); ++i) {
          Kinematics<double> one(model);
          VectorX<double> v = VectorX<double>::Zero(model.nv());
          v[i] = s.v[i];
          forward_kinematics(model, s.q, v, one);
          alone += frame_jacobian_rate_times_v(model, one, frame, axes).vector();
        }
        worst.add((split.centripetal.vector() - alone).norm() / (1 + alone.norm()));
        ++count;
      }
    }
  }
  EXPECT_GT(count, 20);
  EXPECT_LT(worst.value(), 1e3 * kEps);
}

TEST(AccelerationSplit, RefusesWrongSizes) {
  const Model<double> model = load_model("builtin:2r");
  Kinematics<double> k(model);
  forward_kinematics(model, VectorX<double>::Zero(2), k);
  const VectorX<double> two = VectorX<double>::Zero(2), three = VectorX<double>::Zero(3);
  EXPECT_EQ(testing::message([&] {
              frame_acceleration_split<double>(model, k, three, two, model.find_frame("tool"),
                                               FrameAxes::local);
            }),
            "frame_acceleration_split: v has 3 entries, expected 2 (a free joint needs 7 numbers "
            "in q but "
            "6 in v)");
}

}  // namespace
}  // namespace limb
