#pragma once

#include "limb/dynamics/mass_factor.hpp"
#include "limb/dynamics/workspace.hpp"

namespace limb {

/// The scratch memory of rnea_derivatives and aba_derivatives: one for each thread and model.
template <typename T>
class DerivativeWorkspace {
 public:
  explicit DerivativeWorkspace(const Model<T>& model);

  Workspace<T> tree;  ///< loops open
  MassFactor<T> factor;

  // For the algorithms of this room.

  /// A step, seen from the root: axes of the root, about its origin. The root is the base of a
  /// floating robot, else the world.
  struct Step {
    kernel::Triple<T> x, y, z, r;  ///< axes and origin of the step
    kernel::Triple<T> w, v;        ///< velocity
    kernel::Triple<T> wd, a;       ///< spatial acceleration, gravity included
    typename Workspace<T>::Composite I;
    T Q[9];                  ///< int u x^T dm over the masses, u their velocity; by rows
    kernel::Triple<T> P;     ///< int u dm
    kernel::Triple<T> n, f;  ///< what the masses need; from I on: with all that the step carries
  };
  /// Columns of the velocities on the way from the root to a step, in fours: all components of four
  /// neighbours on the way, four numbers each, then those of the next four.
  enum Component { kAngular = 0, kLinear = 3, kRate = 6, kBend = 9, kSum = 15, kComponents = 21 };
  static constexpr int kBlock = 4 * kComponents;

  std::vector<Step> steps;
  bool floating = false;   ///< the root is a free joint that carries all else: on no way
  std::vector<int> place;  ///< of each step: where its own columns begin on its way
  std::vector<int> way_v;  ///< the velocity at each place
  std::vector<T> way;
  MatrixX<T> dq, dv, da;           ///< of the joints, where some follow others
  MatrixX<T> own_q, own_v, own_a;  ///< of the robot, for what is solved with them
  VectorX<T> a;
  /// Right sides [dtau_dq, dtau_dv, 1] by rows; up to kAtOnce columns are solved at once.
  static constexpr int kAtOnce = 40;
  std::vector<T> rows;
  int row_stride = 0;
  T* first_row();  ///< where a line of the cache begins
  /// A group of columns; then the rows that can differ from 0 in it before the last pass, each with
  /// the place in this list where its descendants end.
  struct Concern {
    int row, end;
  };
  struct Group {
    int first, columns;
    std::vector<Concern> concerns;
  };
  std::vector<Group> groups;
};

}  // namespace limb
