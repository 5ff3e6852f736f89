#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "limb/base/index.hpp"
#include "limb/model/coupling.hpp"
#include "limb/model/description.hpp"
#include "limb/model/joint.hpp"

namespace limb {

using BodyId = Index<struct BodyTag>;
using FrameId = Index<struct FrameTag>;

/// A frame fixed to a body: a link of the file, or a named point such as a tool or a sensor site.
template <typename T>
struct Frame {
  enum class Kind { link, site };
  std::string name;
  Kind kind = Kind::link;
  BodyId body;
  Pose<T> X_BF;
};

/// One moving body and the joint that carries it. The body's frame B is the joint's moving frame;
/// the frames of the file's links are Frames on it.
template <typename T>
struct Body {
  std::string name;  ///< of the joint: body and joint share one index
  std::string link;  ///< the child link of the joint
  BodyId parent;     ///< smaller than the body's own index; 0 is the world
  Joint<T> joint;
  Pose<T> X_PJ;                      ///< joint frame in the parent body's frame
  Inertia<T> inertia;                ///< about B, of all links welded together here
  int q_start = 0;                   ///< first index in q
  int v_start = 0;                   ///< first index in v
  std::vector<DofLimits<T>> limits;  ///< nv of them
  T damping = T(0), friction = T(0), armature = T(0);
  Source source;
};

/// Two frames that the tree does not join: recorded here, used by the constrained dynamics.
template <typename T>
struct Loop {
  std::string name;
  typename LoopDescription<T>::Kind kind = LoopDescription<T>::Kind::connect;
  BodyId body_a, body_b;
  Pose<T> X_AL, X_BL;
};

template <typename T>
struct Canonical;

/// An immutable robot: a tree of bodies, parents before children, depth first in file order.
///
/// Masses, lengths and inertias are of the scalar T, so that they may be symbols, SIMD lanes or
/// parameters to differentiate by. One model serves any number of threads.
template <typename T>
class Model {
 public:
  const std::string& name() const { return name_; }
  const Vector3<T>& gravity() const { return gravity_; }

  /// Bodies with the world, which is body 0 and has no joint; joints are numbered as the bodies
  /// that they carry.
  int body_count() const { return static_cast<int>(bodies_.size()); }
  const Body<T>& body(BodyId id) const { return bodies_[static_cast<std::size_t>(id.value())]; }
  const std::vector<Body<T>>& bodies() const { return bodies_; }
  const std::vector<Frame<T>>& frames() const { return frames_; }
  const Frame<T>& frame(FrameId id) const { return frames_[static_cast<std::size_t>(id.value())]; }
  const std::vector<Loop<T>>& loops() const { return loops_; }

  /// Sizes of the joint coordinates q and velocities v.
  int nq() const { return nq_; }
  int nv() const { return nv_; }
  /// Which joints follow others; the identity where none does.
  const Coupling<T>& coupling() const { return coupling_; }
  /// Sizes of the coordinates that the robot is moved by: the joints' own where none follows
  /// another. The functions of the dynamics room take and return vectors of these sizes.
  int position_size() const { return coupling_.ny_q(); }
  int velocity_size() const { return coupling_.ny_v(); }
  /// The same tree with every joint free to move on its own, as other libraries load it.
  Model without_couplings() const;
  /// The same robot with more inertia on a body: I_B about the body's frame, for example a payload
  /// that is a symbol. Keeps the canonical form, which is then not the cheapest for that body.
  /// @throws Error if there is no such body, or if it is the world.
  Model with_added_inertia(BodyId body, const Inertia<T>& I_B) const;
  /// The same robot with a joint at another place on its parent: p_PJ + shift, in the parent body's
  /// axes, for example a link length that is a parameter. Keeps the canonical form.
  /// @throws Error as with_added_inertia.
  Model with_shifted_joint(BodyId body, const Vector3<T>& shift_P) const;
  /// The same robot with a joint whose axes are turned: R_PJ R_JN. Keeps the canonical form, which
  /// is then not the cheapest there.
  /// @throws Error as with_added_inertia.
  Model with_turned_joint(BodyId body, const Matrix3<T>& R_JN) const;
  /// Degrees of freedom that a motor drives. Without actuators in the file: all but a free base's.
  const std::vector<bool>& actuated() const { return actuated_; }

  /// The form that fast algorithms run on, with the map back (canonical.hpp). Computed at load for
  /// machine numbers and exact scalars; others have none. @throws Error then.
  const Canonical<T>& canonical() const;
  /// The same, kept alive by who holds it; copies of a model share one. Null where there is none.
  const std::shared_ptr<const Canonical<T>>& shared_canonical() const { return canonical_; }

  /// By the name of the joint that carries it. @throws Error with the nearest known name.
  BodyId find_body(std::string_view joint_name) const;
  /// By the name of a link or site. @throws Error with the nearest known name.
  FrameId find_frame(std::string_view name) const;

  /// Sum over the bodies; what is welded to the world counts in none.
  T total_mass() const;
  VectorX<T> neutral() const;
  VectorX<T> integrate(const VectorX<T>& q, const VectorX<T>& v) const;
  VectorX<T> difference(const VectorX<T>& q0, const VectorX<T>& q1) const;
  /// Inside the joint limits. The engine is the caller's: same seed, same states.
  VectorX<T> random(std::mt19937_64& engine) const requires Real<T>;

  template <typename U>
  Model<U> cast() const;

 private:
  template <typename U>
  friend class Model;
  template <typename U>
  friend class ModelBuilder;

  void check_body(const char* call, BodyId body) const;
  /// Moves the placement of the body's first step: p + shift, turn R, in the parent step's axes.
  void move_step(BodyId body, const Vector3<T>& shift, const Matrix3<T>* turn);

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

/// How the robot's root stands in the world.
enum class Base {
  described,  ///< as the file says: URDF's root link is welded, MJCF's bodies hang on their joints
  fixed,      ///< welded, whatever the file says
  free,       ///< carried by a free joint named root_joint
};

/// Welds what fixed joints join, orders the tree, and places couplings and loops.
/// @throws Error "build_model: file:line: ..." for the first structural mistake (check_structure).
template <typename T>
Model<T> build_model(const Description<T>& description, Base base = Base::described);

extern template class Model<double>;
extern template class Model<float>;
extern template Model<double> build_model(const Description<double>&, Base);

}  // namespace limb
