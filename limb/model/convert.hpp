#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "limb/model/free_velocity.hpp"
#include "limb/model/model.hpp"

/// Translation of limb's vectors to and from the customs of another library.
///
/// A library is a table of facts (convert_pinocchio.hpp, convert_mujoco.hpp, convert_drake.hpp,
/// convert_rbdl.hpp); the mechanism is here and knows no library. Joints are permuted, and each
/// joint's own numbers are mapped. For all of these libraries
///
///   v_other = P(q) v      with P orthogonal: permutations and rotations only
///
/// hence tau_other = P tau, M_other = P M P^T, J_other = J P^T and a_other = P a + dP/dt v.
namespace limb {

/// In which order joints stand in the other library's vectors.
enum class JointOrder {
  file,          ///< depth first, siblings as in the file: limb's own order
  alphabetical,  ///< depth first, siblings by the name of their joint, fixed joints included
};
enum class PartOrder { linear_first, angular_first };
enum class QuaternionForm {
  xyzw,
  wxyz,
  w_at_end,  ///< x y z in the joint's place, all w behind the last joint
};
/// How a full turn is stored.
enum class AngleForm { angle, cos_sin };
enum class BallForm {
  quaternion,
  roll_pitch_yaw,  ///< about fixed x, y, z: R = Rz Ry Rx
};
enum class Axes { child, parent };
enum class FreePlace {
  joint_frame,  ///< coordinates relative to the joint's frame in its parent
  world,        ///< coordinates in the world; the joint must hang on it
};

/// What one library does. Joint types not named here have one number a degree of freedom and mean
/// the same everywhere; where a library has no such joint (MuJoCo's planar, Drake's cylindrical) it
/// is the sequence of its slides and hinges in limb's order of coordinates.
struct ConventionFacts {
  std::string_view library;
  std::string_view call;  ///< in error texts: the class
  JointOrder joint_order;
  PartOrder spatial_order;  ///< of spatial velocities, wrenches, rows of Jacobians
  QuaternionForm quaternion;
  AngleForm continuous;
  AngleForm planar_angle;
  Axes planar_velocity;
  BallForm ball;
  Axes ball_velocity;
  PartOrder free_position;  ///< linear_first: position before orientation
  FreeVelocity free_velocity;
  PartOrder free_velocity_order;
  FreePlace free_place;
  bool has_helical;
};

class Convention {
 public:
  /// One joint in the other library's vectors. Its q is one piece but for QuaternionForm::w_at_end.
  struct Place {
    std::string name;
    BodyId body;
    int q_start = 0, nq = 0;
    int v_start = 0, nv = 0;
    int w = -1;  ///< index of a quaternion's w that stands at the end; else -1
  };

  /// @throws Error if the library lacks a joint of the model, or if its order is alphabetical and
  /// hangs on the names of fixed joints, which a Model does not keep: then give the Description.
  Convention(const ConventionFacts& facts, const Model<double>& model);
  /// The order follows the description that the model was built from.
  Convention(const ConventionFacts& facts, const Model<double>& model,
             const Description<double>& description);
  /// The order is given, for example by the other library itself. @throws Error unless these are
  /// the names of the model's joints, each once.
  Convention(const ConventionFacts& facts, const Model<double>& model,
             const std::vector<std::string>& joint_names);

  const ConventionFacts& facts() const { return facts_; }
  /// Sizes of the other library's vectors; nv is limb's.
  int nq() const { return nq_; }
  int nv() const { return nv_; }
  /// In the other library's order.
  const std::vector<Place>& joints() const { return places_; }

  // Configuration and state. q and v without suffix are limb's; checks: sizes, finite numbers,
  // quaternions and (cos, sin) of unit length. An angle read back from (cos, sin) or from roll,
  // pitch, yaw lies in (-pi, pi]: full turns are lost there.
  VectorX<double> q_to(const VectorX<double>& q) const;
  VectorX<double> q_from(const VectorX<double>& q_other) const;
  VectorX<double> v_to(const VectorX<double>& q, const VectorX<double>& v) const;
  VectorX<double> v_from(const VectorX<double>& q, const VectorX<double>& v_other) const;
  /// Accelerations are the derivatives of the velocities on either side, so v is needed.
  VectorX<double> a_to(const VectorX<double>& q, const VectorX<double>& v,
                       const VectorX<double>& a) const;
  VectorX<double> a_from(const VectorX<double>& q, const VectorX<double>& v,
                         const VectorX<double>& a_other) const;
  VectorX<double> tau_to(const VectorX<double>& q, const VectorX<double>& tau) const;
  VectorX<double> tau_from(const VectorX<double>& q, const VectorX<double>& tau_other) const;

  // Matrices.
  /// P(q), nv x nv, orthogonal.
  MatrixX<double> velocity_matrix(const VectorX<double>& q) const;
  MatrixX<double> mass_matrix_to(const VectorX<double>& q, const MatrixX<double>& M) const;
  MatrixX<double> mass_matrix_from(const VectorX<double>& q, const MatrixX<double>& M_other) const;
  /// Rows and columns of a 6 x nv Jacobian; its axes and point stay as they are.
  MatrixX<double> jacobian_to(const VectorX<double>& q, const MatrixX<double>& J) const;
  MatrixX<double> jacobian_from(const VectorX<double>& q, const MatrixX<double>& J_other) const;
  /// Rows alone, any number of columns.
  MatrixX<double> jacobian_rows_to(const MatrixX<double>& J) const;
  MatrixX<double> jacobian_rows_from(const MatrixX<double>& J_other) const;

  // Spatial vectors: only the order of their parts changes.
  Vector6<double> motion_to(const Motion<double>& V) const;
  Motion<double> motion_from(const Vector6<double>& V_other) const;
  Vector6<double> wrench_to(const Force<double>& F) const;
  Force<double> wrench_from(const Vector6<double>& F_other) const;

 private:
  struct LimbJoint {
    Joint<double> joint;
    Pose<double> X_PJ;
    int q_start, v_start;
  };
  enum class Direction { to, from };

  void place(const Model<double>& model, const std::vector<BodyId>& order);
  std::string named(std::string_view function) const;
  void check_limb_q(std::string_view call, const VectorX<double>& q) const;
  MatrixX<double> map_rows(const VectorX<double>& q, const MatrixX<double>& x, Direction way) const;
  /// dP/dt v.
  VectorX<double> bias(const VectorX<double>& q, const VectorX<double>& v) const;
  Vector6<double> swapped(const Vector6<double>& x) const;

  ConventionFacts facts_;
  std::vector<Place> places_;
  std::vector<LimbJoint> sources_;  ///< the same joints in limb
  int nq_ = 0, nv_ = 0, limb_nq_ = 0;
};

/// A library's convention as a class of its own: each convert_*.hpp gives its facts and one name.
template <const ConventionFacts& kFacts>
class ConventionOf : public Convention {
 public:
  explicit ConventionOf(const Model<double>& model) : Convention(kFacts, model) {}
  ConventionOf(const Model<double>& model, const Description<double>& description)
      : Convention(kFacts, model, description) {}
  ConventionOf(const Model<double>& model, const std::vector<std::string>& joint_names)
      : Convention(kFacts, model, joint_names) {}
};

}  // namespace limb
