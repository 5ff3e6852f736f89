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
                                    {"foot_radius", o.foot_radius},
                                    {"sole_length", o.sole_length},
                                    {"sole_width", o.sole_width},
                                    {"slip_time", o.slip_time}}) {
    check_not_negative(kCall, name, value);
  }
  for (const auto& [name, value] : {std::pair{"ground_deviation", o.ground_deviation},
                                    {"longest_gap", o.longest_gap},
                                    {"lost_gap", o.lost_gap},
                                    {"lost_speed", o.lost_speed},
                                    {"step_height", o.step_height},
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

bool has_soles(const EstimatorOptions& o) {
  return o.sole_length > 0 && o.sole_width > 0;
}
constexpr int kSolePoints = 3;

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
          {"imu_queued", imu_queued},
          {"leg_queued", leg_queued},
          {"gaps_bridged", gaps_bridged},
          {"reanchored", reanchored},
          {"biases_widened", biases_widened},
          {"standstills", standstills},
          {"bias_steps", bias_steps},
          {"heights_used", heights_used},
          {"heights_rejected", heights_rejected},
          {"heights_widened", heights_widened},
          {"velocity_lost", velocity_lost},
          {"feet_recovered", feet_recovered},
          {"fixes_recovered", fixes_recovered},
          {"rest_recovered", rest_recovered}};
}

const char* to_text(EstimatorEvent event) {
  switch (event) {
    case EstimatorEvent::imu_gap:
      return "IMU gap";
    case EstimatorEvent::imu_lost:
      return "IMU silent";
    case EstimatorEvent::clock_set_back:
      return "clock set back";
    case EstimatorEvent::slip:
      return "slip";
    case EstimatorEvent::reanchored:
      return "re-anchored on the feet";
    case EstimatorEvent::velocity_reset:
      return "velocity reset";
    case EstimatorEvent::feet_recovered:
      return "contradicted by all feet";
    case EstimatorEvent::fix_recovered:
      return "contradicted by fixes";
    case EstimatorEvent::rest_recovered:
      return "reinitialized at rest";
    case EstimatorEvent::biases_widened:
      return "biases widened";
    case EstimatorEvent::bias_step:
      return "gyroscope bias changed";
    case EstimatorEvent::height_widened:
      return "height widened";
  }
  return "";
}

BaseEstimator::BaseEstimator(const Model<double>& model, const std::vector<std::string>& feet,
                             const std::string& imu, const EstimatorOptions& options)
    : BaseEstimator(LegKinematics(model, feet, imu), options) {}

BaseEstimator::BaseEstimator(LegKinematics legs, const EstimatorOptions& options)
    : options_(options),
      legs_(std::move(legs)),
      filter_(make_filter(options.filter, filter_options(legs_.model(), options))),
      rest_(options.initial, options.imu, legs_.model().gravity(), legs_.X_BS(), options.adapt),
      detectors_(static_cast<std::size_t>(legs_.feet()), ContactDetector(options.contact)),
      feet_(static_cast<std::size_t>(legs_.feet())),
      measured_(static_cast<std::size_t>(legs_.feet())),
      statistics_(static_cast<std::size_t>(legs_.feet())),
      points_(has_soles(options) ? kSolePoints : 1),
      past_(kPast),
      imu_noise_(options.imu),
      foot_noise_(options.contact_noise) {
  check_options(options);
  if (std::isfinite(options.ground_height) && options.terrain == Terrain::unknown) {
    options_.terrain = Terrain::flat;
  }
  if (legs_.feet() * points_ > kMaxFeet) {
    fail("BaseEstimator", "feet", std::to_string(legs_.feet()) + " feet with soles", "at most 2");
  }
  for (int rows = 0; rows < 4; ++rows) {
    gates_[static_cast<std::size_t>(rows)] = options.gate < 1 && rows > 0
                                                 ? chi_square_quantile(options.gate, rows)
                                                 : std::numeric_limits<double>::infinity();
  }
  reset();
}

void BaseEstimator::reset() {
  ready_ = false;
  diagnostics_ = {};
  rest_.reset();
  for (auto& foot : statistics_) foot = {};
  monitor_.reset();
  event_count_ = 0;
  tread_count_ = heights_refused_ = 0;
  start_clock(kNever);
}

void BaseEstimator::start_clock(double t) {
  has_imu_ = lost_ = gap_open_ = false;
  t_ = t_imu_ = t;
  t_legs_ = t_monitor_ = t_feet_used_ = t_slips_ = t_biases_ = t_legs_used_ = t_gap_ = t_contacts_ =
      kNever;
  t_late_ = kNoLate;
  joint_slips_ = 0;
  feet_rejected_since_ = positions_rejected_since_ = yaws_rejected_since_ = std::nan("");
  for (auto& detector : detectors_) detector.reset();
  for (auto& foot : feet_) foot = {};
  for (auto& foot : measured_) foot.lifted = kNever;
  imu_clock_.reset();
  leg_clock_.reset();
  imu_noise_ = options_.imu;
  foot_noise_.reset();
  filter_->set_contact_noise(options_.contact_noise);
  variation_.reset();
  standstill_.reset();
  mean_sum_.setZero();
  mean_variance_ = mean_level_ = 0;
  shortest_swing_ = 0;
  past_next_ = past_count_ = 0;
}

void BaseEstimator::initialize(double t, const FilterState& state, const Matrix15& covariance) {
  check_finite("BaseEstimator::initialize", "t", t);
  filter_->reset(state, covariance);
  start_clock(t);
  ready_ = true;
}

void BaseEstimator::record(double t, EstimatorEvent kind, int foot, double size) {
  events_[event_count_++ % kEvents] = {t, kind, foot, size};
}

Status BaseEstimator::predict_gap(const ImuSample& held, double begin,
                                  const SignalVariation::Variance& at_begin, double end,
                                  const SignalVariation::Variance& at_end) {
  // At least tenfold noise: a robot at rest may move in a gap.
  constexpr double kGap = 10;
  ImuNoise noise = imu_noise_;
  noise.gyro *= kGap;
  noise.accel *= kGap;
  const double T = end - begin;
  const Vec force = held.accel - filter_->state().accel_bias;
  if (const Status status = filter_->predict(held, T, noise); status != Status::ok) return status;
  // The variances are means over a few strides: with about six of them, the next one has a
  // Student distribution, whose variance is 6 / (6 - 2) times larger.
  constexpr double kStudent = 1.5;
  // What is held differs from the mean of the signal over a time t by a variance V(t), angle and
  // velocity by t^2 V(t): the step adds what that grows by. As errors that are constant over the
  // step, a rate e / T turns the force by half of e, and an acceleration e / T moves by e T / 2.
  const auto growth = [&](const Vec& before, const Vec& after) -> Vec {
    return kStudent * (end * end * after - begin * begin * before).cwiseMax(0);
  };
  const Vec turn = growth(at_begin.gyro, at_end.gyro), push = growth(at_begin.accel, at_end.accel);
  const Mat R = filter_->state().R_WS, lever = -R * skew<double>(force);
  Eigen::Matrix<double, kCoreSize, 3> by_turn = Eigen::Matrix<double, kCoreSize, 3>::Zero(),
                                      by_push = by_turn;
  by_turn.middleRows<3>(ErrorIndex::rotation).setIdentity();
  by_turn.middleRows<3>(ErrorIndex::velocity) = T / 2 * lever;
  by_turn.middleRows<3>(ErrorIndex::position) = T * T / 6 * lever;
  by_push.middleRows<3>(ErrorIndex::velocity) = R;
  by_push.middleRows<3>(ErrorIndex::position) = T / 2 * R;
  Matrix15 added = by_turn * turn.asDiagonal() * by_turn.transpose() +
                   by_push * push.asDiagonal() * by_push.transpose();
  const Vec moment = kStudent * std::pow(T, 4) * at_end.moment;
  added.block<3, 3>(ErrorIndex::position, ErrorIndex::position) +=
      R * moment.asDiagonal() * R.transpose();
  filter_->widen((added + added.transpose()) / 2);
  return Status::ok;
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
  // Joint samples may have advanced the filter beyond the last IMU sample.
  const double T = t - t_, silent = t - t_imu_;
  const bool is_first = !has_imu_;
  const bool is_gap = !is_first && imu_clock_.is_gap(silent, options_.longest_gap);
  t_ = t_imu_ = t;
  last_ = sample;
  has_imu_ = true;
  if (!is_first) {
    imu_clock_.add(silent);
    if (imu_clock_.delay() > 0 && !is_gap) ++diagnostics_.imu_queued;
  }
  if (!ready_) {
    const bool done = rest_.add(t, sample) == Status::ok;
    diagnostics_.rest_broken = static_cast<std::uint64_t>(rest_.restarts());
    if (done) {
      filter_->reset(rest_.state(), rest_.covariance());
      imu_noise_ = rest_.noise();
      ready_ = true;
    }
    if (is_first || is_gap) variation_.restart();
    variation_.add(silent, sample);
    return Status::ok;
  }
  if (T <= 0) return Status::ok;  // the first sample, at the time of the initial state
  if (T > options_.lost_gap) {
    // The position is still approximately known; the velocity is unknown.
    constexpr double kSpeed = 1, kTilt = 0.3, kFarthest = 100;
    ++diagnostics_.imu_lost;
    record(t, EstimatorEvent::imu_lost, -1, T);
    monitor_.set_lost(t, "the IMU was silent for too long");
    reset_velocity(kSpeed, std::min(kSpeed * T, kFarthest), kTilt);
    return Status::ok;
  }
  ImuNoise noise = imu_noise_;
  // Between two samples, their mean: of second order for motion that is smooth.
  ImuSample held{(before.gyro + sample.gyro) / 2, (before.accel + sample.accel) / 2};
  bool is_bridged = false;
  if (is_gap) {
    ++diagnostics_.imu_gaps;
    record(t, EstimatorEvent::imu_gap, -1, silent);
    // After joint samples have bridged the gap, this sample for the rest of it.
    is_bridged = T < silent;
    if (is_bridged) held = sample;
    gap_open_ = true;
    t_gap_ = t;
  }
  const bool gyro_cut = is_saturated(sample.gyro, options_.gyro_range),
             accel_cut = is_saturated(sample.accel, options_.accel_range);
  // The true value is beyond the range, by a fraction of it for the whole step: a density of
  // s sqrt(T).
  constexpr double kExcess = 0.3;
  if (gyro_cut) noise.gyro = std::max(noise.gyro, kExcess * options_.gyro_range * std::sqrt(T));
  if (accel_cut) noise.accel = std::max(noise.accel, kExcess * options_.accel_range * std::sqrt(T));
  if (gyro_cut || accel_cut) ++diagnostics_.imu_saturated;
  const Status status =
      is_gap
          ? predict_gap(held, 0, {}, T, is_bridged ? variation_.of_last(T) : variation_.of_mean(T))
          : filter_->predict(held, T, noise);
  if (is_gap) {
    variation_.restart();
    standstill_.restart();
  }
  variation_.add(T, sample);
  if (status != Status::ok) {
    ++diagnostics_.imu_not_finite;  // finite, but not plausible
    return status;
  }
  if (standstill_.add(t, sample, imu_noise_)) measure_gyro_bias(t);
  monitor(t, sample);
  remember();
  return Status::ok;
}

void BaseEstimator::remember() {
  // Samples closer than this share an entry, so that the buffer spans kHistory.
  constexpr double kApart = kHistory / static_cast<double>(kPast - 1);
  const std::size_t newest = (past_next_ + kPast - 1) % kPast;
  if (past_count_ > 0 && t_ >= past_[newest].t && t_ - past_[newest].t < kApart) return;
  past_[past_next_] = {t_, filter_->state(), last_.gyro};
  past_next_ = (past_next_ + 1) % kPast;
  past_count_ = std::min(past_count_ + 1, kPast);
}

const BaseEstimator::PastState* BaseEstimator::past(double t) {
  const PastState *before = nullptr, *after = nullptr;
  for (std::size_t i = 0; i < past_count_; ++i) {
    const PastState& one = past_[i];
    if (one.t <= t && (before == nullptr || one.t > before->t)) before = &one;
    if (one.t >= t && (after == nullptr || one.t < after->t)) after = &one;
  }
  const PastState* nearest = before == nullptr              ? after
                             : after == nullptr             ? before
                             : t - before->t < after->t - t ? before
                                                            : after;
  if (nearest == nullptr || !(std::abs(nearest->t - t) <= options_.skew)) return nullptr;
  then_ = *nearest;
  if (before != nullptr && after != nullptr && after->t - before->t > 0 &&
      after->t - before->t <= 2 * options_.skew) {
    // Between two states: in some milliseconds a walking robot changes its velocity by centimetres
    // per second.
    const double share = (t - before->t) / (after->t - before->t);
    const FilterState &x = before->x, &y = after->x;
    then_.t = t;
    then_.x.p_WS = x.p_WS + share * (y.p_WS - x.p_WS);
    then_.x.v_WS = x.v_WS + share * (y.v_WS - x.v_WS);
    then_.x.R_WS = x.R_WS * so3::exp<double>(share * so3::log<double>(x.R_WS.transpose() * y.R_WS));
    then_.gyro = before->gyro + share * (after->gyro - before->gyro);
  }
  return &then_;
}

bool BaseEstimator::is_synchronized(double t) const {
  return ready_ && std::abs(t - t_) <= options_.skew;
}

Status BaseEstimator::check_leg_stamp(double t) {
  ++diagnostics_.leg_samples;
  if (!std::isfinite(t)) {
    ++diagnostics_.leg_not_finite;
    return Status::not_finite;
  }
  if (t <= t_legs_) {
    ++(t == t_legs_ ? diagnostics_.leg_duplicate : diagnostics_.leg_late);
    return Status::rejected;
  }
  if (ready_ && !bridge_gap(t) && !is_synchronized(t)) {
    ++(t < t_ ? diagnostics_.leg_late : diagnostics_.leg_early);
    return Status::rejected;
  }
  return Status::ok;
}

bool BaseEstimator::bridge_gap(double t) {
  const double silent = t - t_imu_, T = t - t_;
  if (!has_imu_ || !(T > 0) || silent > options_.lost_gap) return false;
  if (!imu_clock_.is_gap(silent, options_.longest_gap)) return false;
  const double begin = silent - T;
  if (predict_gap(last_, begin, variation_.of_last(begin), silent, variation_.of_last(silent)) !=
      Status::ok) {
    return false;
  }
  ++diagnostics_.gaps_bridged;
  t_ = t_gap_ = t;
  gap_open_ = true;
  remember();
  return true;
}

Status BaseEstimator::legs(double t, VectorIn<double>& q, VectorIn<double>& v,
                           std::span<const double> forces) {
  check_size("BaseEstimator::legs", "forces", static_cast<std::ptrdiff_t>(forces.size()),
             legs_.feet());
  if (const Status status = check_leg_stamp(t); status != Status::ok) return status;
  if (legs_.update(q, v) != Status::ok) {
    ++diagnostics_.leg_not_finite;
    return Status::not_finite;
  }
  const double since = t - t_legs_;
  if (legs_.imu_moves() && !ready_) rest_.set_mount(legs_.X_BS());
  for (int i = 0; i < legs_.feet(); ++i) {
    Measured& foot = measured_[static_cast<std::size_t>(i)];
    // Logs without joint velocities: differences of positions.
    const Vec change =
        std::isfinite(since) ? Vec((legs_.p_SF(i) - foot.p_SF) / since) : Vec::Zero();
    const double period = leg_clock_.period();
    const Vec difference = since < period ? Vec(change * (since / period)) : change;
    foot.v_SF = legs_.v_SF(i).isZero() ? difference : legs_.v_SF(i);
    foot.p_SF = legs_.p_SF(i);
    foot.R_SF = legs_.R_SF(i);
    foot.assumed = legs_.noise(i, options_.encoder, options_.foot_error);
    foot.noise = foot_noise_.scale() * foot.assumed;
  }
  return use_feet(t, forces);
}

Status BaseEstimator::feet(double t, std::span<const FootSample> samples) {
  check_size("BaseEstimator::feet", "samples", static_cast<std::ptrdiff_t>(samples.size()),
             legs_.feet());
  if (const Status status = check_leg_stamp(t); status != Status::ok) return status;
  for (const FootSample& one : samples) {
    if (one.p_BF.allFinite() && one.covariance.allFinite()) continue;
    ++diagnostics_.leg_not_finite;
    return Status::not_finite;
  }
  const double since = t - t_legs_;
  const Mat R_SB = legs_.X_BS().R.transpose();
  std::array<double, kMaxFeet> forces{};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Measured& foot = measured_[i];
    const Vec p_SF = R_SB * (samples[i].p_BF - legs_.X_BS().p);
    foot.v_SF = std::isfinite(since) ? Vec((p_SF - foot.p_SF) / since) : Vec::Zero();
    foot.p_SF = p_SF;
    foot.R_SF = R_SB;
    // A contact that is not certain counts less.
    constexpr double kLeast = 0.1, kLikely = 0.5, kUnlikely = 0.3;
    const double probability = samples[i].contact;
    foot.noise = R_SB * samples[i].covariance * R_SB.transpose() /
                 (probability > kLeast ? std::min(probability, 1.0) : kLeast);
    foot.assumed = foot.noise;
    forces[i] = std::isnan(probability)    ? probability
                : probability >= kLikely   ? options_.contact.make_force
                : probability >= kUnlikely ? options_.contact.break_force
                                           : 0;
  }
  return use_feet(t, std::span(forces.data(), samples.size()));
}

Status BaseEstimator::use_feet(double t, std::span<const double> forces) {
  if (std::isfinite(t_legs_)) leg_clock_.add(t - t_legs_);
  t_legs_ = t;
  std::array<bool, kMaxFeet> stands{};
  if (!ready_) {
    for (std::size_t i = 0; i < feet_.size(); ++i) {
      stands[i] = forces[i] >= options_.contact.make_force;
    }
    adapt_noise(t, stands);
    return Status::not_ready;
  }
  if (leg_clock_.delay() > leg_clock_.period()) {
    // A sample that may have waited in a queue: its errors are those of the others in the queue, so
    // that many of them would be believed.
    ++diagnostics_.leg_queued;
    return Status::rejected;
  }
  // Feet that lost contact are removed before the update; new ones are added after it.
  detect_contacts(t, forces);
  for (int i = 0; i < legs_.feet(); ++i) roll(i);
  // Without joint samples for long, feet may have been lifted and put down elsewhere.
  const bool may_have_stepped = t - t_legs_used_ > options_.longest_gap + leg_clock_.period();
  if (may_have_stepped && options_.odometry == Odometry::position) {
    // A robot that walks has probably done so, if the time was enough for a swing. Legs of one pair
    // swing together and keep their distance, and contacts may be reported late: then no foot is
    // known to stand where it stood.
    constexpr double kShare = 0.8;
    const double silent = t - t_legs_used_;
    if (is_walking(t_legs_used_) && !(silent < kShare * shortest_swing_)) {
      for (int i = 0; i < legs_.feet(); ++i) remove_foot(i);
    } else {
      drop_moved_feet(t);
    }
  }
  t_legs_used_ = t;
  update_feet(t);
  for (std::size_t i = 0; i < feet_.size(); ++i) stands[i] = feet_[i].stands && feet_[i].used;
  adapt_noise(t, stands);
  if (options_.odometry == Odometry::velocity) return Status::ok;
  for (int i = 0; i < legs_.feet(); ++i) {
    if (feet_[static_cast<std::size_t>(i)].stands && !has_slot(i)) add_foot(i);
  }
  return Status::ok;
}

bool BaseEstimator::is_walking(double t) const {
  constexpr double kWalking = 2;  // s since the last change of a contact
  return t - t_contacts_ < kWalking;
}

void BaseEstimator::adapt_noise(double t, const std::array<bool, kMaxFeet>& stands) {
  if (!options_.adapt || leg_clock_.delay() > 0) return;
  std::array<FootNoise::Foot, kMaxFeet> feet;
  const bool walks = ready_ && is_walking(t);
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    feet[i] = {measured_[i].p_SF, measured_[i].assumed, stands[i], walks};
  }
  foot_noise_.add(t, feet.data(), legs_.feet());
  filter_->set_contact_noise(foot_noise_.contact_noise());
}

bool BaseEstimator::has_slot(int foot) const {
  return filter_->state().slot_of(slot_number(foot, 0)) >= 0;
}

void BaseEstimator::remove_foot(int foot) {
  for (int point = 0; point < points_; ++point) filter_->remove_foot(slot_number(foot, point));
}

Vec BaseEstimator::p_SP(int foot, int point) const {
  const Measured& m = measured_[static_cast<std::size_t>(foot)];
  Vec p = m.p_SF;
  if (points_ > 1) {
    // A triangle about the frame.
    const double x = options_.sole_length / 2, y = options_.sole_width / 2;
    p += m.R_SF * (point == 0 ? Vec(x, 0, 0) : Vec(-x / 2, point == 1 ? y : -y, 0));
  }
  if (options_.foot_radius > 0) p -= filter_->state().R_WS.transpose() * m.rolled;
  return p;
}

Mat BaseEstimator::noise_of(int foot) const {
  const Measured& m = measured_[static_cast<std::size_t>(foot)];
  Mat noise = m.noise;
  if (const double delay = leg_clock_.delay(); delay > 0) {
    constexpr double kSpeed = 0.05;  // m/s, unknown
    noise += delay * delay * (m.v_SF * m.v_SF.transpose() + kSpeed * kSpeed * Mat::Identity());
  }
  // Points of one sole share the errors of its leg: together they count as one measurement.
  return points_ * noise;
}

void BaseEstimator::roll(int foot) {
  if (!(options_.foot_radius > 0)) return;
  Measured& m = measured_[static_cast<std::size_t>(foot)];
  const Mat R_WF = filter_->state().R_WS * m.R_SF;
  if (feet_[static_cast<std::size_t>(foot)].stands && has_slot(foot)) {
    // The velocity of the point on the ground is zero: v - w x (radius up) = 0 for the centre.
    const Vec up = -filter_->options().gravity_W.stableNormalized();
    const Vec turn = so3::log<double>(R_WF * m.R_WF.transpose());
    m.rolled += turn.cross(options_.foot_radius * up);
  } else {
    m.rolled.setZero();
  }
  m.R_WF = R_WF;
}

void BaseEstimator::add_foot(int foot) {
  if (filter_->state().feet == 0) decorrelate_position();
  Measured& m = measured_[static_cast<std::size_t>(foot)];
  m.rolled.setZero();
  m.contact_since = t_;
  for (int point = 0; point < points_; ++point) {
    filter_->add_foot(slot_number(foot, point), p_SP(foot, point), noise_of(foot));
  }
  measure_terrain(foot);
}

void BaseEstimator::measure_terrain(int foot) {
  if (options_.terrain == Terrain::unknown) return;
  const int slot = filter_->state().slot_of(slot_number(foot, 0));
  if (slot < 0) return;
  const Vec up = -filter_->options().gravity_W.stableNormalized();
  const double z =
      filter_->state().p_WF[static_cast<std::size_t>(slot)].dot(up) - options_.foot_radius;
  double height = options_.ground_height;
  if (options_.terrain == Terrain::flat && std::isnan(height)) {
    if (tread_count_ == 0) treads_[static_cast<std::size_t>(tread_count_++)] = z;
    height = treads_[0];
  } else if (options_.terrain == Terrain::steps) {
    double nearest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < tread_count_; ++i) {
      const double tread = treads_[static_cast<std::size_t>(i)];
      if (std::abs(tread - z) < std::abs(nearest - z)) nearest = tread;
    }
    if (!(std::abs(nearest - z) <= options_.step_height / 2)) {
      // A tread that no foot has touched before.
      if (tread_count_ < static_cast<int>(treads_.size())) {
        treads_[static_cast<std::size_t>(tread_count_++)] = z;
      }
      return;
    }
    height = nearest;
  }
  const double residual = height - z;
  const auto measurement = [&] {
    return foot_height(filter_->state(), slot, height + options_.foot_radius,
                       options_.ground_deviation);
  };
  BaseMeasurement m = measurement();
  InnovationTest test{.gate = gates_[1]};
  if (filter_->update(std::span(&m, 1), std::span(&test, 1)).ok()) {
    ++diagnostics_.heights_used;
    heights_refused_ = 0;
    return;
  }
  ++diagnostics_.heights_rejected;
  // One foot may stand on something. Two in a row that agree: the height of the base has drifted.
  const bool agrees =
      heights_refused_ > 0 && std::abs(residual - refused_height_) < 3 * options_.ground_deviation;
  refused_height_ = residual;
  heights_refused_ = agrees ? heights_refused_ + 1 : 1;
  if (heights_refused_ < 2) return;
  heights_refused_ = 0;
  ++diagnostics_.heights_widened;
  record(t_, EstimatorEvent::height_widened, foot, residual);
  filter_->widen_position(residual * residual * up * up.transpose());
  m = measurement();
  filter_->update(std::span(&m, 1));
}

void BaseEstimator::detect_contacts(double t, std::span<const double> forces) {
  for (int i = 0; i < legs_.feet(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (!std::isfinite(forces[k])) ++diagnostics_.contacts_not_finite;
    const bool stood = feet_[k].stands, stands = detectors_[k].update(t, forces[k]);
    feet_[k].stands = stands;
    if (stood && !stands) {
      t_contacts_ = measured_[k].lifted = t;
      ++diagnostics_.contacts_broken;
      statistics_[k].time_in_contact += std::max(0.0, t - measured_[k].contact_since);
      remove_foot(i);
      feet_[k] = {};
    }
    if (!stood && stands) {
      if (const double swing = t - measured_[k].lifted; std::isfinite(swing) && swing > 0) {
        // The shortest one of the last ones: it is forgotten slowly.
        constexpr double kGrowth = 1.05;
        t_contacts_ = t;
        shortest_swing_ = shortest_swing_ > 0 ? std::min(kGrowth * shortest_swing_, swing) : swing;
      }
      ++diagnostics_.contacts_made;
      measured_[k].contact_since = t;
    }
  }
}

BaseMeasurement BaseEstimator::measure_foot(int i, int point) const {
  const Measured& foot = measured_[static_cast<std::size_t>(i)];
  if (options_.odometry == Odometry::position) {
    const int slot = filter_->state().slot_of(slot_number(i, point));
    return foot_position(filter_->state(), slot, p_SP(i, point), noise_of(i));
  }
  // Gyroscope noise acts through the lever arm of the leg; of a sample it is density /
  // sqrt(period).
  Mat noise = legs_.noise(i, options_.encoder_rate, options_.foot_speed);
  const Mat lever = skew<double>(foot.p_SF);
  constexpr double kRate = 100;  // Hz, bandwidth after averaging
  noise += imu_noise_.gyro * imu_noise_.gyro * kRate * lever * lever.transpose();
  return foot_velocity(filter_->state(), last_.gyro, foot.p_SF, foot.v_SF, noise);
}

bool BaseEstimator::feet_agree(int i, int j) const {
  // A distance between feet does not depend on the state of the base. It has the noise of two legs
  // and the random walk of two feet.
  constexpr double kDeviations = 4;
  const double contact_noise = filter_->options().contact_noise;
  const FilterState& x = filter_->state();
  const auto anchor = [&](int foot) {
    return x.p_WF[static_cast<std::size_t>(x.slot_of(slot_number(foot, 0)))];
  };
  const double now = (p_SP(i, 0) - p_SP(j, 0)).norm(), then = (anchor(i) - anchor(j)).norm();
  const double since = std::min(measured_[static_cast<std::size_t>(i)].contact_since,
                                measured_[static_cast<std::size_t>(j)].contact_since);
  const double variance = (noise_of(i).trace() + noise_of(j).trace()) / 3 +
                          2 * contact_noise * contact_noise * (std::max(0.0, t_ - since) + 1);
  return std::abs(now - then) <= kDeviations * std::sqrt(variance);
}

bool BaseEstimator::feet_agree() const {
  int pairs = 0;
  for (int i = 0; i < legs_.feet(); ++i) {
    for (int j = 0; j < i; ++j) {
      if (!has_slot(i) || !has_slot(j)) continue;
      if (!feet_agree(i, j)) return false;
      ++pairs;
    }
  }
  return pairs > 0;
}

void BaseEstimator::drop_moved_feet(double t) {
  // The foot that the prediction confirms best, and those that keep their distance from it.
  int best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < legs_.feet(); ++i) {
    if (!feet_[static_cast<std::size_t>(i)].stands || !has_slot(i)) continue;
    const double nis = filter_->innovation(measure_foot(i, 0));
    if (nis >= least) continue;
    least = nis;
    best = i;
  }
  for (int i = 0; best >= 0 && i < legs_.feet(); ++i) {
    if (i == best || !has_slot(i) || feet_agree(i, best)) continue;
    ++diagnostics_.slips;
    ++statistics_[static_cast<std::size_t>(i)].slips;
    record(t, EstimatorEvent::slip, i, measure_foot(i, 0).residual.norm());
    remove_foot(i);
  }
}

void BaseEstimator::update_feet(double t) {
  std::array<BaseMeasurement, kMaxFeet> measured;
  std::array<InnovationTest, kMaxFeet> tests;
  std::array<int, kMaxFeet> foot_of{};
  std::size_t count = 0;
  const bool by_position = options_.odometry == Odometry::position;
  const int points = by_position ? points_ : 1;
  const auto measure = [&] {
    count = 0;
    for (int i = 0; i < legs_.feet(); ++i) {
      if (!feet_[static_cast<std::size_t>(i)].stands || (by_position && !has_slot(i))) continue;
      for (int point = 0; point < points; ++point) {
        foot_of[count] = i;
        tests[count].gate = gates_[3];
        measured[count++] = measure_foot(i, point);
      }
    }
  };
  measure();
  if (count == 0) return;
  const auto update = [&] {
    return filter_->update(std::span(measured.data(), count), std::span(tests.data(), count));
  };
  const auto count_passed = [&] {
    int passed = 0;
    for (std::size_t k = 0; k < count; ++k) passed += tests[k].passed;
    return passed;
  };
  UpdateResult result = update();
  int passed = count_passed();
  const int refused_first = static_cast<int>(count) - passed;
  if (passed == 0 && by_position) {
    double largest = 0;
    for (std::size_t k = 0; k < count; ++k) {
      largest = std::max(largest, measured[k].residual.norm());
    }
    if (reanchor(t, largest)) {
      measure();
      result = update();
      passed = count_passed();
    }
  }
  // Feet that are refused while others are not move relative to them: they slip. If all are
  // refused, wait until they can be judged together.
  const bool all_refused = passed == 0;
  constexpr double kJudge = 2;  // times slip_time
  bool slipped = false;
  Vec common = Vec::Zero();  // sum of the whitened innovations
  int common_feet = 0;
  for (std::size_t k = 0; k < count; k += static_cast<std::size_t>(points)) {
    const int i = foot_of[k];
    FootStatus& foot = feet_[static_cast<std::size_t>(i)];
    FootStatistics& statistics = statistics_[static_cast<std::size_t>(i)];
    ++statistics.measured;
    foot.nis = 0;
    bool all_passed = true;
    double residual = 0;
    for (int point = 0; point < points; ++point) {
      const std::size_t p = k + static_cast<std::size_t>(point);
      foot.nis += tests[p].nis / points;
      all_passed = all_passed && tests[p].passed;
      residual = std::max(residual, measured[p].residual.norm());
    }
    foot.used = all_passed && result.ok();
    // Innovations beyond the gate count as if at it. A foot that stands for long shows the errors
    // of its leg model, not those of the IMU.
    const double cut = std::min(1.0, std::sqrt(tests[k].gate / std::max(tests[k].nis, 1e-9)));
    constexpr double kYoung = 1;  // s
    if (std::isfinite(tests[k].nis) && !gap_open_ && leg_clock_.delay() == 0 &&
        t - measured_[static_cast<std::size_t>(i)].contact_since < kYoung) {
      common += cut * tests[k].whitened;
      ++common_feet;
    }
    if (all_passed) {
      foot.refused_since = std::nan("");
      if (foot.used) {
        ++statistics.used;
        statistics.nis_sum += foot.nis;
      }
      continue;
    }
    ++diagnostics_.feet_rejected;
    ++statistics.refused;
    if (std::isnan(foot.refused_since)) foot.refused_since = t;
    const double refused = t - foot.refused_since;
    statistics.longest_refusal = std::max(statistics.longest_refusal, refused);
    if (by_position && refused >= (all_refused ? kJudge : 1) * options_.slip_time) {
      // The foot has slipped; it is added again at its new position.
      ++diagnostics_.slips;
      ++statistics.slips;
      record(t, EstimatorEvent::slip, i, residual);
      remove_foot(i);
      foot.refused_since = std::nan("");
      slipped = true;
    }
  }
  if (passed > 0 && !result.ok()) ++diagnostics_.updates_failed;
  if (slipped && all_refused) {
    // All feet at once. Once is a slide; again and again within a second, the state is wrong.
    constexpr double kOften = 1;
    constexpr int kTooOften = 3;
    joint_slips_ = t - t_slips_ < kOften ? joint_slips_ + 1 : 1;
    t_slips_ = t;
    if (joint_slips_ >= kTooOften) {
      joint_slips_ = 0;
      recover_from_feet(t);
    }
  }
  if (rejected_too_long(t, passed == 0 || !result.ok(), feet_rejected_since_)) recover_from_feet(t);
  monitor_.add(t, result.ok() ? result.nis : 0, result.ok() ? result.rows : 0,
               static_cast<int>(count), gap_open_ ? 0 : refused_first);
  if (passed == 0 || !result.ok()) return;
  // Position is confirmed at once, velocity only after a while.
  if (t - t_gap_ >= options_.slip_time) gap_open_ = false;
  const double age = std::isfinite(t_feet_used_) ? t - t_feet_used_ : 0;
  t_feet_used_ = t;
  if (by_position && options_.gate < 1) test_innovation_means(t, age, common, common_feet);
  diagnostics_.feet_used += static_cast<std::uint64_t>(passed / points);
  diagnostics_.nis_sum += result.nis;
  diagnostics_.nis_rows += static_cast<std::uint64_t>(result.rows);
}

void BaseEstimator::test_innovation_means(double t, double age, const Vec& common, int feet) {
  // A wrong bias moves all feet alike. The sum of their whitened innovations is white noise; its
  // variance is measured, since feet share the error of the base. Its fading sum, normalized, is
  // chi-square distributed with three degrees of freedom: beyond 16 with a probability of 1.1e-3.
  // A slip moves one foot only, and is cut at the gate.
  constexpr double kBound = 16, kPause = 0.5, kMemory = 0.5, kLevel = 5;  // s
  age = std::min(age, 1.0);
  const double fade = std::exp(-age / kMemory);
  mean_sum_ *= fade;
  mean_variance_ *= fade * fade;
  if (feet < 2) return;
  const double share = std::min(1.0, age / kLevel), square = common.squaredNorm() / 3;
  mean_level_ = mean_level_ > 0 ? mean_level_ + share * (square - mean_level_) : feet;
  mean_sum_ += common;
  mean_variance_ += std::max(mean_level_, 0.5 * feet);
  const double largest = mean_sum_.squaredNorm() / mean_variance_;
  if (!(largest > kBound) || t - t_biases_ < kPause) return;
  t_biases_ = t;
  ++diagnostics_.biases_widened;
  record(t, EstimatorEvent::biases_widened, -1, largest);
  // Steps of the biases of a MEMS unit, and what they have caused until now: gravity is felt
  // elsewhere, so that tilt and velocity have followed. Rates about the vertical do not show so.
  constexpr double kGyro = 2e-3, kAccel = 0.04, kTilt = 3e-3, kSpeed = 0.01, kDrift = 3e-3;
  const double size = std::clamp(std::sqrt(largest / 50), 1.0, 3.0);
  const Vec up = -filter_->options().gravity_W.stableNormalized(),
            up_S = filter_->state().R_WS.transpose() * up;
  const Mat level = Mat::Identity() - up_S * up_S.transpose();
  Matrix15 added = Matrix15::Zero();
  const auto add = [&](int index, double deviation, const Mat& directions) {
    added.block<3, 3>(index, index) = size * size * deviation * deviation * directions;
  };
  add(ErrorIndex::gyro_bias, kGyro, level);
  add(ErrorIndex::accel_bias, kAccel, Mat::Identity());
  add(ErrorIndex::rotation, kTilt, level);
  add(ErrorIndex::velocity, kSpeed, Mat::Identity());
  filter_->widen(added);
  filter_->widen_position(size * size * kDrift * kDrift * Mat::Identity());
  // What exceeds the bound by far is not a step of a bias that the filter follows.
  constexpr double kFar = 100;
  if (largest > kFar) monitor_.add_bias(t, largest);
  mean_sum_.setZero();
  mean_variance_ = 0;
}

void BaseEstimator::measure_gyro_bias(double t) {
  // Not in free fall, and not on one foot only.
  int standing = 0;
  for (const FootStatus& foot : feet_) standing += foot.stands && foot.used;
  if (!options_.adapt || standing < std::min(2, legs_.feet()) || legs_.imu_moves()) return;
  // A slow sway near its largest rate looks like standstill, too; the bias of a MEMS unit does not
  // change by so much.
  constexpr double kLargestStep = 6e-3;  // rad/s
  if ((standstill_.rate() - filter_->state().gyro_bias).norm() > kLargestStep) return;
  ++diagnostics_.standstills;
  const double noise = imu_noise_.gyro * imu_noise_.gyro / StandstillDetector::kWindow +
                       options_.initial.gyro_bias_deviation * options_.initial.gyro_bias_deviation;
  const BaseMeasurement m =
      zero_rate(filter_->state(), standstill_.rate(), noise * Mat::Identity());
  const FilterMatrix P = filter_->common_covariance();
  double largest = 0;
  for (int i = 0; i < 3; ++i) {
    // Beyond 2.5 deviations the square itself is the best estimate of the variance of a step.
    constexpr double kDeviations = 2.5;
    const int index = ErrorIndex::gyro_bias + i;
    const double square = m.residual[i] * m.residual[i], expected = P(index, index) + noise;
    if (square <= kDeviations * kDeviations * expected) continue;
    filter_->widen_step(index, square - expected);
    largest = std::max(largest, std::sqrt(square));
  }
  if (largest > 0) {
    ++diagnostics_.bias_steps;
    record(t, EstimatorEvent::bias_step, -1, largest);
  }
  if (!filter_->update(m).ok()) ++diagnostics_.updates_failed;
}

void BaseEstimator::recover_from_feet(double t) {
  // All feet do not slip for so long: the state is wrong.
  constexpr double kSpeed = 1, kTilt = 0.3;
  ++diagnostics_.feet_recovered;
  record(t, EstimatorEvent::feet_recovered, -1, 0);
  monitor_.set_lost(t, "all feet contradicted the state");
  reset_velocity(kSpeed, 0, kTilt);
  start_recovery();
}

bool BaseEstimator::reanchor(double t, double innovation) {
  const double since = t - (std::isfinite(t_feet_used_) ? t_feet_used_ : t_imu_);
  const double refused = std::isnan(feet_rejected_since_) ? 0 : t - feet_rejected_since_;
  bool feet_may_slip = false;
  if (!gap_open_) {
    // Without a gap, an IMU in order predicts well for a tenth of a second: what moves fast are the
    // feet. What moves slowly and together may be either, so both are widened.
    constexpr double kSpeed = 0.05, kAccel = 1.5;  // m/s, m/s^2, of a wrong prediction
    if (refused < 2 * options_.slip_time || !feet_agree()) return false;
    if (innovation > kSpeed * since + kAccel * since * since / 2) return false;
    feet_may_slip = true;
  } else if (filter_->state().feet >= 2 * points_ && !feet_agree()) {
    // Some of them have moved during the gap: those that did not pass the gate.
    if (refused < options_.slip_time) return false;
  }
  ++diagnostics_.reanchored;
  record(t, EstimatorEvent::reanchored, -1, innovation);
  constexpr double kLever = 1, kShortest = 0.05, kFastest = 1;
  const auto square = [](double x) { return x * x; };
  Matrix15 added = Matrix15::Zero();
  const auto add = [&](int index, double deviation) {
    added.block<3, 3>(index, index).diagonal().setConstant(square(deviation));
  };
  add(ErrorIndex::position, innovation);
  add(ErrorIndex::rotation, innovation / kLever);
  add(ErrorIndex::velocity, std::min(kFastest, innovation / std::max(since, kShortest)));
  if (feet_may_slip) {
    constexpr double kGyroBias = 0.01, kAccelBias = 0.1;
    add(ErrorIndex::gyro_bias, kGyroBias);
    add(ErrorIndex::accel_bias, kAccelBias);
    for (int i = 0; i < legs_.feet() * points_; ++i) filter_->widen_foot(i, innovation);
  }
  return filter_->widen(added) == Status::ok;
}

Status BaseEstimator::apply_fix(const BaseMeasurement& m) {
  InnovationTest test{.gate = gates_[static_cast<std::size_t>(m.rows)]};
  const FilterState before = filter_->state();
  const Status status = filter_->update(std::span(&m, 1), std::span(&test, 1)).status;
  ++(status == Status::ok ? diagnostics_.fixes_used : diagnostics_.fixes_rejected);
  if (status != Status::ok) return status;
  // Past states have the error of the present one: they move with it, as one scene, so that the
  // next delayed fix does not correct the same error again.
  const FilterState& after = filter_->state();
  const Mat turn = after.R_WS * before.R_WS.transpose();
  for (std::size_t i = 0; i < past_count_; ++i) {
    FilterState& x = past_[i].x;
    x.p_WS = after.p_WS + turn * (x.p_WS - before.p_WS);
    x.v_WS = after.v_WS + turn * (x.v_WS - before.v_WS);
    x.R_WS = renormalize<double>(turn * x.R_WS);
    x.gyro_bias += after.gyro_bias - before.gyro_bias;
    x.accel_bias += after.accel_bias - before.accel_bias;
  }
  return status;
}

double BaseEstimator::drift_over(double delay) const {
  if (!(delay > 0)) return 0;
  const FilterMatrix P = filter_->common_covariance();
  return delay * std::sqrt(P.diagonal().segment<3>(ErrorIndex::velocity).maxCoeff());
}

namespace {

/// A measurement of a past state, for the present one: the same error, with the noise of its
/// growth.
BaseMeasurement at_present(BaseMeasurement present, const BaseMeasurement& then, double deviation) {
  present.residual = then.residual;
  present.noise.diagonal().head(present.rows).array() += deviation * deviation;
  return present;
}

}  // namespace

Status BaseEstimator::position_fix(double t, const Vec& p_WQ, const Vec& p_BQ, const Mat& noise_W) {
  constexpr double kFarthest = 1e7;  // m, and written so that NaN is rejected
  const bool near = p_WQ.norm() < kFarthest && p_BQ.norm() < kFarthest;
  const PastState* then = ready_ && t < t_ - options_.skew ? past(t) : nullptr;
  if ((!is_synchronized(t) && then == nullptr) || !near || !noise_W.allFinite()) {
    ++diagnostics_.fixes_rejected;
    if (!ready_) return Status::not_ready;
    const bool finite =
        std::isfinite(t) && p_WQ.allFinite() && p_BQ.allFinite() && noise_W.allFinite();
    return finite ? Status::rejected : Status::not_finite;
  }
  const auto measurement = [&] {
    const BaseMeasurement now = position_measurement(filter_->state(), p_WQ, p_BQ, noise_W);
    if (then == nullptr) return now;
    return at_present(now, position_measurement(then->x, p_WQ, p_BQ, noise_W),
                      drift_over(t_ - then->t));
  };
  const BaseMeasurement m = measurement();
  const Status taken = apply_fix(m);
  if (!rejected_too_long(t, taken != Status::ok, positions_rejected_since_)) return taken;
  ++diagnostics_.fixes_recovered;
  record(t_, EstimatorEvent::fix_recovered, -1, m.residual.norm());
  shift_position(m.residual);
  past_count_ = past_next_ = 0;
  then = nullptr;
  return apply_fix(position_measurement(filter_->state(),
                                        filter_->state().p_WS + filter_->state().R_WS *
                                                                    legs_.X_BS().R.transpose() *
                                                                    (p_BQ - legs_.X_BS().p),
                                        p_BQ, noise_W));
}

Status BaseEstimator::orientation_fix(double t, const Mat& R_WB, double deviation) {
  const PastState* then = ready_ && t < t_ - options_.skew ? past(t) : nullptr;
  const bool valid = R_WB.allFinite() && is_rotation<double>(R_WB, 1e-6) && deviation > 0 &&
                     std::isfinite(deviation);
  if ((!is_synchronized(t) && then == nullptr) || !valid) {
    ++diagnostics_.fixes_rejected;
    if (!ready_) return Status::not_ready;
    return valid && std::isfinite(t) ? Status::rejected : Status::not_finite;
  }
  const Mat R_WS = R_WB * legs_.X_BS().R, noise = deviation * deviation * Mat::Identity();
  BaseMeasurement m = limb::orientation_fix(filter_->state(), R_WS, noise);
  if (then != nullptr) m = at_present(m, limb::orientation_fix(then->x, R_WS, noise), 0);
  return apply_fix(m);
}

Status BaseEstimator::velocity_fix(double t, const Vec& v_WB, const Mat& noise, bool in_base_axes) {
  const PastState* then = ready_ && t < t_ - options_.skew ? past(t) : nullptr;
  const bool valid = v_WB.allFinite() && noise.allFinite();
  if ((!is_synchronized(t) && then == nullptr) || !valid) {
    ++diagnostics_.fixes_rejected;
    if (!ready_) return Status::not_ready;
    return valid && std::isfinite(t) ? Status::rejected : Status::not_finite;
  }
  const Pose<double> X_SB = legs_.X_BS().inverse();
  const Vec v = in_base_axes ? Vec(X_SB.R * v_WB) : v_WB;
  const Mat N = in_base_axes ? Mat(X_SB.R * noise * X_SB.R.transpose()) : noise;
  const auto measured = [&](const FilterState& x, const Vec& gyro) {
    return limb::velocity_fix(x, gyro, v, X_SB.p, N, in_base_axes);
  };
  BaseMeasurement m = measured(filter_->state(), last_.gyro);
  if (then != nullptr) {
    // Feet correct the velocity within a tenth of a second: its error of then is not that of now.
    constexpr double kMemory = 0.05;  // s
    const double delay = t_ - then->t;
    m = at_present(m, measured(then->x, then->gyro),
                   drift_over(delay) / delay * std::min(std::sqrt(2.0), delay / kMemory));
  }
  return apply_fix(m);
}

Status BaseEstimator::yaw_fix(double t, double yaw, double deviation) {
  const Vec x_S = legs_.X_BS().R.transpose().col(0);
  constexpr double kUpright = 0.1;  // the axis is nearly vertical: there is no yaw
  const PastState* then = ready_ && t < t_ - options_.skew ? past(t) : nullptr;
  if ((!is_synchronized(t) && then == nullptr) || !std::isfinite(yaw) || !(deviation > 0) ||
      (filter_->state().R_WS * x_S).head<2>().norm() < kUpright) {
    ++diagnostics_.fixes_rejected;
    if (!ready_) return Status::not_ready;
    const bool finite = std::isfinite(t) && std::isfinite(yaw) && std::isfinite(deviation);
    return finite ? Status::rejected : Status::not_finite;
  }
  BaseMeasurement m = limb::yaw_fix(filter_->state(), yaw, x_S, deviation);
  if (then != nullptr) m = at_present(m, limb::yaw_fix(then->x, yaw, x_S, deviation), 0);
  const Status taken = apply_fix(m);
  if (!rejected_too_long(t, taken != Status::ok, yaws_rejected_since_)) return taken;
  ++diagnostics_.fixes_recovered;
  record(t_, EstimatorEvent::fix_recovered, -1, m.residual[0]);
  rotate_heading(m.residual[0], deviation);
  past_count_ = past_next_ = 0;
  m.residual.setZero();
  return apply_fix(m);
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
  record(t, EstimatorEvent::clock_set_back, -1, t_ - t);
  if (ready_) monitor_.set_lost(t, "the clock was set back");
  constexpr double kSpeed = 1, kTilt = 0.3;
  const double inf = std::numeric_limits<double>::infinity();
  t_ = t_imu_ = t;
  t_legs_ = t_monitor_ = t_feet_used_ = t_slips_ = t_biases_ = t_legs_used_ = t_gap_ = t_contacts_ =
      -inf;
  imu_clock_.reset();
  leg_clock_.reset();
  past_count_ = past_next_ = 0;
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
  record(t, EstimatorEvent::velocity_reset, -1, std::sqrt(largest));
  monitor_.set_lost(t, "no foot measured the velocity for too long");
  reset_velocity(kSpeed, 0, 0);
  if (!lost_) start_recovery();
}

void BaseEstimator::reinitialize_at_rest() {
  // Tilt, velocity and gyroscope bias from rest; position and heading are kept.
  lost_ = false;
  ++diagnostics_.rest_recovered;
  record(t_, EstimatorEvent::rest_recovered, -1, 0);
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

BaseMeasurement BaseEstimator::position_measurement(const FilterState& x, const Vec& p_WQ,
                                                    const Vec& p_BQ, const Mat& noise_W) const {
  const Pose<double>& X_BS = legs_.X_BS();
  return limb::position_fix(x, p_WQ, X_BS.R.transpose() * (p_BQ - X_BS.p), noise_W);
}

BaseEstimate BaseEstimator::estimate() const {
  return base_estimate(t_, filter_->state(), filter_->common_covariance(), mount());
}

void BaseEstimator::write_base(VectorOut<double> q, VectorOut<double> v) const {
  check_position("BaseEstimator::write_base", "q", legs_.model(), q);
  check_velocity("BaseEstimator::write_base", "v", legs_.model(), v);
  const BaseEstimate e = estimate();
  q.head<7>() << e.X_WB.p, quaternion_from_matrix(e.X_WB.R).xyzw();
  v.head<6>() = e.V_WB_B.vector();
}

BaseEstimate base_estimate(double t, const FilterState& x, const FilterMatrix& P,
                           const SensorMount& mount) {
  const Pose<double> X_SB = mount.X_BS.inverse();
  // Angular velocity of the base, in axes of S.
  const Vec w_S = mount.gyro - x.gyro_bias - mount.V_BS_S.w,
            swing = w_S.cross(X_SB.p) - mount.V_BS_S.v;
  BaseEstimate e;
  e.t = t;
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
  const Eigen::Matrix<double, 12, 12> core = P.topLeftCorner<12, 12>();
  e.covariance = J * core * J.transpose();
  return e;
}

}  // namespace limb
