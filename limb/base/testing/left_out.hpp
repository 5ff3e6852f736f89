#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace limb::testing {

/// Parts of tests that did not run here: (test, reason). Listed by test_main.cpp.
inline std::vector<std::pair<std::string, std::string>>& left_out_parts() {
  static std::vector<std::pair<std::string, std::string>> parts;
  return parts;
}

/// Records that a part of the running test is left out. A test of which nothing runs calls
/// GTEST_SKIP() instead. A reason is listed once per test; both are listed at the end of `./run
/// test`.
inline void leave_out(const std::string& reason) {
  const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::pair part(
      test == nullptr ? "" : std::string(test->test_suite_name()) + "." + test->name(), reason);
  auto& parts = left_out_parts();
  if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
}

}  // namespace limb::testing
