#include "limb/base/diagnostic.hpp"

#include <gtest/gtest.h>

#include "limb/base/nearest.hpp"

namespace limb {
namespace {

using Severity = Diagnostic::Severity;

TEST(Diagnostic, TextHasSourceSeverityMessageAndRule) {
  Diagnostic d;
  d.rule = "mass-negative";
  d.source = {"arm.urdf", 12};
  d.message = "link 'tip': mass is -1, expected > 0";
  EXPECT_EQ(d.text(), "arm.urdf:12: error: link 'tip': mass is -1, expected > 0 [mass-negative]");
  d.source.line = 0;
  d.severity = Severity::warning;
  EXPECT_EQ(d.text(), "arm.urdf: warning: link 'tip': mass is -1, expected > 0 [mass-negative]");
  d.source.file.clear();
  d.severity = Severity::note;
  d.rule.clear();
  EXPECT_EQ(d.text(), "note: link 'tip': mass is -1, expected > 0");
}

TEST(Diagnostic, OnlyErrorsAreErrors) {
  Diagnostics all(2);
  all[0].severity = Severity::note;
  all[1].severity = Severity::warning;
  EXPECT_FALSE(has_errors({}));
  EXPECT_FALSE(has_errors(all));
  all.emplace_back();
  EXPECT_TRUE(has_errors(all));
}

TEST(Nearest, FindsTheIntendedName) {
  const std::vector<std::string> known = {"link", "joint", "base_link", "transmission"};
  EXPECT_EQ(nearest("lnik", known), "link");
  EXPECT_EQ(nearest("base_lnk", known), "base_link");
  EXPECT_EQ(nearest("joints", known), "joint");
  EXPECT_EQ(nearest("jiont", known), "joint");
  EXPECT_EQ(nearest("link", known), "link");
}

TEST(Nearest, ReturnsNothingIfNoNameIsClose) {
  const std::vector<std::string> known = {"link", "ab"};
  EXPECT_EQ(nearest("elbow", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("xy", known), "");  // two changes in two letters make a different word
  EXPECT_EQ(nearest("x", {}), "");
}

// The table of distances would take 100 GB.
TEST(Nearest, SkipsVeryLongNames) {
  const std::vector<std::string> known = {std::string(100000, 'n')};
  EXPECT_EQ(nearest(std::string(100001, 'n'), known), "");
  EXPECT_EQ(nearest("nn", known), "");
}

}  // namespace
}  // namespace limb
