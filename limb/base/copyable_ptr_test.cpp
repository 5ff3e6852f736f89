#include "limb/base/copyable_ptr.hpp"

#include <gtest/gtest.h>

namespace limb {
namespace {

struct Counted {
  explicit Counted(int n) : number(n) { ++alive; }
  Counted(const Counted& other) : number(other.number) { ++alive; }
  ~Counted() { --alive; }
  int number;
  static inline int alive = 0;
};

TEST(CopyablePtr, CopiesAreIndependent) {
  {
    const CopyablePtr<Counted> none;
    EXPECT_FALSE(none);
    CopyablePtr<Counted> first = CopyablePtr<Counted>::make(3);
    CopyablePtr<Counted> second = first;
    second->number = 4;
    EXPECT_EQ((*first).number, 3);
    EXPECT_EQ(second->number, 4);
    EXPECT_EQ(Counted::alive, 2);
    second = none;
    EXPECT_FALSE(second);
    EXPECT_EQ(Counted::alive, 1);
    const CopyablePtr<Counted> moved = std::move(first);
    EXPECT_EQ(moved->number, 3);
    EXPECT_EQ(Counted::alive, 1);
  }
  EXPECT_EQ(Counted::alive, 0);
}

class Incomplete;
struct Holder {
  CopyablePtr<Incomplete> part;
};
TEST(CopyablePtr, AcceptsIncompleteTypes) {
  const Holder first;
  const Holder second = first;
  EXPECT_FALSE(second.part);
}

}  // namespace
}  // namespace limb
