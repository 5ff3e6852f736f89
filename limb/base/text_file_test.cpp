#include "limb/base/text_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

#include "limb/base/error.hpp"
#include "limb/base/testing/temporary_folder.hpp"

namespace limb {
namespace {

namespace fs = std::filesystem;

class TextFile : public ::testing::Test {
 protected:
  static std::string message(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  const testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
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
            "test: cannot write " + nowhere + ": No such file or directory");
}

// Reading an endless device or a pipe without a writer would never end.
TEST_F(TextFile, RefusesPipesAndDevices) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(message([&] { read_text_file("test", pipe); }),
            "test: " + pipe + ": is a pipe or device, expected a file");
  EXPECT_EQ(message([&] { read_text_file("test", "/dev/null"); }),
            "test: /dev/null: is a pipe or device, expected a file");
}

TEST_F(TextFile, StopsAtTheLimit) {
  const fs::path file = folder_ / "large";
  write_text_file("test", file, std::string(1001, 'x'));
  EXPECT_EQ(
      message([&] { read_text_file("test", file, 1000); }),
      "test: " + file.string() + ": has more than 1000 bytes, the limit for a robot description");
  EXPECT_EQ(read_text_file("test", file, 1001).size(), 1001u);
}

TEST_F(TextFile, KeepsTheOldFileWhenItCannotBeReplaced) {
  fs::create_directories(folder_ / "taken" / "full");
  EXPECT_EQ(message([&] { write_text_file("test", folder_ / "taken", "x"); }),
            "test: cannot write " + (folder_ / "taken").string() + ": Is a directory");
  EXPECT_TRUE(fs::is_directory(folder_ / "taken" / "full"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

// A size limit acts as a full disk: SIGXFSZ is ignored and the write fails.
TEST_F(TextFile, KeepsTheOldFileWhenTheDiskIsFull) {
  const fs::path file = folder_ / "a";
  write_text_file("test", file, "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string text = message([&] { write_text_file("test", file, std::string(1001, 'x')); });
  const std::string fits = message([&] { write_text_file("test", folder_ / "b", "1000"); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(text, "test: cannot write " + file.string() + ": File too large");
  EXPECT_EQ(fits, "no error");
  EXPECT_EQ(read_text_file("test", file), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(TextFile, WritesToDevicesWithoutReplacingThem) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  EXPECT_EQ(message([&] { write_text_file("test", "/dev/full", "x"); }),
            "test: cannot write /dev/full: No space left on device");
  EXPECT_EQ(message([&] { write_text_file("test", "/dev/null", "x"); }), "no error");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(TextFile, FollowsLinksAndKeepsPermissions) {
  const fs::path file = folder_ / "a", link = folder_ / "link";
  write_text_file("test", file, "old");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a", link);
  write_text_file("test", link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_text_file("test", file), "new");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace
}  // namespace limb
