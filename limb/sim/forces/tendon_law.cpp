#include "limb/sim/forces/tendon_law.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/kinematics/frames.hpp"

namespace limb {
namespace {

/// The force of a servo along L, limited; saturated: its gains do not act.
struct ServoForce {
  double force = 0;
  bool saturated = false;
};

ServoForce servo_force(const TendonLaw::Item::Motor& motor, double x, double dx) {
  const ServoDescription& s = motor.servo;
  const double control = std::clamp(motor.control, s.control_min, s.control_max);
  const double force = s.gain * control + s.offset - s.stiffness * x - s.damping * dx;
  const double limited = std::clamp(force, s.force_min, s.force_max);
  return {limited, limited != force};
}

bool acts_as_spring(const TendonLaw::Item& item) {
  return item.stiffness != 0 || item.damping != 0 || item.lower || item.upper;
}

/// Inertia of linear combinations of joint coordinates with ratios r: 1 / (r^T M^-1 r).
class LengthInertia {
 public:
  LengthInertia(const Model<double>& model, const VectorX<double>& q)
      : model_(model), inverse_(model.nv(), model.nv()) {
    Workspace<double> work(model, Loops::open);
    MassFactor<double> factor(model);
    regular_ = mass_inverse<double>(model, work, q, factor, inverse_, {true, false, false}).ok();
  }

  /// 1 if the mass matrix is singular, or nothing moves.
  double of(const std::vector<CouplingDescription<double>::Term>& terms) const {
    VectorX<double> joints = VectorX<double>::Zero(model_.uncoupled_nv());
    for (const auto& term : terms) {
      joints[joint_coordinate("TendonLaw", model_, term.joint).v] += term.ratio;
    }
    const VectorX<double> r = model_.coupling().reduce_force(joints);
    const double mobility = regular_ ? r.dot(inverse_ * r) : 0;
    return mobility > 0 ? 1 / mobility : 1;
  }

 private:
  const Model<double>& model_;
  MatrixX<double> inverse_;
  bool regular_ = false;
};

}  // namespace

void TendonLaw::split(const std::vector<Item>& items, std::vector<Item>& motors,
                      std::vector<Item>& others) {
  for (const Item& item : items) {
    if (acts_as_spring(item)) others.push_back(item);
    if (!item.motor) continue;
    Item motor;
    motor.terms = item.terms;
    motor.motor = item.motor;
    motors.push_back(motor);
    if (acts_as_spring(item)) others.back().motor.reset();
  }
}

TendonLaw::Item TendonLaw::with_damping(const Model<double>& model, const VectorX<double>& q,
                                        Item item) {
  if (!item.motor || !(item.motor->servo.damping_ratio > 0)) return item;
  ServoDescription& servo = item.motor->servo;
  const double inertia = LengthInertia(model, q).of(item.terms);
  const double gear2 = item.motor->gear * item.motor->gear;
  servo.damping +=
      2 * servo.damping_ratio * std::sqrt(std::max(0.0, servo.stiffness * inertia / gear2));
  servo.damping_ratio = 0;
  return item;
}

TendonLaw::TendonLaw(const Model<double>& model, const VectorX<double>& q,
                     const std::vector<Item>& items)
    : q_(VectorX<double>::Zero(model.uncoupled_nq())),
      v_(VectorX<double>::Zero(model.uncoupled_nv())),
      tau_joints_(v_),
      tau_(VectorX<double>::Zero(model.nv())) {
  const LengthInertia inertia(model, q);
  const double w = 2 * std::numbers::pi * SoftStops::Parameters().frequency;
  for (const Item& item : items) {
    Row row{{}, 0, item, 0, 0};
    if (acts_as_spring(item)) entry_ = EnergyEntry::tendons;
    for (const auto& term : item.terms) {
      row.terms.push_back({joint_coordinate("TendonLaw", model, term.joint), term.ratio});
      row.sum_of_ratios += std::abs(term.ratio);
    }
    if (item.lower || item.upper) {
      row.stop_stiffness = inertia.of(item.terms) * w * w;
      row.stop_damping = 2 * inertia.of(item.terms) * w;
    }
    rows_.push_back(std::move(row));
  }
}

void TendonLaw::expand(const ForceInput& now) const {
  now.model.coupling().expand_position(now.q.data(), q_.data());
  now.model.coupling().expand_velocity(now.v.data(), v_.data());
}

double TendonLaw::length(const Row& row) const {
  double sum = 0;
  for (const Term& term : row.terms) sum += term.ratio * q_[term.coordinate.q];
  return sum;
}

TendonLaw::Response TendonLaw::response(const Row& row) const {
  const Item& item = row.item;
  const double L = length(row);
  double dL = 0;
  for (const Term& term : row.terms) dL += term.ratio * v_[term.coordinate.v];
  Response r;
  const double rest = std::clamp(L, item.rest_min, std::max(item.rest_min, item.rest_max));
  r.force = item.stiffness * (rest - L) - item.damping * dL;
  r.damping = item.damping;
  if (rest != L || item.rest_min == item.rest_max) r.stiffness = item.stiffness;
  const double out = item.lower && L < *item.lower   ? *item.lower - L
                     : item.upper && L > *item.upper ? *item.upper - L
                                                     : 0;
  const double stop = row.stop_stiffness * out - row.stop_damping * dL;
  if (out * stop > 0) {  // a stop only pushes back
    r.force += stop;
    r.damping += row.stop_damping;
    r.stiffness += row.stop_stiffness;
  }
  if (item.motor) {
    const double gear = item.motor->gear;
    const ServoForce servo = servo_force(*item.motor, gear * L, gear * dL);
    r.force += gear * servo.force;
    if (!servo.saturated) {
      r.damping += gear * gear * std::max(0.0, item.motor->servo.damping);
      r.stiffness += gear * gear * std::max(0.0, item.motor->servo.stiffness);
    }
  }
  return r;
}

void TendonLaw::add(ForceInput& now, AppliedLoads& loads) {
  expand(now);
  tau_joints_.setZero();
  for (const Row& row : rows_) {
    const double force = response(row).force;
    for (const Term& term : row.terms) tau_joints_[term.coordinate.v] += term.ratio * force;
  }
  now.model.coupling().reduce_force(tau_joints_.data(), tau_.data());
  loads.tau += tau_;
}

/// r r^T is at most the diagonal matrix with |r_i| sum |r_j|.
void TendonLaw::add_stiffness(ForceInput& now, JointStiffness& joints) {
  expand(now);
  for (const Row& row : rows_) {
    const Response r = response(row);
    for (const Term& term : row.terms) {
      const double share = std::abs(term.ratio) * row.sum_of_ratios;
      joints.damping[term.coordinate.v] += share * r.damping;
      joints.stiffness[term.coordinate.v] += share * r.stiffness;
    }
  }
}

/// Springs and stops store energy. Servos are motors: what they exert is work.
double TendonLaw::energy(ForceInput& now) const {
  expand(now);
  double sum = 0;
  for (const Row& row : rows_) {
    const double L = length(row);
    const double stretch =
        L - std::clamp(L, row.item.rest_min, std::max(row.item.rest_min, row.item.rest_max));
    sum += row.item.stiffness * stretch * stretch / 2;
    const double out = std::max(
        {0.0, row.item.lower ? *row.item.lower - L : 0, row.item.upper ? L - *row.item.upper : 0});
    sum += row.stop_stiffness * out * out / 2;
  }
  return sum;
}

void GravityCompensation::append_ports(std::vector<WrenchPort>& ports) const {
  for (const Link& link : links_) ports.push_back({link.frame, WrenchAxes::world});
}

void GravityCompensation::add(ForceInput& now, AppliedLoads& loads) {
  for (const Link& link : links_) {
    const Matrix3<double> R_WF = frame_pose(now.model, now.poses(), link.frame).R;
    const Vector3<double> f = -link.mass * now.model.gravity();
    loads.add({link.frame, WrenchAxes::world}, {f, (R_WF * link.center).cross(f)});
  }
}

double GravityCompensation::energy(ForceInput& now) const {
  double sum = 0;
  for (const Link& link : links_) {
    const Pose<double> X_WF = frame_pose(now.model, now.poses(), link.frame);
    sum += link.mass * now.model.gravity().dot(X_WF * link.center);
  }
  return sum;
}

}  // namespace limb
