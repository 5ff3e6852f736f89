#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/model/canonical/canonical.hpp"
#include "limb/model/canonical/regroup_impl.hpp"
#include "limb/model/core/joint_impl.hpp"

namespace limb {
namespace canonical_detail {

/// An angle with its sine and cosine, exact at quarter turns.
template <typename T>
struct PlanarRotation {
  T angle, c, s;
  bool is_quarter_turn;  ///< or a multiple of it

  static PlanarRotation from_angle(T angle, double snap) {
    const T quarter_turn = std::numbers::pi_v<T> / 2;
    const T n = std::round(angle / quarter_turn);
    if (std::abs(angle - n * quarter_turn) > T(snap)) {
      return {angle, std::cos(angle), std::sin(angle), false};
    }
    const int quadrant = ((static_cast<int>(n) % 4) + 4) % 4;
    constexpr int kCos[] = {1, 0, -1, 0}, kSin[] = {0, 1, 0, -1};
    return {n * quarter_turn, T(kCos[quadrant]), T(kSin[quadrant]), true};
  }
  /// 0 to 3; -1 if it is not a multiple of a quarter turn.
  int quarter_turns() const {
    return !is_quarter_turn ? -1 : c == T(1) ? 0 : s == T(1) ? 1 : c == T(-1) ? 2 : 3;
  }
  bool is_zero() const { return is_quarter_turn && c == T(1); }
  Matrix3<T> about_z() const { return axis_rotation<T>(2, c, s); }
  Matrix3<T> about_x() const { return axis_rotation<T>(0, c, s); }
};

/// R = Rz(gamma) Rx(alpha) Rz(delta), with gamma = 0 if alpha is 0 or a half turn.
template <typename T>
struct Zxz {
  PlanarRotation<T> gamma, alpha, delta;
};

template <typename T>
typename CanonicalJoint<T>::AlphaKind alpha_kind(const PlanarRotation<T>& alpha) {
  using AlphaKind = typename CanonicalJoint<T>::AlphaKind;
  if (!alpha.is_quarter_turn) {
    return alpha.s == T(1) ? AlphaKind::near_quarter_turn : AlphaKind::general;
  }
  return alpha.c == T(0)   ? AlphaKind::quarter_turn
         : alpha.c == T(1) ? AlphaKind::zero
                           : AlphaKind::half_turn;
}

template <typename T>
Zxz<T> decompose(const Matrix3<T>& R, double snap) {
  // Column 2 is (sin gamma sin alpha, -cos gamma sin alpha, cos alpha).
  const T sin_alpha = std::hypot(R(0, 2), R(1, 2));
  const PlanarRotation<T> alpha =
      PlanarRotation<T>::from_angle(std::atan2(sin_alpha, R(2, 2)), snap);
  if (alpha.s == T(0)) {
    return {PlanarRotation<T>::from_angle(0, snap), alpha,
            PlanarRotation<T>::from_angle(std::atan2(-R(0, 1), R(0, 0)), snap)};
  }
  const PlanarRotation<T> gamma =
      PlanarRotation<T>::from_angle(std::atan2(R(0, 2), -R(1, 2)), snap);
  // Rz(delta) = (Rz(gamma) Rx(alpha))^T R. Next to alpha = 0 or a half turn, gamma is inaccurate
  // and delta corrects it: atan2(R(2, 0), R(2, 1)) would have errors of its own.
  const T x = gamma.c * R(0, 0) + gamma.s * R(1, 0);
  const T y = alpha.c * (gamma.c * R(1, 0) - gamma.s * R(0, 0)) + alpha.s * R(2, 0);
  return {gamma, alpha, PlanarRotation<T>::from_angle(std::atan2(y, x), snap)};
}

/// A rotation that takes z to the axis; exact for coordinate axes, which are permuted.
template <typename T>
Matrix3<T> rotation_z_to(const Vector3<T>& axis) {
  for (int k = 0; k < 3; ++k) {
    // Not only its entry k: that of an axis 1e-9 away is also 1.
    if (axis != Vector3<T>::Unit(k) && axis != -Vector3<T>::Unit(k)) continue;
    // Columns: axes k+1, k+2 and k, with two signs changed for the negative axis.
    Matrix3<T> R = Matrix3<T>::Zero();
    R((k + 1) % 3, 0) = T(1);
    R((k + 2) % 3, 1) = axis[k];
    R(k, 2) = axis[k];
    return R;
  }
  return Joint<T>::planar(axis).plane();
}

template <typename T>
class Canonicalizer {
 public:
  Canonicalizer(const Model<T>& model, const CanonicalOptions& options)
      : model_(model), options_(options) {}

  Canonical<T> run() {
    result_.gravity = model_.gravity();
    result_.nq = model_.uncoupled_nq();
    result_.nv = model_.uncoupled_nv();
    result_.joints.emplace_back();
    result_.joint_of_body = {0};
    for (int b = 1; b < model_.body_count(); ++b) add_body(b);
    if constexpr (Real<T>) absorb_rotations();
    if (Real<T> && options_.regroup) regroup();
    for (CanonicalJoint<T>& joint : result_.joints) {
      joint.R_is_identity = joint.R == Matrix3<T>::Identity();
      for (int k = 0; k < 3 && joint.kind == Kind::revolute; ++k) {
        if (joint.R(k, 2) == T(1) || joint.R(k, 2) == T(-1)) joint.parent_axis = k;
      }
    }
    add_drives();
    number_velocities();
    return std::move(result_);
  }

 private:
  using Kind = typename CanonicalJoint<T>::Kind;

  void add_body(int b) {
    const Body<T>& body = model_.bodies()[static_cast<std::size_t>(b)];
    const Joint<T>& joint = body.joint;
    const Vector3<T> x = Vector3<T>::UnitX(), y = Vector3<T>::UnitY(), z = Vector3<T>::UnitZ();
    begin_body(body);
    switch (joint.type()) {
      case JointType::fixed:
        break;  // build_model leaves none
      case JointType::revolute:
      case JointType::continuous:
        add_axis(Kind::revolute, joint.axis());
        break;
      case JointType::prismatic:
        add_axis(Kind::prismatic, joint.axis());
        break;
      case JointType::helical:
        add_axis(Kind::helical, joint.axis());
        result_.joints.back().pitch = joint.pitch();
        break;
      case JointType::cylindrical:
        add_axis(Kind::prismatic, joint.axis());
        add_axis(Kind::revolute, joint.axis());
        break;
      case JointType::universal:
        add_axis(Kind::revolute, joint.axis());
        add_axis(Kind::revolute, joint.axis2());
        break;
      case JointType::translation:
        add_axis(Kind::prismatic, x);
        add_axis(Kind::prismatic, y);
        add_axis(Kind::prismatic, z);
        break;
      case JointType::planar:
        add_general_joint(Kind::planar, joint.plane(), 3, 3);
        break;
      case JointType::spherical:
        add_general_joint(Kind::spherical, Matrix3<T>::Identity(), 4, 3);
        break;
      case JointType::free:
        add_general_joint(Kind::free, Matrix3<T>::Identity(), 7, 6);
        break;
    }
    end_body(b, body);
  }

  /// Starts a body: the joint frame J in the frame of the parent's canonical joint.
  void begin_body(const Body<T>& body) {
    parent_ = result_.joint_of_body[static_cast<std::size_t>(body.parent.value())];
    const CanonicalJoint<T>& parent = result_.joints[static_cast<std::size_t>(parent_)];
    X_CJ_ = parent.X_BC.inverse() * body.X_PJ;
    q_ = body.q_start;
    v_ = body.v_start;
    R_JC_ = Matrix3<T>::Identity();
  }

  /// One axis, given in J. The moving frame C is J rotated by R_JC so that its z is the axis.
  void add_axis(Kind kind, const Vector3<T>& axis_J) {
    const Matrix3<T> A = rotation_z_to<T>(axis_J);
    if constexpr (Real<T>) {
      add_axis_by_angles(kind, A);
    } else {
      // Symbolic rotations have no numeric angles: R is not decomposed, and a revolute joint
      // becomes a helical one without pitch, which has a general R.
      if (kind == Kind::revolute) kind = Kind::helical;
      add_general_joint(kind, A, 1, 1);
      X_CJ_ = {A.transpose(), Vector3<T>::Zero()};
    }
  }

  void add_axis_by_angles(Kind kind, const Matrix3<T>& A) {
    const Zxz<T> r = decompose<T>(X_CJ_.R * A, options_.snap);
    CanonicalJoint<T> joint;
    joint.kind = kind;
    joint.parent = parent_;
    joint.q = q_++;
    joint.v = v_++;
    joint.cos_gamma = r.gamma.c;
    joint.sin_gamma = r.gamma.s;
    joint.has_gamma = !r.gamma.is_zero();
    joint.alpha_kind = alpha_kind(r.alpha);
    joint.cos_alpha = r.alpha.c;
    joint.sin_alpha = r.alpha.s;
    joint.R = r.gamma.about_z() * r.alpha.about_x();
    joint.p = X_CJ_.p;
    // The last rotation about z commutes with the joint's motion. For a prismatic joint, or a
    // quarter turn, it goes into the child's frame; otherwise it becomes an offset of the angle
    // and the child keeps its axes.
    Matrix3<T> last = r.delta.about_z();
    const bool rotates = kind != Kind::prismatic;
    if (rotates && !r.delta.is_quarter_turn) {
      joint.offset = r.delta.angle;
      // A helical joint translates with its angle only, not with the offset: see pitch in the pose.
      last = Matrix3<T>::Identity();
    }
    parent_ = static_cast<int>(result_.joints.size());
    // The moved J in the new frame C: C = J A last^T, so J = C last A^T.
    X_CJ_ = {last * A.transpose(), Vector3<T>::Zero()};
    R_JC_ = A * last.transpose();
    result_.joints.push_back(std::move(joint));
  }

  /// A joint with several degrees of freedom keeps its axes, which its velocities refer to.
  void add_general_joint(Kind kind, const Matrix3<T>& A, int nq, int nv) {
    CanonicalJoint<T> joint;
    joint.kind = kind;
    joint.parent = parent_;
    joint.q = q_;
    joint.v = v_;
    q_ += nq;
    v_ += nv;
    joint.R = X_CJ_.R * A;
    joint.p = X_CJ_.p;
    parent_ = static_cast<int>(result_.joints.size());
    R_JC_ = A;
    result_.joints.push_back(std::move(joint));
  }

  void end_body(int b, const Body<T>& body) {
    CanonicalJoint<T>& joint = result_.joints.back();
    joint.body = b;
    joint.X_BC = {R_JC_, Vector3<T>::Zero()};
    const Inertia<T> inertia = body.inertia.transformed(joint.X_BC.inverse());
    joint.mass = inertia.mass();
    joint.first_moment = inertia.first_moment();
    joint.second_moments = precise_second_moments<T>(inertia.tensor());
    result_.joint_of_body.push_back(static_cast<int>(result_.joints.size()) - 1);
  }

  /// Rotates the frame of each revolute joint about its axis so that its first revolute child has
  /// gamma = 0 or, if the joint has no children, so that its first moment has no y component; the
  /// rotation becomes part of the joint's angle.
  void absorb_rotations() {
    std::vector<CanonicalJoint<T>>& joints = result_.joints;
    std::vector<std::size_t> first(joints.size(), 0);  // first revolute child, else 0
    std::vector<char> last(joints.size(), 1);
    for (std::size_t k = joints.size(); k-- > 1;) {
      const auto parent = static_cast<std::size_t>(joints[k].parent);
      last[parent] = 0;
      if (joints[k].kind == Kind::revolute) first[parent] = k;
    }
    std::vector<PlanarRotation<T>> rotations(joints.size(),
                                             PlanarRotation<T>::from_angle(T(0), options_.snap));
    for (std::size_t i = 1; i < joints.size(); ++i) {
      CanonicalJoint<T>& joint = joints[i];
      const CanonicalJoint<T>& child = joints[first[i]];
      const Vector3<T>& h = joint.first_moment;
      const bool absorbs = first[i] != 0 ? child.has_gamma : last[i] != 0 && h[1] != T(0);
      if (joint.kind != Kind::revolute || !absorbs) continue;
      const T angle =
          last[i] != 0 ? std::atan2(h[1], h[0]) : std::atan2(child.sin_gamma, child.cos_gamma);
      const PlanarRotation<T> rotation = PlanarRotation<T>::from_angle(angle, options_.snap);
      if (rotation.is_quarter_turn) {
        joint.quadrant = rotation.quarter_turns();
      } else {
        joint.offset += rotation.angle;
      }
      const Matrix3<T> R = rotation.about_z();  // new axes in the old ones
      joint.X_BC.R = joint.X_BC.R * R;
      joint.first_moment = R.transpose() * joint.first_moment;
      joint.second_moments = R.transpose() * joint.second_moments * R;
      if (last[i] != 0) joint.first_moment[1] = T(0);
      rotations[i] = rotation;
    }
    for (std::size_t k = 1; k < joints.size(); ++k) {
      CanonicalJoint<T>& joint = joints[k];
      const std::size_t parent = static_cast<std::size_t>(joint.parent);
      const PlanarRotation<T>& rotation = rotations[parent];
      if (rotation.is_zero()) continue;
      const Matrix3<T> R = rotation.about_z();
      joint.p = R.transpose() * joint.p;
      joint.R = R.transpose() * joint.R;
      // (cos, sin) of gamma rotated back; quarter turns stay exact.
      const T c = rotation.c * joint.cos_gamma + rotation.s * joint.sin_gamma;
      const T s = rotation.c * joint.sin_gamma - rotation.s * joint.cos_gamma;
      joint.cos_gamma = first[parent] == k ? T(1) : c;
      joint.sin_gamma = first[parent] == k ? T(0) : s;
      joint.has_gamma = joint.cos_gamma != T(1) || joint.sin_gamma != T(0);
      const bool general =
          joint.kind == Kind::planar || joint.kind == Kind::spherical || joint.kind == Kind::free;
      if (!general) {
        joint.R = axis_rotation<T>(2, joint.cos_gamma, joint.sin_gamma) *
                  axis_rotation<T>(0, joint.cos_alpha, joint.sin_alpha);
      }
    }
  }

  /// From the leaves to the root, so that moments from the children are regrouped further.
  void regroup() {
    for (std::size_t i = result_.joints.size(); i-- > 1;) {
      CanonicalJoint<T>& joint = result_.joints[i];
      joint.regrouped = joint.kind == Kind::revolute;
      joint.moved_to_parent =
          regroupable<T>(joint.kind, {joint.mass, joint.first_moment, joint.second_moments});
      add_moments(joint, joint.moved_to_parent, T(-1));
      if (joint.parent > 0) {
        add_moments(result_.joints[static_cast<std::size_t>(joint.parent)],
                    seen_from_parent(joint, joint.moved_to_parent), T(1));
      }
    }
  }

  void add_drives() {
    result_.armature = result_.damping = result_.friction = VectorX<T>::Zero(model_.uncoupled_nv());
    for (const Body<T>& body : model_.bodies()) {
      const int nv = body.joint.nv();
      result_.armature.segment(body.v_start, nv).setConstant(body.armature);
      result_.damping.segment(body.v_start, nv).setConstant(body.damping);
      result_.friction.segment(body.v_start, nv).setConstant(body.friction);
      if (body.armature == T(0)) continue;
      if (body.joint.type() == JointType::free) result_.free_armature.push_back(body.v_start);
      if (body.joint.type() == JointType::planar) result_.planar_armature.push_back(body.v_start);
    }
    const auto any = [](const VectorX<T>& x) {
      return std::any_of(x.begin(), x.end(), [](const T& y) { return !(y == T(0)); });
    };
    result_.has_armature = any(result_.armature);
    result_.has_damping = any(result_.damping);
    result_.has_friction = any(result_.friction);
  }

  /// Bodies are in depth-first order, so the velocities of a subtree are contiguous.
  void number_velocities() {
    std::vector<CanonicalJoint<T>>& joints = result_.joints;
    const auto next = [&](std::size_t i) {
      return i + 1 < joints.size() ? joints[i + 1].v : model_.uncoupled_nv();
    };
    result_.v_parent.resize(static_cast<std::size_t>(model_.uncoupled_nv()));
    for (std::size_t i = 0; i < joints.size(); ++i) {
      joints[i].v_end = i == 0 ? model_.uncoupled_nv() : next(i);
      int previous = -1;
      if (i > 0 && joints[i].parent > 0)
        previous = next(static_cast<std::size_t>(joints[i].parent)) - 1;
      for (int v = joints[i].v; i > 0 && v < next(i); ++v) {
        result_.v_parent[static_cast<std::size_t>(v)] = previous;
        previous = v;
      }
    }
    int slot = 0;
    for (std::size_t i = 1; i < joints.size(); ++i) {
      const int count = joints[i].v_end - joints[i].v;
      const bool continues = static_cast<std::size_t>(joints[i].parent) + 1 == i && i > 1 &&
                             count == 1 && joints[i - 1].v_end - joints[i - 1].v == 1;
      if (!continues) slot = (slot + 3) / 4 * 4;
      joints[i].slot = slot;
      for (int k = 0; k < count; ++k) result_.slot.push_back(slot++);
      joints[i].slot_end = slot;
    }
    result_.slots = (slot + 3) / 4 * 4;
    for (std::size_t i = joints.size(); i-- > 1;) {
      CanonicalJoint<T>& parent = joints[static_cast<std::size_t>(joints[i].parent)];
      parent.v_end = std::max(parent.v_end, joints[i].v_end);
      parent.slot_end = std::max(parent.slot_end, joints[i].slot_end);
    }
  }

  const Model<T>& model_;
  const CanonicalOptions& options_;
  Canonical<T> result_;
  // State while the joint of a body is split:
  int parent_ = 0, q_ = 0, v_ = 0;
  Pose<T> X_CJ_;     ///< joint frame, as moved so far, in the latest canonical joint's frame
  Matrix3<T> R_JC_;  ///< axes of the latest canonical joint in the joint frame as moved by it
};

}  // namespace canonical_detail

template <CanonicalScalar T>
Canonical<T> canonicalize(const Model<T>& model, const CanonicalOptions& options) {
  return canonical_detail::Canonicalizer<T>(model, options).run();
}

}  // namespace limb
