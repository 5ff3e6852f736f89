#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>

#include "limb/base/check.hpp"
#include "limb/base/index.hpp"
#include "limb/base/max_or_nan.hpp"

namespace limb {
namespace {

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Check, SizeNamesCallArgumentFoundExpectedAndCause) {
  EXPECT_EQ(message([] { check_size("rnea", "q", 36, 37, "a free joint needs 7 numbers in q"); }),
            "rnea: q has 36 entries, expected 37 (a free joint needs 7 numbers in q)");
  EXPECT_EQ(message([] { check_size("rnea", "v", 6, 7); }), "rnea: v has 6 entries, expected 7");
  EXPECT_EQ(message([] { check_size("rnea", "v", 7, 7); }), "no error");
}

TEST(Check, FiniteGivesTheIndexOfTheFirstBadNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::array<double, 3> values = {1.0, nan, nan};
  EXPECT_EQ(message([&] { check_finite("aba", "tau", values); }),
            "aba: tau[1] is nan, expected a finite number");
  EXPECT_EQ(message([&] { check_finite("aba", "tau", std::span(values).first(1)); }), "no error");
}

TEST(Check, FiniteNumber) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message([&] { check_finite("slerp", "t", -inf); }),
            "slerp: t is -inf, expected a finite number");
  EXPECT_EQ(message([] { check_finite("slerp", "t", 1e300); }), "no error");
}

TEST(Check, PositiveRejectsZeroNegativeAndNonFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message([] { check_positive("box", "mass", 0.0); }),
            "box: mass is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] { check_positive("box", "mass", inf); }),
            "box: mass is inf, expected > 0 and finite");
  EXPECT_EQ(message([] { check_positive("box", "mass", 1e-300); }), "no error");
  EXPECT_EQ(message([] { check_not_negative("box", "inner radius", -1.0); }),
            "box: inner radius is -1, expected >= 0 and finite");
  EXPECT_EQ(message([] { check_not_negative("box", "inner radius", 0.0); }), "no error");
}

TEST(Check, NotANumberIsNeitherPositiveNorNotNegative) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message([&] { check_positive("box", "mass", nan); }),
            "box: mass is nan, expected > 0 and finite");
  EXPECT_EQ(message([&] { check_not_negative("box", "mass", nan); }),
            "box: mass is nan, expected >= 0 and finite");
}

TEST(Error, TextWithAHintEndsWithIt) {
  EXPECT_EQ(message([] { fail("slerp", "t", "2", "0 to 1", "t is a fraction of the path"); }),
            "slerp: t is 2, expected 0 to 1 (t is a fraction of the path)");
}

TEST(Error, IsAStandardException) {
  EXPECT_THROW(fail("f", "x", "1", "2"), std::runtime_error);
}

TEST(Error, KindTellsWhetherTheCallerCanFixIt) {
  try {
    fail_computation("solve", "the matrix is singular");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::computation_failed);
    EXPECT_STREQ(error.what(), "solve: the matrix is singular");
  }
  try {
    fail("slerp", "t", "2", "0 to 1");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::bad_input);
    EXPECT_STREQ(error.what(), "slerp: t is 2, expected 0 to 1");
  }
}

TEST(Text, NumbersReadBackExactly) {
  EXPECT_EQ(to_text(0.1), "0.1");
  EXPECT_EQ(std::stod(to_text(1.0 / 3.0)), 1.0 / 3.0);
  EXPECT_EQ(to_text(std::array<double, 3>{1, 0.5, -2}), "[1, 0.5, -2]");
  EXPECT_EQ(to_text(std::span<const double>()), "[]");
}

TEST(Index, DifferentKindsDoNotMix) {
  using BodyIndex = TypedIndex<struct BodyIndexTag>;
  using JointIndex = TypedIndex<struct JointIndexTag>;
  static_assert(!std::is_convertible_v<BodyIndex, JointIndex>);
  static_assert(!std::is_constructible_v<BodyIndex, JointIndex>);
  static_assert(!std::is_convertible_v<int, BodyIndex>);
  EXPECT_FALSE(BodyIndex().is_valid());
  EXPECT_LT(BodyIndex(1), BodyIndex(2));
  EXPECT_EQ(BodyIndex(3), BodyIndex(3));
  EXPECT_NE(BodyIndex(3), BodyIndex(4));
  EXPECT_TRUE(BodyIndex(0).is_valid());
  EXPECT_EQ(BodyIndex(7).value(), 7);
}

TEST(MaxOrNan, IsTheLargerOneOrNan) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(max_or_nan(1, 2), 2);
  EXPECT_EQ(max_or_nan(2, 1), 2);
  EXPECT_TRUE(std::isnan(max_or_nan(kNan, 1)));
  EXPECT_TRUE(std::isnan(max_or_nan(1, kNan)));
}

}  // namespace
}  // namespace limb
