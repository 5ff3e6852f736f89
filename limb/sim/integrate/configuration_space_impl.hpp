#pragma once

#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/math/so3.hpp"
#include "limb/sim/integrate/configuration_space.hpp"

namespace limb {

template <typename T>
RobotState<T> make_state(const Model<T>& model, int extra) {
  RobotState<T> s;
  s.q.resize(model.nq());
  neutral<T>(model, s.q);
  s.v = VectorX<T>::Constant(model.nv(), T(0));
  s.x = VectorX<T>::Constant(extra, T(0));
  return s;
}

template <typename T>
ConfigurationSpace<T>::ConfigurationSpace(const Model<T>& model)
    : nq_(model.nq()), nv_(model.nv()) {
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].yq < 0 || rows[i].terms.empty()) continue;
    const Joint<T>& joint = model.bodies()[i + 1].joint;
    const int q = rows[i].yq, v = rows[i].terms[0].y, n = joint.nv();
    const bool group = joint.type() == JointType::planar || joint.nq() != n;
    if (group) {
      groups_.push_back({joint, q, v});
    } else if (!runs_.empty() && runs_.back().q + runs_.back().size == q &&
               runs_.back().v + runs_.back().size == v) {
      runs_.back().size += n;
    } else {
      runs_.push_back({q, v, n});
    }
  }
}

template <typename T>
void ConfigurationSpace<T>::move(const VectorX<T>& q0, const VectorX<T>& u, VectorX<T>& q1) const {
  for (const Run& run : runs_) {
    for (int i = 0; i < run.size; ++i) q1[run.q + i] = q0[run.q + i] + u[run.v + i];
  }
  for (const Group& group : groups_) {
    group.joint.integrate(q0.data() + group.q, u.data() + group.v, q1.data() + group.q);
    group.joint.normalize(q1.data() + group.q);
  }
}

template <typename T>
void ConfigurationSpace<T>::add_axes_rotation(const VectorX<T>& v0, const T& h,
                                              VectorX<T>& v) const {
  for (const Group& group : groups_) {
    const int i = group.v;
    if (group.joint.type() == JointType::free) {
      const Vector3<T> linear = v0.template segment<3>(i), w = v0.template segment<3>(i + 3);
      v.template segment<3>(i) += h * w.cross(linear);
    } else if (group.joint.type() == JointType::planar) {
      v[i] = v[i] - h * v0[i + 2] * v0[i + 1];
      v[i + 1] = v[i + 1] + h * v0[i + 2] * v0[i];
    }
  }
}

template <typename T>
void ConfigurationSpace<T>::step_straight(const VectorX<T>& q0, const T& h, VectorX<T>& v,
                                          VectorX<T>& q1) const {
  for (const Run& run : runs_) {
    for (int i = 0; i < run.size; ++i) q1[run.q + i] = q0[run.q + i] + h * v[run.v + i];
  }
  for (const Group& group : groups_) {
    using std::cos;
    using std::sin;
    const int i = group.v, k = group.q;
    T u[6];
    for (int j = 0; j < group.joint.nv(); ++j) u[j] = h * v[i + j];
    if (group.joint.type() == JointType::free) {
      const Quaternion<T> q = quat_xyzw(q0[k + 3], q0[k + 4], q0[k + 5], q0[k + 6]);
      const Vector3<T> p = q0.template segment<3>(k) + q.rotate(Vector3<T>(u[0], u[1], u[2]));
      const Quaternion<T> turn = quaternion_exp<T>(Vector3<T>(u[3], u[4], u[5]));
      const Vector3<T> linear = v.template segment<3>(i);
      v.template segment<3>(i) = turn.conjugate().rotate(linear);
      const Quaternion<T> end = q * turn;
      q1.template segment<3>(k) = p;
      q1[k + 3] = end.x();
      q1[k + 4] = end.y();
      q1[k + 5] = end.z();
      q1[k + 6] = end.w();
    } else if (group.joint.type() == JointType::planar) {
      const T c = cos(q0[k + 2]), s = sin(q0[k + 2]);
      const T x = q0[k] + c * u[0] - s * u[1], y = q0[k + 1] + s * u[0] + c * u[1];
      const T ct = cos(u[2]), st = sin(u[2]), v0 = v[i], v1 = v[i + 1];
      v[i] = ct * v0 + st * v1;
      v[i + 1] = ct * v1 - st * v0;
      q1[k] = x;
      q1[k + 1] = y;
      q1[k + 2] = q0[k + 2] + u[2];
    } else {
      group.joint.integrate(q0.data() + k, u, q1.data() + k);
    }
    group.joint.normalize(q1.data() + k);
  }
}

template <typename T>
void ConfigurationSpace<T>::rate(const VectorX<T>& u, const VectorX<T>& v, VectorX<T>& du) const {
  for (const Run& run : runs_) {
    for (int i = 0; i < run.size; ++i) du[run.v + i] = v[run.v + i];
  }
  for (const Group& group : groups_) {
    // Derivative of the difference of two configurations with respect to the second.
    T by_first[36], by_second[36];
    const int n = group.joint.nv();
    group.joint.difference_jacobians(u.data() + group.v, by_first, by_second);
    for (int r = 0; r < n; ++r) {
      T sum = T(0);
      for (int c = 0; c < n; ++c) sum += by_second[r + c * n] * v[group.v + c];
      du[group.v + r] = sum;
    }
  }
}

template <typename T>
T ConfigurationSpace<T>::largest_turn(const VectorX<T>& u) const {
  T largest = T(0);
  for (const Group& group : groups_) {
    // Linear before angular: the last entry of a planar joint, the last three of the others.
    const int n = group.joint.nv(), angles = group.joint.type() == JointType::planar ? 1 : 3;
    T sum = T(0);
    for (int i = n - angles; i < n; ++i) sum += u[group.v + i] * u[group.v + i];
    using std::sqrt;
    const T turn = sqrt(sum);
    if (largest < turn) largest = turn;
  }
  return largest;
}

}  // namespace limb
