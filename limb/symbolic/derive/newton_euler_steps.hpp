#pragma once

#include "limb/symbolic/derive/closed_form.hpp"

/// The Newton-Euler recursion in 3-vectors, link by link, with all intermediate quantities.
/// [Craig 2005, iterative Newton-Euler dynamics]
namespace limb::symbolic {

/// Motion and forces of one link, in link axes; moments about its origin unless stated otherwise.
struct NewtonEulerLink {
  std::string name;               ///< of its joint
  int parent = 0;                 ///< 0: the world; else the index of the link, from 1
  Pose<Polynomial> X_PB;          ///< pose in its parent
  Vector3<Polynomial> w, wd;      ///< angular velocity and acceleration
  Vector3<Polynomial> vd;         ///< acceleration of the origin minus gravity
  Vector3<Polynomial> vd_center;  ///< the same of the mass centre, if it has a closed form
  Vector3<Polynomial> F, N;       ///< required force, and moment about the mass centre,
                                  ///< or the origin if the centre has no closed form
  Vector3<Polynomial> f, n;       ///< force and moment transmitted by the joint
  std::vector<Polynomial> tau;    ///< along its axes, with armature and damping
};

struct NewtonEulerSteps {
  std::vector<NewtonEulerLink> links;
  Vector tau;  ///< generalized forces on the coordinates of the robot
};

/// Runs the recursion; mass centres and inertias are those of `links`.
NewtonEulerSteps newton_euler_steps(const Robot& robot, const std::vector<LinkForm>& links);

}  // namespace limb::symbolic
