#include "limb/control/locomotion/foothold.hpp"

#include <algorithm>
#include <cmath>

namespace limb {

Vector3<double> foothold(const FootholdInput& in) {
  const double yaw = in.yaw + in.yaw_rate * (in.left + in.stance_time / 2);
  const double c = std::cos(yaw), s = std::sin(yaw);
  const Vector3<double> hip(c * in.p_CF.x() - s * in.p_CF.y(), s * in.p_CF.x() + c * in.p_CF.y(),
                            0);
  const double gain = in.gain * std::sqrt(std::max(0.0, in.height) / in.gravity);
  Vector3<double> step = in.stance_time / 2 * in.v_WC + gain * (in.v_WC - in.v_desired);
  step.z() = 0;
  if (step.norm() > in.farthest) step *= in.farthest / step.norm();
  Vector3<double> p = in.p_WC + in.left * in.v_WC + hip + step;
  p.z() = in.ground;
  return p;
}

}  // namespace limb
