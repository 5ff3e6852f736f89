#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "limb/math/inertia.hpp"

/// Physical consistency of inertias.
///
/// A distribution of mass with positive density that is not flat has mass m > 0 and a positive
/// definite matrix of second moments about its mass centre, and for each such pair there is a body.
/// Equivalent: the 4 x 4 pseudo-inertia is positive definite. It implies positive principal moments
/// and the triangle inequality Ii + Ij > Ik, which is the same as positive second moments.
/// [Traversaro 2016, full physical consistency; Wensing 2018, pseudo-inertia]
namespace limb {

/// J = [S h; h^T m], S = int(r r^T) about the origin, h = m c.
template <typename T>
Matrix4<T> pseudo_inertia(const Inertia<T>& I) {
  Matrix4<T> J;
  J << second_moments<T>(I.tensor()), I.first_moment(), I.first_moment().transpose(), I.mass();
  return J;
}

/// The inertia with this pseudo-inertia. @throws Error if J is not finite or not symmetric.
template <typename T>
Inertia<T> inertia_from_pseudo(const Matrix4<T>& J) {
  check_symmetric("inertia_from_pseudo", "J", J);
  const Matrix3<T> S = J.template topLeftCorner<3, 3>();
  return {J(3, 3), J.template topRightCorner<3, 1>(), tensor_from_second_moments<T>(S)};
}

/// The quantity that each condition tests. If the mass is not positive there is no mass centre, and
/// the moments are about the origin.
template <Real T>
struct InertiaReport {
  T mass = 0;                  ///< must be > 0
  Vector3<T> moments;          ///< principal moments about the mass centre, smallest first
  T triangle_margin = 0;       ///< I1 + I2 - I3 of these; must be > 0
  T pseudo_eigenvalue = 0;     ///< smallest eigenvalue of pseudo_inertia(); must be > 0
  T scaled_eigenvalue = 0;     ///< the same in units where m = 1, tr(S) = 1; has the same sign
  T moment_tolerance = 0;      ///< moments and margin up to this are 0 to rounding
  T eigenvalue_tolerance = 0;  ///< the same for scaled_eigenvalue
  bool limit = false;          ///< every condition holds with >= in place of >, to rounding
  /// One line per violated condition, with its value.
  std::vector<std::string> violations;

  T smallest_moment() const { return moments[0]; }
  /// A body with volume can have this inertia: each condition holds by more than rounding.
  bool consistent() const { return violations.empty(); }
  /// Also the limiting cases: point mass, rod, plate, zero inertia.
  bool realizable() const { return consistent() || limit; }
  /// The violations in one line, separated by "; ".
  std::string text() const;
};

/// Tests any ten numbers, also those that are not finite or not symmetric; does not throw.
template <Real T>
InertiaReport<T> inertia_report(const Inertia<T>& I);

/// @throws Error with the text of the report unless inertia_report(I).consistent().
template <Real T>
void check_consistent(std::string_view call, std::string_view argument, const Inertia<T>& I);

/// @throws Error with the text of the report unless inertia_report(I).realizable().
template <Real T>
void check_realizable(std::string_view call, std::string_view argument, const Inertia<T>& I);

/// The consistent inertia closest to I: same mass and mass centre, and, of all matrices of second
/// moments about it with eigenvalues >= floor * sum |eigenvalues of I's|, the nearest in the
/// Frobenius norm. (The sum is the trace if no eigenvalue is negative. If rounding of I exceeds
/// that floor, the floor is four times the rounding.) A consistent I is returned unchanged, bit for
/// bit.
/// @throws Error if a number is not finite, the mass or the floor not positive, or I a point mass
/// at the origin, which has no size from which to compute the floor.
template <Real T>
Inertia<T> nearest_consistent(const Inertia<T>& I,
                              std::type_identity_t<T> floor = std::sqrt(epsilon<T>()));

extern template struct InertiaReport<double>;
extern template struct InertiaReport<float>;
extern template InertiaReport<double> inertia_report(const Inertia<double>&);
extern template InertiaReport<float> inertia_report(const Inertia<float>&);
extern template void check_consistent(std::string_view, std::string_view, const Inertia<double>&);
extern template void check_consistent(std::string_view, std::string_view, const Inertia<float>&);
extern template void check_realizable(std::string_view, std::string_view, const Inertia<double>&);
extern template void check_realizable(std::string_view, std::string_view, const Inertia<float>&);
extern template Inertia<double> nearest_consistent(const Inertia<double>&, double);
extern template Inertia<float> nearest_consistent(const Inertia<float>&, float);

}  // namespace limb
