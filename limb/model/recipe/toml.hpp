#pragma once

#include <string>
#include <string_view>
#include <vector>

/// A TOML text as plain values with line numbers. Keeps the parser's types and the checks of its
/// limits (depth, size) out of all headers.
namespace limb {

struct TomlValue {
  enum class Kind { table, array, text, number, boolean, other };
  Kind kind = Kind::table;
  int line = 0;
  bool boolean = false;
  /// text: itself; number: decimal text that reads back as the same number ("nan" and "inf" if it
  /// is not finite).
  std::string text;
  std::vector<TomlValue> items;   ///< of an array or a table, in the order written
  std::vector<std::string> keys;  ///< of a table: keys[i] is that of items[i]

  /// The member of a table, or null.
  [[nodiscard]] const TomlValue* find(std::string_view key) const;
  /// "a table", "a text", ...: for messages.
  [[nodiscard]] std::string_view kind_text() const;
};

inline constexpr std::size_t kMaxTomlBytes = 16u << 20;
inline constexpr std::size_t kMaxTomlValues = 1'000'000;
inline constexpr int kMaxTomlDepth = 16;

/// @throws Error "call: file:line: not well-formed TOML (...)", or if a limit above is exceeded.
TomlValue parse_toml(std::string_view call, std::string_view text, const std::string& file);

}  // namespace limb
