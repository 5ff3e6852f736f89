#pragma once

#include <string>

#include "limb/model/model.hpp"

/// How the functions of this room take their arguments. T is deduced from the model alone, so that
/// vectors, segments and maps all convert and all meet the one instantiation.
///
/// q, v, a, tau are the robot's own coordinates: Model::position_size() and velocity_size()
/// numbers. Joints that follow others (Model::coupling) own none of them.
namespace limb {

/// Named inside a class so that T is not deduced from them, and so that all compilers give the
/// functions the same symbols.
template <typename T>
struct Arguments {
  using VectorIn = const Eigen::Ref<const VectorX<T>>;
  using VectorOut = Eigen::Ref<VectorX<T>>;
  using MatrixIn = const Eigen::Ref<const MatrixX<T>>;
  using MatrixOut = Eigen::Ref<MatrixX<T>>;
  using JacobianOut = Eigen::Ref<Eigen::Matrix<T, 6, Eigen::Dynamic>>;
  using PointJacobianOut = Eigen::Ref<Eigen::Matrix<T, 3, Eigen::Dynamic>>;
};
template <typename T>
using VectorIn = typename Arguments<T>::VectorIn;
template <typename T>
using VectorOut = typename Arguments<T>::VectorOut;
template <typename T>
using MatrixIn = typename Arguments<T>::MatrixIn;
template <typename T>
using MatrixOut = typename Arguments<T>::MatrixOut;
/// 6 x n, rows linear before angular.
template <typename T>
using Matrix6X = Eigen::Matrix<T, 6, Eigen::Dynamic>;
template <typename T>
using JacobianOut = typename Arguments<T>::JacobianOut;
/// 3 x n, the velocity of a point.
template <typename T>
using Matrix3X = Eigen::Matrix<T, 3, Eigen::Dynamic>;
template <typename T>
using PointJacobianOut = typename Arguments<T>::PointJacobianOut;

inline constexpr const char* kSizeHint = "a free joint needs 7 numbers in q but 6 in v";

template <typename T>
void check_position(const char* call, const char* argument, const Model<T>& model, VectorIn<T>& q) {
  if (q.size() != model.position_size()) {
    check_size(call, argument, q.size(), model.position_size(), kSizeHint);
  }
}
template <typename T>
void check_velocity(const char* call, const char* argument, const Model<T>& model, VectorIn<T>& v) {
  if (v.size() != model.velocity_size()) {
    check_size(call, argument, v.size(), model.velocity_size(), kSizeHint);
  }
}

/// A matrix of the stated shape. @throws Error "call: M is 6 x 5, expected 6 x 6".
inline void check_shape(const char* call, const char* argument, Eigen::Index rows,
                        Eigen::Index cols, Eigen::Index expected_rows, Eigen::Index expected_cols) {
  if (rows == expected_rows && cols == expected_cols) return;
  const auto text = [](Eigen::Index r, Eigen::Index c) {
    return std::to_string(r) + " x " + std::to_string(c);
  };
  fail(call, argument, text(rows, cols), text(expected_rows, expected_cols));
}

/// What the drives add to the rigid bodies. The numbers are the model's; each may be left out.
struct JointEffects {
  bool armature = true;  ///< inertia of rotors, seen through their gears
  bool damping = true;   ///< torque proportional to velocity
  bool friction = true;  ///< Coulomb friction, against the direction of motion; zero at rest

  static constexpr JointEffects none() { return {false, false, false}; }
};

}  // namespace limb
