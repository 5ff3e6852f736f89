#pragma once

#include <span>

#include "limb/math/spatial.hpp"

/// Rotational inertia tensors and the spatial inertia of a rigid body.
///
/// A tensor here always has the off-diagonal entries -int(xy) (URDF, Modern Robotics). For the
/// convention I_xy = +int(xy) with -I_xy in the matrix (Craig) use the other named constructor, so
/// that six plain numbers cannot be misread.
namespace limb {

/// The six tensor entries as in the matrix: I(0,1) = Ixy = -int(xy). URDF's convention.
template <typename T>
Matrix3<T> tensor_from_entries(const T& Ixx, const T& Iyy, const T& Izz, const T& Ixy, const T& Ixz,
                               const T& Iyz) {
  Matrix3<T> I;
  I << Ixx, Ixy, Ixz,  //
      Ixy, Iyy, Iyz,   //
      Ixz, Iyz, Izz;   //
  return I;
}

/// Products of inertia as integrals: Ixy = +int(xy), and the matrix entry is -Ixy. Craig's
/// convention.
template <typename T>
Matrix3<T> tensor_from_products(const T& Ixx, const T& Iyy, const T& Izz, const T& int_xy,
                                const T& int_xz, const T& int_yz) {
  return tensor_from_entries<T>(Ixx, Iyy, Izz, -int_xy, -int_xz, -int_yz);
}

/// |d|^2 1 - d d^T: tensor of a unit point mass at d about the origin; equal to -[d]^2.
template <typename T>
Matrix3<T> unit_point_tensor(const Vector3<T>& d) {
  const T x2 = d[0] * d[0], y2 = d[1] * d[1], z2 = d[2] * d[2];
  return tensor_from_entries<T>(y2 + z2, x2 + z2, x2 + y2, -d[0] * d[1], -d[0] * d[2],
                                -d[1] * d[2]);
}

/// Matrix of second moments int(r r^T) of the body whose tensor is I: tr(I)/2 1 - I.
template <typename T>
Matrix3<T> second_moments(const Matrix3<T>& I) {
  return T(0.5) * I.trace() * Matrix3<T>::Identity() - I;
}

/// Tensor of a body with the matrix of second moments S: tr(S) 1 - S.
template <typename T>
Matrix3<T> tensor_from_second_moments(const Matrix3<T>& S) {
  return S.trace() * Matrix3<T>::Identity() - S;
}

/// Parallel axis theorem: tensor about a point at distance d from the mass centre (either sign).
template <typename T>
Matrix3<T> parallel_axis_from_com(const Matrix3<T>& I_com, const T& mass, const Vector3<T>& d) {
  return I_com + mass * unit_point_tensor(d);
}

/// Parallel axis theorem: tensor about the mass centre from that about a point at distance d.
template <typename T>
Matrix3<T> parallel_axis_to_com(const Matrix3<T>& I_point, const T& mass, const Vector3<T>& d) {
  return I_point - mass * unit_point_tensor(d);
}

/// Tensor in axes of A from the same tensor in axes of B: R_AB I R_AB^T.
template <typename T>
Matrix3<T> rotate_tensor(const Matrix3<T>& R_AB, const Matrix3<T>& I_B) {
  return R_AB * I_B * R_AB.transpose();
}

/// Principal moments, smallest first, and the right-handed axes (columns of R) with I = R diag R^T.
template <typename T>
struct PrincipalAxes {
  Vector3<T> moments;
  Matrix3<T> R;
};

/// @throws Error if I is not finite or not symmetric.
template <Real T>
PrincipalAxes<T> principal_axes(const Matrix3<T>& I);
extern template PrincipalAxes<double> principal_axes(const Matrix3<double>&);
extern template PrincipalAxes<float> principal_axes(const Matrix3<float>&);

template <typename T>
struct PointMass {
  T mass;
  Vector3<T> position;
};

/// Spatial inertia I_B of a rigid body about the origin and in the axes of a frame B.
///
/// Stored as the ten parameters in which it is linear: mass m, first moment h = m c, tensor I_o
/// about the origin. Addition is then elementwise, no operation divides, and a massless body is not
/// a special case.
template <typename T>
class Inertia {
 public:
  /// No mass.
  Inertia() = default;
  /// From mass, first moment m c and tensor about the origin; unchecked.
  Inertia(const T& mass, const Vector3<T>& first_moment, const Matrix3<T>& tensor)
      : mass_(mass), first_moment_(first_moment), tensor_(tensor) {}

  /// From mass, mass centre and the tensor about that centre.
  /// @throws Error if a number is not finite, the mass negative or the tensor not symmetric;
  /// inertia_report() checks whether a real body can have this inertia.
  static Inertia from_com(const T& mass, const Vector3<T>& com, const Matrix3<T>& I_com) {
    check("Inertia::from_com", mass, com, I_com);
    return {mass, mass * com, parallel_axis_from_com(I_com, mass, com)};
  }
  /// From mass, mass centre and the tensor about the frame origin.
  static Inertia from_origin(const T& mass, const Vector3<T>& com, const Matrix3<T>& I_origin) {
    check("Inertia::from_origin", mass, com, I_origin);
    return {mass, mass * com, I_origin};
  }
  static Inertia point_mass(const T& mass, const Vector3<T>& position) {
    return from_com(mass, position, Matrix3<T>::Zero());
  }
  static Inertia from_point_masses(std::span<const PointMass<T>> points) {
    Inertia sum;
    for (const auto& point : points) sum = sum + point_mass(point.mass, point.position);
    return sum;
  }

  const T& mass() const { return mass_; }
  const Vector3<T>& first_moment() const { return first_moment_; }
  /// Rotational inertia about the frame origin.
  const Matrix3<T>& tensor() const { return tensor_; }
  /// Mass centre. @throws Error if the mass is 0.
  Vector3<T> com() const {
    if constexpr (Real<T>) check_positive("Inertia::com", "mass", double(mass_));
    return first_moment_ / mass_;
  }
  /// Rotational inertia about the mass centre. @throws Error if the mass is 0.
  Matrix3<T> tensor_about_com() const { return parallel_axis_to_com<T>(tensor_, mass_, com()); }
  /// Rotational inertia about any point, in the same axes. Computed without division, so it also
  /// exists for a massless body.
  Matrix3<T> tensor_about(const Vector3<T>& point) const {
    return shifted_tensor(tensor_, mass_, first_moment_, -point);
  }
  /// The 6 x 6 matrix, rows and columns (linear, angular): [m 1, -[h]; [h], I_o].
  Matrix6<T> matrix() const {
    return blocks<T>(mass_ * Matrix3<T>::Identity(), -skew(first_moment_), skew(first_moment_),
                     tensor_);
  }
  template <typename U>
  Inertia<U> cast() const {
    return {U(mass_), first_moment_.template cast<U>(), tensor_.template cast<U>()};
  }

  /// Momentum of the body moving with V (both about the frame origin).
  Force<T> operator*(const Motion<T>& V) const {
    Force<T> F{Vector3<T>(), Vector3<T>()};
    small_products::momentum<T>(mass_, first_moment_, tensor_, V.v, V.w, F.f, F.n);
    return F;
  }
  /// Union of two bodies, both given in the same frame.
  Inertia operator+(const Inertia& o) const {
    return {mass_ + o.mass_, first_moment_ + o.first_moment_, tensor_ + o.tensor_};
  }
  /// A body with a part removed.
  Inertia operator-(const Inertia& o) const {
    return {mass_ - o.mass_, first_moment_ - o.first_moment_, tensor_ - o.tensor_};
  }

  /// The same body in frame A: I_A = Ad*(X_AB) I_B Ad(X_AB)^-1, given this = I_B.
  Inertia transformed(const Pose<T>& X_AB) const {
    const Vector3<T> h = X_AB.R * first_moment_;
    return {mass_, h + mass_ * X_AB.p,
            shifted_tensor(rotate_tensor(X_AB.R, tensor_), mass_, h, X_AB.p)};
  }

 private:
  /// Tensor about the origin after the body is shifted by p:
  /// I + 2 (p.h) 1 - p h^T - h p^T + m (|p|^2 1 - p p^T).
  static Matrix3<T> shifted_tensor(const Matrix3<T>& I, const T& m, const Vector3<T>& h,
                                   const Vector3<T>& p) {
    // With k = h + m p / 2 the three terms are 2 (p.k) 1 - p k^T - k p^T.
    const Vector3<T> k = h + (m * T(0.5)) * p;
    const Matrix3<T> pk = p * k.transpose();
    return I + T(2) * p.dot(k) * Matrix3<T>::Identity() - pk - pk.transpose();
  }

  static void check(std::string_view call, const T& mass, const Vector3<T>& com,
                    const Matrix3<T>& tensor) {
    if constexpr (Real<T>) {
      check_not_negative(call, "mass", double(mass));
      check_finite(call, "com", com);
      check_symmetric(call, "tensor", tensor);
    }
  }

  T mass_ = T(0);
  Vector3<T> first_moment_ = Vector3<T>::Zero();
  Matrix3<T> tensor_ = Matrix3<T>::Zero();
};

template <typename T>
std::ostream& operator<<(std::ostream& out, const Inertia<T>& I) {
  return out << "Inertia(mass = " << I.mass() << ", first moment = " << I.first_moment().transpose()
             << ", tensor about origin = [" << I.tensor().row(0) << "; " << I.tensor().row(1)
             << "; " << I.tensor().row(2) << "])";
}

/// Kinetic energy of a body moving with V: V^T I V / 2.
template <typename T>
T kinetic_energy(const Inertia<T>& I, const Motion<T>& V) {
  return T(0.5) * dot(V, I * V);
}

}  // namespace limb
