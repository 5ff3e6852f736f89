#pragma once

#include <algorithm>
#include <array>

#include "limb/sim/integrate/dormand_prince.hpp"
#include "limb/sim/integrate/stages_impl.hpp"
#include "limb/sim/integrate/step_end.hpp"

namespace limb {
namespace dormand_prince_detail {

using Row = std::array<double, 7>;
inline constexpr Row kTimes = {0, 0.2, 0.3, 0.8, 8. / 9, 1, 1};
inline constexpr std::array<Row, 7> kTableau = {
    {{},
     {1. / 5},
     {3. / 40, 9. / 40},
     {44. / 45, -56. / 15, 32. / 9},
     {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
     {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
     {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}}};
/// Order 5 minus order 4.
inline constexpr Row kError = {71. / 57600,      0,         -71. / 16695, 71. / 1920,
                               -17253. / 339200, 22. / 525, -1. / 40};

/// Weights of the stages at the fraction x of a step.
inline Row dense_weights(double x) {
  const Row& b = kTableau[6];
  const double s = x * x * (3 - 2 * x), y = x * x * (x - 1) * (x - 1);
  return {s * b[0] + x * (x - 1) * (x - 1) - y * 5 * (2558722523. - 31403016. * x) / 11282082432.,
          0,
          s * b[2] + y * 100 * (882725551. - 15701508. * x) / 32700410799.,
          s * b[3] - y * 25 * (443332067. - 31403016. * x) / 1880347072.,
          s * b[4] + y * 32805 * (23143187. - 3489224. * x) / 199316789632.,
          s * b[5] - y * 55 * (29972135. - 7076736. * x) / 822651844.,
          x * x * (x - 1) + y * 10 * (7414447. - 829305. * x) / 29380423.};
}

}  // namespace dormand_prince_detail

template <Real T>
struct DormandPrince<T>::Memory {
  Stages<T> stages;
  RobotState<T> end;
  T h = T(0);     ///< to be tried next; 0: unknown
  T last = T(0);  ///< of the last step
  T error_before = T(1e-4);
  bool first_is_known = false;  ///< the rates at `end` are known: first stage of the next step
};

template <Real T>
DormandPrince<T>::DormandPrince(const ConfigurationSpace<T>& space, int extra,
                                const IntegratorOptions<T>& options)
    : options_(options), memory_(new Memory{Stages<T>(space, extra, 7), RobotState<T>()}) {
  check_positive("DormandPrince", "step", double(options.step));
  check_positive("DormandPrince", "absolute_tolerance", double(options.absolute_tolerance));
  check_not_negative("DormandPrince", "relative_tolerance", double(options.relative_tolerance));
  memory_->end = memory_->stages.start();
}

template <Real T>
DormandPrince<T>::~DormandPrince() = default;

template <Real T>
void DormandPrince<T>::reset() {
  memory_->first_is_known = false;
}

/// Root mean square of the errors, each relative to its tolerance.
template <Real T>
T DormandPrince<T>::error_of(const T& h) {
  T sum = T(0);
  int count = 0;
  memory_->stages.for_each_error(
      h, dormand_prince_detail::kError, memory_->end, [&](T error, T size0, T size1) {
        using std::abs;
        const T allowed = options_.absolute_tolerance +
                          options_.relative_tolerance * std::max(abs(size0), abs(size1));
        sum += (error / allowed) * (error / allowed);
        ++count;
      });
  return std::sqrt(sum / T(std::max(count, 1)));
}

/// A step in which velocities change by about one percent; the step control adapts it.
template <Real T>
T DormandPrince<T>::first_step() const {
  const T a = memory_->stages.rate_of_v(0).norm();
  const T v = memory_->stages.start().v.norm();
  return std::min(options_.step, T(0.01) * (T(1) + v) / (T(1) + a));
}

template <Real T>
void DormandPrince<T>::advance(Equation<T>& equation, RobotState<T>& s, const T& t_end) {
  using namespace dormand_prince_detail;
  Memory& m = *memory_;
  const bool continues =
      m.first_is_known && s.t == m.end.t && s.q == m.end.q && s.v == m.end.v && s.x == m.end.x;
  m.stages.begin(s);
  if (continues) {
    m.stages.last_becomes_first();
  } else {
    m.stages.evaluate(equation, 0, T(0), 0, {});
    m.error_before = T(1e-4);
  }
  m.first_is_known = false;
  if (m.h == T(0)) m.h = first_step();
  // Exponents of a PI step control, which includes the previous error: few rejections.
  constexpr double kNow = 0.2 - 0.75 * 0.04, kBefore = 0.04;
  bool rejected_before = false;
  while (true) {
    const auto [h, t] = next_step(s.t, std::min(m.h, options_.step), t_end);
    if (!(h > T(16) * epsilon<T>() * std::max(T(1), std::abs(s.t))) && t != t_end) {
      fail_step("dormand-prince", double(s.t), "the tolerances require too short a step");
    }
    for (std::size_t i = 1; i < 7; ++i) {
      m.stages.evaluate(equation, i, h, kTimes[i], std::span(kTableau[i]).first(i));
    }
    m.stages.combine(h, kTableau[6], m.end);
    m.end.t = t;
    const T error = error_of(h);
    const bool accept = error <= T(1) && is_finite(m.end);
    T factor = T(0.2);
    if (std::isfinite(error)) {
      const double grow = 0.9 * std::pow(double(std::max(error, T(1e-10))), -kNow) *
                          std::pow(double(m.error_before), kBefore);
      factor = T(std::clamp(grow, 0.2, accept && !rejected_before ? 5.0 : 1.0));
    }
    // After a step shortened by t_end the longer one remains valid.
    m.h = accept ? std::max(h * factor, t == t_end ? m.h : T(0)) : h * factor;
    if (accept) {
      ++accepted_;
      m.error_before = std::max(error, T(1e-4));
      m.last = h;
      copy_state(m.end, s);
      m.first_is_known = true;
      return;
    }
    ++rejected_;
    rejected_before = true;
    if (!(m.h > T(16) * epsilon<T>() * std::max(T(1), std::abs(s.t)))) {
      fail_motion("dormand-prince", double(s.t));
    }
  }
}

template <Real T>
void DormandPrince<T>::state_at(const T& t, RobotState<T>& s) {
  Memory& m = *memory_;
  const double x = double((t - m.stages.start().t) / m.last);
  m.stages.combine(m.last, dormand_prince_detail::dense_weights(x), s);
  s.t = t;
}

}  // namespace limb
