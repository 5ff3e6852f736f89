#pragma once

#include <vector>

#include "limb/model/core/model.hpp"

namespace limb {

/// A configuration in which a robot stands: base upright at the origin, each foot below its hip,
/// each leg shortened by the fraction `crouch` of its stretched length, all feet at one height.
///
/// A leg are the joints from the base to the foot, with axes of any direction and sign. Its last
/// joint is the knee (or ankle); its hip is the first joint with an axis parallel to that of the
/// knee. The three conditions "foot below the hip", "at this height" and "axis of the knee level"
/// are solved by damped least squares from several starts, within the joint limits. Of the
/// solutions, the nearest to the neutral configuration is taken; if knees can bend in both
/// directions they bend as in the neutral configuration, or else towards the middle of the robot.
/// Joints that are not in a leg are as in the neutral configuration, within their limits.
///
/// @param feet  front left, front right, rear left, rear right.
/// @throws Error "call: ..." if a leg has no such posture within its limits.
VectorX<double> standing_posture(const char* call, const Model<double>& model,
                                 const std::vector<FrameId>& feet, double crouch);

}  // namespace limb
