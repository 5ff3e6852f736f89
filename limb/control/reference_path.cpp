#include "limb/control/reference_path.hpp"

#include <algorithm>
#include <cmath>

#include "limb/control/controlled_robot.hpp"
#include "limb/dynamics/check_state.hpp"
#include "limb/dynamics/manifold.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace {

void check_count(const char* call, const char* what, std::size_t count, std::size_t durations) {
  if (count < 2) fail(call, what, std::to_string(count), "two at least");
  check_size(call, "durations", static_cast<std::ptrdiff_t>(durations),
             static_cast<std::ptrdiff_t>(count) - 1);
}

std::vector<double> sums(const std::vector<double>& durations) {
  std::vector<double> begins = {0};
  for (const double d : durations) begins.push_back(begins.back() + d);
  return begins;
}

std::vector<Quintic> profiles(const std::vector<double>& durations) {
  std::vector<Quintic> all;
  for (const double d : durations) all.emplace_back(Sample1{}, Sample1{1, 0, 0}, d);
  return all;
}

/// The way that is gone at t.
std::size_t way_at(const std::vector<double>& begins, double t) noexcept {
  std::size_t i = 0;
  while (i + 2 < begins.size() && t >= begins[i + 1]) ++i;
  return i;
}

std::vector<double> shortest(const Model<double>& model,
                             const std::vector<VectorX<double>>& waypoints, double velocity,
                             double acceleration) {
  check_positive("JointPath", "velocity", velocity);
  check_positive("JointPath", "acceleration", acceleration);
  std::vector<double> durations;
  VectorX<double> way(model.velocity_size());
  for (std::size_t i = 0; i + 1 < waypoints.size(); ++i) {
    check_configuration("JointPath", "waypoint", model, waypoints[i]);
    check_configuration("JointPath", "waypoint", model, waypoints[i + 1]);
    difference(model, waypoints[i], waypoints[i + 1], way);
    double longest = 1e-3;  // s, where two waypoints are one
    for (int k = 0; k < way.size(); ++k) {
      const double limit = dof_limit(model, k, &DofLimits<double>::velocity);
      longest = std::max(
          longest, minimum_jerk_duration(std::abs(way[k]), std::isfinite(limit) ? limit : velocity,
                                         acceleration));
    }
    durations.push_back(longest);
  }
  return durations;
}

}  // namespace

Quintic::Quintic(const Sample1& begin, const Sample1& end, double duration) : duration_(duration) {
  check_positive("Quintic", "duration", duration);
  for (const double x : {begin.x, begin.v, begin.a, end.x, end.v, end.a}) {
    check_finite("Quintic", "boundary", x);
  }
  // In s = t / T; what is left of the way, of velocity and acceleration, decides the upper three.
  const double T = duration;
  c_[0] = begin.x;
  c_[1] = T * begin.v;
  c_[2] = T * T * begin.a / 2;
  const double x = end.x - c_[0] - c_[1] - c_[2];
  const double v = T * end.v - c_[1] - 2 * c_[2];
  const double a = T * T * end.a - 2 * c_[2];
  c_[3] = 10 * x - 4 * v + a / 2;
  c_[4] = -15 * x + 7 * v - a;
  c_[5] = 6 * x - 3 * v + a / 2;
}

Sample1 Quintic::at(double t) const noexcept {
  const bool outside = t < 0 || t > duration_;
  const double s = outside ? (t < 0 ? 0 : 1) : t / duration_, T = duration_;
  Sample1 now;
  now.x = c_[0] + s * (c_[1] + s * (c_[2] + s * (c_[3] + s * (c_[4] + s * c_[5]))));
  if (outside) return now;
  now.v = (c_[1] + s * (2 * c_[2] + s * (3 * c_[3] + s * (4 * c_[4] + s * 5 * c_[5])))) / T;
  now.a = (2 * c_[2] + s * (6 * c_[3] + s * (12 * c_[4] + s * 20 * c_[5]))) / (T * T);
  return now;
}

double minimum_jerk_duration(double distance, double largest_velocity,
                             double largest_acceleration) {
  check_not_negative("minimum_jerk_duration", "distance", distance);
  check_positive("minimum_jerk_duration", "largest_velocity", largest_velocity);
  check_positive("minimum_jerk_duration", "largest_acceleration", largest_acceleration);
  return std::max(15.0 / 8 * distance / largest_velocity,
                  std::sqrt(10 / std::sqrt(3.0) * distance / largest_acceleration));
}

JointPath::JointPath(const Model<double>& model, std::vector<VectorX<double>> waypoints,
                     const std::vector<double>& durations)
    : model_(model), waypoints_(std::move(waypoints)) {
  check_count("JointPath", "number of waypoints", waypoints_.size(), durations.size());
  for (const auto& q : waypoints_) check_configuration("JointPath", "waypoint", model_, q);
  profiles_ = profiles(durations);
  begins_ = sums(durations);
  for (std::size_t i = 0; i + 1 < waypoints_.size(); ++i) {
    ways_.emplace_back(model_.velocity_size());
    difference(model_, waypoints_[i], waypoints_[i + 1], ways_.back());
  }
}

JointPath::JointPath(const Model<double>& model, std::vector<VectorX<double>> waypoints,
                     double velocity, double acceleration)
    : JointPath(model, waypoints, shortest(model, waypoints, velocity, acceleration)) {}

void JointPath::sample(double t, JointReference& reference) const noexcept {
  if (!reference.fits(model_)) return;
  const std::size_t i = way_at(begins_, t);
  const Sample1 s = profiles_[i].at(t - begins_[i]);
  // Its velocity has constant axes on the way, so that the rates are multiples of it.
  reference.v = s.x * ways_[i];
  integrate(model_, waypoints_[i], reference.v, reference.q);
  reference.v = s.v * ways_[i];
  reference.a = s.a * ways_[i];
}

FramePath::FramePath(std::vector<Pose<double>> poses, const std::vector<double>& durations)
    : poses_(std::move(poses)) {
  check_count("FramePath", "number of poses", poses_.size(), durations.size());
  for (const auto& X : poses_) {
    check_rotation("FramePath", "R", X.R);
    check_finite("FramePath", "p", X.p);
  }
  profiles_ = profiles(durations);
  begins_ = sums(durations);
  for (std::size_t i = 0; i + 1 < poses_.size(); ++i) {
    turns_W_.push_back(so3::log<double>(poses_[i + 1].R * poses_[i].R.transpose()));
  }
}

FrameReference FramePath::at(double t) const noexcept {
  const std::size_t i = way_at(begins_, t);
  const Sample1 s = profiles_[i].at(t - begins_[i]);
  const Vector3<double> way = poses_[i + 1].p - poses_[i].p;
  const Vector3<double>& turn = turns_W_[i];
  FrameReference reference;
  reference.X_WF = {so3::exp<double>(s.x * turn) * poses_[i].R, poses_[i].p + s.x * way};
  reference.V = {s.v * way, s.v * turn};
  reference.A = {s.a * way, s.a * turn};
  return reference;
}

}  // namespace limb
