#pragma once

#include <memory>
#include <vector>

#include "limb/base/owned.hpp"
#include "limb/dynamics/arguments.hpp"
#include "limb/dynamics/triple.hpp"
#include "limb/math/spatial.hpp"

namespace limb {

template <typename T>
struct ClosedLoops;

/// What forward dynamics makes of the loops of a model (Model::loops).
enum class Loops {
  closed,  ///< they stay closed: their forces act
  open,    ///< the tree alone
};

/// The scratch memory of the fast algorithms: make one for each thread and model, then call as
/// often as you like. Holds no results; every call begins anew.
template <typename T>
class Workspace {
 public:
  explicit Workspace(const Model<T>& model, Loops loops_of_model = Loops::closed);

  /// @throws Error unless this was made for that model, or for a copy of it.
  void check(const char* call, const Model<T>& model) const {
    if (robot != model.shared_canonical()) {
      throw Error(std::string(call) + ": the workspace was made for another model");
    }
  }

  // For the algorithms of this room.

  std::shared_ptr<const Canonical<T>> robot;
  Owned<ClosedLoops<T>> loops;  ///< if there are some to be closed

  /// A step while the tree is walked. Vectors are in axes of the step, about its origin.
  struct Step {
    kernel::Triple<T> w, wd;  ///< angular velocity and acceleration
    kernel::Triple<T> a;      ///< acceleration of the origin, gravity included
    kernel::Turning<T> U;     ///< of w and wd
    kernel::Triple<T> f, n;   ///< force and moment through the joint
  };
  /// Mass, first and second moments of a step with all that it carries.
  struct Composite {
    T m;
    kernel::Triple<T> h;
    T xx, xy, xz, yy, yz, zz;
  };
  /// Articulated inertia: (n; f) = [A B; B^T C] (wd; a).
  struct Articulated {
    T A_xx, A_xy, A_xz, A_yy, A_yz, A_zz;
    T B[9];  ///< by rows
    T C_xx, C_xy, C_xz, C_yy, C_yz, C_zz;
  };
  /// What the way outward needs of one velocity: column of force, its inverse, the remaining
  /// torque.
  struct Column {
    kernel::Triple<T> n, f;
    T inverse, torque;
  };

  std::vector<Step> steps;
  std::vector<Composite> composites;
  std::vector<Articulated> articulated, own;  ///< own: of each step alone, constant
  std::vector<Column> columns;                ///< one for each velocity
  std::vector<Matrix3<T>> R;                  ///< of steps that are no plain turn: R and p from
  std::vector<kernel::Triple<T>> p;           ///< the step's frame to the parent's
  std::vector<T> angle, cosine, sine;         ///< of each step; room for whole fours
  std::vector<T> screw;                       ///< of each slot
  std::vector<T> force[6];                    ///< f and n of each slot, one array a component
  VectorX<T> q, v, a, tau;                    ///< of the joints, where some follow others
  VectorX<T> zero;                            ///< nv zeros
  MatrixX<T> M, M_own;  ///< of the joints and of the robot, where some follow others
  std::vector<kernel::Triple<T>> f_external, n_external;  ///< on each step
  std::vector<Force<T>> F_B;                              ///< on each body, from outside
};

}  // namespace limb
