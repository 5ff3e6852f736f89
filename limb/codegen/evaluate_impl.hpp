#pragma once

#include "limb/codegen/functions.hpp"
#include "limb/dynamics/aba.hpp"
#include "limb/dynamics/center_of_mass.hpp"
#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/frames.hpp"
#include "limb/dynamics/jacobian.hpp"
#include "limb/dynamics/mass_factor.hpp"
#include "limb/dynamics/momentum.hpp"
#include "limb/dynamics/rnea.hpp"

namespace limb::codegen {

/// Room for all functions.
template <typename T>
struct EvaluateScratch {
  explicit EvaluateScratch(const Model<T>& model)
      : work(model), kinematics(model), subtree(model), factor(model) {}
  Workspace<T> work;
  Kinematics<T> kinematics;
  SubtreeScratch<T> subtree;
  MassFactor<T> factor;
};

/// Lambda = (J M^-1 J^T)^-1 and J_bar = M^-1 J^T Lambda, without damping.
void operational_space_of(const Model<Traced>& model, EvaluateScratch<Traced>& s,
                          const FunctionOptions& options, const VectorX<Traced>& q,
                          MatrixX<Traced>& Lambda, MatrixX<Traced>& J_bar);

/// What the templates of limb/dynamics compute as they are.
constexpr bool is_by_template(Function f) {
  return f < Function::operational_space;
}

/// A function, for numbers (only if is_by_template) or recorded. Arrays as in signature(), without
/// `added`.
template <typename T>
void evaluate(const Model<T>& model, Function function, const FunctionOptions& options,
              EvaluateScratch<T>& s, const T* const* in, T* const* out) {
  const int nq = model.position_size(), n = model.velocity_size();
  const int k = static_cast<int>(options.frames.size());
  using InMap = Eigen::Map<const VectorX<T>>;
  using OutMap = Eigen::Map<VectorX<T>>;
  using MatrixMap = Eigen::Map<MatrixX<T>>;
  using SixMap = Eigen::Map<Matrix6X<T>>;
  const InMap q(in[0], nq);
  switch (function) {
    case Function::rnea:
      return rnea<T>(model, s.work, q, InMap(in[1], n), InMap(in[2], n), OutMap(out[0], n),
                     options.effects);
    case Function::bias:
      return bias<T>(model, s.work, q, InMap(in[1], n), OutMap(out[0], n), options.effects);
    case Function::gravity:
      return gravity<T>(model, s.work, q, OutMap(out[0], n));
    case Function::crba:
      return crba<T>(model, s.work, q, MatrixMap(out[0], n, n), options.effects);
    case Function::aba:
      aba<T>(model, s.work, q, InMap(in[1], n), InMap(in[2], n), OutMap(out[0], n),
             options.effects);
      return;
    case Function::mass_inverse:
      mass_inverse<T>(model, s.work, q, s.factor, MatrixMap(out[0], n, n), options.effects);
      return;
    case Function::frame_poses:
      forward_kinematics<T>(model, q, s.kinematics);
      for (int f = 0; f < k; ++f) {
        const Pose<T> X = frame_pose<T>(model, s.kinematics, options.frames[std::size_t(f)]);
        Eigen::Map<Matrix3<T>>(out[0] + 9 * f) = X.R;
        Eigen::Map<Vector3<T>>(out[1] + 3 * f) = X.p;
      }
      return;
    case Function::frame_jacobians:
      forward_kinematics<T>(model, q, s.kinematics);
      for (int f = 0; f < k; ++f) {
        frame_jacobian<T>(model, s.kinematics, options.frames[std::size_t(f)], options.axes,
                          SixMap(out[0] + 6 * n * f, 6, n));
      }
      return;
    case Function::centroidal:
      forward_kinematics<T>(model, q, s.kinematics);
      centroidal_matrix<T>(model, s.kinematics, s.subtree, SixMap(out[0], 6, n));
      OutMap(out[1], 3) = center_of_mass<T>(model, s.kinematics);
      return;
    case Function::operational_space:
      if constexpr (std::is_same_v<T, Traced>) {
        MatrixX<T> Lambda(6 * k, 6 * k), J_bar(n, 6 * k);
        operational_space_of(model, s, options, q, Lambda, J_bar);
        MatrixMap(out[0], 6 * k, 6 * k) = Lambda;
        MatrixMap(out[1], n, 6 * k) = J_bar;
        return;
      }
      [[fallthrough]];
    case Function::rnea_derivatives:
    case Function::aba_derivatives:
      throw Error(std::string(name(function)) + ": computed from its graph only");
  }
}

}  // namespace limb::codegen
