// The nearest known name: by insertions, deletions, changes and swaps of neighbours, fewer than
// three.
#include "limb/base/nearest.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace limb {
namespace {

std::string of(const std::string& typed, const std::vector<std::string>& known) {
  return nearest(typed, known);
}

TEST(Nearest, OneOrTwoMistakesAreFound) {
  EXPECT_EQ(of("tunr", {"turn"}), "turn");              // a swap
  EXPECT_EQ(of("tun", {"turn"}), "turn");               // a letter is missing
  EXPECT_EQ(of("turrn", {"turn"}), "turn");             // one too many
  EXPECT_EQ(of("tarn", {"turn"}), "turn");              // another letter
  EXPECT_EQ(of("sholudre", {"shoulder"}), "shoulder");  // two swaps
  EXPECT_EQ(of("elbo", {"hip", "elbow", "knee"}), "elbow");
  EXPECT_EQ(of("abcd", {"badc"}), "badc");  // two swaps cost two, four changes would cost four
}

TEST(Nearest, ThreeMistakesAreTooMany) {
  EXPECT_EQ(of("abc", {"xyz"}), "");
  EXPECT_EQ(of("abcdef", {"abcxyz"}), "");
  // A swap needs both letters: these are three changes.
  EXPECT_EQ(of("abx", {"caw"}), "");
  EXPECT_EQ(of("abx", {"bcw"}), "");
  EXPECT_EQ(of("abcd", {"xy"}), "");
  EXPECT_EQ(of("ab", {"wxyz"}), "");
}

// Otherwise one letter would resemble any other.
TEST(Nearest, ShortNamesNeedALetterInCommon) {
  EXPECT_EQ(of("x", {"y", "z"}), "");
  EXPECT_EQ(of("ab", {"cd"}), "");
  EXPECT_EQ(of("ab", {"ad"}), "ad");
  EXPECT_EQ(of("", {"a"}), "");
}

TEST(Nearest, TheNearestAndThenTheFirstIsTaken) {
  EXPECT_EQ(of("joint", {"jiont_", "joinx", "joit"}), "joinx");
  EXPECT_EQ(of("hip1", {"hip_a1", "hip2", "hip3"}), "hip2");
  EXPECT_EQ(of("joint", {"joints", "joint"}), "joint");
}

TEST(Nearest, LongNamesAreNotCompared) {
  const std::string longest(256, 'a'), longer(257, 'a');
  EXPECT_EQ(of(longest, {longest + "b"}), longest + "b");
  EXPECT_EQ(of(longer, {longer}), "");
  // Two letters more or less are possible, three are not.
  EXPECT_EQ(of("abcdef", {"abcdefgh"}), "abcdefgh");
  EXPECT_EQ(of("abcdefgh", {"abcdef"}), "abcdef");
  EXPECT_EQ(of("abcdef", {"abcdefghi"}), "");
}

}  // namespace
}  // namespace limb
