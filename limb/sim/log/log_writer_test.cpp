// Log files against readers written here: CSV by RFC 4180, MCAP by its specification.
#include "limb/sim/log/log_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "limb/base/mcap/compression.hpp"
#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/text_file.hpp"
#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using testing::message;
using Vector = VectorX<double>;
using Rows = std::vector<std::vector<std::string>>;

/// Rows of cells; in quotes, two quotes are one, and commas and newlines are text.
Rows parse_csv(const std::string& text) {
  Rows rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted) {
      if (text[i] != '"') {
        row.back() += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        row.back() += text[i++];
      } else {
        quoted = false;
      }
    } else if (text[i] == '"') {
      EXPECT_TRUE(row.back().empty()) << "a quote inside an unquoted cell";
      quoted = true;
    } else if (text[i] == ',') {
      row.emplace_back();
    } else if (text[i] == '\n') {
      rows.push_back(row);
      row.assign(1, "");
    } else {
      row.back() += text[i];
    }
  }
  EXPECT_TRUE(!quoted && row.size() == 1 && row[0].empty()) << "an incomplete row";
  return rows;
}

const std::vector<LogTopic> kTopics = {{"state", {"q.elbow", "q.knee", "v"}}, {"imu", {"fx"}}};

void write_rows(LogWriter& log, int from, int to) {
  for (int k = from; k < to; ++k) {
    log.write(0, 0.1 * k, Eigen::Vector3d(k, -1.5 * k, k == 2 ? std::nan("") : 1e-7 * k));
    if (k >= 1) log.write(1, 0.1 * k, Vector::Constant(1, 1. / 3 + k));
    log.end_row(0.1 * k);
  }
}

TEST(CsvLog, NamesWithQuotesCommasAndNewlinesAreQuoted) {
  const std::vector<std::string> names = {"plain", "a,b",        "say \"hi\"", "\"",
                                          "x\ny",  "space here", "\",\"",      ""};
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("names.csv");
  const auto log = open_log("test", path, {{"top,ic", names}, {"last", {"z"}}}, {});
  log->write(0, 0, Vector::LinSpaced(8, 0, 7));
  log->write(1, 0, Vector::Constant(1, 8));
  log->end_row(0);
  log->finish();
  const Rows rows = parse_csv(read_text_file("test", path));
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_EQ(rows[0].size(), names.size() + 2);
  EXPECT_EQ(rows[0][0], "t");
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(rows[0][i + 1], "top,ic." + names[i]);
  EXPECT_EQ(rows[0].back(), "last.z");
  for (std::size_t i = 1; i < rows[1].size(); ++i) EXPECT_EQ(rows[1][i], std::to_string(i - 1));
}

TEST(CsvLog, NumbersAreExactAndUnknownOnesEmpty) {
  const testing::TemporaryFolder folder;
  const auto log = open_log("test", folder.file("run.csv"), kTopics, {});
  write_rows(*log, 0, 4);
  log->finish();
  const Rows rows = parse_csv(read_text_file("test", folder.file("run.csv")));
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0],
            (std::vector<std::string>{"t", "state.q.elbow", "state.q.knee", "state.v", "imu.fx"}));
  for (int k = 0; k < 4; ++k) {
    const auto& row = rows[static_cast<std::size_t>(k) + 1];
    ASSERT_EQ(row.size(), 5u);
    EXPECT_EQ(std::stod(row[0]), 0.1 * k);
    EXPECT_EQ(std::stod(row[1]), k);
    EXPECT_EQ(std::stod(row[2]), -1.5 * k);
    if (k == 2) {
      EXPECT_EQ(row[3], "");
    } else {
      EXPECT_EQ(std::stod(row[3]), 1e-7 * k);
    }
    if (k == 0) {
      EXPECT_EQ(row[4], "");  // no reading yet
    } else {
      EXPECT_EQ(std::stod(row[4]), 1. / 3 + k);
    }
  }
}

struct McapRecord {
  int kind = 0;
  std::string content;
};
std::uint64_t number(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value * 256 + static_cast<unsigned char>(bytes.at(at + i));
  }
  return value;
}
std::string text_at(const std::string& bytes, std::size_t& at) {
  const std::size_t size = number(bytes, at, 4);
  at += 4 + size;
  return bytes.substr(at - size, size);
}
const std::string kMagic("\x89MCAP0\r\n", 8);

/// Records up to the end of the text or the second magic.
std::vector<McapRecord> parse_mcap(const std::string& bytes, bool& complete) {
  std::vector<McapRecord> records;
  EXPECT_EQ(bytes.substr(0, 8), kMagic);
  std::size_t at = 8;
  while (at < bytes.size() && bytes.substr(at) != kMagic) {
    const std::size_t size = number(bytes, at + 1, 8);
    records.push_back({static_cast<unsigned char>(bytes[at]), bytes.substr(at + 9, size)});
    EXPECT_EQ(records.back().content.size(), size) << "an incomplete record";
    at += 9 + size;
  }
  complete = at < bytes.size();
  return records;
}

/// Records with those of the chunks in their place.
std::vector<McapRecord> without_chunks(const std::vector<McapRecord>& records) {
  std::vector<McapRecord> result;
  for (const McapRecord& r : records) {
    if (r.kind != 6) {
      result.push_back(r);
      continue;
    }
    std::size_t at = 28;
    const std::string compression = text_at(r.content, at);
    const std::string inner = mcap::decompress("test", "chunk", r.content.substr(at + 8),
                                               compression, number(r.content, 16, 8));
    EXPECT_EQ(number(r.content, 24, 4), mcap::crc32(inner));
    EXPECT_EQ(number(r.content, at, 8), r.content.size() - at - 8);
    bool complete = false;
    for (McapRecord& one : parse_mcap(kMagic + inner, complete)) result.push_back(std::move(one));
  }
  return result;
}

TEST(McapLog, HasTheRecordsOfItsSpecification) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("run.mcap");
  const auto log = open_log("test", path,
                            {{"state", {"q.el\"bow", "q.knee", "v", "a.x"}},
                             {"n", {"y"}},
                             {"tf", {"link"}, LogTopic::Kind::frame_transforms},
                             {"joints", {"elbow"}, LogTopic::Kind::joint_states},
                             {"forces", {}, LogTopic::Kind::arrows}},
                            {{"model", "m.urdf"}, {"seed", "7"}},
                            {{"robot.urdf", "application/xml", "<robot/>"}});
  log->write(0, 0.25, Eigen::Vector4d(1.5, std::nan(""), -2e-9, 4));
  log->write(1, 0.25, Vector::Constant(1, std::numeric_limits<double>::infinity()));
  log->write(0, 1.5000000006, Eigen::Vector4d(0, 1, 2, std::nan("")));
  log->write(2, 1.5, (Vector(7) << 1, 2, 3, 0, 0, 0.6, 0.8).finished());
  log->write(3, 1.5, Eigen::Vector3d(0.5, -1, std::nan("")));
  log->write(4, 1.5, (Vector(12) << 0, 0, 0, 0, 0, 0, 1, 2, 3, 0.05, 0, 0).finished());
  log->finish();
  log->finish();  // once only
  bool complete = false;
  const std::string file = read_text_file("test", path);
  const auto all = parse_mcap(file, complete), records = without_chunks(all);
  EXPECT_TRUE(complete);
  std::vector<int> kinds;
  for (const McapRecord& r : records) kinds.push_back(r.kind);
  // Header, metadata, attachment, five schemas with channels, six messages, indexes of five
  // channels, end of data; then the summary: schemas, channels, statistics, indexes of chunk,
  // attachment and metadata, offsets of these six groups, footer.
  ASSERT_EQ(kinds,
            (std::vector<int>{1, 0x0c, 9, 3,    4, 3,    4,    3,  4,    3,  4,  3,  4,  5, 5, 5,
                              5, 5,    5, 7,    7, 7,    7,    7,  0x0f, 3,  3,  3,  3,  3, 4, 4,
                              4, 4,    4, 0x0b, 8, 0x0a, 0x0d, 14, 14,   14, 14, 14, 14, 2}));

  std::size_t at = 0;
  EXPECT_EQ(text_at(records[0].content, at), "");  // no profile
  EXPECT_EQ(text_at(records[0].content, at).substr(0, 5), "limb ");
  EXPECT_EQ(at, records[0].content.size());
  at = 0;
  EXPECT_EQ(text_at(records[1].content, at), "limb");
  EXPECT_EQ(number(records[1].content, at, 4), records[1].content.size() - at - 4);
  at += 4;
  for (const char* word : {"model", "m.urdf", "seed", "7"}) {
    EXPECT_EQ(text_at(records[1].content, at), word);
  }
  at = 16;
  EXPECT_EQ(text_at(records[2].content, at), "robot.urdf");
  EXPECT_EQ(text_at(records[2].content, at), "application/xml");
  EXPECT_EQ(number(records[2].content, at, 8), 8u);
  EXPECT_EQ(records[2].content.substr(at + 8, 8), "<robot/>");
  const char* schemas[] = {
      R"({"type":"object","properties":{"t":{"type":"number","description":"s"},)"
      R"("q":{"type":"object","properties":{"el\"bow":{"type":"number"},"knee":{"type":"number"}}},)"
      R"("v":{"type":"number"},"a":{"type":"object","properties":{"x":{"type":"number"}}}}})",
      R"({"type":"object","properties":{"t":{"type":"number","description":"s"},"y":{"type":"number"}}})"};
  const char* schema_names[] = {"limb.state", "limb.n", "foxglove.FrameTransforms",
                                "foxglove.JointStates", "foxglove.SceneUpdate"};
  const char* topics[] = {"/state", "/n", "/tf", "/joints", "/forces"};
  for (std::size_t i = 0; i < 5; ++i) {
    const std::string &schema = records[3 + 2 * i].content, &channel = records[4 + 2 * i].content;
    EXPECT_EQ(number(schema, 0, 2), i + 1);
    at = 2;
    EXPECT_EQ(text_at(schema, at), schema_names[i]);
    EXPECT_EQ(text_at(schema, at), "jsonschema");
    const std::string text = text_at(schema, at);
    if (i < 2) {
      EXPECT_EQ(text, schemas[i]);
    }
    EXPECT_EQ(number(channel, 0, 2), i + 1);
    EXPECT_EQ(number(channel, 2, 2), i + 1);
    at = 4;
    EXPECT_EQ(text_at(channel, at), topics[i]);
    EXPECT_EQ(text_at(channel, at), "json");
    EXPECT_EQ(number(channel, at, 4), 0u);
    EXPECT_EQ(channel.size(), at + 4);
    // The summary repeats them.
    EXPECT_EQ(records[25 + i].content, schema);
    EXPECT_EQ(records[30 + i].content, channel);
  }
  struct Message {
    std::uint64_t channel, sequence, nanoseconds;
    const char* text;
  };
  const Message messages[] = {
      {1, 0, 250000000, R"({"t":0.25,"q":{"el\"bow":1.5},"v":-2e-09,"a":{"x":4}})"},
      {2, 0, 250000000, R"({"t":0.25})"},
      {1, 1, 1500000001, R"({"t":1.5000000006,"q":{"el\"bow":0,"knee":1},"v":2})"},
      {3, 0, 1500000000,
       R"({"transforms":[{"timestamp":{"sec":1,"nsec":500000000},"parent_frame_id":"world",)"
       R"("child_frame_id":"link","translation":{"x":1,"y":2,"z":3},)"
       R"("rotation":{"x":0,"y":0,"z":0.6,"w":0.8}}]})"},
      {4, 0, 1500000000,
       R"({"timestamp":{"sec":1,"nsec":500000000},)"
       R"("joints":[{"name":"elbow","position":0.5,"velocity":-1}]})"},
      {5, 0, 1500000000,
       R"({"deletions":[],"entities":[{"timestamp":{"sec":1,"nsec":500000000},"frame_id":"world",)"
       R"("id":"forces","lifetime":{"sec":0,"nsec":0},"frame_locked":false,"metadata":[],)"
       R"("arrows":[{"pose":{"position":{"x":1,"y":2,"z":3},)"
       R"("orientation":{"x":0,"y":0,"z":0,"w":1}},"shaft_length":0.04,"shaft_diameter":0.01,)"
       R"("head_length":0.01,"head_diameter":0.02,"color":{"r":0.85,"g":0.2,"b":0.1,"a":1}}],)"
       R"("cubes":[],"spheres":[],"cylinders":[],"lines":[],"triangles":[],"texts":[],)"
       R"("models":[]}]})"}};
  for (std::size_t i = 0; i < 6; ++i) {
    const std::string& content = records[13 + i].content;
    EXPECT_EQ(number(content, 0, 2), messages[i].channel);
    EXPECT_EQ(number(content, 2, 4), messages[i].sequence);
    EXPECT_EQ(number(content, 6, 8), messages[i].nanoseconds);
    EXPECT_EQ(number(content, 14, 8), messages[i].nanoseconds);
    EXPECT_EQ(content.substr(22), messages[i].text);
  }
  EXPECT_EQ(records[24].content, std::string(4, '\0'));
  // Statistics: six messages, five schemas and channels, one attachment, one map, one chunk.
  const std::string& statistics = records[35].content;
  EXPECT_EQ(number(statistics, 0, 8), 6u);
  EXPECT_EQ(number(statistics, 8, 2), 5u);
  EXPECT_EQ(number(statistics, 10, 4), 5u);
  for (const std::size_t offset : {14u, 18u, 22u}) EXPECT_EQ(number(statistics, offset, 4), 1u);
  EXPECT_EQ(number(statistics, 26, 8), 250000000u);
  EXPECT_EQ(number(statistics, 34, 8), 1500000001u);
  // The index of the chunk points to it, the footer to the summary and its offsets.
  const std::uint64_t chunk = number(records[36].content, 16, 8);
  EXPECT_EQ(file.at(chunk), 6);
  EXPECT_EQ(number(records[36].content, 24, 8), 9 + number(file, chunk + 1, 8));
  const std::string& footer = records.back().content;
  const std::uint64_t summary = number(footer, 0, 8), offsets = number(footer, 8, 8);
  EXPECT_EQ(file.at(summary), 3);
  EXPECT_EQ(file.at(offsets), 14);
  EXPECT_EQ(number(footer, 16, 4),
            mcap::crc32(file.substr(summary, file.size() - kMagic.size() - 4 - summary)));
}

// Chunks end by their size, so that equal runs give equal files, wherever they are flushed.
TEST(McapLog, BytesDoNotDependOnFlushes) {
  const testing::TemporaryFolder folder;
  for (const bool flushed : {false, true}) {
    const auto log = open_log("test", folder.file(flushed ? "a" : "b") + ".mcap", kTopics, {});
    for (int k = 0; k < 5000; ++k) {
      write_rows(*log, k, k + 1);
      if (flushed && k % 700 == 3) log->flush();
    }
    log->finish();
  }
  const std::string a = read_text_file("test", folder.file("a.mcap"));
  EXPECT_EQ(a, read_text_file("test", folder.file("b.mcap")));
  bool complete = false;
  int chunks = 0;
  for (const McapRecord& r : parse_mcap(a, complete)) chunks += r.kind == 6;
  EXPECT_GE(chunks, 2);
}

// Few rows fit into the buffer of the file: they are on the disk because of flush().
TEST(Log, RowsAreOnTheDiskAfterAFlush) {
  const testing::TemporaryFolder folder;
  for (const int rows : {1, 3}) {
    const std::string csv = folder.file("run.csv"), mcap = folder.file("run.mcap");
    auto a = open_log("test", csv, kTopics, {}), b = open_log("test", mcap, kTopics, {});
    for (LogWriter* log : {a.get(), b.get()}) {
      write_rows(*log, 1, rows + 1);
      log->flush();
    }
    EXPECT_EQ(static_cast<int>(parse_csv(read_text_file("test", csv)).size()), rows + 1);
    // A flushed file is complete, too: a crash leaves it as it is.
    for (const bool ended : {false, true}) {
      if (ended) b.reset();  // the destructor ends the file
      bool complete = false;
      int messages = 0;
      for (const auto& r : without_chunks(parse_mcap(read_text_file("test", mcap), complete))) {
        messages += r.kind == 5;
      }
      EXPECT_TRUE(complete);
      EXPECT_EQ(messages, 2 * rows);
    }
    write_rows(*a, rows + 1, rows + 2);
    a.reset();
    EXPECT_EQ(static_cast<int>(parse_csv(read_text_file("test", csv)).size()), rows + 2);
  }
}

TEST(Log, FullDiskIsAnError) {
  const std::string full = "/dev/full";
  if (!std::filesystem::exists(full)) GTEST_SKIP() << "no /dev/full on this system";
  const std::string expected =
      "test: cannot write /dev/full: No space left on device [computation failed]";
  const auto make = [&] { return std::make_unique<LogFile>("test", full); };
  EXPECT_EQ(message([&] {
              const auto log = make_csv_writer(make(), kTopics);
              write_rows(*log, 0, 1);
              log->flush();
            }),
            expected);
  EXPECT_EQ(message([&] {
              const auto log = make_csv_writer(make(), kTopics);
              write_rows(*log, 0, 1);
              log->finish();
            }),
            expected);
  EXPECT_EQ(message([&] {
              const auto log = make_csv_writer(make(), kTopics);
              write_rows(*log, 0, 1000);  // more than the buffer
              log->flush();
            }),
            expected);
  EXPECT_EQ(message([&] { make_mcap_writer(make(), kTopics, {})->finish(); }), expected);
}

}  // namespace
}  // namespace limb
