#pragma once

#include <random>

#include "limb/dynamics/factor/singular_values_impl.hpp"
#include "limb/dynamics/ik/ik_bounded_step_impl.hpp"
#include "limb/dynamics/ik/ik_reachability_impl.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"

namespace limb {

namespace ik {

/// One call of inverse_kinematics. Symbols as in [Nocedal 2006, least squares]:
///
///   e, J     weighted errors of all goals and their Jacobian; cost |e|^2 / 2
///   g, H     gradient J^T e, J^T J + damping
///   d, Jd    step in the generalized velocities, J d
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
        if (!draw_start(q_start)) break;
        s_.q = s_.q_try;
        report.restarts = restart;
      }
      const Status stop = restart < options_.restarts ? descend() : descend_with_perturbation();
      const T cost = evaluate(s_.q);
      if (cost < best || stop == Status::ok) {
        best = cost;
        s_.q_best = s_.q;
        report.status = stop;
      }
      if (stop == Status::ok) break;
    }
    s_.q = s_.q_best;
    const bool nearest = report.status == Status::local_minimum;
    if (nearest && is_unreachable(model_, goals_, options_)) report.status = Status::unreachable;
    const bool has_posture = options_.posture.size() > 0;
    report.posture_converged = has_posture && report.ok() && approach_posture();
    report.posture_distance = has_posture ? distance(model_, s_.q, options_.posture) : T(0);
    fill_report();
  }

 private:
  static constexpr int kPerturbations = 2;

  const Body<T>& body_of(const typename IkScratch<T>::LimitRow& l) const {
    return model_.bodies()[std::size_t(l.row) + 1];
  }
  bool is_locked(int y) const {
    return !options_.locked.empty() && options_.locked[std::size_t(y)];
  }

  static bool has_rotation(const FrameGoal<T>& goal) {
    return goal.rotation_weight.maxCoeff() > T(0);
  }

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
      if (has_rotation(goal)) turn = so3::log(R_GF);
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
      if (has_rotation(goal)) {
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

  /// The smallest damping with which J^T J + damping can be factorized.
  T least_damping() const {
    return T(64) * epsilon<T>() * T(s_.J.cols()) *
           std::max(largest_, std::numeric_limits<T>::min());
  }

  /// s.d <- the step that minimizes |J d + e|^2 + damping |d - target|^2 within the limits;
  /// g = J^T e. @returns false if H cannot be factorized.
  bool step(const T& damping, const VectorX<T>* target) {
    for (Eigen::Index i = 0; i < s_.J.cols(); ++i) {
      for (Eigen::Index j = 0; j <= i; ++j) s_.H(i, j) = column(i).dot(column(j));
      s_.H(i, i) += damping;
    }
    if (target != nullptr) s_.g -= damping * *target;
    bound_step(model_, s_, s_.q);
    return bounded_step(s_);
  }

  /// Limits the step to a radian or a metre: beyond, the linearization is not valid.
  void limit_step_length() {
    const T size = s_.d.template lpNorm<Eigen::Infinity>();
    if (size > T(1)) s_.d /= size;
  }

  void apply_step() {
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

  /// Unweighted error over the directions with a weight.
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

  /// Norm of the gradient projected on the limits, relative to |e| times the longest column of J:
  /// H d is that projection of -g.
  T relative_gradient(const T& damping, const T& cost) {
    s_.slope = damping * s_.d;
    for (Eigen::Index y = 0; y < s_.J.cols(); ++y) s_.slope[y] += column(y).dot(s_.Jd.head(rows()));
    return s_.slope.norm() / std::sqrt(std::max(T(2) * cost * largest_, least_normal()));
  }
  static T least_normal() { return std::numeric_limits<T>::min(); }

  void update_Jd() {
    s_.Jd.setZero();
    for (Eigen::Index y = 0; y < s_.J.cols(); ++y) s_.Jd.head(rows()) += s_.d[y] * column(y);
  }

  /// Levenberg-Marquardt from s.q; s.q is the best point at the end.
  Status descend() {
    // A decrease of the cost by one ulp is not progress; below this slope none is measurable.
    const T flat = T(2) * std::sqrt(epsilon<T>()), nearly_flat = T(1e-5);
    const T most = T(1e10);
    T factor = T(1e-2), cost = evaluate(s_.q);
    for (int i = 0;; ++i) {
      if (within_tolerance()) return Status::ok;
      if (i >= options_.max_iterations) return Status::iteration_limit;
      differentiate();
      T slope = T(0);
      for (;; factor *= T(8)) {  // until a step reduces the cost
        if (factor > most) {
          evaluate(s_.q);
          return slope < nearly_flat ? Status::local_minimum : Status::no_progress;
        }
        const T damping = factor * T(2) * cost + least_damping();
        if (!step(damping, nullptr)) continue;
        update_Jd();
        slope = relative_gradient(damping, cost);
        if (slope < flat) return Status::local_minimum;
        limit_step_length();
        update_Jd();
        const T predicted = -(s_.g.dot(s_.d) + s_.Jd.squaredNorm() / T(2));
        apply_step();
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
          return Status::iteration_limit;
        }
      }
    }
  }

  /// descend(), then again from random perturbations: a straight arm, for example, is a stationary
  /// point but not a minimum.
  Status descend_with_perturbation() {
    Status stop = descend();
    if (stop == Status::ok || stop == Status::iteration_limit) return stop;
    std::uniform_real_distribution<T> between(T(-0.1), T(0.1));
    for (int attempt = 0; attempt < kPerturbations;) {
      const T best = evaluate(s_.q);
      s_.q_kept = s_.q;
      s_.H.setIdentity();
      for (Eigen::Index y = 0; y < s_.g.size(); ++y) {
        s_.g[y] = is_locked(int(y)) ? T(0) : between(engine_);
      }
      bound_step(model_, s_, s_.q);
      bounded_step(s_);
      apply_step();
      s_.q.swap(s_.q_try);
      const Status again = descend();
      if (again == Status::ok) return again;
      if (evaluate(s_.q) < T(1 - 1e-6) * best) {
        stop = again;
        if (again == Status::iteration_limit) return again;
        attempt = 0;
        continue;
      }
      s_.q = s_.q_kept;
      ++attempt;
    }
    return stop;
  }

  /// s.q_try <- a random configuration; locked joints stay. @returns false if none was found.
  bool draw_start(VectorIn<T>& q_start) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      random_configuration(model_, engine_, s_.q_try);
      manifold_detail::for_each_independent_joint(model_,
                                                  [&](const Body<T>& body, int at_q, int at_v) {
                                                    // A partly locked joint is not moved at all.
                                                    for (int j = 0; j < body.joint.nv(); ++j) {
                                                      if (!is_locked(at_v + j)) continue;
                                                      for (int k = 0; k < body.joint.nq(); ++k)
                                                        s_.q_try[at_q + k] = q_start[at_q + k];
                                                    }
                                                  });
      clamp(s_, s_.q_try);
      if (violated(model_, s_, s_.q_try) == nullptr) return true;
    }
    return false;
  }

  /// Moves q_try back to satisfy the goals, by nearly undamped steps, to a thousandth of the
  /// tolerance: a remaining error could pass for progress towards the posture.
  /// @returns whether the goals are satisfied.
  bool correct() {
    constexpr int kCorrections = 8;
    s_.q.swap(s_.q_try);
    T cost = evaluate(s_.q);
    for (int i = 0; i < kCorrections && !within_tolerance(T(1e-3)); ++i) {
      differentiate();
      if (!step(least_damping(), nullptr)) break;
      limit_step_length();
      apply_step();
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

  /// s.d_posture <- direction of steepest descent of the distance to the posture. For poses in q it
  /// is not the difference itself.
  void posture_direction() {
    difference(model_, s_.q, options_.posture, s_.target);
    difference_jacobians(model_, s_.q, options_.posture, s_.Z, s_.S);
    for (Eigen::Index y = 0; y < s_.target.size(); ++y) {
      s_.d_posture[y] = is_locked(int(y)) ? T(0) : -s_.Z.col(y).dot(s_.target);
    }
  }

  /// Moves towards the posture as far as goals and limits allow. @returns whether it converged.
  bool approach_posture() {
    s_.q_kept = s_.q_try = s_.q;
    if (!correct()) s_.q_try = s_.q_kept;
    s_.q = s_.q_try;
    T fraction = T(1);
    for (int i = 0; i < options_.max_iterations && fraction > T(1e-3); ++i) {
      const T before = distance(model_, s_.q, options_.posture);
      posture_direction();
      evaluate(s_.q);
      differentiate();
      // Small enough that the goals have priority, large enough to separate the null space.
      const T damping = std::sqrt(epsilon<T>()) * T(0.1) * std::max(largest_, least_normal());
      if (!step(damping, &s_.d_posture)) return false;
      if (s_.d.template lpNorm<Eigen::Infinity>() < options_.posture_tolerance) return true;
      limit_step_length();
      s_.d *= fraction;
      // The step is the projection of the target on the null space of the goals, so their dot
      // product is its square.
      const T gain = s_.d.squaredNorm();
      s_.q_kept = s_.q;
      apply_step();
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

  void fill_report() {
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
    // With more rows than columns there are only as many singular values as columns.
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
