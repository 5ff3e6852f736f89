#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limb/dynamics/kinematics.hpp"

/// Configurations that put frames where they shall be: damped least squares within the limits of
/// the joints, then, in the freedom that remains, towards a preferred posture.
namespace limb {

/// Where a frame F shall be: at the pose G, F's origin weighted along the axes of G (per metre),
/// its orientation about them (per radian). A weight of zero leaves that direction free.
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
  int max_iterations = 500;        ///< of each try, and again for the posture
  int restarts = 0;                ///< tries from random states after the first one failed
  unsigned seed = 1;               ///< of the random states: same seed, same answer
  LimitUse limits = LimitUse::respect;
  /// The configuration to be near to as far as the goals allow; empty: none.
  VectorX<T> posture = {};
  T posture_tolerance = T(1e-6);  ///< rad or m: the motion towards it that is not worth making
  /// Velocities that stay as they start (velocity_size() of them); empty: none. See locked_joints.
  std::vector<bool> locked = {};
};

/// Why it ended.
enum class IkStop {
  converged,        ///< every goal within its tolerance
  unreachable,      ///< a goal is proven to be farther away than the robot is long; the answer is
                    ///< a nearest point
  local_minimum,    ///< no small motion within the limits brings the goals nearer; whether another
                    ///< start finds a way is unknown
  no_progress,      ///< steps became too small to count, yet this is no such point
  iteration_limit,  ///< still on its way
};
std::string_view to_text(IkStop stop);

/// A limit that the answer lies on.
struct ActiveLimit {
  enum class Side { lower, upper };
  BodyId body;  ///< whose joint
  int freedom;  ///< of that joint, from 0
  Side side;
};

template <typename T>
struct IkReport {
  struct GoalError {
    T position;  ///< m, over the weighted directions
    T rotation;  ///< rad
  };

  IkStop stop = IkStop::no_progress;
  std::vector<GoalError> errors;  ///< of each goal
  int iterations = 0;             ///< of all tries and the posture
  int restarts = 0;               ///< tries after the first
  std::vector<ActiveLimit> active_limits;
  /// Of the weighted Jacobian of all goals over the velocities that may move, at the answer: near
  /// zero, some direction of the goals cannot be moved in.
  T smallest_singular_value = T(0);
  T posture_distance = T(0);     ///< length of the difference to the posture
  bool posture_settled = false;  ///< as near to it as the goals and limits allow

  bool converged() const { return stop == IkStop::converged; }
  /// One line for people: "unreachable after 9 iterations: goal 0 is 0.3 m and 0 rad away; ...".
  std::string text(const Model<T>& model) const;
};

/// Room for everything inverse_kinematics needs, its report included. Make it once for a model and
/// as many goals at a time; nothing allocates afterwards but restarts.
template <Real T>
struct IkScratch {
  IkScratch(const Model<T>& model, int max_goals);

  /// a . d between lower and upper: one limit as a condition on a step d.
  struct LimitRow {
    int first_term, last_term;
    int place;  ///< in q of the robot's own coordinate, or -1: that of a joint that follows several
    int row;    ///< in the coupling
    int freedom;
    T low, high;     ///< of the coordinate
    T lower, upper;  ///< of a . d, from the present coordinate
    T value;         ///< a . d
    int active;      ///< -1, 1: held at lower, upper; 0: free
  };

  int max_goals;
  Kinematics<T> kinematics;
  Matrix6X<T> J_frame;
  MatrixX<T> J;      ///< rows of all goals, weighted; columns of locked velocities are zero
  VectorX<T> e, Jd;  ///< weighted errors; their first-order change by the step
  VectorX<T> q, q_try, q_kept, q_best, d, g, d_posture, slope;

  std::vector<LimitRow> limits;
  std::vector<int> term_y;
  std::vector<T> term_ratio;
  std::vector<int> place_of_y;  ///< in q, of velocities that are rates of coordinates; else -1

  // For steps within limits.
  MatrixX<T> H, Z, S;
  VectorX<T> d_free, target, multiplier;
  std::vector<int> held;

  IkReport<T> report;
};

/// Solves for q from q_start. Limits hold at every iterate; a start outside them is moved to the
/// nearest point inside, joint by joint, but for what is locked. Couplings are kept, and joints
/// that follow others are held inside their limits too; orientations of spherical and free joints
/// have none.
///
/// Levenberg-Marquardt on the weighted errors: a step is kept only if the errors shrink, and
/// damping falls with their square, so that the last steps are Newton's [Sugihara 2011, damping].
/// Limits are an active set inside each step. At a point where no small motion helps, it is shaken
/// twice before it is called a local minimum: a straight arm is such a point too.
///
/// The posture is sought only once all goals are met, which then stay met.
/// @param q  the answer; if not converged, the best that was seen. May be q_start.
/// @returns scratch.report.
/// @throws Error for wrong sizes, unknown frames, numbers that are not finite, quaternions that are
/// not unit, goals without any weight, or a start where a joint that follows several others is
/// outside its limits.
template <Real T>
const IkReport<T>& inverse_kinematics(const Model<T>& model, GoalsIn<T> goals, VectorIn<T>& q_start,
                                      IkScratch<T>& scratch, VectorOut<T> q,
                                      const std::type_identity_t<IkOptions<T>>& options = {});

/// IkOptions::locked with all velocities of these joints. @throws Error for an unknown name and for
/// a joint that follows others.
template <Real T>
std::vector<bool> locked_joints(const Model<T>& model, std::span<const std::string> joints);

extern template struct IkReport<double>;
extern template struct IkScratch<double>;
extern template const IkReport<double>& inverse_kinematics(const Model<double>&, GoalsIn<double>,
                                                           VectorIn<double>&, IkScratch<double>&,
                                                           VectorOut<double>,
                                                           const IkOptions<double>&);
extern template std::vector<bool> locked_joints(const Model<double>&, std::span<const std::string>);

}  // namespace limb
