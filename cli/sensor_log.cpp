#include "cli/sensor_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/base/error.hpp"
#include "limb/dynamics/manifold.hpp"
#include "limb/sim/log_writer.hpp"
#include "limb/sim/sensors.hpp"

namespace limb::cli {
namespace {

using Names = std::vector<std::string>;

std::string joined(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

int field_of(const LogSeries& series, const std::string& name) {
  const auto found = std::find(series.fields.begin(), series.fields.end(), name);
  return found == series.fields.end() ? -1 : static_cast<int>(found - series.fields.begin());
}

bool has_fields(const LogSeries& series, const Names& names) {
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return field_of(series, name) >= 0; });
}

Names topics_of(const LogData& log) {
  Names names;
  for (const LogSeries& series : log.series) names.push_back(series.topic);
  return names;
}

/// The topic of this name, or the first of the usual names that has the fields, or any that has.
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
    if (any && has_fields(series, fields)) return &series;
  }
  return nullptr;
}

[[noreturn]] void fail_topic(const std::string& call, const LogData& log, const std::string& what,
                             const Names& fields) {
  throw Error(fmt::format("{}: no topic of {} with the fields {} (topics: {})", call, what,
                          joined(fields), joined(topics_of(log))));
}

/// Index of the newest row at or before a time, never going back.
class Newest {
 public:
  explicit Newest(const LogSeries& series) : series_(series) {}
  std::size_t at(double t) {
    while (row_ + 1 < series_.t.size() && series_.t[row_ + 1] <= t + 1e-9) ++row_;
    return row_;
  }
  double value(int field, double t) {
    return series_.values[static_cast<std::size_t>(field)][at(t)];
  }

 private:
  const LogSeries& series_;
  std::size_t row_ = 0;
};

/// Numbers of a topic that are coordinates of the robot: prefix + name.
struct Columns {
  std::vector<std::pair<int, int>> places;  ///< field, coordinate
  Columns(const LogSeries& series, const std::string& prefix, const Names& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const int field = field_of(series, prefix + names[i]);
      if (field >= 0) places.emplace_back(field, static_cast<int>(i));
    }
  }
  void read(Newest& rows, double t, VectorX<double>& x) const {
    for (const auto& [field, coordinate] : places) x[coordinate] = rows.value(field, t);
  }
};

/// Names of the joints of one freedom: what encoders measure.
Names joints_of(const Model<double>& model, bool velocities) {
  const Names names = velocities ? velocity_names(model) : position_names(model);
  const auto& rows = model.coupling().rows();
  Names result;
  for (const auto& row : rows) {
    if (row.yq < 0 || row.nv != 1) continue;
    result.push_back(names[static_cast<std::size_t>(velocities ? row.terms[0].y : row.yq)]);
  }
  return result;
}

void read_imu(const std::string& call, const LogData& log, const SensorTopics& topics,
              SensorLog& sensors) {
  const Names force = {"fx", "fy", "fz"}, rate = {"wx", "wy", "wz"};
  const LogSeries* f = find_topic(call, log, "--accelerometer", topics.accelerometer,
                                  {"imu", "accelerometer"}, force, true);
  const LogSeries* w =
      find_topic(call, log, "--gyroscope", topics.gyroscope, {"imu", "gyroscope"}, rate, true);
  if (f == nullptr) fail_topic(call, log, "an accelerometer", force);
  if (w == nullptr) fail_topic(call, log, "a gyroscope", rate);
  Newest forces(*f);
  for (std::size_t k = 0; k < w->t.size(); ++k) {
    ImuSample sample;
    for (int i = 0; i < 3; ++i) {
      const auto name = static_cast<std::size_t>(i);
      sample.gyro[i] = w->values[static_cast<std::size_t>(field_of(*w, rate[name]))][k];
      // One topic for both: the same row, even where stamps are out of order.
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

SensorLog read_sensors(const std::string& call, const LogData& log, const Model<double>& model,
                       const Names& feet, const SensorTopics& topics) {
  SensorLog sensors;
  read_imu(call, log, topics, sensors);
  const Names joints = joints_of(model, false), rates = joints_of(model, true);
  const auto prefixed = [](const char* prefix, Names names) {
    for (auto& name : names) name.insert(0, prefix);
    return names;
  };
  const LogSeries* q = find_topic(call, log, "--positions", topics.positions,
                                  {"position", "positions", "encoder", "encoders"}, joints, false);
  const LogSeries* v = find_topic(call, log, "--velocities", topics.velocities,
                                  {"velocity", "velocities", "encoder_rate"}, rates, false);
  const LogSeries* state = log.find("state");
  const bool from_state = q == nullptr;
  if (from_state) {
    q = state;
    if (q == nullptr || !has_fields(*q, prefixed("q.", joints))) {
      fail_topic(call, log, "joint positions (position, encoder; or state with q.)", joints);
    }
  }
  if (v == nullptr && state != nullptr && has_fields(*state, prefixed("v.", rates))) v = state;
  const LogSeries* contact = find_topic(call, log, "--contacts", topics.contacts,
                                        {"contact", "contacts", "force", "forces"}, feet, false);
  const LogSeries* torque = log.find("torque");
  const Names all_q = position_names(model), all_v = velocity_names(model);
  const Columns q_columns(*q, from_state ? "q." : "", all_q);
  Newest q_rows(*q);
  std::unique_ptr<Newest> v_rows, contact_rows, torque_rows;
  std::unique_ptr<Columns> v_columns, torque_columns;
  if (v != nullptr) {
    v_rows = std::make_unique<Newest>(*v);
    v_columns = std::make_unique<Columns>(*v, v == state ? "v." : "", all_v);
  }
  if (contact != nullptr) contact_rows = std::make_unique<Newest>(*contact);
  if (torque != nullptr) {
    torque_rows = std::make_unique<Newest>(*torque);
    torque_columns = std::make_unique<Columns>(*torque, "motor.", all_v);
    if (torque_columns->places.empty()) torque = nullptr;
  }
  VectorX<double> neutral_q(model.position_size());
  neutral(model, neutral_q);
  for (std::size_t k = 0; k < q->t.size(); ++k) {
    const double t = q->t[k];
    sensors.leg_t.push_back(t);
    sensors.q.push_back(neutral_q);
    for (const auto& [field, coordinate] : q_columns.places) {
      sensors.q.back()[coordinate] = q->values[static_cast<std::size_t>(field)][k];
    }
    sensors.v.push_back(VectorX<double>::Zero(model.velocity_size()));
    if (v != nullptr) v_columns->read(*v_rows, t, sensors.v.back());
    sensors.q.back().head<7>() = neutral_q.head<7>();
    sensors.v.back().head<6>().setZero();
    if (contact != nullptr) {
      std::vector<double> forces;
      for (const auto& foot : feet) {
        forces.push_back(contact_rows->value(field_of(*contact, foot), t));
      }
      sensors.forces.push_back(std::move(forces));
    }
    if (torque != nullptr) {
      sensors.tau.push_back(VectorX<double>::Zero(model.velocity_size()));
      torque_columns->read(*torque_rows, t, sensors.tau.back());
      sensors.tau.back().head<6>().setZero();
    }
  }
  const LogSeries* truth = find_topic(call, log, "--truth", topics.truth, {"truth", "state"},
                                      prefixed("q.", all_q), false);
  if (truth != nullptr) {
    const Columns tq(*truth, "q.", all_q), tv(*truth, "v.", all_v);
    Newest q_of(*truth), v_of(*truth);
    for (const double t : truth->t) {
      sensors.truth_t.push_back(t);
      sensors.q_true.push_back(neutral_q);
      sensors.v_true.push_back(VectorX<double>::Zero(model.velocity_size()));
      tq.read(q_of, t, sensors.q_true.back());
      tv.read(v_of, t, sensors.v_true.back());
    }
  }
  const auto named = [](const LogSeries* series) {
    return series == nullptr ? std::string("none") : series->topic;
  };
  sensors.notice += fmt::format(", positions {}, velocities {}, contacts {}, truth {}", named(q),
                                named(v), named(contact), named(truth));
  return sensors;
}

void write_walk_log(const std::string& call, const std::string& path, const SyntheticWalk& walk,
                    const WalkErrors& errors, std::uint64_t seed, const std::string& model_name) {
  const Model<double>& model = walk.model();
  const Names all_q = position_names(model), all_v = velocity_names(model),
              joints = joints_of(model, false), rates = joints_of(model, true);
  Names truth;
  for (const auto& name : all_q) truth.push_back("q." + name);
  for (const auto& name : all_v) truth.push_back("v." + name);
  const auto log = open_log(call, path,
                            {{"imu", {"fx", "fy", "fz", "wx", "wy", "wz"}},
                             {"position", joints},
                             {"velocity", rates},
                             {"contact", walk.options().feet},
                             {"truth", truth}},
                            {{"model", model_name}, {"base", "free"}, {"robot", model.name()}});
  NoisyWalk noisy(walk, errors, seed);
  const auto pick = [](const VectorX<double>& x, const Names& all, const Names& wanted) {
    VectorX<double> y(static_cast<Eigen::Index>(wanted.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      y[static_cast<Eigen::Index>(i)] =
          x[std::find(all.begin(), all.end(), wanted[i]) - all.begin()];
    }
    return y;
  };
  VectorX<double> imu(6), both(all_q.size() + all_v.size()),
      contact(static_cast<Eigen::Index>(walk.options().feet.size()));
  while (noisy.next()) {
    const double t = noisy.instant().t;
    imu << noisy.imu().accel, noisy.imu().gyro;
    both << noisy.instant().q, noisy.instant().v;
    for (std::size_t i = 0; i < walk.options().feet.size(); ++i) {
      contact[static_cast<Eigen::Index>(i)] = noisy.instant().contact[i] ? 1 : 0;
    }
    log->write(0, t, imu);
    log->write(1, t, pick(noisy.q(), all_q, joints));
    log->write(2, t, pick(noisy.v(), all_v, rates));
    log->write(3, t, contact);
    log->write(4, t, both);
    log->end_row(t);
  }
  log->finish();
}

}  // namespace limb::cli
