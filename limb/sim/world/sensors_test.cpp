// Sensors: closed forms of their true values, and the statistics of their errors.
#include "limb/sim/world/sensors.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "limb/base/testing/worst.hpp"
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

Model<double> three_flywheels() {
  RobotBuilder<double> robot("wheels");
  for (const std::string name : {"a", "b", "c"}) {
    robot.link(name, 1, {0, 0, 0}, Eigen::Matrix3d::Identity());
    robot.joint("j" + name, Joint<double>::continuous({0, 0, 1}), "world", name);
  }
  return robot.build();
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

TEST(Encoder, ReadsPositionsOrVelocities) {
  Scene scene(three_flywheels());
  scene.s.q << 1, 2, 3;
  scene.s.v << -4, -5, -6;
  scene.set();
  const auto read = [&](Encoder::Part part) {
    return once(scene,
                std::make_unique<Encoder>(scene.model, part, std::vector<std::string>{"jc", "ja"}),
                {});
  };
  EXPECT_EQ(read(Encoder::Part::position), Eigen::Vector2d(3, 1));
  EXPECT_EQ(read(Encoder::Part::velocity), Eigen::Vector2d(-6, -4));
}

TEST(GroundTruth, ReadsTheWholeState) {
  Scene scene(three_flywheels());
  scene.s.q << 1, 2, 3;
  scene.s.v << -4, -5, -6;
  scene.a << 7, 8, 9;
  scene.tau << 10, 11, 12;
  scene.set();
  Vector expected(9);
  expected << 1, 2, 3, -4, -5, -6, 7, 8, 9;
  EXPECT_EQ(once(scene, std::make_unique<GroundTruth>(), {}), expected);
  Sensor sensor(scene.model, "s", std::make_unique<GroundTruth>(), {}, 1);
  EXPECT_EQ(sensor.channels(), (std::vector<std::string>{"q.ja", "q.jb", "q.jc", "v.ja", "v.jb",
                                                         "v.jc", "a.ja", "a.jb", "a.jc"}));
  EXPECT_EQ(once(scene, std::make_unique<TorqueSensor>(), {}), Eigen::Vector3d(10, 11, 12));
}

TEST(GroundTruth, NamesEveryChannel) {
  const Model<double> model = load_model("builtin:quadruped", Base::free);
  Sensor sensor(model, "truth", std::make_unique<GroundTruth>(), {}, 1);
  EXPECT_EQ(static_cast<int>(sensor.channels().size()), model.nq() + 2 * model.nv());
  EXPECT_EQ(sensor.channels()[0].substr(0, 2), "q.");
  for (const std::string& name : sensor.channels()) EXPECT_GT(name.size(), 3u) << name;
}

// A block on a slope, turned about two axes, with a sensor frame turned in the block: at rest the
// ground balances the weight, whose line passes through the mass centre.
TEST(ForceSensor, MeasuresInTheAxesOfATurnedFrame) {
  const double m = 3, angle = 0.25, g = 9.81;
  const Vector3<double> com(0.02, -0.03, 0.01), origin(0.1, -0.2, 0.05), size(0.3, 0.4, 0.2);
  const Matrix3<double> R_LF = axis_rotation(0, 0.4) * axis_rotation(2, -1.1);
  RobotBuilder<double> robot("block");
  robot.link("block", m, com, Eigen::Vector3d(0.06, 0.04, 0.07).asDiagonal());
  robot.joint("free", Joint<double>::free(), "world", "block");
  robot.frame("sensor", "block", {R_LF, origin});
  World world(robot.build());
  ContactShape shape;
  shape.name = "block";
  shape.body = BodyId(1);
  shape.kind = ContactShape::Kind::box;
  shape.size = size;
  world.set_contact({Ground::slope(angle, {0.8, 0}), {shape}, {}});
  Simulation simulation(world, {.step = 1e-3});
  // Its y axis is normal to the slope.
  const Matrix3<double> R_WL =
      axis_rotation(1, angle) * axis_rotation(2, 0.7) * axis_rotation(0, std::numbers::pi / 2);
  Vector q(7);
  q << axis_rotation(1, angle) * Vector3<double>(0, 0, size[1] / 2),
      quaternion_from_matrix(R_WL).xyzw();
  simulation.set_state(0, q, Vector::Zero(6));
  simulation.run_until(0.5);
  ASSERT_LT(simulation.state().v.norm(), 1e-9);

  Kinematics<double> kinematics(world.model());
  const Vector a = Vector::Zero(6), tau = a;
  forward_kinematics(world.model(), simulation.state().q, simulation.state().v, a, kinematics);
  const SensorInput input{world.model(), simulation.state(), a, tau, kinematics, world.contacts()};
  const auto read = [&](const char* frame) {
    Sensor sensor(world.model(), "s",
                  std::make_unique<ForceSensor>(world.model().find_frame(frame)), {}, 1);
    EXPECT_EQ(sensor.channels(), (std::vector<std::string>{"fx", "fy", "fz", "nx", "ny", "nz"}));
    EXPECT_TRUE(sensor.update(input));
    return sensor.reading();
  };
  const Vector3<double> weight(0, 0, m * g);
  const Vector in_link = read("block"), turned = read("sensor");
  const auto expect_wrench = [&](const Vector& reading, const Matrix3<double>& R_WF,
                                 const Vector3<double>& p_L) {
    const Vector3<double> arm = R_WL * (com - p_L);
    // Velocities of a step are exact to 1e-10 m/s, times m / h.
    EXPECT_LT((reading.head<3>() - R_WF.transpose() * weight).norm(), 3e-7);
    EXPECT_LT((reading.tail<3>() - R_WF.transpose() * arm.cross(weight)).norm(), 1e-7);
  };
  expect_wrench(in_link, R_WL, Vector3<double>::Zero());
  expect_wrench(turned, R_WL * R_LF, origin);
  // Without contacts it reads zero.
  const SensorInput alone{world.model(), simulation.state(), a, tau, kinematics};
  Sensor sensor(world.model(), "s",
                std::make_unique<ForceSensor>(world.model().find_frame("sensor")), {}, 1);
  sensor.update(alone);
  EXPECT_EQ(sensor.reading(), Vector::Zero(6));
}

// A beam on two feet: each carries the weight in the ratio of the distances of the other from the
// mass centre. A sensor reads its own foot only, a switch likewise.
TEST(ForceSensor, ReadsItsOwnFoot) {
  const double m = 2, g = 9.81;
  RobotBuilder<double> robot("beam");
  robot.link("slide", 1e-3, {0, 0, 0}, 1e-3 * Matrix3<double>::Identity());
  robot.link("beam", m, {0.1, 0, 0}, 0.05 * Matrix3<double>::Identity());
  robot.joint("z", Joint<double>::prismatic({0, 0, 1}), "world", "slide");
  robot.joint("y", Joint<double>::revolute({0, 1, 0}), "slide", "beam");
  robot.frame("left", "beam", {axis_rotation(2, std::numbers::pi / 2), {-0.3, 0, 0}});
  robot.frame("right", "beam", {axis_rotation(0, std::numbers::pi), {0.4, 0, 0}});
  World world(robot.build());
  ContactSetup setup{Ground::plane({0, 0}), {}, {}};  // friction would be indeterminate
  for (const char* foot : {"left", "right"}) {
    setup.shapes.push_back(make_foot(world.model(), world.model().find_frame(foot), 0.02));
  }
  world.set_contact(setup);
  Simulation simulation(world, {.step = 1e-3});
  simulation.set_state(0, Eigen::Vector2d(0.02, 0), Eigen::Vector2d::Zero());
  simulation.run_until(0.2);
  Kinematics<double> kinematics(world.model());
  const Vector a = Vector::Zero(2), tau = a;
  forward_kinematics(world.model(), simulation.state().q, simulation.state().v, a, kinematics);
  const SensorInput input{world.model(), simulation.state(), a, tau, kinematics, world.contacts()};
  const auto read = [&](auto quantity) {
    Sensor sensor(world.model(), "s", std::move(quantity), {}, 1);
    sensor.update(input);
    return sensor.reading();
  };
  const auto frame = [&](const char* name) { return world.model().find_frame(name); };
  const double total = (m + 1e-3) * g, at_right = (m * 0.4 + 1e-3 * 0.3) * g / 0.7;
  const Vector left = read(std::make_unique<ForceSensor>(frame("left")));
  const Vector right = read(std::make_unique<ForceSensor>(frame("right")));
  const Vector both = read(std::make_unique<ForceSensor>(frame("beam")));
  EXPECT_NEAR(left[2], total - at_right, 2e-9);
  EXPECT_NEAR(right[2], -at_right, 2e-9);  // its z axis points down
  EXPECT_NEAR(both[2], total, 2e-9);       // no shape has this name: all of its body
  EXPECT_NEAR(both[4], -(0.4 * at_right - 0.3 * (total - at_right)), 2e-9);
  EXPECT_EQ(read(std::make_unique<ContactSwitch>(frame("left")))[0], 1);
  EXPECT_EQ(read(std::make_unique<ContactSwitch>(frame("slide")))[0], 0);
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

/// Readings of the three joints of a robot at rest in q = 0: columns of noise and bias.
MatrixX<double> record(const Scene& scene, const SensorErrors& errors, int samples, double period,
                       std::uint64_t seed) {
  Scene now = scene;
  Sensor sensor(now.model, "s", std::make_unique<Encoder>(now.model, Encoder::Part::position),
                errors, seed);
  MatrixX<double> readings = MatrixX<double>::Zero(samples, 3);
  for (int i = 0; i < samples; ++i) {
    now.s.t = period * i;
    EXPECT_TRUE(sensor.update(now.input()));
    readings.row(i) = sensor.reading();
  }
  return readings;
}

// White noise: the deviation is that of each sample at any rate; samples are independent of earlier
// ones, channels of each other, and seeds too. Four standard deviations of each statistic.
TEST(Sensor, NoiseIsWhiteAndIndependent) {
  const Scene scene(three_flywheels());
  constexpr int n = 20000;
  const double deviation = 0.3, bias = -0.7, bound = 4 / std::sqrt(double(n));
  MatrixX<double> last;
  for (const double period : {1e-3, 0.25}) {
    MatrixX<double> x = record(scene, {.noise = deviation, .bias = bias, .period = period}, n,
                               period, period < 0.1 ? 17 : 18);
    EXPECT_LT(
        ((x.colwise().mean().array() - bias) / deviation).abs().maxCoeff<Eigen::PropagateNaN>(),
        bound);
    x = (x.array() - bias) / deviation;
    const Eigen::Matrix3d covariance = x.transpose() * x / n;
    EXPECT_LT((covariance.diagonal().array() - 1).abs().maxCoeff<Eigen::PropagateNaN>(),
              std::sqrt(2.) * bound);
    EXPECT_LT(std::abs(covariance(0, 1)), bound);
    EXPECT_LT(std::abs(covariance(0, 2)), bound);
    EXPECT_LT(std::abs(covariance(1, 2)), bound);
    // A normal distribution: kurtosis 3 with variance 96 (moments up to the eighth) / n.
    const Eigen::Array3d fourth = x.array().pow(4).colwise().mean().transpose();
    EXPECT_LT((fourth - 3).abs().maxCoeff<Eigen::PropagateNaN>(), std::sqrt(96.) * bound);
    for (int lag = 1; lag <= 5; ++lag) {
      for (int c = 0; c < 3; ++c) {
        const double product = x.col(c).head(n - lag).dot(x.col(c).tail(n - lag)) / n;
        EXPECT_LT(std::abs(product), bound) << lag << ", channel " << c;
      }
    }
    if (last.size() > 0) {
      EXPECT_LT(std::abs(x.col(0).dot(last.col(0))) / n, bound);
    }
    last = x;
  }
}

// A random walk: the variance grows with time, the increments are independent, and so are the
// channels; it starts from the constant bias.
TEST(Sensor, BiasWalksWithTheRootOfTime) {
  const Scene scene(three_flywheels());
  constexpr int kSensors = 1000;
  const double walk = 0.2, bias = 3, bound = 4 / std::sqrt(double(kSensors));
  Eigen::Array3d at_1 = Eigen::Array3d::Zero(), at_4 = at_1, later = at_1, product = at_1;
  double across = 0;
  for (int k = 0; k < kSensors; ++k) {
    const MatrixX<double> x = record(scene, {.bias = bias, .bias_walk = walk, .period = 0.5}, 9,
                                     0.5, derived_seed(2, static_cast<std::uint64_t>(k)));
    EXPECT_EQ(x.row(0), Eigen::RowVector3d::Constant(bias));
    const Eigen::Array3d first = (x.row(2).transpose().array() - bias) / walk;
    const Eigen::Array3d rest = (x.row(8) - x.row(2)).transpose().array() / walk;
    at_1 += first.square() / kSensors;
    later += rest.square() / kSensors;
    at_4 += (first + rest).square() / kSensors;
    product += first * rest / kSensors;
    across += first[0] * first[1] / kSensors;
  }
  EXPECT_LT((at_1 - 1).abs().maxCoeff<Eigen::PropagateNaN>(), std::sqrt(2.) * bound);
  EXPECT_LT((later - 3).abs().maxCoeff<Eigen::PropagateNaN>(), 3 * std::sqrt(2.) * bound);
  EXPECT_LT((at_4 - 4).abs().maxCoeff<Eigen::PropagateNaN>(), 4 * std::sqrt(2.) * bound);
  EXPECT_LT(product.abs().maxCoeff<Eigen::PropagateNaN>(), std::sqrt(3.) * bound);
  EXPECT_LT(std::abs(across), bound);
}

// Rounding to multiples: an error of at most half a step, uniform for a steady motion, with the
// variance step^2 / 12. It comes after noise and before saturation.
TEST(Sensor, QuantizationErrorIsUniform) {
  Scene scene(wheel());
  const double step = 0.07;
  Sensor sensor(scene.model, "s", std::make_unique<Encoder>(scene.model, Encoder::Part::position),
                {.bias = 0.01, .resolution = step, .range = 1.5}, 1);
  constexpr int n = 20000;
  double sum = 0, squares = 0;
  Worst largest;
  for (int i = 0; i < n; ++i) {
    scene.s.q[0] = -1 + 2. * i / n;
    scene.set();
    sensor.update(scene.input());
    const double read = sensor.reading()[0], error = read - (scene.s.q[0] + 0.01);
    EXPECT_NEAR(std::remainder(read, step), 0, 1e-15);
    largest.add(std::abs(error));
    sum += error;
    squares += error * error;
  }
  EXPECT_LT(largest.value(), step / 2 + 1e-15);
  EXPECT_GT(largest.value(), 0.499 * step);
  // 28 steps of a ramp, of which a part is incomplete.
  EXPECT_NEAR(sum / n, 0, step / 100);
  EXPECT_NEAR(std::sqrt(squares / n), step / std::sqrt(12.), step / 100);
  for (const double q : {5., -5.}) {
    scene.s.q[0] = q;
    scene.set();
    sensor.update(scene.input());
    EXPECT_EQ(sensor.reading()[0], q > 0 ? 1.5 : -1.5);  // not a multiple
  }
}

// Samples are taken at the first call at or after each multiple of the period, wherever the calls
// start and however rare they are.
TEST(Sensor, SamplesAtMultiplesOfThePeriod) {
  Scene scene(wheel());
  Sensor sensor(scene.model, "s", std::make_unique<Encoder>(scene.model, Encoder::Part::position),
                {.period = 0.1}, 1);
  EXPECT_TRUE(std::isnan(sensor.reading()[0]));
  EXPECT_EQ(sensor.sampled_at(), -std::numeric_limits<double>::infinity());
  std::vector<double> taken;
  for (const double t : {10.03, 10.05, 10.1, 10.13, 10.45, 10.46, 10.499, 10.5, 10.7}) {
    scene.s.t = t;
    if (sensor.update(scene.input())) taken.push_back(t);
    EXPECT_EQ(sensor.sampled_at(), taken.back());
  }
  EXPECT_EQ(taken, (std::vector<double>{10.03, 10.1, 10.45, 10.5, 10.7}));
}

// With a delay and rare calls several readings arrive at once: the newest one counts, and none is
// lost for later.
TEST(Sensor, DelayedReadingsAreTheNewestThatHaveArrived) {
  Scene scene(wheel());
  Sensor sensor(scene.model, "s", std::make_unique<Encoder>(scene.model, Encoder::Part::position),
                {.period = 0.01, .delay = 0.035}, 1);
  double newest = -1;
  int arrived = 0;
  for (int i = 0; i < 200; ++i) {
    const double t = 0.01 * i + (i % 3 == 0 ? 0 : 0.006);
    scene.s.t = t;
    scene.s.q[0] = t;
    scene.set();
    const bool is_new = sensor.update(scene.input());
    // Sampled at the times of the calls, all of which are in different periods.
    double expected = -1;
    for (int k = 0; k <= i; ++k) {
      const double sampled = 0.01 * k + (k % 3 == 0 ? 0 : 0.006);
      if (sampled + 0.035 <= t + 1e-9) expected = sampled;
    }
    EXPECT_EQ(is_new, expected > newest) << i;
    newest = expected;
    if (expected < 0) continue;
    ++arrived;
    EXPECT_NEAR(sensor.reading()[0], expected, 1e-15);
    EXPECT_NEAR(sensor.sampled_at(), expected, 1e-15);
  }
  EXPECT_GT(arrived, 190);
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
  EXPECT_EQ(make({.bias = std::nan("")}), "Sensor: bias is nan, expected a finite number");
  EXPECT_EQ(make({.bias_walk = -1}), "Sensor: bias_walk is -1, expected >= 0 and finite");
  EXPECT_EQ(make({.resolution = -1}), "Sensor: resolution is -1, expected >= 0 and finite");
  EXPECT_EQ(make({.period = -1}), "Sensor: period is -1, expected >= 0 and finite");
  EXPECT_EQ(make({.period = 1, .delay = -1}), "Sensor: delay is -1, expected >= 0 and finite");
  EXPECT_NE(message([&] { Encoder(model, Encoder::Part::position, {"axel"}); }).find("axle"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
