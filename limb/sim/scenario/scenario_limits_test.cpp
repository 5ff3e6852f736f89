// Ranges of the numbers of a scenario: seeds, times, and batches that do not fit into memory.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "limb/math/testing/compare.hpp"
#include "limb/sim/scenario/scenario_run.hpp"

namespace limb {
namespace {

using testing::message;

TEST(Scenario, SeedsAreExactOverTheWholeRange) {
  const auto seed = [](const std::string& text) {
    return parse_scenario("simulate", "model = \"builtin:2r\"\nseed = " + text, "s.toml").seed;
  };
  EXPECT_EQ(seed("0"), 0u);
  EXPECT_EQ(seed("9007199254740993"), 9007199254740993u);  // 2^53 + 1 is not a double
  EXPECT_EQ(seed("9223372036854775807"), 9223372036854775807u);
  for (const char* wrong : {"-1", "1.5", "1e300", "nan", "\"7\"", "true"}) {
    EXPECT_NE(
        message([&] { seed(wrong); }).find("expected a whole number from 0 to 92233720368547"),
        std::string::npos)
        << wrong << ": " << message([&] { seed(wrong); });
  }
  // The heights of rough ground have their own seed.
  const auto ground = [](const std::string& text) {
    return message([&] {
      parse_scenario("simulate",
                     "model = \"builtin:quadruped\"\n[ground]\nkind = \"height_field\"\n" + text,
                     "s.toml");
    });
  };
  EXPECT_EQ(ground("seed = 1e300"),
            "simulate: s.toml:4: ground: seed is 1e+300, expected a whole number from 0 to "
            "9223372036854775807");
  EXPECT_EQ(ground("cells = [2.5, 3]"),
            "simulate: s.toml:4: ground: cells are two whole numbers from 1 to 1000");
}

TEST(Scenario, TimesAreFiniteAndStepsCountable) {
  const auto failure = [](const std::string& text) {
    return message([&] {
      run_scenario(parse_scenario("simulate", "model = \"builtin:2r\"\n" + text, "s.toml"),
                   nullptr);
    });
  };
  EXPECT_NE(
      failure("duration = \"1e308 min\"").find("duration is '1e308 min', expected a number > 0"),
      std::string::npos);
  EXPECT_NE(failure("duration = nan").find("duration is nan, expected a number > 0"),
            std::string::npos);
  EXPECT_EQ(failure("duration = 2e9\nstep = 1e-3"),
            "run_scenario: duration is 2000000000 s, expected at most 1000000000000 steps of 0.001 "
            "s");
  Scenario s = scenario_of("builtin:2r");
  s.log_period = 0;
  EXPECT_EQ(message([&] { run_scenario(s, nullptr); }),
            "run_scenario: log_period is 0, expected > 0 and finite");
  s.log_period = 0.01;
  s.duration = std::nan("");
  EXPECT_EQ(message([&] { run_scenario(s, nullptr); }),
            "run_scenario: duration is nan, expected >= 0 and finite");
  s.duration = 0;
  EXPECT_EQ(run_scenario(s, nullptr).steps, 0);
}

TEST(Scenario, BatchBeyondTheMemoryIsRefusedBeforeItIsAllocated) {
  Scenario s = scenario_of("builtin:2r");
  // About 2 GB for the batch below; the limit of the address space leaves less than 200 MB more.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  if (pages == 0) GTEST_SKIP() << "needs /proc";
  rlimit small = before;
  small.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + 200'000'000);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  const std::string text = message([&] { run_batch(s, 5'000'000, 1); });
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(text.substr(0, 75),
            "run_batch: runs is 5000000, expected a size that fits into memory (about 2.");
}

}  // namespace
}  // namespace limb
