// The exact law as the fixed point of convex problems: with slip speeds s = mu |u_t| taken from the
// last one, minimise p A p / 2 + p (b + s n) over the cones. Each has a solution, its u is unique,
// and p u = -s p_n there, so that no energy comes in; and the map from s to mu |u_t| has a fixed
// point. [Acary 2011, fixed point; De Saxce 1998]
#include <algorithm>
#include <cmath>

#include "limb/sim/contact/cone_solver.hpp"

namespace limb {
namespace {

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

/// How far p is from the solution of the convex problem, m/s; fills Newton's matrix. Needs u.
double ConeSolver::convex_equations() {
  const auto n = static_cast<Eigen::Index>(n_);
  double worst = 0;
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    if (blocks_[static_cast<std::size_t>(c)].rho_n == 0) {
      for (int r = 0; r < 3; ++r) fixed_row(i + r, 0);
      continue;
    }
    const double rho = 3 / (A(i, i) + A(i + 1, i + 1) + A(i + 2, i + 2));
    double z[3];
    for (int r = 0; r < 3; ++r) z[r] = p[i + r] - rho * (u_[i + r] + (r == 0 ? slip_[c] : 0));
    const Projection P = project(z, mu[c]);
    double square = 0;
    for (int r = 0; r < 3; ++r) {
      // (1 - D) dp + rho D A dp = P(z) - p
      K_.col(i + r).head(n) =
          rho * (P.D[r][0] * A.col(i).head(n) + P.D[r][1] * A.col(i + 1).head(n) +
                 P.D[r][2] * A.col(i + 2).head(n));
      for (int k = 0; k < 3; ++k) K_(i + k, i + r) += (k == r ? 1 + 1e-10 : 0) - P.D[r][k];
      step_[i + r] = P.value[r] - p[i + r];
      square += step_[i + r] * step_[i + r];
    }
    worst = std::max(worst, std::sqrt(square) / rho);
  }
  newton_rows();
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    if (rho_[r] == 0) continue;
    const double z = std::clamp(p[i] - rho_[r] * u_[i], lower[r], upper[r]);
    worst = std::max(worst, std::abs(z - p[i]) / rho_[r]);
  }
  return worst;
}

/// Projected gradients, contact by contact: slow, and always downhill.
void ConeSolver::convex_sweep() {
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    if (blocks_[static_cast<std::size_t>(c)].rho_n == 0) continue;
    const double rho = 1 / (A(i, i) + A(i + 1, i + 1) + A(i + 2, i + 2));
    double z[3];
    for (int r = 0; r < 3; ++r) {
      z[r] = p[i + r] - rho * (b[i + r] + times_p(i + r) + (r == 0 ? slip_[c] : 0));
    }
    const Projection P = project(z, mu[c]);
    for (int r = 0; r < 3; ++r) p[i + r] = P.value[r];
  }
  sweep_rows();
}

/// The convex problem of the slip speeds of now, to the tolerance if it can.
void ConeSolver::minimize(const Options& options, Report& report) {
  constexpr int kRounds = 8, kNewton = 12, kSweeps = 10;
  const auto n = static_cast<Eigen::Index>(n_);
  for (int round = 0; round < kRounds; ++round) {
    residual();
    double now = convex_equations();
    swept_.head(n) = p.head(n);
    double best = now;
    for (int k = 0; k < kNewton && now > options.tolerance; ++k) {
      ++report.newton_steps;
      if (!eliminate(n_)) break;
      p.head(n) += step_.head(n);
      residual();
      now = convex_equations();
      if (now < best) {
        best = now;
        swept_.head(n) = p.head(n);
      }
      if (!std::isfinite(now)) break;
    }
    p.head(n) = swept_.head(n);
    if (best <= options.tolerance) return;
    for (int k = 0; k < kSweeps; ++k, ++report.sweeps) convex_sweep();
  }
}

void ConeSolver::solve_convex(const Options& options, Report& report) {
  const auto n = static_cast<Eigen::Index>(n_);
  p.head(n) = best_.head(n);
  residual();
  double last = report.residual;
  for (int k = 0; report.sweeps < options.max_sweeps && k < options.max_sweeps / 4; ++k) {
    for (int c = 0; c < contacts_; ++c) {
      slip_[c] = mu[c] * std::sqrt(u_[3 * c + 1] * u_[3 * c + 1] + u_[3 * c + 2] * u_[3 * c + 2]);
    }
    minimize(options, report);
    const double now = residual();
    note(now, report);
    if (report.residual <= options.enough) return;
    // Near the fixed point Newton's method on the exact law ends it.
    if (k % 3 == 2 || now < 1e-3 * last) {
      relaxed_.head(n) = p.head(n);
      polish(now, options, report);
      if (report.residual <= options.enough) return;
      p.head(n) = relaxed_.head(n);
      residual();
    }
    last = now;
  }
  // Without a solution, the convex problem's own one: in the cones, and no energy came in.
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    const Projection P = project(p.data() + i, mu[c]);
    for (int r = 0; r < 3; ++r) p[i + r] = P.value[r];
  }
  residual();
}

}  // namespace limb
