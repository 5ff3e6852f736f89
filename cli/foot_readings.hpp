#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/log_topics.hpp"
#include "limb/model/core/model.hpp"

namespace limb::cli {

/// Contact measurements of each foot: 0 or 1 from switches, or newtons.
class FootReadings {
 public:
  /// Searches in this order: a topic with one field per foot; for each foot a sensor (`touches`, or
  /// a force) whose topic has its name; the contact forces that a simulation logs for the foot or
  /// for another frame on its body. Empty if a foot has none of them.
  /// @param given  use these topics: one for all feet, or one per foot.
  /// @throws Error "call: ..." if a given topic does not exist or has no contact measurement.
  static std::optional<FootReadings> find(const std::string& call, const LogData& log,
                                          const Model<double>& model, const Names& feet,
                                          const Names& given);
  /// Readings at a time; times must not decrease.
  std::vector<double> at(double t);
  /// The topics that are used, for messages.
  const std::string& topics() const { return topics_; }

 private:
  struct Foot {
    NewestRow rows;
    std::vector<int> fields;  ///< one number, or three components of a force
  };
  /// A contact switch or a force sensor of one foot.
  static std::optional<Foot> sensor(const LogSeries& series);

  std::vector<Foot> feet_;
  std::string topics_;
};

}  // namespace limb::cli
