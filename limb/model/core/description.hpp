#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "limb/math/inertia.hpp"
#include "limb/model/core/joint_type.hpp"
#include "limb/model/core/scene_description.hpp"

/// A robot as its file describes it: links and joints by name, in file order, with their line
/// numbers. Readers fill it, writers and the linter read it, build_model() turns it into a Model.
/// Nothing is checked here beyond what a reader checks: a Description may contain a cycle or a
/// negative mass, so that the linter can report it.
namespace limb {

/// Mass properties as written in the file: in a frame I whose pose in the link is X_LI.
template <typename T>
struct InertialDescription {
  T mass = T(0);
  Pose<T> X_LI;  ///< origin: mass centre; axes: those of the tensor
  Matrix3<T> tensor =
      Matrix3<T>::Zero();  ///< about the mass centre, in axes of I, entries -int(xy)
  SourceLocation source;

  /// In the link's frame, about the link's origin; unchecked.
  Inertia<T> inertia() const {
    return Inertia<T>(mass, Vector3<T>::Zero(), tensor).transformed(X_LI);
  }
};

template <typename T>
struct LinkDescription {
  std::string name;
  std::optional<InertialDescription<T>> inertial;
  std::vector<Geometry> geometry;
  SourceLocation source;
  double gravity_compensation = 0;  ///< part of its weight that is cancelled in simulations
};

/// Limits of one degree of freedom; absent means unlimited.
template <typename T>
struct DofLimits {
  std::optional<T> lower, upper;  ///< rad or m
  std::optional<T> velocity;      ///< rad/s or m/s
  std::optional<T> effort;        ///< N m or N
};

template <typename T>
struct JointDescription {
  std::string name;
  JointType type = JointType::fixed;
  std::string parent, child;               ///< names of links
  Pose<T> X_PJ;                            ///< joint frame in the parent link's frame
  std::optional<Vector3<double>> rpy;      ///< the angles of X_PJ, if the file gives them
  Pose<T> X_JC;                            ///< child link's frame in the moved joint frame;
                                           ///< identity for URDF
  Vector3<T> axis = Vector3<T>::UnitX();   ///< in the joint frame; planar: the normal
  Vector3<T> axis2 = Vector3<T>::UnitY();  ///< universal: the second axis, at zero first angle
  T pitch = T(0);                          ///< helical: m per rad
  std::vector<DofLimits<T>> limits;        ///< one per degree of freedom, or empty
  T damping = T(0);                        ///< N m s/rad or N s/m, per degree of freedom
  T friction = T(0);                       ///< Coulomb friction: N m or N
  T armature = T(0);                       ///< kg m^2 or kg on the joint's side of the gear:
                                           ///< rotor inertia times gear ratio squared
  SourceLocation source;
  /// Spring: tau = stiffness (spring_rest - q), N m/rad or N/m. A force of simulations, like
  /// contact: not part of the bias forces.
  double stiffness = 0, spring_rest = 0;
};

/// A named frame fixed to a link: MJCF sites, tool points.
template <typename T>
struct FrameDescription {
  std::string name;
  std::string link;
  Pose<T> X_LF;
  SourceLocation source;
};

/// Coordinate of one joint as a linear combination of others: q = sum(ratio * q_other) + offset.
/// URDF mimic has one term; a belt drive or differential has two. A coupling of one term may be a
/// polynomial: q = offset + ratio x + powers[0] x^2 + powers[1] x^3 + ..., x = q_other. A linear
/// coupling removes the coordinate of the joint; a polynomial keeps it, as a constraint
/// (Loop::polynomial).
template <typename T>
struct CouplingDescription {
  struct Term {
    std::string joint;
    T ratio = T(1);
  };
  std::string joint;
  std::vector<Term> terms;
  T offset = T(0);
  SourceLocation source;
  std::vector<T> powers = {};

  bool is_polynomial() const { return !powers.empty(); }
  /// Coefficients of x^0, x^1, ... of a coupling with one term.
  std::vector<T> polynomial() const {
    std::vector<T> c = {offset, terms.front().ratio};
    c.insert(c.end(), powers.begin(), powers.end());
    return c;
  }
};

/// Feedback inside a motor: force = gain control + offset - stiffness x - damping dx/dt, before the
/// gear, where x is the gear times q. A torque motor has gain 1 and nothing else; a position servo
/// has gain = stiffness, a velocity servo gain = damping.
struct ServoDescription {
  double gain = 1, offset = 0, stiffness = 0, damping = 0;
  /// In place of `damping`: 1 is critical for 1 / (M^-1)_ii of the joint in the initial
  /// configuration.
  double damping_ratio = 0;
  double control_min = -std::numeric_limits<double>::infinity();
  double control_max = std::numeric_limits<double>::infinity();
  double force_min = -std::numeric_limits<double>::infinity();
  double force_max = std::numeric_limits<double>::infinity();

  /// Whether it exerts a force without a control.
  bool has_feedback() const {
    return offset != 0 || stiffness != 0 || damping != 0 || damping_ratio != 0;
  }
};

/// A linear combination of joint coordinates, L = sum(ratio * q), with a spring, a damper and
/// stops: the force along L is stiffness (rest - L) - damping dL/dt, where `rest` is the number in
/// [rest_min, rest_max] nearest to L. It acts in simulations.
struct TendonDescription {
  std::string name;
  std::vector<CouplingDescription<double>::Term> terms;
  double stiffness = 0, damping = 0;  ///< N/m and N s/m if L is a length
  double rest_min = 0, rest_max = 0;
  std::optional<double> lower, upper;  ///< of L
  struct Motor {
    double gear = 1;
    ServoDescription servo;
    std::size_t control = 0;  ///< as in ActuationDescription
  };
  std::vector<Motor> motors;  ///< of several joints together; they act in simulations
  SourceLocation source;
};

/// A loop closure: two links that coincide at a point (connect) or are rigidly joined (weld).
template <typename T>
struct LoopDescription {
  enum class Kind { connect, weld };
  std::string name;
  Kind kind = Kind::connect;
  std::string link_a, link_b;
  Pose<T> X_AL;  ///< the common frame in link A; for connect only its origin counts
  Pose<T> X_BL;  ///< the same in link B
  SourceLocation source;
};

/// An actuated joint and its gear, if the file has actuators (MJCF, URDF transmissions). The rotor
/// inertia is the joint's armature. No actuators: every joint except a free base is actuated.
struct ActuationDescription {
  std::string joint;
  double gear = 1;
  SourceLocation source;
  ServoDescription servo = {};
  std::size_t control = 0;  ///< index in StateDescription::control
};

template <typename T>
struct Description {
  std::string name;
  std::string file;  ///< as given by the user; empty for a robot built in code
  std::vector<LinkDescription<T>> links;
  std::vector<JointDescription<T>> joints;
  std::vector<FrameDescription<T>> frames;
  std::vector<CouplingDescription<T>> couplings;
  std::vector<LoopDescription<T>> loops;
  std::vector<ActuationDescription> actuators;
  std::vector<TendonDescription> tendons;
  SceneDescription scene;
  Vector3<T> gravity = Vector3<T>(T(0), T(0), T(-9.81));
};

/// Name of the world, which may be the parent of a joint or the root link.
inline constexpr const char* kWorldLink = "world";

}  // namespace limb
