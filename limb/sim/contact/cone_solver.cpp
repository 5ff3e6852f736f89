#include "limb/sim/contact/cone_solver.hpp"

#include <algorithm>
#include <cmath>

namespace limb {
namespace {

/// Entries of A below this fraction of the largest are rounding.
constexpr double kNegligible = 1e-12;

/// Added to the diagonal of the rows of Newton's matrix whose impulse is free (scaled to 1).
constexpr double kRegularization = 1e-10;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

double length(double x, double y) {
  return std::sqrt(x * x + y * y);
}

/// Relative to the largest entry of A.
constexpr double kRankTolerance = 1e-13;

struct Projection {
  double value[3];
  double D[3][3];  ///< derivative, by rows
};

/// Projection onto the cone |z_t| <= mu z_n.
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
  const double row[3] = {part, part * mu * d[0],
                         part * mu * d[1]};  // derivative of the normal component
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

void ConeSolver::resize(int contacts, int rows) {
  contacts_ = contacts;
  rows_ = rows;
  n_ = 3 * contacts + rows;
  if (n_ > A.rows()) {
    const int capacity = std::max(2 * static_cast<int>(A.rows()), n_);
    A = K_ = G_ = MatrixX<double>::Zero(capacity, capacity);
    w_ = trial_ = scratch_ = proximal_weight_ = slip_change_ = VectorX<double>::Zero(capacity);
    b = p = u_ = best_ = swept_ = proximal_center_ = slip_ = step_ = mu = lower = upper = rho_ =
        VectorX<double>::Zero(capacity);
  }
  if (at(contacts) > blocks_.size()) blocks_.resize(2 * at(contacts));
}

double ConeSolver::times_p(int i) const {
  const double *a = A.col(i).data(), *x = p.data();
  double sum[4] = {};
  int k = 0;
  for (; k + 4 <= n_; k += 4) {
    for (int j = 0; j < 4; ++j) sum[j] += a[k + j] * x[k + j];
  }
  for (; k < n_; ++k) sum[0] += a[k] * x[k];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void ConeSolver::prepare() {
  double largest = 0;
  for (int i = 0; i < n_; ++i) largest = std::max(largest, A(i, i));
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    Block& w = blocks_[at(c)];
    w = Block();
    w.W_nn = A(i, i);
    if (w.W_nn <= kNegligible * largest) continue;  // no motion along the normal
    w.W_n1 = A(i + 1, i);
    w.W_n2 = A(i + 2, i);
    w.rho_n = 1 / w.W_nn;
    const double S11 = A(i + 1, i + 1) - w.W_n1 * w.W_n1 / w.W_nn;
    const double S12 = A(i + 2, i + 1) - w.W_n1 * w.W_n2 / w.W_nn;
    const double S22 = A(i + 2, i + 2) - w.W_n2 * w.W_n2 / w.W_nn;
    const double mean = (S11 + S22) / 2, half = (S11 - S22) / 2,
                 radius = std::sqrt(half * half + S12 * S12);
    w.sigma[0] = mean + radius;
    w.sigma[1] = mean - radius;
    if (radius > 0) {  // half of the angle of (half, S12), without trigonometric functions
      const double larger = std::sqrt((1 + std::abs(half) / radius) / 2);
      const double smaller = S12 / (2 * radius * larger);
      w.cosine = half >= 0 ? larger : std::abs(smaller);
      w.sine = half >= 0 ? smaller : std::copysign(larger, S12);
    }
    const double tangential = A(i + 1, i + 1) + A(i + 2, i + 2);
    for (double& s : w.sigma) {
      if (s <= kNegligible * largest) s = 0;
    }
    w.rho_t = tangential > kNegligible * largest ? 2 / tangential : 0;
  }
  for (int r = 0; r < rows_; ++r) {
    const double W = A(3 * contacts_ + r, 3 * contacts_ + r);
    rho_[r] = W > kNegligible * largest ? 1 / W : 0;
  }
}

/// Solves the law of one contact exactly. With the multiplier s of sliding, u_t = -s p_t, and
/// p(s) = -(W + diag(0, s, s))^-1 b exists for every s >= 0; |p_t| - mu p_n is positive at s = 0
/// if the contact does not stick, and negative for large s. [Bonnefon 2011, quartic] writes the
/// same as a polynomial.
void ConeSolver::solve_contact(int c, const double* b_local, double* p_local) {
  Block& w = blocks_[at(c)];
  const double friction = mu[c];
  if (w.rho_n == 0 || b_local[0] >= 0) {
    p_local[0] = p_local[1] = p_local[2] = 0;
    return;
  }
  const double push = -b_local[0] * w.rho_n;  // the normal impulse without friction
  const double c1 = b_local[1] + w.W_n1 * push, c2 = b_local[2] + w.W_n2 * push;
  // From here on tangential vectors are in principal axes.
  const double k0 = w.cosine * c1 + w.sine * c2, k1 = w.cosine * c2 - w.sine * c1;
  const double m0 = (w.cosine * w.W_n1 + w.sine * w.W_n2) * w.rho_n;
  const double m1 = (w.cosine * w.W_n2 - w.sine * w.W_n1) * w.rho_n;
  double t0 = 0, t1 = 0, normal = push, size = 0, slope = 0;
  const auto evaluate = [&](double s) {
    const double d0 = w.sigma[0] + s, d1 = w.sigma[1] + s;
    const double i0 = d0 > 0 ? 1 / d0 : 0, i1 = d1 > 0 ? 1 / d1 : 0;
    t0 = -k0 * i0;
    t1 = -k1 * i1;
    normal = push - m0 * t0 - m1 * t1;
    size = std::sqrt(t0 * t0 + t1 * t1);
    slope = (size > 0 ? -(t0 * t0 * i0 + t1 * t1 * i1) / size : 0) -
            friction * (m0 * t0 * i0 + m1 * t1 * i1);
    return size - friction * normal;
  };
  if (friction == 0) {
    t0 = t1 = 0;
    normal = push;
  } else if (evaluate(0) > 0) {
    double low = 0, high = std::max(w.slip, w.sigma[0]);
    if (high <= 0) high = w.W_nn;
    double value = evaluate(high);
    for (int k = 0; k < 200 && value > 0; ++k) {
      low = high;
      high *= 4;
      value = evaluate(high);
    }
    double s = high;
    for (int k = 0; k < 60; ++k) {
      (value > 0 ? low : high) = s;
      double next = s - value / slope;
      if (!(next > low && next < high)) next = low + (high - low) / 2;
      const bool same = std::abs(next - s) <= 4e-16 * s;
      s = next;
      if (same || s <= low || s >= high) break;
      value = evaluate(s);
      if (std::abs(value) <= 4e-16 * size) break;
    }
    w.slip = s;
    normal = std::max(normal, 0.0);
    const double scale = size > 0 ? friction * normal / size : 0;  // on the cone to rounding
    t0 *= scale;
    t1 *= scale;
  }
  p_local[0] = normal;
  p_local[1] = w.cosine * t0 - w.sine * t1;
  p_local[2] = w.sine * t0 + w.cosine * t1;
}

void ConeSolver::sweep() {
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    double local[3];
    for (int r = 0; r < 3; ++r) {
      local[r] = b[i + r] + times_p(i + r);
      for (int k = 0; k < 3; ++k) local[r] -= A(i + k, i + r) * p[i + k];
    }
    solve_contact(c, local, p.data() + i);
  }
  sweep_rows();
}

void ConeSolver::sweep_rows() {
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    const double velocity = b[i] + times_p(i);
    p[i] = std::clamp(p[i] - rho_[r] * velocity, lower[r], upper[r]);
  }
}

/// Residual of the equations of Alart and Curnier, as a velocity. Writes u.
double ConeSolver::residual() {
  const auto n = static_cast<Eigen::Index>(n_);
  u_.head(n) = b.head(n);
  for (int j = 0; j < n_; ++j) {
    if (p[j] != 0) u_.head(n) += p[j] * A.col(j).head(n);
  }
  double worst = 0;
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    const Block& w = blocks_[at(c)];
    if (w.rho_n == 0) continue;
    const double normal = std::max(p[i] - w.rho_n * u_[i], 0.0);
    worst = std::max(worst, std::abs(p[i] - normal) * w.W_nn);
    if (w.rho_t == 0) continue;
    double z1 = p[i + 1] - w.rho_t * u_[i + 1], z2 = p[i + 2] - w.rho_t * u_[i + 2];
    const double size = std::sqrt(z1 * z1 + z2 * z2), bound = mu[c] * p[i];
    if (size > bound) {
      z1 *= bound / size;
      z2 *= bound / size;
    }
    worst = std::max(worst, length(p[i + 1] - z1, p[i + 2] - z2) / w.rho_t);
  }
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    if (rho_[r] == 0) continue;
    const double next = std::clamp(p[i] - rho_[r] * u_[i], lower[r], upper[r]);
    worst = std::max(worst, std::abs(p[i] - next) / rho_[r]);
  }
  return worst;
}

/// Solves K x = step in place by Gaussian elimination with row pivoting. @returns false if K is
/// singular.
bool ConeSolver::eliminate(int n) {
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::abs(K_(k, i)) > std::abs(K_(k, pivot))) pivot = i;
    }
    if (!(std::abs(K_(k, pivot)) > 0)) return false;
    if (pivot != k) {
      K_.col(k).segment(k, n - k).swap(K_.col(pivot).segment(k, n - k));
      std::swap(step_[k], step_[pivot]);
    }
    const double inverse = 1 / K_(k, k);
    for (int i = k + 1; i < n; ++i) {
      const double factor = K_(k, i) * inverse;
      if (factor == 0) continue;
      K_.col(i).segment(k, n - k) -= factor * K_.col(k).segment(k, n - k);
      step_[i] -= factor * step_[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    double sum = step_[k];
    for (int j = k + 1; j < n; ++j) sum -= K_(j, k) * step_[j];
    step_[k] = sum / K_(k, k);
  }
  return true;
}

/// Row of Newton's matrix for the equation u_i = 0.
void ConeSolver::velocity_row(int i, double rho) {
  K_.col(i).head(n_) = rho * A.col(i).head(n_);
  K_(i, i) += kRegularization;
  step_[i] = -rho * u_[i];
}

/// Row of Newton's matrix for the equation p_i = to.
void ConeSolver::fixed_row(int i, double to) {
  K_.col(i).head(n_).setZero();
  K_(i, i) = 1;
  step_[i] = to - p[i];
}

void ConeSolver::newton_rows() {
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    const double z = p[i] - rho_[r] * u_[i];
    if (rho_[r] == 0 || z <= lower[r] || z >= upper[r]) {
      fixed_row(i, std::clamp(z, lower[r], upper[r]));
    } else {
      velocity_row(i, rho_[r]);
    }
  }
}

/// One step of Newton's method with the present branch of each equation, then projection into the
/// cones. Needs u. Rows whose impulse is free get 1e-10 on their scaled diagonal, so that redundant
/// contacts have a unique, shortest step.
bool ConeSolver::newton_step() {
  const auto n = static_cast<Eigen::Index>(n_);
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    const Block& w = blocks_[at(c)];
    const double rho = w.rho_t;
    if (w.rho_n == 0 || p[i] - w.rho_n * u_[i] <= 0) {
      for (int r = 0; r < 3; ++r) fixed_row(i + r, 0);
      continue;
    }
    velocity_row(i, w.rho_n);
    const double z1 = p[i + 1] - rho * u_[i + 1], z2 = p[i + 2] - rho * u_[i + 2];
    const double size = std::sqrt(z1 * z1 + z2 * z2), bound = mu[c] * p[i];
    if (rho == 0) {
      fixed_row(i + 1, 0);
      fixed_row(i + 2, 0);
    } else if (size <= bound) {
      velocity_row(i + 1, rho);
      velocity_row(i + 2, rho);
    } else {
      // p_t - bound z / |z| = 0, z = p_t - rho u_t
      const double d1 = z1 / size, d2 = z2 / size, part = bound / size;
      const double P11 = part * d2 * d2, P12 = -part * d1 * d2, P22 = part * d1 * d1;
      K_.col(i + 1).head(n) = rho * (P11 * A.col(i + 1).head(n) + P12 * A.col(i + 2).head(n));
      K_.col(i + 2).head(n) = rho * (P12 * A.col(i + 1).head(n) + P22 * A.col(i + 2).head(n));
      K_(i + 1, i + 1) += 1 - P11;
      K_(i + 2, i + 1) -= P12;
      K_(i + 1, i + 2) -= P12;
      K_(i + 2, i + 2) += 1 - P22;
      K_(i, i + 1) -= mu[c] * d1;
      K_(i, i + 2) -= mu[c] * d2;
      step_[i + 1] = bound * d1 - p[i + 1];
      step_[i + 2] = bound * d2 - p[i + 2];
    }
  }
  newton_rows();
  if (!eliminate(n_)) return false;
  p.head(n) += step_.head(n);
  for (int i = 0; i < n_; ++i) {
    if (!std::isfinite(p[i])) return false;
  }
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    p[i] = std::max(p[i], 0.0);
    const double size = length(p[i + 1], p[i + 2]), bound = mu[c] * p[i];
    if (size <= bound) continue;
    p[i + 1] *= bound / size;
    p[i + 2] *= bound / size;
  }
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    p[i] = std::clamp(p[i], lower[r], upper[r]);
  }
  return true;
}

/// Newton's method from the present p, whose residual is given, while it makes progress.
void ConeSolver::refine_by_newton(double from, const Options& options, Report& report) {
  constexpr int kSteps = 8;
  double now = from;
  for (int k = 0; k < kSteps && now > options.tolerance; ++k) {
    ++report.newton_steps;
    if (!newton_step()) return;
    now = residual();
    keep_best(now, report);
    if (!(now < 10 * from)) return;
  }
}

/// Stores p if its residual `now` is the smallest so far.
void ConeSolver::keep_best(double now, Report& report) {
  if (!(now < report.residual)) return;
  report.residual = now;
  best_.head(n_) = p.head(n_);
}

// Proximal point method. The exact law is the fixed point of convex problems: with slip speeds
// s = mu |u_t| of the last one, minimize p A p / 2 + p (b + s n) over the cones. Each has a
// solution, and its u is unique; the map from s to mu |u_t| has a fixed point.
// [Acary 2011, fixed point; De Saxce 1998]
//
// A may be singular, so each problem gets the proximal term (e / 2) |p - p_last|^2 in the scale of
// A's diagonal; an iterate need not be near a solution of its problem before s is updated. With
// A = G G^T, the dual in the robot's velocities w, u = b + G w, is smooth and convex, and its size
// is the rank of A:
//
//   min |w|^2 / 2 + e |P(p_last - (b + G w + s n) / e)|^2 / 2,      p = P(...)
//
// P projects onto the cones; Newton's method with a line search converges globally.
// [Castro 2023, SAP; Rockafellar 1976, proximal point]

/// G by pivoted Cholesky factorization, up to the numerical rank. G_.col(i) is row i.
void ConeSolver::factorize_response() {
  rank_ = 0;
  double largest = 0;
  for (int i = 0; i < n_; ++i) {
    scratch_[i] = A(i, i);
    largest = std::max(largest, scratch_[i]);
  }
  while (rank_ < n_) {
    int pivot = 0;
    for (int i = 1; i < n_; ++i) {
      if (scratch_[i] > scratch_[pivot]) pivot = i;
    }
    if (!(scratch_[pivot] > kRankTolerance * largest)) break;
    const double inverse = 1 / std::sqrt(scratch_[pivot]);
    for (int i = 0; i < n_; ++i) {
      double entry = A(i, pivot);
      for (int k = 0; k < rank_; ++k) entry -= G_(k, i) * G_(k, pivot);
      G_(rank_, i) = entry * inverse;
    }
    for (int i = 0; i < n_; ++i) scratch_[i] -= G_(rank_, i) * G_(rank_, i);
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
void ConeSolver::proximal_argument(int c, const VectorX<double>& w, double* z) const {
  for (int r = 0; r < 3; ++r) {
    const int i = 3 * c + r;
    double u = b[i] + (r == 0 ? slip_[c] : 0);
    for (int k = 0; k < rank_; ++k) u += G_(k, i) * w[k];
    z[r] = proximal_center_[i] - u / proximal_weight_[i];
  }
}

double ConeSolver::proximal_argument_row(int r, const VectorX<double>& w) const {
  const int i = 3 * contacts_ + r;
  double u = b[i];
  for (int k = 0; k < rank_; ++k) u += G_(k, i) * w[k];
  return proximal_center_[i] - u / proximal_weight_[i];
}

/// Value of the dual; writes the impulses to p.
double ConeSolver::dual(const VectorX<double>& w) {
  double value = 0;
  for (int k = 0; k < rank_; ++k) value += w[k] * w[k] / 2;
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    p[i] = p[i + 1] = p[i + 2] = 0;
    if (blocks_[static_cast<std::size_t>(c)].rho_n == 0) continue;
    double z[3];
    proximal_argument(c, w, z);
    const Projection P = project(z, mu[c]);
    for (int r = 0; r < 3; ++r) {
      p[i + r] = P.value[r];
      value += proximal_weight_[i + r] * P.value[r] * P.value[r] / 2;
    }
  }
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    p[i] = 0;
    if (rho_[r] == 0) continue;
    const double z = proximal_argument_row(r, w);
    p[i] = std::clamp(z, lower[r], upper[r]);
    value += proximal_weight_[i] * (z * z - (z - p[i]) * (z - p[i])) / 2;
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
    proximal_argument(c, w, z);
    const Projection P = project(z, mu[c]);
    if (P.value[0] <= 0) continue;
    for (int j = 0; j < rank_; ++j) {
      double t[3];
      for (int r = 0; r < 3; ++r) {
        t[r] = (P.D[r][0] * G_(j, i) + P.D[r][1] * G_(j, i + 1) + P.D[r][2] * G_(j, i + 2)) /
               proximal_weight_[i];
      }
      for (int k = j; k < rank_; ++k) {
        K_(k, j) += t[0] * G_(k, i) + t[1] * G_(k, i + 1) + t[2] * G_(k, i + 2);
      }
    }
  }
  for (int r = 0; r < rows_; ++r) {
    if (rho_[r] == 0) continue;
    const int i = 3 * contacts_ + r;
    const double z = proximal_argument_row(r, w);
    if (z <= lower[r] || z >= upper[r]) continue;
    for (int j = 0; j < rank_; ++j) {
      const double t = G_(j, i) / proximal_weight_[i];
      for (int k = j; k < rank_; ++k) K_(k, j) += t * G_(k, i);
    }
  }
}

/// step = -K^-1 step, by Cholesky factorization in place.
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

/// One proximal step from w_, with proximal_center_ as p_last. Writes p. @returns whether Newton's
/// method converged.
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
    scratch_.head(rank_) = step_.head(rank_);
    dual_hessian(w_);
    solve_hessian();
    ++report.newton_steps;
    double slope = 0;
    for (int j = 0; j < rank_; ++j) slope += scratch_[j] * step_[j];
    double length = 1, next = value;
    for (int halving = 0; halving < kHalvings; ++halving, length /= 2) {
      trial_.head(rank_) = w_.head(rank_) + length * step_.head(rank_);
      next = dual(trial_);
      if (next <= value + 1e-4 * length * slope + 1e-14 * std::abs(value)) break;
      // Near the minimum the value is rounding, but its gradient is not.
      velocities_of(p, scratch_);
      double there = 0;
      for (int j = 0; j < rank_; ++j) {
        there += (trial_[j] - scratch_[j]) * (trial_[j] - scratch_[j]);
      }
      if (std::sqrt(there) < 0.9 * gradient) break;
    }
    w_.head(rank_) = trial_.head(rank_);
    value = next;
  }
  return false;
}

/// Moves the slip speeds towards those of the last proximal step, by `stride` times the difference.
/// While the direction stays the same the fixed-point map converges slowly, and the stride grows.
void ConeSolver::update_slip(bool first, double& stride) {
  constexpr double kLongestStride = 1e4;
  double along = 0, now = 0, before = 0;
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    const double speed = mu[c] * std::sqrt(u_[i + 1] * u_[i + 1] + u_[i + 2] * u_[i + 2]);
    if (first) slip_[c] = speed;
    const double change = speed - slip_[c];
    along += change * slip_change_[c];
    now += change * change;
    before += slip_change_[c] * slip_change_[c];
    slip_change_[c] = first ? 0 : change;
  }
  if (first) return;
  const bool straight = along > 0.9 * std::sqrt(now * before);
  stride = straight ? std::min(2 * stride, kLongestStride) : along < 0 ? 0.5 : 1;
  for (int c = 0; c < contacts_; ++c) slip_[c] = std::max(slip_[c] + stride * slip_change_[c], 0.0);
}

void ConeSolver::solve_proximal(const Options& options, Report& report) {
  // A small weight is faster where impulses change much in the null space of A; a large one helps
  // where Newton's method does not converge.
  constexpr double kFirstWeight = 1e-2, kSmallestWeight = 1e-6, kLargestWeight = 0.1;
  const auto n = static_cast<Eigen::Index>(n_);
  const double acceptable = std::max(options.tolerance, options.acceptable);
  factorize_response();
  p.head(n) = best_.head(n);
  residual();
  double weight = kFirstWeight, stride = 1, last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < options.max_proximal_steps; ++k) {
    update_slip(k == 0, stride);
    for (int c = 0; c < contacts_; ++c) {
      const int i = 3 * c;
      const double mean = (A(i, i) + A(i + 1, i + 1) + A(i + 2, i + 2)) / 3;
      for (int r = 0; r < 3; ++r) proximal_weight_[i + r] = weight * mean;
    }
    for (int r = 0; r < rows_; ++r) {
      const int i = 3 * contacts_ + r;
      proximal_weight_[i] = weight * A(i, i);
    }
    proximal_center_.head(n) = p.head(n);
    velocities_of(p, w_);
    const bool there = proximal_point(report);
    const double now = residual();
    keep_best(now, report);
    proximal_center_.head(n) = p.head(n);
    // Near the fixed point, Newton's method on the exact law converges.
    if (now <= acceptable || k % 4 == 3) {
      refine_by_newton(now, options, report);
      if (report.residual <= acceptable) return;
      p.head(n) = proximal_center_.head(n);
      residual();
    }
    if (!there) {
      weight = std::min(30 * weight, kLargestWeight);
    } else if (now > last / 2) {
      weight = std::max(0.3 * weight, kSmallestWeight);
    }
    last = now;
  }
}

/// Scales p so that it adds no energy: minimizes p A p / 2 + p b along p.
void ConeSolver::limit_energy() {
  double work = 0, square = 0;
  for (int i = 0; i < n_; ++i) {
    work += p[i] * b[i];
    square += p[i] * (u_[i] - b[i]);
  }
  if (work + square / 2 <= 0) return;
  p.head(n_) *= square > 0 ? std::clamp(-work / square, 0.0, 1.0) : 0.0;
}

ConeSolver::Report ConeSolver::solve(const Options& options) {
  // A few sweeps find which contacts stick, slide or separate; Newton's method then needs few
  // steps. Where it makes no progress, more sweeps follow before the next attempt. With jammed
  // contacts the sweeps may cycle; the proximal point method is slower but does not.
  constexpr int kSweeps = 45, kMaxAtOnce = 24;
  const auto n = static_cast<Eigen::Index>(n_);
  Report report;
  prepare();
  report.residual = residual();
  best_.head(n) = p.head(n);
  int at_once = 4;
  while (!(report.residual <= options.tolerance) && report.sweeps < kSweeps) {
    const double best_before = report.residual;
    double swept = best_before;
    for (int k = 0; k < at_once && swept > options.tolerance; ++k, ++report.sweeps) {
      sweep();
      // After the last sweep, and after the first ones, which often suffice after a warm start.
      if (report.sweeps < 4 || k == at_once - 1) swept = residual();
    }
    swept_.head(n) = p.head(n);
    keep_best(swept, report);
    refine_by_newton(swept, options, report);
    if (report.residual < std::min(best_before, swept / 2)) {
      p.head(n) = best_.head(n);
    } else {
      p.head(n) = swept_.head(n);
      at_once = std::min(2 * at_once, kMaxAtOnce);
    }
  }
  const double acceptable = std::max(options.tolerance, options.acceptable);
  if (!(report.residual <= acceptable)) solve_proximal(options, report);
  p.head(n) = best_.head(n);
  report.residual = residual();
  if (!(report.residual <= acceptable)) {
    report.converged = false;
    limit_energy();
    report.residual = residual();
  }
  return report;
}

}  // namespace limb
