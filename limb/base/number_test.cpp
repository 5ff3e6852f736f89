#include "limb/base/number.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <string>

#include "limb/base/check.hpp"

namespace limb {
namespace {

TEST(ParseNumber, AcceptsExactlyOneFiniteNumber) {
  EXPECT_EQ(parse_number("1.5"), 1.5);
  EXPECT_EQ(parse_number(" \t-2e-3\r\n"), -2e-3);
  EXPECT_EQ(parse_number("+4"), 4.0);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_EQ(parse_number("5."), 5.0);
  EXPECT_EQ(parse_number("1E3"), 1000.0);
  EXPECT_EQ(parse_number("1e-999"), 0.0);
  for (const char* text :
       {"",    " ",   "+",    "-",        "+-1",   "++1",    "1 2", "1,5", "0x10", "nan",
        "NaN", "inf", "-inf", "infinity", "1e999", "-1e999", "one", "1m",  "1e",   "."}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(ParseNumber, ReadsBackWhatToTextWrites) {
  for (const double value : {0.1, 1.0 / 3.0, -1e300, 5e-324, 1.7976931348623157e308, 0.0}) {
    EXPECT_EQ(parse_number(to_text(value)), value);
  }
}

// Readers that use strtod take "1,5" for 1.5 under a German locale and 1.5 for 1.
TEST(ParseNumber, IsTheSameInEveryLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // no effect where it is not installed
  EXPECT_EQ(parse_number("1.5"), 1.5);
  EXPECT_EQ(parse_number("1,5"), std::nullopt);
  std::setlocale(LC_ALL, before.c_str());
}

TEST(ParseNumbers, SeparatesBySpacesLineEndsAndCommas) {
  using Values = std::vector<double>;
  EXPECT_EQ(parse_numbers("1 2\n3,4"), (Values{1, 2, 3, 4}));
  EXPECT_EQ(parse_numbers("  "), Values{});
  EXPECT_EQ(parse_numbers("1 two 3"), std::nullopt);
  EXPECT_EQ(parse_numbers("1 nan"), std::nullopt);
}

}  // namespace
}  // namespace limb
