#pragma once

#include "limb/model/core/model.hpp"

namespace limb::testing {

/// Force of the armature on each joint velocity, by its definition: armature times the rate of the
/// velocity, seen from axes that do not turn for the linear velocity of free and planar joints.
inline VectorX<double> armature_force(const Model<double>& model, const VectorX<double>& v,
                                      const VectorX<double>& a) {
  VectorX<double> force = VectorX<double>::Zero(model.uncoupled_nv());
  for (const Body<double>& body : model.bodies()) {
    const int i = body.v_start, n = body.joint.nv();
    force.segment(i, n) = body.armature * a.segment(i, n);
    if (body.joint.type() == JointType::free) {
      const Vector3<double> u = v.segment<3>(i), w = v.segment<3>(i + 3);
      force.segment<3>(i) += body.armature * w.cross(u);
    } else if (body.joint.type() == JointType::planar) {
      const Vector3<double> u(v[i], v[i + 1], 0), w(0, 0, v[i + 2]);
      force.segment<2>(i) += body.armature * w.cross(u).head<2>();
    }
  }
  return force;
}

}  // namespace limb::testing
