#include "limb/sim/contact/cone_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace limb {
namespace {

/// Entries of A below this fraction of the largest are rounding.
constexpr double kNegligible = 1e-12;

/// Added to the diagonal of the rows of Newton's matrix whose impulse is free (scaled to 1).
constexpr double kRegularization = 1e-10;

/// Columns of Newton's matrix that are eliminated at a time.
constexpr int kLanes = 8;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

double length(double x, double y) {
  return std::sqrt(x * x + y * y);
}

/// Relative to the largest entry of A.
constexpr double kRankTolerance = 1e-13;

/// Eigenvalue of a block whose principal axes no sweep has needed yet.
constexpr double kUnknown = -1;

}  // namespace

namespace {

/// Schur complement of the tangential part of a contact, whose first row is i, in principal axes.
template <typename Block>
void find_principal_axes(const MatrixX<double>& A, int n, int i, Block& w) {
  double largest = 0;
  for (int k = 0; k < n; ++k) largest = std::max(largest, A(k, k));
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
  for (double& s : w.sigma) {
    if (s <= kNegligible * largest) s = 0;
  }
}

/// Few unknowns with a positive definite matrix, such as those of four feet that stick: Gaussian
/// elimination of the upper triangle in two packs per row, with the right-hand side as a column.
class SmallSystem {
 public:
  static constexpr int kMost = 15;

  double* row(int i) { return rows_[at(i)].data(); }
  /// Solves for n unknowns: row(i) has row i of the matrix from column i on, x the right-hand side.
  /// @returns false if the matrix is not positive definite.
  bool solve(int n, double* x) {
    for (int i = 0; i < n; ++i) {
      row(i)[n] = x[i];
      for (int j = n + 1; j <= kMost; ++j) row(i)[j] = 0;
    }
    for (int k = 0; k < n; ++k) {
      if (!(row(k)[k] > 0)) return false;
      // Row k of the unit triangular factor replaces that of the matrix; the entries before the
      // diagonal are not used.
      const double inverse = 1 / row(k)[k];
      if (k < kLanes) {
        const Lanes first = lanes(k, 0), second = lanes(k, kLanes);
        lanes(k, 0) = inverse * first;
        lanes(k, kLanes) = inverse * second;
        for (int i = k + 1; i < n; ++i) {
          const double factor = row(k)[i];
          lanes(i, 0) -= factor * first;
          lanes(i, kLanes) -= factor * second;
        }
      } else {
        const Lanes second = lanes(k, kLanes);
        lanes(k, kLanes) = inverse * second;
        for (int i = k + 1; i < n; ++i) lanes(i, kLanes) -= row(k)[i] * second;
      }
    }
    for (int i = 0; i < n; ++i) x[i] = row(i)[n];
    for (int k = n - 1; k > 0; --k) {
      for (int i = 0; i < k; ++i) x[i] -= row(i)[k] * x[k];
    }
    return true;
  }

 private:
  using Lanes = Eigen::Array<double, kLanes, 1>;
  Eigen::Map<Lanes> lanes(int i, int column) { return Eigen::Map<Lanes>(row(i) + column); }

  std::array<std::array<double, kMost + 1>, kMost> rows_;
};

/// Sets of contacts and bounded rows ("units") that share impulses, such as those of one body among
/// many: A is zero between them.
class Islands {
 public:
  /// Joins units where `joined` says so for a pair. @returns the number of islands.
  template <typename Joined>
  int find(int units, const Joined& joined) {
    parent_.resize(at(units));
    int count = units;
    for (int i = 0; i < units; ++i) {
      parent_[at(i)] = i;
      for (int j = 0; j < i; ++j) {
        const int a = root(i), b = root(j);
        if (a == b || !joined(i, j)) continue;
        parent_[at(std::max(a, b))] = std::min(a, b);  // the first unit names the island
        --count;
      }
    }
    return count;
  }
  int root(int i) {
    while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
    return i;
  }

 private:
  std::vector<int> parent_;
};

/// Memory for problems that fall apart, one per thread: such problems are rare.
struct IslandMemory {
  Islands islands;
  std::vector<int> first;        ///< index in unit_rows of the rows of each unit
  std::vector<int> unit_rows;    ///< rows of all units; of a contact with those of its spins
  std::vector<int> units, rows;  ///< of one island
  std::vector<ConeSolver::Spin> spins;
  ConeSolver solver;
};
IslandMemory& island_memory() {
  static thread_local IslandMemory memory;
  return memory;
}

/// Solves the islands of a problem one by one: elimination takes the cube of their sizes. Writes p
/// and its velocities u. @returns nothing if there is only one island.
template <typename SpinRows>
std::optional<ConeSolver::Report> solve_islands(ConeSolver& all, int bounded,
                                                const std::vector<SpinRows>& all_spins,
                                                const ConeSolver::Options& options,
                                                VectorX<double>& u) {
  auto& [islands, first, unit_rows, units, rows, spins, part] = island_memory();
  const int contacts = all.contacts(), count = contacts + bounded;
  first.clear();
  unit_rows.clear();
  std::size_t spin = 0;
  for (int unit = 0; unit < count; ++unit) {
    first.push_back(static_cast<int>(unit_rows.size()));
    const bool contact = unit < contacts;
    for (int r = 0; r < (contact ? 3 : 1); ++r) {
      unit_rows.push_back((contact ? 3 * unit : 2 * contacts + unit) + r);
    }
    for (; spin < all_spins.size() && all_spins[spin].spin.contact == unit; ++spin) {
      for (int r = 0; r < all_spins[spin].spin.rows; ++r) {
        unit_rows.push_back(all_spins[spin].row + r);
      }
    }
  }
  first.push_back(static_cast<int>(unit_rows.size()));
  const auto joined = [&](int i, int j) {
    for (int a = first[at(i)]; a < first[at(i + 1)]; ++a) {
      const double* const column = all.A.col(unit_rows[at(a)]).data();
      for (int b = first[at(j)]; b < first[at(j + 1)]; ++b) {
        if (column[unit_rows[at(b)]] != 0) return true;
      }
    }
    return false;
  };
  if (islands.find(count, joined) == 1) return std::nullopt;
  ConeSolver::Report sum;
  for (int island = 0; island < count; ++island) {
    if (islands.root(island) != island) continue;
    units.clear();
    rows.clear();
    spins.clear();
    for (int unit = island; unit < count; ++unit) {
      if (islands.root(unit) != island) continue;
      units.push_back(unit);
      const int begin = first[at(unit)];
      for (int r = 0; r < (unit < contacts ? 3 : 1); ++r) rows.push_back(unit_rows[at(begin + r)]);
    }
    const auto own =
        static_cast<int>(std::lower_bound(units.begin(), units.end(), contacts) - units.begin());
    for (const SpinRows& each : all_spins) {
      const auto found = std::lower_bound(units.begin(), units.begin() + own, each.spin.contact);
      if (found == units.begin() + own || *found != each.spin.contact) continue;
      spins.push_back({static_cast<int>(found - units.begin()), each.spin.rows, each.spin.radius});
      for (int r = 0; r < each.spin.rows; ++r) rows.push_back(each.row + r);
    }
    part.resize(own, static_cast<int>(units.size()) - own, spins);
    for (int k = 0; k < part.size(); ++k) {
      const double* const column = all.A.col(rows[at(k)]).data();
      for (int l = 0; l < part.size(); ++l) part.A(l, k) = column[rows[at(l)]];
      part.b[k] = all.b[rows[at(k)]];
      part.p[k] = all.p[rows[at(k)]];
    }
    for (std::size_t k = 0; k < units.size(); ++k) {
      const auto i = static_cast<int>(k);
      if (i < own) {
        part.mu[i] = all.mu[units[k]];
      } else {
        part.lower[i - own] = all.lower[units[k] - contacts];
        part.upper[i - own] = all.upper[units[k] - contacts];
      }
    }
    const ConeSolver::Report report = part.solve(options);
    for (int k = 0; k < part.size(); ++k) {
      all.p[rows[at(k)]] = part.p[k];
      u[rows[at(k)]] = part.velocity()[k];
    }
    sum.sweeps = std::max(sum.sweeps, report.sweeps);
    sum.newton_steps = std::max(sum.newton_steps, report.newton_steps);
    sum.residual = std::max(sum.residual, report.residual);
    sum.converged &= report.converged;
  }
  return sum;
}

}  // namespace

void ConeSolver::resize(int contacts, int rows, std::span<const Spin> spins) {
  contacts_ = contacts;
  rows_ = rows;
  n_ = 3 * contacts + rows;
  spins_.clear();
  for (const Spin& spin : spins) {
    spins_.push_back({spin, n_, 0});
    n_ += spin.rows;
  }
  if (n_ > A.rows()) {
    const int capacity = std::max(2 * static_cast<int>(A.rows()), n_);
    A = G_ = MatrixX<double>::Zero(capacity, capacity);
    K_ = MatrixX<double>::Zero(capacity + kLanes, capacity);
    factor_ = MatrixX<double>::Zero(kLanes, capacity);
    w_ = trial_ = scratch_ = proximal_weight_ = slip_change_ = VectorX<double>::Zero(capacity);
    b = p = u_ = best_ = swept_ = proximal_center_ = slip_ = step_ = mu = lower = upper = rho_ =
        VectorX<double>::Zero(capacity);
  }
  if (at(contacts) > blocks_.size()) {
    blocks_.resize(2 * at(contacts));
    branch_.resize(blocks_.size());
  }
  free_.reserve(static_cast<std::size_t>(A.rows()));
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
    w.sigma[0] = kUnknown;
    const double tangential = A(i + 1, i + 1) + A(i + 2, i + 2);
    w.rho_t = tangential > kNegligible * largest ? 2 / tangential : 0;
  }
  for (int r = 0; r < rows_; ++r) {
    const double W = A(3 * contacts_ + r, 3 * contacts_ + r);
    rho_[r] = W > kNegligible * largest ? 1 / W : 0;
  }
  for (std::size_t s = 0; s < spins_.size(); ++s) {
    SpinRows& spin = spins_[s];
    Block& w = blocks_[at(spin.spin.contact)];
    if (w.spins++ == 0) w.first_spin = static_cast<int>(s);
    double trace = 0;
    for (int r = 0; r < spin.spin.rows; ++r) trace += A(spin.row + r, spin.row + r);
    spin.rho = trace > kNegligible * largest && w.rho_n > 0 ? spin.spin.rows / trace : 0;
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
  if (w.sigma[0] == kUnknown) find_principal_axes(A, n_, 3 * c, w);
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

/// Needs u, and keeps it up to date: contacts without impulse that separate cost nothing.
void ConeSolver::sweep() {
  const auto n = static_cast<Eigen::Index>(n_);
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    double* const x = p.data() + i;
    const double *const u = u_.data() + i, before[3] = {x[0], x[1], x[2]};
    if (before[0] == 0 && u[0] >= 0) continue;  // then the tangential impulses are zero too
    double local[3];
    for (int r = 0; r < 3; ++r) {
      local[r] = u[r];
      for (int k = 0; k < 3; ++k) local[r] -= A(i + k, i + r) * before[k];
    }
    solve_contact(c, local, x);
    u_.head(n) += (x[0] - before[0]) * A.col(i).head(n) +
                  (x[1] - before[1]) * A.col(i + 1).head(n) +
                  (x[2] - before[2]) * A.col(i + 2).head(n);
  }
  sweep_rows();
  if (!spins_.empty()) sweep_spins();
}

/// Scales the impulses of some rows to a size of at most `bound`.
void ConeSolver::project_disc(int i, int rows, double bound) {
  const double size = rows == 1 ? std::abs(p[i]) : length(p[i], p[i + 1]);
  if (size <= bound) return;
  for (int r = 0; r < rows; ++r) p[i + r] *= bound / size;
}

/// The normal impulses are given: exact for one row, a projected gradient step for two.
void ConeSolver::sweep_spins() {
  const auto n = static_cast<Eigen::Index>(n_);
  for (const SpinRows& spin : spins_) {
    const double bound = spin_bound(spin);
    const int i = spin.row, rows = spin.spin.rows;
    double before[2] = {};
    for (int r = 0; r < rows; ++r) {
      before[r] = p[i + r];
      p[i + r] -= spin.rho * u_[i + r];
    }
    project_disc(i, rows, bound);
    for (int r = 0; r < rows; ++r) {
      if (p[i + r] != before[r]) u_.head(n) += (p[i + r] - before[r]) * A.col(i + r).head(n);
    }
  }
}

void ConeSolver::sweep_rows() {
  const auto n = static_cast<Eigen::Index>(n_);
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    const double before = p[i];
    p[i] = std::clamp(before - rho_[r] * u_[i], lower[r], upper[r]);
    if (p[i] != before) u_.head(n) += (p[i] - before) * A.col(i).head(n);
  }
}

/// Writes u.
double ConeSolver::residual() {
  const auto n = static_cast<Eigen::Index>(n_);
  u_.head(n) = b.head(n);
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    if (p[i] == 0) continue;
    u_.head(n) +=
        p[i] * A.col(i).head(n) + p[i + 1] * A.col(i + 1).head(n) + p[i + 2] * A.col(i + 2).head(n);
  }
  for (int j = 3 * contacts_; j < n_; ++j) {
    if (p[j] != 0) u_.head(n) += p[j] * A.col(j).head(n);
  }
  return violation();
}

/// Residual of the equations of Alart and Curnier at p and u, as a velocity.
double ConeSolver::violation() const {
  double worst = 0;
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    const Block& w = blocks_[at(c)];
    if (w.rho_n == 0) continue;
    const double normal = std::max(p[i] - w.rho_n * u_[i], 0.0);
    worst = std::max(worst, std::abs(p[i] - normal) * w.W_nn);
    worst = std::max(worst, disc_violation(i + 1, 2, w.rho_t, mu[c] * p[i]));
  }
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    if (rho_[r] == 0) continue;
    const double next = std::clamp(p[i] - rho_[r] * u_[i], lower[r], upper[r]);
    worst = std::max(worst, std::abs(p[i] - next) / rho_[r]);
  }
  for (const SpinRows& spin : spins_) {
    worst = std::max(worst, disc_violation(spin.row, spin.spin.rows, spin.rho, spin_bound(spin)));
  }
  return worst;
}

/// Residual of rows whose impulses are bounded in size, as a velocity.
double ConeSolver::disc_violation(int i, int rows, double rho, double bound) const {
  if (rho == 0) return 0;
  double z[2] = {}, change[2] = {};
  for (int r = 0; r < rows; ++r) z[r] = p[i + r] - rho * u_[i + r];
  const double size = length(z[0], z[1]), part = size > bound ? bound / size : 1;
  for (int r = 0; r < rows; ++r) change[r] = p[i + r] - part * z[r];
  return length(change[0], change[1]) / rho;
}

/// Solves K x = step in place by Gaussian elimination with row pivoting. @returns false if K is
/// singular. The right-hand side is column n of K. Eight pivots at a time, and eight columns: those
/// of the pivots first, then the others, where each load of a row serves eight multiplications. A
/// positive definite K needs no pivoting; then @returns false if it is not.
bool ConeSolver::eliminate(int n, Pivoting pivoting) {
  using Lanes = Eigen::Array<double, kLanes, 1>;
  const auto row = [&](int i) { return K_.col(i).data(); };
  const auto lanes = [](double* x) { return Eigen::Map<Lanes>(x); };
  const int columns = (n + 1 + kLanes - 1) / kLanes * kLanes;
  for (int i = 0; i < n; ++i) {
    row(i)[n] = step_[i];
    for (int j = n + 1; j < columns; ++j) row(i)[j] = 0;
  }
  for (int first = 0; first < n; first += kLanes) {
    const int count = std::min(kLanes, n - first), end = first + kLanes;
    for (int k = first; k < first + count; ++k) {
      int pivot = k;
      double largest = pivoting == Pivoting::none ? row(k)[k] : std::abs(row(k)[k]);
      for (int i = k + 1; pivoting == Pivoting::rows && i < n; ++i) {
        const double size = std::abs(row(i)[k]);
        if (size > largest) {
          largest = size;
          pivot = i;
        }
      }
      if (!(largest > 0)) return false;
      if (pivot != k) {
        for (int c = first; c < columns; c += kLanes) {
          const Lanes x = lanes(row(k) + c);
          lanes(row(k) + c) = lanes(row(pivot) + c);
          lanes(row(pivot) + c) = x;
        }
        for (int j = 0; j < k - first; ++j) std::swap(factor_(j, k), factor_(j, pivot));
      }
      const Lanes from = lanes(row(k) + first);
      const double inverse = 1 / row(k)[k];
      factor_(k - first, k) = inverse;
      for (int i = k + 1; i < n; ++i) {
        const double factor = row(i)[k] * inverse;
        factor_(k - first, i) = factor;
        lanes(row(i) + first) -= factor * from;
      }
    }
    for (int c = end; c < columns; c += kLanes) {
      Lanes pivots[kLanes];
      for (int k = 0; k < count; ++k) {
        Lanes sum = lanes(row(first + k) + c);
        for (int j = 0; j < k; ++j) sum -= factor_(j, first + k) * pivots[j];
        lanes(row(first + k) + c) = pivots[k] = sum;
      }
      for (int i = end; i < n; ++i) {
        const double* const f = factor_.col(i).data();
        Lanes even = lanes(row(i) + c), odd = Lanes::Zero();
        for (int j = 0; j < kLanes; j += 2) {
          even -= f[j] * pivots[j];
          odd += f[j + 1] * pivots[j + 1];
        }
        lanes(row(i) + c) = even - odd;
      }
    }
  }
  // Few unknowns: each is subtracted from all equations at once, so that the next one waits for one
  // multiplication and one subtraction only.
  constexpr int kFew = 24;
  if (n <= kFew) {
    for (int i = 0; i < n; ++i) step_[i] = row(i)[n];
    for (int k = n - 1; k >= 0; --k) {
      const double x = step_[k] * factor_(k % kLanes, k);
      step_[k] = x;
      for (int i = 0; i < k; ++i) step_[i] -= row(i)[k] * x;
    }
    return true;
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* const from = row(k);
    double sum[4] = {from[n], 0, 0, 0};
    int j = k + 1;
    for (; j + 3 < n; j += 4) {
      for (int l = 0; l < 4; ++l) sum[l] -= from[j + l] * step_[j + l];
    }
    for (; j < n; ++j) sum[0] -= from[j] * step_[j];
    step_[k] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / from[k];
  }
  return true;
}

/// Sets an impulse that is fixed in a step of Newton's method, and updates u.
void ConeSolver::fix(int i, double to) {
  const double change = to - p[i];
  if (change == 0) return;
  p[i] = to;
  u_.head(n_) += change * A.col(i).head(n_);
}

/// Row k of Newton's matrix: entries of x A.col(i) + y A.col(j) in the columns of the free
/// impulses.
void ConeSolver::gather_row(int k, double x, int i, double y, int j) {
  double* const row = K_.col(k).data();
  const double *const a = A.col(i).data(), *const other = A.col(j).data();
  const int m = static_cast<int>(free_.size());
  const int* const at_free = free_.data();
  if (y == 0) {
    for (int l = 0; l < m; ++l) row[l] = x * a[at_free[l]];
  } else {
    for (int l = 0; l < m; ++l) row[l] = x * a[at_free[l]] + y * other[at_free[l]];
  }
}

/// Rows k.. of Newton's matrix, for the impulses from row i on, whose size is at most `coefficient`
/// times the normal impulse of the contact.
void ConeSolver::disc_rows(int k, int i, int rows, double rho, double coefficient, int contact) {
  double z[2] = {};
  for (int r = 0; r < rows; ++r) z[r] = p[i + r] - rho * u_[i + r];
  const double size = length(z[0], z[1]), bound = coefficient * p[3 * contact];
  if (size <= bound) {
    for (int r = 0; r < rows; ++r) {
      gather_row(k + r, rho, i + r, 0, i);
      K_(k + r, k + r) += kRegularization;
      step_[k + r] = -rho * u_[i + r];
    }
    return;
  }
  // p - bound z / |z| = 0, z = p - rho u
  const int column = blocks_[at(contact)].column;
  const double d[2] = {z[0] / size, z[1] / size}, part = rows == 1 ? 0 : bound / size;
  const double P[2][2] = {{part * d[1] * d[1], -part * d[0] * d[1]},
                          {-part * d[0] * d[1], part * d[0] * d[0]}};
  for (int r = 0; r < rows; ++r) {
    gather_row(k + r, rho * P[r][0], i, rho * P[r][1], i + rows - 1);
    for (int c = 0; c < rows; ++c) K_(k + c, k + r) += (r == c ? 1 : 0) - P[r][c];
    K_(column, k + r) -= coefficient * d[r];
    step_[k + r] = bound * d[r] - p[i + r];
  }
}

/// One step of Newton's method with the present branch of each equation, then projection into the
/// cones. Needs u. Only free impulses are unknowns: those of separated contacts and of rows at a
/// bound are set first. Rows whose impulse is free get 1e-10 on their scaled diagonal, so that
/// redundant contacts have a unique, shortest step.
bool ConeSolver::newton_step() {
  // Which impulses are free.
  free_.clear();
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    const Block& w = blocks_[at(c)];
    const bool separated = w.rho_n == 0 || p[i] - w.rho_n * u_[i] <= 0;
    branch_[at(c)] = separated ? Branch::separated : Branch::stick;
  }
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    const double z = p[i] - rho_[r] * u_[i];
    const bool fixed = rho_[r] == 0 || z <= lower[r] || z >= upper[r];
    step_[i] = fixed ? std::clamp(z, lower[r], upper[r]) : std::numeric_limits<double>::quiet_NaN();
  }
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    const bool separated = branch_[at(c)] == Branch::separated;
    if (separated) fix(i, 0);
    if (separated || mu[c] == 0 || blocks_[at(c)].rho_t == 0) {
      fix(i + 1, 0);
      fix(i + 2, 0);
    }
    if (separated) continue;
    blocks_[at(c)].column = static_cast<int>(free_.size());
    free_.push_back(i);
    if (mu[c] == 0 || blocks_[at(c)].rho_t == 0) {
      branch_[at(c)] = Branch::normal;
    } else {
      free_.push_back(i + 1);
      free_.push_back(i + 2);
    }
  }
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    if (std::isnan(step_[i])) {
      free_.push_back(i);
    } else {
      fix(i, step_[i]);
    }
  }
  const int first_spin = static_cast<int>(free_.size());
  for (const SpinRows& spin : spins_) {
    const bool fixed = branch_[at(spin.spin.contact)] == Branch::separated || spin.rho == 0 ||
                       spin.spin.radius == 0;
    for (int r = 0; r < spin.spin.rows; ++r) {
      if (fixed) {
        fix(spin.row + r, 0);
      } else {
        free_.push_back(spin.row + r);
      }
    }
  }
  // Their equations.
  const int m = static_cast<int>(free_.size());
  if (all_stick()) {
    // A p = -b of the free impulses: symmetric.
    if (m <= SmallSystem::kMost) {
      SmallSystem system;
      for (int k = 0; k < m; ++k) {
        const int i = free_[at(k)];
        const double* const a = A.col(i).data();
        double* const row = system.row(k);
        for (int l = 0; l < m; ++l) row[l] = a[free_[at(l)]];
        row[k] += kRegularization / rho_of(i);
        step_[k] = -u_[i];
      }
      if (system.solve(m, step_.data())) return add_step(m);
    }
    for (int k = 0; k < m; ++k) {
      const int i = free_[at(k)];
      gather_row(k, 1, i, 0, i);
      K_(k, k) += kRegularization / rho_of(i);
      step_[k] = -u_[i];
    }
    if (eliminate(m, Pivoting::none)) return add_step(m);
  }
  for (int k = 0; k < first_spin;) {
    const int i = free_[at(k)];
    if (i >= 3 * contacts_) {
      const double rho = rho_[i - 3 * contacts_];
      gather_row(k, rho, i, 0, i);
      K_(k, k) += kRegularization;
      step_[k++] = -rho * u_[i];
      continue;
    }
    const int c = i / 3;
    const Block& w = blocks_[at(c)];
    gather_row(k, w.rho_n, i, 0, i);
    K_(k, k) += kRegularization;
    step_[k] = -w.rho_n * u_[i];
    if (branch_[at(c)] == Branch::normal) {
      ++k;
      continue;
    }
    disc_rows(k + 1, i + 1, 2, w.rho_t, mu[c], c);
    k += 3;
  }
  int k_spin = first_spin;
  for (const SpinRows& spin : spins_) {
    if (k_spin == m || free_[at(k_spin)] != spin.row) continue;  // fixed
    disc_rows(k_spin, spin.row, spin.spin.rows, spin.rho, spin.spin.radius, spin.spin.contact);
    k_spin += spin.spin.rows;
  }
  return eliminate(m, Pivoting::rows) && add_step(m);
}

/// Whether no free impulse is at the bound of its disc.
bool ConeSolver::all_stick() const {
  const auto sticks = [&](int i, int rows, double rho, double bound) {
    double z[2] = {};
    for (int r = 0; r < rows; ++r) z[r] = p[i + r] - rho * u_[i + r];
    return length(z[0], z[1]) <= bound;
  };
  for (int c = 0; c < contacts_; ++c) {
    if (branch_[at(c)] != Branch::stick) continue;
    if (!sticks(3 * c + 1, 2, blocks_[at(c)].rho_t, mu[c] * p[3 * c])) return false;
  }
  for (const SpinRows& spin : spins_) {
    const bool fixed = branch_[at(spin.spin.contact)] == Branch::separated || spin.rho == 0 ||
                       spin.spin.radius == 0;
    if (!fixed && !sticks(spin.row, spin.spin.rows, spin.rho, spin_bound(spin))) return false;
  }
  return true;
}

/// Scale of the equation of a free impulse.
double ConeSolver::rho_of(int i) const {
  if (i < 3 * contacts_) {
    const Block& w = blocks_[at(i / 3)];
    return i % 3 == 0 ? w.rho_n : w.rho_t;
  }
  if (i < 3 * contacts_ + rows_) return rho_[i - 3 * contacts_];
  for (const SpinRows& spin : spins_) {
    if (i >= spin.row && i < spin.row + spin.spin.rows) return spin.rho;
  }
  return 0;
}

/// Adds a step of the free impulses, and projects into the cones. @returns false if the step is not
/// finite.
bool ConeSolver::add_step(int m) {
  for (int k = 0; k < m; ++k) {
    if (!std::isfinite(step_[k])) return false;
    p[free_[at(k)]] += step_[k];
  }
  for (int c = 0; c < contacts_; ++c) {
    if (branch_[at(c)] == Branch::separated) continue;
    const int i = 3 * c;
    p[i] = std::max(p[i], 0.0);
    project_disc(i + 1, 2, mu[c] * p[i]);
  }
  for (const SpinRows& spin : spins_) project_disc(spin.row, spin.spin.rows, spin_bound(spin));
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
    if (report.newton_steps >= options.max_newton_steps) return;
    is_best_ = false;
    ++report.newton_steps;
    if (!newton_step()) return;
    now = residual();
    keep_best(now, report);
    is_best_ = report.residual == now;
    if (!(now < 100 * from)) return;
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
// With spins, s also has the sum of their r |w|.
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

/// p_last - (b + G w + s n) / e of row i, without s.
double ConeSolver::proximal_argument(int i, const VectorX<double>& w) const {
  const double u = b[i] + G_.col(i).head(rank_).dot(w.head(rank_));
  return proximal_center_[i] - u / proximal_weight_[i];
}

/// Projection of the rows of a contact, spins included, onto its cone, in the metric of e.
struct ConeSolver::Projection {
  int size = 0;
  int row[6];
  double value[6];
  double D[6][6];  ///< derivative with respect to the argument, by rows, if there is an impulse
};

ConeSolver::Projection ConeSolver::project_contact(int c, const VectorX<double>& w) const {
  // The normal impulse, then the tangential ones and each spin: at most `coefficient` times it.
  struct Disc {
    int first, rows;
    double coefficient, size;
    bool bounded;
  };
  Projection P = {};
  Disc discs[3];
  int count = 0;
  const Block& block = blocks_[at(c)];
  const auto add_rows = [&](int i, int rows) {
    for (int r = 0; r < rows; ++r) P.row[P.size++] = i + r;
  };
  add_rows(3 * c, 3);
  discs[count++] = {1, 2, mu[c], 0, true};
  for (int s = 0; s < block.spins; ++s) {
    const SpinRows& spin = spins_[at(block.first_spin + s)];
    discs[count++] = {P.size, spin.spin.rows, spin.rho > 0 ? spin.spin.radius : 0, 0, true};
    add_rows(spin.row, spin.spin.rows);
  }
  double z[6] = {}, e[6] = {};
  for (int r = 0; r < P.size; ++r) {
    z[r] = proximal_argument(P.row[r], w);
    e[r] = proximal_weight_[P.row[r]];
  }
  z[0] -= slip_[c] / e[0];
  for (int k = 0; k < count; ++k) {
    const double* x = z + discs[k].first;
    discs[k].size = discs[k].rows == 1 ? std::abs(x[0]) : length(x[0], x[1]);
  }
  // The derivative of the squared distance along the normal is concave: from below, the discs that
  // bind only become fewer.
  double normal = 0, mass = 0;
  for (bool changed = true; changed;) {
    double sum = e[0] * z[0];
    mass = e[0];
    for (int k = 0; k < count; ++k) {
      const Disc& disc = discs[k];
      if (!disc.bounded) continue;
      sum += e[disc.first] * disc.coefficient * disc.size;
      mass += e[disc.first] * disc.coefficient * disc.coefficient;
    }
    normal = sum / mass;
    changed = false;
    for (int k = 0; k < count; ++k) {
      if (!discs[k].bounded || discs[k].size > discs[k].coefficient * normal) continue;
      discs[k].bounded = false;
      changed = true;
    }
  }
  if (normal <= 0) return P;
  double by[6] = {e[0] / mass};  // derivative of the normal impulse
  for (int k = 0; k < count; ++k) {
    const Disc& disc = discs[k];
    for (int r = disc.first; disc.bounded && r < disc.first + disc.rows; ++r) {
      by[r] = e[r] * disc.coefficient * (disc.size > 0 ? z[r] / disc.size : 0) / mass;
    }
  }
  P.value[0] = normal;
  for (int j = 0; j < P.size; ++j) P.D[0][j] = by[j];
  for (int k = 0; k < count; ++k) {
    const Disc& disc = discs[k];
    for (int r = disc.first; r < disc.first + disc.rows; ++r) {
      if (!disc.bounded || disc.size == 0) {
        P.value[r] = disc.bounded ? 0 : z[r];
        P.D[r][r] = disc.bounded ? 0 : 1;
        continue;
      }
      const double d = z[r] / disc.size, bound = disc.coefficient * normal;
      P.value[r] = bound * d;
      for (int j = 0; j < P.size; ++j) P.D[r][j] = disc.coefficient * d * by[j];
      for (int j = disc.first; j < disc.first + disc.rows; ++j) {
        P.D[r][j] += bound / disc.size * ((j == r ? 1 : 0) - d * z[j] / disc.size);
      }
    }
  }
  return P;
}

/// Value of the dual; writes the impulses to p.
double ConeSolver::dual(const VectorX<double>& w) {
  double value = 0;
  for (int k = 0; k < rank_; ++k) value += w[k] * w[k] / 2;
  for (const SpinRows& spin : spins_) p.segment(spin.row, spin.spin.rows).setZero();
  for (int c = 0; c < contacts_; ++c) {
    const int i = 3 * c;
    p[i] = p[i + 1] = p[i + 2] = 0;
    if (blocks_[at(c)].rho_n == 0) continue;
    const Projection P = project_contact(c, w);
    for (int r = 0; r < P.size; ++r) {
      p[P.row[r]] = P.value[r];
      value += proximal_weight_[P.row[r]] * P.value[r] * P.value[r] / 2;
    }
  }
  for (int r = 0; r < rows_; ++r) {
    const int i = 3 * contacts_ + r;
    p[i] = 0;
    if (rho_[r] == 0) continue;
    const double z = proximal_argument(i, w);
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
    if (blocks_[at(c)].rho_n == 0) continue;
    const Projection P = project_contact(c, w);
    if (P.value[0] <= 0) continue;
    for (int j = 0; j < rank_; ++j) {
      double t[6] = {};
      for (int r = 0; r < P.size; ++r) {
        for (int k = 0; k < P.size; ++k) {
          t[r] += P.D[r][k] * G_(j, P.row[k]) / proximal_weight_[P.row[k]];
        }
      }
      auto column = K_.col(j).segment(j, rank_ - j);
      for (int r = 0; r < P.size; ++r) column += t[r] * G_.col(P.row[r]).segment(j, rank_ - j);
    }
  }
  for (int r = 0; r < rows_; ++r) {
    if (rho_[r] == 0) continue;
    const int i = 3 * contacts_ + r;
    const double z = proximal_argument(i, w);
    if (z <= lower[r] || z >= upper[r]) continue;
    for (int j = 0; j < rank_; ++j) {
      const double t = G_(j, i) / proximal_weight_[i];
      K_.col(j).segment(j, rank_ - j) += t * G_.col(i).segment(j, rank_ - j);
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
      K_.col(k).segment(k, rank_ - k) -= factor * K_.col(j).segment(k, rank_ - k);
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
bool ConeSolver::proximal_point(const Options& options, Report& report) {
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
    if (report.newton_steps >= options.max_newton_steps) return false;
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
    double speed = mu[c] * length(u_[i + 1], u_[i + 2]);
    const Block& block = blocks_[at(c)];
    for (int s = 0; s < block.spins; ++s) {
      const SpinRows& spin = spins_[at(block.first_spin + s)];
      speed += spin.spin.radius * length(u_[spin.row], spin.spin.rows == 1 ? 0 : u_[spin.row + 1]);
    }
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
    if (report.newton_steps >= options.max_newton_steps) return;
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
    for (const SpinRows& spin : spins_) {
      const int i = spin.row, end = i + spin.spin.rows;
      const double mean = (A(i, i) + A(end - 1, end - 1)) / 2;
      for (int r = i; r < end; ++r) proximal_weight_[r] = weight * (mean > 0 ? mean : 1);
    }
    proximal_center_.head(n) = p.head(n);
    velocities_of(p, w_);
    const bool there = proximal_point(options, report);
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

ConeSolver::Report ConeSolver::solve(const Options& given) {
  // Many bodies that do not touch each other.
  constexpr int kLarge = 96;  // rows
  if (n_ > kLarge && this != &island_memory().solver) {
    if (const auto report = solve_islands(*this, rows_, spins_, given, u_)) return *report;
  }
  // Speeds above 1000 m/s leave fewer digits: the tolerances are then relative to them.
  constexpr double kRelativeTolerance = 1e-13, kRelativeAcceptable = 1e-9;
  double fastest = 0;
  for (int i = 0; i < n_; ++i) fastest = std::max(fastest, std::abs(b[i]));
  Options options = given;
  options.tolerance = std::max(given.tolerance, kRelativeTolerance * fastest);
  options.acceptable = std::max(given.acceptable, kRelativeAcceptable * fastest);
  // The time of a step of Newton's method grows with the cube of the size, that of a sweep with the
  // square: hundreds of contacts that press on each other get fewer of them.
  constexpr double kMostNewton = 4e9, kMostSweeping = 1e9;  // multiplications
  constexpr int kLeastSteps = 20, kLeastSweeps = 100;
  const double size = n_;
  options.max_newton_steps = std::min(
      options.max_newton_steps,
      std::max(static_cast<int>(std::min(kMostNewton / (size * size * size), 1e6)), kLeastSteps));
  options.max_sweeps = std::min(
      options.max_sweeps,
      std::max(static_cast<int>(std::min(kMostSweeping / (size * size), 1e6)), kLeastSweeps));
  // Newton's method from the warm start needs few steps if it converges at all. A few sweeps find
  // which contacts stick, slide or separate, and where it still makes no progress, more sweeps
  // follow before the next attempt. With jammed contacts the sweeps may cycle; a proximal point
  // method does not, but its steps take the time of many sweeps: with dozens of contacts thousands
  // of sweeps are faster.
  constexpr int kFirstSweeps = 45, kFirstProximal = 40, kMaxAtOnce = 96;
  constexpr double kNear = 1e3;
  const auto n = static_cast<Eigen::Index>(n_);
  const double acceptable = std::max(options.tolerance, options.acceptable);
  Report report;
  prepare();
  report.residual = residual();
  best_.head(n) = p.head(n);
  is_best_ = true;
  const auto use_best = [&] {
    if (is_best_) return;
    p.head(n) = best_.head(n);
    report.residual = residual();
    is_best_ = true;
  };
  const bool warm = (p.head(n).array() != 0).any();
  if (warm && report.residual > options.tolerance) {
    // At rest, one sweep suffices.
    if (report.residual < kNear * options.tolerance) {
      sweep();
      ++report.sweeps;
      const double swept = violation();
      keep_best(swept, report);
      is_best_ = report.residual == swept;
      use_best();
    }
    refine_by_newton(report.residual, options, report);
  }
  int at_once = 4;
  const auto sweep_until = [&](int sweeps) {  // from p and u
    while (!(report.residual <= options.tolerance) && report.sweeps < sweeps) {
      const double best_before = report.residual;
      double swept = best_before;
      for (int k = 0; k < at_once && swept > options.tolerance; ++k, ++report.sweeps) {
        sweep();
        // After the last sweep, and after the first ones, which often suffice.
        if (report.sweeps < 4 || k == at_once - 1) swept = violation();
      }
      is_best_ = false;
      swept_.head(n) = p.head(n);
      keep_best(swept, report);
      refine_by_newton(swept, options, report);
      if (report.residual <= options.tolerance) return;
      // Redundant contacts whose targets contradict each other slightly: nothing better is near.
      if (report.residual <= acceptable && report.residual > best_before / 2) return;
      if (report.residual < std::min(best_before, swept / 2)) {
        use_best();
      } else {
        p.head(n) = swept_.head(n);
        residual();
        is_best_ = false;
        at_once = std::min(2 * at_once, kMaxAtOnce);
      }
    }
  };
  const auto proximal_until = [&](int newton_steps) {
    Options limited = options;
    limited.max_newton_steps = std::min(newton_steps, options.max_newton_steps);
    is_best_ = false;
    solve_proximal(limited, report);
  };
  use_best();
  sweep_until(std::min(kFirstSweeps, options.max_sweeps));
  if (!(report.residual <= acceptable)) {
    proximal_until(report.newton_steps + kFirstProximal);
    if (!(report.residual <= acceptable)) {
      p.head(n) = swept_.head(n);
      residual();
      sweep_until(options.max_sweeps);
    }
    if (!(report.residual <= acceptable)) proximal_until(options.max_newton_steps);
  }
  use_best();
  if (!(report.residual <= acceptable)) {
    report.converged = false;
    limit_energy();
    report.residual = residual();
  }
  return report;
}

}  // namespace limb
