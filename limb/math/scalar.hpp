#pragma once

#include <Eigen/Geometry>
#include <cmath>
#include <concepts>
#include <type_traits>

/// What limb asks of a scalar. T may be double, float, a dual number, a pack of SIMD lanes, a node
/// of a graph: anything with + - * /, sqrt, sin, cos, atan2 found by argument-dependent lookup, and
/// an Eigen::NumTraits. A scalar whose comparison is no bool (a pack has one answer a lane) also
/// supplies select(mask, a, b), and functions then evaluate both sides of each decision.
namespace limb {

template <typename T>
using Vector2 = Eigen::Matrix<T, 2, 1>;
template <typename T>
using Vector3 = Eigen::Matrix<T, 3, 1>;
template <typename T>
using Vector4 = Eigen::Matrix<T, 4, 1>;
template <typename T>
using Vector6 = Eigen::Matrix<T, 6, 1>;
template <typename T>
using VectorX = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <typename T>
using Matrix3 = Eigen::Matrix<T, 3, 3>;
template <typename T>
using Matrix4 = Eigen::Matrix<T, 4, 4>;
template <typename T>
using Matrix6 = Eigen::Matrix<T, 6, 6>;
template <typename T>
using MatrixX = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// A scalar on whose comparisons the program can branch. Value checks run for these only.
template <typename T>
concept Branching = requires(const T& a) {
  { a < a } -> std::convertible_to<bool>;
};

/// A machine number. Iterative decompositions (eigenvalues, SVD) exist for these only.
template <typename T>
concept Real = std::floating_point<T>;

/// Unit roundoff gap of the numbers inside T.
template <typename T>
T epsilon() {
  return T(Eigen::NumTraits<T>::epsilon());
}

/// condition ? a() : b() for scalars that branch; lane-wise choice of both for packs.
template <typename Condition, typename A, typename B>
auto choose(const Condition& condition, const A& a, const B& b) -> std::decay_t<decltype(a())> {
  if constexpr (std::is_convertible_v<Condition, bool>) {
    return condition ? a() : b();
  } else {
    return select(condition, a(), b());
  }
}

/// choose() for whole small vectors.
template <typename Condition, typename T, int N>
Eigen::Matrix<T, N, 1> choose_vector(const Condition& condition, const Eigen::Matrix<T, N, 1>& a,
                                     const Eigen::Matrix<T, N, 1>& b) {
  if constexpr (std::is_convertible_v<Condition, bool>) {
    return condition ? a : b;
  } else {
    Eigen::Matrix<T, N, 1> result;
    for (int i = 0; i < N; ++i) result[i] = select(condition, a[i], b[i]);
    return result;
  }
}

/// Small products entry by entry: gcc keeps these in registers, where some Eigen expressions pass a
/// vector through memory (written by halves, read as a whole: a stall of some 4 ns on x86). Which
/// form is used where was measured with bench/math_bench.cpp.
namespace entries {

/// R x
template <typename T>
Vector3<T> product(const Matrix3<T>& R, const Vector3<T>& x) {
  return {R(0, 0) * x[0] + R(0, 1) * x[1] + R(0, 2) * x[2],
          R(1, 0) * x[0] + R(1, 1) * x[1] + R(1, 2) * x[2],
          R(2, 0) * x[0] + R(2, 1) * x[1] + R(2, 2) * x[2]};
}

/// R^T x
template <typename T>
Vector3<T> transpose_product(const Matrix3<T>& R, const Vector3<T>& x) {
  return {R(0, 0) * x[0] + R(1, 0) * x[1] + R(2, 0) * x[2],
          R(0, 1) * x[0] + R(1, 1) * x[1] + R(2, 1) * x[2],
          R(0, 2) * x[0] + R(1, 2) * x[1] + R(2, 2) * x[2]};
}

/// a x b
template <typename T>
Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// c + a x b
template <typename T>
Vector3<T> add_cross(const Vector3<T>& c, const Vector3<T>& a, const Vector3<T>& b) {
  return {c[0] + (a[1] * b[2] - a[2] * b[1]), c[1] + (a[2] * b[0] - a[0] * b[2]),
          c[2] + (a[0] * b[1] - a[1] * b[0])};
}

}  // namespace entries

/// (a; b), the linear part above the angular one.
template <typename T>
Vector6<T> stack(const Vector3<T>& a, const Vector3<T>& b) {
  Vector6<T> x;
  x.template head<3>() = a;
  x.template tail<3>() = b;
  return x;
}

/// [A B; C D]
template <typename T>
Matrix6<T> blocks(const Matrix3<T>& A, const Matrix3<T>& B, const Matrix3<T>& C,
                  const Matrix3<T>& D) {
  Matrix6<T> M;
  M.template topLeftCorner<3, 3>() = A;
  M.template topRightCorner<3, 3>() = B;
  M.template bottomLeftCorner<3, 3>() = C;
  M.template bottomRightCorner<3, 3>() = D;
  return M;
}

}  // namespace limb
