// Scenarios: reading and running; errors with file, line and the nearest name; logs; batches.
#include "limb/sim/scenario/scenario.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <numbers>
#include <sstream>
#include <thread>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/text_file.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/integrate/cvode.hpp"
#include "limb/sim/scenario/scenario_run.hpp"
#include "limb/sim/testing/log_observer.hpp"

namespace limb {
namespace {

using testing::message;

/// A temporary file.
class File {
 public:
  explicit File(const std::string& text, const std::string& name = "s.toml")
      : path_(folder_.file(name)) {
    std::ofstream(path_) << text;
  }
  const std::string& path() const { return path_; }
  std::string folder() const { return folder_.path().string() + "/"; }

 private:
  testing::TemporaryFolder folder_;
  std::string path_;
};

/// The error message for a scenario, without the folder.
std::string error_of(const std::string& text) {
  const File file(text);
  const std::string result = message([&] { read_scenario("simulate", file.path()); });
  const std::string folder = file.folder();
  const std::size_t at = result.find(folder);
  return at == std::string::npos ? result
                                 : result.substr(0, at) + result.substr(at + folder.size());
}

constexpr const char* kFull = R"(
model = "builtin:2r"
duration = "0.2 s"
step = "1 ms"
integrator = "runge-kutta-4"
seed = 7
log_period = 0.01

[initial]
q = {joint1 = "30 deg", joint2 = 0.5}
v = [0.1, -0.2]

[controller]
type = "gravity"
frequency = "3 Hz"
target = {joint1 = 0.6}
kd = {joint2 = 9}
period = "2 ms"

[[actuator]]
joint = "joint2"
torque_limit = "5 N m"
time_constant = "10 ms"
delay = "4 ms"

[[spring]]
joint = "joint1"
stiffness = 12
rest = "10 deg"

[[push]]
frame = "tool"
begin = 0.05
end = 0.1
force = [0, 3, 0]

[[disturbance]]
frame = "tool"
force_deviation = 0.5
period = "20 ms"

[[sensor]]
name = "imu"
type = "accelerometer"
frame = "tool"
noise = 0.01
rate = "200 Hz"
delay = "5 ms"

[[sensor]]
name = "encoders"
type = "position"
resolution = "0.1 deg"

[batch]
mass = 0.1
initial = "1 deg"
)";

/// Largest torques of a run.
VectorX<double> peak_torque(const std::string& text) {
  return run_scenario(parse_scenario("simulate", text, "s.toml"), nullptr).peak_torque;
}

// Numbers with a valid sign and an extreme magnitude.
TEST(Scenario, ExtremeMagnitudes) {
  const auto run = [](const std::string& text) {
    return message([&] { peak_torque("model = \"builtin:2r\"\nduration = 0.01\n" + text); });
  };
  EXPECT_EQ(run("seed = 1e300"),
            "simulate: s.toml:3: scenario: seed is 1e+300, expected a whole number from 0 to "
            "9223372036854775807");
  EXPECT_EQ(run("step = 1e-300"), "Simulation: step is 1e-300 s, expected >= 1e-12 s");
  EXPECT_EQ(run("[[sensor]]\nname = \"a\"\ntype = \"truth\"\nrate = 1000\ndelay = 1e12"),
            "Sensor: delay is 1000000000000 s, expected at most 1000000 periods of 0.001 s");
  EXPECT_EQ(run("[[disturbance]]\nframe = \"tool\"\nperiod = 1e-300"),
            "RandomWrench: period is 1e-300 s, expected >= 1e-06 s (each period draws six random "
            "numbers)");
  // A control period may be longer than the run.
  Scenario s = parse_scenario("simulate", "model = \"builtin:2r\"\nduration = 0.01", "s.toml");
  s.simulation.control_period = 1e300;
  EXPECT_EQ(run_scenario(s, nullptr).steps, 10);
}

// At its target with an encoder bias of 0.1 rad: the torque is kp times that, from the first
// reading.
TEST(Scenario, ControllerUsesSensorReadings) {
  const std::string run = R"(
model = "builtin:2r"
step = "1 ms"
integrator = "runge-kutta-4"
[initial]
q = [0.3, 0.4]
[controller]
type = "pd"
kp = [100, 100]
kd = [0, 0]
)";
  const std::string sensor = R"([[sensor]]
name = "encoder"
type = "position"
joints = ["joint1"]
bias = 0.1
rate = "1 kHz"
)";
  const std::string measured = "feedback = \"sensors\"\n" + sensor;
  // 100 N m/rad times 0.1 rad, and in one step the arm falls by less than 1e-4 rad.
  EXPECT_LT(peak_torque("duration = 0.001" + run + sensor)[0], 1e-2);
  EXPECT_NEAR(peak_torque("duration = 0.001" + run + measured)[0], 10, 1e-2);
  EXPECT_LT(peak_torque("duration = 0.001" + run + measured)[1], 1e-2);
  // Read 5 ms late: until then the truth, which is 1.3e-4 rad off after 4 ms of falling.
  EXPECT_LT(peak_torque("duration = 0.004" + run + measured + "delay = 0.005")[0], 0.1);
  EXPECT_NEAR(peak_torque("duration = 0.007" + run + measured + "delay = 0.005")[0], 10, 0.1);
  // Torque of a speed that is 2 rad/s too much.
  const std::string speed =
      "kd = [5, 5]\nfeedback = \"sensors\"\n[[sensor]]\nname = \"speed\"\ntype = "
      "\"velocity\"\nbias = 2";
  const std::string damped = "duration = 0.001" + run.substr(0, run.find("kd"));
  EXPECT_NEAR(peak_torque(damped + speed)[1], 10, 0.2);
  EXPECT_EQ(error_of("model = \"builtin:2r\"\n[controller]\ntype = \"pd\"\nfeedback = \"sensors\""),
            "simulate: s.toml:4: controller: feedback is 'sensors', but no [[sensor]] has the type "
            "position, velocity or truth");
}

// Gravity compensation of legs on a free base: the torques follow the pose that is measured.
TEST(Scenario, ControllerSeesTheBaseThatASensorReads) {
  const std::string begin = "model = \"builtin:quadruped\"\nbase = \"free\"\n";
  const auto peak = [&](const std::string& rest) {
    const RunSummary summary =
        run_scenario(parse_scenario("simulate", begin + rest, "s.toml"), nullptr);
    EXPECT_EQ(summary.failure, "");
    return summary.peak_torque;
  };
  const std::string gravity =
      "duration = 0.05\n[controller]\ntype = \"gravity\"\nfrequency = 1e-6\n";
  const std::string feedback = "feedback = \"sensors\"\n";
  const std::string truth = "[[sensor]]\nname = \"t\"\ntype = \"truth\"\n";
  const Eigen::VectorXd exact = peak(gravity);
  EXPECT_GT(exact.norm(), 0.1);
  EXPECT_EQ(peak(gravity + feedback + truth), exact);  // no errors
  // Noise of 0.1 rotates the base by as much, and changes the gravity torques of the legs.
  // Quaternions that are not unit would be rejected.
  const Eigen::VectorXd noisy = peak(gravity + feedback + truth + "noise = 0.1\n");
  EXPECT_GT((noisy - exact).norm(), 0.01 * exact.norm());
  EXPECT_EQ(peak(gravity + feedback + truth + "noise = 0.1\n"), noisy);  // seeded
  // A truth sensor with a bias of 0.1 rad; encoders without errors override it for the joints.
  const std::string pd =
      "duration = 0.001\n[controller]\ntype = \"pd\"\nfrequency = 1e-6\n"
      "kp = {RR_flexion = 100}\n" +
      feedback;
  EXPECT_NEAR(peak(pd + truth + "bias = 0.1\n")[16], 10, 0.1);
  EXPECT_LT(peak(pd + truth + "bias = 0.1\n[[sensor]]\nname = \"e\"\ntype = \"position\"\n")[16],
            0.1);
}

TEST(Scenario, MeasuredFeedbackDoesNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  Scenario s = parse_scenario(
      "simulate",
      "model = \"builtin:quadruped\"\nbase = \"free\"\n[controller]\ntype = \"gravity\"\n"
      "feedback = \"sensors\"\n[[sensor]]\nname = \"t\"\ntype = \"truth\"\nnoise = 1e-3\n"
      "rate = 500\ndelay = 0.004\n[[sensor]]\nname = \"e\"\ntype = \"position\"\nnoise = 1e-4\n"
      "[[sensor]]\nname = \"v\"\ntype = \"velocity\"\nrate = 200\n",
      "s.toml");
  const auto count = [&](double duration) {
    s.duration = duration;
    return testing::allocations([&] { run_scenario(s, nullptr); });
  };
  count(0.01);
  // Construction allocates; a run of four times the length does not allocate more.
  EXPECT_EQ(count(0.4), count(0.1));
}

TEST(Scenario, IsReadAndRuns) {
  const File file(kFull);
  const Scenario s = read_scenario("simulate", file.path());
  EXPECT_EQ(s.duration, 0.2);
  EXPECT_EQ(s.simulation.step, 1e-3);
  EXPECT_EQ(s.simulation.control_period, 2e-3);
  EXPECT_EQ(s.simulation.method, IntegrationMethod::runge_kutta_4);
  EXPECT_NEAR(s.q[0], 3.14159265358979 / 6, 1e-14);
  EXPECT_EQ(s.v[1], -0.2);
  EXPECT_EQ(s.controller.target[0], 0.6);
  EXPECT_EQ(s.controller.target[1], 0.5);  // as at the start
  EXPECT_EQ(s.controller.kd[1], 9);
  ASSERT_TRUE(s.actuators.has_value());
  EXPECT_EQ(s.actuators->size(), 2u);  // the other joint keeps its ideal actuator
  EXPECT_EQ((*s.actuators)[1].delay, 4e-3);
  EXPECT_EQ(s.sensors[0].errors.period, 1. / 200);
  EXPECT_EQ(s.spread.mass, 0.1);

  const RunSummary summary = run_scenario(s, nullptr);
  EXPECT_EQ(summary.failure, "");
  EXPECT_EQ(summary.steps, 200);
  EXPECT_NEAR(summary.t, 0.2, 1e-15);
  EXPECT_LE(summary.peak_torque[1], 5);
  EXPECT_GT(summary.peak_torque[1], 0);
}

TEST(Scenario, ErrorsHaveFileAndLine) {
  EXPECT_EQ(error_of("duration = 1\n"),
            "simulate: s.toml:1: scenario: 'model' is missing, expected a text in quotes");
  EXPECT_EQ(error_of("model = \"builtin:2r\"\nduraton = 1\n"),
            "simulate: s.toml:2: scenario: unknown key 'duraton' (closest: 'duration')");
  EXPECT_EQ(error_of("model = \"builtin:2r\"\nstep = -1e-3\n"),
            "simulate: s.toml:2: scenario: step is -0.001, expected a number > 0, plain in SI "
            "units or a text in one of s,ms,us");
  EXPECT_EQ(error_of("model = \"builtin:2r\"\nduration = \"3 kg\"\n"),
            "simulate: s.toml:2: scenario: duration is '3 kg', expected a number > 0, plain in "
            "SI units or a text in one of s,ms,min");
  EXPECT_EQ(error_of("model = \"builtin:2r\"\n[initial]\nq = {jiont1 = 0.3}\n"),
            "simulate: s.toml:3: initial: no joint with one degree of freedom is named 'jiont1' "
            "(closest: 'joint1')");
  EXPECT_EQ(error_of("model = \"builtin:2r\"\n[initial]\nq = [0, 1, 2]\n"),
            "simulate: s.toml:3: initial: q is 3 numbers, expected 2");
  EXPECT_EQ(error_of("model = \"builtin:2r\"\n\n[[push]]\nframe = \"tol\"\n"),
            "simulate: s.toml:4: [[push]]: no link or frame is named 'tol' (closest: 'tool')");
  EXPECT_EQ(error_of("model = \"builtin:belt-leg\"\n[initial]\nq = {knee = 1}\n"),
            "simulate: s.toml:3: initial: joint 'knee' follows others and cannot be set");
  EXPECT_EQ(error_of("model = \"builtin:2r\"\n[controller]\ntype = \"pidd\"\n"),
            "simulate: s.toml:3: controller: type is 'pidd', expected one of none, open-loop, "
            "pd, gravity, computed-torque, pid, joint-impedance, cartesian-impedance, "
            "operational-space, hybrid-force, lqr, balance, locomotion (closest: 'pid')");
  EXPECT_NE(error_of("model = \"nowhere.urdf\"\n").find("simulate: s.toml:1: "), std::string::npos);
  EXPECT_NE(message([] { read_scenario("simulate", "/no/such.toml"); }).find("/no/such.toml"),
            std::string::npos);
}

// Quaternions of files are rounded: they are normalized, with a remark where that is more than
// rounding; without a direction they are an error.
TEST(Scenario, QuaternionsAreNormalized) {
  const auto read = [](const std::string& quaternion) {
    return parse_scenario("simulate",
                          "model = \"builtin:quadruped\"\nbase = \"free\"\n[initial]\nq = [0, 0, "
                          "1, " +
                              quaternion + ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n",
                          "s.toml");
  };
  const Scenario rounded = read("0.70710678, 0, 0, 0.70710678");
  EXPECT_TRUE(rounded.remarks.empty());
  EXPECT_NEAR(rounded.q.segment<4>(3).norm(), 1, 1e-15);
  const Scenario coarse = read("0, 0, 0.7, 0.7");
  ASSERT_EQ(coarse.remarks.size(), 1u);
  EXPECT_EQ(coarse.remarks[0].substr(0, 34), "initial q: the quaternion of joint");
  EXPECT_NEAR(coarse.q[6], std::sqrt(0.5), 1e-15);
  EXPECT_EQ(run_scenario(coarse, nullptr).failure, "");
  EXPECT_NE(message([&] { read("0, 0, 0, 0"); }).find("norm of the quaternion"), std::string::npos);
}

// Damping far beyond what an explicit method can follow is said before the run; the default method
// takes it implicitly, and says so.
TEST(Scenario, ExplicitMethodsSayWhatIsTooStiff) {
  Scenario s = parse_scenario("simulate",
                              "model = \"builtin:2r\"\n[[spring]]\njoint = \"joint2\"\n"
                              "damping = 5000\n",
                              "s.toml");
  EXPECT_EQ(stiffness_warning(s), "");
  EXPECT_NE(implicit_text(s).find("springs"), std::string::npos);
  for (const auto method : {IntegrationMethod::runge_kutta_4, IntegrationMethod::explicit_euler}) {
    s.simulation.method = method;
    const std::string text = stiffness_warning(s);
    EXPECT_NE(text.find("damping or friction of joint 'joint2'"), std::string::npos) << text;
    EXPECT_NE(text.find("semi-implicit-euler"), std::string::npos) << text;
    EXPECT_EQ(implicit_text(s), "nothing");
    s.duration = 0.2;
    EXPECT_NE(run_scenario(s, nullptr).failure, "") << to_text(method);
    Scenario soft = s;
    soft.springs[0].parameters.damping = 0.1;
    EXPECT_EQ(stiffness_warning(soft), "");
    soft.springs[0].parameters.stiffness = 1e9;
    EXPECT_NE(stiffness_warning(soft).find("springs or servos of joint 'joint2'"),
              std::string::npos);
  }
  // An adaptive method follows, with short steps.
  s.simulation.method = IntegrationMethod::dormand_prince;
  const std::string text = stiffness_warning(s);
  EXPECT_NE(text.find("damping or friction of joint 'joint2' explicitly and shortens its steps"),
            std::string::npos)
      << text;
  EXPECT_EQ(implicit_text(s), "nothing");
  s.duration = 1e-3;
  EXPECT_EQ(run_scenario(s, nullptr).failure, "");
  EXPECT_GT(run_scenario(s, nullptr).steps, 20);
  Scenario soft = s;
  soft.springs[0].parameters.damping = 0.1;
  EXPECT_EQ(stiffness_warning(soft), "");
  for (const auto method : {IntegrationMethod::implicit_midpoint, IntegrationMethod::cvode}) {
    if (method == IntegrationMethod::cvode && !Cvode::is_available()) continue;
    s.simulation.method = method;
    s.duration = 0.2;
    EXPECT_EQ(stiffness_warning(s), "");
    EXPECT_EQ(implicit_text(s), "all forces");
    EXPECT_EQ(run_scenario(s, nullptr).failure, "");
  }
}

// Gains that a controller does not need are read, too, and have defaults.
TEST(Scenario, FeedbackOfControllersIsRead) {
  const auto controller = [](const std::string& keys) {
    return parse_scenario("simulate", "model = \"builtin:2r\"\n[controller]\n" + keys, "s.toml")
        .controller;
  };
  const ControllerSetup pid = controller("type = \"pid\"\nki = [3, 4]\nanti_windup = \"none\"\n");
  EXPECT_EQ(pid.ki, Eigen::Vector2d(3, 4));
  EXPECT_EQ(pid.anti_windup, JointPid::AntiWindup::none);
  const ControllerSetup usual = controller("type = \"pid\"\n");
  EXPECT_EQ(usual.ki, 2 * usual.kp);
  EXPECT_EQ(usual.anti_windup, JointPid::AntiWindup::conditional);
  const ControllerSetup lqr = controller(
      "type = \"lqr\"\nposition_cost = [5, 6]\nvelocity_cost = [7, 8]\ntorque_cost = [0.5, "
      "0.25]\n");
  EXPECT_EQ(lqr.position_cost, Eigen::Vector2d(5, 6));
  EXPECT_EQ(lqr.velocity_cost, Eigen::Vector2d(7, 8));
  EXPECT_EQ(lqr.torque_cost, Eigen::Vector2d(0.5, 0.25));
  EXPECT_NE(error_of("model = \"builtin:2r\"\n[controller]\ntype = \"pid\"\nki = [3, -4]\n"),
            "no error");
}

// Every key with a number of its own arrives where it belongs.
TEST(Scenario, EveryKeyIsRead) {
  const Scenario s = parse_scenario("simulate", R"(
model = "builtin:2r"
duration = 3
step = "0.5 ms"
log_period = "20 ms"
tolerance = 1e-7
restitution = 0.4
static_ratio = 1.3
seed = 12
friction = "exact"
stops = "hard"
[[actuator]]
joint = "joint2"
torque_limit = 6
gear = 7
stall_torque = 8
no_load_speed = "90 deg/s"
time_constant = "10 ms"
delay = "11 ms"
[[spring]]
joint = "joint1"
stiffness = 12
rest = "90 deg"
damping = 14
[[push]]
frame = "tool"
begin = "100 ms"
force = [1, 2, 3]
moment = [4, 5, 6]
axes = "frame"
[[push]]
frame = "tool"
end = 2
force = [7, 0, 0]
[[disturbance]]
frame = "tool"
force_deviation = 15
moment_deviation = 16
period = "17 ms"
axes = "frame"
[[sensor]]
name = "encoder"
type = "velocity"
joints = ["joint2"]
noise = 18
bias = -19
bias_walk = 20
resolution = "0.9 deg"
range = 21
rate = "2 kHz"
delay = "22 ms"
[batch]
mass = 0.23
friction = 0.24
initial = "180 deg"
)",
                                    "s.toml");
  constexpr double kPi = std::numbers::pi;
  EXPECT_EQ(s.duration, 3);
  EXPECT_EQ(s.simulation.step, 0.5e-3);
  EXPECT_EQ(s.log_period, 0.02);
  EXPECT_EQ(s.simulation.tolerance, 1e-7);
  EXPECT_EQ(s.simulation.method, IntegrationMethod::semi_implicit_euler);
  EXPECT_EQ(s.world.restitution, 0.4);
  EXPECT_EQ(s.world.curve.static_ratio, 1.3);
  EXPECT_EQ(s.seed, 12u);
  EXPECT_EQ(s.world.friction, WorldOptions::Friction::exact);
  EXPECT_EQ(s.world.stops, WorldOptions::Stops::hard);
  ASSERT_EQ(s.actuators->size(), 2u);  // the other one is ideal
  const Actuator& motor = (*s.actuators)[1];
  EXPECT_EQ(motor.velocity, 1);
  EXPECT_EQ(motor.torque_limit, 6);
  EXPECT_EQ(motor.gear, 7);
  EXPECT_EQ(motor.stall_torque, 8);
  EXPECT_NEAR(motor.no_load_speed, kPi / 2, 1e-15);
  EXPECT_EQ(motor.time_constant, 0.01);
  EXPECT_EQ(motor.delay, 0.011);
  EXPECT_EQ((*s.actuators)[0].gear, 1);
  ASSERT_EQ(s.springs.size(), 1u);
  EXPECT_EQ(s.springs[0].joint, "joint1");
  EXPECT_EQ(s.springs[0].parameters.stiffness, 12);
  EXPECT_NEAR(s.springs[0].parameters.rest, kPi / 2, 1e-15);
  EXPECT_EQ(s.springs[0].parameters.damping, 14);
  ASSERT_EQ(s.pushes.size(), 2u);
  EXPECT_EQ(s.pushes[0].frame, s.model.find_frame("tool"));
  EXPECT_EQ(s.pushes[0].begin, 0.1);
  EXPECT_EQ(s.pushes[0].end, 3);  // to the end of the run
  EXPECT_EQ(s.pushes[0].F.f, Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ(s.pushes[0].F.n, Eigen::Vector3d(4, 5, 6));
  EXPECT_EQ(s.pushes[0].axes, WrenchAxes::frame);
  EXPECT_EQ(s.pushes[1].begin, 0);
  EXPECT_EQ(s.pushes[1].end, 2);
  EXPECT_EQ(s.pushes[1].axes, WrenchAxes::world);
  ASSERT_EQ(s.disturbances.size(), 1u);
  EXPECT_EQ(s.disturbances[0].force_deviation, 15);
  EXPECT_EQ(s.disturbances[0].moment_deviation, 16);
  EXPECT_EQ(s.disturbances[0].period, 0.017);
  EXPECT_EQ(s.disturbances[0].axes, WrenchAxes::frame);
  ASSERT_EQ(s.sensors.size(), 1u);
  EXPECT_EQ(s.sensors[0].kind, SensorSetup::Kind::velocity);
  EXPECT_EQ(s.sensors[0].joints, std::vector<std::string>{"joint2"});
  const SensorErrors& e = s.sensors[0].errors;
  EXPECT_EQ(e.noise, 18);
  EXPECT_EQ(e.bias, -19);
  EXPECT_EQ(e.bias_walk, 20);
  EXPECT_NEAR(e.resolution, kPi / 200, 1e-16);
  EXPECT_EQ(e.range, 21);
  EXPECT_EQ(e.period, 1. / 2000);
  EXPECT_EQ(e.delay, 0.022);
  EXPECT_EQ(s.spread.mass, 0.23);
  EXPECT_EQ(s.spread.friction, 0.24);
  EXPECT_NEAR(s.spread.initial, kPi, 1e-15);
}

// Sensors and disturbances have seeds of their own: equal ones read different noise.
TEST(Scenario, EachSensorAndDisturbanceHasItsOwnSeed) {
  Scenario s = parse_scenario("simulate", R"(
model = "builtin:2r"
duration = 0.01
[[sensor]]
name = "one"
type = "position"
noise = 1
[[sensor]]
name = "two"
type = "position"
noise = 1
)",
                              "s.toml");
  testing::LogObserver log(log_topics(s));
  std::vector<VectorX<double>> one, two;
  log.on("one", [&](double, const VectorX<double>& x) { one.push_back(x); });
  log.on("two", [&](double, const VectorX<double>& x) { two.push_back(x); });
  run_scenario(s, &log);
  ASSERT_GT(one.size(), 5u);
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_GT((one[i] - two[i]).norm(), 1e-6);
}

TEST(Scenario, SameSeedSameRun) {
  const File file(kFull);
  Scenario s = read_scenario("simulate", file.path());
  const RunSummary a = run_scenario(s, nullptr), b = run_scenario(s, nullptr);
  EXPECT_EQ(a.q, b.q);
  s.seed = 8;
  EXPECT_NE(run_scenario(s, nullptr).q, a.q);
}

TEST(Batch, DoesNotDependOnThreads) {
  const File file(kFull);
  const Scenario s = read_scenario("simulate", file.path());
  const auto one = run_batch(s, 6, 1), two = run_batch(s, 6, 2);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].q, two[i].q) << i;
  EXPECT_NE(one[0].q, one[1].q);
  EXPECT_NE(spread_scenario(s, 0).model.total_mass(), s.model.total_mass());
}

/// 2 kg on a horizontal rail.
Scenario slider() {
  Scenario s = scenario_of("builtin:pendulum");
  RobotBuilder<double> robot("slider");
  robot.link("block", 2, {0, 0, 0}, Eigen::Matrix3d::Identity());
  robot.joint("rail", Joint<double>::prismatic({1, 0, 0}), "world", "block");
  s.description = robot.description();
  s.model = build_model(s.description);
  s.simulation = {IntegrationMethod::runge_kutta_4, 1e-3};
  s.duration = 1;
  return s;
}

// Pushed with 2.5 N from -1 m/s: v = -1 + 1.25 t, x = -t + 0.625 t^2, at rest at 0.8 s.
TEST(RunSummary, OfAConstantForce) {
  Scenario s = slider();
  s.v[0] = -1;
  s.log_period = 0.05;
  s.controller.kind = ControllerSetup::Kind::open_loop;
  s.controller.torque = VectorX<double>::Constant(1, 2.5);
  s.controller.amplitude = s.controller.frequency = VectorX<double>::Zero(1);
  testing::LogObserver log(log_topics(s));
  std::vector<double> times;
  log.on("state", [&](double t, const VectorX<double>& x) {
    times.push_back(t);
    EXPECT_NEAR(x[log.field("state", "q.rail")], -t + 0.625 * t * t, 1e-13);
    EXPECT_NEAR(x[log.field("state", "v.rail")], -1 + 1.25 * t, 1e-13);
  });
  log.on("torque", [&](double, const VectorX<double>& x) {
    EXPECT_EQ(x[log.field("torque", "command.rail")], 2.5);
    EXPECT_EQ(x[log.field("torque", "motor.rail")], 2.5);
  });
  log.on("energy", [&](double t, const VectorX<double>& x) {
    const double v = -1 + 1.25 * t;
    EXPECT_LT((x.head<4>() - Eigen::Vector4d(v * v, 0, 0, v * v)).norm(), 1e-13);
    // Only the motor works.
    EXPECT_NEAR(x[log.field("energy", "work.motors")], v * v - 1, 1e-13);
    EXPECT_NEAR(x[log.field("energy", "work.closure")], 0, 1e-13);
    EXPECT_NEAR(x.tail(x.size() - 4).sum(), v * v - 1, 1e-13);
  });
  log.on("momentum", [&](double t, const VectorX<double>& x) {
    Vector6<double> expected = Vector6<double>::Zero();
    expected[0] = 2 * (-1 + 1.25 * t);
    EXPECT_LT((x - expected).norm(), 1e-13);
  });
  const RunSummary r = run_scenario(s, &log);
  ASSERT_EQ(times.size(), 21u);
  for (std::size_t k = 0; k < 21; ++k) EXPECT_NEAR(times[k], 0.05 * double(k), 1e-14);
  EXPECT_EQ(r.failure, "");
  EXPECT_EQ(r.t, 1);
  EXPECT_EQ(r.steps, 1000);
  EXPECT_NEAR(r.q[0], -0.375, 1e-13);
  EXPECT_NEAR(r.v[0], 0.25, 1e-13);
  EXPECT_EQ(r.peak_torque[0], 2.5);
  EXPECT_NEAR(r.energy_start, 1, 1e-14);
  EXPECT_NEAR(r.energy_end, 0.0625, 1e-13);
  EXPECT_NEAR(r.end.kinetic, 0.0625, 1e-13);
  EXPECT_NEAR(r.start.kinetic, 1, 1e-14);
  EXPECT_NEAR(r.balance[EnergyEntry::motors], -0.9375, 1e-13);
  EXPECT_NEAR(r.largest_energy_change, 1, 1e-13);  // at rest
  EXPECT_EQ(r.dissipated, 0);
  EXPECT_TRUE(std::isnan(r.target_error));
  EXPECT_EQ(r.programs, nullptr);
  // Negative forces count by their magnitude.
  s.controller.torque[0] = -2.5;
  EXPECT_EQ(run_scenario(s, nullptr).peak_torque[0], 2.5);
}

// A motor at its limit of 1 N all the way: x = t^2 / 4, in 500 periods of 2 ms.
TEST(RunSummary, CountsSaturatedPeriods) {
  Scenario s = slider();
  s.simulation.control_period = 2e-3;
  s.controller.kind = ControllerSetup::Kind::pd;
  s.controller.target = VectorX<double>::Constant(1, 10);
  s.controller.kp = VectorX<double>::Constant(1, 100);
  s.controller.kd = VectorX<double>::Zero(1);
  Actuator motor;
  motor.torque_limit = 1;
  s.actuators = {motor};
  const RunSummary r = run_scenario(s, nullptr);
  EXPECT_EQ(r.control_periods, 500);
  EXPECT_EQ(r.saturated_periods, 500);
  EXPECT_NEAR(r.target_error, 9.75, 1e-12);
  EXPECT_EQ(r.peak_torque[0], 1);
  EXPECT_NEAR(r.energy_end, 0.25, 1e-13);
  // From the target at rest nothing happens.
  s.q[0] = 10;
  const RunSummary still = run_scenario(s, nullptr);
  EXPECT_EQ(still.saturated_periods, 0);
  EXPECT_EQ(still.target_error, 0);
}

// Each run of a batch has masses and frictions by factors with the given deviation, one per link
// and joint, and a displaced start.
TEST(Batch, SpreadHasItsDeviations) {
  Scenario s = scenario_of("builtin:2r");
  for (auto& joint : s.description.joints) {
    joint.friction = 2;
    joint.damping = 3;
  }
  s.spread = {.mass = 0.1, .friction = 0.2, .initial = 0.05};
  s.q << 0.3, -0.4;
  constexpr int n = 2000;
  const double bound = 4 / std::sqrt(double(n));
  Eigen::Array4d sum = Eigen::Array4d::Zero(), squares = sum;
  double product = 0;
  for (int k = 0; k < n; ++k) {
    const Scenario one = spread_scenario(s, k);
    std::vector<double> mass;
    for (std::size_t i = 0; i < s.description.links.size(); ++i) {
      const auto &a = s.description.links[i].inertial, &b = one.description.links[i].inertial;
      if (!a) continue;
      mass.push_back(b->mass / a->mass);
      EXPECT_LT((b->tensor - mass.back() * a->tensor).norm(), 1e-15);
    }
    ASSERT_GE(mass.size(), 2u);
    const auto& joint = one.description.joints[0];
    EXPECT_NEAR(joint.damping / 3, joint.friction / 2, 1e-15);
    const Eigen::Array4d x((mass[0] - 1) / 0.1, (joint.friction / 2 - 1) / 0.2,
                           (one.q[0] - 0.3) / 0.05, (one.q[1] + 0.4) / 0.05);
    sum += x / n;
    squares += x.square() / n;
    product += (mass[0] - 1) * (mass[1] - 1) / 0.01 / n;
  }
  EXPECT_LT(sum.abs().maxCoeff<Eigen::PropagateNaN>(), bound);
  EXPECT_LT((squares - 1).abs().maxCoeff<Eigen::PropagateNaN>(), std::sqrt(2.) * bound);
  EXPECT_LT(std::abs(product), bound);
  // Without a spread only the seed differs.
  s.spread = {};
  const Scenario same = spread_scenario(s, 3);
  EXPECT_EQ(same.q, s.q);
  EXPECT_EQ(same.model.total_mass(), s.model.total_mass());
  EXPECT_NE(same.seed, s.seed);
  // Factors are positive however large the spread is.
  s.spread.mass = 100;
  for (int k = 0; k < 10; ++k) EXPECT_GT(spread_scenario(s, k).model.total_mass(), 0);
}

/// A log whose fourth row takes long to write.
class SlowLog final : public LogWriter {
 public:
  void write(std::size_t, double, const VectorX<double>&) override {}
  void end_row(double) override {
    if (++rows == 4) std::this_thread::sleep_for(std::chrono::milliseconds(210));
  }
  void flush() override {
    ++flushes;
    if (rows == 4) ++after_slow_row;
  }
  void finish() override { ++finishes; }

  int rows = 0, flushes = 0, after_slow_row = 0, finishes = 0;
};

// Rows are flushed after the first step that ends 200 ms or more after the last time, and the
// progress is reported.
TEST(Log, IsFlushedAtIntervals) {
  Scenario s = slider();
  s.duration = 0.1;
  SlowLog log;
  std::vector<double> progress;
  run_scenario(s, &log, [&](double t) { progress.push_back(t); });
  EXPECT_EQ(log.rows, 11);
  EXPECT_EQ(log.after_slow_row, 1);
  EXPECT_EQ(log.finishes, 1);
  ASSERT_EQ(static_cast<int>(progress.size()), log.flushes);
  EXPECT_TRUE(std::any_of(progress.begin(), progress.end(),
                          [](double t) { return std::abs(t - 0.031) < 1e-12; }));
}

TEST(Log, CsvHasARowForEachPeriod) {
  const File file(kFull);
  const Scenario s = read_scenario("simulate", file.path());
  const File csv("", "log.csv");
  const auto log = open_log("simulate", csv.path(), log_topics(s), log_metadata(s));
  run_scenario(s, log.get());
  std::istringstream lines(read_text_file("test", csv.path()));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line.substr(0, 45), "t,state.q.joint1,state.q.joint2,state.v.joint");
  EXPECT_NE(line.find(",imu.fx,imu.fy,imu.fz,encoders.joint1"), std::string::npos);
  const auto columns = std::count(line.begin(), line.end(), ',');
  int rows = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns);
    ++rows;
  }
  EXPECT_EQ(rows, 21);
}

TEST(Log, OfAFailedRunIsReadable) {
  Scenario s = scenario_of("builtin:2r");
  s.simulation = {IntegrationMethod::explicit_euler, 0.05};
  s.description.joints[0].damping = 1e6;
  s.model = build_model(s.description);
  s.v.setOnes();
  s.duration = 100;
  s.log_period = 0.05;
  const File csv("", "log.csv");
  const auto log = open_log("simulate", csv.path(), log_topics(s), log_metadata(s));
  const RunSummary summary = run_scenario(s, log.get());
  EXPECT_NE(summary.failure.find("explicit-euler: after t = "), std::string::npos);
  EXPECT_GT(summary.t, 0);
  const std::string text = read_text_file("test", csv.path());
  EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(Log, OtherExtensionsAreRejected) {
  EXPECT_EQ(message([] { open_log("simulate", "run.bag", {}, {}); }),
            "simulate: log is 'run.bag', expected a name that ends in .csv or .mcap");
  EXPECT_NE(message([] { open_log("simulate", "/no/such/run.csv", {}, {}); }).find("cannot write"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
