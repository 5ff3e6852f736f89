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

/// One IMU: a topic for accelerometer and gyroscope each, which may be the same.
void read_imu(const std::string& call, const LogData& log, const std::string& accelerometer,
              const std::string& gyroscope, std::vector<double>& times,
              std::vector<ImuSample>& samples, std::string& notice) {
  const Names force = {"fx", "fy", "fz"}, rate = {"wx", "wy", "wz"};
  const LogSeries* f = find_topic(call, log, "--accelerometer", accelerometer,
                                  {"imu", "accelerometer"}, force, true);
  const LogSeries* w =
      find_topic(call, log, "--gyroscope", gyroscope, {"imu", "gyroscope"}, rate, true);
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
    if (k < w->carried) continue;
    times.push_back(w->t[k]);
    samples.push_back(sample);
  }
  notice += fmt::format("accelerometer {}, gyroscope {}", f->topic, w->topic);
}

/// Several IMUs of the base, averaged in axes of the first, at the times of the first.
void read_imus(const std::string& call, const LogData& log, const Model<double>& model,
               const SensorTopics& topics, SensorLog& sensors) {
  if (topics.imus.size() < 2) {
    read_imu(call, log, topics.accelerometer, topics.gyroscope, sensors.imu_t, sensors.imu,
             sensors.notice);
    return;
  }
  const double share = 1 / static_cast<double>(topics.imus.size());
  const auto R_BS = [&](std::size_t i) {
    return model.frame(model.find_frame(topics.imus[i])).X_BF.R;
  };
  for (std::size_t i = 0; i < topics.imus.size(); ++i) {
    std::vector<double> times;
    std::vector<ImuSample> samples;
    if (i > 0) sensors.notice += "; ";
    read_imu(call, log, topics.imus[i], topics.imus[i], times, samples, sensors.notice);
    if (i == 0) {
      sensors.imu_t = times;
      sensors.imu.assign(samples.size(), ImuSample{});
    }
    const Matrix3<double> R = R_BS(0).transpose() * R_BS(i);
    std::size_t row = 0;
    for (std::size_t k = 0; k < sensors.imu.size(); ++k) {
      while (row + 1 < times.size() && times[row + 1] <= sensors.imu_t[k] + 1e-9) ++row;
      if (samples.empty()) break;
      sensors.imu[k].gyro += share * (R * samples[row].gyro);
      sensors.imu[k].accel += share * (R * samples[row].accel);
    }
  }
}

/// Fixes of one topic, with an optional field `deviation`.
void read_fixes(const LogData& log, const std::string& topic, Fix::Kind kind, const Names& fields,
                double deviation, double delay, SensorLog& sensors) {
  const LogSeries* series = log.find(topic);
  if (series == nullptr || !has_fields(*series, fields)) return;
  const int spread = field_of(*series, "deviation");
  for (std::size_t k = series->carried; k < series->t.size(); ++k) {
    Fix fix;
    fix.t = series->t[k] - delay;
    fix.kind = kind;
    fix.deviation = spread < 0 ? deviation : series->values[static_cast<std::size_t>(spread)][k];
    Vector4<double> x = Vector4<double>::Zero();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      x[static_cast<Eigen::Index>(i)] =
          series->values[static_cast<std::size_t>(field_of(*series, fields[i]))][k];
    }
    // CSV logs leave cells empty where there is no fix.
    if (!x.allFinite()) continue;
    if (kind == Fix::Kind::orientation) {
      if (!(x.norm() > 0.5)) continue;
      fix.R_WB = to_matrix(quat_xyzw(x[0], x[1], x[2], x[3]).normalized());
    } else {
      fix.value = x.head<3>();
    }
    sensors.fixes.push_back(fix);
  }
}

Names missing_fields(const LogSeries* series, const Names& names) {
  Names missing;
  for (const auto& name : names) {
    if (series == nullptr || field_of(*series, name) < 0) missing.push_back(name);
  }
  return missing;
}

/// Names of these indices that encoders measure.
Names needed(const Names& all, const Names& encoders, const std::vector<int>& indices) {
  Names names;
  for (const int i : indices) {
    const auto& name = all[static_cast<std::size_t>(i)];
    if (std::find(encoders.begin(), encoders.end(), name) != encoders.end()) names.push_back(name);
  }
  return names;
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

Pose<double> mean_imu(const std::string& call, const Model<double>& model, const Names& frames) {
  Pose<double> X_BS = model.frame(model.find_frame(frames[0])).X_BF;
  X_BS.p.setZero();
  for (const auto& name : frames) {
    const auto& frame = model.frame(model.find_frame(name));
    if (frame.body.value() != 1) {
      fail(call, "--imu", "'" + name + "', which joints move",
           "frames that are fixed to the base, if there are several");
    }
    X_BS.p += frame.X_BF.p / static_cast<double>(frames.size());
  }
  return X_BS;
}

SensorLog read_sensors(const std::string& call, const LogData& log, const LegKinematics& legs,
                       const SensorTopics& topics) {
  const Model<double>& model = legs.model();
  Names feet;
  for (int i = 0; i < legs.feet(); ++i) feet.push_back(legs.foot_name(i));
  SensorLog sensors;
  read_imus(call, log, model, topics, sensors);
  const Names all_q = position_names(model), all_v = velocity_names(model);
  VectorX<double> neutral_q(model.nq());
  neutral(model, neutral_q);
  auto contact = FootReadings::find(call, log, model, feet, topics.contacts);
  // Feet measured directly: FOOT.x, FOOT.y, FOOT.z in axes of the base.
  Names foot_fields;
  for (const auto& foot : feet) {
    for (const char* axis : {".x", ".y", ".z"}) foot_fields.push_back(foot + axis);
  }
  const LogSeries* direct = topics.positions.empty() ? log.find("foot") : nullptr;
  if (direct != nullptr && !has_fields(*direct, foot_fields)) direct = nullptr;
  const LogSeries *q = nullptr, *v = nullptr;
  if (direct != nullptr) {
    const auto value = [&](const std::string& field, std::size_t k, double otherwise) {
      const int i = field_of(*direct, field);
      return i < 0 ? otherwise : direct->values[static_cast<std::size_t>(i)][k];
    };
    for (std::size_t k = direct->carried; k < direct->t.size(); ++k) {
      sensors.leg_t.push_back(direct->t[k]);
      std::vector<double> readings;
      if (contact) readings = contact->at(direct->t[k]);
      std::vector<FootSample> row;
      for (std::size_t i = 0; i < feet.size(); ++i) {
        FootSample sample;
        sample.p_BF = {value(foot_fields[3 * i], k, 0), value(foot_fields[3 * i + 1], k, 0),
                       value(foot_fields[3 * i + 2], k, 0)};
        constexpr double kDeviation = 2e-3;  // m
        const double variance = kDeviation * kDeviation;
        const auto entry = [&](const char* axes, double otherwise) {
          return value(feet[i] + "." + axes, k, otherwise);
        };
        sample.covariance << entry("xx", variance), entry("xy", 0), entry("xz", 0), entry("xy", 0),
            entry("yy", variance), entry("yz", 0), entry("xz", 0), entry("yz", 0),
            entry("zz", variance);
        row.push_back(sample);
      }
      sensors.feet.push_back(std::move(row));
      if (contact) sensors.forces.push_back(readings);
    }
  } else {
    const Names joints = needed(all_q, encoder_names(model, false), legs.needed_positions()),
                rates = needed(all_v, encoder_names(model, true), legs.needed_velocities());
    q = find_topic(call, log, "--positions", topics.positions,
                   {"position", "positions", "encoder", "encoders"}, joints, false);
    v = find_topic(call, log, "--velocities", topics.velocities,
                   {"velocity", "velocities", "encoder_rate"}, rates, false);
    const LogSeries* state = log.find("state");
    const bool from_state = q == nullptr;
    if (from_state) {
      q = state;
      if (q == nullptr || !has_fields(*q, prefixed("q.", joints))) {
        // A topic with some of the joints: name those that are missing.
        for (const char* name : {"position", "positions", "encoder", "encoders"}) {
          const LogSeries* some = log.find(name);
          const Names missing = missing_fields(some, joints);
          if (missing.empty() || missing.size() == joints.size()) continue;
          throw Error(
              fmt::format("{}: topic '{}' has no {} {}, between the base and the feet (see --map)",
                          call, name, missing.size() == 1 ? "joint" : "joints", joined(missing)));
        }
        fail_topic(call, log, "joint positions (position, encoder; or state with q.)", joints,
                   "position");
      }
    }
    if (v == nullptr && state != nullptr && has_fields(*state, prefixed("v.", rates))) v = state;
    const LogSeries* torque = log.find("torque");
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
    for (std::size_t k = q->carried; k < q->t.size(); ++k) {
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
  }
  const Names xyz = {"x", "y", "z"};
  const double delay = topics.fix_delay;
  read_fixes(log, "position_fix", Fix::Kind::position, xyz, 0.01, delay, sensors);
  read_fixes(log, "orientation_fix", Fix::Kind::orientation, {"x", "y", "z", "w"}, 0.01, delay,
             sensors);
  read_fixes(log, "yaw_fix", Fix::Kind::yaw, {"yaw"}, 0.01, delay, sensors);
  read_fixes(log, "velocity_fix", Fix::Kind::velocity, xyz, 0.05, delay, sensors);
  read_fixes(log, "body_velocity_fix", Fix::Kind::body_velocity, xyz, 0.05, delay, sensors);
  std::stable_sort(sensors.fixes.begin(), sensors.fixes.end(),
                   [](const Fix& a, const Fix& b) { return a.t < b.t; });
  // The base of the truth is compared.
  Names base;
  for (std::size_t i = 0; i < 7; ++i) base.push_back("q." + all_q[i]);
  const LogSeries* truth =
      find_topic(call, log, "--truth", topics.truth, {"truth", "state"}, base, false);
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
  sensors.notice +=
      direct != nullptr
          ? fmt::format(", feet foot, contacts {}, truth {}", contact ? contact->topics() : "none",
                        named(truth))
          : fmt::format(", positions {}, velocities {}, contacts {}, truth {}", named(q), named(v),
                        contact ? contact->topics() : "none", named(truth));
  if (!sensors.fixes.empty()) sensors.notice += fmt::format(", {} fixes", sensors.fixes.size());
  return sensors;
}

}  // namespace limb::cli
