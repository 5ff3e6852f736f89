#include "limb/estimate/contact/momentum_observer.hpp"

#include <Eigen/Cholesky>
#include <cmath>

#include "limb/base/check.hpp"

namespace limb {

MomentumObserver::MomentumObserver(const Model<double>& model, double gain)
    : model_(model),
      gain_(gain),
      work_(model_),
      kinematics_(model_),
      scratch_(model_),
      M_(model.nv(), model.nv()),
      C_(M_) {
  check_positive("MomentumObserver", "gain", gain);
  p_ = rate_ = g_ = drives_ = drives_free_ = sum_ = r_ = zero_ = VectorX<double>::Zero(model.nv());
}

Status MomentumObserver::update(double T, VectorIn<double>& q, VectorIn<double>& v,
                                VectorIn<double>& tau) {
  constexpr const char* kCall = "MomentumObserver";
  check_position(kCall, "q", model_, q);
  check_velocity(kCall, "v", model_, v);
  check_velocity(kCall, "tau", model_, tau);
  if (!q.allFinite() || !v.allFinite() || !tau.allFinite() || !std::isfinite(T)) {
    return Status::not_finite;
  }
  if (!(T >= 0 && T < 1e3)) return Status::rejected;
  forward_kinematics(model_, q, v, kinematics_);
  crba(model_, work_, q, M_);
  coriolis_matrix(model_, kinematics_, scratch_, C_);
  gravity(model_, work_, q, g_);
  // Damping and friction: the difference of the bias with and without joint effects.
  bias(model_, work_, q, v, drives_);
  bias(model_, work_, q, v, drives_free_, JointEffects::none());
  drives_ -= drives_free_;
  rate_.noalias() = C_.transpose() * v;
  rate_ += tau - g_ - drives_;
  p_.noalias() = M_ * v;
  if (!started_) {
    // First step: the present momentum is the initial one.
    started_ = true;
    r_.setZero();
    sum_ = p_;
    return Status::ok;
  }
  // r = gain (p - s - T r), so that the step is implicit in r: stable for any gain.
  sum_ += T * rate_;
  r_ = (gain_ / (1 + gain_ * T)) * (p_ - sum_);
  sum_ += T * r_;
  return Status::ok;
}

FootForces::FootForces(const LegKinematics& legs)
    : legs_(legs), kinematics_(legs.model()), J_(6, legs.model().nv()) {
  for (int y = 0; y < legs.model().nv(); ++y) {
    for (int i = 0; i < legs.feet(); ++i) {
      if (!legs.leg(i)[static_cast<std::size_t>(y)]) continue;
      joints_.push_back(y);
      break;
    }
  }
  const Eigen::Index n = static_cast<Eigen::Index>(joints_.size()), m = 3 * legs.feet();
  A_.setZero(n, m);
  N_.setZero(m, m);
  b_.setZero(n);
  x_.setZero(m);
  f_.assign(static_cast<std::size_t>(legs.feet()), Vector3<double>::Zero());
}

Status FootForces::update(VectorIn<double>& q, VectorIn<double>& force) {
  check_velocity("FootForces", "force", legs_.model(), force);
  forward_kinematics(legs_.model(), q, kinematics_);
  for (int i = 0; i < legs_.feet(); ++i) {
    frame_jacobian(legs_.model(), kinematics_, legs_.frame(i), FrameAxes::local_world_aligned, J_);
    for (std::size_t k = 0; k < joints_.size(); ++k) {
      A_.block<1, 3>(static_cast<Eigen::Index>(k), 3 * i) = J_.col(joints_[k]).head<3>();
    }
  }
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    b_[static_cast<Eigen::Index>(k)] = force[joints_[k]];
  }
  // Damped least squares, with a lever arm of a millimetre, so that a straight leg gives a bounded
  // result.
  constexpr double kDamping = 1e-3;
  N_.noalias() = A_.transpose().lazyProduct(A_);
  N_.diagonal().array() += kDamping * kDamping;
  x_.noalias() = A_.transpose().lazyProduct(b_);
  Eigen::LLT<Eigen::Ref<MatrixX<double>>> factor(N_);
  if (factor.info() != Eigen::Success) return Status::singular;
  factor.solveInPlace(x_);
  if (!x_.allFinite()) return Status::not_finite;
  for (std::size_t i = 0; i < f_.size(); ++i) {
    f_[i] = x_.segment<3>(3 * static_cast<Eigen::Index>(i));
  }
  return Status::ok;
}

}  // namespace limb
