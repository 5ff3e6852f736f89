#include "limb/estimate/estimator/base_smoother.hpp"

#include <sys/types.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "limb/base/check.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

/// Kinds of inputs, as numbers of the store.
enum Kind { kImu, kLegs, kFeet, kPosition, kYaw, kOrientation, kVelocity, kInitialize };

std::span<const double> numbers(const auto& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

/// Reads an input part by part.
class InputReader {
 public:
  explicit InputReader(std::span<const double> input) : left_(input) {}
  double number() { return take(1)[0]; }
  Vec vector() { return Vec(take(3).data()); }
  Mat matrix() { return Mat(take(9).data()); }
  std::span<const double> take(std::size_t count) {
    const auto part = left_.first(count);
    left_ = left_.subspan(count);
    return part;
  }
  std::size_t left() const { return left_.size(); }

 private:
  std::span<const double> left_;
};

[[noreturn]] void fail_file(const char* what) {
  throw Error(std::string("BaseSmoother: cannot ") + what + " the temporary file (" +
                  std::strerror(errno) + ")",
              Error::Kind::computation_failed);
}

}  // namespace

void NumberStore::append(std::span<const double> numbers) {
  recent_.insert(recent_.end(), numbers.begin(), numbers.end());
  if (recent_.size() <= limit_) return;
  if (!file_) file_.reset(std::tmpfile());
  if (!file_) fail_file("open");
  if (fseeko(file_.get(), 0, SEEK_END) != 0 ||
      std::fwrite(recent_.data(), sizeof(double), recent_.size(), file_.get()) != recent_.size()) {
    fail_file("write");
  }
  spilled_ += recent_.size();
  recent_.clear();
}

void NumberStore::read(std::size_t at, std::span<double> numbers) const {
  std::size_t from_file = 0;
  if (at < spilled_) {
    from_file = std::min(numbers.size(), spilled_ - at);
    if (fseeko(file_.get(), static_cast<off_t>(at * sizeof(double)), SEEK_SET) != 0 ||
        std::fread(numbers.data(), sizeof(double), from_file, file_.get()) != from_file) {
      fail_file("read");
    }
  }
  const std::size_t first = at + from_file - spilled_;
  for (std::size_t i = from_file; i < numbers.size(); ++i) {
    numbers[i] = recent_[first + i - from_file];
  }
}

BaseSmoother::BaseSmoother(const BaseEstimator& estimator, std::size_t memory)
    : now_(estimator), inputs_(memory) {
  checkpoints_.push_back({0, std::make_unique<BaseEstimator>(now_)});
}

void BaseSmoother::store(int kind, std::initializer_list<std::span<const double>> parts) {
  if (kind == kImu && samples_++ >= samples_per_part_) {
    samples_ = 1;
    checkpoints_.push_back({inputs_.size(), std::make_unique<BaseEstimator>(now_)});
    if (checkpoints_.size() > kMostCheckpoints) {
      // Every second one goes: parts are twice as long.
      for (std::size_t i = 0; 2 * i < checkpoints_.size(); ++i) {
        checkpoints_[i] = std::move(checkpoints_[2 * i]);
      }
      checkpoints_.resize((checkpoints_.size() + 1) / 2);
      samples_per_part_ *= 2;
    }
  }
  buffer_.assign({0.0, static_cast<double>(kind)});
  for (const auto& part : parts) buffer_.insert(buffer_.end(), part.begin(), part.end());
  buffer_[0] = static_cast<double>(buffer_.size());
  inputs_.append(buffer_);
}

Status BaseSmoother::imu(double t, const ImuSample& sample) {
  store(kImu, {{&t, 1}, numbers(sample.gyro), numbers(sample.accel)});
  return now_.imu(t, sample);
}

Status BaseSmoother::legs(double t, VectorIn<double>& q, VectorIn<double>& v,
                          std::span<const double> forces) {
  const Status status = now_.legs(t, q, v, forces);  // checks the sizes
  const VectorX<double> positions = q, velocities = v;
  store(kLegs, {{&t, 1}, numbers(positions), numbers(velocities), forces});
  return status;
}

Status BaseSmoother::feet(double t, std::span<const FootSample> samples) {
  std::vector<double> all;
  for (const FootSample& one : samples) {
    all.insert(all.end(), one.p_BF.data(), one.p_BF.data() + 3);
    all.insert(all.end(), one.covariance.data(), one.covariance.data() + 9);
    all.push_back(one.contact);
  }
  const Status status = now_.feet(t, samples);
  store(kFeet, {{&t, 1}, all});
  return status;
}

Status BaseSmoother::position_fix(double t, const Vec& p_WQ, const Vec& p_BQ, const Mat& noise_W) {
  store(kPosition, {{&t, 1}, numbers(p_WQ), numbers(p_BQ), numbers(noise_W)});
  return now_.position_fix(t, p_WQ, p_BQ, noise_W);
}

Status BaseSmoother::yaw_fix(double t, double yaw, double deviation) {
  store(kYaw, {{&t, 1}, {&yaw, 1}, {&deviation, 1}});
  return now_.yaw_fix(t, yaw, deviation);
}

Status BaseSmoother::orientation_fix(double t, const Mat& R_WB, double deviation) {
  store(kOrientation, {{&t, 1}, numbers(R_WB), {&deviation, 1}});
  return now_.orientation_fix(t, R_WB, deviation);
}

Status BaseSmoother::velocity_fix(double t, const Vec& v_WB, const Mat& noise, bool in_base_axes) {
  const double axes = in_base_axes ? 1 : 0;
  store(kVelocity, {{&t, 1}, numbers(v_WB), numbers(noise), {&axes, 1}});
  return now_.velocity_fix(t, v_WB, noise, in_base_axes);
}

void BaseSmoother::initialize(double t, const FilterState& x, const Matrix15& covariance) {
  now_.initialize(t, x, covariance);  // throws, if it is not valid
  store(kInitialize, {{&t, 1},
                      numbers(x.p_WS),
                      numbers(x.R_WS),
                      numbers(x.v_WS),
                      numbers(x.gyro_bias),
                      numbers(x.accel_bias),
                      numbers(covariance)});
}

void BaseSmoother::replay(BaseEstimator& estimator, std::span<const double> input) {
  InputReader in(input);
  const auto kind = static_cast<int>(in.number());
  const double t = in.number();
  switch (kind) {
    case kImu: {
      const Vec gyro = in.vector(), accel = in.vector();
      estimator.imu(t, {gyro, accel});
      break;
    }
    case kLegs: {
      const auto count = static_cast<std::size_t>(estimator.leg_kinematics().feet());
      const auto nq = estimator.leg_kinematics().model().nq();
      const auto nv = estimator.leg_kinematics().model().nv();
      const VectorX<double> q = VectorX<double>::Map(in.take(nq).data(), nq);
      const VectorX<double> v = VectorX<double>::Map(in.take(nv).data(), nv);
      estimator.legs(t, q, v, in.take(count));
      break;
    }
    case kFeet: {
      std::vector<FootSample> samples;
      while (in.left() > 0) {
        const Vec p = in.vector();
        const Mat covariance = in.matrix();
        samples.push_back({p, covariance, in.number()});
      }
      estimator.feet(t, samples);
      break;
    }
    case kPosition: {
      const Vec p_WQ = in.vector(), p_BQ = in.vector();
      estimator.position_fix(t, p_WQ, p_BQ, in.matrix());
      break;
    }
    case kYaw: {
      const double yaw = in.number();
      estimator.yaw_fix(t, yaw, in.number());
      break;
    }
    case kOrientation: {
      const Mat R_WB = in.matrix();
      estimator.orientation_fix(t, R_WB, in.number());
      break;
    }
    case kVelocity: {
      const Vec v_WB = in.vector();
      const Mat noise = in.matrix();
      estimator.velocity_fix(t, v_WB, noise, in.number() > 0);
      break;
    }
    default: {
      FilterState x;
      x.p_WS = in.vector();
      x.R_WS = in.matrix();
      x.v_WS = in.vector();
      x.gyro_bias = in.vector();
      x.accel_bias = in.vector();
      estimator.initialize(t, x, Matrix15(in.take(225).data()));
    }
  }
}

namespace {

/// The filter after the last input of one time.
struct Instant {
  std::size_t steps;  ///< recorded before it
  double t;
  FilterState x;
  FilterMatrix P;
  SensorMount mount;
};

/// The adjoint errors before a step, from those after it.
void step_back(const FilterRecord::Step& step, VectorX<double>& l, MatrixX<double>& L) {
  switch (step.kind) {
    case FilterRecord::Kind::restart:
      // Whatever the number of errors was before: the step before sets it.
      l.resize(0);
      L.resize(0, 0);
      return;
    case FilterRecord::Kind::transition:
      if (l.size() == 0) {
        l.setZero(step.F.rows());
        L.setZero(step.F.rows(), step.F.rows());
      }
      l = (step.F.transpose() * l).eval();
      L = (step.F.transpose() * L * step.F).eval();
      break;
    case FilterRecord::Kind::update: {
      const auto n = step.H.cols();
      if (l.size() == 0) {
        l.setZero(n);
        L.setZero(n, n);
      }
      const MatrixX<double> S = step.H * step.PHt + step.noise;
      const Eigen::LDLT<MatrixX<double>> factor((S + S.transpose()) / 2);
      const MatrixX<double> A = MatrixX<double>::Identity(n, n) - step.K * step.H;
      l = (A.transpose() * l - step.H.transpose() * factor.solve(step.residual)).eval();
      L = (A.transpose() * L * A + step.H.transpose() * factor.solve(step.H)).eval();
      break;
    }
  }
  L = ((L + L.transpose()) / 2).eval();
}

}  // namespace

void BaseSmoother::smooth_part(std::size_t part, const std::function<void(const Point&)>& visit,
                               Adjoint& adjoint) const {
  const std::size_t begin = checkpoints_[part].at, end = part + 1 < checkpoints_.size()
                                                             ? checkpoints_[part + 1].at
                                                             : inputs_.size();
  std::vector<double> inputs(end - begin);
  inputs_.read(begin, inputs);
  BaseEstimator estimator = *checkpoints_[part].estimator;
  FilterRecord record;
  estimator.record_to(&record);
  std::vector<Instant> instants;
  for (std::size_t at = 0; at < inputs.size();) {
    const auto size = static_cast<std::size_t>(inputs[at]);
    replay(estimator, std::span(inputs).subspan(at + 1, size - 1));
    at += size;
    if (!estimator.ready()) continue;
    const double t = estimator.time();
    if (instants.empty() || instants.back().t != t) instants.emplace_back();
    instants.back() = {record.steps.size(), t, estimator.filter().state(),
                       estimator.filter().covariance(), estimator.mount()};
  }
  estimator.record_to(nullptr);
  const BaseFilter& filter = estimator.filter();
  auto& [l, L] = adjoint;
  Point point;
  for (std::size_t k = record.steps.size(), left = instants.size();; --k) {
    for (; left > 0 && instants[left - 1].steps == k; --left) {
      const Instant& now = instants[left - 1];
      const int n = now.x.errors();
      point.filtered = base_estimate(now.t, now.x, filter.to_common(now.x, now.P), now.mount);
      point.P_filtered = point.P_smoothed = now.P;
      point.state = now.x;
      if (l.size() == n) {
        const MatrixX<double> reduced = now.P * L * now.P;
        point.P_smoothed -= (reduced + reduced.transpose()) / 2;
        point.state = filter.retracted(now.x, FilterVector(-now.P * l));
      }
      // Both in common errors of the filter's state, so that one is not larger than the other.
      const FilterMatrix P = filter.to_common(now.x, point.P_smoothed);
      point.smoothed = base_estimate(now.t, point.state, P, now.mount);
      point.bias_deviations =
          P.diagonal().segment<6>(ErrorIndex::gyro_bias).cwiseMax(0).cwiseSqrt();
      visit(point);
    }
    if (k == 0) break;
    step_back(record.steps[k - 1], l, L);
  }
}

void BaseSmoother::smooth(const std::function<void(const Point&)>& visit) const {
  Adjoint adjoint;
  for (std::size_t part = checkpoints_.size(); part-- > 0;) smooth_part(part, visit, adjoint);
}

}  // namespace limb
