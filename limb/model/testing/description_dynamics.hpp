#pragma once

#include <map>
#include <string>
#include <vector>

#include "limb/math/se3.hpp"
#include "limb/model/core/description.hpp"

/// Kinematics and dynamics of a Description from first principles, for tests of readers: poses by
/// the exponential map, geometric Jacobians, M = sum m Jv^T Jv + Jw^T I Jw. Joints must be listed
/// parent before child and have at most one degree of freedom; a free joint stays at identity.
namespace limb::testing {

struct JointKinematics {
  std::string name;
  bool revolute = false;
  Vector3<double> axis_W, point_W;
};

struct LinkKinematics {
  std::string name;
  Pose<double> X_WL;
  std::vector<int> ancestors;  ///< moving joints between the world and the link
  Inertia<double> I_W;         ///< about the world's origin, in its axes
  double mass = 0;
  Vector3<double> com_W = Vector3<double>::Zero();
  Matrix3<double> tensor_W = Matrix3<double>::Zero();  ///< about the mass centre
};

struct DescriptionKinematics {
  std::vector<JointKinematics> joints;  ///< the moving ones, in file order: the order of q
  std::vector<LinkKinematics> links;    ///< in the order of the joints
};

inline int moving_joints(const Description<double>& d) {
  int n = 0;
  for (const auto& joint : d.joints) n += joint_nv(joint.type) == 1 ? 1 : 0;
  return n;
}

inline DescriptionKinematics forward_kinematics(const Description<double>& d,
                                                const VectorX<double>& q) {
  DescriptionKinematics result;
  std::map<std::string, const LinkDescription<double>*> links;
  for (const auto& link : d.links) links[link.name] = &link;
  std::map<std::string, LinkKinematics> done;
  done[kWorldLink] = {};
  for (const auto& joint : d.joints) {
    const LinkKinematics& parent = done.at(joint.parent);
    const Pose<double> X_WJ = parent.X_WL * joint.X_PJ;
    LinkKinematics link;
    link.name = joint.child;
    link.ancestors = parent.ancestors;
    Pose<double> X_J;
    if (joint_nv(joint.type) == 1) {
      const int i = static_cast<int>(result.joints.size());
      const bool prismatic = joint.type == JointType::prismatic;
      link.ancestors.push_back(i);
      result.joints.push_back({joint.name, !prismatic, X_WJ.R * joint.axis, X_WJ.p});
      if (!prismatic) X_J.R = so3::exp<double>(joint.axis * q[i]);
      if (prismatic) X_J.p = joint.axis * q[i];
      if (joint.type == JointType::helical) X_J.p = joint.axis * (joint.pitch * q[i]);
    }
    link.X_WL = X_WJ * X_J * joint.X_JC;
    if (const auto& inertial = links.at(joint.child)->inertial) {
      const Pose<double> X_WI = link.X_WL * inertial->X_LI;
      link.mass = inertial->mass;
      link.com_W = X_WI.p;
      link.tensor_W = rotate_tensor<double>(X_WI.R, inertial->tensor);
      link.I_W = inertial->inertia().transformed(link.X_WL);
    }
    done[joint.child] = link;
    result.links.push_back(link);
  }
  return result;
}

/// The G of q = G y + q0: the identity with a row replaced for each coupled joint.
inline MatrixX<double> coupling_matrix(const Description<double>& d,
                                       const DescriptionKinematics& w) {
  const auto n = static_cast<Eigen::Index>(w.joints.size());
  const auto index = [&](const std::string& name) {
    for (Eigen::Index i = 0; i < n; ++i) {
      if (w.joints[static_cast<std::size_t>(i)].name == name) return i;
    }
    return Eigen::Index(-1);
  };
  MatrixX<double> G = MatrixX<double>::Identity(n, n);
  std::vector<Eigen::Index> dependent;
  for (const auto& coupling : d.couplings) {
    const Eigen::Index row = index(coupling.joint);
    dependent.push_back(row);
    G.row(row).setZero();
    for (const auto& term : coupling.terms) G(row, index(term.joint)) += term.ratio;
  }
  MatrixX<double> independent(n, n - static_cast<Eigen::Index>(dependent.size()));
  Eigen::Index column = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (std::find(dependent.begin(), dependent.end(), i) == dependent.end()) {
      independent.col(column++) = G.col(i);
    }
  }
  return independent;
}

struct Dynamics {
  MatrixX<double> M;
  VectorX<double> gravity_force;
  double potential = 0;
};

/// In the independent coordinates y.
inline Dynamics dynamics(const Description<double>& d, const VectorX<double>& y) {
  const VectorX<double> zero = VectorX<double>::Zero(moving_joints(d));
  const MatrixX<double> G = coupling_matrix(d, forward_kinematics(d, zero));
  const DescriptionKinematics w = forward_kinematics(d, G * y);
  const auto n = static_cast<Eigen::Index>(w.joints.size());
  Dynamics result;
  result.M = MatrixX<double>::Zero(n, n);
  result.gravity_force = VectorX<double>::Zero(n);
  for (const LinkKinematics& link : w.links) {
    Eigen::Matrix3Xd Jv = Eigen::Matrix3Xd::Zero(3, n), Jw = Jv;
    for (const int i : link.ancestors) {
      const JointKinematics& joint = w.joints[static_cast<std::size_t>(i)];
      if (joint.revolute) {
        Jw.col(i) = joint.axis_W;
        Jv.col(i) = joint.axis_W.cross(link.com_W - joint.point_W);
      } else {
        Jv.col(i) = joint.axis_W;
      }
    }
    result.M += link.mass * Jv.transpose() * Jv + Jw.transpose() * link.tensor_W * Jw;
    result.gravity_force -= link.mass * Jv.transpose() * d.gravity;
    result.potential -= link.mass * d.gravity.dot(link.com_W);
  }
  result.M = G.transpose() * result.M * G;
  result.gravity_force = G.transpose() * result.gravity_force;
  return result;
}

}  // namespace limb::testing
