#pragma once

#include "limb/sim/log/log_writer.hpp"
#include "limb/sim/scenario/scenario.hpp"

namespace limb {

/// Writes what the controller of a scenario controls, at most one topic:
///
///   target  joint controllers and lqr: the reference q of each joint with a motor
///   task    controllers of a frame: controlled x, y, z of its origin, desired and actual, m;
///   rotation_error,
///           rad; of hybrid force control also the forces (fx, fy, fz, N) and moments (nx, ny, nz,
///           N m) that the robot exerts along the directions of force, desired and actual
class ControlLog {
 public:
  explicit ControlLog(const Scenario& scenario);
  std::vector<LogTopic> topics() const;
  void write(const ControllerStatistics& statistics, double t, std::size_t first, LogWriter& log);

 private:
  LogTopic topic_;           ///< without fields: nothing is logged
  std::vector<int> joints_;  ///< target: indices in q
  std::vector<int> forces_;  ///< task: logged components
  std::vector<int> axes_;    ///< task: logged directions
  VectorX<double> values_;
};

}  // namespace limb
