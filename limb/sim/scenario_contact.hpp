#pragma once

#include "limb/sim/log_writer.hpp"
#include "limb/sim/scenario_values.hpp"

/// Ground, feet and what a run says of contact: the tables [ground] and [contact] of a scenario.
namespace limb {

/// Reads both tables into the scenario; nothing where there is no [ground].
void read_contact(const TomlValue& document, RecipeFields& fields, ScenarioValues& values,
                  Scenario& scenario);

/// Writes contact into a log: three topics.
///
///   contact  for each foot or link with shapes: force fx, fy, fz, N; its normal and tangential
///            parts, summed over its points, and the bound that friction sets to the latter
///   support  centre of pressure and the place of each foot that touches, m
///   laws     how many points touch, penetration m, residual m/s, energy dissipated so far J
class ContactLog {
 public:
  explicit ContactLog(const ContactSetup& setup);
  static constexpr std::size_t kTopics = 3;
  std::vector<LogTopic> topics() const;
  /// Into the topics first, first + 1 and first + 2 of the log.
  void write(const Contacts& contacts, double t, std::size_t first, LogWriter& log);

 private:
  static constexpr int kForces = 6;
  std::vector<std::string> names_;
  std::vector<std::size_t> group_;  ///< of each shape, index in names_
  VectorX<double> forces_, support_, laws_, weight_;
};

}  // namespace limb
