// Consistency of the synthetic walks: sensor signals are derivatives of the motion, and feet in
// contact do not move.
#include "limb/estimate/walk/synthetic_walk.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/estimate/filter/chi_square.hpp"
#include "limb/estimate/testing/robots.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;

class EveryWalker : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (!walker().is_available()) GTEST_SKIP() << testing::why_no_shared();
  }
  testing::Walker walker() const { return testing::walkers()[GetParam()]; }
  SyntheticWalk walk(double rate, double duration) const {
    WalkOptions options;
    options.feet = walker().feet;
    options.imu = walker().imu;
    options.rate = rate;
    options.duration = duration;
    options.rest = 0.5;
    options.speed = 0.3;
    return {walker().load(), options};
  }
};

TEST_P(EveryWalker, SensorsAreDerivativesOfTheMotion) {
  const SyntheticWalk walk = this->walk(200, 3);
  const auto& all = walk.instants();
  const double h = 1 / walk.options().rate;
  ASSERT_EQ(all.size(), 601u);
  Worst worst_v, worst_f, worst_w, fastest;
  for (std::size_t k = 2; k + 2 < all.size(); ++k) {
    // Five points: fourth order, h^4 / 30 of fifth derivatives. The third derivative of the ramps
    // jumps; there the error is of second order.
    const auto d = [&](auto part) -> Vec {
      return (8 * (part(all[k + 1]) - part(all[k - 1])) - (part(all[k + 2]) - part(all[k - 2]))) /
             (12 * h);
    };
    const auto& R = all[k].truth.R_WS;
    const Vec v = d([](const WalkInstant& x) { return Vec(x.truth.p_WS); });
    const Vec a = d([](const WalkInstant& x) { return Vec(x.truth.v_WS); });
    const Vec w = d(
        [&](const WalkInstant& x) { return Vec(so3::log<double>(R.transpose() * x.truth.R_WS)); });
    worst_v.add((v - all[k].truth.v_WS).norm());
    worst_f.add((R.transpose() * (a - walk.model().gravity()) - all[k].imu.accel).norm());
    worst_w.add((w - all[k].imu.gyro).norm());
    fastest.add(v.norm());
  }
  EXPECT_GT(fastest.value(), 0.25);
  EXPECT_LT(worst_v.value(), 2e-4);
  EXPECT_LT(worst_f.value(), 0.02);
  EXPECT_LT(worst_w.value(), 1e-3);
}

TEST_P(EveryWalker, FeetInContactDoNotMove) {
  const SyntheticWalk walk = this->walk(100, 3);
  const auto& all = walk.instants();
  const Model<double>& model = walk.model();
  Kinematics<double> kinematics(model);
  const LegKinematics legs(model, walker().feet, walker().imu);
  std::vector<int> steps(walker().feet.size(), 0);
  for (std::size_t k = 0; k < all.size(); ++k) {
    forward_kinematics(model, all[k].q, all[k].v, kinematics);
    for (std::size_t i = 0; i < walker().feet.size(); ++i) {
      const FrameId foot = legs.frame(static_cast<int>(i));
      // To the tolerance of inverse kinematics.
      EXPECT_LT((frame_pose(model, kinematics, foot).p - all[k].p_WF[i]).norm(), 1e-7);
      if (all[k].contact[i]) {
        EXPECT_LT(frame_velocity(model, kinematics, foot, FrameAxes::local_world_aligned).v.norm(),
                  1e-6);
        EXPECT_NEAR(all[k].p_WF[i].z(), 0, 1e-12);
        if (k > 0 && all[k - 1].contact[i]) {
          EXPECT_EQ(all[k].p_WF[i], all[k - 1].p_WF[i]);
        }
      } else if (all[k - 1].contact[i]) {
        ++steps[i];
      }
    }
  }
  for (const int n : steps) EXPECT_GE(n, 3);
  EXPECT_GT(walk.length(), 0.4);
}

TEST_P(EveryWalker, LegKinematicsGiveTheFeetRelativeToTheSensor) {
  const SyntheticWalk walk = this->walk(50, 2);
  LegKinematics legs(walk.model(), walker().feet, walker().imu);
  const auto& rows = walk.model().coupling().rows();
  for (const WalkInstant& now : walk.instants()) {
    // The entries of the base are ignored.
    VectorX<double> q = now.q, v = now.v;
    q.head(rows[0].nq).setConstant(std::nan(""));
    v.head(6).setConstant(std::nan(""));
    ASSERT_EQ(legs.update(q, v), Status::ok);
    for (int i = 0; i < legs.feet(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const Vec p = now.truth.R_WS.transpose() * (now.p_WF[k] - now.truth.p_WS);
      EXPECT_LT((legs.p_SF(i) - p).norm(), 1e-7);
      if (!now.contact[k]) continue;
      // Zero velocity of the foot: v_WS + R (w x p + v_SF) = 0.
      const Vec v_WF =
          now.truth.v_WS + now.truth.R_WS * (now.imu.gyro.cross(legs.p_SF(i)) + legs.v_SF(i));
      EXPECT_LT(v_WF.norm(), 1e-6);
    }
  }
}

TEST_P(EveryWalker, NoiseThroughTheJacobianMatchesManySamples) {
  LegKinematics legs(walker().load(), walker().feet, walker().imu);
  const VectorX<double> posture = standing_posture(legs.model(), legs, 0.2);
  const VectorX<double> rest = VectorX<double>::Zero(legs.model().nv());
  NoiseGenerator random(5);
  const double deviation = 1e-3;
  ASSERT_EQ(legs.update(posture, rest), Status::ok);
  const Vec p = legs.p_SF(0);
  const Matrix3<double> N = legs.noise(0, deviation, 0);
  Matrix3<double> sum = Matrix3<double>::Zero();
  constexpr int kSamples = 2000;
  VectorX<double> tangent = rest, q = posture;
  for (int k = 0; k < kSamples; ++k) {
    for (Eigen::Index y = 6; y < tangent.size(); ++y) tangent[y] = deviation * random.normal();
    integrate(legs.model(), posture, tangent, q);
    ASSERT_EQ(legs.update(q, rest), Status::ok);
    sum += (legs.p_SF(0) - p) * (legs.p_SF(0) - p).transpose() / kSamples;
  }
  // A variance of 2000 samples has a relative deviation of sqrt(2/2000) = 0.03; three of them, in
  // each of a few directions.
  EXPECT_LT((sum - N).norm(), 0.15 * N.norm());
}

INSTANTIATE_TEST_SUITE_P(Robots, EveryWalker, ::testing::Range<std::size_t>(0, 5),
                         [](const auto& robot) {
                           std::string name = testing::walkers()[robot.param].name;
                           for (char& c : name) c = std::isalnum(c) ? c : '_';
                           return name;
                         });

TEST(LegKinematics, RejectsInvalidArguments) {
  const auto error = [](const Model<double>& model, std::vector<std::string> feet,
                        const std::string& imu) -> std::string {
    try {
      LegKinematics legs(model, feet, imu);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const Model<double> quadruped = load_model("builtin:quadruped");
  EXPECT_EQ(error(load_model("builtin:arm7"), {"tool"}, ""),
            "LegKinematics: the robot's root is not free (load it with a free base: Base::free, "
            "--base free)");
  EXPECT_EQ(error(quadruped, {}, ""), "LegKinematics: feet is 0 names, expected 1 to 8");
  EXPECT_NE(error(quadruped, {"FL_fot"}, "").find("FL_foot"), std::string::npos);
  EXPECT_EQ(
      error(quadruped, {"trunk"}, ""),
      "LegKinematics: foot 'trunk' is fixed to the base, expected a frame connected to the base "
      "by at least one joint");
  // A sensor on a leg is a sensor, but not of a synthetic walk.
  EXPECT_EQ(error(quadruped, {"FL_foot"}, "FR_calf"), "");
  WalkOptions walking;
  walking.feet = {"FL_foot"};
  walking.imu = "FR_calf";
  try {
    SyntheticWalk(quadruped, walking);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "SyntheticWalk: imu is 'FR_calf', which joints move, expected a frame that is "
                 "fixed to the base");
  }
}

// The same walk measured by a sensor that is rotated and away from the origin of the base, against
// the laws of a rigid body: a_S = a_B + dw x r + w x (w x r).
TEST(SyntheticWalk, SensorOffTheBaseMovesAsARigidBody) {
  const Model<double> model = testing::quadruped_with_imu();
  const Pose<double> X_BS = testing::tilted_imu();
  WalkOptions options;
  options.feet = testing::walkers()[0].feet;
  options.rate = 400;
  options.duration = 1.5;
  options.rest = 0.2;
  options.tilt = 0.2;
  options.crouch = 0.25;
  const SyntheticWalk base(model, options);
  options.imu = "imu";
  const SyntheticWalk walk(model, options);
  ASSERT_EQ(walk.instants().size(), base.instants().size());
  LegKinematics legs(model, options.feet, "imu");
  const double h = 1 / options.rate;
  Worst p, R, v, w, f, foot;
  double fastest = 0;
  for (std::size_t k = 2; k + 2 < base.instants().size(); ++k) {
    const WalkInstant &b = base.instants()[k], &s = walk.instants()[k];
    const auto gyro = [&](std::size_t i) { return base.instants()[i].imu.gyro; };
    const Vec dw = (8 * (gyro(k + 1) - gyro(k - 1)) - (gyro(k + 2) - gyro(k - 2))) / (12 * h);
    const Vec &r = X_BS.p, &w_B = b.imu.gyro;
    const Vec swing = dw.cross(r) + w_B.cross(w_B.cross(r));
    p.add((s.truth.p_WS - (b.truth.p_WS + b.truth.R_WS * r)).norm());
    R.add((s.truth.R_WS - b.truth.R_WS * X_BS.R).norm());
    v.add((s.truth.v_WS - (b.truth.v_WS + b.truth.R_WS * w_B.cross(r))).norm());
    w.add((s.imu.gyro - X_BS.R.transpose() * w_B).norm());
    f.add((s.imu.accel - X_BS.R.transpose() * (b.imu.accel + swing)).norm());
    fastest = worse(fastest, swing.norm());
    ASSERT_EQ(legs.update(s.q, s.v), Status::ok);
    for (int i = 0; i < 4; ++i) {
      const Vec p_WF = s.truth.p_WS + s.truth.R_WS * legs.p_SF(i);
      foot.add((p_WF - s.p_WF[static_cast<std::size_t>(i)]).norm());
    }
  }
  EXPECT_GT(fastest, 20);  // m/s^2
  const double eps = std::numeric_limits<double>::epsilon();
  EXPECT_LT(p.value(), 10 * eps);
  EXPECT_LT(R.value(), 10 * eps);
  EXPECT_LT(v.value(), 10 * eps);
  EXPECT_LT(w.value(), 10 * eps);
  // The angular acceleration is by finite differences; its second derivative jumps with the ramps.
  EXPECT_LT(f.value(), 0.02);
  EXPECT_LT(foot.value(), 1e-7);  // the tolerance of inverse kinematics
}

TEST(SyntheticWalk, RejectsInvalidArguments) {
  const Model<double> quadruped = load_model("builtin:quadruped");
  WalkOptions options;
  options.feet = testing::walkers()[0].feet;
  options.duty = 2;
  EXPECT_THROW(SyntheticWalk(quadruped, options), Error);
  options.duty = 0.6;
  options.rate = -1;
  EXPECT_THROW(SyntheticWalk(quadruped, options), Error);
  options.rate = 100;
  options.step_height = 3;  // higher than the legs are long
  try {
    SyntheticWalk(quadruped, options);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cannot reach their targets"), std::string::npos);
  }
}

TEST(NoisyWalk, HasTheGivenNoiseAndIsReproducible) {
  WalkOptions options;
  options.feet = testing::walkers()[0].feet;
  options.rate = 200;
  options.duration = 20;
  options.rest = 10;  // at rest all the time
  options.duty = 1;
  const SyntheticWalk walk(load_model("builtin:quadruped"), options);
  WalkErrors errors;
  errors.gyro_bias = {0.1, 0.2, 0.3};
  errors.imu = {2e-3, 2e-2, 0, 0};
  errors.encoder = 1e-3;
  NoisyWalk a(walk, errors, 7), b(walk, errors, 7), c(walk, errors, 8);
  Vec mean = Vec::Zero(), square = Vec::Zero();
  int n = 0, different = 0;
  double encoder = 0;
  while (a.next()) {
    ASSERT_TRUE(b.next());
    ASSERT_TRUE(c.next());
    EXPECT_EQ(a.imu().gyro, b.imu().gyro);
    EXPECT_EQ(a.q(), b.q());
    different += a.imu().gyro != c.imu().gyro;
    const Vec e = a.imu().gyro - a.instant().imu.gyro - errors.gyro_bias;
    mean += e;
    square += e.cwiseAbs2();
    encoder += std::pow(a.q()[8] - a.instant().q[8], 2);
    ++n;
  }
  ASSERT_EQ(n, 4001);
  EXPECT_EQ(different, n);
  // Standard deviation of a sample: density times sqrt(rate); of its square over 4001 samples: 2.2
  // %.
  const double deviation = 2e-3 * std::sqrt(200.0);
  EXPECT_LT((square / n - Vec::Constant(deviation * deviation)).norm(),
            0.1 * deviation * deviation);
  EXPECT_LT(mean.norm() / n, 5 * deviation / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(encoder / n), 1e-3, 0.05e-3);
}

/// Bounds on a sample variance of n normal values, relative to the true one, that hold but once in
/// a million.
ChiSquareBand variance_band(double n) {
  return chi_square_band(1, n, 1 - 1e-6);
}

TEST(NoisyWalk, EverySensorHasItsStatistics) {
  WalkOptions options;
  options.feet = testing::walkers()[0].feet;
  options.rate = 250;
  options.duration = 12;
  options.rest = 6;  // at rest all the time
  options.duty = 1;
  const SyntheticWalk walk(load_model("builtin:quadruped"), options);
  WalkErrors errors;
  errors.gyro_bias = {0.1, 0.2, 0.3};
  errors.accel_bias = {-0.1, 0.3, 0.2};
  errors.imu = {2e-3, 3e-2, 4e-4, 5e-3};
  errors.encoder = 1e-3;
  errors.encoder_rate = 0.07;
  const double T = 1 / options.rate;
  NoisyWalk noisy(walk, errors, 11);
  Vec gyro_bias = errors.gyro_bias, accel_bias = errors.accel_bias;
  Vec gyro = Vec::Zero(), accel = Vec::Zero(), gyro_walk = Vec::Zero(), accel_walk = Vec::Zero();
  VectorX<double> encoder = VectorX<double>::Zero(12), rate = encoder;
  double cross = 0;
  int n = 0;
  while (noisy.next()) {
    const FilterState& x = noisy.truth();
    const Vec e = noisy.imu().gyro - noisy.instant().imu.gyro - x.gyro_bias;
    const Vec d = noisy.imu().accel - noisy.instant().imu.accel - x.accel_bias;
    gyro += e.cwiseAbs2();
    accel += d.cwiseAbs2();
    cross += e.x() * e.y();
    if (n == 0) {
      EXPECT_EQ(x.gyro_bias, errors.gyro_bias);
      EXPECT_EQ(x.accel_bias, errors.accel_bias);
    }
    gyro_walk += (x.gyro_bias - gyro_bias).cwiseAbs2();
    accel_walk += (x.accel_bias - accel_bias).cwiseAbs2();
    gyro_bias = x.gyro_bias;
    accel_bias = x.accel_bias;
    encoder += (noisy.q() - noisy.instant().q).tail<12>().cwiseAbs2();
    rate += (noisy.v() - noisy.instant().v).tail<12>().cwiseAbs2();
    EXPECT_LT((noisy.q() - noisy.instant().q).head<7>().norm(), 1e-15);
    EXPECT_EQ((noisy.v() - noisy.instant().v).head<6>().norm(), 0);
    ++n;
  }
  ASSERT_EQ(n, 3001);
  const auto expect_variance = [](const auto& sums, double count, double variance) {
    const ChiSquareBand band = variance_band(count);
    for (Eigen::Index i = 0; i < sums.size(); ++i) {
      EXPECT_GT(sums[i] / count, band.low * variance);
      EXPECT_LT(sums[i] / count, band.high * variance);
    }
  };
  // A density over the root of the period for a sample, times it for a step of a random walk.
  expect_variance(gyro, n, 4e-6 / T);
  expect_variance(accel, n, 9e-4 / T);
  expect_variance(gyro_walk, n - 1, 16e-8 * T);
  expect_variance(accel_walk, n - 1, 25e-6 * T);
  expect_variance(encoder, n, 1e-6);
  expect_variance(rate, n, 0.0049);
  // Axes are independent: a mean of n products has a deviation of 1 / sqrt(n).
  EXPECT_LT(std::abs(cross) / n, 5 * 4e-6 / T / std::sqrt(n));
}

// A foot in contact creeps as a random walk in the world, all else at rest.
TEST(NoisyWalk, FeetCreepAsARandomWalk) {
  WalkOptions options;
  options.feet = testing::walkers()[0].feet;
  options.rate = 100;
  options.duration = 5;
  options.rest = 2.5;
  options.duty = 1;
  options.crouch = 0.25;
  const SyntheticWalk walk(load_model("builtin:quadruped"), options);
  WalkErrors errors;
  errors.imu = {0, 0, 0, 0};
  errors.creep = 1e-3;
  LegKinematics legs(walk.model(), options.feet);
  NoisyWalk noisy(walk, errors, 12);
  std::vector<Vec> before(4);
  Vec sum = Vec::Zero();
  int n = 0;
  for (int k = 0; noisy.next(); ++k) {
    ASSERT_EQ(legs.update(noisy.q(), noisy.v()), Status::ok);
    EXPECT_EQ(noisy.imu().gyro, noisy.instant().imu.gyro);
    for (std::size_t i = 0; i < 4; ++i) {
      const FilterState& x = noisy.truth();
      const Vec now = x.p_WS + x.R_WS * legs.p_SF(static_cast<int>(i));
      if (k == 0) {
        // The tolerance of inverse kinematics.
        EXPECT_LT((now - noisy.instant().p_WF[i]).norm(), 1e-7);
      } else {
        sum += (now - before[i]).cwiseAbs2();
        ++n;
      }
      before[i] = now;
    }
  }
  ASSERT_EQ(n, 4 * 500);
  // The displacement of joints is of first order: 1 % of a step, millimetres beside decimetres.
  const ChiSquareBand band = variance_band(n);
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(sum[i] / n, 0.97 * band.low * 1e-6 / options.rate);
    EXPECT_LT(sum[i] / n, 1.03 * band.high * 1e-6 / options.rate);
  }
}

// The default options work for every robot.
TEST(SyntheticWalk, DefaultsWorkForEveryWalker) {
  std::vector<testing::Walker> all = testing::walkers();
  all.push_back({"go2.urdf", {"FL_foot", "FR_foot", "RL_foot", "RR_foot"}, ""});
  for (const testing::Walker& walker : testing::available_walkers(all)) {
    WalkOptions options;
    options.feet = walker.feet;
    SCOPED_TRACE(walker.name);
    try {
      EXPECT_GT(SyntheticWalk(walker.load(), options).length(), 2);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace
}  // namespace limb
