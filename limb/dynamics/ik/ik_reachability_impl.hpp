#pragma once

#include "limb/dynamics/ik/inverse_kinematics.hpp"
#include "limb/dynamics/kinematics/manifold_impl.hpp"

/// An upper bound on the reach of frames.
namespace limb::ik {

/// The largest distance by which the joint can displace its body's origin.
template <Real T>
T max_displacement(const Body<T>& body, LimitUse limits) {
  const auto farthest = [&](int j) {
    const double low = manifold_detail::lower_limit(body, j);
    const double high = manifold_detail::upper_limit(body, j);
    return limits == LimitUse::ignore ? std::numeric_limits<T>::infinity()
                                      : T(std::max(std::abs(low), std::abs(high)));
  };
  switch (body.joint.type()) {
    case JointType::prismatic:
    case JointType::cylindrical:  // displacement before angle
      return farthest(0);
    case JointType::helical:
      return std::abs(body.joint.pitch()) * farthest(0);
    case JointType::planar:
      return std::hypot(farthest(0), farthest(1));
    case JointType::translation:
    case JointType::free:
      return std::hypot(farthest(0), farthest(1), farthest(2));
    default:
      return T(0);
  }
}

/// Whether some goal is, along its weighted directions, farther from the first joint of its chain
/// than the sum of the lengths of the chain: then no configuration satisfies it.
template <Real T>
bool is_unreachable(const Model<T>& model, GoalsIn<T> goals, const IkOptions<T>& options) {
  for (const FrameGoal<T>& goal : goals) {
    const Frame<T>& frame = model.frame(goal.frame);
    std::size_t i = static_cast<std::size_t>(frame.body.value());
    Vector3<T> next = frame.X_BF.p;  // in axes of body i, from its origin
    T reach = T(0);
    while (i > 0) {
      const Body<T>& body = model.bodies()[i];
      reach += next.norm() + max_displacement(body, options.limits);
      next = body.X_PJ.p;
      i = static_cast<std::size_t>(body.parent.value());
    }
    Vector3<T> away = goal.X_WG.R.transpose() * (goal.X_WG.p - next);
    for (int k = 0; k < 3; ++k) away[k] = goal.position_weight[k] > T(0) ? away[k] : T(0);
    const T left = away.norm() - reach;
    if (left > options.position_tolerance + T(64) * epsilon<T>() * (T(1) + reach)) return true;
  }
  return false;
}

}  // namespace limb::ik
