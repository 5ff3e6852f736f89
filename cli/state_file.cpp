#include "cli/state_file.hpp"

#include <fmt/format.h>

#include <cmath>

#include "limb/base/error.hpp"
#include "limb/base/text_file.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;

/// A place in the file, for messages.
struct Place {
  std::string path, text;
  Place at(const std::string& field) const {
    return {path, text.empty() ? field : text + "." + field};
  }
  Place at(std::size_t index) const { return {path, fmt::format("{}[{}]", text, index)}; }
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw Error(fmt::format("limb eval: {}: {} is {}, expected {}", path, text, found, expected));
  }
};

std::string shown(const Json& json) {
  const std::string text = json.dump();
  return text.size() > 40 ? text.substr(0, 37) + "..." : text;
}

VectorX<double> read_vector(const Json& json, const Place& place) {
  if (!json.is_array()) place.fail(shown(json), "a list of numbers");
  VectorX<double> x(static_cast<Eigen::Index>(json.size()));
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_number()) place.at(i).fail(shown(json[i]), "a finite number");
    x[static_cast<Eigen::Index>(i)] = json[i].get<double>();
    if (!std::isfinite(x[static_cast<Eigen::Index>(i)])) {
      place.at(i).fail(shown(json[i]), "a finite number");
    }
  }
  return x;
}

std::string read_name(const Json& json, const Place& place) {
  if (!json.is_string()) place.fail(shown(json), "a name in quotes");
  return json.get<std::string>();
}

StateInput read_state(const Json& json, const Place& place) {
  if (!json.is_object()) place.fail(shown(json), R"(an object {"q": [...], "v": [...], ...})");
  StateInput state;
  if (!json.contains("q")) place.at("q").fail("missing", "a list of numbers");
  state.q = read_vector(json["q"], place.at("q"));
  const auto optional = [&](const char* name, std::optional<VectorX<double>>& x) {
    if (json.contains(name)) x = read_vector(json[name], place.at(name));
  };
  optional("v", state.v);
  optional("a", state.a);
  optional("tau", state.tau);
  if (json.contains("fext")) {
    const Json& fext = json["fext"];
    const Place at = place.at("fext");
    if (!fext.is_object() || !fext.contains("frame") || !fext.contains("f_local")) {
      at.fail(shown(fext), R"(an object {"frame": "name", "f_local": [6 numbers]})");
    }
    const VectorX<double> f = read_vector(fext["f_local"], at.at("f_local"));
    if (f.size() != 6) {
      at.at("f_local").fail(fmt::format("{} numbers", f.size()), "6 (force, then moment)");
    }
    state.external = StateInput::External{read_name(fext["frame"], at.at("frame")), f};
  }
  return state;
}

}  // namespace

StateFile read_states(const std::string& path) {
  Json json;
  try {
    json = Json::parse(read_text_file("limb eval", path));
  } catch (const Json::parse_error& error) {
    throw Error(fmt::format("limb eval: {}: not JSON, at byte {}", path, error.byte));
  } catch (const Json::out_of_range&) {
    throw Error(fmt::format("limb eval: {}: has a number that no double can hold", path));
  }
  const Place place{path, ""};
  StateFile file;
  if (!json.is_object() || !json.contains("states")) {
    place.at("states").fail("missing", R"({"states": [{"q": [...], ...}], "frames": ["name"]})");
  }
  const Json& states = json["states"];
  if (!states.is_array()) place.at("states").fail(shown(states), "a list of states");
  for (std::size_t i = 0; i < states.size(); ++i) {
    file.states.push_back(read_state(states[i], place.at("states").at(i)));
  }
  if (json.contains("frames")) {
    const Json& frames = json["frames"];
    const Place at = place.at("frames");
    if (!frames.is_array()) at.fail(shown(frames), "a list of names");
    for (std::size_t i = 0; i < frames.size(); ++i) {
      // Recorded files describe each frame by an object with a name.
      const bool object = frames[i].is_object() && frames[i].contains("name");
      file.frames.push_back(object ? read_name(frames[i]["name"], at.at(i).at("name"))
                                   : read_name(frames[i], at.at(i)));
    }
  }
  return file;
}

}  // namespace limb::cli
