#include "cli/sensor_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/foot_readings.hpp"
#include "limb/base/error.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/sim/world/sensors.hpp"

namespace limb::cli {
namespace {

/// The topic `given`, or the first of the `usual` names with these fields, or (`any`) any topic
/// with them; null if not found.
const LogSeries* find_topic(const std::string& call, const LogData& log, const std::string& option,
                            const std::string& given, const Names& usual, const Names& fields,
                            bool any) {
  if (!given.empty()) {
    const LogSeries* series = log.find(given);
    if (series == nullptr || !has_fields(*series, fields)) {
      fail(call, option, "'" + given + "'",
           fmt::format("a topic with the fields {} (topics: {})", joined(fields),
                       joined(topics_of(log))));
    }
    return series;
  }
  for (const auto& name : usual) {
    const LogSeries* series = log.find(name);
    if (series != nullptr && has_fields(*series, fields)) return series;
  }
  for (const LogSeries& series : log.series) {
    // A force sensor also has these fields, and moments.
    if (any && has_fields(series, fields) && field_of(series, "nx") < 0) return &series;
  }
  return nullptr;
}

[[noreturn]] void fail_topic(const std::string& call, const LogData& log, const std::string& what,
                             const Names& fields, const std::string& type) {
  throw Error(
      fmt::format("{}: no topic of {} with the fields {} (topics: {}; in a scenario it is a "
                  "[[sensor]] with type = \"{}\")",
                  call, what, joined(fields), joined(topics_of(log)), type));
}

/// Fields of a topic that are coordinates of the robot: prefix + name.
struct Columns {
  std::vector<std::pair<int, int>> pairs;  ///< field, coordinate
  Columns(const LogSeries& series, const std::string& prefix, const Names& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const int field = field_of(series, prefix + names[i]);
      if (field >= 0) pairs.emplace_back(field, static_cast<int>(i));
    }
  }
  void read(NewestRow& rows, double t, VectorX<double>& x) const {
    for (const auto& [field, coordinate] : pairs) x[coordinate] = rows.value(field, t);
  }
};

void read_imu(const std::string& call, const LogData& log, const SensorTopics& topics,
              SensorLog& sensors) {
  const Names force = {"fx", "fy", "fz"}, rate = {"wx", "wy", "wz"};
  const LogSeries* f = find_topic(call, log, "--accelerometer", topics.accelerometer,
                                  {"imu", "accelerometer"}, force, true);
  const LogSeries* w =
      find_topic(call, log, "--gyroscope", topics.gyroscope, {"imu", "gyroscope"}, rate, true);
  if (f == nullptr) fail_topic(call, log, "an accelerometer", force, "accelerometer");
  if (w == nullptr) fail_topic(call, log, "a gyroscope", rate, "gyroscope");
  NewestRow forces(*f);
  for (std::size_t k = 0; k < w->t.size(); ++k) {
    ImuSample sample;
    for (int i = 0; i < 3; ++i) {
      const auto name = static_cast<std::size_t>(i);
      sample.gyro[i] = w->values[static_cast<std::size_t>(field_of(*w, rate[name]))][k];
      // One topic for both: the same row, even if time stamps are out of order.
      const int field = field_of(*f, force[name]);
      sample.accel[i] =
          f == w ? f->values[static_cast<std::size_t>(field)][k] : forces.value(field, w->t[k]);
    }
    sensors.imu_t.push_back(w->t[k]);
    sensors.imu.push_back(sample);
  }
  sensors.notice += fmt::format("accelerometer {}, gyroscope {}", f->topic, w->topic);
}

}  // namespace

std::vector<std::string> encoder_names(const Model<double>& model, bool velocities) {
  const Names names = velocities ? velocity_names(model) : position_names(model);
  const auto& rows = model.coupling().rows();
  Names result;
  for (const auto& row : rows) {
    if (row.yq < 0 || row.nv != 1) continue;
    result.push_back(names[static_cast<std::size_t>(velocities ? row.terms[0].y : row.yq)]);
  }
  return result;
}

SensorLog read_sensors(const std::string& call, const LogData& log, const Model<double>& model,
                       const Names& feet, const SensorTopics& topics) {
  SensorLog sensors;
  read_imu(call, log, topics, sensors);
  const Names joints = encoder_names(model, false), rates = encoder_names(model, true);
  const LogSeries* q = find_topic(call, log, "--positions", topics.positions,
                                  {"position", "positions", "encoder", "encoders"}, joints, false);
  const LogSeries* v = find_topic(call, log, "--velocities", topics.velocities,
                                  {"velocity", "velocities", "encoder_rate"}, rates, false);
  const LogSeries* state = log.find("state");
  const bool from_state = q == nullptr;
  if (from_state) {
    q = state;
    if (q == nullptr || !has_fields(*q, prefixed("q.", joints))) {
      fail_topic(call, log, "joint positions (position, encoder; or state with q.)", joints,
                 "position");
    }
  }
  if (v == nullptr && state != nullptr && has_fields(*state, prefixed("v.", rates))) v = state;
  auto contact = FootReadings::find(call, log, model, feet, topics.contacts);
  const LogSeries* torque = log.find("torque");
  const Names all_q = position_names(model), all_v = velocity_names(model);
  const Columns q_columns(*q, from_state ? "q." : "", all_q);
  std::unique_ptr<NewestRow> v_rows, torque_rows;
  std::unique_ptr<Columns> v_columns, torque_columns;
  if (v != nullptr) {
    v_rows = std::make_unique<NewestRow>(*v);
    v_columns = std::make_unique<Columns>(*v, v == state ? "v." : "", all_v);
  }
  if (torque != nullptr) {
    torque_rows = std::make_unique<NewestRow>(*torque);
    torque_columns = std::make_unique<Columns>(*torque, "motor.", all_v);
    if (torque->t.empty() || torque_columns->pairs.empty()) torque = nullptr;
  }
  VectorX<double> neutral_q(model.nq());
  neutral(model, neutral_q);
  for (std::size_t k = 0; k < q->t.size(); ++k) {
    const double t = q->t[k];
    sensors.leg_t.push_back(t);
    sensors.q.push_back(neutral_q);
    for (const auto& [field, coordinate] : q_columns.pairs) {
      sensors.q.back()[coordinate] = q->values[static_cast<std::size_t>(field)][k];
    }
    sensors.v.push_back(VectorX<double>::Zero(model.nv()));
    if (v != nullptr) v_columns->read(*v_rows, t, sensors.v.back());
    sensors.q.back().head<7>() = neutral_q.head<7>();
    sensors.v.back().head<6>().setZero();
    if (contact) sensors.forces.push_back(contact->at(t));
    if (torque != nullptr) {
      sensors.tau.push_back(VectorX<double>::Zero(model.nv()));
      torque_columns->read(*torque_rows, t, sensors.tau.back());
      sensors.tau.back().head<6>().setZero();
    }
  }
  const LogSeries* truth = find_topic(call, log, "--truth", topics.truth, {"truth", "state"},
                                      prefixed("q.", all_q), false);
  if (truth != nullptr) {
    const Columns tq(*truth, "q.", all_q), tv(*truth, "v.", all_v);
    NewestRow q_of(*truth), v_of(*truth);
    for (const double t : truth->t) {
      sensors.truth_t.push_back(t);
      sensors.q_true.push_back(neutral_q);
      sensors.v_true.push_back(VectorX<double>::Zero(model.nv()));
      tq.read(q_of, t, sensors.q_true.back());
      tv.read(v_of, t, sensors.v_true.back());
    }
  }
  const auto named = [](const LogSeries* series) {
    return series == nullptr ? std::string("none") : series->topic;
  };
  sensors.notice += fmt::format(", positions {}, velocities {}, contacts {}, truth {}", named(q),
                                named(v), contact ? contact->topics() : "none", named(truth));
  return sensors;
}

}  // namespace limb::cli
