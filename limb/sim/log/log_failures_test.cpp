// Logs that end early: on a full disk, by an interrupt; what was written stays readable.
#include "limb/sim/log/log_writer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "limb/base/mcap/records.hpp"
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

/// Start and end of the pieces of an MCAP file that are written as a whole.
std::map<std::size_t, std::size_t> pieces(const std::string& file) {
  using mcap::Opcode;
  std::map<std::size_t, std::size_t> result;
  std::size_t start = 0, at = mcap::kMagic.size();
  while (at + mcap::kRecordHead < file.size()) {
    mcap::RecordReader head(std::string_view(file).substr(at));
    const auto kind = static_cast<Opcode>(head.number(1));
    at += mcap::kRecordHead + head.number(8);
    const auto next = static_cast<Opcode>(file.at(at));
    const bool joined = kind == Opcode::header || kind == Opcode::schema ||
                        next == Opcode::message_index || next == Opcode::data_end;
    if (kind == Opcode::data_end) at = file.size();  // the end is one piece
    if (joined) continue;
    result[start] = at;
    start = at;
  }
  return result;
}

TEST_P(FullDisk, LeavesWholeRowsOrRecordsAndTheEnding) {
  const std::string name = GetParam();
  const testing::TemporaryFolder folder;
  const std::string whole = folder.file("whole" + name), cut = folder.file("cut" + name);
  ASSERT_EQ(run(whole, 1 << 24), "");
  const std::string all = read_text_file("test", whole);
  const std::string ending = name == ".csv" ? "" : mcap_ending();
  const auto whole_pieces = name == ".csv" ? std::map<std::size_t, std::size_t>() : pieces(all);
  for (std::size_t limit = 0; limit < all.size(); limit += 211) {
    EXPECT_EQ(run(cut, limit), "simulate: cannot write " + cut + ": File too large");
    std::string text = read_text_file("test", cut);
    EXPECT_LE(text.size(), limit);
    if (text.empty()) continue;
    ASSERT_TRUE(text.ends_with(ending));
    text.resize(text.size() - ending.size());
    EXPECT_TRUE(all.starts_with(text));
    EXPECT_TRUE(name != ".csv" || text.back() == '\n');
    // Nothing more would have fitted: the next row, record or chunk is longer than the rest.
    std::size_t next = 0;
    if (name == ".csv") {
      next = all.find('\n', text.size()) + 1 - text.size();
    } else {
      // A piece may be several records: metadata with the header, a schema with its channel, a
      // chunk with its indexes.
      next = whole_pieces.at(text.size()) - text.size();
    }
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
  const std::string path = folder.file("log.mcap");
  const auto log = open_log("simulate", path, log_topics(s), log_metadata(s));
  double reached = 0;
  const RunSummary summary = run_scenario(s, log.get(), [&](double t) {
    reached = t;
    fail_computation("test", "interrupted");
  });
  EXPECT_EQ(summary.failure, "test: interrupted");
  EXPECT_GT(reached, 0);
  EXPECT_EQ(summary.t, reached);
  // With the summary, which a log that was cut off does not have.
  const std::string file = read_text_file("test", path);
  EXPECT_TRUE(file.ends_with(mcap::kMagic));
  EXPECT_FALSE(file.ends_with(mcap_ending()));
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
