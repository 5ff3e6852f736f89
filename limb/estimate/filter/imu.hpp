#pragma once

#include "limb/math/so3.hpp"

/// Integration of inertial measurements: the exact integral of a constant sample, its derivatives
/// with respect to the biases, and its noise covariance.
namespace limb {

/// Angular velocity and specific force f = a - g, both at the sensor S and in its axes.
template <typename T>
struct ImuSampleOf {
  Vector3<T> gyro = Vector3<T>::Zero();   ///< rad/s
  Vector3<T> accel = Vector3<T>::Zero();  ///< m/s^2
};
using ImuSample = ImuSampleOf<double>;

/// Densities of white noise and of the random walk of the biases, the same for all axes of a
/// sensor. A sample every T seconds has the standard deviation density / sqrt(T). Defaults: a
/// typical MEMS unit.
template <typename T>
struct ImuNoiseOf {
  T gyro = T(2e-4);        ///< rad/s/sqrt(Hz)
  T accel = T(2.5e-3);     ///< m/s^2/sqrt(Hz)
  T gyro_walk = T(1e-4);   ///< rad/s/sqrt(s)
  T accel_walk = T(1e-3);  ///< m/s^2/sqrt(s)
};
using ImuNoise = ImuNoiseOf<double>;
/// @throws Error "call: ..." unless every density is finite and not negative.
void check_noise(const char* call, const ImuNoise& noise);

using Matrix15 = Eigen::Matrix<double, 15, 15>;

/// A sample held for a time T, in the initial axes S0 of the sensor. With g the gravity,
///
///   R1 = R0 R,   v1 = v0 + g T + R0 dv,   p1 = p0 + v0 T + g T^2/2 + R0 dp
///
/// which is exact for a constant rate and force in the sensor's axes. Errors are those of position,
/// rotation (exp(e) R on the left, so in axes S0), velocity, gyroscope bias, accelerometer bias, in
/// this order; a bias is measured minus true value.
template <typename Scalar>
struct ImuStepOf {
  Scalar T = Scalar(0);
  Matrix3<Scalar> R;          ///< R_S0S1
  Vector3<Scalar> dv, dp;     ///< velocity and position increments, without gravity
  Matrix3<Scalar> R_by_gyro;  ///< rotation error per gyroscope bias
  Matrix3<Scalar> dv_by_gyro, dp_by_gyro;
  Matrix3<Scalar> dv_by_accel, dp_by_accel;
  Eigen::Matrix<Scalar, 15, 15> noise;  ///< covariance of all five errors
};
using ImuStep = ImuStepOf<double>;

/// Largest step of one call: longer ones must be split, so that |gyro| T and T stay below these.
/// The relative error of motion and derivatives is then at most 1e-7, and 1e-11 at 400 Hz and
/// 4 rad/s; that of the noise of the position at most 1e-5, and 0.3 % of the part of the gyroscope
/// bias.
inline constexpr double kMaxRotation = 0.1;  ///< rad
inline constexpr double kMaxStep = 0.1;      ///< s
/// Number of substeps for a step of this length.
int imu_substeps(const ImuSample& sample, double T);

/// Integrates a bias-corrected sample. No allocation. The template is in imu_impl.hpp.
void integrate_imu(const ImuSample& sample, double T, const ImuNoise& noise, ImuStep& step);

}  // namespace limb
