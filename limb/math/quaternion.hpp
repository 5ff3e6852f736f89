#pragma once

#include <limits>
#include <ostream>

#include "limb/math/angle_series.hpp"
#include "limb/math/check.hpp"
#include "limb/math/scalar.hpp"

namespace limb {

template <typename T>
class Quaternion;

template <typename T>
Quaternion<T> quat_xyzw(T x, T y, T z, T w);
template <typename T>
Quaternion<T> quat_wxyz(T w, T x, T y, T z);

/// Hamilton quaternion w + x i + y j + z k, stored x y z w (as Eigen, ROS, three.js, Pinocchio).
///
/// There is no constructor from four numbers: write quat_xyzw(...) or quat_wxyz(...). A unit
/// quaternion q_AB is the orientation of B in A, p_A = q_AB p_B q_AB^-1, the same as R_AB; q and -q
/// are the same rotation.
template <typename T>
class Quaternion {
 public:
  using Coefficients = Eigen::Matrix<T, 4, 1, Eigen::DontAlign>;

  /// The identity rotation.
  Quaternion() : Quaternion(T(0), T(0), T(0), T(1)) {}
  static Quaternion identity() { return Quaternion(); }
  static Quaternion from_xyzw(const Vector4<T>& xyzw) { return Quaternion(xyzw); }
  static Quaternion from_wxyz(const Vector4<T>& wxyz) {
    return Quaternion(wxyz[1], wxyz[2], wxyz[3], wxyz[0]);
  }

  const T& x() const { return xyzw_[0]; }
  const T& y() const { return xyzw_[1]; }
  const T& z() const { return xyzw_[2]; }
  const T& w() const { return xyzw_[3]; }
  /// Vector part (x, y, z).
  auto vec() const { return xyzw_.template head<3>(); }
  const Coefficients& xyzw() const { return xyzw_; }
  Vector4<T> wxyz() const { return {w(), x(), y(), z()}; }
  /// The four numbers in memory, x y z w.
  const T* data() const { return xyzw_.data(); }

  T squared_norm() const { return xyzw_.squaredNorm(); }
  T norm() const {
    using std::sqrt;
    const T n2 = squared_norm();
    if constexpr (Real<T>) {
      if (!squares_are_accurate(n2)) return rescaled_norm();
    }
    return sqrt(n2);
  }
  Quaternion conjugate() const { return Quaternion(-x(), -y(), -z(), w()); }
  /// q* / |q|^2, for any nonzero q.
  Quaternion inverse() const {
    const T n2 = squared_norm();
    if constexpr (Real<T>) {
      if (!squares_are_accurate(n2)) {
        const T s = largest_part("Quaternion::inverse");
        return (*this / s).inverse() / s;
      }
    }
    return conjugate() / n2;
  }
  /// q / |q|, for any nonzero q, however small or large.
  Quaternion normalized() const {
    using std::sqrt;
    const T n2 = squared_norm();
    if constexpr (Real<T>) {
      if (!squares_are_accurate(n2)) {
        return (*this / largest_part("Quaternion::normalized")).normalized();
      }
    }
    return *this / sqrt(n2);
  }

  Quaternion operator-() const { return Quaternion(-xyzw_); }
  Quaternion operator+(const Quaternion& o) const { return Quaternion(xyzw_ + o.xyzw_); }
  Quaternion operator-(const Quaternion& o) const { return Quaternion(xyzw_ - o.xyzw_); }
  Quaternion operator*(const T& s) const { return Quaternion(xyzw_ * s); }
  Quaternion operator/(const T& s) const { return Quaternion(xyzw_ / s); }
  friend Quaternion operator*(const T& s, const Quaternion& q) { return q * s; }

  /// Hamilton product. As rotations q_AC = q_AB * q_BC; not commutative.
  Quaternion operator*(const Quaternion& o) const {
    using View = Eigen::Map<const Eigen::Quaternion<T>>;
    return Quaternion((View(data()) * View(o.data())).coeffs());
  }

  /// q p q^-1 for a unit quaternion.
  Vector3<T> rotate(const Vector3<T>& p) const {
    // p + w t + v x t with t = (2 v) x p: doubling v first takes it off the critical path from p.
    const T x2 = x() + x(), y2 = y() + y(), z2 = z() + z();
    const T tx = y2 * p[2] - z2 * p[1], ty = z2 * p[0] - x2 * p[2], tz = x2 * p[1] - y2 * p[0];
    return {p[0] + w() * tx + (y() * tz - z() * ty), p[1] + w() * ty + (z() * tx - x() * tz),
            p[2] + w() * tz + (x() * ty - y() * tx)};
  }

  template <typename U>
  Quaternion<U> cast() const {
    return Quaternion<U>::from_xyzw(xyzw_.template cast<U>());
  }

 private:
  friend Quaternion quat_xyzw<T>(T x, T y, T z, T w);

  Quaternion(const T& x, const T& y, const T& z, const T& w) : xyzw_(x, y, z, w) {}
  template <typename Derived>
  explicit Quaternion(const Eigen::MatrixBase<Derived>& xyzw) : xyzw_(xyzw) {}

  /// Whether the squares neither overflow nor underflow; false for not-a-number and 0.
  static bool squares_are_accurate(const T& squared_norm) {
    constexpr T kSmallest = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
    return squared_norm >= kSmallest && squared_norm <= std::numeric_limits<T>::max();
  }
  T largest_part() const { return xyzw_.cwiseAbs().maxCoeff(); }
  T largest_part(std::string_view call) const {
    check_finite(call, "q", xyzw_);
    const T largest = largest_part();
    if (largest == T(0)) fail(call, "q", "0 + 0i + 0j + 0k", "a quaternion other than 0");
    return largest;
  }
  T rescaled_norm() const {
    const T s = largest_part();
    return T(0) < s && std::isfinite(s) ? s * (*this / s).norm() : std::sqrt(squared_norm());
  }

  Coefficients xyzw_;
};

template <typename T>
Quaternion<T> quat_xyzw(T x, T y, T z, T w) {
  return Quaternion<T>(x, y, z, w);
}
template <typename T>
Quaternion<T> quat_wxyz(T w, T x, T y, T z) {
  return quat_xyzw<T>(x, y, z, w);
}

/// "quat_xyzw(0, 0, 0, 1)": the text shows the order and is the call that constructs it.
template <typename T>
std::ostream& operator<<(std::ostream& out, const Quaternion<T>& q) {
  return out << "quat_xyzw(" << q.x() << ", " << q.y() << ", " << q.z() << ", " << q.w() << ")";
}

/// L(q) with (q * p).xyzw = L(q) p.xyzw. Rows and columns in the order x y z w.
template <typename T>
Matrix4<T> left_product_matrix(const Quaternion<T>& q) {
  Matrix4<T> L;
  L << q.w(), -q.z(), q.y(), q.x(),   //
      q.z(), q.w(), -q.x(), q.y(),    //
      -q.y(), q.x(), q.w(), q.z(),    //
      -q.x(), -q.y(), -q.z(), q.w();  //
  return L;
}

/// R(p) with (q * p).xyzw = R(p) q.xyzw. Rows and columns in the order x y z w.
template <typename T>
Matrix4<T> right_product_matrix(const Quaternion<T>& p) {
  Matrix4<T> R;
  R << p.w(), p.z(), -p.y(), p.x(),   //
      -p.z(), p.w(), p.x(), p.y(),    //
      p.y(), -p.x(), p.w(), p.z(),    //
      -p.x(), -p.y(), -p.z(), p.w();  //
  return R;
}

/// Rotation matrix of a unit quaternion.
template <typename T>
Matrix3<T> to_matrix(const Quaternion<T>& q) {
  const T tx = T(2) * q.x(), ty = T(2) * q.y(), tz = T(2) * q.z();
  const T wx = tx * q.w(), wy = ty * q.w(), wz = tz * q.w();
  const T xx = tx * q.x(), xy = ty * q.x(), xz = tz * q.x();
  const T yy = ty * q.y(), yz = tz * q.y(), zz = tz * q.z();
  Matrix3<T> R;
  R << T(1) - (yy + zz), xy - wz, xz + wy,  //
      xy + wz, T(1) - (xx + zz), yz - wx,   //
      xz - wy, yz + wx, T(1) - (xx + yy);   //
  return R;
}

/// The unit quaternion of a rotation matrix, computed from a component of at least 1/2: w if it is,
/// else the largest of x, y, z. That component is positive in the result. [Shepperd 1978]
template <typename T>
Quaternion<T> quaternion_from_matrix(const Matrix3<T>& R) {
  using std::sqrt;
  if constexpr (Branching<T>) {
    const T trace = R(0, 0) + R(1, 1) + R(2, 2);
    if (trace >= T(0)) {
      const T root = sqrt(T(1) + trace), s = T(0.5) / root;
      return quat_xyzw<T>((R(2, 1) - R(1, 2)) * s, (R(0, 2) - R(2, 0)) * s, (R(1, 0) - R(0, 1)) * s,
                          T(0.5) * root);
    }
    const auto half_over_root = [](const T& t) { return T(0.5) / sqrt(t); };
    const T wx = R(2, 1) - R(1, 2), wy = R(0, 2) - R(2, 0), wz = R(1, 0) - R(0, 1);
    const T xy = R(1, 0) + R(0, 1), xz = R(2, 0) + R(0, 2), yz = R(2, 1) + R(1, 2);
    if (R(0, 0) >= R(1, 1) && R(0, 0) >= R(2, 2)) {
      const T t = T(1) + R(0, 0) - R(1, 1) - R(2, 2), s = half_over_root(t);
      return quat_xyzw<T>(t * s, xy * s, xz * s, wx * s);
    }
    if (R(1, 1) >= R(2, 2)) {
      const T t = T(1) - R(0, 0) + R(1, 1) - R(2, 2), s = half_over_root(t);
      return quat_xyzw<T>(xy * s, t * s, yz * s, wy * s);
    }
    const T t = T(1) - R(0, 0) - R(1, 1) + R(2, 2), s = half_over_root(t);
    return quat_xyzw<T>(xz * s, yz * s, t * s, wz * s);
  } else {
    // From component i (x, y, z), with j, k the next two: 4 q_i^2 = 1 + R_ii - R_jj - R_kk.
    const auto from_part = [&R](int i, int j, int k) {
      const T t = T(1) + R(i, i) - R(j, j) - R(k, k), s = T(0.5) / sqrt(t);
      Vector4<T> q;
      q[i] = t * s;
      q[j] = (R(j, i) + R(i, j)) * s;
      q[k] = (R(k, i) + R(i, k)) * s;
      q[3] = (R(k, j) - R(j, k)) * s;
      return q;
    };
    const T tw = T(1) + R.trace(), sw = T(0.5) / sqrt(tw);
    const Vector4<T> from_w((R(2, 1) - R(1, 2)) * sw, (R(0, 2) - R(2, 0)) * sw,
                            (R(1, 0) - R(0, 1)) * sw, tw * sw);
    Vector4<T> q = choose_vector(R(2, 2) < R(1, 1), from_part(1, 2, 0), from_part(2, 0, 1));
    const T largest = select(R(2, 2) < R(1, 1), R(1, 1), R(2, 2));
    q = choose_vector(largest < R(0, 0), from_part(0, 1, 2), q);
    return Quaternion<T>::from_xyzw(choose_vector(tw < T(1), q, from_w));
  }
}

/// (r sin(t/2), cos(t/2)). @throws Error if the axis r is not of unit length.
template <typename T>
Quaternion<T> quaternion_from_axis_angle(const Vector3<T>& axis, const T& angle) {
  using std::cos;
  using std::sin;
  check_unit("quaternion_from_axis_angle", "axis", axis);
  const T half = angle / T(2);
  const Vector3<T> v = axis * (sin(half) / axis.norm());
  return quat_xyzw<T>(v[0], v[1], v[2], cos(half));
}

/// Unit quaternion of the rotation vector w (axis times angle).
template <typename T>
Quaternion<T> quaternion_exp(const Vector3<T>& w) {
  const Vector3<T> half = w / T(2);
  const auto e = angle_series::exponential<T>(half.squaredNorm());
  return quat_xyzw<T>(e.a * half[0], e.a * half[1], e.a * half[2], e.cos);
}

/// Rotation vector of a unit quaternion, of length at most pi; q and -q give the same.
template <typename T>
Vector3<T> quaternion_log(const Quaternion<T>& q) {
  const auto negative = q.w() < T(0);
  const T w = choose(
      negative, [&] { return T(-q.w()); }, [&] { return q.w(); });
  const Vector3<T> v = choose_vector<decltype(negative), T, 3>(negative, -q.vec(), q.vec());
  return v * angle_series::quaternion_log<T>(v.squaredNorm(), w);
}

template <typename T>
struct AxisAngle {
  Vector3<T> axis;  ///< unit; (1, 0, 0) if the angle is 0, where any axis is valid
  T angle;          ///< 0 to pi
};

/// Axis and angle of a unit quaternion.
template <typename T>
AxisAngle<T> to_axis_angle(const Quaternion<T>& q) {
  using std::sqrt;
  check_unit("to_axis_angle", "q", q.xyzw());
  const Vector3<T> w = quaternion_log(q);
  const T angle = w.norm();
  const auto none = !(T(0) < angle);
  return {choose_vector<decltype(none), T, 3>(none, Vector3<T>::UnitX(), w / angle), angle};
}

/// Four-dimensional dot product, cos of half the angle between two rotations.
template <typename T>
T dot(const Quaternion<T>& a, const Quaternion<T>& b) {
  return a.xyzw().dot(b.xyzw());
}

/// b or -b, whichever is nearer to a: both are the same rotation.
template <typename T>
Quaternion<T> align_sign(const Quaternion<T>& a, const Quaternion<T>& b) {
  const auto opposite = dot(a, b) < T(0);
  return Quaternion<T>::from_xyzw(
      choose_vector<decltype(opposite), T, 4>(opposite, -b.xyzw(), b.xyzw()));
}

/// Angle from 0 to pi of a given cosine, accurate where the cosine is not close to 1.
template <typename T>
T angle_of_cosine(const T& c, const T& s) {
  if constexpr (Real<T>) {
    return std::acos(c);
  } else {
    using std::atan2;
    return atan2(s, c);
  }
}

/// Constant-speed interpolation of unit quaternions along the shorter arc: a at t = 0, b (up to
/// sign) at t = 1. Between orientations half a turn apart both arcs have the same length; the one
/// given by the signs is taken. [Shoemake 1985]
template <typename T>
Quaternion<T> slerp(const Quaternion<T>& a, const Quaternion<T>& b, const T& t) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  check_unit("slerp", "a", a.xyzw());
  check_unit("slerp", "b", b.xyzw());
  if constexpr (Real<T>) check_finite("slerp", "t", double(t));
  // With h half the angle between the rotations the result is a cos(t h) + (b - a cos h) r,
  // r = sin(t h) / sin h. For small h, r depends on it only by h^2, so the rounding of cos h
  // does not matter.
  const T d = dot(a, b);
  const auto opposite = d < T(0);
  const T cos_h = choose(
      opposite, [&] { return T(-d); }, [&] { return d; });
  const T x = T(2) * (T(1) - cos_h);  // h^2 to second order
  const auto close = x < T(1e-8);
  const auto near = [&](T& wa, T& r) {
    r = t * (T(1) + (T(1) - t * t) * x / T(6));
    wa = T(1) - t * t * x / T(2) - r * cos_h;
  };
  const auto far = [&](T& wa, T& r) {
    const T sin_h = sqrt((T(1) - cos_h) * (T(1) + cos_h));
    const T th = t * angle_of_cosine(cos_h, sin_h);
    r = sin(th) / sin_h;
    wa = cos(th) - r * cos_h;
  };
  T wa, r;
  if constexpr (Branching<T>) {
    if (close) {
      near(wa, r);
    } else {
      far(wa, r);
    }
  } else {
    T wa_near, r_near;
    near(wa_near, r_near);
    far(wa, r);
    wa = select(close, wa_near, wa);
    r = select(close, r_near, r);
  }
  return a * wa + b * choose(
                          opposite, [&] { return T(-r); }, [&] { return r; });
}

/// Control point of squad at q, from its neighbours. [Shoemake 1987]
template <typename T>
Quaternion<T> squad_control(const Quaternion<T>& before, const Quaternion<T>& q,
                            const Quaternion<T>& after) {
  const Vector3<T> to_before = quaternion_log(q.conjugate() * align_sign(q, before));
  const Vector3<T> to_after = quaternion_log(q.conjugate() * align_sign(q, after));
  return q * quaternion_exp(Vector3<T>(-(to_before + to_after) / T(4)));
}

/// Smooth interpolation from q0 to q1 with control points s0, s1 from squad_control: passes through
/// the key orientations with continuous angular velocity.
template <typename T>
Quaternion<T> squad(const Quaternion<T>& q0, const Quaternion<T>& q1, const Quaternion<T>& s0,
                    const Quaternion<T>& s1, const T& t) {
  if constexpr (Real<T>) check_finite("squad", "t", double(t));
  return slerp(slerp(q0, q1, t), slerp(s0, s1, t), T(T(2) * t * (T(1) - t)));
}

/// d(q_AB)/dt for the angular velocity w_AB_B of B in axes of B: q (0, w) / 2.
template <typename T>
Quaternion<T> quaternion_rate(const Quaternion<T>& q_AB, const Vector3<T>& w_AB_B) {
  return q_AB * quat_xyzw<T>(w_AB_B[0], w_AB_B[1], w_AB_B[2], T(0)) * T(0.5);
}

/// Angular velocity w_AB_B from d(q_AB)/dt: the vector part of 2 q* dq.
template <typename T>
Vector3<T> angular_velocity(const Quaternion<T>& q_AB, const Quaternion<T>& dq_AB) {
  return T(2) * (q_AB.conjugate() * dq_AB).vec();
}

}  // namespace limb
