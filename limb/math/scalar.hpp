#pragma once

#include <Eigen/Geometry>
#include <cmath>
#include <concepts>
#include <type_traits>

/// Requirements on a scalar. T may be double, float, a dual number, a pack of SIMD lanes, a node
/// of a graph: anything with + - * /, sqrt, sin, cos, atan2 found by argument-dependent lookup, and
/// an Eigen::NumTraits. A scalar whose comparison is not a bool (a pack has one result per lane)
/// also provides select(mask, a, b), and functions then evaluate both sides of each decision.
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

/// A scalar on whose comparisons code can branch. Value checks run only for these.
template <typename T>
concept Branching = requires(const T& a) {
  { a < a } -> std::convertible_to<bool>;
};

/// A machine number. Iterative decompositions (eigenvalues, SVD) exist only for these.
template <typename T>
concept Real = std::floating_point<T>;

/// Whether a scalar computes without rounding and decides equality, such as a polynomial in
/// symbols, which specializes it.
template <typename T>
inline constexpr bool kExact = false;

/// Machine epsilon of the numbers inside T.
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
