#include "limb/control/swing.hpp"

#include <algorithm>

namespace limb {

SwingPoint swing_point(const Vector3<double>& from, const Vector3<double>& to, double clearance,
                       double T, double s, double search) {
  const double late = std::max(0.0, s - 1) * T;
  s = std::clamp(s, 0.0, 1.0);
  const double r = 1 - s;
  const double b = s * s * s * (10 - 15 * s + 6 * s * s);
  const double b1 = 30 * s * s * r * r, b2 = 60 * s * r * (r - s);
  const double c = 64 * s * s * s * r * r * r;
  const double c1 = 192 * s * s * r * r * (r - s);
  const double c2 = 384 * s * r * ((r - s) * (r - s) - s * r);
  const Vector3<double> way = to - from, up = clearance * Vector3<double>::UnitZ();
  SwingPoint point{from + b * way + c * up, (b1 * way + c1 * up) / T,
                   (b2 * way + c2 * up) / (T * T)};
  if (late > 0) {
    point.p.z() -= search * late;
    point.v.z() = -search;
  }
  return point;
}

}  // namespace limb
