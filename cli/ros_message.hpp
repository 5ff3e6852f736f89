#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace limb::cli {

/// A message type of ROS, by its definition as text ("float64[] position"), with the types that it
/// uses after lines of "===" and "MSG: package/Name".
class RosMessageType {
 public:
  enum class Encoding {
    cdr,   ///< ROS 2: aligned, with four bytes of head
    ros1,  ///< ROS 1: packed
  };
  /// @throws Error that names the type and the line which cannot be understood.
  RosMessageType(const std::string& name, std::string_view definition);

  /// The message as JSON with the names of its fields. Arrays of more than 256 numbers, such as
  /// images, are empty. @throws Error if the bytes end early.
  nlohmann::ordered_json decode(std::string_view bytes, Encoding encoding) const;

 private:
  enum class Primitive {
    none,
    boolean,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    float32,
    float64,
    text,
    time,
    duration
  };
  struct Field {
    std::string name;
    Primitive primitive = Primitive::none;
    std::string type;  ///< of a message
    bool list = false;
    std::size_t size = 0;  ///< of an array of fixed size; 0: its size is in the message
  };
  class Decoder;
  friend class Decoder;

  static std::vector<Field> parse(const std::string& name, std::string_view definition);
  static Primitive primitive_of(const std::string& type);

  std::string name_;
  std::map<std::string, std::vector<Field>> types_;  ///< by "package/Name"
};

}  // namespace limb::cli
