#pragma once

#include "limb/estimate/filter_state.hpp"

/// What sensors other than the IMU say, as filters take it: up to three numbers that are zero but
/// for noise where the state is the true one.
namespace limb {

/// residual = measured - predicted, with its derivatives by errors of the state in world axes:
/// p + e, exp(e) R, v + e, bias + e, p_WF + e. A filter turns them to errors of its own.
struct BaseMeasurement {
  struct Block {
    int place = 0;  ///< first of the three errors
    Matrix3<double> J;
  };
  int rows = 3;
  Vector3<double> residual = Vector3<double>::Zero();
  Matrix3<double> noise = Matrix3<double>::Zero();  ///< covariance
  int blocks = 0;
  std::array<Block, 4> block;
  /// Whether it tells where the world is. Then what remains unknown is unknown in the world's axes;
  /// else it goes along with a state that is put right, as yaw and position do that nothing tells.
  bool absolute = false;

  void add(int place, const Matrix3<double>& J) {
    block[static_cast<std::size_t>(blocks++)] = {place, J};
  }
};

/// Leg odometry by position: the foot of a slot, seen at p_SF by the joints, has stayed.
///   R^T (p_WF - p_WS) = p_SF
BaseMeasurement foot_position(const FilterState& state, int slot, const Vector3<double>& p_SF,
                              const Matrix3<double>& noise_S);

/// Leg odometry by velocity: the foot that the joints see at p_SF with the velocity v_SF (of F in
/// S, axes of S) stands still. All in axes of the sensor, since there the gyroscope and the joints
/// measure:
///   R^T v_WS + (gyro - bias) x p_SF + v_SF = 0
BaseMeasurement foot_velocity(const FilterState& state, const Vector3<double>& gyro,
                              const Vector3<double>& p_SF, const Vector3<double>& v_SF,
                              const Matrix3<double>& noise_S);

/// Flat ground: the foot of a slot stands at this height.
BaseMeasurement foot_height(const FilterState& state, int slot, double height, double deviation);

/// A point Q at p_SQ on the base was seen at p_WQ, by motion capture or satellites.
BaseMeasurement position_fix(const FilterState& state, const Vector3<double>& p_WQ,
                             const Vector3<double>& p_SQ, const Matrix3<double>& noise_W);

/// The heading of the axis x_S of the base, given in axes of S, was seen at this angle from the
/// world's x axis about z. Useless, and not to be called, where the axis is nearly vertical.
BaseMeasurement yaw_fix(const FilterState& state, double yaw, const Vector3<double>& x_S,
                        double deviation);

}  // namespace limb
