#pragma once

#include <type_traits>

#include "limb/model/model.hpp"

/// How the functions of this room take their arguments. T is deduced from the model alone, so that
/// vectors, segments and maps all convert and all meet the one instantiation.
///
/// q, v, a, tau are the robot's own coordinates: Model::position_size() and velocity_size()
/// numbers. Joints that follow others (Model::coupling) own none of them.
namespace limb {

template <typename T>
using VectorIn = std::type_identity_t<const Eigen::Ref<const VectorX<T>>>;
template <typename T>
using VectorOut = std::type_identity_t<Eigen::Ref<VectorX<T>>>;
template <typename T>
using MatrixIn = std::type_identity_t<const Eigen::Ref<const MatrixX<T>>>;
template <typename T>
using MatrixOut = std::type_identity_t<Eigen::Ref<MatrixX<T>>>;
/// 6 x n, rows linear before angular.
template <typename T>
using Matrix6X = Eigen::Matrix<T, 6, Eigen::Dynamic>;
template <typename T>
using JacobianOut = std::type_identity_t<Eigen::Ref<Matrix6X<T>>>;
/// 3 x n, the velocity of a point.
template <typename T>
using Matrix3X = Eigen::Matrix<T, 3, Eigen::Dynamic>;
template <typename T>
using PointJacobianOut = std::type_identity_t<Eigen::Ref<Matrix3X<T>>>;

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

/// What the drives add to the rigid bodies. The numbers are the model's; each may be left out.
struct JointEffects {
  bool armature = true;  ///< inertia of rotors, seen through their gears
  bool damping = true;   ///< torque proportional to velocity
  bool friction = true;  ///< Coulomb friction, against the direction of motion; zero at rest

  static constexpr JointEffects none() { return {false, false, false}; }
};

}  // namespace limb
