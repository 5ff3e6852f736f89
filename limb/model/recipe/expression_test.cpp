#include "limb/model/recipe/expression.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "limb/base/error.hpp"
#include "limb/base/number.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {

/// A scalar that records its operations as text, as a symbolic scalar would.
struct Traced {
  std::string text;
  Traced() = default;
  explicit Traced(double value) : text(std::to_string(value)) {}
  explicit Traced(std::string t) : text(std::move(t)) {}
  friend Traced operator+(const Traced& a, const Traced& b) {
    return Traced(fmt::format("({}+{})", a.text, b.text));
  }
  friend Traced operator-(const Traced& a, const Traced& b) {
    return Traced(fmt::format("({}-{})", a.text, b.text));
  }
  friend Traced operator*(const Traced& a, const Traced& b) {
    return Traced(fmt::format("({}*{})", a.text, b.text));
  }
  friend Traced operator/(const Traced& a, const Traced& b) {
    return Traced(fmt::format("({}/{})", a.text, b.text));
  }
  friend Traced operator-(const Traced& a) { return Traced(fmt::format("-{}", a.text)); }
  friend Traced sqrt(const Traced& a) { return Traced(fmt::format("sqrt({})", a.text)); }
};

template <>
struct ConstantsOf<Traced> {
  static Traced ratio(std::int64_t n, std::int64_t d) {
    return Traced(d == 1 ? fmt::format("{}", n) : fmt::format("{}:{}", n, d));
  }
  static Traced decimal(double value) { return Traced(fmt::format("~{:.6f}", value)); }
  static Traced pi() { return Traced(std::string("pi")); }
};

namespace {

double value(std::string_view text, const std::map<std::string, double>& symbols = {}) {
  return evaluate<double>(parse_expression(text),
                          [&](const std::string& name) { return symbols.at(name); });
}
std::string trace(std::string_view text) {
  return evaluate<Traced>(parse_expression(text),
                          [](const std::string& name) { return Traced(name); })
      .text;
}
std::string error_of(std::string_view text) {
  try {
    parse_expression(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Expression, ValuesAndPrecedence) {
  EXPECT_EQ(value("2"), 2);
  EXPECT_EQ(value(" 2/3 "), 2.0 / 3.0);
  EXPECT_EQ(value("1 + 2*3 - 4/2"), 5);
  EXPECT_EQ(value("(1 + 2)*3"), 9);
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_EQ(value("(-2)^2"), 4);
  EXPECT_EQ(value("2^-2"), 0.25);
  EXPECT_EQ(value("2^0"), 1);
  EXPECT_EQ(value("2*-3"), -6);
  EXPECT_EQ(value("--3"), 3);
  EXPECT_EQ(value("+3"), 3);
  EXPECT_EQ(value("8/2/2"), 2);
  EXPECT_EQ(value("8-2-2"), 4);
  EXPECT_EQ(value("pi/2"), std::numbers::pi / 2);
  EXPECT_EQ(value("sqrt(2)/2"), std::sqrt(2.0) / 2);
  EXPECT_EQ(value(".5e1"), 5);
  EXPECT_EQ(value("1.E+2"), 100);
  EXPECT_EQ(value("m*l^2/12", {{"m", 1.2}, {"l", 0.35}}), 1.2 * (0.35 * 0.35) / 12);
  EXPECT_EQ(value("x^5", {{"x", 3}}), 243);
}

TEST(Expression, DecimalsAreTheNearestDoubles) {
  testing::Random random(11);
  for (int i = 0; i < 2000; ++i) {
    const double x = random.uniform(-10, 10) * std::pow(10.0, std::floor(random.uniform(-20, 20)));
    char text[64];
    std::snprintf(text, sizeof text, i % 2 ? "%.17g" : "%.6g", x);
    EXPECT_EQ(value(text), *parse_number(text)) << "seed 11, " << text;
  }
  EXPECT_EQ(value("0.1"), 0.1);
  EXPECT_EQ(value("9.81"), 9.81);
  EXPECT_EQ(value("1e22"), 1e22);
  EXPECT_EQ(value("123456789012345678901234567890"), 123456789012345678901234567890.0);
  EXPECT_EQ(value("0.000000000000000000000000001"), 1e-27);
}

TEST(Expression, ConstantsReachTheScalarAsRatios) {
  EXPECT_EQ(trace("2/3"), "(2/3)");
  EXPECT_EQ(trace("0.35"), "35:100");
  EXPECT_EQ(trace("2.50"), "25:10");
  EXPECT_EQ(trace("-0.5"), "-5:10");
  EXPECT_EQ(trace("1e3"), "1000");
  EXPECT_EQ(trace("-pi/2"), "(-pi/2)");
  EXPECT_EQ(trace("m1*l1^2 + I1"), "((m1*(l1*l1))+I1)");
  EXPECT_EQ(trace("l^-1"), "(1/l)");
  EXPECT_EQ(trace("sqrt(2)"), "sqrt(2)");
  EXPECT_EQ(trace("0.1234567890123456789"), "~0.123457");
}

TEST(Expression, SymbolsAreListedWithTheirColumns) {
  const RecipeExpression e = parse_expression("m1 * l_2 + m1");
  ASSERT_EQ(e.symbols().size(), 2u);
  EXPECT_EQ(e.symbols()[0].name, "m1");
  EXPECT_EQ(e.symbols()[0].column, 1u);
  EXPECT_EQ(e.symbols()[1].name, "l_2");
  EXPECT_EQ(e.symbols()[1].column, 6u);
  EXPECT_TRUE(is_symbol("_a1"));
  for (const char* name : {"", "1a", "a-b", "pi", "sqrt", "a b"}) EXPECT_FALSE(is_symbol(name));
}

TEST(Expression, ErrorsNameTheColumn) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "'' column 1: expected a number or a symbol, found end"},
      {"2*", "'2*' column 3: expected a number or a symbol, found end"},
      {"2 3", "'2 3' column 3: unexpected '3'"},
      {"(1+2", "'(1+2' column 5: expected ')', found end"},
      {"1)", "'1)' column 2: unexpected ')'"},
      {"2m", "'2m' column 2: unexpected 'm' after a number; products are written with *"},
      {"1.2.3", "'1.2.3' column 4: unexpected '.' after a number; products are written with *"},
      {".", "'.' column 2: expected digits beside the point"},
      {"1e", "'1e' column 2: expected digits after the e of a number"},
      {"1e999", "'1e999' column 1: number too large"},
      {"x^y", "'x^y' column 3: expected an integer up to 64 as exponent"},
      {"x^0.5", "'x^0.5' column 3: expected an integer up to 64 as exponent"},
      {"x^65", "'x^65' column 3: expected an integer up to 64 as exponent"},
      {"2^3^2", "'2^3^2' column 4: expected parentheses around the first of two powers"},
      {"sin(x)", "'sin(x)' column 1: unknown function 'sin'; there is only sqrt"},
      {"sqrt 2", "'sqrt 2' column 6: expected '(' after sqrt, found '2'"},
      {"sqrt(m)", "'sqrt(m)' column 5: sqrt takes numbers only, no symbols"},
      {"a $ b", "'a $ b' column 3: unexpected '$'"},
      {"\x01", "'\x01' column 1: expected a number or a symbol, found character 1"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(error_of(text), std::string("parse_expression: ") + expected);
  }
}

TEST(Expression, EnforcesItsLimits) {
  EXPECT_EQ(value(std::string(64, '(') + "1" + std::string(64, ')')), 1);
  EXPECT_NE(
      error_of(std::string(65, '(') + "1" + std::string(65, ')')).find("nested deeper than 64"),
      std::string::npos);
  EXPECT_EQ(value(std::string(998, '-') + "1"), 1);
  EXPECT_NE(error_of(std::string(1001, '1')).find("column 1001: longer than 1000 characters"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(300000, '(')).find("longer than"), std::string::npos);
}

TEST(Expression, EvaluateNumberRejectsSymbols) {
  EXPECT_EQ(evaluate_number(parse_expression("3/4")), 0.75);
  try {
    evaluate_number(parse_expression("3*k"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "evaluate_number: unknown symbol 'k', expected numbers only");
  }
}

}  // namespace
}  // namespace limb
