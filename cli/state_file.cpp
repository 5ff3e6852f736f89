#include "cli/state_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/base/error.hpp"
#include "limb/base/text_file.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;

/// A location in the file, for messages.
struct Location {
  std::string path, text;
  Location at(const std::string& field) const {
    return {path, text.empty() ? field : text + "." + field};
  }
  Location at(std::size_t index) const { return {path, fmt::format("{}[{}]", text, index)}; }
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw Error(fmt::format("limb eval: {}: {} is {}, expected {}", path, text, found, expected));
  }
};

/// At most 40 characters of the JSON text. Nested values are only named: their text can be long,
/// and writing it is recursive.
std::string abbreviated(const Json& json) {
  const auto nested = [](const Json& value) { return value.is_structured(); };
  if (json.is_structured() && (json.size() > 20 || std::any_of(json.begin(), json.end(), nested))) {
    return json.is_array() ? fmt::format("a list of {}", json.size()) : "an object";
  }
  const std::string text = json.dump();
  return text.size() > 40 ? text.substr(0, 37) + "..." : text;
}

VectorX<double> read_vector(const Json& json, const Location& location) {
  if (!json.is_array()) location.fail(abbreviated(json), "a list of numbers");
  VectorX<double> x(static_cast<Eigen::Index>(json.size()));
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_number()) location.at(i).fail(abbreviated(json[i]), "a finite number");
    x[static_cast<Eigen::Index>(i)] = json[i].get<double>();
    if (!std::isfinite(x[static_cast<Eigen::Index>(i)])) {
      location.at(i).fail(abbreviated(json[i]), "a finite number");
    }
  }
  return x;
}

std::string read_name(const Json& json, const Location& location) {
  if (!json.is_string()) location.fail(abbreviated(json), "a name in quotes");
  return json.get<std::string>();
}

StateInput read_state(const Json& json, const Location& location) {
  if (!json.is_object())
    location.fail(abbreviated(json), R"(an object {"q": [...], "v": [...], ...})");
  StateInput state;
  if (!json.contains("q")) location.at("q").fail("missing", "a list of numbers");
  state.q = read_vector(json["q"], location.at("q"));
  const auto optional = [&](const char* name, std::optional<VectorX<double>>& x) {
    if (json.contains(name)) x = read_vector(json[name], location.at(name));
  };
  optional("v", state.v);
  optional("a", state.a);
  optional("tau", state.tau);
  for (const char* name : {"external", "fext"}) {  // the latter in recorded files
    if (!json.contains(name)) continue;
    const Json& external = json[name];
    const Location at = location.at(name);
    if (!external.is_object() || !external.contains("frame") || !external.contains("f_local")) {
      at.fail(abbreviated(external), R"(an object {"frame": "name", "f_local": [6 numbers]})");
    }
    const VectorX<double> f = read_vector(external["f_local"], at.at("f_local"));
    if (f.size() != 6) {
      at.at("f_local").fail(fmt::format("{} numbers", f.size()), "6 (force, then moment)");
    }
    state.external = StateInput::External{read_name(external["frame"], at.at("frame")), f};
  }
  return state;
}

}  // namespace

StateFile read_states(const std::string& path) {
  return parse_states(path, read_text_file("limb eval", path));
}

StateFile parse_states(const std::string& path, std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw Error(fmt::format("limb eval: {}: not JSON, at byte {}", path, error.byte));
  } catch (const Json::out_of_range&) {
    throw Error(fmt::format("limb eval: {}: has a number too large for a double", path));
  }
  const Location location{path, ""};
  StateFile file;
  if (!json.is_object() || !json.contains("states")) {
    location.at("states").fail("missing", R"({"states": [{"q": [...], ...}], "frames": ["name"]})");
  }
  const Json& states = json["states"];
  if (!states.is_array()) location.at("states").fail(abbreviated(states), "a list of states");
  for (std::size_t i = 0; i < states.size(); ++i) {
    file.states.push_back(read_state(states[i], location.at("states").at(i)));
  }
  if (json.contains("frames")) {
    const Json& frames = json["frames"];
    const Location at = location.at("frames");
    if (!frames.is_array()) at.fail(abbreviated(frames), "a list of names");
    for (std::size_t i = 0; i < frames.size(); ++i) {
      // Recorded files describe each frame as an object with a name.
      const bool object = frames[i].is_object() && frames[i].contains("name");
      file.frames.push_back(object ? read_name(frames[i]["name"], at.at(i).at("name"))
                                   : read_name(frames[i], at.at(i)));
    }
  }
  return file;
}

}  // namespace limb::cli
