#pragma once

#include <Eigen/Eigenvalues>

#include "limb/model/core/build_model_impl.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb::testing {

/// M(q) and h(q, v) of the bodies as loaded, without the canonical form, in long double: judges
/// accelerations, also those of other libraries.
class ForwardResidual {
 public:
  ForwardResidual(const Model<double>& model, const VectorX<double>& q, const VectorX<double>& v,
                  const VectorX<double>& tau)
      : tau_(tau.cast<Wide>()) {
    const Model<Wide> wide = model.cast<Wide>();
    const VectorX<Wide> q_wide = q.cast<Wide>(), rest = VectorX<Wide>::Zero(v.size());
    M_ = mass_matrix<Wide>(wide, q_wide);
    h_ = inverse_dynamics<Wide>(wide, q_wide, v.cast<Wide>(), rest);
  }

  /// |M a + h - tau| relative to |M| |a| + |h| + |tau|. The exact acceleration, rounded to double,
  /// has up to eps/2.
  double of(const VectorX<double>& a) const {
    const VectorX<Wide> x = a.cast<Wide>();
    return double((M_ * x + h_ - tau_).norm() / (M_.norm() * x.norm() + h_.norm() + tau_.norm()));
  }
  /// The largest entry of |M a + h - tau| relative to that of |M| |a| + |h| + |tau|, all by
  /// entries: also small inertias next to large ones must be right.
  double of_entries(const VectorX<double>& a) const {
    const VectorX<Wide> x = a.cast<Wide>(), residual = M_ * x + h_ - tau_;
    const VectorX<Wide> scale = M_.cwiseAbs() * x.cwiseAbs() + h_.cwiseAbs() + tau_.cwiseAbs();
    return double(
        residual.cwiseAbs().cwiseQuotient(scale).template maxCoeff<Eigen::PropagateNaN>());
  }
  double condition() const {
    const auto values =
        Eigen::SelfAdjointEigenSolver<MatrixX<Wide>>(M_, Eigen::EigenvaluesOnly).eigenvalues();
    return double(values[values.size() - 1] / values[0]);
  }

 private:
  using Wide = long double;
  MatrixX<Wide> M_;
  VectorX<Wide> h_, tau_;
};

}  // namespace limb::testing
