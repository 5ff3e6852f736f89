#pragma once

#include <memory>
#include <string_view>

#include "limb/math/scalar.hpp"

namespace limb {

/// How a quadratic program ended.
enum class QpStatus {
  solved,             ///< to the tolerance
  iteration_limit,    ///< stopped in time; the residuals say how far from the solution
  primal_infeasible,  ///< no point satisfies the constraints, but for some with |x| beyond 1e4
  dual_infeasible,    ///< the cost has no lowest value
  not_finite,         ///< a number of the problem is not finite; nothing was tried
};
std::string_view to_text(QpStatus status);

struct QpOptions {
  double tolerance = 1e-6;     ///< of stationarity and constraints, in the units of the problem
  int max_outer = 30;          ///< changes of the multipliers, and
  int max_inner = 50;          ///< steps of Newton for each: twice their product bounds a solve
  int equilibrate_every = 50;  ///< solves between two scalings of the problem; 0: only the first
  /// s, of the clock on the wall; 0: none. It is looked at between some changes of the multipliers:
  /// a solve ends a few dozen steps of Newton after it. For hardware: runs under it are not the
  /// same bits again.
  double time_limit = 0;
  bool surely_feasible = false;  ///< no verdict of infeasibility: where it is known to be false
};

/// How far a point and its multipliers are from the conditions of Karush, Kuhn and Tucker, each in
/// the maximum norm, in the units of the problem.
struct QpResiduals {
  double stationarity = 0;     ///< H x + g + A^T y + C^T z
  double primal = 0;           ///< A x - b, and how far C x is outside its bounds
  double dual = 0;             ///< of multipliers that push towards a bound that is not there
  double complementarity = 0;  ///< multiplier times distance to the bound that it pushes from
};

/// A convex quadratic program of fixed sizes, solved again and again:
///
///   minimise 1/2 x^T H x + g^T x   where   A x = b,   lower <= C x <= upper
///
/// by ProxQP, a proximal augmented Lagrangian method that each solve starts from the solution
/// before. [Bambade 2022] Write the problem into H() ... upper(), infinite bounds where there are
/// none, then solve(): no exception, and no allocation, of programs up to the sizes that
/// controllers here have (allocation_test.cpp: 120 variables, 200 inequalities).
class Qp {
 public:
  using Matrix = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  using Vector = Eigen::Map<VectorX<double>>;

  /// Whether limb was built with the solver.
  static bool available();

  /// All numbers zero, all bounds infinite.
  /// @throws Error for sizes that are negative or no variables, numbers of the options that are not
  /// positive, or if limb was built without the solver.
  Qp(int variables, int equalities, int inequalities, const QpOptions& options = {});
  ~Qp();
  Qp(Qp&&) noexcept;
  Qp& operator=(Qp&&) noexcept;

  int variables() const;
  int equalities() const;
  int inequalities() const;

  /// The problem, to be written. H is symmetric, both triangles.
  Matrix H(), A(), C();
  Vector g(), b(), lower(), upper();

  /// Solves what is written. After a failure the next solve starts from zero.
  QpStatus solve() noexcept;
  /// The next solve starts from zero.
  void forget() noexcept;

  /// Of the last solve: the point, and the multipliers of A x = b and of lower <= C x <= upper
  /// (positive at the upper bound).
  const VectorX<double>&x() const, &y() const, &z() const;
  int iterations() const;
  /// Recomputed from the problem as it is written now, not from what the solver says.
  QpResiduals residuals() const noexcept;

 private:
  struct Parts;
  static bool proves_infeasible(Parts& parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace limb
