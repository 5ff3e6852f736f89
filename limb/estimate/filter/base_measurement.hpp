#pragma once

#include "limb/estimate/filter/filter_state.hpp"

/// Measurements other than those of the IMU: residuals of up to three rows that are zero, except
/// for noise, at the true state.
namespace limb {

/// residual = measured - predicted, with the Jacobian of the prediction with respect to errors of
/// the state in world axes: p + e, exp(e) R, v + e, bias + e, p_WF + e. A filter converts it to its
/// own errors.
template <typename T>
struct BaseMeasurementOf {
  struct Block {
    int index = 0;  ///< of the first of the three errors
    Matrix3<T> J;
  };
  int rows = 3;
  Vector3<T> residual = Vector3<T>::Zero();
  Matrix3<T> noise = Matrix3<T>::Zero();  ///< covariance
  int blocks = 0;
  std::array<Block, 4> block;
  /// Whether it measures absolute position in the world. Then the remaining uncertainty is kept in
  /// world axes; otherwise it moves with the corrected state, as for the unobservable yaw and
  /// position.
  bool absolute = false;

  void add(int index, const Matrix3<T>& J) {
    block[static_cast<std::size_t>(blocks++)] = {index, J};
  }
};
using BaseMeasurement = BaseMeasurementOf<double>;

/// Leg odometry by position: the foot of a slot, measured at p_SF by the joints, has not moved.
///   R^T (p_WF - p_WS) = p_SF
BaseMeasurement foot_position(const FilterState& state, int slot, const Vector3<double>& p_SF,
                              const Matrix3<double>& noise_S);

/// The same for any scalar.
template <typename T>
BaseMeasurementOf<T> foot_position_impl(const FilterStateOf<T>& state, int slot,
                                        const Vector3<T>& p_SF, const Matrix3<T>& noise_S) {
  const Matrix3<T> R_SW = state.R_WS.transpose();
  const Vector3<T> p_SF_W = state.p_WF[static_cast<std::size_t>(slot)] - state.p_WS;
  BaseMeasurementOf<T> m;
  m.residual = p_SF - R_SW * p_SF_W;
  m.noise = noise_S;
  m.add(ErrorIndex::position, -R_SW);
  m.add(ErrorIndex::rotation, R_SW * skew<T>(p_SF_W));
  m.add(ErrorIndex::foot(slot), R_SW);
  return m;
}

/// Leg odometry by velocity: the foot measured by the joints at p_SF with the velocity v_SF (of
/// F in S, axes of S) has zero velocity. All in axes of the sensor, in which the gyroscope and the
/// joints measure:
///   R^T v_WS + (gyro - bias) x p_SF + v_SF = 0
BaseMeasurement foot_velocity(const FilterState& state, const Vector3<double>& gyro,
                              const Vector3<double>& p_SF, const Vector3<double>& v_SF,
                              const Matrix3<double>& noise_S);

/// Flat ground: the foot of a slot is at this height.
BaseMeasurement foot_height(const FilterState& state, int slot, double height, double deviation);

/// A point Q at p_SQ on the base was measured at p_WQ, by motion capture or satellite navigation.
BaseMeasurement position_fix(const FilterState& state, const Vector3<double>& p_WQ,
                             const Vector3<double>& p_SQ, const Matrix3<double>& noise_W);

/// The orientation of the sensor was measured. Noise: of rotations about world axes.
BaseMeasurement orientation_fix(const FilterState& state, const Matrix3<double>& R_WS,
                                const Matrix3<double>& noise_W);

/// The velocity of a point Q at p_SQ on the base was measured, in world axes or (in_sensor_axes) in
/// those of S.
///   v_WS + R ((gyro - bias) x p_SQ) = v_WQ
BaseMeasurement velocity_fix(const FilterState& state, const Vector3<double>& gyro,
                             const Vector3<double>& v, const Vector3<double>& p_SQ,
                             const Matrix3<double>& noise, bool in_sensor_axes);

/// The sensor stands still: its mean rate over a while is the bias of the gyroscope.
BaseMeasurement zero_rate(const FilterState& state, const Vector3<double>& mean_rate,
                          const Matrix3<double>& noise_S);

/// The heading of the axis x_S of the base, given in axes of S, was measured at this angle from the
/// world's x axis about z. Not defined, and not to be called, if the axis is nearly vertical.
BaseMeasurement yaw_fix(const FilterState& state, double yaw, const Vector3<double>& x_S,
                        double deviation);

}  // namespace limb
