#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "limb/model/convert/base_velocity_convention.hpp"
#include "limb/model/core/model.hpp"

/// Conversion of limb's vectors to and from the conventions of another library.
///
/// A library is described by a table of facts (convert_pinocchio.hpp, convert_mujoco.hpp,
/// convert_drake.hpp, convert_rbdl.hpp); the code here does not depend on the library. Joints are
/// permuted, and the coordinates of each joint are mapped. For all of these libraries
///
///   v_other = P(q) v      with P orthogonal: permutations and rotations only
///
/// hence tau_other = P tau, M_other = P M P^T, J_other = J P^T and a_other = P a + dP/dt v.
namespace limb {

/// Order of the joints in the other library's vectors.
enum class JointOrder {
  file,          ///< depth first, siblings as in the file: limb's order
  alphabetical,  ///< depth first, siblings by the name of their joint, fixed joints included
};
enum class SpatialOrder { linear_first, angular_first };
enum class QuaternionOrder {
  xyzw,
  wxyz,
  w_at_end,  ///< x y z at the joint, all w after the last joint
};
/// Coordinates of an unbounded angle.
enum class AngleCoordinates { angle, cos_sin };
enum class SphericalCoordinates {
  quaternion,
  roll_pitch_yaw,  ///< about fixed x, y, z: R = Rz Ry Rx
};
enum class VelocityAxes { child, parent };
enum class FreeJointReference {
  joint_frame,  ///< coordinates relative to the joint frame in the parent
  world,        ///< coordinates in the world, which must be the parent
};

/// The conventions of one library. Joint types not named here have one coordinate per degree of
/// freedom with the same meaning everywhere; if a library has no such joint (MuJoCo: planar, Drake:
/// cylindrical), it is the sequence of its slides and hinges in limb's order of coordinates.
struct ConventionFacts {
  std::string_view library;
  std::string_view call;  ///< class name for error messages
  JointOrder joint_order;
  SpatialOrder spatial_order;  ///< of spatial velocities, wrenches, rows of Jacobians
  QuaternionOrder quaternion;
  AngleCoordinates continuous;
  AngleCoordinates planar_angle;
  VelocityAxes planar_velocity;
  SphericalCoordinates spherical;
  VelocityAxes spherical_velocity;
  SpatialOrder free_position;  ///< linear_first: position before orientation
  BaseVelocityConvention free_velocity;
  SpatialOrder free_velocity_order;
  FreeJointReference free_reference;
  bool has_helical;
};

class Convention {
 public:
  /// One joint in the other library's vectors. Its q is contiguous except for w_at_end.
  struct JointLayout {
    std::string name;
    BodyId body;
    int q_start = 0, nq = 0;
    int v_start = 0, nv = 0;
    int w = -1;  ///< index of a quaternion's w that is stored at the end; else -1
  };

  /// @throws Error if the library lacks a joint type of the model, or if its order is alphabetical
  /// and depends on the names of fixed joints, which a Model does not keep: give the Description.
  Convention(const ConventionFacts& facts, const Model<double>& model);
  /// The order follows the description that the model was built from.
  Convention(const ConventionFacts& facts, const Model<double>& model,
             const Description<double>& description);
  /// The order is given, for example by the other library. @throws Error unless these are
  /// the names of the model's joints, each once.
  Convention(const ConventionFacts& facts, const Model<double>& model,
             const std::vector<std::string>& joint_names);

  const ConventionFacts& facts() const { return facts_; }
  /// Sizes of the other library's vectors; nv is limb's.
  int nq() const { return nq_; }
  int nv() const { return nv_; }
  /// In the other library's order.
  const std::vector<JointLayout>& joints() const { return layouts_; }

  // Configuration and state. q and v without suffix are limb's. Checked: sizes, finite numbers,
  // unit length of quaternions and (cos, sin). An angle converted back from (cos, sin) or from
  // roll, pitch, yaw lies in (-pi, pi]: full turns are lost.
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
  /// Only the rows, any number of columns.
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

  void build_layout(const Model<double>& model, const std::vector<BodyId>& order);
  std::string qualified_name(std::string_view function) const;
  void check_limb_q(std::string_view call, const VectorX<double>& q) const;
  MatrixX<double> map_rows(const VectorX<double>& q, const MatrixX<double>& x,
                           Direction direction) const;
  /// dP/dt v.
  VectorX<double> bias(const VectorX<double>& q, const VectorX<double>& v) const;
  Vector6<double> reordered(const Vector6<double>& x) const;

  ConventionFacts facts_;
  std::vector<JointLayout> layouts_;
  std::vector<LimbJoint> limb_joints_;  ///< the same joints in limb
  int nq_ = 0, nv_ = 0, limb_nq_ = 0;
};

/// The convention of one library as a class; each convert_*.hpp defines its facts and an alias.
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
