#pragma once

#include "limb/sim/log/log_writer.hpp"
#include "limb/sim/scenario/scenario_values.hpp"

/// Ground and contact of a scenario: the tables [ground] and [contact], and their log.
namespace limb {

/// Reads both tables into the scenario, if there is a [ground].
void read_contact(const TomlValue& document, RecipeFields& fields, ScenarioValues& values,
                  Scenario& scenario);

/// Replaces the ground by the plane z = 0, on which all shapes of the robot collide.
/// @throws Error "call: ..." for a robot without shapes, or another integrator than the
/// semi-implicit one.
void set_plane(const std::string& call, Scenario& scenario);

/// Writes contact into a log: three topics.
///
///   contact  per foot or link with shapes: force fx, fy, fz, N; its normal and tangential parts,
///            summed over its points, and the friction bound of the latter
///   support  centre of pressure, and that of each foot in contact, m
///   laws     number of touching points, penetration m, residual m/s, dissipated energy J
class ContactLog {
 public:
  explicit ContactLog(const ContactSetup& setup);
  static constexpr std::size_t kTopics = 3;
  std::vector<LogTopic> topics() const;
  /// Writes the topics first, first + 1 and first + 2 of the log.
  void write(const Contacts& contacts, double t, std::size_t first, LogWriter& log);

 private:
  static constexpr int kForces = 6;
  std::vector<std::string> names_;
  std::vector<std::size_t> group_;  ///< per shape: index in names_
  VectorX<double> forces_, support_, laws_, normal_;
};

}  // namespace limb
