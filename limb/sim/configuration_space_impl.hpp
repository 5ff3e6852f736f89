#pragma once

#include "limb/dynamics/manifold.hpp"
#include "limb/sim/configuration_space.hpp"

namespace limb {

template <typename T>
State<T> make_state(const Model<T>& model, int extra) {
  State<T> s;
  s.q.resize(model.position_size());
  neutral<T>(model, s.q);
  s.v = VectorX<T>::Constant(model.velocity_size(), T(0));
  s.x = VectorX<T>::Constant(extra, T(0));
  return s;
}

template <typename T>
ConfigurationSpace<T>::ConfigurationSpace(const Model<T>& model)
    : position_size_(model.position_size()), velocity_size_(model.velocity_size()) {
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
void ConfigurationSpace<T>::rate(const VectorX<T>& u, const VectorX<T>& v, VectorX<T>& du) const {
  for (const Run& run : runs_) {
    for (int i = 0; i < run.size; ++i) du[run.v + i] = v[run.v + i];
  }
  for (const Group& group : groups_) {
    // How the difference of two configurations changes when the second one moves.
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
    // Linear before angular: the last one of a planar joint, the last three of the others.
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
