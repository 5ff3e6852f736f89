#include "cli/estimate_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/interrupt.hpp"
#include "limb/base/error.hpp"

namespace limb::cli {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Clock = std::chrono::steady_clock;

Vec roll_pitch_yaw(const Mat& R) {
  return {std::atan2(R(2, 1), R(2, 2)), std::atan2(-R(2, 0), std::hypot(R(2, 1), R(2, 2))),
          std::atan2(R(1, 0), R(0, 0))};
}

Mat rpy_rotation(const Vec& rpy) {
  return axis_rotation<double>(2, rpy.z()) * axis_rotation<double>(1, rpy.y()) *
         axis_rotation<double>(0, rpy.x());
}

/// The true base state at one time.
struct Truth {
  Pose<double> X_WB;
  Vec v_WB;
};

/// False if the log has no row within 1 ms. `row` is the last one used; times do not decrease much.
bool truth_at(const SensorLog& log, double t, std::size_t& row, Truth& truth) {
  const auto& times = log.truth_t;
  if (times.empty()) return false;
  row = std::min(row, times.size() - 1);
  while (row + 1 < times.size() && std::abs(times[row + 1] - t) <= std::abs(times[row] - t)) ++row;
  constexpr double kNear = 1e-3;
  if (!(std::abs(times[row] - t) <= kNear)) return false;
  const VectorX<double>&q = log.q_true[row], &v = log.v_true[row];
  if (!q.head<7>().allFinite() || !v.head<6>().allFinite()) return false;
  const auto rotation = quat_xyzw(q[3], q[4], q[5], q[6]);
  if (!(rotation.squared_norm() > 0.5)) return false;
  truth.X_WB = {to_matrix(rotation.normalized()), q.head<3>()};
  truth.v_WB = truth.X_WB.R * v.head<3>();
  return true;
}

void resize(EstimateSeries& series, std::size_t feet) {
  for (auto* nine : {&series.value, &series.error, &series.sigma, &series.truth}) nine->resize(9);
  series.bias.resize(6);
  series.bias_sigma.resize(6);
  series.contact.resize(feet);
  series.nis.resize(feet);
}

void check_contacts(const std::string& call, const SensorLog& log, const LegKinematics& legs,
                    ContactSource contacts) {
  if (contacts == ContactSource::log && log.forces.empty() && !log.leg_t.empty()) {
    throw Error(fmt::format(
        "{}: the log has no contacts: neither a topic 'contact' with one field per foot, nor a "
        "topic per foot (in a scenario: [[sensor]] with name = \"{}\", type = \"contact\", "
        "frame = \"{}\"), nor forces of [[contact.foot]] (see --contacts, --contact-by torque, "
        "always)",
        call, legs.foot_name(0), legs.foot_name(0)));
  }
  if (contacts == ContactSource::torque && log.tau.empty() && !log.leg_t.empty()) {
    throw Error(call +
                ": the log has no topic 'torque' with motor.JOINT for the joints (limb simulate "
                "writes it)");
  }
}

/// A contact switch logs 1; forces are in newtons.
double force_of(double reading, double make_force) {
  return reading == 1 ? std::max(make_force, 1.0) : reading;
}

}  // namespace

LogSurvey::LogSurvey(const LegKinematics& legs, const EstimatorOptions& options,
                     ContactSource contacts)
    : legs_(legs),
      estimator_(legs, options),
      contacts_(contacts),
      detectors_(static_cast<std::size_t>(legs.feet()), ContactDetector(options.contact)),
      forces_(detectors_.size(), 0.0),
      make_force_(options.contact.make_force),
      start_(0) {}

bool LogSurvey::add(const SensorLog& log) {
  constexpr double kEnough = 120;  // s
  std::size_t leg = 0, row = 0;
  std::vector<bool> stands(detectors_.size());
  for (std::size_t k = 0; k < log.imu.size(); ++k) {
    const double t = log.imu_t[k];
    if (Interrupt::signal() != 0) Interrupt::check("limb estimate", "before the estimate");
    if (!started_ && std::isfinite(t)) {
      started_ = true;
      start_ = t;
    }
    noise_.add_imu(t, log.imu[k]);
    const bool was_ready = estimator_.ready();
    estimator_.imu(t, log.imu[k]);
    for (; leg < log.leg_t.size() && !(log.leg_t[leg] > t + 1e-9); ++leg) {
      if (log.q.empty()) continue;
      const bool finite = legs_.update(log.q[leg], log.v[leg]) == Status::ok;
      if (!was_ready) estimator_.legs(log.leg_t[leg], log.q[leg], log.v[leg], forces_);
      for (std::size_t i = 0; i < stands.size(); ++i) {
        stands[i] =
            contacts_ == ContactSource::always ||
            (contacts_ == ContactSource::log && !log.forces.empty() &&
             detectors_[i].update(log.leg_t[leg], force_of(log.forces[leg][i], make_force_)));
      }
      if (finite) noise_.add_feet(log.leg_t[leg], legs_, stands);
    }
    if (estimator_.ready() && !was_ready) {
      Truth truth;
      has_truth_ = truth_at(log, t, row, truth);
      if (has_truth_) {
        p_WB_ = truth.X_WB.p;
        yaw_ = roll_pitch_yaw(truth.X_WB.R).z();
      }
    }
    if (t - start_ > kEnough && estimator_.ready()) return false;
  }
  return true;
}

EstimateRun::EstimateRun(std::string call, const LegKinematics& legs,
                         const EstimatorOptions& options, ContactSource contacts,
                         const std::optional<InitialState>& start, bool smooth)
    : call_(std::move(call)),
      options_(options),
      estimator_(legs, options),
      contacts_(contacts),
      start_(start),
      observer_(legs.model(), 200),
      foot_forces_(estimator_.leg_kinematics()),
      forces_(static_cast<std::size_t>(legs.feet()), 0.0),
      previous_leg_(std::nan("")) {
  if (smooth) smoother_.emplace(estimator_);
  resize(summary_.series, static_cast<std::size_t>(legs.feet()));
  summary_.options = options;
  summary_.smoothed = smooth;
}

void EstimateRun::add(SensorLog log) {
  check_contacts(call_, log, estimator().leg_kinematics(), contacts_);
  // Joint samples that the previous part left.
  const auto prepend = [](auto& to, auto& from) {
    to.insert(to.begin(), std::make_move_iterator(from.begin()),
              std::make_move_iterator(from.end()));
    from.clear();
  };
  prepend(log.leg_t, left_.leg_t);
  prepend(log.q, left_.q);
  prepend(log.v, left_.v);
  prepend(log.feet, left_.feet);
  prepend(log.forces, left_.forces);
  prepend(log.tau, left_.tau);
  prepend(log.fixes, left_.fixes);
  truth_row_ = 0;
  std::size_t leg = 0, fix = 0;
  for (std::size_t k = 0; k < log.imu.size(); ++k) {
    const double t = log.imu_t[k];
    if (Interrupt::signal() != 0) {
      Interrupt::check(call_, fmt::format("after {} samples", imu_samples_));
    }
    const auto start = Clock::now();
    // Joint samples while the IMU was silent, then the IMU, then those at its time.
    for (; leg < log.leg_t.size() && t - log.leg_t[leg] > options_.skew; ++leg) add_leg(log, leg);
    if (start_ && !estimator().ready() && std::isfinite(t)) {
      const Pose<double> X_WB{rpy_rotation(start_->rpy), start_->p_WB};
      const Pose<double> X_WS = X_WB * estimator().leg_kinematics().X_BS();
      FilterState state;
      state.p_WS = X_WS.p;
      state.R_WS = X_WS.R;
      state.v_WS = start_->v_WB;
      const InitialOptions& o = options_.initial;
      // Tilt and velocity as given by hand; biases of a MEMS unit.
      constexpr double kTilt = 0.02, kSpeed = 0.05, kGyroBias = 5e-3;
      Eigen::Matrix<double, 15, 1> d;
      d << Vec::Constant(o.position_deviation), kTilt, kTilt, std::max(o.yaw_deviation, kTilt / 10),
          Vec::Constant(kSpeed), Vec::Constant(kGyroBias), Vec::Constant(o.accel_bias_deviation);
      give([&](auto& e) { e.initialize(t, state, Matrix15(d.cwiseAbs2().asDiagonal())); });
    }
    const bool used = give([&](auto& e) { return e.imu(t, log.imu[k]); }) == Status::ok;
    ++imu_samples_;
    for (; leg < log.leg_t.size() && !(log.leg_t[leg] > t + 1e-9); ++leg) add_leg(log, leg);
    for (; fix < log.fixes.size() && !(log.fixes[fix].t + 1e-9 > t); ++fix) add_fix(log.fixes[fix]);
    spent_ += Clock::now() - start;
    for (; seen_events_ < estimator().events(); ++seen_events_) {
      if (summary_.events.size() < EstimateSummary::kMostEvents) {
        summary_.events.push_back(estimator().event(seen_events_));
      }
    }
    if (used && estimator().ready()) add_row(t, log);
  }
  const auto keep = [](auto& to, auto& from, std::size_t at) {
    if (at < from.size()) {
      to.assign(std::make_move_iterator(from.begin() + static_cast<std::ptrdiff_t>(at)),
                std::make_move_iterator(from.end()));
    }
  };
  keep(left_.leg_t, log.leg_t, leg);
  keep(left_.q, log.q, leg);
  keep(left_.v, log.v, leg);
  keep(left_.feet, log.feet, leg);
  keep(left_.forces, log.forces, leg);
  keep(left_.tau, log.tau, leg);
  keep(left_.fixes, log.fixes, fix);
}

void EstimateRun::add_leg(const SensorLog& log, std::size_t leg) {
  const double t = log.leg_t[leg];
  switch (contacts_) {
    case ContactSource::log:
      for (std::size_t i = 0; i < forces_.size(); ++i) {
        forces_[i] = force_of(log.forces[leg][i], options_.contact.make_force);
      }
      break;
    case ContactSource::always:
      std::fill(forces_.begin(), forces_.end(), options_.contact.make_force);
      break;
    case ContactSource::torque:
      if (!estimator().ready()) break;
      q_ = log.q[leg];
      v_ = log.v[leg];
      estimator().write_base(q_, v_);
      if (observer_.update(std::isfinite(previous_leg_) ? t - previous_leg_ : 0, q_, v_,
                           log.tau[leg]) == Status::ok &&
          foot_forces_.update(q_, observer_.force()) == Status::ok) {
        for (std::size_t i = 0; i < forces_.size(); ++i) {
          forces_[i] = foot_forces_.f_W(static_cast<int>(i)).z();
        }
      }
      previous_leg_ = t;
      break;
  }
  if (log.feet.empty()) {
    give([&](auto& e) { return e.legs(t, log.q[leg], log.v[leg], forces_); });
    return;
  }
  std::vector<FootSample> samples = log.feet[leg];
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // Probabilities as they are; forces and switches by the threshold.
    const double make = options_.contact.make_force;
    samples[i].contact = make <= 1 ? forces_[i] : forces_[i] >= make ? 1 : 0;
  }
  give([&](auto& e) { return e.feet(t, samples); });
}

void EstimateRun::add_fix(const Fix& fix) {
  if (!estimator().ready()) return;
  const Mat noise = fix.deviation * fix.deviation * Mat::Identity();
  switch (fix.kind) {
    case Fix::Kind::position:
      give([&](auto& e) { return e.position_fix(fix.t, fix.value, Vec::Zero(), noise); });
      break;
    case Fix::Kind::yaw:
      give([&](auto& e) { return e.yaw_fix(fix.t, fix.value.x(), fix.deviation); });
      break;
    case Fix::Kind::orientation:
      give([&](auto& e) { return e.orientation_fix(fix.t, fix.R_WB, fix.deviation); });
      break;
    case Fix::Kind::velocity:
      give([&](auto& e) { return e.velocity_fix(fix.t, fix.value, noise, false); });
      break;
    case Fix::Kind::body_velocity:
      give([&](auto& e) { return e.velocity_fix(fix.t, fix.value, noise, true); });
      break;
  }
}

void EstimateRun::add_row(double t, const SensorLog& log) {
  Surroundings around;
  Truth truth;
  around.t = t;
  around.known = truth_at(log, t, truth_row_, truth);
  around.X_WB = truth.X_WB;
  around.v_WB = truth.v_WB;
  for (std::size_t i = 0; i < forces_.size(); ++i) {
    const auto& foot = estimator().foot(static_cast<int>(i));
    around.contact.push_back(foot.stands ? 1 : 0);
    around.nis.push_back(foot.stands ? foot.nis : std::nan(""));
  }
  const BaseEstimate e = estimator().estimate();
  if (!smoother_) {
    const FilterMatrix P = estimator_.filter().common_covariance();
    use_row(e, P.diagonal().segment<6>(ErrorIndex::gyro_bias).cwiseMax(0).cwiseSqrt(), around);
    return;
  }
  ++summary_.rows;
  if (around.known) {
    filter_squares_ += (e.X_WB.p - truth.X_WB.p).squaredNorm();
    ++filter_truths_;
  }
  store(around);
}

void EstimateRun::store(const Surroundings& around) {
  std::vector<double> row = {around.t, around.known ? 1.0 : 0.0};
  const auto append = [&](const auto& x) { row.insert(row.end(), x.data(), x.data() + x.size()); };
  append(around.X_WB.p);
  append(around.X_WB.R);
  append(around.v_WB);
  append(around.contact);
  append(around.nis);
  surroundings_.append(row);
}

EstimateRun::Surroundings EstimateRun::stored(std::size_t index) const {
  const std::size_t feet = forces_.size(), size = 17 + 2 * feet;
  std::vector<double> row(size);
  surroundings_.read(index * size, row);
  Surroundings around;
  around.t = row[0];
  around.known = row[1] > 0;
  around.X_WB = {Mat(row.data() + 5), Vec(row.data() + 2)};
  around.v_WB = Vec(row.data() + 14);
  around.contact.assign(row.begin() + 17, row.begin() + 17 + static_cast<std::ptrdiff_t>(feet));
  around.nis.assign(row.begin() + 17 + static_cast<std::ptrdiff_t>(feet), row.end());
  return around;
}

void EstimateRun::smooth() {
  // Backwards, then forwards: rows are written in order of time.
  constexpr std::size_t kRow = 1 + 1 + 3 + 9 + 3 + 6 + 6 + 81;
  NumberStore smoothed(BaseSmoother::kMemory);
  std::size_t left = summary_.rows, count = 0;
  Surroundings around;
  bool has_row = false;
  std::vector<double> row;
  smoother_->smooth([&](const BaseSmoother::Point& point) {
    if (Interrupt::signal() != 0) Interrupt::check(call_, "while smoothing");
    const BaseEstimate& e = point.smoothed;
    while (left > 0) {
      if (!has_row) around = stored(left - 1);
      has_row = true;
      if (around.t <= e.t) break;
      has_row = false;
      --left;
    }
    if (left == 0 || around.t != e.t) return;
    row = {e.t, static_cast<double>(left - 1)};
    const auto append = [&](const auto& x) {
      row.insert(row.end(), x.data(), x.data() + x.size());
    };
    append(e.X_WB.p);
    append(e.X_WB.R);
    append(e.v_WB);
    append(e.gyro_bias);
    append(e.accel_bias);
    append(point.bias_deviations);
    append(e.covariance);
    smoothed.append(row);
    ++count;
  });
  summary_.rows = 0;
  row.resize(kRow);
  for (std::size_t i = count; i-- > 0;) {
    smoothed.read(i * kRow, row);
    const double* x = row.data();
    BaseEstimate e;
    e.t = x[0];
    e.X_WB = {Mat(x + 5), Vec(x + 2)};
    e.v_WB = Vec(x + 14);
    e.gyro_bias = Vec(x + 17);
    e.accel_bias = Vec(x + 20);
    e.covariance = Eigen::Matrix<double, 9, 9>(x + 29);
    use_row(e, Eigen::Matrix<double, 6, 1>(x + 23), stored(static_cast<std::size_t>(x[1])));
  }
}

void EstimateRun::use_row(const BaseEstimate& e, const Eigen::Matrix<double, 6, 1>& bias_sigma,
                          const Surroundings& around) {
  const double t = around.t;
  const bool known = around.known;
  if (summary_.rows == 0) summary_.ready_at = t;
  summary_.seconds = t - summary_.ready_at;
  const double nan = std::nan("");
  Row row;
  row.t = t;
  row.value << e.X_WB.p, roll_pitch_yaw(e.X_WB.R), e.v_WB;
  row.sigma = e.covariance.diagonal().cwiseMax(0).cwiseSqrt();
  row.bias << e.gyro_bias, e.accel_bias;
  row.contact.resize(static_cast<Eigen::Index>(forces_.size()));
  for (Eigen::Index i = 0; i < row.contact.size(); ++i) {
    row.contact[i] = around.contact[static_cast<std::size_t>(i)];
  }
  if (on_row) on_row(row);
  summary_.end = row.value;
  summary_.end_sigma = row.sigma;
  Eigen::Matrix<double, 9, 1> error, real;
  error.setConstant(nan);
  real.setConstant(nan);
  double nees = nan;
  if (known) {
    const Vec rotation = so3::log<double>(around.X_WB.R.transpose() * e.X_WB.R);
    error << e.X_WB.p - around.X_WB.p, rotation, e.v_WB - around.v_WB;
    real << around.X_WB.p, roll_pitch_yaw(around.X_WB.R), around.v_WB;
    nees = error.dot(e.covariance.ldlt().solve(error));
    if (std::isfinite(nees)) {
      if (truths_++ == 0) first_error_ = error;
      last_error_ = error;
      squares_ += error.cwiseAbs2();
      nees_sum_ += nees;
    }
  }
  // The path over ground, of the truth if there is one.
  if (known && !point_is_truth_) {
    point_is_truth_ = true;
    has_point_ = false;
    summary_.distance = 0;
  }
  if (known || !point_is_truth_) {
    const Vec point = known ? around.X_WB.p : e.X_WB.p;
    if (has_point_) summary_.distance += (point - last_point_).head<2>().norm();
    last_point_ = point;
    has_point_ = true;
  }
  if (summary_.rows++ % stride_ != 0) return;
  EstimateSeries& series = summary_.series;
  series.t.push_back(t);
  for (std::size_t i = 0; i < 9; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    series.value[i].push_back(row.value[k]);
    series.error[i].push_back(error[k]);
    series.truth[i].push_back(real[k]);
    series.sigma[i].push_back(row.sigma[k]);
  }
  series.nees.push_back(nees);
  for (int i = 0; i < 6; ++i) {
    const auto k = static_cast<std::size_t>(i);
    series.bias[k].push_back(row.bias[i]);
    series.bias_sigma[k].push_back(bias_sigma[i]);
  }
  for (std::size_t i = 0; i < series.contact.size(); ++i) {
    series.contact[i].push_back(around.contact[i]);
    series.nis[i].push_back(around.nis[i]);
  }
  constexpr std::size_t kMostRows = 20000;
  if (series.t.size() >= kMostRows) thin_out();
}

void EstimateRun::thin_out() {
  stride_ *= 2;
  const auto halve = [](std::vector<double>& x) {
    for (std::size_t i = 0; 2 * i < x.size(); ++i) x[i] = x[2 * i];
    x.resize((x.size() + 1) / 2);
  };
  EstimateSeries& s = summary_.series;
  halve(s.t);
  halve(s.nees);
  for (auto* all :
       {&s.value, &s.error, &s.sigma, &s.truth, &s.bias, &s.bias_sigma, &s.contact, &s.nis}) {
    for (auto& one : *all) halve(one);
  }
}

EstimateSummary EstimateRun::finish() {
  EstimateSummary& s = summary_;
  if (smoother_ && s.rows > 0) smooth();
  if (filter_truths_ > 0) {
    s.filter_rms_position = std::sqrt(filter_squares_ / static_cast<double>(filter_truths_));
  }
  if (s.rows == 0) {
    fail_computation(call_,
                     fmt::format("the robot never stood still for {} s, so the estimate cannot "
                                 "start (--rest, --start)",
                                 options_.initial.rest));
  }
  s.diagnostics = estimator().diagnostics();
  s.verdict = estimator().verdict();
  s.gate = options_.gate < 1 ? chi_square_quantile(options_.gate, 3)
                             : std::numeric_limits<double>::infinity();
  for (int i = 0; i < estimator().leg_kinematics().feet(); ++i) {
    s.feet.push_back(estimator().statistics(i));
  }
  s.microseconds = std::chrono::duration<double, std::micro>(spent_).count() /
                   static_cast<double>(std::max<std::uint64_t>(1, imu_samples_));
  s.nis = s.diagnostics.nis_rows > 0
              ? s.diagnostics.nis_sum / static_cast<double>(s.diagnostics.nis_rows)
              : std::nan("");
  s.has_truth = truths_ > 0;
  if (!s.has_truth) return s;
  const double count = static_cast<double>(truths_);
  const Eigen::Matrix<double, 9, 1> rms = (squares_ / count).cwiseSqrt();
  s.rms_position = rms.head<3>();
  s.rms_rotation = rms.segment<3>(3);
  s.rms_velocity = rms.tail<3>();
  s.nees = nees_sum_ / count;
  s.nees_band = chi_square_band(9, 1);
  const Eigen::Matrix<double, 9, 1> change = last_error_ - first_error_;
  s.end_position = change.head<3>().norm();
  s.end_height = change[2];
  s.end_yaw = change[5];
  return s;
}

EstimateSummary run_estimate(const std::string& call, const SensorLog& log,
                             const LegKinematics& legs, const EstimatorOptions& options,
                             ContactSource contacts) {
  EstimateRun run(call, legs, options, contacts);
  run.add(log);
  return run.finish();
}

}  // namespace limb::cli
