// The exact law as the fixed point of convex problems: with slip speeds s = mu |u_t| taken from the
// last one, minimise p A p / 2 + p (b + s n) over the cones. Each has a solution, and its u is
// unique; the map from s to mu |u_t| has a fixed point. [Acary 2011, fixed point; De Saxce 1998]
//
// A may be singular, so each problem is held near the last impulses by (e / 2) |p - p_last|^2 in
// the scale of A's diagonal: the proximal point method, whose iterates need not come near a
// solution of the problem before s moves on. In the velocities w that the robot has, A = G G^T and
// u = b + G w, its dual is smooth, convex and as small as the robot:
//
//   min |w|^2 / 2 + e |P(p_last - (b + G w + s n) / e)|^2 / 2,      p = P(...)
//
// P projects onto the cones; Newton's method with a line search always gets there.
// [Castro 2023, SAP; Rockafellar 1976, proximal point]
#include <algorithm>
#include <cmath>

#include "limb/sim/contact/cone_solver.hpp"

namespace limb {
namespace {

/// Parts of A's largest entry that are rounding.
constexpr double kRank = 1e-13;

struct Projection {
  double value[3];
  double D[3][3];  ///< its derivative, by rows
};

/// Onto the cone |z_t| <= mu z_n.
Projection project(const double* z, double mu) {
  Projection P = {};
  const double size = std::sqrt(z[1] * z[1] + z[2] * z[2]);
  if (size <= mu * z[0]) {
    for (int r = 0; r < 3; ++r) {
      P.value[r] = z[r];
      P.D[r][r] = 1;
    }
    return P;
  }
  const double part = 1 / (1 + mu * mu), normal = (z[0] + mu * size) * part;
  if (normal <= 0) return P;
  const double d[2] = {z[1] / size, z[2] / size};
  const double row[3] = {part, part * mu * d[0], part * mu * d[1]};  // of the normal
  P.value[0] = normal;
  for (int c = 0; c < 3; ++c) P.D[0][c] = row[c];
  for (int r = 0; r < 2; ++r) {
    P.value[r + 1] = mu * normal * d[r];
    for (int c = 0; c < 3; ++c) {
      P.D[r + 1][c] = mu * d[r] * row[c];
      if (c > 0) P.D[r + 1][c] += mu * normal / size * ((r == c - 1 ? 1 : 0) - d[r] * d[c - 1]);
    }
  }
  return P;
}

}  // namespace

/// G by Cholesky's method with pivots, which ends where the rest is rounding. G_.col(i) is row i.
void ConeSolver::factorize_response() {
  rank_ = 0;
  double largest = 0;
  for (int i = 0; i < n_; ++i) {
    rest_[i] = A(i, i);
    largest = std::max(largest, rest_[i]);
  }
  while (rank_ < n_) {
    int pivot = 0;
    for (int i = 1; i < n_; ++i) {
      if (rest_[i] > rest_[pivot]) pivot = i;
    }
    if (!(rest_[pivot] > kRank * largest)) break;
    const double inverse = 1 / std::sqrt(rest_[pivot]);
    for (int i = 0; i < n_; ++i) {
      double entry = A(i, pivot);
      for (int k = 0; k < rank_; ++k) entry -= G_(k, i) * G_(k, pivot);
      G_(rank_, i) = entry * inverse;
    }
    for (int i = 0; i < n_; ++i) rest_[i] -= G_(rank_, i) * G_(rank_, i);
    ++rank_;
  }
}

/// w = G^T p
void ConeSolver::velocities_of(const VectorX<double>& impulses, VectorX<double>& w) const {
  w.head(rank_).setZero();
  for (int i = 0; i < n_; ++i) {
    if (impulses[i] != 0) w.head(rank_) += impulses[i] * G_.col(i).head(rank_);
  }
}

/// p_last - (b + G w + s n) / e of contact c.
void ConeSolver::shifted(int c, const VectorX<double>& w, double* z) const {
  for (int r = 0; r < 3; ++r) {
    const int i = 3 * c + r;
    double u = b[i] + (r == 0 ? slip_[c] : 0);
    for (int k = 0; k < rank_; ++k) u += G_(k, i) * w[k];
    z[r] = relaxed_[i] - u / hold_[i];
  }
}

double ConeSolver::shifted_row(int r, const VectorX<double>& w) const {
  const int i = 3 * contacts_ + r;
  double u = b[i];
  for (int k = 0; k < rank_; ++k) u += G_(k, i) * w[k];
  return relaxed_[i] - u / hold_[i];
}

/// The dual's value; writes the impulses to p.
double ConeSolver::dual(const VectorX<double>& w) {
  double value = 0;
  for (int k = 0; k < rank_; ++k) value += w[k] * w[k] / 2;
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    p[i] = p[i + 1] = p[i + 2] = 0;
    if (blocks_[static_cast<std::size_t>(c)].rho_n == 0) continue;
    double z[3];
    shifted(c, w, z);
    const Projection P = project(z, mu[c]);
    for (int r = 0; r < 3; ++r) {
      p[i + r] = P.value[r];
      value += hold_[i + r] * P.value[r] * P.value[r] / 2;
    }
  }
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    p[i] = 0;
    if (rho_[r] == 0) continue;
    const double z = shifted_row(r, w);
    p[i] = std::clamp(z, lower[r], upper[r]);
    value += hold_[i] * (z * z - (z - p[i]) * (z - p[i])) / 2;
  }
  return value;
}

/// K = 1 + G^T D G / e at w, its lower triangle.
void ConeSolver::dual_hessian(const VectorX<double>& w) {
  for (int k = 0; k < rank_; ++k) {
    K_.col(k).head(rank_).setZero();
    K_(k, k) = 1;
  }
  for (int c = 0; c < contacts_; ++c) {
    if (blocks_[static_cast<std::size_t>(c)].rho_n == 0) continue;
    const int i = 3 * c;
    double z[3];
    shifted(c, w, z);
    const Projection P = project(z, mu[c]);
    if (P.value[0] <= 0) continue;
    for (int j = 0; j < rank_; ++j) {
      double t[3];
      for (int r = 0; r < 3; ++r) {
        t[r] =
            (P.D[r][0] * G_(j, i) + P.D[r][1] * G_(j, i + 1) + P.D[r][2] * G_(j, i + 2)) / hold_[i];
      }
      for (int k = j; k < rank_; ++k) {
        K_(k, j) += t[0] * G_(k, i) + t[1] * G_(k, i + 1) + t[2] * G_(k, i + 2);
      }
    }
  }
  for (int r = 0; r < rows_; ++r) {
    if (rho_[r] == 0) continue;
    const int i = 3 * contacts_ + r;
    const double z = shifted_row(r, w);
    if (z <= lower[r] || z >= upper[r]) continue;
    for (int j = 0; j < rank_; ++j) {
      const double t = G_(j, i) / hold_[i];
      for (int k = j; k < rank_; ++k) K_(k, j) += t * G_(k, i);
    }
  }
}

/// step = -K^-1 step, by Cholesky's method in place.
void ConeSolver::solve_hessian() {
  for (int j = 0; j < rank_; ++j) {
    const double d = std::sqrt(K_(j, j)), inverse = 1 / d;
    K_(j, j) = d;
    for (int i = j + 1; i < rank_; ++i) K_(i, j) *= inverse;
    for (int k = j + 1; k < rank_; ++k) {
      const double factor = K_(k, j);
      if (factor == 0) continue;
      for (int i = k; i < rank_; ++i) K_(i, k) -= factor * K_(i, j);
    }
    step_[j] *= inverse;
    for (int i = j + 1; i < rank_; ++i) step_[i] -= K_(i, j) * step_[j];
  }
  for (int j = rank_ - 1; j >= 0; --j) {
    double sum = step_[j];
    for (int i = j + 1; i < rank_; ++i) sum -= K_(i, j) * step_[i];
    step_[j] = sum / K_(j, j);
  }
  step_.head(rank_) *= -1;
}

/// One proximal point: from w_, with relaxed_ as the last impulses. Writes p. @returns whether
/// Newton's method got there.
bool ConeSolver::proximal_point(Report& report) {
  constexpr int kNewton = 40, kHalvings = 25;
  constexpr double kSmall = 1e-11;
  double value = dual(w_);
  for (int k = 0; k < kNewton; ++k) {
    velocities_of(p, step_);
    double gradient = 0, size = 0;
    for (int j = 0; j < rank_; ++j) {
      step_[j] = w_[j] - step_[j];
      gradient += step_[j] * step_[j];
      size += w_[j] * w_[j];
    }
    gradient = std::sqrt(gradient);
    if (!(gradient > kSmall * (1e-2 + std::sqrt(size)))) return true;
    rest_.head(rank_) = step_.head(rank_);
    dual_hessian(w_);
    solve_hessian();
    ++report.newton_steps;
    double slope = 0;
    for (int j = 0; j < rank_; ++j) slope += rest_[j] * step_[j];
    double length = 1, next = value;
    for (int halving = 0; halving < kHalvings; ++halving, length /= 2) {
      trial_.head(rank_) = w_.head(rank_) + length * step_.head(rank_);
      next = dual(trial_);
      if (next <= value + 1e-4 * length * slope + 1e-14 * std::abs(value)) break;
      // Where the value has no digits left, its gradient has.
      velocities_of(p, rest_);
      double there = 0;
      for (int j = 0; j < rank_; ++j) {
        there += (trial_[j] - rest_[j]) * (trial_[j] - rest_[j]);
      }
      if (std::sqrt(there) < 0.9 * gradient) break;
    }
    w_.head(rank_) = trial_.head(rank_);
    value = next;
  }
  return false;
}

/// The slip speeds go towards those of the last point, by `stride` times the way. While they keep
/// their direction, the map that they follow is slow, and strides grow.
void ConeSolver::move_slip(bool first, double& stride) {
  constexpr double kLongest = 1e4;
  double along = 0, now = 0, before = 0;
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    const double speed = mu[c] * std::sqrt(u_[i + 1] * u_[i + 1] + u_[i + 2] * u_[i + 2]);
    if (first) slip_[c] = speed;
    const double way = speed - slip_[c];
    along += way * way_[c];
    now += way * way;
    before += way_[c] * way_[c];
    way_[c] = first ? 0 : way;
  }
  if (first) return;
  const bool straight = along > 0.9 * std::sqrt(now * before);
  stride = straight ? std::min(2 * stride, kLongest) : along < 0 ? 0.5 : 1;
  for (int c = 0; c < contacts_; ++c) slip_[c] = std::max(slip_[c] + stride * way_[c], 0.0);
}

void ConeSolver::solve_proximal(const Options& options, Report& report) {
  // Where impulses must go far along what does not move anything, a loose hold is faster; where
  // Newton's method does not get there, a firm one is surer.
  constexpr double kFirst = 1e-2, kLoosest = 1e-6, kFirmest = 0.1;
  const auto n = static_cast<Eigen::Index>(n_);
  const double enough = std::max(options.tolerance, options.enough);
  factorize_response();
  p.head(n) = best_.head(n);
  residual();
  double hold = kFirst, stride = 1, last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < options.max_points; ++k) {
    move_slip(k == 0, stride);
    for (int c = 0; c < contacts_; ++c) {
      const int i = 3 * c;
      const double mean = (A(i, i) + A(i + 1, i + 1) + A(i + 2, i + 2)) / 3;
      for (int r = 0; r < 3; ++r) hold_[i + r] = hold * mean;
    }
    for (int r = 0; r < rows_; ++r) {
      const int i = 3 * contacts_ + r;
      hold_[i] = hold * A(i, i);
    }
    relaxed_.head(n) = p.head(n);
    velocities_of(p, w_);
    const bool there = proximal_point(report);
    const double now = residual();
    note(now, report);
    relaxed_.head(n) = p.head(n);
    // Near the fixed point Newton's method on the exact law ends it.
    if (now <= enough || k % 4 == 3) {
      polish(now, options, report);
      if (report.residual <= enough) return;
      p.head(n) = relaxed_.head(n);
      residual();
    }
    if (!there) {
      hold = std::min(30 * hold, kFirmest);
    } else if (now > last / 2) {
      hold = std::max(0.3 * hold, kLoosest);
    }
    last = now;
  }
}

/// Scales p so that it adds no energy: the smallest p A p / 2 + p b along it.
void ConeSolver::restrain() {
  double work = 0, square = 0;
  for (int i = 0; i < n_; ++i) {
    work += p[i] * b[i];
    square += p[i] * (u_[i] - b[i]);
  }
  if (work + square / 2 <= 0) return;
  p.head(n_) *= square > 0 ? std::clamp(-work / square, 0.0, 1.0) : 0.0;
}

}  // namespace limb
