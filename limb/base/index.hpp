#pragma once

#include <compare>
#include <cstdint>

namespace limb {

/// An int that knows what it counts: a BodyId is no JointId, and mixing them does not compile.
///
///   struct BodyTag;
///   using BodyId = Index<BodyTag>;
template <typename Tag>
class Index {
 public:
  constexpr Index() = default;
  constexpr explicit Index(std::int32_t value) : value_(value) {}

  [[nodiscard]] constexpr std::int32_t value() const { return value_; }
  [[nodiscard]] constexpr bool is_valid() const { return value_ >= 0; }
  constexpr auto operator<=>(const Index&) const = default;

 private:
  std::int32_t value_ = -1;
};

}  // namespace limb
