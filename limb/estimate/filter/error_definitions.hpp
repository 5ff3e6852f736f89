#pragma once

#include "limb/estimate/filter/base_measurement.hpp"
#include "limb/estimate/filter/imu.hpp"

/// The steps of a filter that depend on its definition of the error, for any scalar: the filters of
/// this module run them, and the generated C filter records them.
namespace limb {

/// The state after an IMU step.
template <typename T>
FilterStateOf<T> propagated_state(const FilterStateOf<T>& x, const Vector3<T>& g,
                                  const ImuStepOf<T>& step) {
  FilterStateOf<T> y = x;
  y.p_WS += x.v_WS * step.T + g * (step.T * step.T / T(2)) + x.R_WS * step.dp;
  y.v_WS += g * step.T + x.R_WS * step.dv;
  y.R_WS = renormalize<T>(x.R_WS * step.R);
  return y;
}

/// Right-invariant errors, exp(e) X in the world. Relation of the error e of X to the errors d of
/// its parts:
///   d_R = e_R (on the left),   d_v = e_v - v x e_R,   and the same for p and the feet.
struct InvariantErrors {
  /// Errors of position, rotation and velocity increase by E times the core error and U times the
  /// noise of the step. E and U are zero before.
  template <typename T, typename MatrixE, typename MatrixU>
  static void linearize(const FilterStateOf<T>& before, const FilterStateOf<T>& after,
                        const Vector3<T>& g, const ImuStepOf<T>& step, MatrixE&& E, MatrixU&& U) {
    constexpr int P = ErrorIndex::position, R = ErrorIndex::rotation, V = ErrorIndex::velocity,
                  BG = ErrorIndex::gyro_bias, BA = ErrorIndex::accel_bias;
    const Matrix3<T>& R0 = before.R_WS;
    const Matrix3<T> p = skew<T>(after.p_WS), v = skew<T>(after.v_WS);
    const Matrix3<T> turn = R0 * step.R_by_gyro;
    E.template block<3, 3>(P, R) = skew<T>(g * (step.T * step.T / T(2)));
    E.template block<3, 3>(P, V).diagonal().setConstant(step.T);
    E.template block<3, 3>(P, BG) = R0 * step.dp_by_gyro + p * turn;
    E.template block<3, 3>(P, BA) = R0 * step.dp_by_accel;
    E.template block<3, 3>(R, BG) = turn;
    E.template block<3, 3>(V, R) = skew<T>(g * step.T);
    E.template block<3, 3>(V, BG) = R0 * step.dv_by_gyro + v * turn;
    E.template block<3, 3>(V, BA) = R0 * step.dv_by_accel;
    // The noise of the step in world axes, then in errors of the group.
    U.template block<3, 3>(P, P) = R0;
    U.template block<3, 3>(P, R) = p * R0;
    U.template block<3, 3>(R, R) = R0;
    U.template block<3, 3>(V, V) = R0;
    U.template block<3, 3>(V, R) = v * R0;
  }
  /// The error of a foot increases by this times the increase of the rotation error in a step.
  template <typename T>
  static Matrix3<T> foot_by_rotation(const Vector3<T>& p_WF) {
    return skew<T>(p_WF);
  }
  static constexpr bool kFeetTurn = true;

  /// Converts the Jacobian blocks of a measurement from world errors.
  template <typename T>
  static void to_filter_errors(const FilterStateOf<T>& x, BaseMeasurementOf<T>& m) {
    // A Jacobian with respect to d_x is one with respect to e_x, and to e_R through -x x e_R.
    Matrix3<T> by_rotation = Matrix3<T>::Zero();
    int rotation = -1;
    for (int b = 0; b < m.blocks; ++b) {
      const auto& [index, J] = m.block[static_cast<std::size_t>(b)];
      if (index == ErrorIndex::rotation) {
        rotation = b;
        by_rotation += J;
      } else if (index == ErrorIndex::position) {
        by_rotation -= J * skew<T>(x.p_WS);
      } else if (index == ErrorIndex::velocity) {
        by_rotation -= J * skew<T>(x.v_WS);
      } else if (index >= kCoreSize) {
        by_rotation -= J * skew<T>(x.p_WF[static_cast<std::size_t>((index - kCoreSize) / 3)]);
      }
    }
    if (rotation >= 0) {
      m.block[static_cast<std::size_t>(rotation)].J = by_rotation;
    } else {
      m.add(ErrorIndex::rotation, by_rotation);
    }
  }

  /// The state moved by an error.
  template <typename T, typename Error>
  static void retract(const Error& error, FilterStateOf<T>& x) {
    const auto part = [&](int index) { return Vector3<T>(error.template segment<3>(index)); };
    const Vector3<T> turn = part(ErrorIndex::rotation);
    const Matrix3<T> R = so3::exp<T>(turn), V = so3::left_jacobian<T>(turn);
    x.R_WS = renormalize<T>(R * x.R_WS);
    x.p_WS = R * x.p_WS + V * part(ErrorIndex::position);
    x.v_WS = R * x.v_WS + V * part(ErrorIndex::velocity);
    x.gyro_bias += part(ErrorIndex::gyro_bias);
    x.accel_bias += part(ErrorIndex::accel_bias);
    for (int i = 0; i < x.feet; ++i) {
      Vector3<T>& p = x.p_WF[static_cast<std::size_t>(i)];
      p = (R * p + V * part(ErrorIndex::foot(i))).eval();
    }
  }

  /// Jacobian of the error of a new foot with respect to the rotation error, p_SF in world axes.
  template <typename T>
  static Matrix3<T> foot_rotation_jacobian(const FilterStateOf<T>&, const Vector3<T>&) {
    return Matrix3<T>::Zero();
  }
  /// Gains per rotation error of the errors of position, velocity and feet, with this arm, from
  /// common errors to those of the filter and back; the rotation error is multiplied by R, or R^T.
  template <typename T>
  static Matrix3<T> from_common_gain(const Matrix3<T>& R, const Vector3<T>& arm) {
    return skew<T>(arm) * R;
  }
  template <typename T>
  static Matrix3<T> to_common_gain(const Vector3<T>& arm) {
    return -skew<T>(arm);
  }
  static constexpr bool kCommon = false;
  /// Whether an update changes the errors beyond the correction.
  static constexpr bool kTransformsErrors = false;
};

/// Errors of the parts: p + e, R exp(e), v + e, biases + e, p_WF + e.
struct PartErrors {
  template <typename T, typename MatrixE, typename MatrixU>
  static void linearize(const FilterStateOf<T>& before, const FilterStateOf<T>&, const Vector3<T>&,
                        const ImuStepOf<T>& step, MatrixE&& E, MatrixU&& U) {
    constexpr int P = ErrorIndex::position, R = ErrorIndex::rotation, V = ErrorIndex::velocity,
                  BG = ErrorIndex::gyro_bias, BA = ErrorIndex::accel_bias;
    const Matrix3<T>& R0 = before.R_WS;
    const Matrix3<T> R_S1S0 = step.R.transpose();
    E.template block<3, 3>(P, R) = -R0 * skew<T>(step.dp);
    E.template block<3, 3>(P, V).diagonal().setConstant(step.T);
    E.template block<3, 3>(P, BG) = R0 * step.dp_by_gyro;
    E.template block<3, 3>(P, BA) = R0 * step.dp_by_accel;
    E.template block<3, 3>(R, R) = R_S1S0 - Matrix3<T>::Identity();
    E.template block<3, 3>(R, BG) = R_S1S0 * step.R_by_gyro;
    E.template block<3, 3>(V, R) = -R0 * skew<T>(step.dv);
    E.template block<3, 3>(V, BG) = R0 * step.dv_by_gyro;
    E.template block<3, 3>(V, BA) = R0 * step.dv_by_accel;
    U.template block<3, 3>(P, P) = R0;
    U.template block<3, 3>(R, R) = R_S1S0;
    U.template block<3, 3>(V, V) = R0;
  }
  template <typename T>
  static Matrix3<T> foot_by_rotation(const Vector3<T>&) {
    return Matrix3<T>::Zero();
  }
  static constexpr bool kFeetTurn = false;

  template <typename T>
  static void to_filter_errors(const FilterStateOf<T>& x, BaseMeasurementOf<T>& m) {
    // exp(e_W) R = R exp(R^T e_W)
    for (int b = 0; b < m.blocks; ++b) {
      auto& block = m.block[static_cast<std::size_t>(b)];
      if (block.index == ErrorIndex::rotation) block.J = (block.J * x.R_WS).eval();
    }
  }

  template <typename T, typename Error>
  static void retract(const Error& error, FilterStateOf<T>& x) {
    const auto part = [&](int index) { return Vector3<T>(error.template segment<3>(index)); };
    x.p_WS += part(ErrorIndex::position);
    x.R_WS = renormalize<T>(x.R_WS * so3::exp<T>(part(ErrorIndex::rotation)));
    x.v_WS += part(ErrorIndex::velocity);
    x.gyro_bias += part(ErrorIndex::gyro_bias);
    x.accel_bias += part(ErrorIndex::accel_bias);
    for (int i = 0; i < x.feet; ++i) {
      x.p_WF[static_cast<std::size_t>(i)] += part(ErrorIndex::foot(i));
    }
  }

  template <typename T>
  static Matrix3<T> foot_rotation_jacobian(const FilterStateOf<T>& x, const Vector3<T>& p_SF_W) {
    return -skew<T>(p_SF_W) * x.R_WS;
  }
  static constexpr bool kCommon = true;
  static constexpr bool kTransformsErrors = true;

  /// The unobservable direction n is a rotation of the whole world about the vertical z: rotation
  /// R^T z, position z x p, velocity z x v, feet z x p_WF. The covariance refers to `before`;
  /// transformed by T with T n(before) = n(after), it keeps zero information about n. This is the
  /// gain of an error of a point, which moved by `shift`, per rotation error.
  template <typename T>
  static Matrix3<T> observability_gain(const Vector3<T>& z, const Matrix3<T>& R_before,
                                       const Vector3<T>& shift) {
    const Vector3<T> n = R_before.transpose() * z;
    return z.cross(shift) * n.transpose();
  }
};

}  // namespace limb
