#pragma once

#include <memory>

#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"

namespace limb {

/// Machine code for the steps of one robot: bias forces, mass matrix, its factor, and poses. Any
/// number of threads may use one object.
class StepFunctions {
 public:
  /// The model must outlive this.
  StepFunctions(const Model<double>& model, const JointEffects& effects);
  ~StepFunctions();

  /// Compiles what steps with contact need besides. Not while other threads use this.
  void add_poses();

  /// What a step begins with, in one function: factorize(), bias() and, after add_poses() and
  /// unless `kinematics` is null, poses(). @returns false, with unspecified results, if the
  /// templates are needed (see factorize()).
  bool begin(const VectorX<double>& q, const VectorX<double>& v, const VectorX<double>& added,
             MassFactor<double>& factor, VectorX<double>& tau,
             Kinematics<double>* kinematics) const;

  /// tau = h(q, v), with the effects of joints.
  void bias(const VectorX<double>& q, const VectorX<double>& v, VectorX<double>& tau) const;
  /// The mass matrix at q.
  void mass_matrix(const VectorX<double>& q, MatrixX<double>& M) const;
  /// Factorizes the mass matrix at q with `added` on its diagonal. @returns false, with the factor
  /// unchanged or not ready, if the templates are needed: for robots with couplings and very large
  /// ones, without machine code, and where a pivot is not positive.
  bool factorize(const VectorX<double>& q, const VectorX<double>& added,
                 MassFactor<double>& factor) const;
  /// x = M^-1 b with the factor of factorize(). x must not be b. @returns false if the templates
  /// are needed.
  bool solve(const MassFactor<double>& factor, const VectorX<double>& b, VectorX<double>& x) const;
  /// x = L^-1 b. x must not be b.
  bool solve_forward(const MassFactor<double>& factor, const VectorX<double>& b,
                     VectorX<double>& x) const;
  /// Kinematics::X_WB and S_W at q. @returns false if the templates are needed.
  bool poses(const VectorX<double>& q, Kinematics<double>& kinematics) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace limb
