// Sensors: closed forms of their true values, and the statistics of their errors.
#include "limb/sim/world/sensors.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using testing::message;
using Vector = VectorX<double>;

/// A state with its accelerations, ready for sensors.
struct Scene {
  explicit Scene(Model<double> m) : model(std::move(m)), kinematics(model) {
    s = make_state(model);
    a = tau = Vector::Zero(model.nv());
    set();
  }
  void set() { forward_kinematics(model, s.q, s.v, a, kinematics); }
  SensorInput input() const { return {model, s, a, tau, kinematics}; }

  Model<double> model;
  Kinematics<double> kinematics;
  RobotState<double> s;
  Vector a, tau;
};

Model<double> wheel() {
  RobotBuilder<double> robot("wheel");
  robot.link("w", 1, {0, 0, 0}, Eigen::Matrix3d::Identity());
  robot.joint("axle", Joint<double>::continuous({0, 0, 1}), "world", "w");
  return robot.frame("rim", "w", {Eigen::Matrix3d::Identity(), {0.5, 0, 0}}).build();
}

Vector once(const Scene& scene, std::unique_ptr<MeasuredQuantity> quantity,
            const SensorErrors& errors) {
  Sensor sensor(scene.model, "s", std::move(quantity), errors, 1);
  EXPECT_TRUE(sensor.update(scene.input()));
  return sensor.reading();
}

// A point on a rotating rim: w^2 r inward, r dw/dt tangential, +g upward.
TEST(Imu, OnARotatingRim) {
  Scene scene(wheel());
  scene.s.q[0] = 0.7;
  scene.s.v[0] = 3;
  scene.a[0] = 2;
  scene.set();
  const FrameId rim = scene.model.find_frame("rim");
  const Vector f = once(scene, std::make_unique<Imu>(rim, Imu::Part::accelerometer), {});
  EXPECT_LT((f - Eigen::Vector3d(-4.5, 1, 9.81)).norm(), 1e-14);
  const Vector w = once(scene, std::make_unique<Imu>(rim, Imu::Part::gyroscope), {});
  EXPECT_LT((w - Eigen::Vector3d(0, 0, 3)).norm(), 1e-15);
}

// In free fall an accelerometer at the centre of mass measures zero, however the body tumbles.
TEST(Imu, MeasuresZeroInFreeFall) {
  RobotBuilder<double> robot("body");
  robot.link("b", 2, {0.1, 0, 0.2}, Eigen::Vector3d(0.1, 0.2, 0.3).asDiagonal());
  robot.joint("f", Joint<double>::free(), "world", "b");
  robot.frame("com", "b", {Eigen::Matrix3d::Identity(), {0.1, 0, 0.2}});
  Scene scene(robot.build());
  scene.s.v << 1, 2, 3, 4, -5, 6;
  Workspace<double> work(scene.model);
  aba(scene.model, work, scene.s.q, scene.s.v, scene.tau, scene.a);
  scene.set();
  const Vector f = once(
      scene, std::make_unique<Imu>(scene.model.find_frame("com"), Imu::Part::accelerometer), {});
  EXPECT_LT(f.norm(), 1e-12);  // differences of terms of size w^2 r = 30
}

TEST(Encoder, ReadsFollowersToo) {
  Scene scene(load_model("builtin:belt-leg"));
  scene.s.q << 0.3, 0.9;
  scene.s.v << 1, -2;
  scene.set();
  const Vector q = once(scene,
                        std::make_unique<Encoder>(scene.model, Encoder::Part::position,
                                                  std::vector<std::string>{"knee", "hip"}),
                        {});
  EXPECT_LT((q - Eigen::Vector2d(0.6, 0.3)).norm(), 1e-15);
  const Vector v = once(scene, std::make_unique<Encoder>(scene.model, Encoder::Part::velocity), {});
  EXPECT_EQ(v.size(), 3);
}

TEST(GroundTruth, NamesEveryChannel) {
  const Model<double> model = load_model("builtin:quadruped", Base::free);
  Sensor sensor(model, "truth", std::make_unique<GroundTruth>(), {}, 1);
  EXPECT_EQ(static_cast<int>(sensor.channels().size()), model.nq() + 2 * model.nv());
  EXPECT_EQ(sensor.channels()[0].substr(0, 2), "q.");
  for (const std::string& name : sensor.channels()) EXPECT_GT(name.size(), 3u) << name;
}

TEST(Sensor, QuantizesAndSaturates) {
  Scene scene(wheel());
  const auto read = [&](double q, const SensorErrors& errors) {
    scene.s.q[0] = q;
    scene.set();
    return once(scene, std::make_unique<Encoder>(scene.model, Encoder::Part::position), errors)[0];
  };
  EXPECT_EQ(read(0.26, {.resolution = 0.1}), 0.1 * 3);
  EXPECT_EQ(read(-5, {.range = 2}), -2);
  EXPECT_EQ(read(0.5, {.bias = 0.25}), 0.75);
}

TEST(Sensor, HasItsRateAndDelay) {
  Scene scene(wheel());
  Sensor sensor(scene.model, "s", std::make_unique<Encoder>(scene.model, Encoder::Part::position),
                {.period = 0.004, .delay = 0.005}, 1);
  std::vector<double> arrivals, samples;
  for (int i = 0; i <= 20; ++i) {
    scene.s.t = 1e-3 * i;
    scene.s.q[0] = i;
    scene.set();
    if (!sensor.update(scene.input())) continue;
    arrivals.push_back(i);
    samples.push_back(sensor.reading()[0]);
    EXPECT_NEAR(sensor.sampled_at(), 1e-3 * sensor.reading()[0], 1e-15);
  }
  EXPECT_EQ(arrivals, (std::vector<double>{5, 9, 13, 17}));
  EXPECT_EQ(samples, (std::vector<double>{0, 4, 8, 12}));
}

TEST(Sensor, NoiseHasItsDeviationAndBiasIsARandomWalk) {
  Scene scene(wheel());
  constexpr int kSamples = 20000;
  Sensor noisy(scene.model, "s", std::make_unique<Encoder>(scene.model, Encoder::Part::position),
               {.noise = 0.3, .period = 1e-3}, 11);
  double sum = 0, squares = 0;
  for (int i = 0; i < kSamples; ++i) {
    scene.s.t = 1e-3 * i;
    noisy.update(scene.input());
    sum += noisy.reading()[0];
    squares += noisy.reading()[0] * noisy.reading()[0];
  }
  // Four standard deviations of mean and of variance.
  EXPECT_NEAR(sum / kSamples, 0, 4 * 0.3 / std::sqrt(kSamples));
  EXPECT_NEAR(squares / kSamples, 0.09, 4 * 0.09 * std::sqrt(2.0 / kSamples));

  // Over many sensors the bias after 4 s has the deviation bias_walk * sqrt(4), for any rate.
  for (const double period : {0.5, 0.01}) {
    double total = 0;
    constexpr int kSensors = 400;
    for (int k = 0; k < kSensors; ++k) {
      Sensor walking(
          scene.model, "s", std::make_unique<Encoder>(scene.model, Encoder::Part::position),
          {.bias_walk = 0.1, .period = period}, derived_seed(5, static_cast<std::uint64_t>(k)));
      const int n = static_cast<int>(std::lround(4 / period));
      for (int i = 0; i <= n; ++i) {
        scene.s.t = period * i;
        walking.update(scene.input());
      }
      total += walking.bias()[0] * walking.bias()[0];
    }
    EXPECT_NEAR(total / kSensors, 0.04, 4 * 0.04 * std::sqrt(2.0 / kSensors)) << period;
  }
}

TEST(Sensor, IsSeeded) {
  Scene scene(wheel());
  const auto first = [&](std::uint64_t seed) {
    Sensor sensor(scene.model, "s", std::make_unique<Encoder>(scene.model, Encoder::Part::position),
                  {.noise = 1}, seed);
    sensor.update(scene.input());
    return sensor.reading()[0];
  };
  EXPECT_EQ(first(3), first(3));
  EXPECT_NE(first(3), first(4));
}

// The first numbers of the source, so that a change of the generator is noticed.
TEST(NoiseGenerator, StaysTheSame) {
  NoiseGenerator noise(42);
  EXPECT_DOUBLE_EQ(noise.uniform(), 0.75515553295453897);
  EXPECT_EQ(derived_seed(1, 0), 10451216379200822465u);
}

TEST(Sensor, DoesNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  Scene scene(load_model("builtin:arm7"));
  std::vector<Sensor> sensors;
  sensors.emplace_back(scene.model, "truth", std::make_unique<GroundTruth>(),
                       SensorErrors{.noise = 1, .bias_walk = 1, .period = 1e-3, .delay = 2e-3}, 1);
  sensors.emplace_back(scene.model, "tau", std::make_unique<TorqueSensor>(), SensorErrors{}, 2);
  sensors.emplace_back(
      scene.model, "imu",
      std::make_unique<Imu>(scene.model.find_frame("tool"), Imu::Part::accelerometer),
      SensorErrors{}, 3);
  EXPECT_EQ(testing::allocations([&] {
              for (int i = 0; i < 10; ++i) {
                scene.s.t = 1e-3 * i;
                for (Sensor& sensor : sensors) sensor.update(scene.input());
              }
            }),
            0);
}

TEST(Sensor, InvalidParametersAreRejected) {
  const Model<double> model = wheel();
  const auto make = [&](const SensorErrors& errors) {
    return message([&] { Sensor(model, "s", std::make_unique<TorqueSensor>(), errors, 1); });
  };
  EXPECT_EQ(make({.noise = -1}), "Sensor: noise is -1, expected >= 0 and finite");
  EXPECT_EQ(make({.delay = 1}), "Sensor: period is 0, expected > 0 for a sensor with a delay");
  EXPECT_EQ(make({.range = 0}), "Sensor: range is 0, expected > 0");
  EXPECT_NE(message([&] { Encoder(model, Encoder::Part::position, {"axel"}); }).find("axle"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
