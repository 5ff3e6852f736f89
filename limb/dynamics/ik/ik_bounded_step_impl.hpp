#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "limb/dynamics/factor/dense_solve_impl.hpp"
#include "limb/dynamics/ik/inverse_kinematics.hpp"
#include "limb/dynamics/kinematics/manifold_impl.hpp"

/// Steps of inverse kinematics within joint limits: a bounded quadratic program, solved by a primal
/// active-set method.
///
///   minimize d.H d / 2 + g.d   subject to   lower <= a . d <= upper   for each limit row a
///
///   d        step in the generalized velocities
///   H, g     Hessian (later its factors) and gradient
///   d_free   -H^-1 g, the unbounded minimum
///   Z        columns H^-1 a of the active rows;  S = a^T Z their Schur complement
namespace limb::ik {

/// Whether a velocity of a joint is the rate of one of its coordinates.
inline bool is_rate(JointType type, int freedom) {
  switch (type) {
    case JointType::spherical:
    case JointType::free:
      return false;
    case JointType::planar:  // x and y move along the child's axes
      return freedom == 2;
    default:
      return true;
  }
}

/// Collects the limits of the robot: those of independent coordinates, narrowed by followers of one
/// coordinate, and those of followers of several.
template <Real T>
void collect_limits(const Model<T>& model, const IkOptions<T>& options, IkScratch<T>& s) {
  using namespace manifold_detail;
  s.limits.clear();
  s.term_y.clear();
  s.term_ratio.clear();
  if (options.limits == LimitUse::ignore) return;
  const auto is_locked = [&](int y) {
    return !options.locked.empty() && options.locked[static_cast<std::size_t>(y)];
  };
  const auto add = [&](int q_index, std::size_t row, int freedom, double low, double high) {
    if (!std::isfinite(low) && !std::isfinite(high)) return;
    const int end = static_cast<int>(s.term_y.size());
    s.limits.push_back(
        {end, end, q_index, static_cast<int>(row), freedom, T(low), T(high), T(0), T(0), T(0), 0});
  };
  const auto add_term = [&](int y, const T& ratio) {
    if (is_locked(y)) return;
    s.term_y.push_back(y);
    s.term_ratio.push_back(ratio);
  };
  const auto close = [&] {
    if (!s.limits.empty()) s.limits.back().last_term = static_cast<int>(s.term_y.size());
  };
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Body<T>& body = model.bodies()[i + 1];
    if (rows[i].yq < 0) {
      const auto& terms = rows[i].terms;
      if (terms.size() < 2) continue;
      if (std::all_of(terms.begin(), terms.end(), [&](const auto& t) { return is_locked(t.y); })) {
        continue;
      }
      const std::size_t before = s.limits.size();
      add(-1, i, 0, lower_limit(body, 0), upper_limit(body, 0));
      if (s.limits.size() == before) continue;
      for (const auto& term : rows[i].terms) add_term(term.y, term.ratio);
      close();
      continue;
    }
    const int numbers = body.joint.type() == JointType::free ? 3 : body.joint.nv();
    for (int j = 0; body.joint.type() != JointType::spherical && j < numbers; ++j) {
      const int y = rows[i].terms[static_cast<std::size_t>(j)].y;
      if (is_locked(y)) continue;
      double low = lower_limit(body, j), high = upper_limit(body, j);
      narrow_by_followers(model, y, low, high);
      if (high < low) {
        fail_computation("inverse_kinematics", "joint '" + body.name +
                                                   "' has no position within the limits of its "
                                                   "followers");
      }
      const std::size_t before = s.limits.size();
      add(rows[i].yq + j, i, j, low, high);
      if (s.limits.size() == before) continue;
      if (is_rate(body.joint.type(), j)) {
        add_term(y, T(1));
      } else {
        for (int k = 0; k < (body.joint.type() == JointType::free ? 3 : 2); ++k) {
          add_term(rows[i].terms[static_cast<std::size_t>(k)].y, T(0));  // bound_step fills it in
        }
      }
      close();
    }
  }
}

/// The coordinate that a limit row bounds.
template <Real T>
T coordinate(const Model<T>& model, const IkScratch<T>& s, const typename IkScratch<T>::LimitRow& l,
             const VectorX<T>& q) {
  if (l.q_index >= 0) return q[l.q_index];
  const auto& row = model.coupling().rows()[static_cast<std::size_t>(l.row)];
  T sum = row.offset;
  for (const auto& term : row.terms) {
    sum += term.ratio * q[s.q_index_of_y[static_cast<std::size_t>(term.y)]];
  }
  return sum;
}

/// Clamps independent coordinates to their limits, which rounding or quasi-velocities may violate.
template <Real T>
void clamp(const IkScratch<T>& s, VectorX<T>& q) {
  for (const auto& l : s.limits) {
    if (l.q_index >= 0) q[l.q_index] = std::min(std::max(q[l.q_index], l.low), l.high);
  }
}

/// The first follower of several coordinates outside its limits beyond rounding, or nullptr.
template <Real T>
const typename IkScratch<T>::LimitRow* violated(const Model<T>& model, const IkScratch<T>& s,
                                                const VectorX<T>& q) {
  for (const auto& l : s.limits) {
    if (l.q_index >= 0) continue;
    const T x = coordinate(model, s, l, q);
    const T slack = T(64) * epsilon<T>() * (T(1) + std::abs(x));
    if (!(l.low - slack <= x && x <= l.high + slack)) return &l;
  }
  return nullptr;
}

/// Updates the row of a linear coordinate x = e.p of a planar or free joint, whose velocities are
/// in the axes of the moving body: dp = R v.
template <Real T>
void update_limit_terms(const Model<T>& model, const typename IkScratch<T>::LimitRow& l,
                        const VectorX<T>& q, IkScratch<T>& s) {
  const auto& row = model.coupling().rows()[static_cast<std::size_t>(l.row)];
  const Joint<T>& joint = model.bodies()[static_cast<std::size_t>(l.row) + 1].joint;
  const T* at = q.data() + row.yq;
  Motion<T> S[6];
  joint.subspace(at, S);
  const Vector3<T> e = joint.type() == JointType::planar ? Vector3<T>(joint.plane().col(l.freedom))
                                                         : Vector3<T>::Unit(l.freedom);
  const Vector3<T> e_B = joint.pose(at).R.transpose() * e;
  for (int k = l.first_term; k < l.last_term; ++k) {
    const auto term = static_cast<std::size_t>(k);
    s.term_ratio[term] = e_B.dot(S[s.term_y[term] - row.terms[0].y].v);
  }
}

/// Bounds of a step from q, to first order for quasi-velocities. A zero step is always feasible.
template <Real T>
void bound_step(const Model<T>& model, IkScratch<T>& s, const VectorX<T>& q) {
  for (auto& l : s.limits) {
    const auto& body = model.bodies()[static_cast<std::size_t>(l.row) + 1];
    if (l.q_index >= 0 && !is_rate(body.joint.type(), l.freedom))
      update_limit_terms(model, l, q, s);
    const T x = coordinate(model, s, l, q);
    l.lower = std::min(T(0), l.low - x);
    l.upper = std::max(T(0), l.high - x);
    l.active = 0;
  }
}

/// a . d of a limit row.
template <Real T>
T row_dot(const IkScratch<T>& s, const typename IkScratch<T>::LimitRow& l, const VectorX<T>& d) {
  T sum = T(0);
  for (int k = l.first_term; k < l.last_term; ++k) {
    sum += s.term_ratio[static_cast<std::size_t>(k)] * d[s.term_y[static_cast<std::size_t>(k)]];
  }
  return sum;
}

/// s.target <- the minimum of d.H d / 2 + g.d on the active limits; s.multiplier <- their Lagrange
/// multipliers.
template <Real T>
void solve_active_set(IkScratch<T>& s) {
  const Eigen::Index active = static_cast<Eigen::Index>(s.active_set.size());
  s.target = s.d_free;
  for (Eigen::Index i = 0; i < active; ++i) {
    const auto& l = s.limits[static_cast<std::size_t>(s.active_set[static_cast<std::size_t>(i)])];
    for (Eigen::Index j = 0; j <= i; ++j) {
      T sum = T(0);
      for (int k = l.first_term; k < l.last_term; ++k) {
        const auto term = static_cast<std::size_t>(k);
        sum += s.term_ratio[term] * s.Z(s.term_y[term], j);
      }
      s.S(i, j) = s.S(j, i) = sum;
    }
    s.multiplier[i] = row_dot(s, l, s.d_free) - (l.active < 0 ? l.lower : l.upper);
  }
  if (active == 0) return;
  MatrixOut<T> S = s.S.topLeftCorner(active, active);
  VectorOut<T> m = s.multiplier.head(active);
  // Rows are independent: each was added because a step on the others violated it.
  kernel::solve_in_place<T>(S, m);
  for (Eigen::Index i = 0; i < active; ++i) s.target -= s.multiplier[i] * s.Z.col(i);
}

template <Real T>
void activate(IkScratch<T>& s, int limit, int side) {
  auto& l = s.limits[static_cast<std::size_t>(limit)];
  l.active = side;
  VectorOut<T> z = s.Z.col(static_cast<Eigen::Index>(s.active_set.size()));
  z.setZero();
  for (int k = l.first_term; k < l.last_term; ++k) {
    const auto term = static_cast<std::size_t>(k);
    z[s.term_y[term]] += s.term_ratio[term];
  }
  MatrixOut<T> H = s.H;
  kernel::solve_factorized<T>(H, z);
  s.active_set.push_back(limit);
}

template <Real T>
void deactivate(IkScratch<T>& s, std::size_t i_active) {
  s.limits[static_cast<std::size_t>(s.active_set[i_active])].active = 0;
  for (std::size_t i = i_active; i + 1 < s.active_set.size(); ++i) {
    s.Z.col(static_cast<Eigen::Index>(i)) = s.Z.col(static_cast<Eigen::Index>(i + 1));
  }
  s.active_set.erase(s.active_set.begin() + static_cast<std::ptrdiff_t>(i_active));
}

/// Projects s.d on the active limits, to remove the rounding error due to the condition of H.
template <Real T>
void project_on_active_limits(IkScratch<T>& s) {
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (const int limit : s.active_set) {
      const auto& l = s.limits[static_cast<std::size_t>(limit)];
      T square = T(0);
      for (int k = l.first_term; k < l.last_term; ++k) {
        square +=
            s.term_ratio[static_cast<std::size_t>(k)] * s.term_ratio[static_cast<std::size_t>(k)];
      }
      const T excess = (row_dot(s, l, s.d) - (l.active < 0 ? l.lower : l.upper)) / square;
      for (int k = l.first_term; k < l.last_term; ++k) {
        const auto term = static_cast<std::size_t>(k);
        s.d[s.term_y[term]] -= excess * s.term_ratio[term];
      }
    }
  }
}

/// s.d <- the minimum of d.H d / 2 + s.g.d within the bounds, H = s.H symmetric positive definite
/// (its lower triangle; overwritten by its factors): primal active set from d = 0. [Nocedal 2006,
/// active sets]
/// @returns false if H is not positive definite to rounding.
template <Real T>
bool bounded_step(IkScratch<T>& s) {
  MatrixOut<T> H = s.H;
  if (kernel::factorize_in_place<T>(H) >= 0) return false;
  s.d_free = -s.g;
  VectorOut<T> d_free = s.d_free;
  kernel::solve_factorized<T>(H, d_free);
  s.d.setZero();
  s.active_set.clear();
  for (auto& l : s.limits) {
    l.value = T(0);
    l.active = 0;
  }
  // Each limit is activated and deactivated a few times at most; the bound guards against cycling
  // due to rounding.
  const int rounds = 4 * static_cast<int>(s.limits.size()) + 4;
  for (int round = 0; round < rounds; ++round) {
    solve_active_set(s);
    // As far towards the target as the next limit allows.
    T fraction = T(1);
    int next = -1, side = 0;
    for (std::size_t i = 0; i < s.limits.size(); ++i) {
      const auto& l = s.limits[i];
      if (l.active != 0 || l.first_term == l.last_term) continue;
      const T move = row_dot(s, l, s.target) - l.value;
      const T gap = move > T(0) ? l.upper - l.value : l.lower - l.value;
      if (std::abs(move) <= epsilon<T>() * (T(1) + std::abs(gap))) continue;
      const T ratio = std::max(T(0), gap / move);
      if (ratio < fraction) {
        fraction = ratio;
        next = static_cast<int>(i);
        side = move > T(0) ? 1 : -1;
      }
    }
    s.d += fraction * (s.target - s.d);
    for (auto& l : s.limits) l.value = row_dot(s, l, s.d);
    const bool can_activate = static_cast<Eigen::Index>(s.active_set.size()) < s.Z.cols();
    if (next >= 0 && can_activate) {
      activate(s, next, side);
      continue;
    }
    // At the minimum on the active limits: deactivate the limit with the most negative multiplier.
    std::size_t worst = s.active_set.size();
    T most_negative = T(0);  // beyond rounding
    for (std::size_t i = 0; i < s.active_set.size(); ++i) {
      most_negative =
          std::min(most_negative, T(-64) * epsilon<T>() * std::abs(s.multiplier[Eigen::Index(i)]));
    }
    for (std::size_t i = 0; i < s.active_set.size(); ++i) {
      const int active_side = s.limits[static_cast<std::size_t>(s.active_set[i])].active;
      const T m = s.multiplier[static_cast<Eigen::Index>(i)] * T(active_side);
      if (m < most_negative) {
        most_negative = m;
        worst = i;
      }
    }
    if (worst == s.active_set.size()) break;
    deactivate(s, worst);
  }
  project_on_active_limits(s);
  return true;
}

}  // namespace limb::ik
