#pragma once

#include "limb/control/whole_body.hpp"

namespace limb {

/// Stiffness and damping of a wanted acceleration: stiffness error + damping (error's rate).
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

/// Stands on all feet: keeps the mass centre, the turn of the base and the posture of the joints
/// where they shall be. Squats and leans are references that move.
class Balance {
 public:
  struct Reference {
    Vector3<double> mass_center, mass_center_velocity = Vector3<double>::Zero(),
                                 mass_center_acceleration = Vector3<double>::Zero();
    Matrix3<double> R_WB;     ///< of the base
    VectorX<double> posture;  ///< a configuration; the base's part is not read
  };

  /// @throws Error as WholeBody, and for negative gains.
  Balance(const Model<double>& model, std::vector<Foot> feet, const BalanceOptions& options = {});

  /// To stay at q. @throws Error for a wrong size.
  Reference reference_at(VectorIn<double>& q);

  /// Torques on all of the robot's velocities, zero without motors. No allocation.
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
