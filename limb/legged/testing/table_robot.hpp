#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "limb/math/so3.hpp"
#include "limb/model/core/builder.hpp"

namespace limb::testing {

/// A quadruped built in code: hips 0.19 m ahead of and 0.05 m beside the middle, thighs and shanks
/// of 0.21 m, all times `size`. No frame and no link is named as a foot.
struct TableRobot {
  double size = 1, mass = 15;
  bool turned = false;     ///< joint frames turned at random angles, and half of the axes reversed
  bool bent_zero = false;  ///< at zero coordinates the thighs point backwards and the shanks down
  bool effort_limits = true;  ///< effort limits, in proportion to weight and size
  Geometry::Shape foot = Geometry::Shape::sphere;
  Geometry::Role role = Geometry::Role::collision;
  bool arm = false, tail = false;
  int joints = 3;  ///< per leg: 2 without abduction, 4 with an ankle
  int legs = 4;

  Description<double> description() const;
};

inline Description<double> TableRobot::description() const {
  using Vec = Vector3<double>;
  using Mat = Matrix3<double>;
  RobotBuilder<double> robot("table");
  std::vector<std::pair<std::string, Mat>> axes_of;  // of each link, in those of the trunk
  double turn = 0.7;
  const double effort = 3 * mass * 9.81 * 0.21 * size;
  const auto add_link = [&](const std::string& name, double share, const Vec& com, const Vec& box,
                            const Mat& C) {
    const Vec b = size * box;
    const Vec moments(b.y() * b.y() + b.z() * b.z(), b.x() * b.x() + b.z() * b.z(),
                      b.x() * b.x() + b.y() * b.y());
    const Mat tensor = share * mass / 12 * Mat(moments.asDiagonal());
    robot.link(name, share * mass, C.transpose() * (size * com), C.transpose() * tensor * C);
    axes_of.emplace_back(name, C);
  };
  const auto axes = [&](const std::string& link) {
    return std::find_if(axes_of.begin(), axes_of.end(),
                        [&](const auto& one) { return one.first == link; })
        ->second;
  };
  // All vectors in axes of the trunk, at zero coordinates.
  const auto add_joint = [&](const std::string& name, const Vec& axis, const std::string& parent,
                             const std::string& child, const Vec& at, double share, const Vec& com,
                             const Vec& box) {
    const Mat P = axes(parent);
    Mat C = P;
    double sign = 1;
    if (turned) {
      turn += 1.3;
      C = so3::exp<double>(turn * Vec(std::sin(turn), std::cos(2 * turn), 0.3).normalized());
      sign = std::sin(7 * turn) > 0 ? 1 : -1;
    }
    add_link(child, share, com, box, C);
    robot.joint(name, Joint<double>::revolute(C.transpose() * (sign * axis)), parent, child,
                {P.transpose() * C, P.transpose() * (size * at)});
    DofLimits<double> limits;
    if (effort_limits) limits.effort = effort;
    robot.limits({limits});
  };
  std::vector<std::pair<std::string, Vec>> feet;
  add_link("trunk", 0.46, {0, 0, 0}, {0.38, 0.19, 0.11}, Mat::Identity());
  const std::array<std::pair<const char*, Vec>, 6> corners = {{{"RR", {-0.19, -0.05, 0}},
                                                               {"FL", {0.19, 0.05, 0}},
                                                               {"RL", {-0.19, 0.05, 0}},
                                                               {"FR", {0.19, -0.05, 0}},
                                                               {"ML", {0, 0.05, 0}},
                                                               {"MR", {0, -0.05, 0}}}};
  for (int i = 0; i < legs; ++i) {
    const auto& [corner, hip] = corners[static_cast<std::size_t>(legs == 2 ? i * 2 + 1 : i)];
    const std::string leg = corner;
    const double side = hip.y() > 0 ? 1 : -1;
    const Vec down(0, 0, -0.21), back(-0.21, 0, 0), thigh = bent_zero ? back : down;
    const Vec rod(0.03, 0.03, 0.21);
    std::string parent = "trunk";
    Vec at = hip;
    if (joints > 2) {
      add_joint(leg + "_a", Vec::UnitX(), parent, leg + "_hip", at, 0.045, {0, 0.02 * side, 0},
                {0.06, 0.06, 0.06});
      parent = leg + "_hip";
      at = {0, 0.09 * side, 0};
    }
    add_joint(leg + "_t", Vec::UnitY(), parent, leg + "_thigh", at, 0.077, thigh / 4, rod);
    add_joint(leg + "_k", Vec::UnitY(), leg + "_thigh", leg + "_shank", thigh, 0.013, down / 2,
              rod);
    std::string last = leg + "_shank";
    if (joints > 3) {
      add_joint(leg + "_c", Vec::UnitY(), last, leg + "_tarsus", down, 0.004, down / 6,
                {0.02, 0.02, 0.07});
      last = leg + "_tarsus";
    }
    feet.emplace_back(last, size * (joints > 3 ? Vec(down / 3) : down));
  }
  if (tail) {
    add_joint("tail_joint", Vec::UnitY(), "trunk", "tail", {-0.2, 0, 0.05}, 0.01, {-0.1, 0, 0},
              {0.2, 0.02, 0.02});
  }
  if (arm) {
    add_joint("arm_1", Vec::UnitZ(), "trunk", "shoulder", {0.1, 0, 0.06}, 0.02, {0, 0, 0.03},
              {0.05, 0.05, 0.06});
    add_joint("arm_2", Vec::UnitY(), "shoulder", "upper_arm", {0, 0, 0.06}, 0.03, {0, 0, 0.1},
              {0.04, 0.04, 0.2});
    add_joint("arm_3", Vec::UnitY(), "upper_arm", "forearm", {0, 0, 0.2}, 0.02, {0.1, 0, 0},
              {0.2, 0.03, 0.03});
  }
  Description<double> result = robot.description();
  for (auto& link : result.links) {
    const Mat C = axes(link.name);
    Geometry shank;
    shank.shape = Geometry::Shape::box;
    shank.role = role;
    shank.X_LG.R = C.transpose();
    for (const auto& [name, p] : feet) {
      if (name != link.name) continue;
      // Half of the shank, and the foot, whose point is at p.
      shank.size = {0.03 * size, 0.03 * size, p.norm() / 2};
      shank.X_LG.p = C.transpose() * p / 4;
      link.geometry.push_back(shank);
      Geometry end = shank;
      end.shape = foot;
      const double r = 0.02 * size;
      end.size = foot == Geometry::Shape::box ? Vec(2 * r, 2 * r, 2 * r) : Vec(r, r, r);
      const bool center = foot == Geometry::Shape::sphere;
      const double up = foot == Geometry::Shape::capsule || foot == Geometry::Shape::cylinder
                            ? r / 2  // length r
                            : r;
      end.X_LG.p = C.transpose() * (p + (center ? Vec::Zero() : Vec(0, 0, up)));
      link.geometry.push_back(end);
    }
  }
  return result;
}

}  // namespace limb::testing
