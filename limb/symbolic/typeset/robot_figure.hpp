#pragma once

#include "limb/symbolic/derive/robot.hpp"

namespace limb::symbolic {

struct FigureOptions {
  std::vector<double>
      q;  ///< one number per coordinate; empty: a pose in which links do not overlap
  bool plain_names = false;  ///< q_1 for every coordinate, else theta_1 and d_1
};

/// A figure of the robot as SVG: links, joints, mass centres, named frames, gravity, with the
/// letters of coordinates, masses and lengths. Robots whose joints move in one plane are drawn in
/// that plane, others obliquely. Parameters have the values of the file, or 1 if it gives none.
/// @throws Error if q has another size.
std::string draw_robot(const Robot& robot, const FigureOptions& options = {});

}  // namespace limb::symbolic
