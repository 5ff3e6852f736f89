#pragma once

namespace limb {

/// What a step of a controller has to say. Steps are made for control loops: they neither allocate
/// nor lock nor throw.
struct StepReport {
  enum class Problem {
    none,
    wrong_size,  ///< a vector has not the size that the robot or task asks for
    not_finite,  ///< a measurement, a reference or what follows from them is no number
    singular,    ///< no inertia opposes one of the robot's velocities
  };
  Problem problem = Problem::none;  ///< if there is one, every torque is zero
  int saturated = 0;                ///< torques that were cut to what their motors give

  bool ok() const { return problem == Problem::none; }
};

}  // namespace limb
