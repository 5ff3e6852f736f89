#pragma once

#include <vector>

#include "limb/dynamics/derivatives/derivative_workspace_data.hpp"
#include "limb/dynamics/derivatives/rnea_gradient.hpp"

namespace limb {

/// The arrays of a GradientWorkspace.
template <typename T>
struct GradientWorkspaceData {
  explicit GradientWorkspaceData(const Model<T>& model);

  DerivativeWorkspaceData<T> first;  ///< poses of the joints in the root frame

  // All vectors are in the root frame.

  /// Motion of a joint, and its motion with the multipliers as velocities.
  struct JointState {
    kernel::Vec3<T> w, v, wd, a;  ///< velocity, and spatial acceleration minus gravity
    kernel::Vec3<T> n, f;         ///< force of the subtree
    kernel::Vec3<T> W_w, W_v;     ///< W, the velocity with the multipliers as joint velocities
    kernel::Vec3<T> G_n, G_f;     ///< G, its momentum, summed over the subtree
    kernel::Vec3<T> H;            ///< 2 B^T W, summed over the subtree
  };
  /// Per degree of freedom: S = (z, l) and its derivatives with the motion of the parent.
  struct Column {
    kernel::Vec3<T> z, l, psi_dot_w, psi_ddot_w, psi_ddot_v, psi_s_dot_w, psi_s_dot_v;
  };
  std::vector<JointState> states;
  std::vector<Column> columns;
  VectorX<T> lambda, q, v, a;  ///< uncoupled, for models with couplings
};

}  // namespace limb
