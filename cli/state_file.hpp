#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "limb/math/scalar.hpp"

/// The input of `limb eval`: states of a robot as JSON. Unknown keys are ignored, so that its
/// output and recorded values are valid inputs.
namespace limb::cli {

struct StateInput {
  struct External {
    std::string frame;
    Vector6<double> f_local;
  };
  VectorX<double> q;
  std::optional<VectorX<double>> v, a, tau;  ///< absent: zero
  std::optional<External> external;
};

struct StateFile {
  std::vector<StateInput> states;
  std::vector<std::string> frames;
};

/// @throws Error that names the location in the file: "limb eval: states.json: states[2].q[3] is
/// ...".
StateFile read_states(const std::string& path);
/// The same from memory; the path is used in messages.
StateFile parse_states(const std::string& path, std::string_view text);

}  // namespace limb::cli
