#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "limb/base/index.hpp"
#include "limb/model/core/coupling.hpp"
#include "limb/model/core/description.hpp"
#include "limb/model/core/joint.hpp"

namespace limb {

using BodyId = TypedIndex<struct BodyTag>;
using FrameId = TypedIndex<struct FrameTag>;

/// A frame fixed to a body: a link of the file, or a named point such as a tool or a sensor site.
template <typename T>
struct Frame {
  enum class Kind { link, site };
  std::string name;
  Kind kind = Kind::link;
  BodyId body;
  Pose<T> X_BF;
};

/// One moving body and the joint that connects it to its parent. The body's frame B is the joint's
/// moving frame; the frames of the file's links are Frames on it.
template <typename T>
struct Body {
  std::string name;  ///< of the joint: body and joint have the same index
  std::string link;  ///< the child link of the joint
  BodyId parent;     ///< smaller than the index of the body; 0 is the world
  Joint<T> joint;
  Pose<T> X_PJ;                      ///< joint frame in the parent body's frame
  Inertia<T> inertia;                ///< about B, of all links that are welded into this body
  int q_start = 0;                   ///< first index in q
  int v_start = 0;                   ///< first index in v
  std::vector<DofLimits<T>> limits;  ///< nv of them
  T damping = T(0), friction = T(0), armature = T(0);
  SourceLocation source;
};

enum class LoopKind {
  connect,     ///< a point of both bodies coincides
  weld,        ///< both bodies are rigidly joined
  polynomial,  ///< the coordinate of joint b is a polynomial of that of joint a
};

/// A loop closure between two bodies of the tree, used by the constrained dynamics, or a polynomial
/// coupling of the joints of two bodies, each with one degree of freedom.
template <typename T>
struct Loop {
  std::string name;
  LoopKind kind = LoopKind::connect;
  BodyId body_a, body_b;
  Pose<T> X_AL, X_BL;              ///< of connect and weld
  std::vector<T> polynomial = {};  ///< q_b = polynomial[0] + polynomial[1] q_a + ...

  /// Number of rows of the constraint.
  int rows() const { return kind == LoopKind::weld ? 6 : kind == LoopKind::connect ? 3 : 1; }
};

template <typename T>
struct Canonical;

/// An immutable robot: a tree of bodies, parents before children, depth first in file order.
///
/// Masses, lengths and inertias have the scalar type T, so that they may be symbols, SIMD lanes or
/// parameters of a derivative. A model may be shared by any number of threads.
template <typename T>
class Model {
 public:
  const std::string& name() const { return name_; }
  const Vector3<T>& gravity() const { return gravity_; }

  /// Number of bodies including the world, which is body 0 and has no joint; a joint has the index
  /// of its child body.
  int body_count() const { return static_cast<int>(bodies_.size()); }
  const Body<T>& body(BodyId id) const { return bodies_[static_cast<std::size_t>(id.value())]; }
  const std::vector<Body<T>>& bodies() const { return bodies_; }
  const std::vector<Frame<T>>& frames() const { return frames_; }
  const Frame<T>& frame(FrameId id) const { return frames_[static_cast<std::size_t>(id.value())]; }
  const std::vector<Loop<T>>& loops() const { return loops_; }

  /// Sizes of the joint coordinates q and velocities v before couplings.
  int uncoupled_nq() const { return nq_; }
  int uncoupled_nv() const { return nv_; }
  /// Couplings between joints; the identity if all joints are independent.
  const Coupling<T>& coupling() const { return coupling_; }
  /// Sizes of the independent coordinates and velocities: the q and v of the functions of the
  /// dynamics module. Equal to the uncoupled sizes if no joint follows another.
  int nq() const { return coupling_.ny_q(); }
  int nv() const { return coupling_.ny_v(); }
  /// The same tree with all joints independent, as other libraries load it.
  Model without_couplings() const;
  /// The same robot with inertia added to a body: I_B about the body's frame, for example a payload
  /// that is a symbol. Keeps the canonical form, which is then not the cheapest for that body.
  /// @throws Error if there is no such body, or if it is the world.
  Model with_added_inertia(BodyId body, const Inertia<T>& I_B) const;
  /// The same robot with a joint shifted on its parent: p_PJ + shift, in the parent body's
  /// axes, for example a link length that is a parameter. Keeps the canonical form.
  /// @throws Error as with_added_inertia.
  Model with_shifted_joint(BodyId body, const Vector3<T>& shift_P) const;
  /// The same robot with a rotated joint frame: R_PJ R_JN. Keeps the canonical form, which is then
  /// not the cheapest for that joint.
  /// @throws Error as with_added_inertia.
  Model with_rotated_joint(BodyId body, const Matrix3<T>& R_JN) const;
  /// Actuated degrees of freedom. Without actuators in the file: all except those of a free base.
  const std::vector<bool>& actuated() const { return actuated_; }

  /// The form on which the fast algorithms run, with the map back to the model (canonical.hpp).
  /// Computed by build_model() for machine numbers and exact scalars.
  /// @throws Error for other scalars, which have no canonical form.
  const Canonical<T>& canonical() const;
  /// The same as a shared pointer, or null; copies of a model share it.
  const std::shared_ptr<const Canonical<T>>& shared_canonical() const { return canonical_; }

  /// The body by the name of its joint. @throws Error with the nearest known name.
  BodyId find_body(std::string_view joint_name) const;
  /// The frame by the name of a link or site. @throws Error with the nearest known name.
  FrameId find_frame(std::string_view name) const;

  /// Sum over the moving bodies; links that are welded to the world do not count.
  T total_mass() const;
  VectorX<T> neutral() const;
  VectorX<T> integrate(const VectorX<T>& q, const VectorX<T>& v) const;
  VectorX<T> difference(const VectorX<T>& q0, const VectorX<T>& q1) const;
  /// A random configuration inside the joint limits. Same engine state, same configuration.
  VectorX<T> random_configuration(std::mt19937_64& engine) const requires Real<T>;

  template <typename U>
  Model<U> cast() const;

 private:
  template <typename U>
  friend class Model;
  template <typename U>
  friend class ModelBuilder;

  void check_body(const char* call, BodyId body) const;
  /// Places the body's first canonical joint at p + shift, rotation * R, in axes of its parent.
  void move_canonical_joint(BodyId body, const Vector3<T>& shift, const Matrix3<T>* rotation);

  std::string name_;
  Vector3<T> gravity_;
  std::vector<Body<T>> bodies_;
  std::vector<Frame<T>> frames_;
  std::vector<Loop<T>> loops_;
  std::unordered_map<std::string, int> body_by_name_, frame_by_name_;
  Coupling<T> coupling_;
  std::vector<bool> actuated_;
  std::shared_ptr<const Canonical<T>> canonical_;  ///< shared by copies: it never changes
  int nq_ = 0, nv_ = 0;
};

/// How the robot's root is connected to the world.
enum class Base {
  described,  ///< as in the file: a URDF root link is welded, MJCF bodies have their own joints
  fixed,      ///< welded, regardless of the file
  free,       ///< connected by a free joint named root_joint
};

/// Merges links that fixed joints connect, orders the tree, and builds couplings and loops.
/// Polynomial couplings are the last loops.
/// @throws Error "build_model: file:line: ..." for the first structural mistake (check_structure).
template <typename T>
Model<T> build_model(const Description<T>& description, Base base = Base::described);

extern template class Model<double>;
extern template class Model<float>;
extern template Model<double> build_model(const Description<double>&, Base);

}  // namespace limb
