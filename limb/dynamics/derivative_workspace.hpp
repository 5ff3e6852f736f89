#pragma once

#include "limb/dynamics/branch_inverse.hpp"
#include "limb/dynamics/mass_factor.hpp"
#include "limb/dynamics/workspace.hpp"

namespace limb {

template <typename T>
struct LoopDerivatives;

/// The scratch memory of rnea_derivatives and aba_derivatives: one for each thread and model.
template <typename T>
class DerivativeWorkspace {
 public:
  explicit DerivativeWorkspace(const Model<T>& model, Loops loops_of_model = Loops::closed);

  Workspace<T> tree;  ///< loops open
  MassFactor<T> factor;
  Owned<LoopDerivatives<T>> loops;  ///< if there are some to be closed

  // For the algorithms of this room. All is seen from the root: in its axes, about its origin. The
  // root is the base of a floating robot, else the world.

  /// Axes and origin of a step, components in the first three lanes.
  struct Stand {
    kernel::Four<T> x, y, z, r;
  };

  /// Up to four velocities that follow each other on one way and in memory: those that are computed
  /// with at once. Number 0 is the root, of which nothing is used but what it carries.
  struct Bunch {
    int v = 0, count = 0, v_end = 0;     ///< velocities; one past the last that the bunch carries
    int parent = 0;                      ///< the bunch before it on the way
    int level = 0;                       ///< how many are before it
    int children = 0;                    ///< how many have this one as parent
    int step[4] = {};                    ///< of each lane; lanes beyond count are of the last step
    int first[4] = {};                   ///< lane where the joint begins; -1: in the bunch before
    int last[4] = {};                    ///< lane where it ends; 4 and more: in the bunch after
    bool turning = true;                 ///< revolute steps alone
    bool several = false;                ///< some joint of several freedoms
    bool light = true;                   ///< no mass, no moments along z: regrouped steps alone
    int zeros_begin = 0, zeros_end = 0;  ///< velocities that have nothing to do with these
    alignas(32) T angular[3][4] = {}, linear[3][4] = {};  ///< in the axes of the steps
    T m[4] = {}, h[3][4] = {}, S[6][4] = {};  ///< masses, in the last lane of their joint
    kernel::Mask row[4] = {};  ///< [c][r]: entry (r, c) of two of these is one of row r
  };
  struct Range {
    int begin, end;
  };

  /// What a bunch is and does at a state: components, four lanes each.
  enum Component {
    kAngular = 0,  // of the axis S
    kLinear = 3,
    kRate = 6,           // V_p x S
    kBend = 12,          // A_p x S + V_p x rate
    kSum = 18,           // rate + V_i x S
    kMotion = 24,        // velocity after the lane's own: w, v
    kAcceleration = 30,  // wd, a, with gravity
    kInertia = 36,       // m, h, J: from here on of the step with all that it carries
    kProduct = 46,       // B: diagonal, then xy, xz, yx, yz, zx, zy of int u x^T dm
    kMomentum = 55,      // P
    kForce = 58,         // n, f
    kFelt = 64,          // I S: n, f
    kComponents = 70
  };
  static constexpr int kSums = kFelt - kInertia;
  struct Seen {
    alignas(64) T x[kComponents][4];
    T carried[kSums];  ///< of the bunches behind, where there are several
    kernel::Triple<kernel::Four<T>> w_p, v_p, wd_p, a_p;  ///< of the joint's parent
  };

  std::vector<Stand> stands;  ///< of each step
  std::vector<Bunch> bunches;
  std::vector<Range> zeros;
  std::vector<Seen> seen;
  bool floating = false;           ///< the root is a free joint that carries all else
  MatrixX<T> dq, dv, da;           ///< of the joints, where some follow others
  MatrixX<T> own_q, own_v, own_a;  ///< of the robot's own velocities
  kernel::BranchInverse<T> inverse;
  VectorX<T> a, rest;  ///< accelerations; torques that are left for them
};

}  // namespace limb
