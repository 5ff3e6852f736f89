#pragma once

#include <memory>
#include <vector>

#include "limb/dynamics/recursive/vec3.hpp"
#include "limb/dynamics/recursive/workspace.hpp"
#include "limb/math/spatial.hpp"

namespace limb {

template <typename T>
struct ClosedLoops;

/// The arrays of a Workspace.
template <typename T>
struct WorkspaceData {
  WorkspaceData(const Model<T>& model, Loops loops_of_model);

  void check(const char* call, const Model<T>& model) const {
    if (robot != model.shared_canonical()) {
      throw Error(std::string(call) + ": the workspace was made for another model");
    }
  }

  std::shared_ptr<const Canonical<T>> robot;
  CopyablePtr<ClosedLoops<T>> loops;  ///< set if the model has loops to be closed

  /// Motion and force of one canonical joint. Vectors are in the axes of the joint frame, about its
  /// origin.
  struct JointState {
    kernel::Vec3<T> w, wd;                ///< angular velocity and acceleration
    kernel::Vec3<T> a;                    ///< acceleration of the origin minus gravity
    kernel::RotationalAcceleration<T> U;  ///< [wd]x + [w]x [w]x
    kernel::Vec3<T> f, n;                 ///< force and moment transmitted by the joint
  };
  /// Composite rigid body: mass, first and second moments of the subtree of a joint.
  struct Composite {
    T m;
    kernel::Vec3<T> h;
    T xx, xy, xz, yy, yz, zz;
  };
  /// Articulated inertia: (n; f) = [A B; B^T C] (wd; a).
  struct Articulated {
    T A_xx, A_xy, A_xz, A_yy, A_yz, A_zz;
    T B[9];  ///< by rows
    T C_xx, C_xy, C_xz, C_yy, C_yz, C_zz;
  };
  /// Per degree of freedom, from the backward to the forward pass: U = I^A S = (n, f), 1 / D with
  /// D = S^T U, and the torque u.
  struct Column {
    kernel::Vec3<T> n, f;
    T inverse, torque;
  };

  std::vector<JointState> states;
  std::vector<Composite> composites;
  std::vector<Articulated> articulated, link_inertias;  ///< the latter rigid, constant
  std::vector<Column> columns;                          ///< one per degree of freedom
  std::vector<Matrix3<T>> R;           ///< pose of the joint frame in its parent; only for joints
  std::vector<kernel::Vec3<T>> p;      ///< that are not revolute
  std::vector<T> angle, cosine, sine;  ///< per joint, padded to a multiple of four
  std::vector<T> screw;                ///< per slot: n_z + pitch f_z of a helical joint
  std::vector<T> force[6];             ///< f and n per slot, one array per component
  VectorX<T> q, v, a, tau;             ///< uncoupled coordinates, for models with couplings
  VectorX<T> zero;                     ///< nv zeros
  MatrixX<T> M, M_reduced;             ///< uncoupled and coupled, for models with couplings
  std::vector<kernel::Vec3<T>> f_external, n_external;  ///< external force on each joint's link
  std::vector<Force<T>> F_B;                            ///< external wrench on each body
};

}  // namespace limb
