#include "limb/symbolic/derive/operational_space_inertia.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "limb/symbolic/algebra/term_order.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;

/// m without row r and column c.
Matrix minor_of(const Matrix& m, Eigen::Index r, Eigen::Index c) {
  Matrix result(m.rows() - 1, m.cols() - 1);
  for (Eigen::Index i = 0; i < result.rows(); ++i) {
    for (Eigen::Index j = 0; j < result.cols(); ++j) {
      result(i, j) = m(i + (i >= r ? 1 : 0), j + (j >= c ? 1 : 0));
    }
  }
  return result;
}

/// Laplace expansion along the first row: no divisions.
P determinant(const Matrix& m) {
  if (m.rows() == 0) return 1;
  if (m.rows() == 1) return m(0, 0);
  P sum;
  for (Eigen::Index j = 0; j < m.cols(); ++j) {
    if (m(0, j).is_zero()) continue;
    const P part = m(0, j) * determinant(minor_of(m, 0, j));
    sum = j % 2 == 0 ? sum + part : sum - part;
  }
  return sum;
}

/// adj(m) m = det(m) 1
Matrix adjugate(const Matrix& m) {
  Matrix result(m.rows(), m.cols());
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    for (Eigen::Index j = 0; j < m.cols(); ++j) {
      const P d = determinant(minor_of(m, i, j));
      result(j, i) = (i + j) % 2 == 0 ? d : -d;
    }
  }
  return result;
}

/// Divides numerator and denominator by their largest common product of powers and makes the
/// first coefficient of the denominator 1.
void cancel(OperationalSpaceInertia& form) {
  if (form.denominator.is_constant()) return;
  Ring& ring = *form.denominator.ring();
  std::map<SymbolId, int> lowest;
  for (const Factor& f : ring.monomial(form.denominator.terms()[0].monomial())) {
    if (ring.symbol(f.symbol).radicand == 0) lowest[f.symbol] = f.power;
  }
  const auto intersect = [&](const P& x) {
    if (x.is_constant() && !x.is_zero()) lowest.clear();
    for (const Term& term : x.terms()) {
      for (auto& [symbol, power] : lowest) {
        int found = 0;
        for (const Factor& f : ring.monomial(term.monomial())) {
          if (f.symbol == symbol) found = f.power;
        }
        power = std::min(power, found);
      }
    }
  };
  intersect(form.denominator);
  for (const P& x : form.numerator.reshaped()) intersect(x);
  std::vector<Factor> common;
  for (const auto& [symbol, power] : lowest) {
    if (power != 0) common.push_back({symbol, power});
  }
  const Rational scale = ordered_terms(form.denominator)[0].coefficient;
  const P divisor = P::from_terms(form.denominator.ring(),
                                  {{Term::key_of(ring.intern(std::move(common)), 0), scale}});
  form.denominator /= divisor;
  for (P& x : form.numerator.reshaped()) x /= divisor;
  for (P& x : form.mu) x /= divisor;
  for (P& x : form.rho) x /= divisor;
}

}  // namespace

OperationalSpaceInertia derive_operational_space_inertia(const Matrix& M, const FrameForm& frame,
                                                         const OperationalForces* forces) {
  OperationalSpaceInertia result;
  for (int r = 0; r < 6; ++r) {
    bool moves = false;
    for (Eigen::Index j = 0; j < frame.J.cols(); ++j) moves = moves || !frame.J(r, j).is_zero();
    // At most as many rows as joints; the rows of the origin come first.
    if (moves && static_cast<Eigen::Index>(result.rows.size()) < M.rows()) result.rows.push_back(r);
  }
  const auto k = static_cast<Eigen::Index>(result.rows.size());
  if (k == 0) {
    fail_computation("derive_operational_space_inertia",
                     fmt::format("frame '{}' does not move", frame.name));
  }
  Matrix J(k, M.cols()), Jdot(k, M.cols());
  for (Eigen::Index i = 0; i < k; ++i) {
    J.row(i) = frame.J.row(result.rows[static_cast<std::size_t>(i)]);
    Jdot.row(i) = frame.Jdot.row(result.rows[static_cast<std::size_t>(i)]);
  }
  if (k == M.rows()) {
    // J^-T M J^-1 with J^-1 = adj(J) / det(J)
    const Matrix A = adjugate(J);
    const P d = determinant(J);
    const Matrix MA = M.lazyProduct(A);
    result.numerator = A.transpose().lazyProduct(MA);
    result.denominator = d * d;
    if (forces != nullptr) {
      // rho = J^-T G, mu = J^-T V - Lambda Jdot qd
      const Matrix At = d * A.transpose();
      result.rho = At.lazyProduct(forces->G);
      result.mu = At.lazyProduct(forces->V);
    }
  } else {
    // J M^-1 J^T = B / det(M) with B = J adj(M) J^T, and the inverse is adj(B) det(M) / det(B).
    const Matrix AJ = adjugate(M).lazyProduct(J.transpose());
    const Matrix B = J.lazyProduct(AJ);
    result.numerator = determinant(M) * adjugate(B);
    result.denominator = determinant(B);
    if (forces != nullptr) {
      // rho = Lambda J M^-1 G, mu = Lambda (J M^-1 V - Jdot qd)
      const Matrix inverse = adjugate(B).lazyProduct(AJ.transpose());
      result.rho = inverse.lazyProduct(forces->G);
      result.mu = inverse.lazyProduct(forces->V);
    }
  }
  if (forces != nullptr) {
    const Vector drift = Jdot.lazyProduct(forces->v);
    result.mu -= result.numerator.lazyProduct(drift);
  }
  if (result.denominator.is_zero()) {
    fail_computation("derive_operational_space_inertia",
                     fmt::format("the rows of the Jacobian of frame '{}' are dependent at every q, "
                                 "so Lambda does not exist",
                                 frame.name));
  }
  cancel(result);
  return result;
}

}  // namespace limb::symbolic
