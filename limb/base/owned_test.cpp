#include "limb/base/owned.hpp"

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

TEST(Owned, CopiesAreTheirOwn) {
  {
    const Owned<Counted> none;
    EXPECT_FALSE(none);
    Owned<Counted> first = Owned<Counted>::make(3);
    Owned<Counted> second = first;
    second->number = 4;
    EXPECT_EQ((*first).number, 3);
    EXPECT_EQ(second->number, 4);
    EXPECT_EQ(Counted::alive, 2);
    second = none;
    EXPECT_FALSE(second);
    EXPECT_EQ(Counted::alive, 1);
    const Owned<Counted> moved = std::move(first);
    EXPECT_EQ(moved->number, 3);
    EXPECT_EQ(Counted::alive, 1);
  }
  EXPECT_EQ(Counted::alive, 0);
}

class Unknown;
struct Holder {  // the size of Unknown is not known here
  Owned<Unknown> part;
};
TEST(Owned, PassesOnWhatItDoesNotKnow) {
  const Holder first;
  const Holder second = first;
  EXPECT_FALSE(second.part);
}

}  // namespace
}  // namespace limb
