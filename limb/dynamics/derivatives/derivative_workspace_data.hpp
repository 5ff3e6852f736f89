#pragma once

#include <vector>

#include "limb/dynamics/derivatives/derivative_workspace.hpp"
#include "limb/dynamics/factor/branch_inverse.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/recursive/workspace_data.hpp"

namespace limb {

template <typename T>
struct LoopDerivatives;

/// The arrays of a DerivativeWorkspace.
template <typename T>
struct DerivativeWorkspaceData {
  DerivativeWorkspaceData(const Model<T>& model, Loops loops_of_model);

  WorkspaceData<T> tree;  ///< loops open
  MassFactor<T> factor;
  CopyablePtr<LoopDerivatives<T>> loops;  ///< set if the model has loops to be closed

  // All vectors are in the root frame: in its axes, about its origin. The root is the base of a
  // floating robot, else the world.

  /// Axes and origin of a joint frame, components in the first three lanes.
  struct RootPose {
    kernel::Pack4<T> x, y, z, r;
  };

  /// Up to four degrees of freedom, consecutive in memory and on one branch, that are processed at
  /// once, one lane each. Group 0 is the root; of it only the sums over its subtree are used.
  struct DofGroup {
    int v = 0, count = 0, v_end = 0;     ///< velocities; one past the last of the subtree
    int parent = 0;                      ///< the group before it on the path from the root
    int level = 0;                       ///< number of groups before it on the path
    int children = 0;                    ///< number of groups with this parent
    int joint[4] = {};                   ///< of each lane; lanes beyond count repeat the last joint
    int first[4] = {};                   ///< lane where the joint starts; -1: in the parent group
    int last[4] = {};                    ///< lane where it ends; 4 or more: in the next group
    bool all_revolute = true;            ///< only revolute joints
    bool has_multi_dof = false;          ///< some joint has several degrees of freedom
    bool regrouped = true;               ///< only regrouped joints: no mass, no moments along z
    int zeros_begin = 0, zeros_end = 0;  ///< range in `zeros`: unrelated velocities
    alignas(32) T angular[3][4] = {}, linear[3][4] = {};  ///< S in joint axes
    T m[4] = {}, h[3][4] = {}, S[6][4] = {};  ///< mass, moments; in the last lane of a joint
    kernel::Mask row_mask[4] = {};            ///< [c][r]: entry (r, c) is from row_entries()
  };
  struct Range {
    int begin, end;
  };

  /// Components of a group at a state, four lanes each; symbols in root_frame_pass_impl.hpp.
  enum Component {
    kAngular = 0,  // of the axis S
    kLinear = 3,
    kPsiDot = 6,         // V_p x S
    kPsiDdot = 12,       // A_p x S + V_p x psi_dot
    kPsiSDot = 18,       // psi_dot + V_i x S
    kVelocity = 24,      // w, v, this lane's joint velocity included
    kAcceleration = 30,  // wd, a, minus gravity
    kInertia = 36,       // m, h, J: from here on sums over the subtree
    kCoriolis = 46,      // B: diagonal, then xy, xz, yx, yz, zx, zy of int u x^T dm
    kMomentum = 55,      // P
    kForce = 58,         // n, f
    kUnitForce = 64,     // I S: n, f
    kComponents = 70
  };
  static constexpr int kSums = kUnitForce - kInertia;
  struct RootFrameState {
    alignas(64) T x[kComponents][4];
    T subtree_sums[kSums];  ///< over the child groups, where there are several
    kernel::Vec3<kernel::Pack4<T>> w_p, v_p, wd_p, a_p;  ///< V and A of the joint's parent
  };

  std::vector<RootPose> root_poses;  ///< one per joint
  std::vector<DofGroup> dof_groups;
  std::vector<Range> zeros;
  std::vector<RootFrameState> states;
  bool floating = false;  ///< the root is a free joint and all other joints descend from it
  MatrixX<T> joint_dtau_dq, joint_dtau_dv, joint_dtau_da;  ///< uncoupled, for models with couplings
  MatrixX<T> reduced_dtau_dq, reduced_dtau_dv,
      reduced_dtau_da;  ///< in the coordinates of the model
  kernel::BranchInverse<T> inverse;
  VectorX<T> a, residual;  ///< accelerations; tau - h
};

}  // namespace limb
