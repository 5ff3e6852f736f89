#include "cli/ros_message.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "limb/base/error.hpp"
#include "limb/base/number.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxArray = 256;  ///< numbers that are kept
constexpr int kMaxDepth = 16;           ///< of messages in messages

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// "sensor_msgs/msg/Imu" -> "sensor_msgs/Imu".
std::string short_name(std::string_view name) {
  const std::size_t first = name.find('/'), last = name.rfind('/');
  if (first == last) return std::string(name);
  return std::string(name.substr(0, first)).append(name.substr(last));
}

}  // namespace

RosMessageType::Primitive RosMessageType::primitive_of(const std::string& type) {
  static const std::map<std::string, Primitive> kTypes = {
      {"bool", Primitive::boolean},    {"byte", Primitive::uint8},
      {"char", Primitive::uint8},      {"int8", Primitive::int8},
      {"uint8", Primitive::uint8},     {"int16", Primitive::int16},
      {"uint16", Primitive::uint16},   {"int32", Primitive::int32},
      {"uint32", Primitive::uint32},   {"int64", Primitive::int64},
      {"uint64", Primitive::uint64},   {"float32", Primitive::float32},
      {"float64", Primitive::float64}, {"string", Primitive::text},
      {"time", Primitive::time},       {"duration", Primitive::duration}};
  const auto found = kTypes.find(type);
  return found == kTypes.end() ? Primitive::none : found->second;
}

std::vector<RosMessageType::Field> RosMessageType::parse(const std::string& name,
                                                         std::string_view definition) {
  std::vector<Field> fields;
  const std::string package = name.substr(0, std::min(name.find('/'), name.size()));
  while (!definition.empty()) {
    const std::size_t end = std::min(definition.find('\n'), definition.size());
    std::string_view line = definition.substr(0, end);
    definition.remove_prefix(std::min(end + 1, definition.size()));
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::size_t space = std::min(line.find_first_of(" \t"), line.size());
    std::string type(line.substr(0, space));
    std::string_view rest = trimmed(line.substr(space));
    const std::size_t end_of_name = std::min(rest.find_first_of(" \t="), rest.size());
    // A constant, "uint8 PRESSED=1", is not in the message.
    if (const auto after = trimmed(rest.substr(end_of_name)); after.starts_with('=')) continue;
    Field field;
    field.name = rest.substr(0, end_of_name);
    const auto reject = [&](const char* why) {
      throw Error(
          fmt::format("message type {}: '{}' {}", name.substr(0, 80), line.substr(0, 80), why));
    };
    if (field.name.empty()) reject("is not a type and a name");
    if (const std::size_t open = type.find('['); open != std::string::npos) {
      const std::size_t close = type.find(']', open);
      if (close == std::string::npos) reject("lacks a ']'");
      const std::string size = type.substr(open + 1, close - open - 1);
      field.list = true;
      if (!size.empty() && !size.starts_with("<=")) {
        const auto n = parse_number(size);
        if (!n || !(*n >= 1) || *n > 1e9) reject("has no valid size");
        field.size = static_cast<std::size_t>(*n);
      }
      type.resize(open);
    }
    type = type.substr(0, type.find("<="));  // the bound of a text
    field.primitive = primitive_of(type);
    if (field.primitive == Primitive::none) {
      if (type == "wstring") reject("is not supported");
      if (type == "Header") type = "std_msgs/Header";
      field.type = type.find('/') == std::string::npos ? package + "/" + type : short_name(type);
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

RosMessageType::RosMessageType(const std::string& name, std::string_view definition)
    : name_(short_name(name)) {
  const std::string_view separator = "\n====";
  std::string current = name_;
  while (true) {
    const std::size_t end = std::min(definition.find(separator), definition.size());
    types_.emplace(current, parse(current, definition.substr(0, end)));
    if (end == definition.size()) break;
    definition.remove_prefix(end + 1);
    definition.remove_prefix(std::min(definition.find('\n'), definition.size()));
    while (definition.starts_with('\n')) definition.remove_prefix(1);
    const std::size_t line_end = std::min(definition.find('\n'), definition.size());
    const std::string_view line = trimmed(definition.substr(0, line_end));
    if (!line.starts_with("MSG:")) {
      throw Error(fmt::format("message type {}: '{}' after a line of '=', expected 'MSG:'",
                              name_.substr(0, 80), line.substr(0, 80)));
    }
    current = short_name(trimmed(line.substr(4)));
    definition.remove_prefix(line_end);
  }
  // Files may leave these out.
  types_.emplace("builtin_interfaces/Time", parse("", "int32 sec\nuint32 nanosec"));
  types_.emplace("builtin_interfaces/Duration", parse("", "int32 sec\nuint32 nanosec"));
}

class RosMessageType::Decoder {
 public:
  Decoder(const RosMessageType& type, std::string_view bytes, Encoding encoding)
      : type_(type), bytes_(bytes), encoding_(encoding) {
    if (encoding == Encoding::cdr) {
      // The second byte of the head: 0 is big-endian, 1 little-endian.
      if (bytes.size() < 4) fail();
      big_endian_ = bytes[1] == 0;
      if (static_cast<unsigned char>(bytes[1]) > 1) fail();
      bytes_.remove_prefix(4);
    }
  }

  Json message(const std::string& name, int depth) {
    const auto found = type_.types_.find(name);
    if (found == type_.types_.end() || depth > kMaxDepth) {
      throw Error(fmt::format("message type {}: the definition of '{}' is missing or too deep",
                              type_.name_.substr(0, 80), name.substr(0, 80)));
    }
    Json result = Json::object();
    for (const Field& field : found->second) {
      if (!field.list) {
        result[field.name] = value(field, depth);
        continue;
      }
      const std::size_t n = field.size > 0 ? field.size : static_cast<std::size_t>(number(4));
      // Each element has at least one byte, but for messages without fields.
      if (n > bytes_.size() - at_ && field.size == 0 && n > 0) fail();
      if (n > bytes_.size()) fail();
      Json list = Json::array();
      for (std::size_t i = 0; i < n; ++i) {
        Json one = value(field, depth);
        if (n <= kMaxArray) list.push_back(std::move(one));
      }
      result[field.name] = std::move(list);
    }
    // CDR has no empty structure: ROS 2 adds a byte.
    if (found->second.empty() && encoding_ == Encoding::cdr) number(1);
    return result;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(
        fmt::format("message of type {} does not fit its definition", type_.name_.substr(0, 80)));
  }

  std::uint64_t number(std::size_t size) {
    if (encoding_ == Encoding::cdr) at_ = (at_ + size - 1) / size * size;
    if (at_ > bytes_.size() || size > bytes_.size() - at_) fail();
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t k = big_endian_ ? i : size - 1 - i;
      result = result << 8 | static_cast<unsigned char>(bytes_[at_ + k]);
    }
    at_ += size;
    return result;
  }

  Json value(const Field& field, int depth) {
    switch (field.primitive) {
      case Primitive::none:
        return message(field.type, depth + 1);
      case Primitive::boolean:
        return number(1) != 0;
      case Primitive::int8:
        return static_cast<std::int8_t>(number(1));
      case Primitive::uint8:
        return number(1);
      case Primitive::int16:
        return static_cast<std::int16_t>(number(2));
      case Primitive::uint16:
        return number(2);
      case Primitive::int32:
        return static_cast<std::int32_t>(number(4));
      case Primitive::uint32:
        return number(4);
      case Primitive::int64:
        return static_cast<std::int64_t>(number(8));
      case Primitive::uint64:
        return number(8);
      case Primitive::float32:
        return std::bit_cast<float>(static_cast<std::uint32_t>(number(4)));
      case Primitive::float64:
        return std::bit_cast<double>(number(8));
      case Primitive::text: {
        const std::uint64_t size = number(4);
        if (size > bytes_.size() - at_) fail();
        std::string_view text = bytes_.substr(at_, size);
        at_ += size;
        if (encoding_ == Encoding::cdr && text.ends_with('\0')) text.remove_suffix(1);
        return std::string(text);
      }
      case Primitive::time:
      case Primitive::duration: {
        const bool is_signed = field.primitive == Primitive::duration;
        const auto read = [&]() -> Json {
          const auto x = static_cast<std::uint32_t>(number(4));
          return is_signed ? Json(static_cast<std::int32_t>(x)) : Json(x);
        };
        Json result = Json::object();
        result["sec"] = read();
        result["nanosec"] = read();
        return result;
      }
    }
    fail();
  }

  const RosMessageType& type_;
  std::string_view bytes_;
  Encoding encoding_;
  bool big_endian_ = false;
  std::size_t at_ = 0;  ///< alignment counts from the first byte after the head
};

Json RosMessageType::decode(std::string_view bytes, Encoding encoding) const {
  return Decoder(*this, bytes, encoding).message(name_, 0);
}

}  // namespace limb::cli
