#include "limb/control/locomotion/swing.hpp"

#include <algorithm>

namespace limb {

SwingPoint swing_point(const Vector3<double>& from, const Vector3<double>& to, double clearance,
                       double T, double s, double search) {
  const double late = std::max(0.0, s - 1) * T;
  s = std::clamp(s, 0.0, 1.0);
  const double r = 1 - s;
  const double span = kSwingArrive - kSwingLeave;
  const double u = std::clamp((s - kSwingLeave) / span, 0.0, 1.0), d = 1 - u;
  const double b = u * u * u * (10 - 15 * u + 6 * u * u);
  const double b1 = 30 * u * u * d * d / span, b2 = 60 * u * d * (d - u) / (span * span);
  const double c = 64 * s * s * s * r * r * r;
  const double c1 = 192 * s * s * r * r * (r - s);
  const double c2 = 384 * s * r * ((r - s) * (r - s) - s * r);
  const Vector3<double> step = to - from, up = clearance * Vector3<double>::UnitZ();
  SwingPoint point{from + b * step + c * up, (b1 * step + c1 * up) / T,
                   (b2 * step + c2 * up) / (T * T)};
  if (late > 0) {
    point.p.z() -= search * late;
    point.v.z() = -search;
  }
  return point;
}

}  // namespace limb
