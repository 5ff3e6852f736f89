#pragma once

#include "limb/dynamics/arguments.hpp"

namespace limb {

/// Reference of the joints: configuration, velocity and acceleration.
struct JointReference {
  /// At rest in the neutral configuration.
  explicit JointReference(const Model<double>& model);
  /// At rest in q. @throws Error if q is not a configuration of the model.
  JointReference(const Model<double>& model, VectorIn<double>& q);

  VectorX<double> q, v, a;

  bool fits(const Model<double>& model) const noexcept {
    const int n = model.nv();
    return q.size() == model.nq() && v.size() == n && a.size() == n;
  }
};

/// Stiffness and damping of each velocity: torque gains (N m/rad, N m s/rad or N/m, N s/m) or
/// acceleration gains (1/s^2, 1/s).
struct JointGains {
  VectorX<double> kp, kd;
};
/// Acceleration gains with which each joint has this natural frequency (Hz) and damping ratio.
/// @throws Error for a frequency that is not positive, a negative ratio.
JointGains acceleration_gains(const Model<double>& model, double frequency, double damping_ratio);
/// Torque gains with the same effect for the inertia of each joint in the configuration q.
JointGains torque_gains(const Model<double>& model, VectorIn<double>& q, double frequency,
                        double damping_ratio);
/// @throws Error "call: ..." for a wrong size or a negative gain.
void check_gains(const char* call, const Model<double>& model, const JointGains& gains);

}  // namespace limb
