#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "limb/dynamics/dense_solve_impl.hpp"
#include "limb/dynamics/inverse_kinematics.hpp"
#include "limb/dynamics/manifold_impl.hpp"

/// Steps of inverse kinematics that stay within limits.
namespace limb::ik {

/// How the numbers of a joint's q stand to its velocities.
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

/// Finds the limits of the robot: its own coordinates with those of single followers, and followers
/// of several.
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
  const auto add = [&](int place, std::size_t row, int freedom, double low, double high) {
    if (!std::isfinite(low) && !std::isfinite(high)) return;
    const int end = static_cast<int>(s.term_y.size());
    s.limits.push_back(
        {end, end, place, static_cast<int>(row), freedom, T(low), T(high), T(0), T(0), T(0), 0});
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
                                                   "' has no position that those that follow it "
                                                   "allow");
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

/// The coordinate that a limit is about.
template <Real T>
T coordinate(const Model<T>& model, const IkScratch<T>& s, const typename IkScratch<T>::LimitRow& l,
             const VectorX<T>& q) {
  if (l.place >= 0) return q[l.place];
  const auto& row = model.coupling().rows()[static_cast<std::size_t>(l.row)];
  T sum = row.offset;
  for (const auto& term : row.terms) {
    sum += term.ratio * q[s.place_of_y[static_cast<std::size_t>(term.y)]];
  }
  return sum;
}

/// Own coordinates into their limits: what rounding, or motions that are no rates, brought outside.
template <Real T>
void clamp(const IkScratch<T>& s, VectorX<T>& q) {
  for (const auto& l : s.limits) {
    if (l.place >= 0) q[l.place] = std::min(std::max(q[l.place], l.low), l.high);
  }
}

/// Whether followers of several are inside their limits, to rounding.
template <Real T>
const typename IkScratch<T>::LimitRow* violated(const Model<T>& model, const IkScratch<T>& s,
                                                const VectorX<T>& q) {
  for (const auto& l : s.limits) {
    if (l.place >= 0) continue;
    const T x = coordinate(model, s, l, q);
    const T slack = T(64) * epsilon<T>() * (T(1) + std::abs(x));
    if (!(l.low - slack <= x && x <= l.high + slack)) return &l;
  }
  return nullptr;
}

/// How a coordinate along a line moves with velocities in the axes of the moving body: x = e.p of a
/// planar or free joint, dp = R v.
template <Real T>
void turn_terms(const Model<T>& model, const typename IkScratch<T>::LimitRow& l,
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

/// Bounds of a step from q, to first order where coordinates are no rates. Zero is always inside.
template <Real T>
void bound_step(const Model<T>& model, IkScratch<T>& s, const VectorX<T>& q) {
  for (auto& l : s.limits) {
    const auto& body = model.bodies()[static_cast<std::size_t>(l.row) + 1];
    if (l.place >= 0 && !is_rate(body.joint.type(), l.freedom)) turn_terms(model, l, q, s);
    const T x = coordinate(model, s, l, q);
    l.lower = std::min(T(0), l.low - x);
    l.upper = std::max(T(0), l.high - x);
    l.active = 0;
  }
}

template <Real T>
T along(const IkScratch<T>& s, const typename IkScratch<T>::LimitRow& l, const VectorX<T>& d) {
  T sum = T(0);
  for (int k = l.first_term; k < l.last_term; ++k) {
    sum += s.term_ratio[static_cast<std::size_t>(k)] * d[s.term_y[static_cast<std::size_t>(k)]];
  }
  return sum;
}

/// The minimum of d.H d / 2 + g.d on the limits that are held, with the forces that hold them.
template <Real T>
void solve_held(IkScratch<T>& s) {
  const Eigen::Index held = static_cast<Eigen::Index>(s.held.size());
  s.target = s.d_free;
  for (Eigen::Index i = 0; i < held; ++i) {
    const auto& l = s.limits[static_cast<std::size_t>(s.held[static_cast<std::size_t>(i)])];
    for (Eigen::Index j = 0; j <= i; ++j) {
      T sum = T(0);
      for (int k = l.first_term; k < l.last_term; ++k) {
        const auto term = static_cast<std::size_t>(k);
        sum += s.term_ratio[term] * s.Z(s.term_y[term], j);
      }
      s.S(i, j) = s.S(j, i) = sum;
    }
    s.multiplier[i] = along(s, l, s.d_free) - (l.active < 0 ? l.lower : l.upper);
  }
  if (held == 0) return;
  MatrixOut<T> S = s.S.topLeftCorner(held, held);
  VectorOut<T> m = s.multiplier.head(held);
  // Rows are independent: each was added because a step kept by the others moved it.
  kernel::solve_in_place<T>(S, m);
  for (Eigen::Index i = 0; i < held; ++i) s.target -= s.multiplier[i] * s.Z.col(i);
}

template <Real T>
void hold(IkScratch<T>& s, int limit, int side) {
  auto& l = s.limits[static_cast<std::size_t>(limit)];
  l.active = side;
  VectorOut<T> z = s.Z.col(static_cast<Eigen::Index>(s.held.size()));
  z.setZero();
  for (int k = l.first_term; k < l.last_term; ++k) {
    const auto term = static_cast<std::size_t>(k);
    z[s.term_y[term]] += s.term_ratio[term];
  }
  MatrixOut<T> H = s.H;
  kernel::solve_factorized<T>(H, z);
  s.held.push_back(limit);
}

template <Real T>
void release(IkScratch<T>& s, std::size_t place) {
  s.limits[static_cast<std::size_t>(s.held[place])].active = 0;
  for (std::size_t i = place; i + 1 < s.held.size(); ++i) {
    s.Z.col(static_cast<Eigen::Index>(i)) = s.Z.col(static_cast<Eigen::Index>(i + 1));
  }
  s.held.erase(s.held.begin() + static_cast<std::ptrdiff_t>(place));
}

/// Onto the held limits to the last digit, which the condition of H may have cost.
template <Real T>
void settle_on_held(IkScratch<T>& s) {
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (const int held : s.held) {
      const auto& l = s.limits[static_cast<std::size_t>(held)];
      T square = T(0);
      for (int k = l.first_term; k < l.last_term; ++k) {
        square +=
            s.term_ratio[static_cast<std::size_t>(k)] * s.term_ratio[static_cast<std::size_t>(k)];
      }
      const T excess = (along(s, l, s.d) - (l.active < 0 ? l.lower : l.upper)) / square;
      for (int k = l.first_term; k < l.last_term; ++k) {
        const auto term = static_cast<std::size_t>(k);
        s.d[s.term_y[term]] -= excess * s.term_ratio[term];
      }
    }
  }
}

/// s.d <- the minimum of d.H d / 2 + s.g.d within the bounds, H = s.H symmetric positive (its lower
/// triangle; overwritten by its factors): primal active set from d = 0. [Nocedal 2006, active sets]
/// @returns false if H is not positive to rounding.
template <Real T>
bool limited_step(IkScratch<T>& s) {
  MatrixOut<T> H = s.H;
  if (kernel::factorize_in_place<T>(H) >= 0) return false;
  s.d_free = -s.g;
  VectorOut<T> d_free = s.d_free;
  kernel::solve_factorized<T>(H, d_free);
  s.d.setZero();
  s.held.clear();
  for (auto& l : s.limits) {
    l.value = T(0);
    l.active = 0;
  }
  // Each limit is held and released a few times at most; the bound only guards against rounding.
  const int rounds = 4 * static_cast<int>(s.limits.size()) + 4;
  for (int round = 0; round < rounds; ++round) {
    solve_held(s);
    // As far towards the target as the next limit allows.
    T fraction = T(1);
    int next = -1, side = 0;
    for (std::size_t i = 0; i < s.limits.size(); ++i) {
      const auto& l = s.limits[i];
      if (l.active != 0 || l.first_term == l.last_term) continue;
      const T move = along(s, l, s.target) - l.value;
      const T room = move > T(0) ? l.upper - l.value : l.lower - l.value;
      if (std::abs(move) <= epsilon<T>() * (T(1) + std::abs(room))) continue;
      const T reach = std::max(T(0), room / move);
      if (reach < fraction) {
        fraction = reach;
        next = static_cast<int>(i);
        side = move > T(0) ? 1 : -1;
      }
    }
    s.d += fraction * (s.target - s.d);
    for (auto& l : s.limits) l.value = along(s, l, s.d);
    const bool room_left = static_cast<Eigen::Index>(s.held.size()) < s.Z.cols();
    if (next >= 0 && room_left) {
      hold(s, next, side);
      continue;
    }
    // At the minimum on the held limits: a limit that pulls instead of pushing is let go.
    std::size_t worst = s.held.size();
    T pull = T(0);  // less than rounding is none
    for (std::size_t i = 0; i < s.held.size(); ++i) {
      pull = std::min(pull, T(-64) * epsilon<T>() * std::abs(s.multiplier[Eigen::Index(i)]));
    }
    for (std::size_t i = 0; i < s.held.size(); ++i) {
      const int held_side = s.limits[static_cast<std::size_t>(s.held[i])].active;
      const T m = s.multiplier[static_cast<Eigen::Index>(i)] * T(held_side);
      if (m < pull) {
        pull = m;
        worst = i;
      }
    }
    if (worst == s.held.size()) break;
    release(s, worst);
  }
  settle_on_held(s);
  return true;
}

}  // namespace limb::ik
