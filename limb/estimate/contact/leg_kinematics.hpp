#pragma once

#include <span>
#include <string>
#include <vector>

#include "limb/base/status.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"

namespace limb {

/// Positions and velocities of the feet relative to the inertial sensor, from the joints. Feet are
/// frames by name; the sensor S is any frame of the robot, also one that joints move relative to
/// the base.
class LegKinematics {
 public:
  /// @param imu  name of the frame of the sensor; empty: that of the base.
  /// @throws Error if the first joint of the robot is not free, a name is unknown, a foot is not
  /// connected to the sensor by at least one joint, or there are more than kMaxFeet feet.
  LegKinematics(const Model<double>& model, std::span<const std::string> feet,
                const std::string& imu = {});
  /// With the sensor at a given pose on the base, such as the mean of several.
  LegKinematics(const Model<double>& model, std::span<const std::string> feet,
                const Pose<double>& X_BS);

  const Model<double>& model() const { return model_; }
  int feet() const { return static_cast<int>(feet_.size()); }
  const std::string& foot_name(int foot) const { return model_.frame(frame(foot)).name; }
  FrameId frame(int foot) const { return feet_[static_cast<std::size_t>(foot)].frame; }
  /// Pose of the sensor on the base, at the last update if joints move it.
  const Pose<double>& X_BS() const { return X_BS_; }
  /// Whether joints move the sensor relative to the base; its velocity in the base, in axes of S.
  bool imu_moves() const { return imu_body_ > 1; }
  const Motion<double>& V_BS_S() const { return V_BS_S_; }
  /// Whether a velocity of the robot belongs to a joint between the sensor (usually on the base)
  /// and this foot.
  const std::vector<bool>& leg(int foot) const { return feet_[static_cast<std::size_t>(foot)].leg; }

  /// Updates all feet. The entries of the base in q and v are ignored. No allocation.
  /// @throws Error for a wrong size. @returns not_finite, and changes nothing, if an entry of a leg
  /// is not finite.
  Status update(VectorIn<double>& q, VectorIn<double>& v);

  /// Indices of the configuration and velocity that are needed: those of the joints between the
  /// base, the sensor and the feet.
  const std::vector<int>& needed_positions() const { return positions_; }
  const std::vector<int>& needed_velocities() const { return velocities_; }

  /// In axes of S: position, velocity relative to S, and the Jacobian with respect to v.
  const Vector3<double>& p_SF(int foot) const { return at(foot).p_SF; }
  const Vector3<double>& v_SF(int foot) const { return at(foot).v_SF; }
  const Matrix3X<double>& J(int foot) const { return at(foot).J; }
  /// Orientation of the frame of the foot.
  const Matrix3<double>& R_SF(int foot) const { return at(foot).R_SF; }

  /// J J^T encoder^2 + error^2: covariance of p_SF for this standard deviation of the encoders (rad
  /// or m, the same for all joints) and of the leg model (m); of v_SF for deviations of the rates.
  Matrix3<double> noise(int foot, double encoder, double error) const;

 private:
  struct Foot {
    FrameId frame;
    std::vector<bool> leg;
    std::vector<int> columns;
    Vector3<double> p_SF, v_SF;
    Matrix3<double> R_SF;
    Matrix3X<double> J;
  };
  void prepare(std::span<const std::string> feet, const std::string& imu);
  const Foot& at(int foot) const { return feet_[static_cast<std::size_t>(foot)]; }

  Model<double> model_;
  Pose<double> X_BS_;
  Motion<double> V_BS_S_;
  FrameId imu_frame_{};
  int imu_body_ = 1;
  std::vector<int> imu_columns_;  ///< velocities that move the sensor in the base
  std::vector<Foot> feet_;
  std::vector<int> positions_, velocities_;  ///< indices used by the legs
  Kinematics<double> kinematics_;
  Eigen::Matrix<double, 3, Eigen::Dynamic> J_;
  Matrix6X<double> J_imu_;
  VectorX<double> q_, v_;
};

}  // namespace limb
