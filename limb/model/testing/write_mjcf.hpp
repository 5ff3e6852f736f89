#pragma once

#include <cstdio>
#include <functional>
#include <initializer_list>
#include <string>

#include "limb/model/core/model.hpp"

namespace limb::testing {

/// Whether the text contains damping and armature of the joints.
enum class Drives { left_out, written };

/// A robot with hinge joints, with or without a free base, as MJCF: bodies without shapes, in the
/// order of the model. `inside(i)` is additional text inside body i; 0 is the world.
inline std::string write_mjcf(const Model<double>& model, Drives drives,
                              const std::function<std::string(int)>& inside = {}) {
  const auto numbers = [](std::initializer_list<double> x) {
    std::string text;
    for (const double y : x) {
      char number[32];
      std::snprintf(number, sizeof number, "%.17g ", y);
      text += number;
    }
    return text;
  };
  const std::function<std::string(int)> children = [&](int parent) {
    std::string text;
    for (int i = 1; i < model.body_count(); ++i) {
      const Body<double>& b = model.body(BodyId(i));
      if (b.parent.value() != parent) continue;
      const Quaternion<double> r = quaternion_from_matrix(b.X_PJ.R);
      const Vector3<double>& p = b.X_PJ.p;
      const Vector3<double> c = b.inertia.com(), z = b.joint.axis();
      const Matrix3<double> I = b.inertia.tensor_about_com();
      text += "<body pos='" + numbers({p[0], p[1], p[2]}) + "' quat='" +
              numbers({r.w(), r.x(), r.y(), r.z()}) + "'><inertial pos='" +
              numbers({c[0], c[1], c[2]}) + "' mass='" + numbers({b.inertia.mass()}) +
              "' fullinertia='" + numbers({I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)}) +
              "'/>";
      const std::string drive =
          drives == Drives::written
              ? "' damping='" + numbers({b.damping}) + "' armature='" + numbers({b.armature})
              : "";
      text += b.joint.type() == JointType::free
                  ? std::string("<freejoint/>")
                  : "<joint type='hinge' axis='" + numbers({z[0], z[1], z[2]}) + drive + "'/>";
      text += (inside ? inside(i) : "") + children(i) + "</body>";
    }
    return text;
  };
  const Vector3<double>& g = model.gravity();
  return "<mujoco><compiler angle='radian'/><option gravity='" + numbers({g[0], g[1], g[2]}) +
         "'/><worldbody>" + (inside ? inside(0) : "") + children(0) + "</worldbody></mujoco>";
}

}  // namespace limb::testing
