#pragma once

#include <span>

#include "limb/sim/integrate/configuration_space.hpp"

namespace limb {

/// The stages of a Runge-Kutta method on a robot's manifold [Munthe-Kaas 1999, Runge-Kutta on
/// manifolds]: positions of a step are q0 moved by a tangent u, which obeys du/dt =
/// ConfigurationSpace::rate, so that u, v and x are vectors and any tableau keeps its order.
template <typename T>
class Stages {
 public:
  Stages(const ConfigurationSpace<T>& space, int extra, int count)
      : space_(space),
        u_(VectorX<T>::Constant(space.nv(), T(0))),
        k_u_(static_cast<std::size_t>(count), u_),
        k_v_(k_u_),
        k_x_(static_cast<std::size_t>(count), VectorX<T>::Constant(extra, T(0))) {
    start_.q.resize(space.nq());
    start_.v = u_;
    start_.x = VectorX<T>::Constant(extra, T(0));
    now_ = start_;
  }

  const RobotState<T>& start() const { return start_; }
  void begin(const RobotState<T>& s) {
    start_.t = s.t;
    start_.q = s.q;
    start_.v = s.v;
    start_.x = s.x;
  }

  /// Stage i: rates at the start moved by h times the weighted sum of the stages before it.
  void evaluate(Equation<T>& equation, std::size_t i, const T& h, double c,
                std::span<const double> weights) {
    if (i == 0) {
      equation.rates(start_, k_v_[0], k_x_[0]);
      k_u_[0] = start_.v;
      return;
    }
    combine(h, weights, now_);
    now_.t = start_.t + T(c) * h;
    equation.rates(now_, k_v_[i], k_x_[i]);
    space_.rate(u_, now_.v, k_u_[i]);
  }

  /// FSAL: the last stage, at the end of the step, becomes the first one of the next.
  void last_becomes_first() {
    k_v_.front().swap(k_v_.back());
    k_x_.front().swap(k_x_.back());
    k_u_.front() = start_.v;
  }

  /// The start moved by h times the weighted sum of stages, except the time. Zero weights are
  /// skipped.
  void combine(const T& h, std::span<const double> weights, RobotState<T>& out) {
    sum(h, weights);
    space_.move(start_.q, u_, out.q);
    for (Eigen::Index j = 0; j < v_size(); ++j) out.v[j] = start_.v[j];
    for (Eigen::Index j = 0; j < x_size(); ++j) out.x[j] = start_.x[j];
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0) continue;
      const T w = h * T(weights[i]);
      for (Eigen::Index j = 0; j < v_size(); ++j) out.v[j] += w * k_v_[i][j];
      for (Eigen::Index j = 0; j < x_size(); ++j) out.x[j] += w * k_x_[i][j];
    }
  }

  /// Calls use(error, size0, size1) for every component of u, v and x: h times the weighted sum,
  /// and the component at the start and in `end`. Positions have the size 1.
  template <typename Use>
  void for_each_error(const T& h, std::span<const double> weights, const RobotState<T>& end,
                      const Use& use) {
    sum(h, weights);
    const auto weighted = [&](const std::vector<VectorX<T>>& k, Eigen::Index j) {
      T total = T(0);
      for (std::size_t i = 0; i < weights.size(); ++i) total += T(weights[i]) * k[i][j];
      return h * total;
    };
    for (Eigen::Index j = 0; j < v_size(); ++j) {
      use(u_[j], T(1), T(1));
      use(weighted(k_v_, j), start_.v[j], end.v[j]);
    }
    for (Eigen::Index j = 0; j < x_size(); ++j) use(weighted(k_x_, j), start_.x[j], end.x[j]);
  }

  const VectorX<T>& rate_of_v(std::size_t i) const { return k_v_[i]; }

 private:
  Eigen::Index v_size() const { return u_.size(); }
  Eigen::Index x_size() const { return start_.x.size(); }
  void sum(const T& h, std::span<const double> weights) {
    for (Eigen::Index j = 0; j < v_size(); ++j) u_[j] = T(0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0) continue;
      const T w = h * T(weights[i]);
      for (Eigen::Index j = 0; j < v_size(); ++j) u_[j] += w * k_u_[i][j];
    }
  }

  ConfigurationSpace<T> space_;
  RobotState<T> start_, now_;
  VectorX<T> u_;
  std::vector<VectorX<T>> k_u_, k_v_, k_x_;
};

}  // namespace limb
