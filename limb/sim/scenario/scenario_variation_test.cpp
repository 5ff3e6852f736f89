// Batches whose runs differ by rows of a file: values at any key, results as those of single
// scenarios, logs of each run, and errors that name row and key.
#include "limb/sim/scenario/scenario_variation.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/text_file.hpp"
#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using testing::message;

constexpr const char* kScenario = R"(
model = "builtin:2r"
duration = 0.1
seed = 5

[initial]
q = {joint1 = 0.2}

[controller]
type = "pd"
kp = 40
kd = [2, 1]

[[push]]
frame = "tool"
begin = 0.02
force = [0, 5, 0]
)";

Scenario scenario() {
  return parse_scenario("simulate", kScenario, "s.toml");
}
Scenario row_of(const std::string& text, std::size_t row = 0, const std::string& path = "r.csv") {
  return varied_scenario("simulate", scenario(), parse_variation("simulate", text, path), row);
}
std::string error_of(const std::string& text, const std::string& path = "r.csv") {
  return message([&] { row_of(text, 0, path); });
}

// Each kind of key: a top-level one, a joint, an index, a unit, a row of [[tables]], a new table.
TEST(ScenarioVariation, ARowSetsValuesAtTheirKeys) {
  const Scenario s = row_of(
      "step, initial.q.joint2, controller.kp, controller.kd.1, push.0.begin, push.0.force,seed, "
      "batch.mass, integrator\n"
      "2e-3, \"45 deg\", 7, 0.5, 10 ms, \"[1, 2, 3]\", 11, 0.4, semi-implicit-euler\n");
  EXPECT_EQ(s.simulation.step, 2e-3);
  EXPECT_EQ(s.q[0], 0.2);
  EXPECT_NEAR(s.q[1], M_PI / 4, 1e-15);
  EXPECT_EQ(s.controller.kp, Eigen::Vector2d(7, 7));
  EXPECT_EQ(s.controller.kd, Eigen::Vector2d(2, 0.5));
  ASSERT_EQ(s.pushes.size(), 1u);
  EXPECT_EQ(s.pushes[0].begin, 0.01);
  EXPECT_EQ(s.pushes[0].F.f, Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ(s.seed, 11u);
  EXPECT_EQ(s.spread.mass, 0.4);
}

TEST(ScenarioVariation, TomlAndCsvAreTheSame) {
  const std::string csv = "initial.q.joint1,controller.kp\n0.7,9\n,8\n# comment\n\n0.5,\n";
  const std::string toml =
      "[[run]]\ninitial.q.joint1 = 0.7\ncontroller.kp = 9\n[[run]]\n[run.controller]\nkp = 8\n"
      "[[run]]\n[run.initial]\nq = {joint1 = 0.5}\n";
  const double q[] = {0.7, 0.2, 0.5}, kp[] = {9, 8, 40};
  EXPECT_EQ(parse_variation("simulate", csv, "r.csv").rows.size(), 3u);
  EXPECT_EQ(parse_variation("simulate", toml, "r.toml").rows.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    for (const auto& [text, path] : {std::pair(csv, "r.csv"), std::pair(toml, "r.toml")}) {
      const Scenario s = row_of(text, i, path);
      EXPECT_EQ(s.q[0], q[i]) << path << i;
      EXPECT_EQ(s.controller.kp[0], kp[i]) << path << i;
    }
  }
}

// What was set after reading the file stays, unless the row has it.
TEST(ScenarioVariation, LaterChangesStay) {
  Scenario s = scenario();
  s.duration = 0.3;
  s.simulation.step = 5e-4;
  s.q[1] = 0.9;
  s.world.dynamics = WorldOptions::Dynamics::compiled;
  const auto rows = parse_variation("simulate", "step,seed\n1e-4,3\n", "r.csv");
  const Scenario varied = varied_scenario("simulate", s, rows, 0);
  EXPECT_EQ(varied.duration, 0.3);
  EXPECT_EQ(varied.simulation.step, 1e-4);
  EXPECT_EQ(varied.q, s.q);
  EXPECT_EQ(varied.world.dynamics, WorldOptions::Dynamics::compiled);
  EXPECT_TRUE(rows.has("step"));
  EXPECT_FALSE(rows.has("steps"));
  EXPECT_TRUE(parse_variation("simulate", "initial.q.a\n1\n", "r.csv").has("initial"));
  // A model without a scenario file.
  const Scenario model = scenario_of("builtin:2r");
  const auto angle = parse_variation("simulate", "initial.q.joint1\n0.4\n", "r.csv");
  EXPECT_EQ(varied_scenario("simulate", model, angle, 0).q[0], 0.4);
}

TEST(ScenarioVariation, ErrorsNameRowAndKey) {
  EXPECT_EQ(error_of("step,controller.kp\n1e-3,-4\n"),
            "simulate: r.csv:2: 'controller.kp': controller: kp is -4, expected a number >= 0");
  EXPECT_EQ(error_of("initial.q.jiont1\n\n0.1\n"),
            "simulate: r.csv:3: 'initial.q.jiont1': initial: no joint with one degree of freedom "
            "is named 'jiont1' (closest: 'joint1')");
  EXPECT_EQ(error_of("stepp\n1\n"),
            "simulate: r.csv:2: 'stepp': scenario: unknown key 'stepp' (closest: 'step')");
  EXPECT_EQ(error_of("push.1.begin\n1\n"),
            "simulate: r.csv:2: 'push.1.begin': '1' is not an index of the array, 0 to 0");
  EXPECT_EQ(error_of("duration.x\n1\n"),
            "simulate: r.csv:2: 'duration.x': the value above 'x' is a number in the scenario, "
            "not a table");
  EXPECT_EQ(error_of("base\nloose\n"),
            "simulate: r.csv:2: 'base': base is 'loose', expected one of described, fixed, free");
  EXPECT_EQ(error_of("model\n3\n"),
            "simulate: r.csv:2: 'model': model is a number, expected a text");
  EXPECT_EQ(error_of(std::string(100, '.') + "\n3\n").substr(120), "': the key has too many dots");
  EXPECT_EQ(error_of("a,b\n1\n"),
            "simulate: r.csv:2: 1 cells, expected 2, one per key of the first line");
  EXPECT_EQ(error_of("a,a\n1,2\n"), "simulate: r.csv:1: two columns have the key 'a'");
  EXPECT_EQ(error_of("a,\n1,2\n"), "simulate: r.csv:1: column 2 has no key");
  EXPECT_EQ(error_of("step\n"), "simulate: r.csv: no runs");
  EXPECT_EQ(error_of("step\n1\n", "r.txt"),
            "simulate: file of runs is 'r.txt', expected a name that ends in .csv or .toml");
  EXPECT_EQ(error_of("runs = 3\n", "r.toml"),
            "simulate: r.toml:1: 'runs', expected only tables [[run]]");
  EXPECT_EQ(error_of("run = [[1, 2]]\n", "r.toml"),
            "simulate: r.toml:1: a run is an array, expected a table [[run]]");
  EXPECT_EQ(error_of("run = [1, 2]\n", "r.toml"),
            "simulate: r.toml:1: a run is a number, expected a table [[run]]");
  EXPECT_EQ(error_of("[[run]]\nstep = -1\n", "r.toml").substr(0, 30),
            "simulate: r.toml:1: 'step': sc");
}

// A batch is the single runs, whatever the threads; a log per run, or of the failed ones only.
TEST(ScenarioVariation, ABatchIsItsSingleRuns) {
  const testing::TemporaryFolder folder;
  const auto rows = parse_variation(
      "simulate", "initial.q.joint1,controller.kp,seed\n0.1,10,1\n0.5,20,2\n0.9,1e308,3\n",
      "r.csv");
  ScenarioBatchOptions options;
  options.runs = 3;
  options.variation = &rows;
  const auto log = [&](int i) { return folder.file("run" + std::to_string(i) + ".csv"); };
  options.log_path = log;
  for (const int threads : {1, 2}) {
    options.threads = threads;
    const auto runs = run_batch(scenario(), options);
    ASSERT_EQ(runs.size(), 3u);
    for (std::size_t i = 0; i < 2; ++i) {
      const RunSummary alone =
          run_scenario(varied_scenario("simulate", scenario(), rows, i), nullptr);
      EXPECT_EQ(runs[i].failure, "");
      EXPECT_EQ(runs[i].q, alone.q);
      EXPECT_EQ(runs[i].v, alone.v);
      const std::string text = read_text_file("test", log(static_cast<int>(i)));
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 11);  // 0 to 0.1 s by 0.01 s
    }
    EXPECT_NE(runs[2].failure, "");
  }
  options.keep = ScenarioBatchOptions::Keep::failed;
  run_batch(scenario(), options);
  EXPECT_FALSE(std::filesystem::exists(log(0)));
  EXPECT_FALSE(std::filesystem::exists(log(1)));
  EXPECT_TRUE(std::filesystem::exists(log(2)));
  options.runs = 2;
  EXPECT_EQ(message([&] { run_batch(scenario(), options); }),
            "run_batch: runs is 2, expected 3, one per row of the variation");
}

}  // namespace
}  // namespace limb
