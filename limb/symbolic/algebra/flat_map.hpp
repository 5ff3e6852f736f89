#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace limb::symbolic {

/// A hash table from 64-bit keys to 64-bit values: one array, linear probing. Key 0 is reserved.
class FlatMap {
 public:
  std::size_t size() const { return size_; }
  void clear() {
    slots_.clear();
    size_ = 0;
  }
  /// The value, or null.
  const std::uint64_t* find(std::uint64_t key) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t i = slot_index(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return &slots_[i].value;
      if (slots_[i].key == 0) return nullptr;
    }
  }
  /// @pre the key is not in the table
  void insert(std::uint64_t key, std::uint64_t value) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    put(key, value);
    ++size_;
  }

  /// The first value under `hash` or the keys after it that `matches`. If no value does, returns
  /// null, and `hash` is then the key to insert under. This resolves hash collisions.
  template <typename Matches>
  const std::uint64_t* find_by_hash(std::uint64_t& hash, const Matches& matches) const {
    if (hash == 0) hash = 1;
    for (;; hash = hash + 1 == 0 ? 1 : hash + 1) {
      const std::uint64_t* value = find(hash);
      if (value == nullptr || matches(*value)) return value;
    }
  }

 private:
  struct Slot {
    std::uint64_t key = 0, value = 0;
  };
  std::size_t slot_index(std::uint64_t key) const {
    key *= 0x9e3779b97f4a7c15u;  // Fibonacci hashing: high bits mix best
    return static_cast<std::size_t>(key >> 32) & (slots_.size() - 1);
  }
  void put(std::uint64_t key, std::uint64_t value) {
    std::size_t i = slot_index(key);
    while (slots_[i].key != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {key, value};
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != 0) put(slot.key, slot.value);
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace limb::symbolic
