// Any bytes as a sensor log of a walking robot, as MCAP if they start with its magic number: find
// the topics, and run both filters on the measurements.
#include <cmath>

#include "cli/estimate_run.hpp"
#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/model/core/load.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  static const Model<double> quadruped = load_model("builtin:quadruped");
  const std::vector<std::string> feet = {"FL_foot", "FR_foot", "RL_foot", "RR_foot"};
  const std::string_view bytes = fuzz::as_text(data, size);
  try {
    const auto log =
        cli::parse_log("fuzz", bytes.starts_with("\x89MCAP") ? "fuzz.mcap" : "fuzz.csv", bytes);
    static const LegKinematics legs(quadruped, feet);
    const cli::SensorLog sensors = cli::read_sensors("fuzz", log, legs, {});
    EstimatorOptions options;
    options.initial.rest = 0.1;  // so that short logs have an estimate
    for (const FilterKind kind : {FilterKind::error_state, FilterKind::invariant}) {
      options.filter = kind;
      const auto source = sensors.forces.empty() ? sensors.tau.empty() ? cli::ContactSource::always
                                                                       : cli::ContactSource::torque
                                                 : cli::ContactSource::log;
      const auto summary = cli::run_estimate("fuzz", sensors, legs, options, source);
      // The filters guarantee finite numbers.
      for (const auto* nine : {&summary.series.value, &summary.series.sigma}) {
        for (const auto& values : *nine) {
          fuzz::require(std::isfinite(values.back()));
        }
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
