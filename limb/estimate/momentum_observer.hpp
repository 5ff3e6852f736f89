#pragma once

#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/lagrange.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/estimate/leg_kinematics.hpp"

namespace limb {

/// External forces from what motors do and joints show, without accelerations: the generalised
/// momentum p = M v changes by tau + C^T v - g + f, so that
///
///   r = gain (p(t) - p(0) - integral of (tau + C^T v - g + r))
///
/// follows the generalised external force f as a filter of first order, 1/gain its time.
/// [De Luca 2006]. Damping and friction of the model count as forces of their own.
class MomentumObserver {
 public:
  /// @param gain  1/s. @throws Error unless it is positive and finite.
  MomentumObserver(const Model<double>& model, double gain);

  /// A step of T seconds to the state (q, v), under torques tau on all velocities (zeros for the
  /// base). No allocation. @returns false, and changes nothing, for numbers that are not finite.
  /// @throws Error for a wrong size.
  bool update(double T, VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau);
  void reset() { begun_ = false; }

  /// Generalised external force, one number for each velocity.
  const VectorX<double>& force() const { return r_; }

 private:
  Model<double> model_;
  double gain_;
  bool begun_ = false;
  Workspace<double> work_;
  Kinematics<double> kinematics_;
  LagrangeScratch<double> scratch_;
  MatrixX<double> M_, C_;
  VectorX<double> p_, rate_, g_, drives_, drives_free_, sum_, r_, zero_;
};

/// The forces at the feet that explain a generalised force on the joints, in world axes: least
/// squares over the joints of the legs. Feet push; they do not twist.
class FootForces {
 public:
  explicit FootForces(const LegKinematics& legs);
  /// No allocation. @returns false, and keeps what was, where the legs are singular.
  /// @throws Error for a wrong size.
  bool update(VectorIn<double>& q, VectorIn<double>& force);
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
