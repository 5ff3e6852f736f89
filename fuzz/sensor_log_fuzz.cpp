// Any bytes as a sensor log of a robot with two legs, as MCAP if they start with its magic number:
// find the topics and read the measurements.
#include <algorithm>

#include "cli/sensor_log.hpp"
#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/model/recipe/read_recipe.hpp"

namespace {

/// Few columns: a row of a log is short.
limb::Model<double> two_legs() {
  limb::Diagnostics diagnostics;
  const auto description = limb::parse_recipe<double>(
      R"(name = "two-legs"
link = [{name = "body", mass = 5, inertia = [1, 1, 1]},
  {name = "left", mass = 1, inertia = [1, 1, 1]},
  {name = "right", mass = 1, inertia = [1, 1, 1]}]
joint = [{name = "l", type = "revolute", parent = "body", child = "left", axis = [0, 1, 0]},
  {name = "r", type = "revolute", parent = "body", child = "right", axis = [0, 1, 0]}]
)",
      "two_legs.toml", {}, diagnostics);
  limb::throw_first_error("fuzz", diagnostics);
  return limb::build_model(description, limb::Base::free);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  static const Model<double> model = two_legs();
  static const std::vector<std::string> feet = {"left", "right"};
  const std::string_view bytes = fuzz::as_text(data, size);
  try {
    const auto log =
        cli::parse_log("fuzz", bytes.starts_with("\x89MCAP") ? "fuzz.mcap" : "fuzz.csv", bytes);
    static const LegKinematics legs(model, feet);
    const cli::SensorLog sensors = cli::read_sensors("fuzz", log, legs, {});
    fuzz::require(sensors.imu.size() == sensors.imu_t.size());
    fuzz::require(std::max(sensors.q.size(), sensors.feet.size()) == sensors.leg_t.size());
    fuzz::require(sensors.v.size() == sensors.q.size());
    fuzz::require(sensors.q_true.size() == sensors.truth_t.size());
  } catch (const Error&) {
  }
  return 0;
}
