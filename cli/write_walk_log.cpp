#include "cli/write_walk_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/interrupt.hpp"
#include "cli/sensor_log.hpp"
#include "limb/base/check.hpp"
#include "limb/sim/log/log_writer.hpp"
#include "limb/sim/scenario/view_log.hpp"
#include "limb/sim/world/coordinate_units.hpp"
#include "limb/sim/world/sensors.hpp"

namespace limb::cli {

using Names = std::vector<std::string>;

void write_walk_log(const std::string& call, const std::string& path, const SyntheticWalk& walk,
                    const WalkErrors& errors, std::uint64_t seed, const std::string& model_name) {
  const Model<double>& model = walk.model();
  const Names all_q = position_names(model), all_v = velocity_names(model),
              joints = encoder_names(model, false), rates = encoder_names(model, true);
  const auto index = [](const Names& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) - all.begin();
  };
  const auto pick_names = [&](const Names& x, const Names& all, const Names& chosen) {
    Names y;
    for (const auto& name : chosen) y.push_back(x[static_cast<std::size_t>(index(all, name))]);
    return y;
  };
  const auto pick = [&](const VectorX<double>& x, const Names& all, const Names& chosen) {
    VectorX<double> y(static_cast<Eigen::Index>(chosen.size()));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      y[static_cast<Eigen::Index>(i)] = x[index(all, chosen[i])];
    }
    return y;
  };
  const Names q_units = position_units(model), v_units = velocity_units(model);
  LogTopic truth{"truth", {}};
  for (const auto& name : all_q) truth.fields.push_back("q." + name);
  for (const auto& name : all_v) truth.fields.push_back("v." + name);
  truth.units = q_units;
  truth.units.insert(truth.units.end(), v_units.begin(), v_units.end());
  constexpr LogTopic::Kind kNumbers = LogTopic::Kind::numbers;
  std::vector<LogTopic> topics = {
      {"imu",
       {"fx", "fy", "fz", "wx", "wy", "wz"},
       kNumbers,
       {"m/s^2", "m/s^2", "m/s^2", "rad/s", "rad/s", "rad/s"}},
      {"position", joints, kNumbers, pick_names(q_units, all_q, joints)},
      {"velocity", rates, kNumbers, pick_names(v_units, all_v, rates)},
      {"contact", walk.options().feet, kNumbers, Names(walk.options().feet.size(), "1")},
      truth};
  const std::size_t first_view = topics.size();
  for (const LogTopic& topic : ViewLog::topics(model)) topics.push_back(topic);
  const auto log = open_log(call, path, topics,
                            {{"model", model_name}, {"base", "free"}, {"robot", model.name()}});
  ViewLog view(model);
  NoisyWalk noisy(walk, errors, seed);
  VectorX<double> imu(6), truth_row(all_q.size() + all_v.size()),
      contact(static_cast<Eigen::Index>(walk.options().feet.size()));
  while (noisy.next()) {
    const double t = noisy.instant().t;
    if (Interrupt::signal() != 0) {
      Interrupt::check(call, fmt::format("at {} of {} s of the synthetic walk", to_text(t),
                                         to_text(walk.options().duration)));
    }
    imu << noisy.imu().accel, noisy.imu().gyro;
    truth_row << noisy.instant().q, noisy.instant().v;
    for (std::size_t i = 0; i < walk.options().feet.size(); ++i) {
      contact[static_cast<Eigen::Index>(i)] = noisy.instant().contact[i] ? 1 : 0;
    }
    log->write(0, t, imu);
    log->write(1, t, pick(noisy.q(), all_q, joints));
    log->write(2, t, pick(noisy.v(), all_v, rates));
    log->write(3, t, contact);
    log->write(4, t, truth_row);
    view.write(model, {t, noisy.instant().q, noisy.instant().v, {}}, first_view, *log);
    log->end_row(t);
  }
  log->finish();
}

}  // namespace limb::cli
