#pragma once

#include <bit>
#include <vector>

#include "limb/dynamics/constraints/constrained_derivatives.hpp"
#include "limb/dynamics/constraints/constraint_workspace_data.hpp"
#include "limb/dynamics/derivatives/axis_derivatives.hpp"
#include "limb/dynamics/derivatives/derivative_workspace.hpp"
#include "limb/dynamics/identify/regressor.hpp"

namespace limb {

/// The arrays of a ConstrainedDerivativeWorkspace.
template <typename T>
struct ConstrainedDerivativeWorkspaceData {
  ConstrainedDerivativeWorkspaceData(const Model<T>& model, const ConstraintSet<T>& set);

  ConstraintWorkspace<T> constraints;
  DerivativeWorkspace<T> tree;

  /// A body that supports a constraint: side a (A of a loop; the world for a contact), side b, or
  /// both.
  struct SupportLink {
    std::size_t body;
    bool supports_a, supports_b;
  };
  /// A constraint relates frame B, on body b, to frame A, on body a.
  struct ConstrainedFrames {
    std::size_t a = 0, b = 0;
    Pose<T> X_aA = {}, X_bB = {};
    std::vector<SupportLink> support;  ///< parents first
  };
  std::vector<ConstrainedFrames> frames;  ///< of each constraint of the set
  std::vector<std::size_t> bodies;        ///< that support any constraint
  Kinematics<T> kinematics;
  std::vector<axis_derivatives_detail::AxisDerivatives<T>>
      axes;  ///< of each joint velocity of those bodies
  RegressorScratch<T> regressor;
  /// Columns that are solved at once, aligned to cache lines.
  using Columns = Eigen::Array<T, 8, 1>;
  struct alignas(std::has_single_bit(sizeof(Columns)) ? sizeof(Columns) : alignof(Columns)) Line {
    Columns columns = Columns::Constant(T(0));
  };
  static_assert(sizeof(Line) == sizeof(Columns));
  std::vector<Line> columns_x, columns_c;                    ///< n; rows
  VectorX<T> x, c, spare;                                    ///< n; rows
  MatrixX<T> scratch_q, scratch_v, scratch_a, scratch_rows;  ///< n x n; rows x n
};

}  // namespace limb
