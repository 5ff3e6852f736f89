// Scenarios: reading and running; errors with file, line and the nearest name; logs; batches.
#include "limb/sim/scenario/scenario.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/text_file.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/sim/scenario/scenario_run.hpp"

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
            "simulate: s.toml:3: scenario: seed is 1e+300, expected a whole number up to 2^53");
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
