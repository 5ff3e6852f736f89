#pragma once

#include <string>

#include "limb/model/core/model.hpp"

/// Argument types of this module. T is deduced from the model only, so that vectors, segments and
/// maps all convert and share one instantiation.
///
/// q has Model::nq() entries, v, a, tau have Model::nv(): those of the independent joints. Coupled
/// joints (Model::coupling) have none.
namespace limb {

/// Members of a class so that T is not deduced from them, and so that all compilers give the
/// functions the same symbol names.
template <typename T>
struct ArgumentTypes {
  using VectorIn = const Eigen::Ref<const VectorX<T>>;
  using VectorOut = Eigen::Ref<VectorX<T>>;
  using MatrixIn = const Eigen::Ref<const MatrixX<T>>;
  using MatrixOut = Eigen::Ref<MatrixX<T>>;
  using JacobianOut = Eigen::Ref<Eigen::Matrix<T, 6, Eigen::Dynamic>>;
  using PointJacobianOut = Eigen::Ref<Eigen::Matrix<T, 3, Eigen::Dynamic>>;
};
template <typename T>
using VectorIn = typename ArgumentTypes<T>::VectorIn;
template <typename T>
using VectorOut = typename ArgumentTypes<T>::VectorOut;
template <typename T>
using MatrixIn = typename ArgumentTypes<T>::MatrixIn;
template <typename T>
using MatrixOut = typename ArgumentTypes<T>::MatrixOut;
/// 6 x n, rows linear before angular.
template <typename T>
using Matrix6X = Eigen::Matrix<T, 6, Eigen::Dynamic>;
template <typename T>
using JacobianOut = typename ArgumentTypes<T>::JacobianOut;
/// 3 x n, the velocity of a point.
template <typename T>
using Matrix3X = Eigen::Matrix<T, 3, Eigen::Dynamic>;
template <typename T>
using PointJacobianOut = typename ArgumentTypes<T>::PointJacobianOut;

inline constexpr const char* kSizeHint = "a free joint needs 7 numbers in q but 6 in v";

template <typename T>
void check_position(const char* call, const char* argument, const Model<T>& model, VectorIn<T>& q) {
  if (q.size() != model.nq()) {
    check_size(call, argument, q.size(), model.nq(), kSizeHint);
  }
}
template <typename T>
void check_velocity(const char* call, const char* argument, const Model<T>& model, VectorIn<T>& v) {
  if (v.size() != model.nv()) {
    check_size(call, argument, v.size(), model.nv(), kSizeHint);
  }
}

/// Checks the shape of a matrix. @throws Error "call: M is 6 x 5, expected 6 x 6".
inline void check_shape(const char* call, const char* argument, Eigen::Index rows,
                        Eigen::Index cols, Eigen::Index expected_rows, Eigen::Index expected_cols) {
  if (rows == expected_rows && cols == expected_cols) return;
  const auto text = [](Eigen::Index r, Eigen::Index c) {
    return std::to_string(r) + " x " + std::to_string(c);
  };
  fail(call, argument, text(rows, cols), text(expected_rows, expected_cols));
}

/// Joint effects in addition to rigid-body dynamics, with the parameters of the model; each may be
/// left out.
struct JointEffects {
  bool armature = true;  ///< reflected inertia of the rotors
  bool damping = true;   ///< torque proportional to velocity
  bool friction = true;  ///< Coulomb friction, against the direction of motion; zero at rest

  static constexpr JointEffects none() { return {false, false, false}; }
};

}  // namespace limb
