#include "limb/estimate/estimator/base_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limb/base/check.hpp"
#include "limb/estimate/filter/chi_square.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
constexpr double kNever = -std::numeric_limits<double>::infinity(), kNoLate = -kNever;

FilterOptions filter_options(const Model<double>& model, const EstimatorOptions& options) {
  return {options.imu, options.contact_noise, model.gravity()};
}

void check_options(const EstimatorOptions& o) {
  constexpr const char* kCall = "BaseEstimator";
  for (const auto& [name, value] : {std::pair{"encoder", o.encoder},
                                    {"encoder_rate", o.encoder_rate},
                                    {"foot_error", o.foot_error},
                                    {"foot_speed", o.foot_speed},
                                    {"slip_time", o.slip_time}}) {
    check_not_negative(kCall, name, value);
  }
  for (const auto& [name, value] : {std::pair{"ground_deviation", o.ground_deviation},
                                    {"longest_gap", o.longest_gap},
                                    {"lost_gap", o.lost_gap},
                                    {"lost_speed", o.lost_speed},
                                    {"lost_time", o.lost_time},
                                    {"skew", o.skew}}) {
    check_positive(kCall, name, value);
  }
  if (!(o.encoder + o.foot_error > 0)) {
    throw Error("BaseEstimator: encoder and foot_error are both 0, expected at least one > 0");
  }
  if (!(o.gate > 0 && o.gate <= 1)) fail(kCall, "gate", to_text(o.gate), "above 0, at most 1");
  if (!(o.gyro_range > 0)) fail(kCall, "gyro_range", to_text(o.gyro_range), "> 0");
  if (!(o.accel_range > 0)) fail(kCall, "accel_range", to_text(o.accel_range), "> 0");
}

bool is_saturated(const Vec& x, double range) {
  return x.cwiseAbs().maxCoeff() >= 0.999 * range;
}

/// Scales rows and columns of three errors so that no variance exceeds a limit.
void bound_variances(int index, double limit, Matrix15& P) {
  for (int i = index; i < index + 3; ++i) {
    if (P(i, i) <= limit) continue;
    const double scale = std::sqrt(limit / P(i, i));
    P.row(i) *= scale;
    P.col(i) *= scale;
  }
}

/// Sets the covariance of the position, uncorrelated with the rest.
void set_position(const Mat& covariance, Matrix15& P) {
  const Mat given = covariance;
  P.middleRows<3>(ErrorIndex::position).setZero();
  P.middleCols<3>(ErrorIndex::position).setZero();
  P.block<3, 3>(ErrorIndex::position, ErrorIndex::position) = given;
}

}  // namespace

std::vector<EstimatorDiagnostics::Named> EstimatorDiagnostics::counts() const {
  return {{"imu_samples", imu_samples},
          {"imu_not_finite", imu_not_finite},
          {"imu_duplicate", imu_duplicate},
          {"imu_late", imu_late},
          {"imu_saturated", imu_saturated},
          {"imu_gaps", imu_gaps},
          {"imu_lost", imu_lost},
          {"clock_set_back", clock_set_back},
          {"rest_broken", rest_broken},
          {"leg_samples", leg_samples},
          {"leg_not_finite", leg_not_finite},
          {"leg_duplicate", leg_duplicate},
          {"leg_late", leg_late},
          {"leg_early", leg_early},
          {"contacts_made", contacts_made},
          {"contacts_broken", contacts_broken},
          {"contacts_not_finite", contacts_not_finite},
          {"feet_used", feet_used},
          {"feet_rejected", feet_rejected},
          {"slips", slips},
          {"fixes_used", fixes_used},
          {"fixes_rejected", fixes_rejected},
          {"updates_failed", updates_failed},
          {"velocity_lost", velocity_lost},
          {"feet_recovered", feet_recovered},
          {"fixes_recovered", fixes_recovered},
          {"rest_recovered", rest_recovered}};
}

BaseEstimator::BaseEstimator(const Model<double>& model, const std::vector<std::string>& feet,
                             const std::string& imu, const EstimatorOptions& options)
    : options_(options),
      legs_(model, feet, imu),
      filter_(make_filter(options.filter, filter_options(model, options))),
      rest_(options.initial, options.imu, model.gravity(), legs_.X_BS()),
      detectors_(feet.size(), ContactDetector(options.contact)),
      feet_(feet.size()) {
  check_options(options);
  for (int rows = 0; rows < 4; ++rows) {
    gates_[static_cast<std::size_t>(rows)] = options.gate < 1 && rows > 0
                                                 ? chi_square_quantile(options.gate, rows)
                                                 : std::numeric_limits<double>::infinity();
  }
  reset();
}

void BaseEstimator::reset() {
  ready_ = has_imu_ = lost_ = false;
  t_ = t_legs_ = t_monitor_ = kNever;
  t_late_ = kNoLate;
  feet_rejected_since_ = positions_rejected_since_ = yaws_rejected_since_ = std::nan("");
  diagnostics_ = {};
  rest_.reset();
  for (auto& detector : detectors_) detector.reset();
  for (auto& foot : feet_) foot = {};
}

void BaseEstimator::initialize(double t, const FilterState& state, const Matrix15& covariance) {
  check_finite("BaseEstimator::initialize", "t", t);
  filter_->reset(state, covariance);
  for (auto& foot : feet_) foot = {};
  for (auto& detector : detectors_) detector.reset();
  ready_ = true;
  has_imu_ = lost_ = false;
  t_ = t;
  t_legs_ = t_monitor_ = kNever;
  t_late_ = kNoLate;
  feet_rejected_since_ = positions_rejected_since_ = yaws_rejected_since_ = std::nan("");
}

Status BaseEstimator::imu(double t, const ImuSample& sample) {
  ++diagnostics_.imu_samples;
  if (!std::isfinite(t) || !sample.gyro.allFinite() || !sample.accel.allFinite()) {
    ++diagnostics_.imu_not_finite;
    return Status::not_finite;
  }
  if (t <= t_ && (has_imu_ || t < t_)) {
    ++(t == t_ ? diagnostics_.imu_duplicate : diagnostics_.imu_late);
    return t < t_ && handle_late_sample(t, sample) ? Status::ok : Status::rejected;
  }
  t_late_ = kNoLate;
  const ImuSample before = has_imu_ ? last_ : sample;
  const double T = t - t_;
  t_ = t;
  last_ = sample;
  has_imu_ = true;
  if (!ready_) {
    const bool done = rest_.add(t, sample) == Status::ok;
    diagnostics_.rest_broken = static_cast<std::uint64_t>(rest_.restarts());
    if (done) {
      filter_->reset(rest_.state(), rest_.covariance());
      ready_ = true;
    }
    return Status::ok;
  }
  if (T <= 0) return Status::ok;  // the first sample, at the time of the initial state
  if (T > options_.lost_gap) {
    // The position is still approximately known; the velocity is unknown.
    constexpr double kSpeed = 1, kTilt = 0.3, kFarthest = 100;
    ++diagnostics_.imu_lost;
    reset_velocity(kSpeed, std::min(kSpeed * T, kFarthest), kTilt);
    return Status::ok;
  }
  ImuNoise noise = options_.imu;
  if (T > options_.longest_gap) {
    // The motion between samples so far apart is uncertain.
    ++diagnostics_.imu_gaps;
    constexpr double kGap = 10;
    noise.gyro *= kGap;
    noise.accel *= kGap;
  }
  const bool gyro_cut = is_saturated(sample.gyro, options_.gyro_range),
             accel_cut = is_saturated(sample.accel, options_.accel_range);
  // The true value is beyond the range, by a fraction of it for the whole step: a density of
  // s sqrt(T).
  constexpr double kExcess = 0.3;
  if (gyro_cut) noise.gyro = std::max(noise.gyro, kExcess * options_.gyro_range * std::sqrt(T));
  if (accel_cut) noise.accel = std::max(noise.accel, kExcess * options_.accel_range * std::sqrt(T));
  if (gyro_cut || accel_cut) ++diagnostics_.imu_saturated;
  // Between two samples, their mean: of second order for motion that is smooth.
  const ImuSample held{(before.gyro + sample.gyro) / 2, (before.accel + sample.accel) / 2};
  if (const Status status = filter_->predict(held, T, noise); status != Status::ok) {
    ++diagnostics_.imu_not_finite;  // finite, but not plausible
    return status;
  }
  monitor(t, sample);
  return Status::ok;
}

bool BaseEstimator::is_synchronized(double t) const {
  return ready_ && std::abs(t - t_) <= options_.skew;
}

Status BaseEstimator::legs(double t, VectorIn<double>& q, VectorIn<double>& v,
                           std::span<const double> forces) {
  check_size("BaseEstimator::legs", "forces", static_cast<std::ptrdiff_t>(forces.size()),
             legs_.feet());
  ++diagnostics_.leg_samples;
  if (!std::isfinite(t)) {
    ++diagnostics_.leg_not_finite;
    return Status::not_finite;
  }
  if (t <= t_legs_) {
    ++(t == t_legs_ ? diagnostics_.leg_duplicate : diagnostics_.leg_late);
    return Status::rejected;
  }
  if (ready_ && !is_synchronized(t)) {
    ++(t < t_ ? diagnostics_.leg_late : diagnostics_.leg_early);
    return Status::rejected;
  }
  if (legs_.update(q, v) != Status::ok) {
    ++diagnostics_.leg_not_finite;
    return Status::not_finite;
  }
  t_legs_ = t;
  if (!ready_) return Status::not_ready;
  // Feet that lost contact are removed before the update; new ones are added after it.
  detect_contacts(t, forces);
  update_feet(t);
  if (options_.odometry == Odometry::velocity) return Status::ok;
  for (int i = 0; i < legs_.feet(); ++i) {
    if (feet_[static_cast<std::size_t>(i)].stands && filter_->state().slot_of(i) < 0) add_foot(i);
  }
  return Status::ok;
}

void BaseEstimator::add_foot(int foot) {
  if (filter_->state().feet == 0) decorrelate_position();
  filter_->add_foot(foot, legs_.p_SF(foot),
                    legs_.noise(foot, options_.encoder, options_.foot_error));
  const int slot = filter_->state().slot_of(foot);
  if (!std::isfinite(options_.ground_height) || slot < 0) return;
  apply_fix(foot_height(filter_->state(), slot, options_.ground_height, options_.ground_deviation));
}

void BaseEstimator::detect_contacts(double t, std::span<const double> forces) {
  for (int i = 0; i < legs_.feet(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (!std::isfinite(forces[k])) ++diagnostics_.contacts_not_finite;
    const bool stood = feet_[k].stands, stands = detectors_[k].update(t, forces[k]);
    feet_[k].stands = stands;
    if (stood && !stands) {
      ++diagnostics_.contacts_broken;
      filter_->remove_foot(i);
      feet_[k] = {};
    }
    if (!stood && stands) ++diagnostics_.contacts_made;
  }
}

BaseMeasurement BaseEstimator::measure_foot(int i, int slot) const {
  if (options_.odometry == Odometry::position) {
    return foot_position(filter_->state(), slot, legs_.p_SF(i),
                         legs_.noise(i, options_.encoder, options_.foot_error));
  }
  // Gyroscope noise acts through the lever arm of the leg; of a sample it is density /
  // sqrt(period).
  Mat noise = legs_.noise(i, options_.encoder_rate, options_.foot_speed);
  const Mat lever = skew<double>(legs_.p_SF(i));
  constexpr double kRate = 100;  // Hz, bandwidth after averaging
  noise += options_.imu.gyro * options_.imu.gyro * kRate * lever * lever.transpose();
  return foot_velocity(filter_->state(), last_.gyro, legs_.p_SF(i), legs_.v_SF(i), noise);
}

void BaseEstimator::update_feet(double t) {
  std::array<BaseMeasurement, kMaxFeet> measured;
  std::array<InnovationTest, kMaxFeet> tests;
  std::array<int, kMaxFeet> foot_of{};
  std::size_t count = 0;
  const bool by_position = options_.odometry == Odometry::position;
  for (int i = 0; i < legs_.feet(); ++i) {
    const int slot = filter_->state().slot_of(i);
    if (!feet_[static_cast<std::size_t>(i)].stands || (by_position && slot < 0)) continue;
    foot_of[count] = i;
    tests[count].gate = gates_[3];
    measured[count++] = measure_foot(i, slot);
  }
  if (count == 0) return;
  const UpdateResult result =
      filter_->update(std::span(measured.data(), count), std::span(tests.data(), count));
  std::uint64_t passed = 0;
  for (std::size_t k = 0; k < count; ++k) {
    FootStatus& foot = feet_[static_cast<std::size_t>(foot_of[k])];
    foot.nis = tests[k].nis;
    foot.used = tests[k].passed && result.ok();
    passed += tests[k].passed;
    if (tests[k].passed) {
      foot.refused_since = std::nan("");
      continue;
    }
    ++diagnostics_.feet_rejected;
    if (std::isnan(foot.refused_since)) foot.refused_since = t;
    if (by_position && t - foot.refused_since >= options_.slip_time) {
      // The foot has slipped; it is added again at its new position.
      ++diagnostics_.slips;
      filter_->remove_foot(foot_of[k]);
      foot.refused_since = std::nan("");
    }
  }
  if (passed > 0 && !result.ok()) ++diagnostics_.updates_failed;
  if (rejected_too_long(t, passed == 0 || !result.ok(), feet_rejected_since_)) {
    // All feet do not slip for so long: the state is wrong.
    constexpr double kSpeed = 1, kTilt = 0.3;
    ++diagnostics_.feet_recovered;
    reset_velocity(kSpeed, 0, kTilt);
    start_recovery();
  }
  if (passed == 0 || !result.ok()) return;
  diagnostics_.feet_used += passed;
  diagnostics_.nis_sum += result.nis;
  diagnostics_.nis_rows += static_cast<std::uint64_t>(result.rows);
}

Status BaseEstimator::apply_fix(const BaseMeasurement& m) {
  InnovationTest test{.gate = gates_[static_cast<std::size_t>(m.rows)]};
  const Status status = filter_->update(std::span(&m, 1), std::span(&test, 1)).status;
  ++(status == Status::ok ? diagnostics_.fixes_used : diagnostics_.fixes_rejected);
  return status;
}

Status BaseEstimator::position_fix(double t, const Vec& p_WQ, const Vec& p_BQ, const Mat& noise_W) {
  constexpr double kFarthest = 1e7;  // m, and written so that NaN is rejected
  const bool near = p_WQ.norm() < kFarthest && p_BQ.norm() < kFarthest;
  if (!is_synchronized(t) || !near || !noise_W.allFinite()) {
    ++diagnostics_.fixes_rejected;
    if (!ready_) return Status::not_ready;
    const bool finite =
        std::isfinite(t) && p_WQ.allFinite() && p_BQ.allFinite() && noise_W.allFinite();
    return finite ? Status::rejected : Status::not_finite;
  }
  const Status taken = apply_fix(position_measurement(p_WQ, p_BQ, noise_W));
  if (!rejected_too_long(t, taken != Status::ok, positions_rejected_since_)) return taken;
  ++diagnostics_.fixes_recovered;
  shift_position(position_measurement(p_WQ, p_BQ, noise_W).residual);
  return apply_fix(position_measurement(p_WQ, p_BQ, noise_W));
}

Status BaseEstimator::yaw_fix(double t, double yaw, double deviation) {
  const Vec x_S = legs_.X_BS().R.transpose().col(0);
  constexpr double kUpright = 0.1;  // the axis is nearly vertical: there is no yaw
  if (!is_synchronized(t) || !std::isfinite(yaw) || !(deviation > 0) ||
      (filter_->state().R_WS * x_S).head<2>().norm() < kUpright) {
    ++diagnostics_.fixes_rejected;
    if (!ready_) return Status::not_ready;
    const bool finite = std::isfinite(t) && std::isfinite(yaw) && std::isfinite(deviation);
    return finite ? Status::rejected : Status::not_finite;
  }
  const Status taken = apply_fix(limb::yaw_fix(filter_->state(), yaw, x_S, deviation));
  if (!rejected_too_long(t, taken != Status::ok, yaws_rejected_since_)) return taken;
  ++diagnostics_.fixes_recovered;
  rotate_heading(limb::yaw_fix(filter_->state(), yaw, x_S, deviation).residual[0], deviation);
  return apply_fix(limb::yaw_fix(filter_->state(), yaw, x_S, deviation));
}

// Recovery of a state that has been without measurements for too long, or that all measurements
// contradict.

void BaseEstimator::reset_velocity(double speed, double distance, double tilt) {
  FilterState state = filter_->state();
  Matrix15 P = filter_->common_covariance().topLeftCorner<kCoreSize, kCoreSize>();
  state.v_WS.setZero();
  P.middleRows<3>(ErrorIndex::velocity).setZero();
  P.middleCols<3>(ErrorIndex::velocity).setZero();
  P.block<3, 3>(ErrorIndex::velocity, ErrorIndex::velocity) = speed * speed * Mat::Identity();
  P.block<3, 3>(ErrorIndex::position, ErrorIndex::position).diagonal().array() +=
      distance * distance;
  P.block<3, 3>(ErrorIndex::rotation, ErrorIndex::rotation).diagonal().array() += tilt * tilt;
  // Beyond a radian the orientation is unknown.
  bound_variances(ErrorIndex::rotation, 1, P);
  filter_->try_reset(state, (P + P.transpose()) / 2);
  for (auto& foot : feet_) foot.refused_since = std::nan("");
}

void BaseEstimator::start_recovery() {
  lost_ = true;
  rest_.reset();
}

bool BaseEstimator::handle_late_sample(double t, const ImuSample& sample) {
  if (t <= t_late_) first_late_ = t;
  t_late_ = t;
  const double duration = t - first_late_;
  if (duration < options_.lost_gap) return false;
  ++diagnostics_.clock_set_back;
  constexpr double kSpeed = 1, kTilt = 0.3;
  const double inf = std::numeric_limits<double>::infinity();
  t_ = t;
  t_legs_ = t_monitor_ = -inf;
  t_late_ = inf;
  last_ = sample;
  has_imu_ = true;
  feet_rejected_since_ = positions_rejected_since_ = yaws_rejected_since_ = std::nan("");
  for (auto& foot : feet_) foot = {};
  for (auto& detector : detectors_) detector.reset();
  rest_.reset();
  if (ready_) reset_velocity(kSpeed, kSpeed * duration, kTilt);
  return true;
}

void BaseEstimator::decorrelate_position() {
  // If the velocity is uncertain by metres per second, feet measure it to a few millimetres per
  // second. Correlated over seconds of flight, that would correct centimetres of a position
  // uncertain by hundreds of metres: gains of 1e4 and more, whose rounding exceeds the information
  // of the feet.
  constexpr double kFast = 0.5;
  Matrix15 P = filter_->common_covariance().topLeftCorner<kCoreSize, kCoreSize>();
  if (P.diagonal().segment<3>(ErrorIndex::velocity).maxCoeff() <= kFast * kFast) return;
  set_position(P.block<3, 3>(ErrorIndex::position, ErrorIndex::position), P);
  filter_->try_reset(filter_->state(), P);
}

void BaseEstimator::monitor(double t, const ImuSample& sample) {
  if (lost_ && rest_.add(t, sample) == Status::ok) reinitialize_at_rest();
  // The variance of the velocity is checked only from time to time.
  constexpr double kPeriod = 0.1;
  if (t - t_monitor_ < kPeriod) return;
  t_monitor_ = t;
  const double largest =
      filter_->common_covariance().diagonal().segment<3>(ErrorIndex::velocity).maxCoeff();
  if (largest <= options_.lost_speed * options_.lost_speed) return;
  constexpr double kSpeed = 1;
  ++diagnostics_.velocity_lost;
  reset_velocity(kSpeed, 0, 0);
  if (!lost_) start_recovery();
}

void BaseEstimator::reinitialize_at_rest() {
  // Tilt, velocity and gyroscope bias from rest; position and heading are kept.
  lost_ = false;
  ++diagnostics_.rest_recovered;
  const FilterState& now = filter_->state();
  const Matrix15 before = filter_->common_covariance().topLeftCorner<kCoreSize, kCoreSize>();
  FilterState state = rest_.state();
  Matrix15 P = rest_.covariance();
  const Vec x_S = legs_.X_BS().R.transpose().col(0),
            up = -filter_->options().gravity_W.stableNormalized();
  const Vec x = state.R_WS * x_S, y = now.R_WS * x_S;
  const double yaw_change = std::atan2(up.dot(x.cross(y)), x.dot(y) - up.dot(x) * up.dot(y));
  state.R_WS = so3::exp<double>(yaw_change * up) * state.R_WS;
  state.p_WS = now.p_WS;
  P.block<3, 3>(ErrorIndex::position, ErrorIndex::position) =
      before.block<3, 3>(ErrorIndex::position, ErrorIndex::position);
  const Vec up_before = now.R_WS.transpose() * up, up_S = state.R_WS.transpose() * up;
  const double yaw =
      up_before.dot(before.block<3, 3>(ErrorIndex::rotation, ErrorIndex::rotation) * up_before);
  P.block<3, 3>(ErrorIndex::rotation, ErrorIndex::rotation) += yaw * up_S * up_S.transpose();
  filter_->try_reset(state, (P + P.transpose()) / 2);
  for (auto& foot : feet_) foot.refused_since = std::nan("");
}

void BaseEstimator::shift_position(const Vec& shift) {
  FilterState state = filter_->state();
  state.p_WS += shift;
  Matrix15 P = filter_->common_covariance().topLeftCorner<kCoreSize, kCoreSize>();
  // One metre; the following fix corrects it.
  set_position(Mat::Identity(), P);
  filter_->try_reset(state, P);
}

void BaseEstimator::rotate_heading(double yaw, double deviation) {
  FilterState state = filter_->state();
  const Mat R = so3::exp<double>(yaw * Vec::UnitZ());
  state.R_WS = renormalize<double>(R * state.R_WS);
  state.v_WS = R * state.v_WS;
  Matrix15 P = filter_->common_covariance().topLeftCorner<kCoreSize, kCoreSize>();
  const Vec up_S = state.R_WS.transpose().col(2);
  P.block<3, 3>(ErrorIndex::rotation, ErrorIndex::rotation) +=
      deviation * deviation * up_S * up_S.transpose();
  P.middleRows<3>(ErrorIndex::velocity) = (R * P.middleRows<3>(ErrorIndex::velocity)).eval();
  P.middleCols<3>(ErrorIndex::velocity) =
      (P.middleCols<3>(ErrorIndex::velocity) * R.transpose()).eval();
  set_position(P.block<3, 3>(ErrorIndex::position, ErrorIndex::position), P);
  filter_->try_reset(state, (P + P.transpose()) / 2);
}

bool BaseEstimator::rejected_too_long(double t, bool refused, double& since) const {
  if (!refused) {
    since = std::nan("");
    return false;
  }
  if (std::isnan(since)) since = t;
  if (t - since < options_.lost_time) return false;
  since = std::nan("");
  return true;
}

BaseMeasurement BaseEstimator::position_measurement(const Vec& p_WQ, const Vec& p_BQ,
                                                    const Mat& noise_W) const {
  const Pose<double>& X_BS = legs_.X_BS();
  return limb::position_fix(filter_->state(), p_WQ, X_BS.R.transpose() * (p_BQ - X_BS.p), noise_W);
}

BaseEstimate BaseEstimator::estimate() const {
  const FilterState& x = filter_->state();
  const Pose<double> X_SB = legs_.X_BS().inverse();
  const Vec w_S = last_.gyro - x.gyro_bias, swing = w_S.cross(X_SB.p);
  BaseEstimate e;
  e.t = t_;
  e.X_WB = Pose<double>{x.R_WS, x.p_WS} * X_SB;
  e.v_WB = x.v_WS + x.R_WS * swing;
  e.V_WB_B = {e.X_WB.R.transpose() * e.v_WB, X_SB.R.transpose() * w_S};
  e.gyro_bias = x.gyro_bias;
  e.accel_bias = x.accel_bias;
  // Jacobian of the errors of B with respect to those of S.
  Eigen::Matrix<double, 9, 12> J = Eigen::Matrix<double, 9, 12>::Zero();
  J.block<3, 3>(0, ErrorIndex::position).setIdentity();
  J.block<3, 3>(0, ErrorIndex::rotation) = -x.R_WS * skew<double>(X_SB.p);
  J.block<3, 3>(3, ErrorIndex::rotation) = X_SB.R.transpose();
  J.block<3, 3>(6, ErrorIndex::rotation) = -x.R_WS * skew<double>(swing);
  J.block<3, 3>(6, ErrorIndex::velocity).setIdentity();
  J.block<3, 3>(6, ErrorIndex::gyro_bias) = x.R_WS * skew<double>(X_SB.p);
  const Eigen::Matrix<double, 12, 12> P = filter_->common_covariance().topLeftCorner<12, 12>();
  e.covariance = J * P * J.transpose();
  return e;
}

void BaseEstimator::write_base(VectorOut<double> q, VectorOut<double> v) const {
  check_position("BaseEstimator::write_base", "q", legs_.model(), q);
  check_velocity("BaseEstimator::write_base", "v", legs_.model(), v);
  const BaseEstimate e = estimate();
  q.head<7>() << e.X_WB.p, quaternion_from_matrix(e.X_WB.R).xyzw();
  v.head<6>() = e.V_WB_B.vector();
}

}  // namespace limb
