#include "limb/sim/joint_laws.hpp"

#include <cmath>
#include <numbers>

#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/manifold.hpp"
#include "limb/model/canonical.hpp"

namespace limb {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Whether the joint's coordinates are angles and lengths whose rates are its velocities.
bool is_plain(const Joint<double>& joint) {
  return joint.nq() == joint.nv() && joint.type() != JointType::planar;
}

const Body<double>& body_of(const Model<double>& model, const JointPlace& place) {
  for (const Body<double>& body : model.bodies()) {
    if (body.joint.nv() > 0 && body.v_start <= place.v &&
        place.v < body.v_start + body.joint.nv()) {
      return body;
    }
  }
  fail("limits", "velocity", std::to_string(place.v), "one of a joint");
}

const DofLimits<double>* limits_of(const Model<double>& model, const JointPlace& place) {
  const Body<double>& body = body_of(model, place);
  const auto i = static_cast<std::size_t>(place.v - body.v_start);
  return i < body.limits.size() ? &body.limits[i] : nullptr;
}

}  // namespace

std::vector<JointPlace> plain_coordinates(const Model<double>& model) {
  std::vector<JointPlace> places;
  for (const Body<double>& body : model.bodies()) {
    if (!is_plain(body.joint)) continue;
    for (int i = 0; i < body.joint.nv(); ++i)
      places.push_back({body.q_start + i, body.v_start + i});
  }
  return places;
}

JointPlace joint_place(const char* call, const Model<double>& model, std::string_view joint) {
  const Body<double>& body = model.body(model.find_body(joint));
  if (body.joint.nv() != 1) {
    fail(call, "joint '" + std::string(joint) + "'", std::string(to_text(body.joint.type())),
         "a joint of one freedom");
  }
  return {body.q_start, body.v_start};
}

double lower_limit(const Model<double>& model, const JointPlace& place) {
  const auto* limits = limits_of(model, place);
  return limits != nullptr && limits->lower ? *limits->lower : -kInfinity;
}
double upper_limit(const Model<double>& model, const JointPlace& place) {
  const auto* limits = limits_of(model, place);
  return limits != nullptr && limits->upper ? *limits->upper : kInfinity;
}

JointSpring::JointSpring(const Model<double>& model, std::string_view joint,
                         const Parameters& parameters)
    : parameters_(parameters) {
  check_not_negative("JointSpring", "stiffness", parameters.stiffness);
  check_not_negative("JointSpring", "damping", parameters.damping);
  check_finite("JointSpring", "rest", parameters.rest);
  const JointPlace place = joint_place("JointSpring", model, joint);
  const auto& rows = model.coupling().rows();
  for (const auto& row : rows) {
    if (row.v == place.v && row.nv == 1) row_ = row;
  }
  for (const auto& term : row_.terms) {
    for (const auto& row : rows) {
      if (row.yq >= 0 && row.nv == 1 && row.terms[0].y == term.y) yq_.push_back(row.yq);
    }
  }
}

double JointSpring::coordinate(const VectorX<double>& y) const {
  double q = row_.offset;
  for (std::size_t i = 0; i < yq_.size(); ++i) q += row_.terms[i].ratio * y[yq_[i]];
  return q;
}

void JointSpring::add(Instant& now, Loads& loads) {
  double v = 0;
  for (const auto& term : row_.terms) v += term.ratio * now.v[term.y];
  const double tau =
      parameters_.stiffness * (parameters_.rest - coordinate(now.q)) - parameters_.damping * v;
  for (const auto& term : row_.terms) loads.tau[term.y] += term.ratio * tau;
}

double JointSpring::energy(Instant& now) const {
  const double e = coordinate(now.q) - parameters_.rest;
  return parameters_.stiffness * e * e / 2;
}

SoftStops::SoftStops(const Model<double>& model, const Parameters& parameters)
    : q_(VectorX<double>::Zero(model.nq())),
      v_(VectorX<double>::Zero(model.nv())),
      tau_(v_),
      own_(VectorX<double>::Zero(model.velocity_size())) {
  check_positive("SoftStops", "frequency", parameters.frequency);
  check_not_negative("SoftStops", "damping_ratio", parameters.damping_ratio);
  // The inertia that each joint feels with all others free to stand still.
  const Model<double> joints = model.without_couplings();
  Workspace<double> work(joints, Loops::open);
  MatrixX<double> M(model.nv(), model.nv());
  crba(joints, work, joints.neutral(), M);
  const double w = 2 * std::numbers::pi * parameters.frequency;
  for (const JointPlace& place : plain_coordinates(model)) {
    const double lower = lower_limit(model, place), upper = upper_limit(model, place);
    if (!std::isfinite(lower) && !std::isfinite(upper)) continue;
    const double inertia = M(place.v, place.v);
    stops_.push_back(
        {place, lower, upper, inertia * w * w, 2 * parameters.damping_ratio * inertia * w});
  }
}

const VectorX<double>& SoftStops::expand(const Instant& now) const {
  now.model.coupling().expand_position(now.q.data(), q_.data());
  return q_;
}

void SoftStops::add(Instant& now, Loads& loads) {
  const Coupling<double>& coupling = now.model.coupling();
  expand(now);
  coupling.expand_velocity(now.v.data(), v_.data());
  tau_.setZero();
  bool any = false;
  for (const Stop& stop : stops_) {
    const double q = q_[stop.place.q], v = v_[stop.place.v];
    double tau = 0;
    if (q < stop.lower) {
      tau = std::max(0.0, stop.stiffness * (stop.lower - q) - stop.damping * v);
    } else if (q > stop.upper) {
      tau = std::min(0.0, stop.stiffness * (stop.upper - q) - stop.damping * v);
    }
    tau_[stop.place.v] = tau;
    any = any || tau != 0;
  }
  if (!any) return;
  coupling.reduce_force(tau_.data(), own_.data());
  loads.tau += own_;
}

double SoftStops::energy(Instant& now) const {
  const VectorX<double>& q = expand(now);
  double sum = 0;
  for (const Stop& stop : stops_) {
    const double e = std::max({0.0, stop.lower - q[stop.place.q], q[stop.place.q] - stop.upper});
    sum += stop.stiffness * e * e / 2;
  }
  return sum;
}

void check_friction(const char* call, const FrictionCurve& curve) {
  if (!(curve.static_ratio >= 1 && std::isfinite(curve.static_ratio))) {
    fail(call, "static_ratio", to_text(curve.static_ratio), ">= 1 and finite");
  }
  check_positive(call, "stribeck_speed", curve.stribeck_speed);
  check_positive(call, "smooth_speed", curve.smooth_speed);
}

SmoothFriction::SmoothFriction(const Model<double>& model, const FrictionCurve& curve)
    : curve_(curve),
      friction_(model.canonical().friction),
      v_(VectorX<double>::Zero(model.nv())),
      tau_(v_),
      own_(VectorX<double>::Zero(model.velocity_size())) {
  check_friction("SmoothFriction", curve);
}

void SmoothFriction::add(Instant& now, Loads& loads) {
  const Coupling<double>& coupling = now.model.coupling();
  coupling.expand_velocity(now.v.data(), v_.data());
  for (Eigen::Index i = 0; i < v_.size(); ++i) {
    const double f = friction_[i];
    if (f == 0) {
      tau_[i] = 0;
      continue;
    }
    const double x = v_[i] / curve_.stribeck_speed;
    tau_[i] = -f * (1 + (curve_.static_ratio - 1) * std::exp(-x * x)) *
              std::tanh(v_[i] / curve_.smooth_speed);
  }
  coupling.reduce_force(tau_.data(), own_.data());
  loads.tau += own_;
}

}  // namespace limb
