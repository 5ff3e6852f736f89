#pragma once

#include <string>

#include "limb/estimate/estimator/base_estimator.hpp"
#include "limb/estimate/estimator/noise_estimate.hpp"

namespace limb::cli {

/// Where the noise of an estimate is from: `auto` (the log), a file of --calibrate, or numbers.
struct NoiseChoice {
  bool from_log = true;
  std::string source = "auto";
};

/// Sets the noise by the text of --noise: "auto"; the name of a TOML file; or numbers GYRO,ACCEL[,
/// GYRO_WALK,ACCEL_WALK[,CONTACT]]. @throws Error "call: ...".
NoiseChoice read_noise(const std::string& call, const std::string& text, EstimatorOptions& options);

/// Uses what was measured in a log. @returns one line for the summary.
std::string use_measured(const NoiseEstimate& noise, EstimatorOptions& options);

/// Writes a noise file. @throws Error if the log has no rest.
void write_noise(const std::string& call, const std::string& path, const std::string& log,
                 const NoiseEstimate& noise, const EstimatorOptions& options);

}  // namespace limb::cli
