#include "limb/model/recipe/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/check.hpp"
#include "limb/base/error.hpp"

namespace limb {
/// An assertion of the parser failed.
struct TomlAssertionFailed {};
[[noreturn]] static void toml_assertion_failed() {
  throw TomlAssertionFailed{};
}
}  // namespace limb

// The parser is compiled only here, with limited nesting. Some of its assertions fail for malformed
// text ("[="): they must neither abort nor, with NDEBUG, become assumptions of the optimizer.
#undef NDEBUG
#define TOML_ASSERT(expr) \
  (static_cast<bool>(expr) ? static_cast<void>(0) : ::limb::toml_assertion_failed())
#define TOML_HEADER_ONLY 1
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

namespace limb {
namespace {

/// Rejects expensive texts before parsing: long dotted keys nest tables without limit, and each
/// value of a large array needs a hundred times the memory of its text.
class TomlLimits {
 public:
  TomlLimits(std::string_view call, std::string_view text, const std::string& file)
      : call_(call), text_(text), file_(file) {}

  void run() {
    std::size_t dots = 0, values = 0;
    const std::size_t start = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // byte order mark
    for (std::size_t i = start; i < text_.size(); ++i) {
      switch (text_[i]) {
        case '\n':
          ++line_;
          dots = 0;
          ++values;
          break;
        case '#':
          i = std::min(text_.find('\n', i), text_.size()) - 1;
          break;
        case '"':
        case '\'':
          i = skip_string(i);
          break;
        case '.':
          if (++dots > static_cast<std::size_t>(kMaxTomlDepth)) stop("a key is nested too deeply");
          break;
        case ',':
        case '=':
        case '[':
        case ']':
        case '{':
        case '}':
          dots = 0;
          ++values;
          break;
        default:
          // Outside of quotes and comments TOML is ASCII; the parser's tables of letters are not
          // safe for all other characters.
          if (static_cast<unsigned char>(text_[i]) >= 0x80) {
            stop("not well-formed TOML (a non-ASCII character outside of quotes)");
          }
          break;
      }
      if (values > kMaxTomlValues) {
        stop(fmt::format("more than {} values", kMaxTomlValues));
      }
    }
  }

 private:
  /// Index of the last character of the string that starts at i. Multi-line strings are not needed,
  /// and in them the parser would use its tables of letters again.
  std::size_t skip_string(std::size_t i) {
    const char quote = text_[i];
    if (text_.substr(i, 3) == std::string(3, quote)) stop("texts in triple quotes are not read");
    for (std::size_t j = i + 1; j < text_.size(); ++j) {
      if (text_[j] == '\\' && quote == '"') {
        ++j;
      } else if (text_[j] == '\n') {
        return j - 1;  // not closed: the parser reports it
      } else if (text_[j] == quote) {
        return j;
      }
    }
    return text_.size();
  }

  [[noreturn]] void stop(std::string_view why) const {
    throw Error(fmt::format("{}: {}:{}: {}", call_, file_, line_, why));
  }

  std::string_view call_, text_;
  const std::string& file_;
  int line_ = 1;
};

/// The text in ASCII with the same structure: other bytes as "~c3". Different texts stay different.
std::string in_ascii(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";  // may begin a file in UTF-8
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      plain += c;
    } else {
      plain += fmt::format("~{:02x}", byte);
    }
  }
  return plain;
}

int line_of(const toml::source_region& source) {
  return static_cast<int>(source.begin.line);
}

TomlValue convert(const toml::node& node, int depth, std::string_view call,
                  const std::string& file) {
  using Kind = TomlValue::Kind;
  TomlValue value;
  value.line = line_of(node.source());
  if (depth > kMaxTomlDepth) {
    throw Error(fmt::format("{}: {}:{}: values are nested too deeply", call, file, value.line));
  }
  if (const auto* table = node.as_table()) {
    value.kind = Kind::table;
    // The parser sorts by name; restore the order of the file.
    std::vector<std::pair<const toml::key*, const toml::node*>> members;
    for (const auto& [key, child] : *table) members.emplace_back(&key, &child);
    std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
      return a.first->source().begin < b.first->source().begin;
    });
    for (const auto& [key, child] : members) {
      value.keys.emplace_back(key->str());
      value.items.push_back(convert(*child, depth + 1, call, file));
      // A dotted or inline table has no line; use that of its key.
      if (value.items.back().line == 0) value.items.back().line = line_of(key->source());
    }
  } else if (const auto* array = node.as_array()) {
    value.kind = Kind::array;
    value.items.reserve(array->size());
    for (const auto& child : *array) value.items.push_back(convert(child, depth + 1, call, file));
  } else if (const auto* text = node.as_string()) {
    value.kind = Kind::text;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = Kind::number;
    value.text = std::to_string(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    value.kind = Kind::number;
    value.text = to_text(number->get());
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = Kind::boolean;
    value.boolean = boolean->get();
  } else {
    value.kind = Kind::other;
  }
  return value;
}

}  // namespace

const TomlValue* TomlValue::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

std::string_view TomlValue::kind_text() const {
  switch (kind) {
    case Kind::table:
      return "a table";
    case Kind::array:
      return "an array";
    case Kind::text:
      return "a text";
    case Kind::number:
      return "a number";
    case Kind::boolean:
      return "true or false";
    case Kind::other:
      break;
  }
  return "a date or time";
}

TomlValue parse_toml(std::string_view call, std::string_view text, const std::string& file) {
  if (text.size() > kMaxTomlBytes) {
    throw Error(fmt::format("{}: {}: has {} bytes, expected at most {}", call, file, text.size(),
                            kMaxTomlBytes));
  }
  if (text.find('\0') != text.npos) {
    throw Error(fmt::format("{}: {}: is a binary file, expected TOML text", call, file));
  }
  TomlLimits(call, text, file).run();
  try {
    // The parser's tables of letters are not safe for all characters. It uses them outside of texts
    // in quotes, and where it describes a fault: so the structure is parsed first, in ASCII.
    const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (!std::all_of(text.begin(), text.end(), is_ascii)) (void)toml::parse(in_ascii(text));
    return convert(toml::parse(text), 0, call, file);
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}: {}:{}: not well-formed TOML ({})", call, file,
                            line_of(error.source()), error.description()));
  } catch (const TomlAssertionFailed&) {
    throw Error(
        fmt::format("{}: {}: not well-formed TOML (a table header or key is broken)", call, file));
  }
}

}  // namespace limb
