#include "limb/estimate/base_estimator.hpp"

#include <cmath>

#include "limb/base/check.hpp"
#include "limb/estimate/chi_square.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Place = ErrorPlace;
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
    throw Error("BaseEstimator: encoder and foot_error are both 0, expected some error of legs");
  }
  if (!(o.gate > 0 && o.gate <= 1)) fail(kCall, "gate", to_text(o.gate), "above 0, at most 1");
  if (!(o.gyro_range > 0)) fail(kCall, "gyro_range", to_text(o.gyro_range), "> 0");
  if (!(o.accel_range > 0)) fail(kCall, "accel_range", to_text(o.accel_range), "> 0");
}

bool is_saturated(const Vec& x, double range) {
  return x.cwiseAbs().maxCoeff() >= 0.999 * range;
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
          {"feet_refused", feet_refused},
          {"slips", slips},
          {"fixes_used", fixes_used},
          {"fixes_refused", fixes_refused},
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
  t_ = t_legs_ = t_watch_ = kNever;
  t_late_ = kNoLate;
  feet_refused_since_ = positions_refused_since_ = yaws_refused_since_ = std::nan("");
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
  t_legs_ = t_watch_ = kNever;
  t_late_ = kNoLate;
  feet_refused_since_ = positions_refused_since_ = yaws_refused_since_ = std::nan("");
}

bool BaseEstimator::imu(double t, const ImuSample& sample) {
  ++diagnostics_.imu_samples;
  if (!std::isfinite(t) || !sample.gyro.allFinite() || !sample.accel.allFinite()) {
    ++diagnostics_.imu_not_finite;
    return false;
  }
  if (t <= t_ && (has_imu_ || t < t_)) {
    ++(t == t_ ? diagnostics_.imu_duplicate : diagnostics_.imu_late);
    return t < t_ && set_back(t, sample);
  }
  t_late_ = kNoLate;
  const ImuSample before = has_imu_ ? last_ : sample;
  const double T = t - t_;
  t_ = t;
  last_ = sample;
  has_imu_ = true;
  if (!ready_) {
    const bool done = rest_.add(t, sample);
    diagnostics_.rest_broken = static_cast<std::uint64_t>(rest_.restarts());
    if (done) {
      filter_->reset(rest_.state(), rest_.covariance());
      ready_ = true;
    }
    return true;
  }
  if (T <= 0) return true;  // the first sample, at the time of the initial state
  if (T > options_.lost_gap) {
    // Where it was is where it may still be; how it moves now nobody knows.
    constexpr double kSpeed = 1, kTilt = 0.3, kFarthest = 100;
    ++diagnostics_.imu_lost;
    forget(kSpeed, std::min(kSpeed * T, kFarthest), kTilt);
    return true;
  }
  ImuNoise noise = options_.imu;
  if (T > options_.longest_gap) {
    // Nobody knows what happened between two samples that are so far apart.
    ++diagnostics_.imu_gaps;
    constexpr double kGap = 10;
    noise.gyro *= kGap;
    noise.accel *= kGap;
  }
  const bool gyro_cut = is_saturated(sample.gyro, options_.gyro_range),
             accel_cut = is_saturated(sample.accel, options_.accel_range);
  // The truth is beyond the range, by a part of it for the whole step: a density of s sqrt(T).
  constexpr double kBeyond = 0.3;
  if (gyro_cut) noise.gyro = std::max(noise.gyro, kBeyond * options_.gyro_range * std::sqrt(T));
  if (accel_cut) noise.accel = std::max(noise.accel, kBeyond * options_.accel_range * std::sqrt(T));
  if (gyro_cut || accel_cut) ++diagnostics_.imu_saturated;
  // Between two samples, their mean: of second order for motion that is smooth.
  const ImuSample held{(before.gyro + sample.gyro) / 2, (before.accel + sample.accel) / 2};
  if (!filter_->predict(held, T, noise)) {
    ++diagnostics_.imu_not_finite;  // finite, but of no size that a robot can have
    return false;
  }
  watch(t, sample);
  return true;
}

bool BaseEstimator::in_step(double t) const {
  return ready_ && std::abs(t - t_) <= options_.skew;
}

bool BaseEstimator::legs(double t, VectorIn<double>& q, VectorIn<double>& v,
                         std::span<const double> forces) {
  check_size("BaseEstimator::legs", "forces", static_cast<std::ptrdiff_t>(forces.size()),
             legs_.feet());
  ++diagnostics_.leg_samples;
  if (!std::isfinite(t)) {
    ++diagnostics_.leg_not_finite;
    return false;
  }
  if (t <= t_legs_) {
    ++(t == t_legs_ ? diagnostics_.leg_duplicate : diagnostics_.leg_late);
    return false;
  }
  if (ready_ && !in_step(t)) {
    ++(t < t_ ? diagnostics_.leg_late : diagnostics_.leg_early);
    return false;
  }
  if (!legs_.update(q, v)) {
    ++diagnostics_.leg_not_finite;
    return false;
  }
  t_legs_ = t;
  if (!ready_) return false;
  // Feet that have left tell nothing any more; those that come down begin to.
  detect(t, forces);
  update_feet(t);
  if (options_.odometry == Odometry::velocity) return true;
  for (int i = 0; i < legs_.feet(); ++i) {
    if (feet_[static_cast<std::size_t>(i)].stands && filter_->state().slot_of(i) < 0) put_down(i);
  }
  return true;
}

void BaseEstimator::put_down(int foot) {
  if (filter_->state().feet == 0) part_position();
  filter_->add_foot(foot, legs_.p_SF(foot),
                    legs_.noise(foot, options_.encoder, options_.foot_error));
  const int slot = filter_->state().slot_of(foot);
  if (!std::isfinite(options_.ground_height) || slot < 0) return;
  take_fix(foot_height(filter_->state(), slot, options_.ground_height, options_.ground_deviation));
}

void BaseEstimator::detect(double t, std::span<const double> forces) {
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

BaseMeasurement BaseEstimator::measure(int i, int slot) const {
  if (options_.odometry == Odometry::position) {
    return foot_position(filter_->state(), slot, legs_.p_SF(i),
                         legs_.noise(i, options_.encoder, options_.foot_error));
  }
  // The gyroscope's own noise turns the leg; that of a sample is density / sqrt(period).
  Mat noise = legs_.noise(i, options_.encoder_rate, options_.foot_speed);
  const Mat lever = skew<double>(legs_.p_SF(i));
  constexpr double kRate = 100;  // Hz of what is left of it after averaging
  noise += options_.imu.gyro * options_.imu.gyro * kRate * lever * lever.transpose();
  return foot_velocity(filter_->state(), last_.gyro, legs_.p_SF(i), legs_.v_SF(i), noise);
}

void BaseEstimator::update_feet(double t) {
  std::array<BaseMeasurement, kMaxFeet> measured;
  std::array<InnovationTest, kMaxFeet> tests;
  std::array<int, kMaxFeet> whose{};
  std::size_t count = 0;
  const bool by_place = options_.odometry == Odometry::position;
  for (int i = 0; i < legs_.feet(); ++i) {
    const int slot = filter_->state().slot_of(i);
    if (!feet_[static_cast<std::size_t>(i)].stands || (by_place && slot < 0)) continue;
    whose[count] = i;
    tests[count].gate = gates_[3];
    measured[count++] = measure(i, slot);
  }
  if (count == 0) return;
  const UpdateResult result =
      filter_->update(std::span(measured.data(), count), std::span(tests.data(), count));
  std::uint64_t passed = 0;
  for (std::size_t k = 0; k < count; ++k) {
    FootStatus& foot = feet_[static_cast<std::size_t>(whose[k])];
    foot.nis = tests[k].nis;
    foot.used = tests[k].passed && result.accepted;
    passed += tests[k].passed;
    if (tests[k].passed) {
      foot.refused_since = std::nan("");
      continue;
    }
    ++diagnostics_.feet_refused;
    if (std::isnan(foot.refused_since)) foot.refused_since = t;
    if (by_place && t - foot.refused_since >= options_.slip_time) {
      // It has slid to another place, and from there on it stands again.
      ++diagnostics_.slips;
      filter_->remove_foot(whose[k]);
      foot.refused_since = std::nan("");
    }
  }
  if (passed > 0 && !result.accepted) ++diagnostics_.updates_failed;
  if (refused_for_long(t, passed == 0 || !result.accepted, feet_refused_since_)) {
    // Feet do not all slide for so long: it is the state that is wrong.
    constexpr double kSpeed = 1, kTilt = 0.3;
    ++diagnostics_.feet_recovered;
    forget(kSpeed, 0, kTilt);
    lose();
  }
  if (passed == 0 || !result.accepted) return;
  diagnostics_.feet_used += passed;
  diagnostics_.nis_sum += result.nis;
  diagnostics_.nis_rows += static_cast<std::uint64_t>(result.rows);
}

bool BaseEstimator::take_fix(const BaseMeasurement& m) {
  InnovationTest test{.gate = gates_[static_cast<std::size_t>(m.rows)]};
  if (!filter_->update(std::span(&m, 1), std::span(&test, 1)).accepted) {
    ++diagnostics_.fixes_refused;
    return false;
  }
  ++diagnostics_.fixes_used;
  return true;
}

bool BaseEstimator::position_fix(double t, const Vec& p_WQ, const Vec& p_BQ, const Mat& noise_W) {
  constexpr double kFarthest = 1e7;  // m, and written so that NaN is refused
  const bool near = p_WQ.norm() < kFarthest && p_BQ.norm() < kFarthest;
  if (!in_step(t) || !near || !noise_W.allFinite()) {
    ++diagnostics_.fixes_refused;
    return false;
  }
  const bool taken = take_fix(position_measurement(p_WQ, p_BQ, noise_W));
  if (!refused_for_long(t, !taken, positions_refused_since_)) return taken;
  ++diagnostics_.fixes_recovered;
  place_at(position_measurement(p_WQ, p_BQ, noise_W).residual);
  return take_fix(position_measurement(p_WQ, p_BQ, noise_W));
}

bool BaseEstimator::yaw_fix(double t, double yaw, double deviation) {
  const Vec x_S = legs_.X_BS().R.transpose().col(0);
  constexpr double kUpright = 0.1;  // the axis is nearly vertical: there is no yaw
  if (!in_step(t) || !std::isfinite(yaw) || !(deviation > 0) ||
      (filter_->state().R_WS * x_S).head<2>().norm() < kUpright) {
    ++diagnostics_.fixes_refused;
    return false;
  }
  const bool taken = take_fix(limb::yaw_fix(filter_->state(), yaw, x_S, deviation));
  if (!refused_for_long(t, !taken, yaws_refused_since_)) return taken;
  ++diagnostics_.fixes_recovered;
  turn_by(limb::yaw_fix(filter_->state(), yaw, x_S, deviation).residual[0], deviation);
  return take_fix(limb::yaw_fix(filter_->state(), yaw, x_S, deviation));
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
  // Errors of B by those of S.
  Eigen::Matrix<double, 9, 12> J = Eigen::Matrix<double, 9, 12>::Zero();
  J.block<3, 3>(0, Place::position).setIdentity();
  J.block<3, 3>(0, Place::rotation) = -x.R_WS * skew<double>(X_SB.p);
  J.block<3, 3>(3, Place::rotation) = X_SB.R.transpose();
  J.block<3, 3>(6, Place::rotation) = -x.R_WS * skew<double>(swing);
  J.block<3, 3>(6, Place::velocity).setIdentity();
  J.block<3, 3>(6, Place::gyro_bias) = x.R_WS * skew<double>(X_SB.p);
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
