// Exit status and LIMB_SKIPS of test programs. The disabled tests are the cases: this program calls
// itself to run some of them.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "limb/base/testing/left_out.hpp"
#include "limb/base/testing/sanitized.hpp"
#include "limb/base/testing/temporary_folder.hpp"

namespace limb::testing {
namespace {

TEST(Case, DISABLED_Passes) {}
TEST(Case, DISABLED_Fails) {
  FAIL() << "on purpose";
}
TEST(Case, DISABLED_Skips) {
  GTEST_SKIP() << "two lines\nof reason\n";
}
TEST(Case, DISABLED_SkipsToo) {
  GTEST_SKIP();
}
TEST(Case, DISABLED_LeavesOut) {
  leave_out("no clang++");
}
TEST(Case, DISABLED_StartsAThread) {
  std::thread([] {}).join();
}

struct Outcome {
  int status = -1;
  std::string printed, skips;
};

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Outcome run(const std::string& filter, const std::string& environment = "") {
  const TemporaryFolder folder;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  // A file of an earlier run must not stay.
  std::filesystem::create_directory(folder.path() / "skips");
  std::ofstream(folder.path() / "skips/some_test.txt") << "old\told\n";
  const int status =
      std::system((environment + " LIMB_SKIPS='" + folder.file("skips/some_test.txt") + "' '" +
                   program + "' --gtest_also_run_disabled_tests '--gtest_filter=" + filter +
                   "' > '" + folder.file("printed") + "' 2>&1")
                      .c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder.file("printed")),
          text_of(folder.file("skips/some_test.txt"))};
}

#if !LIMB_SANITIZED
TEST(TestMain, ThreadsMustBeListed) {
  const Outcome unlisted = run("Case.DISABLED_StartsAThread", "unset LIMB_THREADS;");
  EXPECT_EQ(unlisted.status, 1);
  EXPECT_NE(unlisted.printed.find("list it in limb_threaded_tests()"), std::string::npos);
  EXPECT_EQ(run("Case.DISABLED_StartsAThread", "LIMB_THREADS=1").status, 0);
  EXPECT_EQ(run("Case.DISABLED_Passes", "unset LIMB_THREADS;").status, 0);
}
#endif

TEST(TestMain, OnlySkippedTestsExitWith77) {
  const Outcome both = run("Case.DISABLED_Skips*");
  EXPECT_EQ(both.status, 77);
  EXPECT_EQ(both.skips,
            "Case.DISABLED_Skips\ttwo lines of reason\nCase.DISABLED_SkipsToo\tno reason given\n");
  EXPECT_NE(both.printed.find("skipped: Case.DISABLED_Skips: two lines of reason\n"),
            std::string::npos)
      << both.printed;
}

TEST(TestMain, AFailureIsAFailure) {
  EXPECT_EQ(run("Case.DISABLED_Fails").status, 1);
  const Outcome mixed = run("Case.DISABLED_Fails:Case.DISABLED_SkipsToo");
  EXPECT_EQ(mixed.status, 1);
  EXPECT_EQ(mixed.skips, "Case.DISABLED_SkipsToo\tno reason given\n");
}

TEST(TestMain, SomeSkippedTestsPassAndAreListed) {
  const Outcome mixed = run("Case.DISABLED_Passes:Case.DISABLED_SkipsToo");
  EXPECT_EQ(mixed.status, 0);
  EXPECT_EQ(mixed.skips, "Case.DISABLED_SkipsToo\tno reason given\n");
}

TEST(TestMain, PartsLeftOutAreListed) {
  const Outcome part = run("Case.DISABLED_LeavesOut");
  EXPECT_EQ(part.status, 0);
  EXPECT_EQ(part.skips, "Case.DISABLED_LeavesOut\tno clang++\n");
}

TEST(TestMain, WithoutSkipsThereIsNoFile) {
  const Outcome passed = run("Case.DISABLED_Passes");
  EXPECT_EQ(passed.status, 0);
  EXPECT_EQ(passed.skips, "");
}

TEST(TestMain, TheFileMustBeWritable) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const int status = std::system(
      ("LIMB_SKIPS=/dev/null/skips '" + program +
       "' --gtest_also_run_disabled_tests --gtest_filter=Case.DISABLED_Skips > /dev/null 2>&1")
          .c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
}

}  // namespace
}  // namespace limb::testing
