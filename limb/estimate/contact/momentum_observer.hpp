#pragma once

#include "limb/dynamics/lagrange/christoffel.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/estimate/contact/leg_kinematics.hpp"

namespace limb {

/// Generalized-momentum observer: external forces from motor torques and joint states, without
/// accelerations. The momentum p = M v changes by tau + C^T v - g + f, so that
///
///   r = gain (p(t) - p(0) - integral of (tau + C^T v - g + r))
///
/// follows the generalized external force f as a first-order filter with the time constant 1/gain.
/// [De Luca 2006]. Damping and friction of the model are compensated.
class MomentumObserver {
 public:
  /// @param gain  1/s. @throws Error unless it is positive and finite.
  MomentumObserver(const Model<double>& model, double gain);

  /// A step of T seconds to the state (q, v), under torques tau on all velocities (zeros for the
  /// base). No allocation. @returns not_finite, or rejected if T is not a plausible step; then
  /// nothing has changed. @throws Error for a wrong size.
  Status update(double T, VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau);
  void reset() { started_ = false; }

  /// Generalized external force, one entry per velocity.
  const VectorX<double>& force() const { return r_; }

 private:
  Model<double> model_;
  double gain_;
  bool started_ = false;
  Workspace<double> work_;
  Kinematics<double> kinematics_;
  LagrangeScratch<double> scratch_;
  MatrixX<double> M_, C_;
  VectorX<double> p_, rate_, g_, drives_, drives_free_, sum_, r_, zero_;
};

/// Contact forces at the feet from a generalized force on the joints, in world axes: least squares
/// over the joints of the legs. Contact moments are assumed zero.
class FootForces {
 public:
  explicit FootForces(const LegKinematics& legs);
  /// No allocation. @returns singular or not_finite; then nothing has changed.
  /// @throws Error for a wrong size.
  Status update(VectorIn<double>& q, VectorIn<double>& force);
  const Vector3<double>& f_W(int foot) const { return f_[static_cast<std::size_t>(foot)]; }

 private:
  const LegKinematics& legs_;
  Kinematics<double> kinematics_;
  Matrix6X<double> J_;
  std::vector<int> joints_;
  MatrixX<double> A_, N_;
  VectorX<double> b_, x_;
  std::vector<Vector3<double>> f_;
};

}  // namespace limb
