#include "limb/base/memory.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "limb/base/error.hpp"

namespace limb {
namespace {

TEST(Memory, TextHasThreeDigitsAndTheUnit) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(999), "999 bytes");
  EXPECT_EQ(bytes_text(999.6), "1 kB");
  EXPECT_EQ(bytes_text(1000), "1 kB");
  EXPECT_EQ(bytes_text(1536e6), "1.54 GB");
  EXPECT_EQ(bytes_text(6.4e11), "640 GB");
  EXPECT_EQ(bytes_text(2e21), "2e+03 EB");
}

TEST(Memory, AvailableIsLessThanAnyMachineHasAndEnoughForATest) {
  EXPECT_GT(available_memory(), std::uint64_t{1} << 20);
#ifdef __linux__
  EXPECT_LT(available_memory(), std::uint64_t{1} << 60);
#endif
}

TEST(Memory, SizesBeyondTheMemoryAreRefusedWithBothNumbers) {
  EXPECT_NO_THROW(check_memory("call", "n", "10", 80));
  const auto available = available_memory();
  if (available == std::numeric_limits<std::uint64_t>::max()) GTEST_SKIP() << "limit unknown";
  EXPECT_NO_THROW(check_memory("call", "n", "10", static_cast<double>(available) / 2));
  try {
    check_memory("call", "n", "7", 5e20);
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(
        text.starts_with("call: n is 7, expected a size that fits into memory (about 500 "
                         "EB needed, "))
        << text;
    EXPECT_TRUE(text.ends_with(" available)")) << text;
  }
  EXPECT_THROW(check_memory("call", "n", "7", 4 * static_cast<double>(available)), Error);
}

}  // namespace
}  // namespace limb
