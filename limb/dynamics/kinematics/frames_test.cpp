#include "limb/dynamics/kinematics/frames.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/frames_impl.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"

namespace limb {
namespace {

using testing::Dual;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr FrameAxes kAxes[] = {FrameAxes::local, FrameAxes::local_world_aligned, FrameAxes::world};

/// A turntable about z, with a frame at radius 1 m.
Model<double> turntable() {
  RobotBuilder<double> b("turntable");
  b.link("floor").link("plate", 1.0, {0, 0, 0}, Matrix3<double>::Identity());
  b.joint("spin", Joint<double>::revolute(Vector3<double>::UnitZ()), "floor", "plate");
  b.frame("rim", "plate", {Matrix3<double>::Identity(), {1, 0, 0}});
  return b.build();
}

// Motion on a circle of radius 1 at angle 0, rate 2 and angular acceleration 3: the rim moves at 2
// m/s along y, with a centripetal acceleration of 4 m/s^2 and a tangential one of 3 m/s^2. All
// values are exact.
TEST(Frames, RimOfATurntable) {
  const Model<double> model = turntable();
  Kinematics<double> k(model);
  forward_kinematics(model, VectorX<double>::Zero(1), VectorX<double>::Constant(1, 2),
                     VectorX<double>::Constant(1, 3), k);
  const FrameId rim = model.find_frame("rim");
  EXPECT_EQ(frame_pose(model, k, rim).p, Vector3<double>(1, 0, 0));
  for (const FrameAxes axes : {FrameAxes::local, FrameAxes::local_world_aligned}) {
    const auto V = frame_velocity(model, k, rim, axes);
    EXPECT_EQ(V.v, Vector3<double>(0, 2, 0));
    EXPECT_EQ(V.w, Vector3<double>(0, 0, 2));
    const auto classical = frame_acceleration(model, k, rim, axes, AccelerationKind::classical);
    EXPECT_EQ(classical.v, Vector3<double>(-4, 3, 0));
    EXPECT_EQ(classical.w, Vector3<double>(0, 0, 3));
    const auto spatial = frame_acceleration(model, k, rim, axes, AccelerationKind::spatial);
    EXPECT_EQ(spatial.v, Vector3<double>(0, 3, 0));
    const auto bias = frame_bias_acceleration(model, k, rim, axes, AccelerationKind::classical);
    EXPECT_EQ(bias.v, Vector3<double>(-4, 0, 0));
    EXPECT_EQ(bias.w, Vector3<double>::Zero());
  }
  // The point of the plate at the world's origin does not move.
  EXPECT_EQ(frame_velocity(model, k, rim, FrameAxes::world).v, Vector3<double>::Zero());
}

// Time derivatives by dual numbers are exact: the difference is rounding over a dozen levels. The
// largest seen over these robots is 42 eps of the size.
TEST(Frames, VelocityAndAccelerationAreDerivatives) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    for (const Model<double>& model : testing::random_robots(seed)) {
      const auto s = testing::random_state(model, seed);
      const auto k = testing::kinematics_at(model, s);
      const Model<Dual> moving = model.cast<Dual>();
      const auto k_t = testing::kinematics_in_time(moving, s);
      for (int i = 0; i < static_cast<int>(model.frames().size()); ++i) {
        const FrameId frame(i);
        const Pose<double> X = frame_pose(model, k, frame);
        const Pose<Dual> X_t = frame_pose(moving, k_t, frame);
        const Vector3<double> v = testing::derivative<3, 1>(X_t.p);
        const Vector3<double> w_W =
            unskew<double>(testing::derivative<3, 3>(X_t.R) * X.R.transpose());
        const auto V = frame_velocity(model, k, frame, FrameAxes::local_world_aligned);
        EXPECT_LT(testing::relative(V.vector(), stack<double>(v, w_W)), 256 * kEps);
        const auto V_F = frame_velocity(model, k, frame, FrameAxes::local);
        EXPECT_LT(testing::relative(V_F.vector(),
                                    stack<double>(X.R.transpose() * v, X.R.transpose() * w_W)),
                  256 * kEps);
        const auto V_W = frame_velocity(model, k, frame, FrameAxes::world);
        EXPECT_LT(testing::relative(V_W.vector(), stack<double>(v + X.p.cross(w_W), w_W)),
                  256 * kEps);

        for (const FrameAxes axes : kAxes) {
          const auto A_t = testing::derivative(frame_velocity(moving, k_t, frame, axes));
          const auto kind = axes == FrameAxes::local_world_aligned ? AccelerationKind::classical
                                                                   : AccelerationKind::spatial;
          const auto A = frame_acceleration(model, k, frame, axes, kind);
          EXPECT_LT(testing::relative(A.vector(), A_t), 256 * kEps);
        }
      }
    }
  }
}

TEST(Frames, KindsDifferByTheCentripetalTerm) {
  const auto model = testing::random_robots(7)[3];
  const auto k = testing::kinematics_at(model, testing::random_state(model, 7));
  for (int i = 0; i < model.body_count(); ++i) {
    for (const FrameAxes axes : kAxes) {
      const auto V = frame_velocity(model, k, BodyId(i), axes);
      auto A = frame_acceleration(model, k, BodyId(i), axes, AccelerationKind::spatial);
      A.v += V.w.cross(V.v);
      const auto classical =
          frame_acceleration(model, k, BodyId(i), axes, AccelerationKind::classical);
      EXPECT_LT((A - classical).vector().norm(), 4 * kEps * (1 + A.vector().norm()));
    }
  }
}

// The same with a = 0, computed as a sum over the joints instead of a recursion in the bodies'
// axes. Largest difference seen: 29 eps.
TEST(Frames, BiasIsTheAccelerationWithoutAccelerations) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    for (const Model<double>& model : testing::random_robots(seed)) {
      auto s = testing::random_state(model, seed);
      const auto k = testing::kinematics_at(model, s);
      s.a.setZero();
      const auto k0 = testing::kinematics_at(model, s);
      for (int i = 0; i < static_cast<int>(model.frames().size()); ++i) {
        for (const FrameAxes axes : kAxes) {
          for (const auto kind : {AccelerationKind::spatial, AccelerationKind::classical}) {
            const auto expected = frame_acceleration(model, k0, FrameId(i), axes, kind).vector();
            const auto found = frame_bias_acceleration(model, k, FrameId(i), axes, kind).vector();
            EXPECT_LT(testing::relative(found, expected), 256 * kEps);
          }
        }
      }
    }
  }
}

TEST(Frames, AFrameIsNamedInFourWays) {
  const Model<double> model = turntable();
  const auto k = testing::kinematics_at(model, testing::random_state(model, 3));
  const FrameId rim = model.find_frame("rim");
  const auto V = frame_velocity(model, k, rim, FrameAxes::local).vector();
  EXPECT_EQ(V, frame_velocity(model, k, model.frame(rim), FrameAxes::local).vector());
  const AnyFrame<double> by_pose(model.find_body("spin"), model.frame(rim).X_BF);
  EXPECT_EQ(V, frame_velocity(model, k, by_pose, FrameAxes::local).vector());
  EXPECT_EQ(frame_pose(model, k, model.find_body("spin")).matrix(),
            frame_pose(model, k, model.find_frame("plate")).matrix());
}

TEST(Frames, TheWorldDoesNotMove) {
  const Model<double> model = turntable();
  const auto k = testing::kinematics_at(model, testing::random_state(model, 4));
  const FrameId floor = model.find_frame("floor");
  EXPECT_EQ(frame_velocity(model, k, floor, FrameAxes::world).vector(), Vector6<double>::Zero());
  EXPECT_EQ(frame_bias_acceleration(model, k, floor, FrameAxes::local, AccelerationKind::classical)
                .vector(),
            Vector6<double>::Zero());
}

TEST(Frames, ErrorsSayWhatIsMissing) {
  const Model<double> model = turntable();
  Kinematics<double> k(model);
  const FrameId rim = model.find_frame("rim");
  EXPECT_EQ(testing::message([&] { frame_pose(model, k, rim); }),
            "frame_pose: these kinematics are incomplete; call forward_kinematics with q "
            "first");
  forward_kinematics(model, VectorX<double>::Zero(1), k);
  EXPECT_EQ(testing::message([&] { frame_velocity(model, k, rim, FrameAxes::local); }),
            "frame_velocity: these kinematics are incomplete; call forward_kinematics with q "
            "and v first");
  EXPECT_EQ(testing::message([&] { frame_pose(model, k, FrameId(3)); }),
            "frame_pose: frame is 3, expected 0 to 2");
  EXPECT_EQ(testing::message([&] { frame_pose(model, k, BodyId(2)); }),
            "frame_pose: body is 2, expected 0 to 1");
  const Model<double> other = testing::random_robots(1)[0];
  EXPECT_EQ(testing::message([&] { frame_pose(other, k, FrameId(0)); }),
            "frame_pose: these kinematics were made for another model (of 2 bodies with 1 "
            "velocities; this one has " +
                std::to_string(other.body_count()) + " and " +
                std::to_string(other.uncoupled_nv()) + ")");
  EXPECT_EQ(testing::message([&] { forward_kinematics(model, VectorX<double>::Zero(2), k); }),
            "forward_kinematics: q has 2 entries, expected 1 (a free joint needs 7 numbers in q "
            "but 6 in v)");
}

}  // namespace
}  // namespace limb
