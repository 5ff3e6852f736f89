#include "limb/sim/world/sensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace limb {
namespace {

constexpr double kSlack = 1e-9;
constexpr double kMaxDelayedSamples = 1e6;

void append(const char* prefix, const std::vector<std::string>& names,
            std::vector<std::string>& all) {
  for (const std::string& name : names) all.push_back(prefix + name);
}

}  // namespace

std::vector<std::string> velocity_names(const Model<double>& model) {
  std::vector<std::string> names(static_cast<std::size_t>(model.nv()));
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].yq < 0) continue;
    for (std::size_t k = 0; k < rows[i].terms.size(); ++k) {
      const std::string& joint = model.bodies()[i + 1].name;
      names[static_cast<std::size_t>(rows[i].terms[k].y)] =
          rows[i].nv == 1 ? joint : fmt::format("{}.{}", joint, k);
    }
  }
  return names;
}

std::vector<std::string> position_names(const Model<double>& model) {
  std::vector<std::string> names(static_cast<std::size_t>(model.nq()));
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].yq < 0) continue;
    for (int k = 0; k < rows[i].nq; ++k) {
      const std::string& joint = model.bodies()[i + 1].name;
      names[static_cast<std::size_t>(rows[i].yq + k)] =
          rows[i].nq == 1 ? joint : fmt::format("{}.{}", joint, k);
    }
  }
  return names;
}

std::vector<std::string> Imu::channels(const Model<double>&) const {
  if (part_ == Part::accelerometer) return {"fx", "fy", "fz"};
  return {"wx", "wy", "wz"};
}

void Imu::measure(const SensorInput& input, VectorX<double>& values) const {
  if (part_ == Part::gyroscope) {
    values = frame_velocity(input.model, input.kinematics, frame_, FrameAxes::local).w;
    return;
  }
  const Motion<double> A = frame_acceleration(input.model, input.kinematics, frame_,
                                              FrameAxes::local, AccelerationKind::classical);
  const Matrix3<double> R_WF = frame_pose(input.model, input.kinematics, frame_).R;
  values = A.v - R_WF.transpose() * input.model.gravity();
}

Encoder::Encoder(const Model<double>& model, Part part, std::vector<std::string> joints)
    : part_(part), joints_(std::move(joints)) {
  if (joints_.empty()) {
    for (const Body<double>& body : model.bodies()) {
      if (body.joint.nv() == 1) joints_.push_back(body.name);
    }
  }
  for (const std::string& joint : joints_) {
    coordinates_.push_back(joint_coordinate("Encoder", model, joint));
  }
}

void Encoder::measure(const SensorInput& input, VectorX<double>& values) const {
  for (std::size_t i = 0; i < coordinates_.size(); ++i) {
    values[static_cast<Eigen::Index>(i)] = part_ == Part::position
                                               ? input.kinematics.q[coordinates_[i].q]
                                               : input.kinematics.v[coordinates_[i].v];
  }
}

std::vector<std::string> TorqueSensor::channels(const Model<double>& model) const {
  return velocity_names(model);
}

void TorqueSensor::measure(const SensorInput& input, VectorX<double>& values) const {
  values = input.motor_torque;
}

void ContactSwitch::measure(const SensorInput& input, VectorX<double>& values) const {
  values[0] = input.contacts != nullptr && input.contacts->touches(input.model, frame_) ? 1 : 0;
}

void ForceSensor::measure(const SensorInput& input, VectorX<double>& values) const {
  values.setZero();
  if (input.contacts == nullptr) return;
  const Force<double> F = input.contacts->force_on(input.model, input.kinematics, frame_);
  const Matrix3<double> R_WF = frame_pose(input.model, input.kinematics, frame_).R;
  values.head<3>() = R_WF.transpose() * F.f;
  values.tail<3>() = R_WF.transpose() * F.n;
}

std::vector<std::string> GroundTruth::channels(const Model<double>& model) const {
  std::vector<std::string> all;
  append("q.", position_names(model), all);
  append("v.", velocity_names(model), all);
  append("a.", velocity_names(model), all);
  return all;
}

void GroundTruth::measure(const SensorInput& input, VectorX<double>& values) const {
  const Eigen::Index nq = input.state.q.size(), nv = input.state.v.size();
  values.head(nq) = input.state.q;
  values.segment(nq, nv) = input.state.v;
  values.tail(nv) = input.a;
}

Sensor::Sensor(const Model<double>& model, std::string name,
               std::unique_ptr<MeasuredQuantity> quantity, const SensorErrors& errors,
               std::uint64_t seed)
    : name_(std::move(name)),
      quantity_(std::move(quantity)),
      errors_(errors),
      noise_(seed),
      channels_(quantity_->channels(model)) {
  check_not_negative("Sensor", "noise", errors.noise);
  check_finite("Sensor", "bias", errors.bias);
  check_not_negative("Sensor", "bias_walk", errors.bias_walk);
  check_not_negative("Sensor", "resolution", errors.resolution);
  if (!(errors.range > 0)) fail("Sensor", "range", to_text(errors.range), "> 0");
  check_not_negative("Sensor", "period", errors.period);
  check_not_negative("Sensor", "delay", errors.delay);
  if (errors.delay > 0 && errors.period == 0) {
    fail("Sensor", "period", "0", "> 0 for a sensor with a delay");
  }
  if (errors.delay > kMaxDelayedSamples * errors.period) {
    fail("Sensor", "delay", to_text(errors.delay) + " s",
         "at most " + to_text(kMaxDelayedSamples) + " periods of " + to_text(errors.period) + " s");
  }
  const auto n = static_cast<Eigen::Index>(channels_.size());
  bias_ = sample_ = VectorX<double>::Constant(n, errors.bias);
  reading_ = VectorX<double>::Constant(n, std::nan(""));
  const auto capacity =
      static_cast<std::size_t>(errors.period > 0 ? std::ceil(errors.delay / errors.period) + 2 : 1);
  queue_.setZero(n, static_cast<Eigen::Index>(capacity));
  times_.assign(capacity, 0);
}

void Sensor::sample(const SensorInput& input) {
  const double t = input.state.t;
  const std::size_t slot = (first_ + count_) % times_.size();
  quantity_->measure(input, sample_);
  const double elapsed = std::isfinite(last_sample_) ? t - last_sample_ : 0;
  for (Eigen::Index i = 0; i < sample_.size(); ++i) {
    if (errors_.bias_walk > 0) {
      bias_[i] += errors_.bias_walk * std::sqrt(elapsed) * noise_.normal();
    }
    double x = sample_[i] + bias_[i];
    if (errors_.noise > 0) x += errors_.noise * noise_.normal();
    if (errors_.resolution > 0) x = errors_.resolution * std::round(x / errors_.resolution);
    sample_[i] = std::clamp(x, -errors_.range, errors_.range);
  }
  queue_.col(static_cast<Eigen::Index>(slot)) = sample_;
  times_[slot] = t;
  last_sample_ = t;
  if (count_ < times_.size()) {
    ++count_;
  } else {
    first_ = (first_ + 1) % times_.size();
  }
}

bool Sensor::update(const SensorInput& input) {
  const double t = input.state.t;
  if (errors_.period == 0) {
    sample(input);
  } else if (t >= next_index_ * errors_.period - kSlack) {
    sample(input);
    next_index_ = std::floor(t / errors_.period + kSlack) + 1;
  }
  bool is_new = false;
  while (count_ > 0 && times_[first_] + errors_.delay <= t + kSlack) {
    reading_ = queue_.col(static_cast<Eigen::Index>(first_));
    reading_time_ = times_[first_];
    first_ = (first_ + 1) % times_.size();
    --count_;
    is_new = true;
  }
  return is_new;
}

}  // namespace limb
