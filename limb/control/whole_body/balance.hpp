#pragma once

#include "limb/control/whole_body/whole_body.hpp"

namespace limb {

/// PD gains of a task acceleration: stiffness * error + damping * (rate of the error).
struct TaskGains {
  double stiffness = 0;  ///< 1/s^2
  double damping = 0;    ///< 1/s
};

struct BalanceOptions {
  TaskGains mass_center = {100, 20};
  TaskGains turn = {200, 28};
  TaskGains posture = {100, 20};
  WholeBodyOptions whole_body = {};
};

/// Balance controller on all feet: PD control of the mass centre, the orientation of the base and
/// the joint posture through WholeBody. Squats and leans are moving references.
class Balance {
 public:
  struct Reference {
    Vector3<double> mass_center, mass_center_velocity = Vector3<double>::Zero(),
                                 mass_center_acceleration = Vector3<double>::Zero();
    Matrix3<double> R_WB;     ///< of the base
    VectorX<double> posture;  ///< a configuration; its base part is ignored
  };

  /// @throws Error as WholeBody, and for negative gains.
  Balance(const Model<double>& model, std::vector<Foot> feet, const BalanceOptions& options = {});

  /// The reference at rest in q. @throws Error for a wrong size.
  Reference reference_at(VectorIn<double>& q);

  /// Torques for all velocities of the robot, zero where there is no motor. No allocation.
  /// @throws Error for wrong sizes, before anything is computed.
  const VectorX<double>& step(VectorIn<double>& q, VectorIn<double>& v, const Reference& reference);

  const WholeBody& whole_body() const { return body_; }
  WholeBody& whole_body() { return body_; }

 private:
  BalanceOptions options_;
  WholeBody body_;
  WholeBodyTargets targets_;
};

}  // namespace limb
