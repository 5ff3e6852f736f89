#pragma once

#include <span>
#include <string>
#include <vector>

#include "limb/dynamics/jacobian.hpp"

namespace limb {

/// Where the feet of a robot are, seen from its inertial sensor: what joints alone can tell. Feet
/// are frames by name, the sensor S any frame that is fixed to the floating base.
class LegKinematics {
 public:
  /// @param imu  name of the sensor's frame; empty: the base's own.
  /// @throws Error if the robot's first joint is not free, a name is unknown, a foot does not hang
  /// on the base or has no joint between, or there are more feet than filters have room for.
  LegKinematics(const Model<double>& model, std::span<const std::string> feet,
                const std::string& imu = {});

  const Model<double>& model() const { return model_; }
  int feet() const { return static_cast<int>(feet_.size()); }
  const std::string& foot_name(int foot) const { return model_.frame(frame(foot)).name; }
  FrameId frame(int foot) const { return feet_[static_cast<std::size_t>(foot)].frame; }
  const Pose<double>& X_BS() const { return X_BS_; }
  /// Whether a velocity of the robot belongs to a joint between the base and this foot.
  const std::vector<bool>& leg(int foot) const { return feet_[static_cast<std::size_t>(foot)].leg; }

  /// All feet at these joints. The numbers of the base, in front, do not count. No allocation.
  /// @throws Error for a wrong size. @returns false, and keeps what was, if a number of a leg is
  /// not finite.
  bool update(VectorIn<double>& q, VectorIn<double>& v);

  /// In axes of S: place, velocity seen from S, and its derivatives by the robot's velocities.
  const Vector3<double>& p_SF(int foot) const { return at(foot).p_SF; }
  const Vector3<double>& v_SF(int foot) const { return at(foot).v_SF; }
  const Matrix3X<double>& J(int foot) const { return at(foot).J; }

  /// J J^T encoder^2 + error^2: covariance of p_SF for encoders of this deviation (rad or m), the
  /// same for all joints, and a model that is off by as much; of v_SF for one of their rates.
  Matrix3<double> noise(int foot, double encoder, double error) const;

 private:
  struct Foot {
    FrameId frame;
    std::vector<bool> leg;
    std::vector<int> columns;
    Vector3<double> p_SF, v_SF;
    Matrix3X<double> J;
  };
  const Foot& at(int foot) const { return feet_[static_cast<std::size_t>(foot)]; }

  Model<double> model_;
  Pose<double> X_BS_;
  std::vector<Foot> feet_;
  std::vector<int> positions_, velocities_;  ///< that legs use
  Kinematics<double> kinematics_;
  Eigen::Matrix<double, 3, Eigen::Dynamic> J_;
  VectorX<double> q_, v_;
};

}  // namespace limb
