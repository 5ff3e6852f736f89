#pragma once

#include <memory>

#include "limb/base/status.hpp"
#include "limb/math/scalar.hpp"

namespace limb {

struct QpOptions {
  double tolerance = 1e-6;     ///< on stationarity and constraints, in the units of the problem
  int max_outer = 30;          ///< multiplier updates
  int max_inner = 50;          ///< Newton steps per update; a solve is bounded by twice the product
  int equilibrate_every = 50;  ///< solves between two equilibrations; 0: only the first
  /// s of wall-clock time; 0: no limit. Checked between multiplier updates: a solve ends at most a
  /// few dozen Newton steps later. For hardware: with a limit, results are not reproducible to the
  /// bit.
  double time_limit = 0;
  bool known_feasible = false;  ///< disables the detection of infeasibility
};

/// Residuals of the Karush-Kuhn-Tucker conditions, each in the maximum norm, in the units of the
/// problem.
struct QpResiduals {
  double stationarity = 0;     ///< H x + g + A^T y + C^T z
  double primal = 0;           ///< A x - b, and the violation of lower <= C x <= upper
  double dual = 0;             ///< largest multiplier of an infinite bound
  double complementarity = 0;  ///< multiplier times distance to its bound
};

/// A convex quadratic program of fixed sizes, solved repeatedly:
///
///   minimize 1/2 x^T H x + g^T x   where   A x = b,   lower <= C x <= upper
///
/// by ProxQP, a proximal augmented Lagrangian method, warm-started from the previous solution.
/// [Bambade 2022] Write the problem into H() ... upper(), with infinite entries for missing bounds,
/// then call solve(). It does not throw, and does not allocate for programs up to the sizes of the
/// controllers in limb (allocation_test.cpp: 120 variables, 200 inequalities).
class Qp {
 public:
  using Matrix = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  using Vector = Eigen::Map<VectorX<double>>;

  /// Whether limb was built with the solver.
  static bool available();

  /// All entries zero, all bounds infinite.
  /// @throws Error for a negative size, no variables, options that are not positive, or if limb was
  /// built without the solver.
  Qp(int variables, int equalities, int inequalities, const QpOptions& options = {});
  ~Qp();
  Qp(Qp&&) noexcept;
  Qp& operator=(Qp&&) noexcept;

  int variables() const;
  int equalities() const;
  int inequalities() const;

  /// The problem, to be written by the caller. H is symmetric; both triangles are needed.
  Matrix H(), A(), C();
  Vector g(), b(), lower(), upper();

  /// Solves the problem as written. After a failure the next solve starts from zero.
  /// @returns ok: solved to the tolerance; iteration_limit: see the residuals; primal_infeasible:
  /// no point with |x| below 1e4 satisfies the constraints; dual_infeasible; not_finite: the
  /// problem has an entry that is not finite, and was not solved.
  Status solve() noexcept;
  /// Discards the warm start: the next solve starts from zero.
  void reset() noexcept;

  /// Results of the last solve: the point, and the multipliers of A x = b and of lower <= C x <=
  /// upper (positive at the upper bound).
  const VectorX<double>&x() const, &y() const, &z() const;
  int iterations() const;
  /// Computed from the problem as written now, not taken from the solver.
  QpResiduals residuals() const noexcept;

 private:
  struct Impl;
  static bool proves_infeasible(Impl& impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace limb
