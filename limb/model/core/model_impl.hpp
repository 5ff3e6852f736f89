#pragma once

#include <limits>

#include "limb/base/nearest.hpp"
#include "limb/model/canonical/canonical.hpp"
#include "limb/model/canonical/regroup_impl.hpp"
#include "limb/model/core/joint_impl.hpp"
#include "limb/model/core/model.hpp"

namespace limb {
namespace model_detail {

template <typename Names>
[[noreturn]] void fail_lookup(const char* call, const char* kind, std::string_view name,
                              const Names& names) {
  std::vector<std::string> known;
  known.reserve(names.size());
  for (const auto& [key, index] : names) known.emplace_back(key);
  std::sort(known.begin(), known.end());
  const std::string close = nearest(name, known);
  throw Error(std::string(call) + ": no " + kind + " is named '" + std::string(name) + "'" +
              (close.empty() ? "" : " (closest: '" + close + "')"));
}

}  // namespace model_detail

template <typename T>
BodyId Model<T>::find_body(std::string_view joint_name) const {
  const auto found = body_by_name_.find(std::string(joint_name));
  if (found == body_by_name_.end()) {
    model_detail::fail_lookup("Model::find_body", "joint", joint_name, body_by_name_);
  }
  return BodyId(found->second);
}

template <typename T>
FrameId Model<T>::find_frame(std::string_view name) const {
  const auto found = frame_by_name_.find(std::string(name));
  if (found == frame_by_name_.end()) {
    model_detail::fail_lookup("Model::find_frame", "frame", name, frame_by_name_);
  }
  return FrameId(found->second);
}

template <typename T>
const Canonical<T>& Model<T>::canonical() const {
  if (!canonical_)
    throw Error("Model::canonical: only a model of exact or machine numbers has a canonical form");
  return *canonical_;
}

template <typename T>
Model<T> Model<T>::without_couplings() const {
  std::vector<typename Coupling<T>::Row> rows;
  std::vector<int> yq_of_v;
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    const Body<T>& body = bodies_[i];
    const int nq = body.joint.nq(), nv = body.joint.nv();
    rows.push_back({body.q_start, body.v_start, nq, nv, body.q_start, {}, T(0)});
    for (int k = 0; k < nv; ++k) {
      rows.back().terms.push_back({body.v_start + k, T(1)});
      yq_of_v.push_back(body.q_start + k);
    }
  }
  Model model = *this;
  model.coupling_ = Coupling<T>(std::move(rows), nq_, nv_, nq_, nv_, std::move(yq_of_v));
  return model;
}

template <typename T>
void Model<T>::check_body(const char* call, BodyId body) const {
  if (body.value() >= 1 && body.value() < body_count()) return;
  fail(call, "body", std::to_string(body.value()), "1 to " + std::to_string(body_count() - 1));
}

template <typename T>
Model<T> Model<T>::with_added_inertia(BodyId body, const Inertia<T>& I_B) const {
  check_body("Model::with_added_inertia", body);
  Model model = *this;
  Body<T>& target = model.bodies_[static_cast<std::size_t>(body.value())];
  target.inertia = target.inertia + I_B;
  if (!canonical_) return model;
  auto canonical = std::make_shared<Canonical<T>>(*canonical_);
  const int index = canonical->joint_of_body[static_cast<std::size_t>(body.value())];
  CanonicalJoint<T>& joint = canonical->joints[static_cast<std::size_t>(index)];
  const Inertia<T> I_C = I_B.transformed(joint.X_BC.inverse());
  joint.mass = joint.mass + I_C.mass();
  joint.first_moment = joint.first_moment + I_C.first_moment();
  joint.second_moments += Matrix3<T>::Identity() * (I_C.tensor().trace() * T(0.5)) - I_C.tensor();
  joint.regrouped = false;
  model.canonical_ = std::move(canonical);
  return model;
}

template <typename T>
void Model<T>::move_canonical_joint(BodyId body, const Vector3<T>& shift,
                                    const Matrix3<T>* rotation) {
  using Kind = typename CanonicalJoint<T>::Kind;
  auto canonical = std::make_shared<Canonical<T>>(*canonical_);
  const auto at = [&](int i) -> CanonicalJoint<T>& {
    return canonical->joints[static_cast<std::size_t>(i)];
  };
  // The body's first canonical joint: those between it and the last have no body of the model.
  int first = canonical->joint_of_body[static_cast<std::size_t>(body.value())];
  while (at(first).parent > 0 && at(at(first).parent).body == 0) first = at(first).parent;
  CanonicalJoint<T>& joint = at(first);
  MassMoments<T> change = canonical_detail::seen_from_parent(joint, joint.moved_to_parent);
  joint.p += shift;
  if (rotation != nullptr) {
    // Two planar rotations are no longer enough: use a helical joint without pitch.
    if (joint.kind == Kind::revolute) {
      joint.kind = Kind::helical;
      constexpr int kCosine[] = {1, 0, -1, 0}, kSine[] = {0, 1, 0, -1};
      joint.R = joint.R * axis_rotation<T>(2, T(kCosine[joint.quadrant]), T(kSine[joint.quadrant]));
      joint.quadrant = 0;
      joint.regrouped = false;
    }
    joint.R = *rotation * joint.R;
    joint.R_is_identity = false;
  }
  const MassMoments<T> now = canonical_detail::seen_from_parent(joint, joint.moved_to_parent);
  change = {now.mass - change.mass, now.first - change.first, now.second - change.second};
  canonical_detail::add_and_regroup(*canonical, joint.parent, change);
  canonical_ = std::move(canonical);
}

template <typename T>
Model<T> Model<T>::with_shifted_joint(BodyId body, const Vector3<T>& shift_P) const {
  check_body("Model::with_shifted_joint", body);
  Model model = *this;
  Body<T>& target = model.bodies_[static_cast<std::size_t>(body.value())];
  target.X_PJ.p += shift_P;
  if (canonical_) {
    const int parent = canonical_->joint_of_body[static_cast<std::size_t>(target.parent.value())];
    const Pose<T>& X_BC = canonical_->joints[static_cast<std::size_t>(parent)].X_BC;
    model.move_canonical_joint(body, X_BC.R.transpose() * shift_P, nullptr);
  }
  return model;
}

template <typename T>
Model<T> Model<T>::with_rotated_joint(BodyId body, const Matrix3<T>& R_JN) const {
  check_body("Model::with_rotated_joint", body);
  Model model = *this;
  Body<T>& target = model.bodies_[static_cast<std::size_t>(body.value())];
  const Matrix3<T> R_PJ = target.X_PJ.R;
  target.X_PJ.R = R_PJ * R_JN;
  if (canonical_) {
    const int parent = canonical_->joint_of_body[static_cast<std::size_t>(target.parent.value())];
    const Matrix3<T> R_CP = canonical_->joints[static_cast<std::size_t>(parent)].X_BC.R.transpose();
    const Matrix3<T> rotation = R_CP * R_PJ * R_JN * R_PJ.transpose() * R_CP.transpose();
    model.move_canonical_joint(body, Vector3<T>::Zero(), &rotation);
  }
  return model;
}

template <typename T>
T Model<T>::total_mass() const {
  T mass = T(0);
  for (std::size_t i = 1; i < bodies_.size(); ++i) mass += bodies_[i].inertia.mass();
  return mass;
}

template <typename T>
VectorX<T> Model<T>::neutral() const {
  VectorX<T> q(nq_);
  for (const Body<T>& body : bodies_) body.joint.neutral(q.data() + body.q_start);
  return q;
}

template <typename T>
VectorX<T> Model<T>::integrate(const VectorX<T>& q, const VectorX<T>& v) const {
  check_size("Model::integrate", "q", q.size(), nq_);
  check_size("Model::integrate", "v", v.size(), nv_);
  VectorX<T> moved(nq_);
  for (const Body<T>& body : bodies_) {
    body.joint.integrate(q.data() + body.q_start, v.data() + body.v_start,
                         moved.data() + body.q_start);
  }
  return moved;
}

template <typename T>
VectorX<T> Model<T>::difference(const VectorX<T>& q0, const VectorX<T>& q1) const {
  check_size("Model::difference", "q0", q0.size(), nq_);
  check_size("Model::difference", "q1", q1.size(), nq_);
  VectorX<T> v(nv_);
  for (const Body<T>& body : bodies_) {
    body.joint.difference(q0.data() + body.q_start, q1.data() + body.q_start,
                          v.data() + body.v_start);
  }
  return v;
}

template <typename T>
VectorX<T> Model<T>::random_configuration(
    [[maybe_unused]] std::mt19937_64& engine) const requires Real<T> {
  VectorX<T> q(nq_);
  // clang 14 instantiates this also for a T that is not Real.
  if constexpr (Real<T>) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    for (const Body<T>& body : bodies_) {
      double lower[6], upper[6];
      for (int k = 0; k < body.joint.nv(); ++k) {
        const DofLimits<T>& limits = body.limits[static_cast<std::size_t>(k)];
        lower[k] = limits.lower ? double(*limits.lower) : -kInf;
        upper[k] = limits.upper ? double(*limits.upper) : kInf;
      }
      body.joint.random_configuration(engine, lower, upper, q.data() + body.q_start);
    }
  }
  return q;
}

template <typename T>
template <typename U>
Model<U> Model<T>::cast() const {
  const auto optional = [](const std::optional<T>& x) {
    return x ? std::optional<U>(U(*x)) : std::nullopt;
  };
  Model<U> model;
  model.name_ = name_;
  model.gravity_ = gravity_.template cast<U>();
  for (const Body<T>& b : bodies_) {
    Body<U> body;
    body.name = b.name;
    body.link = b.link;
    body.parent = b.parent;
    body.joint = b.joint.template cast<U>();
    body.X_PJ = b.X_PJ.template cast<U>();
    body.inertia = b.inertia.template cast<U>();
    body.q_start = b.q_start;
    body.v_start = b.v_start;
    for (const DofLimits<T>& x : b.limits) {
      body.limits.push_back(
          {optional(x.lower), optional(x.upper), optional(x.velocity), optional(x.effort)});
    }
    body.damping = U(b.damping);
    body.friction = U(b.friction);
    body.armature = U(b.armature);
    body.source = b.source;
    model.bodies_.push_back(std::move(body));
  }
  for (const Frame<T>& f : frames_) {
    model.frames_.push_back(
        {f.name, f.kind == Frame<T>::Kind::link ? Frame<U>::Kind::link : Frame<U>::Kind::site,
         f.body, f.X_BF.template cast<U>()});
  }
  for (const Loop<T>& l : loops_) {
    Loop<U> loop{
        l.name, l.kind, l.body_a, l.body_b, l.X_AL.template cast<U>(), l.X_BL.template cast<U>()};
    for (const T& c : l.polynomial) loop.polynomial.push_back(U(c));
    model.loops_.push_back(std::move(loop));
  }
  model.body_by_name_ = body_by_name_;
  model.frame_by_name_ = frame_by_name_;
  model.coupling_ = coupling_.template cast<U>();
  model.actuated_ = actuated_;
  if (canonical_) {
    model.canonical_ = std::make_shared<const Canonical<U>>(canonical_->template cast<U>());
  }
  model.nq_ = nq_;
  model.nv_ = nv_;
  return model;
}

}  // namespace limb
