// MCAP files: what the writer writes is what the reader reads, and damaged files are refused. The
// official library reads and writes the same files in cli/mcap_vs_official_test.py.
#include <gtest/gtest.h>

#include <sstream>
#include <tuple>

#include "limb/base/error.hpp"
#include "limb/base/mcap/compression.hpp"
#include "limb/base/mcap/mcap_reader.hpp"
#include "limb/base/mcap/mcap_writer.hpp"
#include "limb/base/mcap/records.hpp"

namespace limb::mcap {
namespace {

struct Content final : Visitor {
  using Row = std::tuple<std::string, std::uint32_t, std::uint64_t, std::string>;
  std::map<std::string, std::map<std::string, std::string>> maps;
  std::vector<Channel> channels;
  std::vector<Row> messages;

  void metadata(const std::string& name, const std::map<std::string, std::string>& map) override {
    maps[name] = map;
  }
  void channel(const Channel& channel) override { channels.push_back(channel); }
  void message(const Channel& channel, const Message& message) override {
    EXPECT_EQ(message.log_time, message.publish_time);
    messages.emplace_back(channel.topic, message.sequence, message.log_time,
                          std::string(message.data));
  }
};

Content read(std::string_view bytes) {
  Content content;
  std::istringstream stream{std::string(bytes)};
  Reader reader("test", "a.mcap", stream);
  while (reader.next(content)) {
  }
  return content;
}

std::string error_of(std::string_view bytes) {
  try {
    read(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Two topics; a chunk ends after each `per_chunk` messages.
std::string example(int messages, int per_chunk, bool finished = true) {
  Writer writer("test 1");
  std::string file = writer.start();
  file += writer.metadata("about", {{"a", "1"}, {"b", ""}});
  file += writer.attachment("robot.urdf", "application/xml", "<robot/>");
  writer.channel("/one", "json", "One", "jsonschema", "{}");
  writer.channel("/two", "json", "Two", "jsonschema", "{}");
  for (int i = 0; i < messages; ++i) {
    writer.message(static_cast<std::uint16_t>(1 + i % 2), 1000u * static_cast<unsigned>(i),
                   std::string(100, static_cast<char>('a' + i % 26)));
    if ((i + 1) % per_chunk == 0) file += writer.end_chunk();
  }
  return file + (finished ? writer.finish() : writer.provisional_end());
}

void expect_messages(const Content& content, int expected) {
  ASSERT_EQ(static_cast<int>(content.messages.size()), expected);
  for (int i = 0; i < expected; ++i) {
    const Content::Row row(i % 2 == 0 ? "/one" : "/two", i / 2, 1000 * i,
                           std::string(100, static_cast<char>('a' + i % 26)));
    EXPECT_EQ(content.messages[static_cast<std::size_t>(i)], row) << i;
  }
}

TEST(Mcap, ReadsWhatItWrites) {
  for (const bool finished : {true, false}) {
    const Content content = read(example(100, 7, finished));
    EXPECT_EQ(content.maps.at("about"),
              (std::map<std::string, std::string>{{"a", "1"}, {"b", ""}}));
    ASSERT_EQ(content.channels.size(), 2u);
    EXPECT_EQ(content.channels[1].topic, "/two");
    EXPECT_EQ(content.channels[1].message_encoding, "json");
    EXPECT_EQ(content.channels[1].schema.name, "Two");
    EXPECT_EQ(content.channels[1].schema.encoding, "jsonschema");
    EXPECT_EQ(content.channels[1].schema.data, "{}");
    expect_messages(content, 100);
  }
}

// Schemas take most of a short log, unless they are compressed with the messages.
TEST(Mcap, SchemasAreInTheFirstChunk) {
  const std::string file = example(10, 100);
  std::size_t at = kMagic.size();
  for (; static_cast<Opcode>(file[at]) != Opcode::chunk;
       at += kRecordHead + RecordReader(std::string_view(file).substr(at + 1)).number(8)) {
    EXPECT_NE(static_cast<Opcode>(file[at]), Opcode::schema);
    EXPECT_NE(static_cast<Opcode>(file[at]), Opcode::channel);
  }
  EXPECT_EQ(read(file.substr(0, at)).channels.size(), 0u);
  EXPECT_EQ(read(example(0, 100)).channels.size(), 2u);
}

TEST(Mcap, TheSameCallsGiveTheSameBytes) {
  EXPECT_EQ(example(50, 7), example(50, 7));
}

// The checksum of "123456789" is the test value that every description of CRC-32 gives.
TEST(Mcap, ChecksumHasItsPublishedTestValue) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xcbf43926u);
  EXPECT_EQ(crc32(""), 0u);
}

TEST(Mcap, ChunksAreCompressed) {
  if (best_compression().empty()) GTEST_SKIP() << "built without zstd";
  EXPECT_LT(example(1000, 200).size(), 1000u * 131 / 3);
  const std::string text(1000, 'x');
  EXPECT_EQ(decompress("test", "it", compress(text, "zstd"), "zstd", 1000), text);
}

// Wherever a file ends, the complete chunks before are read.
TEST(Mcap, TruncatedFilesAreReadUpToTheLastCompleteChunk) {
  const std::string file = example(100, 10);
  int last = 0;
  for (std::size_t size = kMagic.size(); size < file.size(); ++size) {
    const Content content = read(file.substr(0, size));
    const int found = static_cast<int>(content.messages.size());
    EXPECT_EQ(found % 10, 0);
    EXPECT_GE(found, last);
    last = found;
  }
  EXPECT_EQ(last, 100);
}

TEST(Mcap, DamagedChunksAreErrors) {
  const std::string file = example(10, 100);
  // The chunk is the first record of its kind after the channels.
  std::size_t at = kMagic.size();
  while (static_cast<Opcode>(file[at]) != Opcode::chunk) {
    at += kRecordHead + RecordReader(std::string_view(file).substr(at + 1)).number(8);
  }
  const std::string name = "test: a.mcap: the chunk at byte " + std::to_string(at);
  const auto changed = [&](std::size_t offset, const std::string& bytes) {
    std::string copy = file;
    copy.replace(at + kRecordHead + offset, bytes.size(), bytes);
    return copy;
  };
  EXPECT_EQ(error_of(changed(24, "\1\2\3\4")), name + " is damaged: its checksum is wrong");
  EXPECT_EQ(error_of(changed(24, std::string(4, '\0'))), "no error");  // no checksum
  if (best_compression().empty()) return;
  EXPECT_EQ(error_of(changed(32, "rust")),
            name + " is compressed by 'rust', expected zstd, lz4 or none");
  std::string size;
  put(size, std::uint64_t{77});
  EXPECT_EQ(error_of(changed(16, size)), name + " is damaged: it does not give 77 bytes");
  EXPECT_EQ(error_of(changed(16, std::string(8, '\x7f'))),
            name +
                " has 9187201950435737471 bytes, expected at most 268435456, and 1099511627776 in "
                "all chunks");
  EXPECT_EQ(error_of(changed(50, "damaged")).substr(0, name.size() + 11), name + " is damaged");
}

TEST(Mcap, OtherFilesAreErrors) {
  EXPECT_EQ(error_of(""), "test: a.mcap is not an MCAP file");
  EXPECT_EQ(error_of("\x89PNG\r\n"), "test: a.mcap is not an MCAP file");
  EXPECT_EQ(error_of(kMagic), "no error");
}

// Channels and schemas may be repeated, and messages of unknown channels have no meaning.
TEST(Mcap, RepeatedChannelsAreOne) {
  Writer writer("test");
  const std::string start = writer.start();
  writer.channel("/one", "json", "One", "jsonschema", "{}");
  const std::string channel = writer.end_chunk();  // a chunk without messages
  std::string unknown;
  put_record(unknown, Opcode::message, std::string(30, '\7'));
  writer.message(1, 5, "{}");
  const Content content = read(start + unknown + channel + channel + writer.finish());
  EXPECT_EQ(content.channels.size(), 1u);
  EXPECT_EQ(content.messages.size(), 1u);
}

}  // namespace
}  // namespace limb::mcap
