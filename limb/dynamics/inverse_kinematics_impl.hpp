#pragma once

#include <random>

#include "limb/dynamics/jacobian.hpp"
#include "limb/dynamics/limited_step_impl.hpp"
#include "limb/dynamics/reach_impl.hpp"
#include "limb/dynamics/singular_values_impl.hpp"

namespace limb {

namespace ik {

/// One call of inverse_kinematics. Names as in [Nocedal 2006, least squares]: residual e, its
/// Jacobian J, cost |e|^2 / 2, gradient g = J^T e.
template <Real T>
class Solver {
 public:
  Solver(const Model<T>& model, GoalsIn<T> goals, IkScratch<T>& scratch,
         const IkOptions<T>& options)
      : model_(model), goals_(goals), s_(scratch), options_(options), engine_(options.seed) {}

  void solve(VectorIn<T>& q_start) {
    collect_limits(model_, options_, s_);
    s_.q = q_start;
    clamp(s_, s_.q);
    if (const auto* l = violated(model_, s_, s_.q)) {
      const T x = coordinate(model_, s_, *l, s_.q);
      fail("inverse_kinematics", "position of joint '" + body_of(*l).name + "' at q_start",
           to_text(double(x)),
           "between " + to_text(double(l->low)) + " and " + to_text(double(l->high)),
           "it follows several others; start where all are inside their limits");
    }
    IkReport<T>& report = s_.report;
    report.iterations = report.restarts = 0;
    T best = std::numeric_limits<T>::infinity();
    for (int restart = 0; restart <= options_.restarts; ++restart) {
      if (restart > 0) {
        if (!draw(q_start)) break;
        s_.q = s_.q_try;
        report.restarts = restart;
      }
      const IkStop stop = restart < options_.restarts ? descend() : descend_and_shake();
      const T cost = evaluate(s_.q);
      if (cost < best || stop == IkStop::converged) {
        best = cost;
        s_.q_best = s_.q;
        report.stop = stop;
      }
      if (stop == IkStop::converged) break;
    }
    s_.q = s_.q_best;
    const bool nearest = report.stop == IkStop::local_minimum;
    if (nearest && out_of_reach(model_, goals_, options_)) report.stop = IkStop::unreachable;
    const bool has_posture = options_.posture.size() > 0;
    report.posture_settled = has_posture && report.converged() && settle();
    report.posture_distance = has_posture ? distance(model_, s_.q, options_.posture) : T(0);
    finish();
  }

 private:
  static constexpr int kShakes = 2;

  const Body<T>& body_of(const typename IkScratch<T>::LimitRow& l) const {
    return model_.bodies()[std::size_t(l.row) + 1];
  }
  bool is_locked(int y) const {
    return !options_.locked.empty() && options_.locked[std::size_t(y)];
  }

  static bool turns(const FrameGoal<T>& goal) { return goal.rotation_weight.maxCoeff() > T(0); }

  /// Weighted errors at q, in axes of the goals. @returns the cost.
  T evaluate(const VectorX<T>& q) {
    forward_kinematics(model_, q, s_.kinematics);
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      const FrameGoal<T>& goal = goals_[i];
      const Pose<T> X_WF = frame_pose(model_, s_.kinematics, goal.frame);
      const Matrix3<T> R_GF = goal.X_WG.R.transpose() * X_WF.R;
      const Vector3<T> p = goal.X_WG.R.transpose() * (X_WF.p - goal.X_WG.p);
      s_.e.template segment<3>(Eigen::Index(6 * i)) = p.cwiseProduct(goal.position_weight);
      Vector3<T> turn = Vector3<T>::Zero();
      if (turns(goal)) turn = so3::log(R_GF);
      s_.e.template segment<3>(Eigen::Index(6 * i + 3)) = turn.cwiseProduct(goal.rotation_weight);
    }
    return s_.e.head(rows()).squaredNorm() / T(2);
  }

  /// J at the kinematics of the last evaluate: d log(R_GF) = Jl^-1(log) R_GW w.
  void differentiate() {
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      const FrameGoal<T>& goal = goals_[i];
      frame_jacobian(model_, s_.kinematics, goal.frame, FrameAxes::local_world_aligned, s_.J_frame);
      const Pose<T> X_WF = frame_pose(model_, s_.kinematics, goal.frame);
      const Matrix3<T> R_GW = goal.X_WG.R.transpose();
      const Matrix3<T> A = goal.position_weight.asDiagonal() * R_GW;
      Matrix3<T> B = Matrix3<T>::Zero();
      if (turns(goal)) {
        const Vector3<T> turn = so3::log<T>(R_GW * X_WF.R);
        B = goal.rotation_weight.asDiagonal() * (so3::left_jacobian_inverse(turn) * R_GW);
      }
      for (Eigen::Index y = 0; y < s_.J.cols(); ++y) {
        const Vector3<T> v = s_.J_frame.col(y).template head<3>();
        const Vector3<T> w = s_.J_frame.col(y).template tail<3>();
        const T moves = is_locked(int(y)) ? T(0) : T(1);
        s_.J.col(y).template segment<3>(Eigen::Index(6 * i)) = A * v * moves;
        s_.J.col(y).template segment<3>(Eigen::Index(6 * i + 3)) = B * w * moves;
      }
    }
    largest_ = T(0);
    for (Eigen::Index y = 0; y < s_.J.cols(); ++y) {
      s_.g[y] = column(y).dot(s_.e.head(rows()));
      largest_ = std::max(largest_, column(y).squaredNorm());
    }
  }

  Eigen::Index rows() const { return Eigen::Index(6 * goals_.size()); }
  auto column(Eigen::Index y) const { return s_.J.col(y).head(rows()); }

  /// The least damping with which J^T J + damping can still be factorised.
  T least_damping() const {
    return T(64) * epsilon<T>() * T(s_.J.cols()) *
           std::max(largest_, std::numeric_limits<T>::min());
  }

  /// s.d <- the step of least |J d + e|^2 + damping |d - wish|^2 within the limits; g = J^T e.
  bool step(const T& damping, const VectorX<T>* wish) {
    for (Eigen::Index i = 0; i < s_.J.cols(); ++i) {
      for (Eigen::Index j = 0; j <= i; ++j) s_.H(i, j) = column(i).dot(column(j));
      s_.H(i, i) += damping;
    }
    if (wish != nullptr) s_.g -= damping * *wish;
    bound_step(model_, s_, s_.q);
    return limited_step(s_);
  }

  /// Not farther than a radian or a metre: beyond, the first order means nothing.
  void shorten() {
    const T size = s_.d.template lpNorm<Eigen::Infinity>();
    if (size > T(1)) s_.d /= size;
  }

  void move() {
    integrate(model_, s_.q, s_.d, s_.q_try);
    clamp(s_, s_.q_try);
  }

  bool within_tolerance(const T& part = T(1)) const {
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      const auto error = error_of(i);
      if (!(error.position <= part * options_.position_tolerance &&
            error.rotation <= part * options_.rotation_tolerance)) {
        return false;
      }
    }
    return true;
  }

  /// Without the weights, over the directions that have one.
  typename IkReport<T>::GoalError error_of(std::size_t i) const {
    const auto size = [&](Eigen::Index at, const Vector3<T>& weight) {
      T sum = T(0);
      for (int k = 0; k < 3; ++k) {
        const T x = weight[k] > T(0) ? s_.e[at + k] / weight[k] : T(0);
        sum += x * x;
      }
      return std::sqrt(sum);
    };
    return {size(Eigen::Index(6 * i), goals_[i].position_weight),
            size(Eigen::Index(6 * i + 3), goals_[i].rotation_weight)};
  }

  /// Size of the gradient along the limits, against that of errors and Jacobian: H d is all that
  /// the limits leave of -g.
  T steepness(const T& damping, const T& cost) {
    s_.slope = damping * s_.d;
    for (Eigen::Index y = 0; y < s_.J.cols(); ++y) s_.slope[y] += column(y).dot(s_.Jd.head(rows()));
    return s_.slope.norm() / std::sqrt(std::max(T(2) * cost * largest_, least_normal()));
  }
  static T least_normal() { return std::numeric_limits<T>::min(); }

  void multiply() {
    s_.Jd.setZero();
    for (Eigen::Index y = 0; y < s_.J.cols(); ++y) s_.Jd.head(rows()) += s_.d[y] * column(y);
  }

  /// Levenberg-Marquardt from s.q; s.q is the best point at the end.
  IkStop descend() {
    // A cost of one ulp less is no progress; below this slope one cannot be seen.
    const T flat = T(2) * std::sqrt(epsilon<T>()), nearly_flat = T(1e-5);
    const T most = T(1e10);
    T factor = T(1e-2), cost = evaluate(s_.q);
    for (int i = 0;; ++i) {
      if (within_tolerance()) return IkStop::converged;
      if (i >= options_.max_iterations) return IkStop::iteration_limit;
      differentiate();
      T slope = T(0);
      for (;; factor *= T(8)) {  // until a step shortens the errors
        if (factor > most) {
          evaluate(s_.q);
          return slope < nearly_flat ? IkStop::local_minimum : IkStop::no_progress;
        }
        const T damping = factor * T(2) * cost + least_damping();
        if (!step(damping, nullptr)) continue;
        multiply();
        slope = steepness(damping, cost);
        if (slope < flat) return IkStop::local_minimum;
        shorten();
        multiply();
        const T predicted = -(s_.g.dot(s_.d) + s_.Jd.squaredNorm() / T(2));
        move();
        ++s_.report.iterations;
        const T next = evaluate(s_.q_try);
        if (cost - next > T(1e-4) * predicted && violated(model_, s_, s_.q_try) == nullptr) {
          if (cost - next > predicted / T(2)) factor = std::max(factor / T(8), T(1e-8));
          s_.q.swap(s_.q_try);
          cost = next;
          break;
        }
        if (++i >= options_.max_iterations) {
          evaluate(s_.q);
          return IkStop::iteration_limit;
        }
      }
    }
  }

  /// A straight arm and the like are no minimum, yet no small motion helps to first order: look
  /// again from nearby.
  IkStop descend_and_shake() {
    IkStop stop = descend();
    if (stop == IkStop::converged || stop == IkStop::iteration_limit) return stop;
    std::uniform_real_distribution<T> between(T(-0.1), T(0.1));
    for (int shake = 0; shake < kShakes;) {
      const T best = evaluate(s_.q);
      s_.q_kept = s_.q;
      s_.H.setIdentity();
      for (Eigen::Index y = 0; y < s_.g.size(); ++y) {
        s_.g[y] = is_locked(int(y)) ? T(0) : between(engine_);
      }
      bound_step(model_, s_, s_.q);
      limited_step(s_);
      move();
      s_.q.swap(s_.q_try);
      const IkStop again = descend();
      if (again == IkStop::converged) return again;
      if (evaluate(s_.q) < T(1 - 1e-6) * best) {
        stop = again;
        if (again == IkStop::iteration_limit) return again;
        shake = 0;
        continue;
      }
      s_.q = s_.q_kept;
      ++shake;
    }
    return stop;
  }

  /// s.q_try <- a random state; what is locked stays. @returns false if none was found.
  bool draw(VectorIn<T>& q_start) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      random(model_, engine_, s_.q_try);
      manifold_detail::for_each_own(model_, [&](const Body<T>& body, int at_q, int at_v) {
        // A joint of which a part is locked stays as a whole.
        for (int j = 0; j < body.joint.nv(); ++j) {
          if (!is_locked(at_v + j)) continue;
          for (int k = 0; k < body.joint.nq(); ++k) s_.q_try[at_q + k] = q_start[at_q + k];
        }
      });
      clamp(s_, s_.q_try);
      if (violated(model_, s_, s_.q_try) == nullptr) return true;
    }
    return false;
  }

  /// From q_try back to where the goals are met, by steps without damping, and on until they are
  /// met a thousand times better: what is left would pass for progress of the posture.
  /// @returns whether the goals are met.
  bool correct() {
    constexpr int kCorrections = 8;
    s_.q.swap(s_.q_try);
    T cost = evaluate(s_.q);
    for (int i = 0; i < kCorrections && !within_tolerance(T(1e-3)); ++i) {
      differentiate();
      if (!step(least_damping(), nullptr)) break;
      shorten();
      move();
      ++s_.report.iterations;
      const T next = evaluate(s_.q_try);
      if (!(next < cost)) break;
      s_.q.swap(s_.q_try);
      cost = next;
    }
    evaluate(s_.q);
    s_.q.swap(s_.q_try);
    return within_tolerance() && violated(model_, s_, s_.q_try) == nullptr;
  }

  /// s.d_posture <- the steepest way towards the posture. Where a pose is part of q, that is not
  /// the difference itself.
  void wish_for_posture() {
    difference(model_, s_.q, options_.posture, s_.target);
    difference_jacobians(model_, s_.q, options_.posture, s_.Z, s_.S);
    for (Eigen::Index y = 0; y < s_.target.size(); ++y) {
      s_.d_posture[y] = is_locked(int(y)) ? T(0) : -s_.Z.col(y).dot(s_.target);
    }
  }

  /// Towards the posture as far as goals and limits allow. @returns whether it got there.
  bool settle() {
    s_.q_kept = s_.q_try = s_.q;
    if (!correct()) s_.q_try = s_.q_kept;
    s_.q = s_.q_try;
    T fraction = T(1);
    for (int i = 0; i < options_.max_iterations && fraction > T(1e-3); ++i) {
      const T before = distance(model_, s_.q, options_.posture);
      wish_for_posture();
      evaluate(s_.q);
      differentiate();
      // So little damping that the goals come first, so much that null space is kept apart.
      const T damping = std::sqrt(epsilon<T>()) * T(0.1) * std::max(largest_, least_normal());
      if (!step(damping, &s_.d_posture)) return false;
      if (s_.d.template lpNorm<Eigen::Infinity>() < options_.posture_tolerance) return true;
      shorten();
      s_.d *= fraction;
      // The step is the wish projected on what the goals leave, so their product is its square.
      const T gain = s_.d.squaredNorm();
      s_.q_kept = s_.q;
      move();
      ++s_.report.iterations;
      const bool kept = correct();
      s_.q = s_.q_kept;
      const T after = distance(model_, s_.q_try, options_.posture);
      if (kept && before * before - after * after > T(0.1) * gain) {
        s_.q = s_.q_try;
        fraction = std::min(T(1), T(2) * fraction);
      } else {
        fraction /= T(2);
      }
    }
    return false;
  }

  void finish() {
    IkReport<T>& report = s_.report;
    evaluate(s_.q);
    differentiate();
    report.errors.clear();
    for (std::size_t i = 0; i < goals_.size(); ++i) report.errors.push_back(error_of(i));
    report.active_limits.clear();
    for (const auto& l : s_.limits) {
      const T x = coordinate(model_, s_, l, s_.q);
      const T slack = T(64) * epsilon<T>() * (T(1) + std::abs(x));
      const BodyId body(l.row + 1);
      if (x <= l.low + slack) {
        report.active_limits.push_back({body, l.freedom, ActiveLimit::Side::lower});
      } else if (x >= l.high - slack) {
        report.active_limits.push_back({body, l.freedom, ActiveLimit::Side::upper});
      }
    }
    report.smallest_singular_value = smallest_singular_value();
  }

  /// Rows without weight and locked columns left out. Overwrites J.
  T smallest_singular_value() {
    Eigen::Index m = 0, columns = 0;
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      for (int k = 0; k < 6; ++k) {
        const T weight = k < 3 ? goals_[i].position_weight[k] : goals_[i].rotation_weight[k - 3];
        if (weight > T(0)) s_.J.row(m++) = s_.J.row(Eigen::Index(6 * i) + k);
      }
    }
    for (Eigen::Index y = 0; y < s_.J.cols(); ++y) columns += is_locked(int(y)) ? 0 : 1;
    MatrixOut<T> J = s_.J.topRows(m);
    VectorOut<T> sigma = s_.Jd.head(m);
    kernel::singular_values<T>(J, sigma);
    // With more rows than columns, only as many values as columns are there.
    const Eigen::Index count = std::min(m, columns);
    return count > 0 ? sigma[count - 1] : T(0);
  }

  const Model<T>& model_;
  GoalsIn<T> goals_;
  IkScratch<T>& s_;
  const IkOptions<T>& options_;
  std::mt19937_64 engine_;
  T largest_ = T(0);  ///< squared length of the longest column of J
};

}  // namespace ik
}  // namespace limb
