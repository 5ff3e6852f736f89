#include "limb/control/joint/reference_path.hpp"

#include <algorithm>
#include <cmath>

#include "limb/control/controlled_robot.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace {

void check_count(const char* call, const char* what, std::size_t count, std::size_t durations) {
  if (count < 2) fail(call, what, std::to_string(count), "at least two");
  check_size(call, "durations", static_cast<std::ptrdiff_t>(durations),
             static_cast<std::ptrdiff_t>(count) - 1);
}

std::vector<double> start_times_of(const std::vector<double>& durations) {
  std::vector<double> times = {0};
  for (const double d : durations) times.push_back(times.back() + d);
  return times;
}

std::vector<Quintic> profiles(const std::vector<double>& durations) {
  std::vector<Quintic> all;
  for (const double d : durations) all.emplace_back(PathPoint{}, PathPoint{1, 0, 0}, d);
  return all;
}

/// The segment at time t.
std::size_t segment_at(const std::vector<double>& start_times, double t) noexcept {
  std::size_t i = 0;
  while (i + 2 < start_times.size() && t >= start_times[i + 1]) ++i;
  return i;
}

std::vector<double> shortest_durations(const Model<double>& model,
                                       const std::vector<VectorX<double>>& waypoints,
                                       double velocity, double acceleration) {
  check_positive("JointPath", "velocity", velocity);
  check_positive("JointPath", "acceleration", acceleration);
  std::vector<double> durations;
  VectorX<double> displacement(model.nv());
  for (std::size_t i = 0; i + 1 < waypoints.size(); ++i) {
    check_configuration("JointPath", "waypoint", model, waypoints[i]);
    check_configuration("JointPath", "waypoint", model, waypoints[i + 1]);
    difference(model, waypoints[i], waypoints[i + 1], displacement);
    double longest = 1e-3;  // s, where two waypoints coincide
    for (int k = 0; k < displacement.size(); ++k) {
      const double limit = dof_limit(model, k, &DofLimits<double>::velocity);
      longest = std::max(
          longest, minimum_jerk_duration(std::abs(displacement[k]),
                                         std::isfinite(limit) ? limit : velocity, acceleration));
    }
    durations.push_back(longest);
  }
  return durations;
}

}  // namespace

Quintic::Quintic(const PathPoint& start, const PathPoint& end, double duration)
    : duration_(duration) {
  check_positive("Quintic", "duration", duration);
  for (const double x : {start.x, start.v, start.a, end.x, end.v, end.a}) {
    check_finite("Quintic", "boundary", x);
  }
  // In s = t / T; the remaining boundary values determine the three highest coefficients.
  const double T = duration;
  c_[0] = start.x;
  c_[1] = T * start.v;
  c_[2] = T * T * start.a / 2;
  const double x = end.x - c_[0] - c_[1] - c_[2];
  const double v = T * end.v - c_[1] - 2 * c_[2];
  const double a = T * T * end.a - 2 * c_[2];
  c_[3] = 10 * x - 4 * v + a / 2;
  c_[4] = -15 * x + 7 * v - a;
  c_[5] = 6 * x - 3 * v + a / 2;
}

PathPoint Quintic::at(double t) const noexcept {
  const bool outside = t < 0 || t > duration_;
  const double s = outside ? (t < 0 ? 0 : 1) : t / duration_, T = duration_;
  PathPoint now;
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
  start_times_ = start_times_of(durations);
  for (std::size_t i = 0; i + 1 < waypoints_.size(); ++i) {
    displacements_.emplace_back(model_.nv());
    difference(model_, waypoints_[i], waypoints_[i + 1], displacements_.back());
  }
}

JointPath::JointPath(const Model<double>& model, std::vector<VectorX<double>> waypoints,
                     double velocity, double acceleration)
    : JointPath(model, waypoints, shortest_durations(model, waypoints, velocity, acceleration)) {}

void JointPath::sample(double t, JointReference& reference) const noexcept {
  if (!reference.fits(model_)) return;
  const std::size_t i = segment_at(start_times_, t);
  const PathPoint s = profiles_[i].at(t - start_times_[i]);
  // The velocity has a constant direction along a segment, so that the rates are multiples of it.
  reference.v = s.x * displacements_[i];
  integrate(model_, waypoints_[i], reference.v, reference.q);
  reference.v = s.v * displacements_[i];
  reference.a = s.a * displacements_[i];
}

FramePath::FramePath(std::vector<Pose<double>> poses, const std::vector<double>& durations)
    : poses_(std::move(poses)) {
  check_count("FramePath", "number of poses", poses_.size(), durations.size());
  for (const auto& X : poses_) {
    check_rotation("FramePath", "R", X.R);
    check_finite("FramePath", "p", X.p);
  }
  profiles_ = profiles(durations);
  start_times_ = start_times_of(durations);
  for (std::size_t i = 0; i + 1 < poses_.size(); ++i) {
    rotations_W_.push_back(so3::log<double>(poses_[i + 1].R * poses_[i].R.transpose()));
  }
}

FrameReference FramePath::at(double t) const noexcept {
  const std::size_t i = segment_at(start_times_, t);
  const PathPoint s = profiles_[i].at(t - start_times_[i]);
  const Vector3<double> displacement = poses_[i + 1].p - poses_[i].p;
  const Vector3<double>& rotation = rotations_W_[i];
  FrameReference reference;
  reference.X_WF = {so3::exp<double>(s.x * rotation) * poses_[i].R,
                    poses_[i].p + s.x * displacement};
  reference.V = {s.v * displacement, s.v * rotation};
  reference.A = {s.a * displacement, s.a * rotation};
  return reference;
}

}  // namespace limb
