#pragma once

#include "limb/math/so3.hpp"

/// What an inertial measurement unit says about motion: the exact integral of a held sample, its
/// derivatives by the biases, and the noise that it adds up.
namespace limb {

/// A rotation rate and a specific force f = a - g, both at the sensor S and in its axes.
struct ImuSample {
  Vector3<double> gyro = Vector3<double>::Zero();   ///< rad/s
  Vector3<double> accel = Vector3<double>::Zero();  ///< m/s^2
};

/// Densities of white noise and of what drives the biases, the same for all axes of a sensor. A
/// sample every T seconds has the deviation density / sqrt(T). Defaults: a common MEMS unit.
struct ImuNoise {
  double gyro = 2e-3;        ///< rad/s/sqrt(Hz)
  double accel = 2e-2;       ///< m/s^2/sqrt(Hz)
  double gyro_walk = 2e-5;   ///< rad/s/sqrt(s)
  double accel_walk = 2e-4;  ///< m/s^2/sqrt(s)
};
/// @throws Error "call: ..." unless every density is finite and not negative.
void check_noise(const char* call, const ImuNoise& noise);

using Matrix15 = Eigen::Matrix<double, 15, 15>;

/// A sample held for a time T, seen from the sensor's axes S0 at its begin. With g the gravity,
///
///   R1 = R0 R,   v1 = v0 + g T + R0 dv,   p1 = p0 + v0 T + g T^2/2 + R0 dp
///
/// which is exact for a constant rate and force in the sensor's axes. Errors are those of position,
/// rotation (exp(e) R on the left, so in axes S0), velocity, gyroscope bias, accelerometer bias, in
/// this order; a bias is what the sensor shows too much.
struct ImuStep {
  double T = 0;
  Matrix3<double> R;          ///< R_S0S1
  Vector3<double> dv, dp;     ///< velocity and position gained, without gravity
  Matrix3<double> R_by_gyro;  ///< rotation error by gyroscope bias
  Matrix3<double> dv_by_gyro, dp_by_gyro;
  Matrix3<double> dv_by_accel, dp_by_accel;
  Matrix15 noise;  ///< covariance of all five errors
};

/// The longest step that one call integrates: longer ones are to be cut in pieces, so that
/// |gyro| T and T stay below these. Within them all is exact to 1e-7, at 400 Hz and 4 rad/s to
/// 1e-11.
inline constexpr double kLongestTurn = 0.1;  ///< rad
inline constexpr double kLongestStep = 0.1;  ///< s
/// Pieces that a step of this length needs.
int imu_pieces(const ImuSample& sample, double T);

/// Integrates a sample whose biases have been taken off. No allocation.
void integrate_imu(const ImuSample& sample, double T, const ImuNoise& noise, ImuStep& step);

}  // namespace limb
