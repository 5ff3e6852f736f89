#pragma once

#include <span>
#include <string>
#include <vector>

#include "limb/base/status.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"

/// Inverse kinematics: damped least squares within joint limits, and a preferred posture in the
/// null space of the goals.
namespace limb {

/// Goal pose G of a frame F. Position errors are weighted along the axes of G (per metre), rotation
/// errors about them (per radian). A weight of zero leaves that direction free.
template <typename T>
struct FrameGoal {
  FrameId frame;
  Pose<T> X_WG;
  Vector3<T> position_weight = Vector3<T>::Ones();
  Vector3<T> rotation_weight = Vector3<T>::Ones();

  static FrameGoal pose(FrameId frame, const Pose<T>& X_WG) { return {frame, X_WG}; }
  /// The origin only, along the axes of the world.
  static FrameGoal position(FrameId frame, const Vector3<T>& p_WG) {
    return {frame, {Matrix3<T>::Identity(), p_WG}, Vector3<T>::Ones(), Vector3<T>::Zero()};
  }
};
template <typename T>
using GoalsIn = std::type_identity_t<std::span<const FrameGoal<T>>>;

enum class LimitUse { respect, ignore };

template <typename T>
struct IkOptions {
  T position_tolerance = T(1e-8);  ///< m, of each goal, over its weighted directions
  T rotation_tolerance = T(1e-8);  ///< rad
  int max_iterations = 500;        ///< per attempt, and again for the posture
  int restarts = 0;                ///< attempts from random states after the first one failed
  unsigned seed = 1;               ///< of the random states: same seed, same solution
  LimitUse limits = LimitUse::respect;
  /// Preferred configuration, approached as far as the goals allow; empty: none.
  VectorX<T> posture = {};
  T posture_tolerance = T(1e-6);  ///< rad or m: steps towards the posture below this end the search
  /// Velocities that must not move (nv() of them); empty: none. See locked_joints.
  std::vector<bool> locked = {};
};

/// A limit on which the solution lies.
struct ActiveLimit {
  enum class Side { lower, upper };
  BodyId body;  ///< whose joint
  int freedom;  ///< degree of freedom of that joint, from 0
  Side side;
};

template <typename T>
struct IkReport {
  struct GoalError {
    T position;  ///< m, over the weighted directions
    T rotation;  ///< rad
  };

  /// ok: every goal is within its tolerance. unreachable: q is a nearest point. local_minimum: no
  /// small motion within the limits reduces the error. no_progress. iteration_limit: still
  /// converging.
  Status status = Status::no_progress;
  std::vector<GoalError> errors;  ///< of each goal
  int iterations = 0;             ///< of all attempts and the posture
  int restarts = 0;               ///< attempts after the first
  std::vector<ActiveLimit> active_limits;
  /// Smallest singular value of the weighted Jacobian of all goals over the unlocked velocities, at
  /// the solution: near zero at a singularity.
  T smallest_singular_value = T(0);
  T posture_distance = T(0);       ///< norm of the difference to the posture
  bool posture_converged = false;  ///< as near to the posture as the goals and limits allow

  bool ok() const { return status == Status::ok; }
  /// One readable line: "unreachable after 9 iterations: goal 0 is 0.3 m and 0 rad away; ...".
  std::string text(const Model<T>& model) const;
};

/// Scratch of inverse_kinematics, its report included. Make it once for a model and a maximum
/// number of goals; afterwards only restarts allocate.
template <Real T>
struct IkScratch {
  IkScratch(const Model<T>& model, int max_goals);

  /// One limit as a bound on a step d: lower <= a . d <= upper.
  struct LimitRow {
    int first_term, last_term;
    int q_index;     ///< of an independent coordinate in q, or -1: a joint that follows several
    int row;         ///< in the coupling
    int freedom;     ///< degree of freedom of the joint
    T low, high;     ///< of the coordinate
    T lower, upper;  ///< of a . d, from the present coordinate
    T value;         ///< a . d
    int active;      ///< -1, 1: active at lower, upper; 0: inactive
  };

  int max_goals;
  Kinematics<T> kinematics;
  Matrix6X<T> J_frame;
  MatrixX<T> J;      ///< rows of all goals, weighted; columns of locked velocities are zero
  VectorX<T> e, Jd;  ///< weighted errors; their first-order change J d
  VectorX<T> q, q_try, q_kept, q_best, d, g, d_posture, slope;

  std::vector<LimitRow> limits;
  std::vector<int> term_y;
  std::vector<T> term_ratio;
  std::vector<int> q_index_of_y;  ///< coordinate whose rate each velocity is, or -1

  // For the bounded step (ik_bounded_step_impl.hpp).
  MatrixX<T> H, Z, S;
  VectorX<T> d_free, target, multiplier;
  std::vector<int> active_set;

  IkReport<T> report;
};

/// Solves for q from q_start. Limits are satisfied at every iterate; a start outside them is
/// clamped, joint by joint, except for locked joints. Couplings are satisfied, and the limits of
/// coupled joints too; orientations of spherical and free joints have no limits.
///
/// Levenberg-Marquardt on the weighted errors: a step is accepted only if the errors decrease, and
/// the damping is proportional to their square, so that the last steps are Gauss-Newton steps
/// [Sugihara 2011, damping]. Limits are an active set inside each step. At a stationary point the
/// configuration is perturbed at random; after two failed perturbations it counts as a local
/// minimum. A straight arm is stationary without being a minimum.
///
/// The posture is approached only after all goals are satisfied, and keeps them satisfied.
/// @param q  the solution; unless ok, the best configuration found. May alias q_start.
/// @returns scratch.report.
/// @throws Error for wrong sizes, unknown frames, numbers that are not finite, quaternions that are
/// not normalized, goals without any weight, or a start where a joint that follows several others
/// is outside its limits.
template <Real T>
const IkReport<T>& inverse_kinematics(const Model<T>& model, IkScratch<T>& scratch,
                                      GoalsIn<T> goals, VectorIn<T>& q_start, VectorOut<T> q,
                                      const std::type_identity_t<IkOptions<T>>& options = {});

/// IkOptions::locked for all velocities of these joints. @throws Error for an unknown name and for
/// a joint that follows others.
template <Real T>
std::vector<bool> locked_joints(const Model<T>& model, std::span<const std::string> joints);

extern template struct IkReport<double>;
extern template struct IkScratch<double>;
extern template const IkReport<double>& inverse_kinematics(const Model<double>&, IkScratch<double>&,
                                                           GoalsIn<double>, VectorIn<double>&,
                                                           VectorOut<double>,
                                                           const IkOptions<double>&);
extern template std::vector<bool> locked_joints(const Model<double>&, std::span<const std::string>);

}  // namespace limb
