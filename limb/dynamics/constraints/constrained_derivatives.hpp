#pragma once

#include "limb/dynamics/constraints/constrained_dynamics.hpp"

/// Derivatives of the dynamics with given contacts and closed loops. dq is a tangent as in
/// rnea_derivatives: column k is the derivative along integrate(q, eps e_k). No allocation; each
/// function throws Error if a size is wrong, before anything is computed.
/// Derivation: docs/derivations/constrained_derivatives.md.
namespace limb {

/// Sized for all constraints of a set, active or not: rows of the active ones come first, as in the
/// set, and those after set.rows() are zero.
template <typename T>
struct ConstrainedDerivatives {
  ConstrainedDerivatives(const Model<T>& model, const ConstraintSet<T>& set);

  VectorX<T> a, f;                   ///< as from constrained_forward_dynamics
  MatrixX<T> da_dq, da_dv, da_dtau;  ///< n x n
  MatrixX<T> df_dq, df_dv, df_dtau;  ///< max_rows() x n
};

template <typename T>
struct ImpactDerivatives {
  ImpactDerivatives(const Model<T>& model, const ConstraintSet<T>& set);

  VectorX<T> v, impulse;                ///< as from impact: velocities after it
  MatrixX<T> dv_dq, dv_dv;              ///< n x n, by q and by v before the impact
  MatrixX<T> dimpulse_dq, dimpulse_dv;  ///< max_rows() x n
};

template <typename T>
struct ConstrainedDerivativeWorkspaceData;

/// Scratch of the functions below: one per thread, model and set.
template <typename T>
class ConstrainedDerivativeWorkspace {
 public:
  ConstrainedDerivativeWorkspace(const Model<T>& model, const ConstraintSet<T>& set);

  /// @throws Error unless this was made for that model, or for a copy of it, and that set.
  void check(const char* call, const Model<T>& model, const ConstraintSet<T>& set) const;

  /// Internal: for the algorithms of this module, which include constrained_derivatives_data.hpp.
  ConstrainedDerivativeWorkspaceData<T>& data() { return *data_; }
  const ConstrainedDerivativeWorkspaceData<T>& data() const { return *data_; }

 private:
  CopyablePtr<ConstrainedDerivativeWorkspaceData<T>> data_;
};

/// constrained_forward_dynamics and its derivatives.
///
/// Where rows are redundant f is the least-norm solution, and its derivatives are those of the
/// least-norm solution at constant rank.
/// @returns as constrained_forward_dynamics; if singular, every result is NaN.
template <typename T>
ConstrainedReport<T> constrained_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                             ConstrainedDerivativeWorkspace<T>& work,
                                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                             ConstrainedDerivatives<T>& result,
                                             const ConstrainedOptions& options = {});

/// The same with external wrenches on frames, constant in the frames' axes.
template <typename T>
ConstrainedReport<T> constrained_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                             ConstrainedDerivativeWorkspace<T>& work,
                                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                             WrenchesIn<T> external,
                                             ConstrainedDerivatives<T>& result,
                                             const ConstrainedOptions& options = {});

/// impact and its derivatives by q and by the velocities before it.
/// @returns as impact; if singular, every result is NaN.
template <typename T>
ConstrainedReport<T> impact_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                        ConstrainedDerivativeWorkspace<T>& work, VectorIn<T>& q,
                                        VectorIn<T>& v, VectorIn<T>& restitution,
                                        ImpactDerivatives<T>& result,
                                        const ConstrainedOptions& options = {});

extern template struct ConstrainedDerivatives<double>;
extern template struct ImpactDerivatives<double>;
extern template class ConstrainedDerivativeWorkspace<double>;
extern template ConstrainedReport<double> constrained_derivatives(
    const Model<double>&, const ConstraintSet<double>&, ConstrainedDerivativeWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, ConstrainedDerivatives<double>&,
    const ConstrainedOptions&);
extern template ConstrainedReport<double> constrained_derivatives(
    const Model<double>&, const ConstraintSet<double>&, ConstrainedDerivativeWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, WrenchesIn<double>,
    ConstrainedDerivatives<double>&, const ConstrainedOptions&);

}  // namespace limb
