#include "limb/sim/forces/wall_law.hpp"

#include <algorithm>
#include <cmath>

#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/math/check.hpp"

namespace limb {

WallLaw::WallLaw(const Model<double>& model, const Parameters& p) : parameters_(p) {
  constexpr const char* kCall = "WallLaw";
  const int frames = static_cast<int>(model.frames().size());
  if (p.frame.value() < 0 || p.frame.value() >= frames) {
    fail(kCall, "frame", std::to_string(p.frame.value()),
         "one of the " + std::to_string(frames) + " frames of the model");
  }
  check_finite(kCall, "point", p.point);
  check_unit(kCall, "normal", p.normal);
  check_positive(kCall, "stiffness", p.stiffness);
  check_not_negative(kCall, "damping", p.damping);
  check_not_negative(kCall, "friction", p.friction);
  check_positive(kCall, "slip", p.slip);
}

double WallLaw::depth(ForceInput& now) const {
  const Pose<double> X_WF = frame_pose(now.model, now.kinematics(), parameters_.frame);
  return parameters_.normal.dot(parameters_.point - X_WF.p);
}

void WallLaw::add(ForceInput& now, AppliedLoads& loads) {
  const Parameters& p = parameters_;
  const double inside = depth(now);
  if (!(inside > 0)) return;
  const Vector3<double> v =
      frame_velocity(now.model, now.kinematics(), p.frame, FrameAxes::local_world_aligned).v;
  const double along = p.normal.dot(v);
  const double force = std::max(0.0, p.stiffness * inside - p.damping * along);
  const Vector3<double> sliding = v - along * p.normal;
  const double speed = sliding.norm();
  Vector3<double> f = force * p.normal;
  if (speed > 0) f -= p.friction * force * std::tanh(speed / p.slip) / speed * sliding;
  const Matrix3<double> R_WF = frame_pose(now.model, now.kinematics(), p.frame).R;
  loads.wrenches.push_back({p.frame, {R_WF.transpose() * f, Vector3<double>::Zero()}});
}

double WallLaw::energy(ForceInput& now) const {
  const double inside = std::max(0.0, depth(now));
  return parameters_.stiffness * inside * inside / 2;
}

}  // namespace limb
