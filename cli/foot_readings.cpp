#include "cli/foot_readings.hpp"

#include <fmt/format.h>

#include <cmath>

#include "limb/base/error.hpp"

namespace limb::cli {
namespace {

/// Names of a frame and of all other frames on its body.
Names names_on_body(const Model<double>& model, const std::string& foot) {
  Names names = {foot};
  const BodyId body = model.frame(model.find_frame(foot)).body;
  for (const auto& frame : model.frames()) {
    if (frame.body.value() == body.value() && frame.name != foot) names.push_back(frame.name);
  }
  return names;
}

}  // namespace

std::optional<FootReadings::Foot> FootReadings::sensor(const LogSeries& series) {
  if (has_fields(series, {"touches"})) {
    return Foot{NewestRow(series), {field_of(series, "touches")}};
  }
  if (has_fields(series, {"fx", "fy", "fz", "nx", "ny", "nz"})) {
    return Foot{NewestRow(series),
                {field_of(series, "fx"), field_of(series, "fy"), field_of(series, "fz")}};
  }
  return std::nullopt;
}

std::optional<FootReadings> FootReadings::find(const std::string& call, const LogData& log,
                                               const Model<double>& model, const Names& feet,
                                               const Names& given) {
  FootReadings found;
  // One topic for all feet: one field per foot, or the normal forces of a simulation.
  const auto together = [&](const LogSeries& series) {
    if (has_fields(series, feet)) {
      for (const auto& foot : feet) {
        found.feet_.push_back({NewestRow(series), {field_of(series, foot)}});
      }
      return true;
    }
    std::vector<Foot> all;
    for (const auto& foot : feet) {
      for (const auto& name : names_on_body(model, foot)) {
        if (!has_fields(series, {name + ".normal"})) continue;
        all.push_back({NewestRow(series), {field_of(series, name + ".normal")}});
        break;
      }
    }
    if (all.size() != feet.size()) return false;
    found.feet_ = std::move(all);
    return true;
  };
  const auto fail_given = [&](const std::string& topic, const std::string& expected) {
    fail(call, "--contacts", "'" + topic + "'",
         fmt::format("{} (topics: {})", expected, joined(topics_of(log))));
  };
  if (!given.empty()) {
    found.topics_ = joined(given);
    if (given.size() == 1) {
      const LogSeries* series = log.find(given[0]);
      if (series != nullptr && together(*series)) return found;
      if (feet.size() > 1) {
        fail_given(given[0], "a topic with the fields " + joined(feet) + ", or one topic per foot");
      }
    }
    if (given.size() != feet.size()) {
      fail(call, "--contacts", fmt::format("{} topics", given.size()),
           fmt::format("1, or one per foot ({})", feet.size()));
    }
    for (const auto& topic : given) {
      const LogSeries* series = log.find(topic);
      const auto foot = series != nullptr ? sensor(*series) : std::nullopt;
      if (!foot) fail_given(topic, "a topic with the field touches, or fx, fy, fz, nx, ny, nz");
      found.feet_.push_back(*foot);
    }
    return found;
  }
  for (const char* name : {"contact", "contacts", "force", "forces"}) {
    const LogSeries* series = log.find(name);
    if (series == nullptr || !has_fields(*series, feet)) continue;
    together(*series);
    found.topics_ = name;
    return found;
  }
  for (const auto& name : feet) {
    const LogSeries* series = log.find(name);
    const auto foot = series != nullptr ? sensor(*series) : std::nullopt;
    if (foot) found.feet_.push_back(*foot);
  }
  if (found.feet_.size() == feet.size()) {
    found.topics_ = joined(feet);
    return found;
  }
  found.feet_.clear();
  const LogSeries* simulated = log.find("contact");
  if (simulated == nullptr || !together(*simulated)) return std::nullopt;
  found.topics_ = "contact (forces of the simulation)";
  return found;
}

std::vector<double> FootReadings::at(double t) {
  std::vector<double> readings;
  for (Foot& foot : feet_) {
    double value = foot.rows.value(foot.fields[0], t);
    if (foot.fields.size() == 3) {
      value =
          std::hypot(value, foot.rows.value(foot.fields[1], t), foot.rows.value(foot.fields[2], t));
    }
    readings.push_back(value);
  }
  return readings;
}

}  // namespace limb::cli
