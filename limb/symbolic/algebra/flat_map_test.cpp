// The hash table of terms: what is inserted is found, and collisions of hashes are resolved by the
// next key.
#include "limb/symbolic/algebra/flat_map.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace limb::symbolic {
namespace {

TEST(FlatMap, FindsWhatWasInserted) {
  FlatMap map;
  EXPECT_EQ(map.find(7), nullptr);
  // Many more than the first table has slots, with equal low and equal high parts.
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    const std::uint64_t key = i % 2 == 0 ? i << 32 : i;
    ASSERT_EQ(map.find(key), nullptr) << i;
    map.insert(key, 3 * i);
  }
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    const std::uint64_t* found = map.find(i % 2 == 0 ? i << 32 : i);
    ASSERT_NE(found, nullptr) << i;
    EXPECT_EQ(*found, 3 * i);
  }
  EXPECT_EQ(map.find(6000), nullptr);
}

// Three values with one hash are under it and the next two keys; after the last key comes 1,
// because 0 marks an empty slot.
TEST(FlatMap, CollisionsContinueAtTheNextKey) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t start : {std::uint64_t{100}, kLast - 1, kLast, std::uint64_t{0}}) {
    FlatMap map;
    std::vector<std::uint64_t> keys;
    for (std::uint64_t value = 10; value < 13; ++value) {
      std::uint64_t hash = start;
      EXPECT_EQ(map.find_by_hash(hash, [&](std::uint64_t v) { return v == value; }), nullptr);
      keys.push_back(hash);
      map.insert(hash, value);
    }
    std::uint64_t expected = start == 0 ? 1 : start;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(keys[i], expected) << start << " " << i;
      std::uint64_t hash = start;
      const std::uint64_t* found =
          map.find_by_hash(hash, [&](std::uint64_t v) { return v == 10 + i; });
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(*found, 10 + i);
      EXPECT_EQ(hash, keys[i]);
      expected = expected == kLast ? 1 : expected + 1;
    }
  }
}

}  // namespace
}  // namespace limb::symbolic
