#pragma once

#include "limb/math/inertia.hpp"

/// The ten parameters in which the dynamics of a body are linear, as one vector:
///
///   m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz        about the origin and in the axes of its frame
namespace limb {

template <typename T>
using Vector10 = Eigen::Matrix<T, 10, 1>;

template <typename T>
Vector10<T> inertial_parameters(const Inertia<T>& I) {
  const Matrix3<T>& tensor = I.tensor();
  Vector10<T> p;
  p << I.mass(), I.first_moment(), tensor(0, 0), tensor(0, 1), tensor(1, 1), tensor(0, 2),
      tensor(1, 2), tensor(2, 2);
  return p;
}

/// Unchecked: see inertia_report.
template <typename T>
Inertia<T> inertia_from_parameters(const Vector10<T>& p) {
  Matrix3<T> tensor;
  tensor << p[4], p[5], p[7],  //
      p[5], p[6], p[8],        //
      p[7], p[8], p[9];
  return {p[0], p.template segment<3>(1), tensor};
}

}  // namespace limb
