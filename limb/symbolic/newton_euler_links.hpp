#pragma once

#include "limb/symbolic/closed_form.hpp"

/// The recursion of Newton and Euler in vectors of three, link by link, with all that is between.
/// [Craig 2005, iterative Newton-Euler dynamics]
namespace limb::symbolic {

/// Of one body, in its own axes; forces and moments about its origin unless said otherwise.
struct LinkMotion {
  std::string name;               ///< of its joint
  int parent = 0;                 ///< 0: the world; else its number from 1
  Pose<Polynomial> X_PB;          ///< from the body to its parent
  Vector3<Polynomial> w, wd;      ///< angular velocity and acceleration
  Vector3<Polynomial> vd;         ///< acceleration of the origin, less gravity
  Vector3<Polynomial> vd_center;  ///< and of the mass centre, where it has one
  Vector3<Polynomial> F, N;       ///< what the motion needs: force; moment about the mass centre,
                                  ///< or the origin where the centre has no closed form
  Vector3<Polynomial> f, n;       ///< through the joint
  std::vector<Polynomial> tau;    ///< on its axes, with armature and damping
};

struct NewtonEulerSteps {
  std::vector<LinkMotion> links;
  Vector tau;  ///< on the robot's coordinates
};

/// The centres and tensors are those of `links`.
NewtonEulerSteps newton_euler_steps(const Robot& robot, const std::vector<LinkForm>& links);

}  // namespace limb::symbolic
