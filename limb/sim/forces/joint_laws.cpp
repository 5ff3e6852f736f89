#include "limb/sim/forces/joint_laws.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/model/canonical/canonical.hpp"

namespace limb {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Whether the coordinates are angles and lengths whose rates are the velocities.
bool has_scalar_coordinates(const Joint<double>& joint) {
  return joint.nq() == joint.nv() && joint.type() != JointType::planar;
}

const Body<double>& body_of(const Model<double>& model, const JointCoordinate& coordinate) {
  for (const Body<double>& body : model.bodies()) {
    if (body.joint.nv() > 0 && body.v_start <= coordinate.v &&
        coordinate.v < body.v_start + body.joint.nv()) {
      return body;
    }
  }
  fail("limits", "velocity", std::to_string(coordinate.v), "a velocity of a joint");
}

const DofLimits<double>* limits_of(const Model<double>& model, const JointCoordinate& coordinate) {
  const Body<double>& body = body_of(model, coordinate);
  const auto i = static_cast<std::size_t>(coordinate.v - body.v_start);
  return i < body.limits.size() ? &body.limits[i] : nullptr;
}

}  // namespace

const VectorX<double>& joint_positions(const ForceInput& now, VectorX<double>& buffer) {
  const Coupling<double>& coupling = now.model.coupling();
  if (coupling.is_identity()) return now.q;
  coupling.expand_position(now.q.data(), buffer.data());
  return buffer;
}

const VectorX<double>& joint_velocities(const ForceInput& now, VectorX<double>& buffer) {
  const Coupling<double>& coupling = now.model.coupling();
  if (coupling.is_identity()) return now.v;
  coupling.expand_velocity(now.v.data(), buffer.data());
  return buffer;
}

std::vector<JointCoordinate> scalar_coordinates(const Model<double>& model) {
  std::vector<JointCoordinate> coordinates;
  for (const Body<double>& body : model.bodies()) {
    if (!has_scalar_coordinates(body.joint)) continue;
    for (int i = 0; i < body.joint.nv(); ++i)
      coordinates.push_back({body.q_start + i, body.v_start + i});
  }
  return coordinates;
}

JointCoordinate joint_coordinate(const char* call, const Model<double>& model,
                                 std::string_view joint) {
  const Body<double>& body = model.body(model.find_body(joint));
  if (body.joint.nv() != 1) {
    fail(call, "joint '" + std::string(joint) + "'", std::string(to_text(body.joint.type())),
         "a joint with one degree of freedom");
  }
  return {body.q_start, body.v_start};
}

double lower_limit(const Model<double>& model, const JointCoordinate& coordinate) {
  const auto* limits = limits_of(model, coordinate);
  return limits != nullptr && limits->lower ? *limits->lower : -kInfinity;
}
double upper_limit(const Model<double>& model, const JointCoordinate& coordinate) {
  const auto* limits = limits_of(model, coordinate);
  return limits != nullptr && limits->upper ? *limits->upper : kInfinity;
}

JointSpring::JointSpring(const Model<double>& model, std::string_view joint,
                         const Parameters& parameters)
    : parameters_(parameters) {
  check_not_negative("JointSpring", "stiffness", parameters.stiffness);
  check_not_negative("JointSpring", "damping", parameters.damping);
  check_finite("JointSpring", "rest", parameters.rest);
  joint_ = joint_coordinate("JointSpring", model, joint);
  const auto& rows = model.coupling().rows();
  for (const auto& row : rows) {
    if (row.v == joint_.v && row.nv == 1) row_ = row;
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

void JointSpring::add(ForceInput& now, AppliedLoads& loads) {
  double v = 0;
  for (const auto& term : row_.terms) v += term.ratio * now.v[term.y];
  const double tau =
      parameters_.stiffness * (parameters_.rest - coordinate(now.q)) - parameters_.damping * v;
  for (const auto& term : row_.terms) loads.tau[term.y] += term.ratio * tau;
}

void JointSpring::add_stiffness(ForceInput&, JointStiffness& joints) {
  joints.damping[joint_.v] += parameters_.damping;
  joints.stiffness[joint_.v] += parameters_.stiffness;
}

double JointSpring::energy(ForceInput& now) const {
  const double e = coordinate(now.q) - parameters_.rest;
  return parameters_.stiffness * e * e / 2;
}

SoftStops::SoftStops(const Model<double>& model, const Parameters& parameters)
    : q_(VectorX<double>::Zero(model.uncoupled_nq())),
      v_(VectorX<double>::Zero(model.uncoupled_nv())),
      tau_joints_(v_),
      tau_(VectorX<double>::Zero(model.nv())) {
  check_positive("SoftStops", "frequency", parameters.frequency);
  check_not_negative("SoftStops", "damping_ratio", parameters.damping_ratio);
  // The diagonal of the mass matrix without couplings.
  const Model<double> joints = model.without_couplings();
  Workspace<double> work(joints, Loops::open);
  MatrixX<double> M(model.uncoupled_nv(), model.uncoupled_nv());
  crba(joints, work, joints.neutral(), M);
  const double w = 2 * std::numbers::pi * parameters.frequency;
  for (const JointCoordinate& coordinate : scalar_coordinates(model)) {
    const double lower = lower_limit(model, coordinate), upper = upper_limit(model, coordinate);
    if (!std::isfinite(lower) && !std::isfinite(upper)) continue;
    const double inertia = M(coordinate.v, coordinate.v);
    stops_.push_back(
        {coordinate, lower, upper, inertia * w * w, 2 * parameters.damping_ratio * inertia * w});
  }
  begins_.assign(stops_.size(), 0);
}

void SoftStops::add(ForceInput& now, AppliedLoads& loads) {
  const VectorX<double>& joint_q = joint_positions(now, q_);
  const VectorX<double>& joint_v = joint_velocities(now, v_);
  tau_joints_.setZero();
  bool any = false;
  for (const Stop& stop : stops_) {
    const double q = joint_q[stop.coordinate.q], v = joint_v[stop.coordinate.v];
    double tau = 0;
    if (q < stop.lower) {
      tau = std::max(0.0, stop.stiffness * (stop.lower - q) - stop.damping * v);
    } else if (q > stop.upper) {
      tau = std::min(0.0, stop.stiffness * (stop.upper - q) - stop.damping * v);
    }
    tau_joints_[stop.coordinate.v] = tau;
    any = any || tau != 0;
  }
  is_active_ = any;
  if (!any) return;
  now.model.coupling().reduce_force(tau_joints_.data(), tau_.data());
  loads.tau += tau_;
}

void SoftStops::add_stiffness(ForceInput& now, JointStiffness& joints) {
  const VectorX<double>& joint_q = joint_positions(now, q_);
  const VectorX<double>& joint_v = joint_velocities(now, v_);
  for (const Stop& stop : stops_) {
    const double q = joint_q[stop.coordinate.q], v = joint_v[stop.coordinate.v];
    const double out = q < stop.lower ? stop.lower - q : q > stop.upper ? stop.upper - q : 0;
    // The stop only pushes back.
    if (out * (stop.stiffness * out - stop.damping * v) <= 0) continue;
    joints.damping[stop.coordinate.v] += stop.damping;
    joints.stiffness[stop.coordinate.v] += stop.stiffness;
  }
  if (!any_begins_) return;
  // With the way x beyond the stop at the end of the step: -k x - c x / h, a spring whose rest
  // position is the limit.
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    if (begins_[i] == 0) continue;
    const Stop& stop = stops_[i];
    const double stiffness = stop.stiffness + stop.damping / step_;
    const double limit = begins_[i] > 0 ? stop.upper : stop.lower;
    joints.stiffness[stop.coordinate.v] += stiffness;
    joints.force[stop.coordinate.v] += stiffness * (limit - joint_q[stop.coordinate.q]);
  }
}

bool SoftStops::begin_within(ForceInput& before, double h, const VectorX<double>& end_velocity) {
  step_ = h;
  if (h == 0) {
    const bool changed = any_begins_;
    if (any_begins_) std::fill(begins_.begin(), begins_.end(), static_cast<signed char>(0));
    any_begins_ = false;
    return changed;
  }
  const VectorX<double>& joint_q = joint_positions(before, q_);
  bool changed = false;
  any_begins_ = false;
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    const Stop& stop = stops_[i];
    const double q = joint_q[stop.coordinate.q], end = q + h * end_velocity[stop.coordinate.v];
    signed char begins = 0;
    if (q <= stop.upper && end > stop.upper) begins = 1;
    if (q >= stop.lower && end < stop.lower) begins = -1;
    changed |= begins != begins_[i];
    begins_[i] = begins;
    any_begins_ |= begins != 0;
  }
  return changed;
}

double SoftStops::energy(ForceInput& now) const {
  const VectorX<double>& q = joint_positions(now, q_);
  double sum = 0;
  for (const Stop& stop : stops_) {
    const double e =
        std::max({0.0, stop.lower - q[stop.coordinate.q], q[stop.coordinate.q] - stop.upper});
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
      v_(VectorX<double>::Zero(model.uncoupled_nv())),
      tau_joints_(v_),
      tau_(VectorX<double>::Zero(model.nv())) {
  check_friction("SmoothFriction", curve);
}

double SmoothFriction::secant(Eigen::Index i, double v) const {
  const double x = v / curve_.stribeck_speed, y = v / curve_.smooth_speed;
  const double bound = friction_[i] * (1 + (curve_.static_ratio - 1) * std::exp(-x * x));
  // tanh(y) / v, which is 1 / v_0 at rest.
  return bound * (std::abs(y) < 1e-4 ? 1 / curve_.smooth_speed : std::tanh(y) / v);
}

void SmoothFriction::add(ForceInput& now, AppliedLoads& loads) {
  const VectorX<double>& v = joint_velocities(now, v_);
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    tau_joints_[i] = friction_[i] == 0 ? 0 : -secant(i, v[i]) * v[i];
  }
  now.model.coupling().reduce_force(tau_joints_.data(), tau_.data());
  loads.tau += tau_;
}

/// The secant, not the derivative: the friction of a step then never reverses a motion.
void SmoothFriction::add_stiffness(ForceInput& now, JointStiffness& joints) {
  const VectorX<double>& v = joint_velocities(now, v_);
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    if (friction_[i] != 0) joints.damping[i] += secant(i, v[i]);
  }
}

}  // namespace limb
