#pragma once

#include "limb/symbolic/derive/closed_form.hpp"

/// The Newton-Euler recursion in twists and wrenches, with frames at the mass centres.
/// [Lynch 2017, Newton-Euler inverse dynamics] Six-vectors are in the order of that book: angular
/// before linear, moment before force.
namespace limb::symbolic {

/// One link; frame i is at its mass centre, in link axes.
struct ModernRoboticsLink {
  std::string name;       ///< of its joint
  int parent = 0;         ///< 0: the world; else the index of the link, from 1
  Matrix home;            ///< M_{i,p}, 4 x 4: the parent frame seen from frame i at q = 0
  Vector axis;            ///< A_i, the screw axis of the joint in frame i
  Pose<Polynomial> T_iP;  ///< exp(-[A_i] q_i) M_{i,p}
  Matrix inertia;         ///< G_i, 6 x 6
  Vector V, Vd;           ///< twist and its rate; gravity is an acceleration of the base
  Vector F;               ///< wrench transmitted by the joint
  Polynomial tau;         ///< F_i^T A_i, with armature and damping
};

struct ModernRoboticsSteps {
  std::vector<ModernRoboticsLink> links;
  Vector tau;  ///< generalized forces on the coordinates of the robot
};

/// Whether every joint has one degree of freedom, so that it has a screw axis.
bool has_screw_axes(const Robot& robot);

/// Runs the recursion; mass centres and inertias are those of `links`. A link whose mass centre has
/// no closed form has its frame at the link origin.
/// @throws Error if a joint has more than one degree of freedom.
ModernRoboticsSteps modern_robotics_steps(const Robot& robot, const std::vector<LinkForm>& links);

/// 4 x 4 matrix of a pose.
Matrix homogeneous(const Pose<Polynomial>& X);

}  // namespace limb::symbolic
