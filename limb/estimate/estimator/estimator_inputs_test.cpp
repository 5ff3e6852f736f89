// Each optional input of the estimator against a simulated truth: rolling ball feet, soles,
// terrain, fixes with delay, contact probabilities.
#include <gtest/gtest.h>

#include <cmath>

#include "limb/base/testing/worst.hpp"
#include "limb/estimate/testing/quadruped_walk.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

Mat base_rotation(const VectorX<double>& q) {
  return to_matrix(quat_xyzw(q[3], q[4], q[5], q[6]));
}

/// Where an estimator without sensor noise ends, relative to the truth, on a walk with ball feet.
/// The centre of a ball that rolls moves by turn x (radius up); the joints of the walk, whose feet
/// are fixed, are corrected by it.
Vec rolling_error(double radius, double assumed_radius, double* length) {
  const SyntheticWalk& walk = testing::quadruped_walk({});
  LegKinematics legs(walk.model(), walk.options().feet);
  EstimatorOptions options;
  options.foot_radius = assumed_radius;
  options.initial.p_WB = walk.instants()[0].q.head<3>();
  const Mat R0 = base_rotation(walk.instants()[0].q);
  options.initial.yaw = std::atan2(R0(1, 0), R0(0, 0));
  BaseEstimator estimator(walk.model(), walk.options().feet, "", options);
  std::array<Vec, 4> rolled;
  std::array<Mat, 4> R_WF;
  std::vector<double> forces(4);
  const Vec up = Vec::UnitZ();
  bool first = true;
  Vec error;
  for (const WalkInstant& now : walk.instants()) {
    VectorX<double> q = now.q;
    const Mat R = base_rotation(now.q);
    legs.update(q, now.v);
    const auto place = [&](std::size_t i, const Vec& target) {
      // The joints that put the foot there: Newton's method with the walk's own inverse.
      for (int k = 0; k < 4; ++k) {
        const Vec p_WF = now.q.head<3>() + R * legs.p_SF(static_cast<int>(i));
        const VectorX<double> dq = now.dq_by_foot[i] * (target - p_WF);
        q.tail(dq.size() - 6) += dq.tail(dq.size() - 6);
        legs.update(q, now.v);
      }
    };
    for (std::size_t i = 0; i < 4; ++i) {
      if (first || !now.contact[i]) {
        rolled[i].setZero();
      } else {
        // The turn of the foot depends on where it is: two rounds.
        Vec turned = rolled[i];
        for (int round = 0; round < 2; ++round) {
          place(i, now.p_WF[i] + turned);
          const Mat R_now = R * legs.R_SF(static_cast<int>(i));
          turned = rolled[i] + so3::log<double>(R_now * R_WF[i].transpose()).cross(radius * up);
        }
        rolled[i] = turned;
        place(i, now.p_WF[i] + turned);
      }
      R_WF[i] = R * legs.R_SF(static_cast<int>(i));
      forces[i] = now.contact[i] ? 100 : 0;
    }
    first = false;
    estimator.imu(now.t, now.imu);
    estimator.legs(now.t, q, VectorX<double>::Zero(now.v.size()), forces);
    error = estimator.estimate().X_WB.p - now.q.head<3>();
  }
  *length = walk.length();
  return error;
}

TEST(EstimatorInputs, ABallFootRolls) {
  constexpr double kRadius = 0.03;
  double length = 0;
  const double ignored = rolling_error(kRadius, 0, &length).norm(),
               known = rolling_error(kRadius, kRadius, &length).norm(),
               none = rolling_error(0, 0, &length).norm();
  std::printf("radius 3 cm, %.2f m: error %.1f mm ignored, %.1f mm known; point feet %.1f mm\n",
              length, 1e3 * ignored, 1e3 * known, 1e3 * none);
  // A leg of length l rolls by radius / l of each step: percents of the distance.
  EXPECT_GT(ignored, 0.02 * length);
  // Known, what is left is the integration between samples and that of point feet.
  EXPECT_LT(known, 0.005 * length + 2 * none);
}

TEST(EstimatorInputs, SolesMeasureOrientation) {
  const testing::Walker humanoid = testing::walkers()[1];
  WalkOptions walking;
  walking.feet = humanoid.feet;
  walking.rate = 200;
  walking.duration = 6;
  const SyntheticWalk walk(humanoid.load(), walking);
  double deviation[2] = {}, error[2] = {};
  for (const int soles : {0, 1}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      EstimatorOptions options;
      options.adapt = false;  // deviations are compared for the same assumed noise
      if (soles == 1) {
        options.sole_length = 0.2;
        options.sole_width = 0.1;
      }
      testing::run_walk(walk, testing::typical_errors(), options, seed,
                        [&](const NoisyWalk& noisy, const BaseEstimator& estimator) {
                          if (noisy.instant().t < walking.duration - 0.011) return;
                          const BaseEstimate e = estimator.estimate();
                          const Vec rotation = so3::log<double>(
                              base_rotation(noisy.instant().q).transpose() * e.X_WB.R);
                          const double sigma = std::sqrt(e.covariance(5, 5));
                          error[soles] = worse(error[soles], std::abs(rotation.z()) / sigma);
                          deviation[soles] = worse(deviation[soles], sigma);
                        });
    }
  }
  std::printf("yaw deviation %.2f mrad with points, %.2f mrad with soles\n", 1e3 * deviation[0],
              1e3 * deviation[1]);
  EXPECT_LT(deviation[1], deviation[0]);
  // Four values, each beyond 4 deviations once in 16,000.
  EXPECT_LT(error[0], 4);
  EXPECT_LT(error[1], 4);
}

/// A walker with two feet on treads, as positions of the feet in the base: up and down stairs.
struct StairWalk {
  static constexpr double kRest = 1.2, kStep = 0.5, kRate = 200, kSpeed = 0.4, kHeight = 0.5;
  int steps;
  double rise;
  /// Height of the tread of a foothold: up for half of the way, then down again.
  double tread(int k) const { return rise * std::min(k, steps - k); }
  double duration() const { return kRest + kStep * steps + kRest; }

  struct Sample {
    Vec p, v, a;
    std::array<Vec, 2> p_WF;
    std::array<bool, 2> stands;
  };
  Sample at(double t) const {
    // Foothold k is used from its landing until the landing of k + 1, plus a tenth of a step.
    const double s = std::clamp((t - kRest) / kStep, 0.0, static_cast<double>(steps));
    const int k = std::min(static_cast<int>(s), steps - 1);
    const double x = s - k;
    Sample r;
    // x and z of the base: blends of fifth order over each step, at rest in between.
    const double b = x * x * x * (10 - 15 * x + 6 * x * x),
                 b1 = 30 * x * x * (1 - x) * (1 - x) / kStep,
                 b2 = 60 * x * (1 - x) * (1 - 2 * x) / (kStep * kStep);
    const bool moves = t > kRest && s < steps;
    const Vec from(kSpeed * kStep * k, 0, tread(k) + kHeight),
        to(kSpeed * kStep * (k + 1), 0, tread(k + 1) + kHeight);
    r.p = from + b * (to - from);
    r.v = moves ? Vec(b1 * (to - from)) : Vec::Zero();
    r.a = moves ? Vec(b2 * (to - from)) : Vec::Zero();
    // Foot k % 2 stands on foothold k; the other one swings from k - 1 to k + 1 between 0.1 and
    // 0.9.
    const auto hold = [&](int n) {
      return Vec(kSpeed * kStep * n, n % 2 == 0 ? 0.1 : -0.1, tread(n));
    };
    const std::size_t stance = static_cast<std::size_t>(k % 2), swing = 1 - stance;
    r.p_WF[stance] = hold(k);
    r.stands[stance] = true;
    const bool swings = x > 0.1 && x < 0.9 && moves;
    r.p_WF[swing] = x < 0.5 && k > 0    ? hold(k - 1)
                    : k == 0 && x < 0.5 ? Vec(0, -0.1, 0)
                                        : hold(k + 1);
    r.stands[swing] = !swings;
    return r;
  }
};

struct TerrainResult {
  double height_error = 0, height_deviation = 0;
  std::uint64_t used = 0, rejected = 0;
};

TerrainResult walk_stairs(const StairWalk& walk, Terrain terrain, std::uint64_t seed) {
  const Model<double> model = testing::walkers()[1].load();
  EstimatorOptions options;
  options.terrain = terrain;
  options.step_height = 0.1;
  options.initial.p_WB = walk.at(0).p;
  BaseEstimator estimator(model, testing::walkers()[1].feet, "", options);
  NoiseGenerator noise(seed);
  const auto vec = [&](double s) {
    return Vec(s * noise.normal(), s * noise.normal(), s * noise.normal());
  };
  const Vec bias = vec(0.03);
  constexpr double kFoot = 3e-3;
  TerrainResult result;
  for (int i = 0; i < walk.duration() * StairWalk::kRate; ++i) {
    const double t = i / StairWalk::kRate, root = std::sqrt(StairWalk::kRate);
    const StairWalk::Sample s = walk.at(t);
    estimator.imu(t, {vec(2e-4 * root), Vec(s.a + Vec(0, 0, 9.81) + bias + vec(2.5e-3 * root))});
    std::vector<FootSample> feet;
    for (std::size_t k = 0; k < 2; ++k) {
      feet.push_back(
          {s.p_WF[k] - s.p + vec(kFoot), kFoot * kFoot * Mat::Identity(), s.stands[k] ? 0.9 : 0.1});
    }
    estimator.feet(t, feet);
    if (!estimator.ready()) continue;
    const BaseEstimate e = estimator.estimate();
    result.height_error = e.X_WB.p.z() - s.p.z();
    result.height_deviation = std::sqrt(e.covariance(2, 2));
  }
  result.used = estimator.diagnostics().heights_used;
  result.rejected = estimator.diagnostics().heights_rejected;
  return result;
}

TEST(EstimatorInputs, TerrainBoundsTheHeight) {
  for (const auto& [terrain, rise] :
       {std::pair{Terrain::flat, 0.0}, std::pair{Terrain::steps, 0.2}}) {
    const StairWalk walk{60, rise};
    double with = 0, without = 0;
    std::uint64_t used = 0, rejected = 0;
    constexpr int kRuns = 6;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      const TerrainResult known = walk_stairs(walk, terrain, seed),
                          unknown = walk_stairs(walk, Terrain::unknown, seed);
      with += known.height_error * known.height_error / kRuns;
      without += unknown.height_error * unknown.height_error / kRuns;
      used += known.used;
      rejected += known.rejected;
      EXPECT_LT(std::abs(known.height_error), 4 * known.height_deviation);
      EXPECT_LT(std::abs(unknown.height_error), 4 * unknown.height_deviation);
      EXPECT_LT(known.height_deviation, unknown.height_deviation);
    }
    std::printf(
        "rise %.1f m: height rms %.1f mm with terrain, %.1f mm without; %d used, %d refused\n",
        rise, 1e3 * std::sqrt(with), 1e3 * std::sqrt(without), static_cast<int>(used),
        static_cast<int>(rejected));
    EXPECT_LT(with, without);
    EXPECT_LT(std::sqrt(with), 0.01);  // ground_deviation
    EXPECT_GT(used, 20U * kRuns);
    EXPECT_LE(rejected, used / 20);
  }
}

/// Runs a walk with its joints, and fixes of the truth of 0.1 s ago every 0.1 s.
template <typename GiveFix>
BaseEstimate walk_with_fixes(bool feet, std::uint64_t seed, const GiveFix& give,
                             WalkInstant* last) {
  const SyntheticWalk& walk = testing::quadruped_walk({});
  WalkErrors errors = testing::typical_errors();
  errors.gyro_bias = {1e-3, -1e-3, 2e-3};
  EstimatorOptions options;
  options.initial.p_WB = walk.instants()[0].q.head<3>();
  const Mat R0 = base_rotation(walk.instants()[0].q);
  options.initial.yaw = std::atan2(R0(1, 0), R0(0, 0));
  BaseEstimator estimator(walk.model(), walk.options().feet, "", options);
  NoisyWalk noisy(walk, errors, seed);
  NoiseGenerator noise(derived_seed(seed, 3));
  std::vector<double> forces(4);
  constexpr std::size_t kDelay = 20, kEvery = 20;  // of 200 Hz
  for (std::size_t k = 0; noisy.next(); ++k) {
    estimator.imu(noisy.instant().t, noisy.imu());
    for (std::size_t i = 0; i < 4; ++i) forces[i] = feet && noisy.instant().contact[i] ? 100 : 0;
    estimator.legs(noisy.instant().t, noisy.q(), noisy.v(), forces);
    if (estimator.ready() && k >= kDelay && k % kEvery == 0) {
      give(estimator, walk.instants()[k - kDelay], noise);
    }
    *last = noisy.instant();
  }
  EXPECT_LE(20 * estimator.diagnostics().fixes_rejected, estimator.diagnostics().fixes_used + 20);
  return estimator.estimate();
}

TEST(EstimatorInputs, DelayedOrientationFixesBoundTheYaw) {
  constexpr double kDeviation = 2e-3;
  double with = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    WalkInstant last;
    const auto yaw_error = [&](const BaseEstimate& e) {
      return so3::log<double>(base_rotation(last.q).transpose() * e.X_WB.R).z();
    };
    const auto fixed = walk_with_fixes(
        true, seed,
        [&](BaseEstimator& e, const WalkInstant& then, NoiseGenerator& n) {
          const Vec error(n.normal(), n.normal(), n.normal());
          e.orientation_fix(then.t, base_rotation(then.q) * so3::exp<double>(kDeviation * error),
                            kDeviation);
        },
        &last);
    with = worse(with, std::abs(yaw_error(fixed)));
    EXPECT_LT(std::abs(yaw_error(fixed)), 4 * std::sqrt(fixed.covariance(5, 5)));
    const auto free = walk_with_fixes(
        true, seed, [](BaseEstimator&, const WalkInstant&, NoiseGenerator&) {}, &last);
    EXPECT_LT(fixed.covariance(5, 5), free.covariance(5, 5));
  }
  // About fifty fixes, of which the last ten or so count: below the deviation of one.
  EXPECT_LT(with, kDeviation);
}

TEST(EstimatorInputs, DelayedVelocityFixesReplaceFeet) {
  constexpr double kDeviation = 0.02;
  for (const bool in_base_axes : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      WalkInstant last;
      const BaseEstimate e = walk_with_fixes(
          false, seed,
          [&](BaseEstimator& estimator, const WalkInstant& then, NoiseGenerator& n) {
            const Vec v = then.v.head<3>() + kDeviation * Vec(n.normal(), n.normal(), n.normal());
            estimator.velocity_fix(then.t, in_base_axes ? v : Vec(base_rotation(then.q) * v),
                                   kDeviation * kDeviation * Mat::Identity(), in_base_axes);
          },
          &last);
      const Vec velocity = e.v_WB - base_rotation(last.q) * last.v.head<3>();
      const Vec position = e.X_WB.p - last.q.head<3>();
      for (int i = 0; i < 3; ++i) {
        EXPECT_LT(std::abs(velocity[i]), 4 * std::sqrt(e.covariance(6 + i, 6 + i)));
        EXPECT_LT(std::abs(position[i]), 4 * std::sqrt(e.covariance(i, i)));
      }
      // Ten fixes per second of 2 cm/s: the velocity is known to half of that, and the position
      // after 6 s to some centimetres, where without them an IMU would be metres off.
      EXPECT_LT(velocity.norm(), 2 * kDeviation);
      EXPECT_LT(position.norm(), 0.1);
    }
  }
}

/// A walk whose IMU is on a link that joints move, as rows of exact samples: its rate and
/// acceleration from the poses of three instants.
struct MovingImu {
  std::vector<ImuSample> samples;  ///< of the instants but the first and the last
  MovingImu(const SyntheticWalk& walk, const std::string& frame) {
    const Model<double>& model = walk.model();
    Kinematics<double> kinematics(model);
    std::vector<Pose<double>> poses;
    for (const WalkInstant& now : walk.instants()) {
      forward_kinematics(model, now.q, kinematics);
      poses.push_back(frame_pose(model, kinematics, model.find_frame(frame)));
    }
    const double T = 1 / walk.options().rate;
    for (std::size_t k = 1; k + 1 < poses.size(); ++k) {
      const Pose<double>&before = poses[k - 1], &now = poses[k], &after = poses[k + 1];
      const Vec a = (after.p - 2 * now.p + before.p) / (T * T);
      samples.push_back({so3::log<double>(before.R.transpose() * after.R) / (2 * T),
                         now.R.transpose() * (a - model.gravity())});
    }
  }
};

// A sensor on the thigh of a leg: the joints between it and the base turn it by half a radian in
// each step.
TEST(EstimatorInputs, TheImuMayBeOnAMovingLink) {
  const testing::Walker quadruped = testing::walkers()[0];
  WalkOptions walking;
  walking.feet = quadruped.feet;
  walking.rate = 400;
  walking.duration = 6;
  walking.rest = 1.2;
  Description<double> robot = load_description(quadruped.name);
  const std::string thigh = "thigh_imu";
  robot.frames.push_back({thigh, "FL_thigh", testing::tilted_imu(), {}});
  const SyntheticWalk walk(build_model(robot, Base::described), walking);
  const MovingImu imu(walk, thigh);
  const auto error_with = [&](const std::string& frame, double* velocity) {
    EstimatorOptions options;
    options.initial.p_WB = walk.instants()[0].q.head<3>();
    const Mat R0 = base_rotation(walk.instants()[0].q);
    options.initial.yaw = std::atan2(R0(1, 0), R0(0, 0));
    BaseEstimator estimator(walk.model(), walking.feet, frame, options);
    std::vector<double> forces(4);
    double error = 0;
    *velocity = 0;
    for (std::size_t k = 0; k < imu.samples.size(); ++k) {
      const WalkInstant& now = walk.instants()[k + 1];
      estimator.imu(now.t, imu.samples[k]);
      for (std::size_t i = 0; i < 4; ++i) forces[i] = now.contact[i] ? 100 : 0;
      estimator.legs(now.t, now.q, now.v, forces);
      if (!estimator.ready()) continue;
      const BaseEstimate e = estimator.estimate();
      error = worse(error, (e.X_WB.p - now.q.head<3>()).norm());
      *velocity = worse(*velocity, (e.v_WB - base_rotation(now.q) * now.v.head<3>()).norm());
    }
    return error;
  };
  double velocity = 0, wrong_velocity = 0;
  const double right = error_with(thigh, &velocity), wrong = error_with("", &wrong_velocity);
  std::printf("IMU on a thigh: largest error %.1f mm, %.1f mm/s; as if on the base: %.1f mm\n",
              1e3 * right, 1e3 * velocity, 1e3 * wrong);
  // No noise: what is left are corners of the swing between samples of 2.5 ms.
  EXPECT_LT(right, 0.005);
  EXPECT_LT(velocity, 0.05);
  EXPECT_GT(wrong, 0.05);
}

// Forces in newtons: a contact is made above one threshold and broken below a smaller one.
TEST(EstimatorInputs, ContactsByThresholdsOfForce) {
  const SyntheticWalk& walk = testing::quadruped_walk({});
  EstimatorOptions options;
  options.contact.make_force = 30;
  options.contact.break_force = 10;
  BaseEstimator estimator(walk.model(), walk.options().feet, "", options);
  NoisyWalk noisy(walk, testing::typical_errors(), 1);
  // In each row: the force of the first foot from then on, and whether it stands.
  struct Part {
    double t, force;
    bool stands;
  };
  const std::vector<Part> parts = {{0, 29, false},  {0.2, 31, true},  {0.4, 11, true},
                                   {0.6, 9, false}, {0.8, 29, false}, {0.9, std::nan(""), false}};
  while (noisy.next() && noisy.instant().t < 2.2) {
    const double t = noisy.instant().t - 1.05;  // after the initial rest
    estimator.imu(noisy.instant().t, noisy.imu());
    const Part* now = &parts[0];
    for (const Part& part : parts) {
      if (t >= part.t - 1e-9) now = &part;
    }
    estimator.legs(noisy.instant().t, noisy.q(), noisy.v(), std::vector{now->force, 40., 40., 40.});
    // The detector waits for some samples before it changes.
    if (t > now->t + 0.05 && estimator.ready()) {
      EXPECT_EQ(estimator.foot(0).stands, now->stands) << t;
      EXPECT_TRUE(estimator.foot(1).stands);
    }
  }
  EXPECT_TRUE(estimator.ready());
}

// A foot that is probably not in contact is not used; one that is less certain counts less.
TEST(EstimatorInputs, ContactsAreProbabilities) {
  const Model<double> model = testing::walkers()[1].load();
  const auto run = [&](double probability) {
    EstimatorOptions options;
    options.initial.p_WB = Vec(0, 0, StairWalk::kHeight);
    BaseEstimator estimator(model, testing::walkers()[1].feet, "", options);
    for (int i = 0; i < 600; ++i) {
      const double t = i / StairWalk::kRate;
      estimator.imu(t, {Vec::Zero(), Vec(0, 0, 9.81)});
      std::vector<FootSample> feet;
      for (const double y : {0.1, -0.1}) {
        feet.push_back({Vec(0, y, -StairWalk::kHeight), 1e-6 * Mat::Identity(), probability});
      }
      estimator.feet(t, feet);
    }
    return estimator;
  };
  const BaseEstimator certain = run(1), likely = run(0.6), unlikely = run(0.2);
  EXPECT_TRUE(certain.foot(0).stands && likely.foot(0).stands && !unlikely.foot(0).stands);
  EXPECT_EQ(unlikely.diagnostics().feet_used, 0U);
  const auto deviation = [](const BaseEstimator& e) { return e.estimate().covariance(6, 6); };
  EXPECT_LT(deviation(certain), deviation(likely));
  EXPECT_LT(deviation(likely), deviation(unlikely));
}

}  // namespace
}  // namespace limb
