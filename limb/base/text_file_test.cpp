#include "limb/base/text_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "limb/base/error.hpp"

namespace limb {
namespace {

namespace fs = std::filesystem;

class TextFile : public ::testing::Test {
 protected:
  TextFile() : folder_(fs::temp_directory_path() / ("limb_text_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~TextFile() override { fs::remove_all(folder_); }

  static std::string message(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

TEST_F(TextFile, ReadsBackEveryByte) {
  const std::string text("a\r\n\0\xff b", 7);
  write_text_file("test", folder_ / "a", text);
  EXPECT_EQ(read_text_file("test", folder_ / "a"), text);
  write_text_file("test", folder_ / "a", "short");
  EXPECT_EQ(read_text_file("test", folder_ / "a"), "short");
  // No partial file is left beside it.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(TextFile, NamesCallFileAndCause) {
  const std::string missing = (folder_ / "missing").string();
  EXPECT_EQ(message([&] { read_text_file("test", missing); }),
            "test: " + missing + ": no such file");
  EXPECT_EQ(message([&] { read_text_file("test", folder_); }),
            "test: " + folder_.string() + ": is a folder, expected a file");
  write_text_file("test", folder_ / "long", "12345");
  EXPECT_EQ(message([&] { read_text_file("test", folder_ / "long", 4); }),
            "test: " + (folder_ / "long").string() +
                ": has more than 4 bytes, the limit for a robot description");
  EXPECT_EQ(read_text_file("test", folder_ / "long", 5), "12345");
  const std::string nowhere = (folder_ / "no" / "file").string();
  EXPECT_EQ(message([&] { write_text_file("test", nowhere, "x"); }),
            "test: " + nowhere + ": cannot be opened for writing");
}

// An endless device is rejected at the limit, not read until memory runs out.
TEST_F(TextFile, StopsAtTheLimit) {
  if (!fs::exists("/dev/zero")) GTEST_SKIP() << "this system has no /dev/zero";
  EXPECT_EQ(message([&] { read_text_file("test", "/dev/zero", 1 << 20); }),
            "test: /dev/zero: has more than 1048576 bytes, the limit for a robot description");
}

TEST_F(TextFile, KeepsTheOldFileWhenItCannotBeReplaced) {
  fs::create_directories(folder_ / "taken" / "full");
  EXPECT_NE(message([&] { write_text_file("test", folder_ / "taken", "x"); }).find("cannot be"),
            std::string::npos);
  EXPECT_TRUE(fs::is_directory(folder_ / "taken" / "full"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace limb
