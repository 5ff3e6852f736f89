#pragma once

#include "limb/dynamics/arguments.hpp"

namespace limb {

/// Where the joints should be and how they should move.
struct JointReference {
  /// At rest in the neutral configuration.
  explicit JointReference(const Model<double>& model);
  /// At rest in q. @throws Error if q is no configuration of the model.
  JointReference(const Model<double>& model, VectorIn<double>& q);

  VectorX<double> q, v, a;

  bool fits(const Model<double>& model) const noexcept {
    const int n = model.velocity_size();
    return q.size() == model.position_size() && v.size() == n && a.size() == n;
  }
};

/// Stiffness and damping of each velocity: of torques (N m/rad, N m s/rad or N/m, N s/m), or of
/// accelerations (1/s^2, 1/s).
struct JointGains {
  VectorX<double> kp, kd;
};
/// Of accelerations: each joint oscillates with this frequency (Hz) and damping ratio.
/// @throws Error for a frequency that is not positive, a negative ratio.
JointGains acceleration_gains(const Model<double>& model, double frequency, double damping_ratio);
/// Of torques: the same for the inertia that each joint has in the configuration q.
JointGains torque_gains(const Model<double>& model, VectorIn<double>& q, double frequency,
                        double damping_ratio);
/// @throws Error "call: ..." for a wrong size or a negative number.
void check_gains(const char* call, const Model<double>& model, const JointGains& gains);

}  // namespace limb
