#pragma once

#include <vector>

#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"
#include "limb/dynamics/kinematics/manifold_impl.hpp"
#include "limb/math/testing/scalars.hpp"
#include "limb/model/core/build_model_impl.hpp"
#include "limb/model/testing/random_tree.hpp"

/// Robots and states for the tests of this module, and the same states as functions of time: dual
/// numbers whose derivative is exact.
namespace limb::testing {

/// Four robots per seed over all joint types: on a fixed base, on a free base, on a planar joint,
/// and on a free base with couplings.
inline std::vector<Model<double>> random_robots(unsigned seed) {
  RandomTreeOptions options{.joints = 14};
  std::vector<Model<double>> robots;
  robots.push_back(build_model(random_tree(seed, options), Base::fixed));
  robots.push_back(build_model(random_tree(seed, options), Base::free));
  options.root = JointType::planar;
  robots.push_back(build_model(random_tree(seed, options)));
  options.root = JointType::free;
  options.with_couplings = true;
  robots.push_back(build_model(random_tree(seed, options)));
  return robots;
}

struct State {
  VectorX<double> q, v, a;
};

/// Every number of v and a, and every angle and length of q, between -1 and 1.
inline State random_state(const Model<double>& model, unsigned seed) {
  Random random(seed);
  const auto numbers = [&] {
    VectorX<double> x(model.nv());
    for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = random.uniform(-1, 1);
    return x;
  };
  State s;
  s.q.resize(model.nq());
  limb::neutral(model, s.q);
  limb::integrate(model, s.q, numbers(), s.q);
  s.v = numbers();
  s.a = numbers();
  return s;
}

/// Kinematics of order acceleration at a state.
inline Kinematics<double> kinematics_at(const Model<double>& model, const State& s) {
  Kinematics<double> k(model);
  forward_kinematics(model, s.q, s.v, s.a, k);
  return k;
}

/// x + e dx.
inline VectorX<Dual> dual_vector(const VectorX<double>& x, const VectorX<double>& dx) {
  return dual<Eigen::Dynamic, 1>(x, dx);
}
/// q moved by e dq along the manifold.
inline VectorX<Dual> dual_position(const Model<Dual>& model, const VectorX<double>& q,
                                   const VectorX<double>& dq) {
  const VectorX<Dual> start = dual_vector(q, VectorX<double>::Zero(q.size()));
  VectorX<Dual> moved(q.size());
  limb::integrate(model, start, dual_vector(VectorX<double>::Zero(dq.size()), dq), moved);
  return moved;
}
/// The state at time e, moving with its v and a: kinematics of order velocity, whose derivatives
/// are time derivatives.
inline Kinematics<Dual> kinematics_in_time(const Model<Dual>& model, const State& s) {
  Kinematics<Dual> k(model);
  forward_kinematics(model, dual_position(model, s.q, s.v), dual_vector(s.v, s.a), k);
  return k;
}

inline Vector6<double> value(const Motion<Dual>& V) {
  return value(V.vector());
}
inline Vector6<double> derivative(const Motion<Dual>& V) {
  return derivative(V.vector());
}
inline Vector6<double> value(const Force<Dual>& F) {
  return value(F.vector());
}
inline Vector6<double> derivative(const Force<Dual>& F) {
  return derivative(F.vector());
}

/// |x - y| relative to |y|, or to 1 if that is larger.
template <typename A, typename B>
double relative(const Eigen::MatrixBase<A>& x, const Eigen::MatrixBase<B>& y) {
  return (x - y).norm() / std::max(1.0, double(y.norm()));
}

}  // namespace limb::testing
