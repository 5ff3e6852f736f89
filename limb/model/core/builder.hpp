#pragma once

#include <string>
#include <utility>

#include "limb/model/core/model.hpp"

namespace limb {

/// Builds a robot in code, for any scalar:
///
///   RobotBuilder<double> arm("arm");
///   arm.link("base").link("upper", 2.0, {0.25, 0, 0}, tensor);
///   arm.joint("shoulder", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "upper");
///   const Model<double> model = arm.build();
template <typename T>
class RobotBuilder {
 public:
  explicit RobotBuilder(std::string name) { description_.name = std::move(name); }

  RobotBuilder& gravity(const Vector3<T>& g_W) {
    description_.gravity = g_W;
    return *this;
  }
  /// A link without mass.
  RobotBuilder& link(std::string name) {
    LinkDescription<T> link;
    link.name = std::move(name);
    description_.links.push_back(std::move(link));
    return *this;
  }
  /// A link with its mass, mass centre and tensor about that centre, all in the link's frame.
  RobotBuilder& link(std::string name, const T& mass, const Vector3<T>& com,
                     const Matrix3<T>& I_com) {
    link(std::move(name));
    InertialDescription<T> inertial;
    inertial.mass = mass;
    inertial.X_LI.p = com;
    inertial.tensor = I_com;
    description_.links.back().inertial = inertial;
    return *this;
  }
  /// A joint; its frame has the pose X_PJ in the parent link's frame and is the child link's frame.
  RobotBuilder& joint(std::string name, const Joint<T>& joint, std::string parent,
                      std::string child, const Pose<T>& X_PJ = {}) {
    JointDescription<T> d;
    d.name = std::move(name);
    d.type = joint.type();
    d.parent = std::move(parent);
    d.child = std::move(child);
    d.X_PJ = X_PJ;
    d.axis = joint.axis();
    d.axis2 = joint.axis2();
    d.pitch = joint.pitch();
    description_.joints.push_back(std::move(d));
    return *this;
  }
  /// Limits of the last joint, for each of its degrees of freedom.
  RobotBuilder& limits(std::vector<DofLimits<T>> limits) {
    last_joint("limits").limits = std::move(limits);
    return *this;
  }
  /// Viscous damping, Coulomb friction and armature of the last joint.
  RobotBuilder& drive(const T& damping, const T& friction, const T& armature) {
    JointDescription<T>& d = last_joint("drive");
    d.damping = damping;
    d.friction = friction;
    d.armature = armature;
    return *this;
  }
  /// Rotor inertia behind a gear, on the last joint: armature = I n^2.
  RobotBuilder& rotor(const T& inertia, const T& gear_ratio) {
    last_joint("rotor").armature = inertia * gear_ratio * gear_ratio;
    return *this;
  }
  /// q of `joint` = sum over the terms of ratio * q of the term's joint + offset: a mimic joint, a
  /// belt drive, a differential.
  RobotBuilder& couple(std::string joint, std::vector<typename CouplingDescription<T>::Term> terms,
                       const T& offset = T(0)) {
    description_.couplings.push_back({std::move(joint), std::move(terms), offset, {}});
    return *this;
  }
  /// q of `joint` = sum over k of coefficients[k] * (q of `leader`)^k, at least two coefficients.
  RobotBuilder& couple(std::string joint, std::string leader, const std::vector<T>& coefficients) {
    if (coefficients.size() < 2) {
      throw Error("RobotBuilder::couple: coefficients has " + std::to_string(coefficients.size()) +
                  " entries, expected at least 2");
    }
    CouplingDescription<T> d{
        std::move(joint), {{std::move(leader), coefficients[1]}}, coefficients[0], {}};
    d.powers.assign(coefficients.begin() + 2, coefficients.end());
    description_.couplings.push_back(std::move(d));
    return *this;
  }
  RobotBuilder& frame(std::string name, std::string link, const Pose<T>& X_LF) {
    description_.frames.push_back({std::move(name), std::move(link), X_LF, {}});
    return *this;
  }
  RobotBuilder& loop(LoopDescription<T> loop) {
    description_.loops.push_back(std::move(loop));
    return *this;
  }

  const Description<T>& description() const { return description_; }
  Model<T> build(Base base = Base::described) const { return build_model(description_, base); }

 private:
  JointDescription<T>& last_joint(const char* call) {
    if (description_.joints.empty()) {
      throw Error(std::string("RobotBuilder::") + call + ": no joint was added yet");
    }
    return description_.joints.back();
  }

  Description<T> description_;
};

}  // namespace limb
