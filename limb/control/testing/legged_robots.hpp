#pragma once

#include <string>

#include "limb/base/testing/worst.hpp"
#include "limb/control/whole_body/whole_body.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/model/core/load.hpp"

/// Legged robots for the tests of locomotion: feet and a standing posture.
namespace limb::testing {

struct LeggedRobot {
  Model<double> model;
  std::vector<Foot> feet;
  VectorX<double> q;  ///< standing, the feet on z = 0 below an upright base
};

/// Moves the base vertically until the lowest point of the feet is on z = 0.
inline void put_on_ground(LeggedRobot& robot) {
  Kinematics<double> kinematics(robot.model);
  forward_kinematics(robot.model, robot.q, kinematics);
  Least lowest;
  for (const Foot& foot : robot.feet) {
    for (const auto& p : foot.points) {
      lowest.add((frame_pose(robot.model, kinematics, foot.frame) * p).z());
    }
  }
  robot.q[2] -= lowest.value();
}

inline LeggedRobot make_robot(const std::string& file, const std::vector<std::string>& feet,
                              const std::vector<Vector3<double>>& points,
                              const std::vector<std::pair<std::string, double>>& joints) {
  LeggedRobot robot{load_model(file, Base::free), {}, {}};
  for (const std::string& name : feet) robot.feet.push_back({robot.model.find_frame(name), points});
  robot.q = robot.model.neutral();
  for (const auto& [name, angle] : joints) {
    robot.q[robot.model.body(robot.model.find_body(name)).q_start] = angle;
  }
  put_on_ground(robot);
  return robot;
}

inline LeggedRobot quadruped() {
  std::vector<std::pair<std::string, double>> joints;
  for (const char* leg : {"FL", "FR", "RL", "RR"}) {
    joints.emplace_back(std::string(leg) + "_flexion", 0.8);
    joints.emplace_back(std::string(leg) + "_knee", -1.6);
  }
  return make_robot("builtin:quadruped", {"FL_foot", "FR_foot", "RL_foot", "RR_foot"},
                    {Vector3<double>::Zero()}, joints);
}

inline LeggedRobot humanoid() {
  std::vector<std::pair<std::string, double>> joints;
  for (const char* side : {"left", "right"}) {
    const std::string s = side;
    joints.emplace_back(s + "_hip_pitch", -0.35);
    joints.emplace_back(s + "_knee", 0.7);
    joints.emplace_back(s + "_ankle_pitch", -0.35);
  }
  // The box of the foot: 0.2 m by 0.07 m, 0.03 m in front of the ankle.
  const std::vector<Vector3<double>> corners = {
      {0.13, 0.035, 0}, {0.13, -0.035, 0}, {-0.07, 0.035, 0}, {-0.07, -0.035, 0}};
  return make_robot("builtin:humanoid", {"left_sole", "right_sole"}, corners, joints);
}

/// Real quadrupeds from a folder of URDF files: feet front left, front right, rear left, rear
/// right.
inline LeggedRobot anymal_b(const std::string& folder) {
  std::vector<std::pair<std::string, double>> joints;
  for (const char* leg : {"LF", "RF", "LH", "RH"}) {
    const double sign = leg[1] == 'F' ? 1 : -1;
    joints.emplace_back(std::string(leg) + "_HFE", 0.6 * sign);
    joints.emplace_back(std::string(leg) + "_KFE", -1.2 * sign);
  }
  return make_robot(folder + "/anymal_b.urdf", {"LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"},
                    {Vector3<double>::Zero()}, joints);
}
inline LeggedRobot hyq(const std::string& folder) {
  std::vector<std::pair<std::string, double>> joints;
  for (const char* leg : {"lf", "rf", "lh", "rh"}) {
    const double sign = leg[1] == 'f' ? 1 : -1;
    joints.emplace_back(std::string(leg) + "_hfe_joint", 0.7 * sign);
    joints.emplace_back(std::string(leg) + "_kfe_joint", -1.4 * sign);
  }
  return make_robot(folder + "/hyq.urdf", {"lf_foot", "rf_foot", "lh_foot", "rh_foot"},
                    {Vector3<double>::Zero()}, joints);
}
inline LeggedRobot go2(const std::string& folder) {
  std::vector<std::pair<std::string, double>> joints;
  for (const char* leg : {"FL", "FR", "RL", "RR"}) {
    joints.emplace_back(std::string(leg) + "_thigh_joint", 0.8);
    joints.emplace_back(std::string(leg) + "_calf_joint", -1.6);
  }
  return make_robot(folder + "/go2.urdf", {"FL_foot", "FR_foot", "RL_foot", "RR_foot"},
                    {Vector3<double>::Zero()}, joints);
}

}  // namespace limb::testing
