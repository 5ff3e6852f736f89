#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/model/canonical.hpp"
#include "limb/model/joint_impl.hpp"
#include "limb/model/regroup_impl.hpp"

namespace limb {
namespace canonical_detail {

/// An angle with its sine and cosine, exact at quarter turns.
template <typename T>
struct Turn {
  T angle, c, s;
  bool quarter;  ///< a multiple of a quarter turn

  static Turn of(T angle, double snap) {
    const T quarter_turn = std::numbers::pi_v<T> / 2;
    const T n = std::round(angle / quarter_turn);
    if (std::abs(angle - n * quarter_turn) > T(snap)) {
      return {angle, std::cos(angle), std::sin(angle), false};
    }
    const int quadrant = ((static_cast<int>(n) % 4) + 4) % 4;
    constexpr int kCos[] = {1, 0, -1, 0}, kSin[] = {0, 1, 0, -1};
    return {n * quarter_turn, T(kCos[quadrant]), T(kSin[quadrant]), true};
  }
  /// 0 to 3; -1 for an angle between.
  int quarters() const {
    return !quarter ? -1 : c == T(1) ? 0 : s == T(1) ? 1 : c == T(-1) ? 2 : 3;
  }
  bool is_zero() const { return quarter && c == T(1); }
  Matrix3<T> about_z() const { return axis_rotation<T>(2, c, s); }
  Matrix3<T> about_x() const { return axis_rotation<T>(0, c, s); }
};

/// R = Rz(gamma) Rx(alpha) Rz(delta), with gamma = 0 where alpha is 0 or a half turn.
template <typename T>
struct Zxz {
  Turn<T> gamma, alpha, delta;
};

template <typename T>
Zxz<T> decompose(const Matrix3<T>& R, double snap) {
  // Column 2 is (sin gamma sin alpha, -cos gamma sin alpha, cos alpha).
  const T sin_alpha = std::hypot(R(0, 2), R(1, 2));
  const Turn<T> alpha = Turn<T>::of(std::atan2(sin_alpha, R(2, 2)), snap);
  if (alpha.s == T(0)) {
    return {Turn<T>::of(0, snap), alpha, Turn<T>::of(std::atan2(-R(0, 1), R(0, 0)), snap)};
  }
  return {Turn<T>::of(std::atan2(R(0, 2), -R(1, 2)), snap), alpha,
          Turn<T>::of(std::atan2(R(2, 0), R(2, 1)), snap)};
}

/// A rotation that takes z to the axis, without losing zeros: coordinate axes are permuted.
template <typename T>
Matrix3<T> z_to(const Vector3<T>& axis) {
  for (int k = 0; k < 3; ++k) {
    if (axis[k] != T(1) && axis[k] != T(-1)) continue;
    // Columns: axes k+1, k+2 and k, with two signs turned for the negative axis.
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
    result_.nq = model_.nq();
    result_.nv = model_.nv();
    result_.steps.emplace_back();
    result_.step_of_body = {0};
    for (int b = 1; b < model_.body_count(); ++b) add_body(b);
    if constexpr (Real<T>) absorb_turns();
    if (Real<T> && options_.regroup) regroup();
    for (Step& step : result_.steps) {
      step.plain = step.R == Matrix3<T>::Identity();
      for (int k = 0; k < 3 && step.kind == Kind::revolute; ++k) {
        if (step.R(k, 2) == T(1) || step.R(k, 2) == T(-1)) step.along = k;
      }
    }
    add_drives();
    number_velocities();
    return std::move(result_);
  }

 private:
  using Step = CanonicalStep<T>;
  using Kind = typename Step::Kind;

  void add_body(int b) {
    const Body<T>& body = model_.bodies()[static_cast<std::size_t>(b)];
    const Joint<T>& joint = body.joint;
    const Vector3<T> x = Vector3<T>::UnitX(), y = Vector3<T>::UnitY(), z = Vector3<T>::UnitZ();
    start(body);
    switch (joint.type()) {
      case JointType::fixed:
        break;  // build_model leaves none
      case JointType::revolute:
      case JointType::continuous:
        turn(Kind::revolute, joint.axis());
        break;
      case JointType::prismatic:
        turn(Kind::prismatic, joint.axis());
        break;
      case JointType::helical:
        turn(Kind::helical, joint.axis());
        result_.steps.back().pitch = joint.pitch();
        break;
      case JointType::cylindrical:
        turn(Kind::prismatic, joint.axis());
        turn(Kind::revolute, joint.axis());
        break;
      case JointType::universal:
        turn(Kind::revolute, joint.axis());
        turn(Kind::revolute, joint.axis2());
        break;
      case JointType::translation:
        turn(Kind::prismatic, x);
        turn(Kind::prismatic, y);
        turn(Kind::prismatic, z);
        break;
      case JointType::planar:
        whole(Kind::planar, joint.plane(), 3, 3);
        break;
      case JointType::spherical:
        whole(Kind::spherical, Matrix3<T>::Identity(), 4, 3);
        break;
      case JointType::free:
        whole(Kind::free, Matrix3<T>::Identity(), 7, 6);
        break;
    }
    finish(b, body);
  }

  /// Begins a body: the joint frame J, seen from the parent's step.
  void start(const Body<T>& body) {
    parent_ = result_.step_of_body[static_cast<std::size_t>(body.parent.value())];
    const Step& parent = result_.steps[static_cast<std::size_t>(parent_)];
    X_CJ_ = parent.X_BC.inverse() * body.X_PJ;
    q_ = body.q_start;
    v_ = body.v_start;
    R_JC_ = Matrix3<T>::Identity();
  }

  /// One axis, given in J. The step's frame C is J turned by R_JC so that its z is the axis.
  void turn(Kind kind, const Vector3<T>& axis_J) {
    const Matrix3<T> A = z_to<T>(axis_J);
    if constexpr (Real<T>) {
      turn_by_angles(kind, A);
    } else {
      // Symbols have no angles to be found: the rotation stays whole, and a joint that turns is a
      // screw without pitch, whose pose is a general one.
      if (kind == Kind::revolute) kind = Kind::helical;
      whole(kind, A, 1, 1);
      X_CJ_ = {A.transpose(), Vector3<T>::Zero()};
    }
  }

  void turn_by_angles(Kind kind, const Matrix3<T>& A) {
    const Zxz<T> r = decompose<T>(X_CJ_.R * A, options_.snap);
    Step step;
    step.kind = kind;
    step.parent = parent_;
    step.q = q_++;
    step.v = v_++;
    step.cos_gamma = r.gamma.c;
    step.sin_gamma = r.gamma.s;
    step.has_gamma = !r.gamma.is_zero();
    step.alpha_quarter = r.alpha.quarters();
    step.cos_alpha = r.alpha.c;
    step.sin_alpha = r.alpha.s;
    step.R = r.gamma.about_z() * r.alpha.about_x();
    step.p = X_CJ_.p;
    // The last turn about z commutes with the joint's own. A sliding joint, or a quarter turn,
    // takes it into the child's frame; otherwise it becomes an offset of the angle and the child
    // keeps its axes.
    Matrix3<T> last = r.delta.about_z();
    const bool rotates = kind != Kind::prismatic;
    if (rotates && !r.delta.quarter) {
      step.offset = r.delta.angle;
      // A helical joint advances with its own angle only, not with the offset: see pitch in the
      // pose.
      last = Matrix3<T>::Identity();
    }
    parent_ = static_cast<int>(result_.steps.size());
    // J, moved, in the new step's frame: C = J A last^T, so J = C last A^T.
    X_CJ_ = {last * A.transpose(), Vector3<T>::Zero()};
    R_JC_ = A * last.transpose();
    result_.steps.push_back(std::move(step));
  }

  /// A joint of several freedoms keeps its own axes, which its velocities are written in.
  void whole(Kind kind, const Matrix3<T>& A, int nq, int nv) {
    Step step;
    step.kind = kind;
    step.parent = parent_;
    step.q = q_;
    step.v = v_;
    q_ += nq;
    v_ += nv;
    step.R = X_CJ_.R * A;
    step.p = X_CJ_.p;
    parent_ = static_cast<int>(result_.steps.size());
    R_JC_ = A;
    result_.steps.push_back(std::move(step));
  }

  void finish(int b, const Body<T>& body) {
    Step& step = result_.steps.back();
    step.body = b;
    step.X_BC = {R_JC_, Vector3<T>::Zero()};
    const Inertia<T> inertia = body.inertia.seen_from(step.X_BC.inverse());
    step.mass = inertia.mass();
    step.first_moment = inertia.first_moment();
    step.second_moments = second_moments<T>(inertia.tensor());
    result_.step_of_body.push_back(static_cast<int>(result_.steps.size()) - 1);
  }

  /// Turns the frame of each revolute step about its axis so that its first revolute child needs no
  /// gamma, or, of a last one, so that its first moment has no y; the turn becomes part of the
  /// joint's own angle.
  void absorb_turns() {
    std::vector<Step>& steps = result_.steps;
    std::vector<std::size_t> first(steps.size(), 0);  // revolute child, 0 where there is none
    std::vector<char> last(steps.size(), 1);
    for (std::size_t k = steps.size(); k-- > 1;) {
      const auto parent = static_cast<std::size_t>(steps[k].parent);
      last[parent] = 0;
      if (steps[k].kind == Kind::revolute) first[parent] = k;
    }
    std::vector<Turn<T>> turns(steps.size(), Turn<T>::of(T(0), options_.snap));
    for (std::size_t i = 1; i < steps.size(); ++i) {
      Step& step = steps[i];
      const Step& child = steps[first[i]];
      const Vector3<T>& h = step.first_moment;
      const bool absorbs = first[i] != 0 ? child.has_gamma : last[i] != 0 && h[1] != T(0);
      if (step.kind != Kind::revolute || !absorbs) continue;
      const T angle =
          last[i] != 0 ? std::atan2(h[1], h[0]) : std::atan2(child.sin_gamma, child.cos_gamma);
      const Turn<T> turn = Turn<T>::of(angle, options_.snap);
      if (turn.quarter) {
        step.quadrant = turn.quarters();
      } else {
        step.offset += turn.angle;
      }
      const Matrix3<T> R = turn.about_z();  // new axes in the old ones
      step.X_BC.R = step.X_BC.R * R;
      step.first_moment = R.transpose() * step.first_moment;
      step.second_moments = R.transpose() * step.second_moments * R;
      if (last[i] != 0) step.first_moment[1] = T(0);
      turns[i] = turn;
    }
    for (std::size_t k = 1; k < steps.size(); ++k) {
      Step& step = steps[k];
      const std::size_t parent = static_cast<std::size_t>(step.parent);
      const Turn<T>& turn = turns[parent];
      if (turn.is_zero()) continue;
      const Matrix3<T> R = turn.about_z();
      step.p = R.transpose() * step.p;
      step.R = R.transpose() * step.R;
      // (cos, sin) of gamma turned back; quarter turns stay exact.
      const T c = turn.c * step.cos_gamma + turn.s * step.sin_gamma;
      const T s = turn.c * step.sin_gamma - turn.s * step.cos_gamma;
      step.cos_gamma = first[parent] == k ? T(1) : c;
      step.sin_gamma = first[parent] == k ? T(0) : s;
      step.has_gamma = step.cos_gamma != T(1);
      const bool general =
          step.kind == Kind::planar || step.kind == Kind::spherical || step.kind == Kind::free;
      if (!general) {
        step.R = axis_rotation<T>(2, step.cos_gamma, step.sin_gamma) *
                 axis_rotation<T>(0, step.cos_alpha, step.sin_alpha);
      }
    }
  }

  /// From the tips inward, so that what a step receives can be handed on.
  void regroup() {
    for (std::size_t i = result_.steps.size(); i-- > 1;) {
      Step& step = result_.steps[i];
      step.regrouped = step.kind == Kind::revolute;
      step.handed = unfelt<T>(step.kind, {step.mass, step.first_moment, step.second_moments});
      add_moments(step, step.handed, T(-1));
      if (step.parent > 0) {
        add_moments(result_.steps[static_cast<std::size_t>(step.parent)],
                    seen_from_parent(step, step.handed), T(1));
      }
    }
  }

  void add_drives() {
    result_.armature = result_.damping = result_.friction = VectorX<T>::Zero(model_.nv());
    for (const Body<T>& body : model_.bodies()) {
      const int nv = body.joint.nv();
      result_.armature.segment(body.v_start, nv).setConstant(body.armature);
      result_.damping.segment(body.v_start, nv).setConstant(body.damping);
      result_.friction.segment(body.v_start, nv).setConstant(body.friction);
    }
    const auto any = [](const VectorX<T>& x) {
      return std::any_of(x.begin(), x.end(), [](const T& y) { return !(y == T(0)); });
    };
    result_.has_armature = any(result_.armature);
    result_.has_damping = any(result_.damping);
    result_.has_friction = any(result_.friction);
  }

  /// Bodies stand depth first, so the velocities of a subtree are neighbours.
  void number_velocities() {
    std::vector<Step>& steps = result_.steps;
    const auto next = [&](std::size_t i) {
      return i + 1 < steps.size() ? steps[i + 1].v : model_.nv();
    };
    result_.v_parent.resize(static_cast<std::size_t>(model_.nv()));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].v_end = i == 0 ? model_.nv() : next(i);
      int before = -1;
      if (i > 0 && steps[i].parent > 0)
        before = next(static_cast<std::size_t>(steps[i].parent)) - 1;
      for (int v = steps[i].v; i > 0 && v < next(i); ++v) {
        result_.v_parent[static_cast<std::size_t>(v)] = before;
        before = v;
      }
    }
    int slot = 0;
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const int count = steps[i].v_end - steps[i].v;
      const bool continues = static_cast<std::size_t>(steps[i].parent) + 1 == i && i > 1 &&
                             count == 1 && steps[i - 1].v_end - steps[i - 1].v == 1;
      if (!continues) slot = (slot + 3) / 4 * 4;
      steps[i].slot = slot;
      for (int k = 0; k < count; ++k) result_.slot.push_back(slot++);
      steps[i].slot_end = slot;
    }
    result_.slots = (slot + 3) / 4 * 4;
    for (std::size_t i = steps.size(); i-- > 1;) {
      Step& parent = steps[static_cast<std::size_t>(steps[i].parent)];
      parent.v_end = std::max(parent.v_end, steps[i].v_end);
      parent.slot_end = std::max(parent.slot_end, steps[i].slot_end);
    }
  }

  const Model<T>& model_;
  const CanonicalOptions& options_;
  Canonical<T> result_;
  // While a body is split into steps:
  int parent_ = 0, q_ = 0, v_ = 0;
  Pose<T> X_CJ_;     ///< joint frame, as moved so far, in the latest step's frame
  Matrix3<T> R_JC_;  ///< latest step's axes in the joint frame as moved by it
};

}  // namespace canonical_detail

template <CanonicalScalar T>
Canonical<T> canonicalize(const Model<T>& model, const CanonicalOptions& options) {
  return canonical_detail::Canonicalizer<T>(model, options).run();
}

}  // namespace limb
