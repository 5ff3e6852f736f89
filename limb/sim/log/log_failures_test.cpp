// Logs that end early: on a full disk, by an interrupt; what was written stays readable.
#include "limb/sim/log/log_writer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/text_file.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/sim/scenario/scenario_run.hpp"

namespace limb {
namespace {

using testing::message;

constexpr const char* kScenario = R"(
model = "builtin:2r"
duration = 0.05
log_period = 0.001
[[sensor]]
name = "imu"
type = "accelerometer"
frame = "tool"
)";

/// Limits the size of files, which acts as a full disk.
class FileLimit {
 public:
  explicit FileLimit(std::size_t limit) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    rlimit small = before_;
    small.rlim_cur = limit;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

class FullDisk : public ::testing::TestWithParam<const char*> {
 protected:
  std::string run(const std::string& path, std::size_t limit) {
    const Scenario s = parse_scenario("simulate", kScenario, "s.toml");
    const FileLimit small(limit);
    try {
      const auto log = open_log("simulate", path, log_topics(s), log_metadata(s));
      return run_scenario(s, log.get()).failure;
    } catch (const Error& error) {
      return error.what();
    }
  }
};

TEST_P(FullDisk, LeavesWholeRowsOrRecordsAndTheEnding) {
  const std::string name = GetParam();
  const testing::TemporaryFolder folder;
  const std::string whole = folder.file("whole" + name), cut = folder.file("cut" + name);
  ASSERT_EQ(run(whole, 1 << 24), "");
  const std::string all = read_text_file("test", whole);
  const std::string ending = name == ".csv" ? "" : mcap_ending();
  for (std::size_t limit = 0; limit < all.size(); limit += 211) {
    EXPECT_EQ(run(cut, limit), "simulate: cannot write " + cut + ": File too large");
    std::string text = read_text_file("test", cut);
    EXPECT_LE(text.size(), limit);
    if (text.empty()) continue;
    ASSERT_TRUE(text.ends_with(ending));
    text.resize(text.size() - ending.size());
    EXPECT_TRUE(all.starts_with(text));
    EXPECT_TRUE(name != ".csv" || text.back() == '\n');
    // Nothing more would have fitted: the next row or record is longer than the rest.
    const std::size_t next =
        name == ".csv"
            ? all.find('\n', text.size()) + 1 - text.size()
            : 9 + static_cast<std::size_t>(static_cast<unsigned char>(all[text.size() + 1])) +
                  256 * static_cast<unsigned char>(all[text.size() + 2]);
    EXPECT_GT(text.size() + next + ending.size(), limit) << limit;
  }
}
INSTANTIATE_TEST_SUITE_P(Formats, FullDisk, ::testing::Values(".csv", ".mcap"));

// Pieces of 1000 bytes in several flushes; the ending needs space that earlier pieces took.
TEST(LogFile, EndsWithAWholePieceWhereverTheDiskIsFull) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("log"), ending(2500, 'e');
  for (const std::size_t limit : {2499, 3499, 3500, 65535, 66000, 66001, 68400, 68500, 200000}) {
    {
      const FileLimit small(limit);
      LogFile log("test", path, ending);
      const std::string text = message([&] {
        for (int i = 0; i < 1000; ++i) log.write(std::string(1000, 'x'));
        log.close();
      });
      EXPECT_EQ(text, "test: cannot write " + path + ": File too large [computation failed]");
    }
    const std::string found = read_text_file("test", path);
    if (limit < 3500) {
      EXPECT_EQ(found, "") << limit;
      continue;
    }
    const std::size_t pieces = (limit - ending.size()) / 1000;
    EXPECT_EQ(found, std::string(1000 * pieces, 'x') + ending) << limit;
  }
}

// An error of `progress` ends the run as a failed computation does: the log is closed.
TEST(Log, OfAnInterruptedRunIsClosed) {
  Scenario s = scenario_of("builtin:arm7");
  s.duration = 1e6;
  const testing::TemporaryFolder folder;
  const std::string mcap = folder.file("log.mcap");
  const auto log = open_log("simulate", mcap, log_topics(s), log_metadata(s));
  double reached = 0;
  const RunSummary summary = run_scenario(s, log.get(), [&](double t) {
    reached = t;
    fail_computation("test", "interrupted");
  });
  EXPECT_EQ(summary.failure, "test: interrupted");
  EXPECT_GT(reached, 0);
  EXPECT_EQ(summary.t, reached);
  EXPECT_TRUE(read_text_file("test", mcap).ends_with(mcap_ending()));
}

TEST(Log, FullDeviceIsReported) {
  if (!std::filesystem::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full";
  LogFile log("test", "/dev/full", "ending");
  log.write("a row\n");
  EXPECT_EQ(message([&] { log.flush(); }),
            "test: cannot write /dev/full: No space left on device [computation failed]");
  EXPECT_EQ(message([&] { log.close(); }), "no error");  // has been reported
  EXPECT_NE(message([&] { log.write("more"); }), "no error");
  LogFile at_end("test", "/dev/full");
  at_end.write("a row\n");
  EXPECT_EQ(message([&] { at_end.close(); }),
            "test: cannot write /dev/full: No space left on device [computation failed]");
}

}  // namespace
}  // namespace limb
