#pragma once

#include "python/src/states.hpp"

/// One function per part of the module; module.cpp calls them.
namespace limb::python {

using RobotClass = nb::class_<Robot>;

void bind_robot(nb::module_& m, RobotClass& robot);
void bind_geometry(RobotClass& robot);
void bind_kinematics(RobotClass& robot);
void bind_frames(RobotClass& robot);
void bind_dynamics(RobotClass& robot);
void bind_lagrange(RobotClass& robot);
void bind_momentum(RobotClass& robot);
void bind_derivatives(RobotClass& robot);
void bind_motion_derivatives(RobotClass& robot);
void bind_second_derivatives(RobotClass& robot);
void bind_contact_derivatives(RobotClass& robot);
void bind_regressor(RobotClass& robot);
void bind_contacts(nb::module_& m, RobotClass& robot);
void bind_operational_space(RobotClass& robot);
void bind_inverse_kinematics(RobotClass& robot);
void bind_compiled(nb::module_& m);
void bind_derivation(nb::module_& m);
void bind_convert(nb::module_& m);
void bind_math(nb::module_& m);
void bind_ground(nb::module_& m);
void bind_world(nb::module_& m);
void bind_simulation(nb::module_& m);
void bind_scenario(nb::module_& m);
void bind_estimate(nb::module_& m);
void bind_legged(nb::module_& m);

/// Kinematics at q, at q and v, or at q, v and a: the first `count` arguments.
inline const Kinematics<double>& kinematics_at(const Robot& r, Workspaces& w,
                                               const double* const* in, int count) {
  Kinematics<double>& k = w.kinematics();
  const ConstVector q(in[0], r.nq());
  if (count == 1) {
    forward_kinematics(r.model(), q, k);
  } else if (count == 2) {
    forward_kinematics(r.model(), q, ConstVector(in[1], r.nv()), k);
  } else {
    forward_kinematics(r.model(), q, ConstVector(in[1], r.nv()), ConstVector(in[2], r.nv()), k);
  }
  return k;
}

inline void write_pose(const Pose<double>& X, double* to) {
  Eigen::Map<Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>{to} = X.matrix();
}
template <typename Spatial>
void write_spatial(const Spatial& x, double* to) {
  Eigen::Map<Vector6<double>>{to} = x.vector();
}

// Parts of signatures for the type stubs; the names are imported by stub_pattern.txt.
#define LIMB_OUT "out: Array | None = None, check: bool | None = None) -> Array"
#define LIMB_EXTERNAL "external: Mapping[str, ArrayLike] | None = None"

}  // namespace limb::python
