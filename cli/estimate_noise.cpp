#include "cli/estimate_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "limb/base/error.hpp"
#include "limb/base/number.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/recipe/toml.hpp"

namespace limb::cli {
namespace {

struct Named {
  const char* name;
  double& value;
  const char* unit;
};
std::array<Named, 7> numbers_of(EstimatorOptions& o) {
  return {{{"gyro", o.imu.gyro, "rad/s/sqrt(Hz)"},
           {"accel", o.imu.accel, "m/s^2/sqrt(Hz)"},
           {"gyro_walk", o.imu.gyro_walk, "rad/s/sqrt(s)"},
           {"accel_walk", o.imu.accel_walk, "m/s^2/sqrt(s)"},
           {"contact", o.contact_noise, "m/sqrt(s)"},
           {"foot_error", o.foot_error, "m"},
           {"encoder", o.encoder, "rad"}}};
}

void read_file(const std::string& call, const std::string& path, EstimatorOptions& options) {
  const TomlValue table = parse_toml(call, read_text_file(call, path), path);
  const auto numbers = numbers_of(options);
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    const TomlValue& value = table.items[i];
    const auto place = fmt::format("{}: {}:{}", call, path, value.line);
    const auto found = std::find_if(numbers.begin(), numbers.end(),
                                    [&](const Named& one) { return table.keys[i] == one.name; });
    if (found == numbers.end()) {
      std::string all;
      for (const Named& one : numbers) all += (all.empty() ? "" : ", ") + std::string(one.name);
      throw Error(
          fmt::format("{}: unknown key '{}', expected one of {}", place, table.keys[i], all));
    }
    const auto number =
        value.kind == TomlValue::Kind::number ? parse_number(value.text) : std::nullopt;
    if (!number || *number < 0) {
      throw Error(fmt::format(
          "{}: {} is {}, expected a number >= 0", place, table.keys[i],
          value.kind == TomlValue::Kind::number ? value.text : std::string(value.kind_text())));
    }
    found->value = *number;
  }
}

}  // namespace

NoiseChoice read_noise(const std::string& call, const std::string& text,
                       EstimatorOptions& options) {
  if (text == "auto") return {};
  if (text.ends_with(".toml")) {
    read_file(call, text, options);
    return {false, text};
  }
  const auto numbers = parse_numbers(text);
  const bool valid = numbers && numbers->size() >= 2 && numbers->size() <= 5 &&
                     *std::min_element(numbers->begin(), numbers->end()) >= 0;
  if (!valid) {
    fail(call, "--noise", "'" + text + "'",
         "auto, a .toml file, or 2 to 5 numbers >= 0: "
         "GYRO,ACCEL,GYRO_WALK,ACCEL_WALK,CONTACT");
  }
  const auto named = numbers_of(options);
  for (std::size_t i = 0; i < numbers->size(); ++i) named[i].value = (*numbers)[i];
  return {false, "--noise"};
}

std::string use_measured(const NoiseEstimate& noise, EstimatorOptions& options) {
  std::string text;
  options.imu.gyro = noise.imu.gyro;
  options.imu.accel = noise.imu.accel;
  if (noise.has_rest()) {
    text = fmt::format(
        "gyroscope {:.2g} rad/s/sqrt(Hz), accelerometer {:.2g} m/s^2/sqrt(Hz) from "
        "{:.1f} s of rest",
        options.imu.gyro, options.imu.accel, noise.rest);
  } else {
    text = fmt::format(
        "gyroscope {:.2g} rad/s/sqrt(Hz), accelerometer {:.2g} m/s^2/sqrt(Hz), "
        "from differences of samples (no rest in the log)",
        options.imu.gyro, options.imu.accel);
  }
  if (noise.has_contacts()) {
    options.contact_noise = noise.contact_noise;
    options.foot_error = noise.foot_error;
    text += fmt::format("; contacts {:.2g} m/sqrt(s), legs {:.2g} m from {} distances of feet",
                        options.contact_noise, options.foot_error, noise.pairs);
  }
  return text;
}

void write_noise(const std::string& call, const std::string& path, const std::string& log,
                 const NoiseEstimate& noise, const EstimatorOptions& options) {
  if (!noise.has_rest()) {
    fail_computation(call, "the log has no half second of rest to measure noise in");
  }
  EstimatorOptions measured = options;
  use_measured(noise, measured);
  std::string text = fmt::format("# Noise of {}, from {:.1f} s of rest and {} distances of feet.\n",
                                 log.substr(log.find_last_of('/') + 1), noise.rest, noise.pairs);
  for (const Named& one : numbers_of(measured)) {
    text += fmt::format("{} = {:.4g}  # {}\n", one.name, one.value, one.unit);
  }
  write_text_file(call, path, text);
}

}  // namespace limb::cli
