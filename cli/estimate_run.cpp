#include "cli/estimate_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/interrupt.hpp"
#include "limb/base/error.hpp"
#include "limb/estimate/contact/momentum_observer.hpp"

namespace limb::cli {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Clock = std::chrono::steady_clock;

Vec roll_pitch_yaw(const Mat& R) {
  return {std::atan2(R(2, 1), R(2, 2)), std::atan2(-R(2, 0), std::hypot(R(2, 1), R(2, 2))),
          std::atan2(R(1, 0), R(0, 0))};
}

/// The true base state at one time.
struct Truth {
  Pose<double> X_WB;
  Vec v_WB;
};
class TruthReader {
 public:
  explicit TruthReader(const SensorLog& log) : log_(log) {}
  /// False if the log has no row within 1 ms.
  bool at(double t, Truth& truth) {
    const auto& times = log_.truth_t;
    while (row_ + 1 < times.size() && std::abs(times[row_ + 1] - t) <= std::abs(times[row_] - t)) {
      ++row_;
    }
    constexpr double kNear = 1e-3;
    if (times.empty() || std::abs(times[row_] - t) > kNear) return false;
    const VectorX<double>&q = log_.q_true[row_], &v = log_.v_true[row_];
    if (!q.head<7>().allFinite() || !v.head<6>().allFinite()) return false;
    const auto rotation = quat_xyzw(q[3], q[4], q[5], q[6]);
    if (!(rotation.squared_norm() > 0.5)) return false;
    truth.X_WB = {to_matrix(rotation.normalized()), q.head<3>()};
    truth.v_WB = truth.X_WB.R * v.head<3>();
    return true;
  }

 private:
  const SensorLog& log_;
  std::size_t row_ = 0;
};

void resize(EstimateSeries& series, std::size_t feet) {
  for (auto* nine : {&series.value, &series.error, &series.sigma, &series.truth}) nine->resize(9);
  series.bias.resize(6);
  series.bias_sigma.resize(6);
  series.contact.resize(feet);
  series.nis.resize(feet);
}

void add_row(const BaseEstimator& estimator, const Truth* truth, EstimateSeries& series) {
  const BaseEstimate e = estimator.estimate();
  series.t.push_back(e.t);
  const double nan = std::nan("");
  Eigen::Matrix<double, 9, 1> value, error, real;
  value << e.X_WB.p, roll_pitch_yaw(e.X_WB.R), e.v_WB;
  error.setConstant(nan);
  real.setConstant(nan);
  double nees = nan;
  if (truth != nullptr) {
    const Vec rotation = so3::log<double>(truth->X_WB.R.transpose() * e.X_WB.R);
    error << e.X_WB.p - truth->X_WB.p, rotation, e.v_WB - truth->v_WB;
    real << truth->X_WB.p, roll_pitch_yaw(truth->X_WB.R), truth->v_WB;
    nees = error.dot(e.covariance.ldlt().solve(error));
  }
  for (std::size_t i = 0; i < 9; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    series.value[i].push_back(value[k]);
    series.error[i].push_back(error[k]);
    series.truth[i].push_back(real[k]);
    series.sigma[i].push_back(std::sqrt(e.covariance(k, k)));
  }
  series.nees.push_back(nees);
  const FilterMatrix P = estimator.filter().common_covariance();
  for (int i = 0; i < 3; ++i) {
    const auto k = static_cast<std::size_t>(i);
    series.bias[k].push_back(e.gyro_bias[i]);
    series.bias[k + 3].push_back(e.accel_bias[i]);
    series.bias_sigma[k].push_back(std::sqrt(P(9 + i, 9 + i)));
    series.bias_sigma[k + 3].push_back(std::sqrt(P(12 + i, 12 + i)));
  }
  for (std::size_t i = 0; i < series.contact.size(); ++i) {
    const auto& foot = estimator.foot(static_cast<int>(i));
    series.contact[i].push_back(foot.stands ? 1 : 0);
    series.nis[i].push_back(foot.stands ? foot.nis : nan);
  }
}

void summarize(EstimateSummary& s) {
  const EstimateSeries& x = s.series;
  Eigen::Matrix<double, 9, 1> squares = Eigen::Matrix<double, 9, 1>::Zero();
  double nees = 0;
  std::size_t rows = 0, first = x.t.size(), last = 0;
  for (std::size_t k = 0; k < x.t.size(); ++k) {
    if (!std::isfinite(x.nees[k])) continue;
    first = std::min(first, k);
    last = k;
    ++rows;
    nees += x.nees[k];
    for (std::size_t i = 0; i < 9; ++i) {
      squares[static_cast<Eigen::Index>(i)] += x.error[i][k] * x.error[i][k];
    }
  }
  const auto& path = rows > 0 ? x.truth : x.value;
  for (std::size_t k = 1; k < x.t.size(); ++k) {
    const double step = std::hypot(path[0][k] - path[0][k - 1], path[1][k] - path[1][k - 1]);
    if (std::isfinite(step)) s.distance += step;
  }
  s.nis = s.diagnostics.nis_rows > 0
              ? s.diagnostics.nis_sum / static_cast<double>(s.diagnostics.nis_rows)
              : std::nan("");
  s.has_truth = rows > 0;
  if (!s.has_truth) return;
  squares = (squares / static_cast<double>(rows)).cwiseSqrt();
  s.rms_position = squares.head<3>();
  s.rms_rotation = squares.segment<3>(3);
  s.rms_velocity = squares.tail<3>();
  s.nees = nees / static_cast<double>(rows);
  s.nees_band = chi_square_band(9, 1);
  const auto change = [&](std::size_t i) { return x.error[i][last] - x.error[i][first]; };
  s.end_position = Vec(change(0), change(1), change(2)).norm();
  s.end_height = change(2);
  s.end_yaw = change(5);
}

/// The first time at which the robot has stood still for long enough.
double ready_time(const std::string& call, const SensorLog& log, BaseEstimator estimator,
                  const EstimatorOptions& options) {
  for (std::size_t k = 0; k < log.imu.size(); ++k) {
    estimator.imu(log.imu_t[k], log.imu[k]);
    if (estimator.ready()) return log.imu_t[k];
  }
  fail_computation(call, fmt::format("the robot never stood still for {} s, so the estimate cannot "
                                     "start (--rest)",
                                     options.initial.rest));
}

}  // namespace

EstimateSummary run_estimate(const std::string& call, const SensorLog& log,
                             const Model<double>& model, const std::vector<std::string>& feet,
                             const std::string& imu, EstimatorOptions options,
                             ContactSource contacts) {
  if (contacts == ContactSource::log && log.forces.empty()) {
    throw Error(fmt::format(
        "{}: the log has no contacts: neither a topic 'contact' with one field per foot, nor a "
        "topic per foot (in a scenario: [[sensor]] with name = \"{}\", type = \"contact\", "
        "frame = \"{}\"), nor forces of [[contact.foot]] (see --contacts, --contact-by torque, "
        "always)",
        call, feet[0], feet[0]));
  }
  if (contacts == ContactSource::torque && log.tau.empty()) {
    throw Error(call +
                ": the log has no topic 'torque' with motor.JOINT for the joints (limb simulate "
                "writes it)");
  }
  // The estimate starts at the true position and yaw, if they are known.
  const double start_time =
      ready_time(call, log, BaseEstimator(model, feet, imu, options), options);
  Truth truth;
  if (TruthReader(log).at(start_time, truth)) {
    options.initial.p_WB = truth.X_WB.p;
    options.initial.yaw = roll_pitch_yaw(truth.X_WB.R).z();
  }
  TruthReader truths(log);
  BaseEstimator estimator(model, feet, imu, options);
  MomentumObserver observer(model, 200);
  FootForces foot_forces(estimator.leg_kinematics());
  EstimateSummary summary;
  resize(summary.series, feet.size());
  std::vector<double> forces(feet.size(), 0);
  VectorX<double> q, v;
  double previous = std::nan("");
  Clock::duration spent{};
  std::size_t leg = 0;
  for (std::size_t k = 0; k < log.imu.size(); ++k) {
    const double t = log.imu_t[k];
    if (Interrupt::signal() != 0) {
      Interrupt::check(call, fmt::format("after {} of {} samples", k, log.imu.size()));
    }
    const auto start = Clock::now();
    const bool used = estimator.imu(t, log.imu[k]) == Status::ok;
    // Joint samples up to now; those before the first IMU sample are ignored.
    for (; leg < log.leg_t.size() && log.leg_t[leg] <= t + 1e-9; ++leg) {
      switch (contacts) {
        case ContactSource::log:
          // A contact switch logs 1; forces are in newtons.
          for (std::size_t i = 0; i < forces.size(); ++i) {
            forces[i] = log.forces[leg][i] == 1 ? options.contact.make_force : log.forces[leg][i];
          }
          break;
        case ContactSource::always:
          std::fill(forces.begin(), forces.end(), options.contact.make_force);
          break;
        case ContactSource::torque:
          if (!estimator.ready()) break;
          q = log.q[leg];
          v = log.v[leg];
          estimator.write_base(q, v);
          if (observer.update(std::isfinite(previous) ? log.leg_t[leg] - previous : 0, q, v,
                              log.tau[leg]) == Status::ok &&
              foot_forces.update(q, observer.force()) == Status::ok) {
            for (std::size_t i = 0; i < forces.size(); ++i) {
              forces[i] = foot_forces.f_W(static_cast<int>(i)).z();
            }
          }
          previous = log.leg_t[leg];
          break;
      }
      estimator.legs(log.leg_t[leg], log.q[leg], log.v[leg], forces);
    }
    spent += Clock::now() - start;
    if (!used || !estimator.ready()) continue;
    const bool known = truths.at(t, truth);
    if (summary.series.t.empty()) summary.ready_at = t;
    add_row(estimator, known ? &truth : nullptr, summary.series);
  }
  summary.diagnostics = estimator.diagnostics();
  summary.seconds = summary.series.t.back() - summary.series.t.front();
  summary.microseconds = std::chrono::duration<double, std::micro>(spent).count() /
                         static_cast<double>(std::max<std::size_t>(1, log.imu.size()));
  summarize(summary);
  return summary;
}

}  // namespace limb::cli
