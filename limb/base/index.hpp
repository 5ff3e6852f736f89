#pragma once

#include <compare>
#include <cstdint>

namespace limb {

/// Typed index: a BodyId is not a JointId, and mixing them does not compile.
///
///   struct BodyTag;
///   using BodyId = Index<BodyTag>;
template <typename Tag>
class TypedIndex {
 public:
  constexpr TypedIndex() = default;
  constexpr explicit TypedIndex(std::int32_t value) : value_(value) {}

  [[nodiscard]] constexpr std::int32_t value() const { return value_; }
  [[nodiscard]] constexpr bool is_valid() const { return value_ >= 0; }
  constexpr auto operator<=>(const TypedIndex&) const = default;

 private:
  std::int32_t value_ = -1;
};

}  // namespace limb
