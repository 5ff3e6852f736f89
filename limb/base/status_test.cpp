#include "limb/base/status.hpp"

#include <gtest/gtest.h>

#include <set>

namespace limb {
namespace {

TEST(Status, EachHasItsOwnText) {
  EXPECT_EQ(to_text(Status::ok), "ok");
  EXPECT_EQ(to_text(Status::iteration_limit), "iteration limit");
  std::set<std::string_view> texts;
  const int count = static_cast<int>(Status::not_ready) + 1;
  for (int i = 0; i < count; ++i) texts.insert(to_text(static_cast<Status>(i)));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(texts.count("unknown"), 0u);
  EXPECT_EQ(to_text(static_cast<Status>(count)), "unknown");
}

TEST(Status, TheDefaultIsOk) {
  EXPECT_EQ(Status{}, Status::ok);
}

}  // namespace
}  // namespace limb
