#include "limb/estimate/momentum_observer.hpp"

#include <Eigen/Cholesky>

#include "limb/base/check.hpp"

namespace limb {

MomentumObserver::MomentumObserver(const Model<double>& model, double gain)
    : model_(model),
      gain_(gain),
      work_(model_),
      kinematics_(model_),
      scratch_(model_),
      M_(model.velocity_size(), model.velocity_size()),
      C_(M_) {
  check_positive("MomentumObserver", "gain", gain);
  p_ = rate_ = g_ = drives_ = drives_free_ = sum_ = r_ = zero_ =
      VectorX<double>::Zero(model.velocity_size());
}

bool MomentumObserver::update(double T, VectorIn<double>& q, VectorIn<double>& v,
                              VectorIn<double>& tau) {
  constexpr const char* kCall = "MomentumObserver";
  check_position(kCall, "q", model_, q);
  check_velocity(kCall, "v", model_, v);
  check_velocity(kCall, "tau", model_, tau);
  if (!q.allFinite() || !v.allFinite() || !tau.allFinite() || !(T >= 0 && T < 1e3)) return false;
  forward_kinematics(model_, q, v, kinematics_);
  crba(model_, work_, q, M_);
  coriolis_matrix(model_, kinematics_, scratch_, C_);
  gravity(model_, work_, q, g_);
  // Damping and friction are what the bias has with the drives and not without.
  bias(model_, work_, q, v, drives_);
  bias(model_, work_, q, v, drives_free_, JointEffects::none());
  drives_ -= drives_free_;
  rate_.noalias() = C_.transpose() * v;
  rate_ += tau - g_ - drives_;
  p_.noalias() = M_ * v;
  if (!begun_) {
    // Nothing is known yet: the momentum of now is that of the begin.
    begun_ = true;
    r_.setZero();
    sum_ = p_;
    return true;
  }
  // r = gain (p - s - T r), so that the step is implicit in r: stable for any gain.
  sum_ += T * rate_;
  r_ = (gain_ / (1 + gain_ * T)) * (p_ - sum_);
  sum_ += T * r_;
  return true;
}

FootForces::FootForces(const LegKinematics& legs)
    : legs_(legs), kinematics_(legs.model()), J_(6, legs.model().velocity_size()) {
  for (int y = 0; y < legs.model().velocity_size(); ++y) {
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

bool FootForces::update(VectorIn<double>& q, VectorIn<double>& force) {
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
  // Damped by a millimetre of lever, so that a straight leg gives a bounded answer.
  constexpr double kLever = 1e-3;
  N_.noalias() = A_.transpose().lazyProduct(A_);
  N_.diagonal().array() += kLever * kLever;
  x_.noalias() = A_.transpose().lazyProduct(b_);
  Eigen::LLT<Eigen::Ref<MatrixX<double>>> factor(N_);
  if (factor.info() != Eigen::Success) return false;
  factor.solveInPlace(x_);
  if (!x_.allFinite()) return false;
  for (std::size_t i = 0; i < f_.size(); ++i) {
    f_[i] = x_.segment<3>(3 * static_cast<Eigen::Index>(i));
  }
  return true;
}

}  // namespace limb
