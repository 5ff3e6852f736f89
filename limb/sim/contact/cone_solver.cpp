#include "limb/sim/contact/cone_solver.hpp"

#include <algorithm>
#include <cmath>

namespace limb {
namespace {

/// Parts of a response below this part of the largest are rounding.
constexpr double kNothing = 1e-12;

/// Rows of Newton's matrix whose impulse is free are raised by so much of their diagonal.
constexpr double kRaise = 1e-10;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

double length(double x, double y) {
  return std::sqrt(x * x + y * y);
}

}  // namespace

void ConeSolver::resize(int contacts, int rows) {
  contacts_ = contacts;
  rows_ = rows;
  n_ = 3 * contacts + rows;
  if (n_ > A.rows()) {
    const int room = std::max(2 * static_cast<int>(A.rows()), n_);
    A = K_ = G_ = MatrixX<double>::Zero(room, room);
    w_ = trial_ = rest_ = hold_ = way_ = VectorX<double>::Zero(room);
    b = p = u_ = best_ = swept_ = relaxed_ = slip_ = step_ = mu = lower = upper = rho_ =
        VectorX<double>::Zero(room);
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
    if (w.W_nn <= kNothing * largest) continue;  // cannot move along its normal
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
    if (radius > 0) {  // half of the angle (half, S12), without its functions
      const double larger = std::sqrt((1 + std::abs(half) / radius) / 2);
      const double smaller = S12 / (2 * radius * larger);
      w.cosine = half >= 0 ? larger : std::abs(smaller);
      w.sine = half >= 0 ? smaller : std::copysign(larger, S12);
    }
    const double tangential = A(i + 1, i + 1) + A(i + 2, i + 2);
    for (double& s : w.sigma) {
      if (s <= kNothing * largest) s = 0;
    }
    w.rho_t = tangential > kNothing * largest ? 2 / tangential : 0;
  }
  for (int r = 0; r < rows_; ++r) {
    const double W = A(3 * contacts_ + r, 3 * contacts_ + r);
    rho_[r] = W > kNothing * largest ? 1 / W : 0;
  }
}

/// The law of one contact, exactly. With the multiplier s of sliding, u_t = -s p_t, and
/// p(s) = -(W + diag(0, s, s))^-1 b exists for every s >= 0; |p_t| - mu p_n is positive at s = 0
/// where it does not stick, and negative for large s. [Bonnefon 2011, quartic] has the same as a
/// polynomial.
void ConeSolver::solve_contact(int c, const double* b_local, double* p_local) {
  Block& w = blocks_[at(c)];
  const double friction = mu[c];
  if (w.rho_n == 0 || b_local[0] >= 0) {
    p_local[0] = p_local[1] = p_local[2] = 0;
    return;
  }
  const double push = -b_local[0] * w.rho_n;  // the normal impulse without friction
  const double c1 = b_local[1] + w.W_n1 * push, c2 = b_local[2] + w.W_n2 * push;
  // All tangential vectors in principal axes from here on.
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

/// Of the equations of Alart and Curnier, in velocities. Writes u.
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

/// Solves K x = step in place, by rows with pivots. @returns whether there were pivots.
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

/// A row of Newton's matrix: the velocity becomes zero.
void ConeSolver::velocity_row(int i, double rho) {
  K_.col(i).head(n_) = rho * A.col(i).head(n_);
  K_(i, i) += kRaise;
  step_[i] = -rho * u_[i];
}

/// The impulse becomes `to`.
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

/// p moves to where the equations, each on the side where it is now, are solved; then back into the
/// cones. Needs u. Rows whose impulse is free are raised by 1e-10 of their diagonal, so that
/// redundant contacts have one step, and the shortest.
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

/// Newton's method from the p of now, whose residual is given, as long as it leads on.
void ConeSolver::polish(double from, const Options& options, Report& report) {
  constexpr int kSteps = 8;
  double now = from;
  for (int k = 0; k < kSteps && now > options.tolerance; ++k) {
    ++report.newton_steps;
    if (!newton_step()) return;
    now = residual();
    note(now, report);
    if (!(now < 10 * from)) return;
  }
}

/// Keeps the best p so far.
void ConeSolver::note(double now, Report& report) {
  if (!(now < report.residual)) return;
  report.residual = now;
  best_.head(n_) = p.head(n_);
}

ConeSolver::Report ConeSolver::solve(const Options& options) {
  // A few sweeps find out who sticks, slides or leaves; Newton's method then needs few steps. Where
  // it does not get on, more sweeps follow before it tries again. Contacts that jam make the sweeps
  // go round in circles; the proximal points, slower, do not.
  constexpr int kSweeps = 45, kMostAtOnce = 24;
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
      // In the last ones, and in the first ones, which after a warm start often are enough.
      if (report.sweeps < 4 || k == at_once - 1) swept = residual();
    }
    swept_.head(n) = p.head(n);
    note(swept, report);
    polish(swept, options, report);
    if (report.residual < std::min(best_before, swept / 2)) {
      p.head(n) = best_.head(n);
    } else {
      p.head(n) = swept_.head(n);
      at_once = std::min(2 * at_once, kMostAtOnce);
    }
  }
  const double enough = std::max(options.tolerance, options.enough);
  if (!(report.residual <= enough)) solve_proximal(options, report);
  p.head(n) = best_.head(n);
  report.residual = residual();
  if (!(report.residual <= enough)) {
    report.converged = false;
    restrain();
    report.residual = residual();
  }
  return report;
}

}  // namespace limb
