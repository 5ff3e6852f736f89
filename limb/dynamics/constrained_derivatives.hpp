#pragma once

#include <bit>

#include "limb/dynamics/carried.hpp"
#include "limb/dynamics/constrained.hpp"
#include "limb/dynamics/derivative_workspace.hpp"
#include "limb/dynamics/regressor.hpp"

/// Derivatives of dynamics under given contacts and closed loops. dq is a tangent as in
/// rnea_derivatives: column k is the derivative along integrate(q, e e_k). No allocation; each
/// throws Error if a size is wrong, before anything is computed.
/// Derivation: docs/derivations/constrained_derivatives.md.
namespace limb {

/// Made for a set, whichever of its members are active: rows of the active ones come first, as in
/// the set, and those after set.rows() are zero.
template <typename T>
struct ConstrainedDerivatives {
  ConstrainedDerivatives(const Model<T>& model, const ConstraintSet<T>& set);

  VectorX<T> a, f;                   ///< as of constrained_forward_dynamics
  MatrixX<T> da_dq, da_dv, da_dtau;  ///< n x n
  MatrixX<T> df_dq, df_dv, df_dtau;  ///< max_rows() x n
};

template <typename T>
struct ImpactDerivatives {
  ImpactDerivatives(const Model<T>& model, const ConstraintSet<T>& set);

  VectorX<T> v, impulse;                ///< as of impact: velocities afterwards
  MatrixX<T> dv_dq, dv_dv;              ///< n x n, by the coordinates and velocities before
  MatrixX<T> dimpulse_dq, dimpulse_dv;  ///< max_rows() x n
};

/// Scratch of the functions below: one for each thread, model and set.
template <typename T>
struct ConstrainedDerivativeWorkspace {
  ConstrainedDerivativeWorkspace(const Model<T>& model, const ConstraintSet<T>& set);

  ConstraintWorkspace<T> constraints;
  DerivativeWorkspace<T> tree;

  // For the algorithms of this room.

  /// A body that carries a constraint: side a (that of a loop's A; the world for a contact), side
  /// b, or both.
  struct Carrier {
    std::size_t body;
    bool carries_a, carries_b;
  };
  /// A constraint holds frame B, on body b, to frame A, on body a.
  struct Held {
    std::size_t a = 0, b = 0;
    Pose<T> X_aA = {}, X_bB = {};
    std::vector<Carrier> carriers;  ///< parents first
  };
  std::vector<Held> held;           ///< of each constraint of the set
  std::vector<std::size_t> bodies;  ///< that carry any
  Kinematics<T> kinematics;
  std::vector<carried_detail::Axis<T>> axes;  ///< of each joint velocity of those bodies
  RegressorScratch<T> regressor;
  /// What is solved at once, each on lines of the cache of its own.
  using Columns = Eigen::Array<T, 8, 1>;
  struct alignas(std::has_single_bit(sizeof(Columns)) ? sizeof(Columns) : alignof(Columns)) Line {
    Columns columns = Columns::Constant(T(0));
  };
  static_assert(sizeof(Line) == sizeof(Columns));
  std::vector<Line> columns_x, columns_c;       ///< n; rows
  VectorX<T> x, c, spare;                       ///< n; rows
  MatrixX<T> room_q, room_v, room_a, room_row;  ///< n x n; rows x n
};

/// constrained_forward_dynamics and its derivatives.
///
/// Where rows are redundant f is the shortest of all forces that do the same, and its derivatives
/// are those of the shortest, as long as the rank stays what it is.
/// @returns as constrained_forward_dynamics; if singular, every result is NaN.
template <typename T>
ConstrainedReport<T> constrained_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                             ConstrainedDerivativeWorkspace<T>& work,
                                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                             ConstrainedDerivatives<T>& result,
                                             const ConstrainedOptions& options = {});

/// The same with wrenches that the environment exerts on frames besides, constant in the frames'
/// axes.
template <typename T>
ConstrainedReport<T> constrained_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                             ConstrainedDerivativeWorkspace<T>& work,
                                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                             WrenchesIn<T> external,
                                             ConstrainedDerivatives<T>& result,
                                             const ConstrainedOptions& options = {});

/// impact and its derivatives by the coordinates and by the velocities before it.
/// @returns as impact; if singular, every result is NaN.
template <typename T>
ConstrainedReport<T> impact_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                        ConstrainedDerivativeWorkspace<T>& work, VectorIn<T>& q,
                                        VectorIn<T>& v, VectorIn<T>& restitution,
                                        ImpactDerivatives<T>& result,
                                        const ConstrainedOptions& options = {});

extern template struct ConstrainedDerivatives<double>;
extern template struct ImpactDerivatives<double>;
extern template struct ConstrainedDerivativeWorkspace<double>;
extern template ConstrainedReport<double> constrained_derivatives(
    const Model<double>&, const ConstraintSet<double>&, ConstrainedDerivativeWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, ConstrainedDerivatives<double>&,
    const ConstrainedOptions&);
extern template ConstrainedReport<double> constrained_derivatives(
    const Model<double>&, const ConstraintSet<double>&, ConstrainedDerivativeWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, WrenchesIn<double>,
    ConstrainedDerivatives<double>&, const ConstrainedOptions&);

}  // namespace limb
