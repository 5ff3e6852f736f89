#include "cli/write_walk_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/interrupt.hpp"
#include "cli/sensor_log.hpp"
#include "limb/base/check.hpp"
#include "limb/sim/log/log_writer.hpp"
#include "limb/sim/world/sensors.hpp"

namespace limb::cli {

using Names = std::vector<std::string>;

void write_walk_log(const std::string& call, const std::string& path, const SyntheticWalk& walk,
                    const WalkErrors& errors, std::uint64_t seed, const std::string& model_name) {
  const Model<double>& model = walk.model();
  const Names all_q = position_names(model), all_v = velocity_names(model),
              joints = encoder_names(model, false), rates = encoder_names(model, true);
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
    log->end_row(t);
  }
  log->finish();
}

}  // namespace limb::cli
