#include "limb/estimate/walk/walk_path.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace limb {
namespace {

using Vec = Vector3<double>;
constexpr double kPi = std::numbers::pi;

/// Phase of the gait times `times`, plus an offset, with its rate.
Jet phase(const WalkOptions& options, double t, double times, double offset) {
  const double w = 2 * kPi * times / options.period;
  return {w * t + offset, w, 0};
}

}  // namespace

Jet sin(const Jet& u) {
  const double s = std::sin(u.x), c = std::cos(u.x);
  return {s, c * u.d, c * u.dd - s * u.d * u.d};
}
Jet cos(const Jet& u) {
  const double s = std::sin(u.x), c = std::cos(u.x);
  return {c, -s * u.d, -s * u.dd - c * u.d * u.d};
}
Jet smooth_step(const Jet& s) {
  if (s.x <= 0) return {0, 0, 0};
  if (s.x >= 1) return {1, 0, 0};
  const Jet cube = s * s * s;
  return cube * (Jet{10, 0, 0} + s * -15 + s * s * 6);
}

WalkPath::WalkPath(const WalkOptions& options, double height)
    : options_(options), height_(height), interval_(1.0 / 64) {
  Course now;
  courses_.push_back(now);
  for (int i = 0; static_cast<double>(i) * interval_ < options.duration + options.period; ++i) {
    advance(now, i * interval_, (i + 1) * interval_);
    courses_.push_back(now);
  }
}

Jet WalkPath::ramp(double t) const {
  // Half a second to start and to stop.
  constexpr double kTime = 0.5;
  const Jet up = smooth_step({(t - options_.rest) / kTime, 1 / kTime, 0});
  const Jet down = smooth_step({(options_.duration - options_.rest - t) / kTime, -1 / kTime, 0});
  return up * down;
}

Jet WalkPath::yaw_rate(double t) const {
  constexpr double kTime = 8;  // s from left to right and back
  const double w = 2 * kPi / kTime;
  return ramp(t) * sin(Jet{w * (t - options_.rest), w, 0}) * options_.turning;
}

void WalkPath::advance(Course& c, double from, double to) const {
  // Three-point Gauss quadrature, nested for the yaw: error below rounding at these lengths.
  constexpr double kNode = 0.77459666924148337704;
  constexpr double kNodes[] = {-kNode, 0, kNode}, kWeights[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  const auto yaw = [&](double start, double end) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      sum += kWeights[k] * yaw_rate(start + (end - start) * (1 + kNodes[k]) / 2).x;
    }
    return sum * (end - start);
  };
  const double length = to - from;
  double x = 0, y = 0;
  for (int k = 0; k < 3; ++k) {
    const double t = from + length * (1 + kNodes[k]) / 2;
    const double heading = c.yaw + yaw(from, t), speed = options_.speed * ramp(t).x;
    x += kWeights[k] * speed * std::cos(heading);
    y += kWeights[k] * speed * std::sin(heading);
  }
  c.x += x * length;
  c.y += y * length;
  c.yaw += yaw(from, to);
}

WalkPath::Course WalkPath::course(double t) const {
  const auto i = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(0.0, t / interval_)), 0,
                                         courses_.size() - 1);
  Course c = courses_[i];
  advance(c, static_cast<double>(i) * interval_, t);
  return c;
}

Pose<double> WalkPath::ground(double t) const {
  const Course c = course(std::clamp(t, 0.0, options_.duration));
  return {axis_rotation<double>(2, c.yaw), {c.x, c.y, 0}};
}

BaseMotion WalkPath::at(double t) const {
  const Course c = course(t);
  const Jet r = ramp(t), rate = yaw_rate(t);
  const Jet yaw{c.yaw, rate.x, rate.d}, cy = cos(yaw), sy = sin(yaw);
  const Jet speed = r * options_.speed;  // with its first derivative; the second is not needed
  const Jet along_x{c.x, speed.x * cy.x, speed.d * cy.x + speed.x * cy.d};
  const Jet along_y{c.y, speed.x * sy.x, speed.d * sy.x + speed.x * sy.d};
  const Jet side = r * sin(phase(options_, t, 1, 0.4)) * options_.sway;
  const Jet up = r * sin(phase(options_, t, 2, 1.1)) * options_.sway;
  const Jet roll = r * sin(phase(options_, t, 1, 0.9)) * options_.tilt;
  const Jet pitch = r * sin(phase(options_, t, 2, 0.2)) * options_.tilt;
  const Jet px = along_x + sy * side * -1, py = along_y + cy * side;

  BaseMotion m;
  m.yaw = yaw.x;
  m.X_WB.R = axis_rotation<double>(2, yaw.x) * axis_rotation<double>(1, pitch.x) *
             axis_rotation<double>(0, roll.x);
  m.X_WB.p = Vec(px.x, py.x, height_ + up.x);
  m.v_WB = Vec(px.d, py.d, up.d);
  m.a_WB = Vec(px.dd, py.dd, up.dd);
  // Body rates of yaw, pitch, roll, as jets of first order: their derivatives are dw.
  const Jet sp = sin(pitch), cp = cos(pitch), sr = sin(roll), cr = cos(roll);
  const Jet dyaw{yaw.d, yaw.dd, 0}, dpitch{pitch.d, pitch.dd, 0}, droll{roll.d, roll.dd, 0};
  const Jet wx = droll + dyaw * sp * -1;
  const Jet wy = dpitch * cr + dyaw * cp * sr;
  const Jet wz = dpitch * sr * -1 + dyaw * cp * cr;
  m.w_WB_B = Vec(wx.x, wy.x, wz.x);
  m.dw_WB_B = Vec(wx.d, wy.d, wz.d);
  return m;
}

FootPath::FootPath(const WalkOptions& options, const WalkPath& path, int foot, int group,
                   const Pose<double>& stand)
    : options_(options), foot_(foot), R_stand_(stand.R) {
  Stance first;
  first.p_WF = Vec(stand.p.x(), stand.p.y(), 0);
  stances_.push_back(first);
  const double swing = (1 - options.duty) * options.period;
  const double stance = options.duty * options.period;
  // The first swing of half the feet comes half a period later. The last ends before the rest.
  for (int k = 0;; ++k) {
    Stance hold;
    hold.lift = options.rest + (k + 0.5 * group) * options.period;
    hold.land = hold.lift + swing;
    if (hold.land > options.duration - options.rest + options.period) break;
    // Below the base at the middle of the stance.
    const Pose<double> X = path.ground(hold.land + stance / 2);
    hold.p_WF = X * first.p_WF;
    hold.yaw = std::atan2(X.R(1, 0), X.R(0, 0));
    stances_.push_back(hold);
  }
}

FootMotion FootPath::at(double t) const {
  std::size_t k = 0;
  while (k + 1 < stances_.size() && stances_[k + 1].lift <= t) ++k;
  FootMotion m;
  Vec p = stances_[k].p_WF, v = Vec::Zero();
  double yaw = stances_[k].yaw;
  if (k > 0 && t < stances_[k].land) {
    const Stance &from = stances_[k - 1], &to = stances_[k];
    const double T = to.land - to.lift;
    const Jet s{(t - to.lift) / T, 1 / T, 0}, way = smooth_step(s);
    const Jet rest = Jet{1, 0, 0} + s * -1;
    const Jet up = s * s * s * rest * rest * rest * (64 * options_.step_height);
    const Vec step = to.p_WF - from.p_WF;
    p = from.p_WF + step * way.x + Vec(0, 0, up.x);
    v = step * way.d + Vec(0, 0, up.d);
    yaw = from.yaw + (to.yaw - from.yaw) * way.x;
    m.yaw_rate = (to.yaw - from.yaw) * way.d;
    m.contact = false;
  }
  for (const auto& slip : options_.slips) {
    // The foot stays displaced until it is lifted.
    const double stood = k > 0 ? stances_[k].land : 0;
    if (slip.foot != foot_ || !m.contact || slip.begin < stood || t < slip.begin) continue;
    p += slip.velocity * (std::min(t, slip.end) - slip.begin);
    if (t < slip.end) v += slip.velocity;
  }
  m.X_WF = {axis_rotation<double>(2, yaw) * R_stand_, p};
  m.v_WF = v;
  return m;
}

}  // namespace limb
