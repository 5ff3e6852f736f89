#pragma once

#include "limb/control/controlled_robot.hpp"
#include "python/src/eigen_conversion.hpp"

/// Arguments and results that all controllers share.
namespace limb::python {

void bind_control(nb::module_& m);
void bind_frame_control(nb::module_& m);
void bind_whole_body(nb::module_& m);
void bind_locomotion(nb::module_& m);

inline ControlledRobot robot_of(const Robot& r, nb::handle limits) {
  if (limits.is_none()) return ControlledRobot(r.model());
  return {r.model(), MotorLimits(r.model(), read_vector("limits", "limits", limits, r.nv()))};
}

inline Numbers finish(const char* call, const StepReport& report, const Numbers& tau,
                      int& saturated) {
  if (report.status == Status::singular) fail_computation(call, "the mass matrix is singular");
  if (report.status == Status::not_finite) {
    throw Error(std::string(call) + ": a measurement or reference is not finite");
  }
  if (report.status == Status::wrong_size) {
    throw Error(std::string(call) + ": a vector does not have the robot's size");
  }
  saturated = report.saturated;
  return tau;
}

}  // namespace limb::python
