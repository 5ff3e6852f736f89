// All back ends on all functions of the reference robots; backends_test has the built-in ones.
#include <gtest/gtest.h>

#include "limb/codegen/testing/check_back_ends.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

TEST(BackendsShared, AgreeOnReferenceRobots) {
  const std::filesystem::path shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  const std::vector<testing::NamedModel> robots = testing::shared_robots(shared);
  EXPECT_GT(robots.size(), 20U);
  for (const auto& [name, model] : robots) testing::check_all_functions(name, model, 17);
}

}  // namespace
}  // namespace limb
