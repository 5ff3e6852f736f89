#pragma once

#include <memory>

#include "limb/codegen/record/function_tracer.hpp"
#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/kinematics/center_of_mass.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/math/so3.hpp"

namespace limb::codegen {

/// Workspace for all functions of one robot.
template <typename T>
struct EvaluateScratch {
  explicit EvaluateScratch(const Model<T>& model)
      : work(model), kinematics(model), subtree(model), factor(model) {}
  Workspace<T> work;
  Kinematics<T> kinematics;
  SubtreeScratch<T> subtree;
  MassFactor<T> factor;
  MatrixX<T> M;  ///< n x n, for functions that do not return it as it is
  VectorX<T> a;
  std::unique_ptr<DerivativeWorkspace<T>> derivatives;
  std::vector<VectorX<T>> whole;  ///< full results of which only entries are returned

  /// What only this function needs; allocates the first time.
  void prepare(const Model<T>& model, DynamicsFunction f) {
    const int n = model.nv();
    const bool differentiates =
        f == DynamicsFunction::rnea_derivatives || f == DynamicsFunction::aba_derivatives;
    if (differentiates || f == DynamicsFunction::crba_packed) M.resize(n, n);
    if (differentiates) a.resize(n);
    if (differentiates && !derivatives) {
      derivatives = std::make_unique<DerivativeWorkspace<T>>(model);
    }
  }
};

/// Lambda = (J M^-1 J^T)^-1 and J_bar = M^-1 J^T Lambda, without damping.
void operational_space_of(const Model<Traced>& model, EvaluateScratch<Traced>& s,
                          const FunctionOptions& options, const VectorX<Traced>& q,
                          MatrixX<Traced>& Lambda, MatrixX<Traced>& J_bar);

/// Whether one template of limb/dynamics computes the function, without derivatives.
constexpr bool is_by_template(DynamicsFunction f) {
  return f < DynamicsFunction::operational_space;
}
/// Whether evaluate() computes the function for numbers.
constexpr bool has_recursion(DynamicsFunction f) {
  return f != DynamicsFunction::operational_space;
}

/// The robot with the parameters of one state.
/// @param parameters the last arrays of a call, in the order of signature().
template <typename T>
Model<T> with_parameters(const Model<T>& model, const FunctionOptions& options,
                         const T* const* parameters) {
  Model<T> changed = model;
  const auto each = [&](const std::vector<BodyId>& bodies, int rows, const auto& change) {
    if (bodies.empty()) return;
    const T* x = *parameters++;
    for (const BodyId body : bodies) {
      change(body, x);
      x += rows;
    }
  };
  each(options.added_inertias, 10, [&](BodyId body, const T* x) {
    Matrix3<T> tensor;
    tensor << x[4], x[5], x[6], x[5], x[7], x[8], x[6], x[8], x[9];
    changed =
        changed.with_added_inertia(body, Inertia<T>(x[0], Vector3<T>(x[1], x[2], x[3]), tensor));
  });
  each(options.shifted_joints, 3, [&](BodyId body, const T* x) {
    changed = changed.with_shifted_joint(body, Vector3<T>(x[0], x[1], x[2]));
  });
  each(options.rotated_joints, 3, [&](BodyId body, const T* x) {
    changed = changed.with_rotated_joint(
        body, axis_rotation<T>(2, x[2]) * axis_rotation<T>(1, x[1]) * axis_rotation<T>(0, x[0]));
  });
  return changed;
}

/// Computes a function for numbers (only if has_recursion), or records it. Arrays as in
/// signature(), without parameters.
template <typename T>
void evaluate(const Model<T>& model, DynamicsFunction function, const FunctionOptions& options,
              EvaluateScratch<T>& s, const T* const* in, T* const* out) {
  const int nq = model.nq(), n = model.nv();
  const int k = static_cast<int>(options.frames.size());
  using InMap = Eigen::Map<const VectorX<T>>;
  using OutMap = Eigen::Map<VectorX<T>>;
  using MatrixMap = Eigen::Map<MatrixX<T>>;
  using SixMap = Eigen::Map<Matrix6X<T>>;
  const InMap q(in[0], nq);
  s.prepare(model, function);
  switch (function) {
    case DynamicsFunction::rnea:
      return rnea<T>(model, s.work, q, InMap(in[1], n), InMap(in[2], n), OutMap(out[0], n),
                     options.effects);
    case DynamicsFunction::bias:
      return bias<T>(model, s.work, q, InMap(in[1], n), OutMap(out[0], n), options.effects);
    case DynamicsFunction::gravity:
      return gravity<T>(model, s.work, q, OutMap(out[0], n));
    case DynamicsFunction::crba:
      return crba<T>(model, s.work, q, MatrixMap(out[0], n, n), options.effects);
    case DynamicsFunction::crba_packed:
      crba<T>(model, s.work, q, s.M, options.effects);
      for (int c = 0, to = 0; c < n; ++c) {
        for (int r = 0; r <= c; ++r) out[0][to++] = s.M(r, c);
      }
      return;
    case DynamicsFunction::aba:
      aba<T>(model, s.work, q, InMap(in[1], n), InMap(in[2], n), OutMap(out[0], n),
             options.effects);
      return;
    case DynamicsFunction::mass_inverse:
      mass_inverse<T>(model, s.work, q, s.factor, MatrixMap(out[0], n, n), options.effects);
      return;
    case DynamicsFunction::frame_poses:
      forward_kinematics<T>(model, q, s.kinematics);
      for (int f = 0; f < k; ++f) {
        const Pose<T> X = frame_pose<T>(model, s.kinematics, options.frames[std::size_t(f)]);
        Eigen::Map<Matrix3<T>>(out[0] + 9 * f) = X.R;
        Eigen::Map<Vector3<T>>(out[1] + 3 * f) = X.p;
      }
      return;
    case DynamicsFunction::frame_jacobians:
      forward_kinematics<T>(model, q, s.kinematics);
      for (int f = 0; f < k; ++f) {
        frame_jacobian<T>(model, s.kinematics, options.frames[std::size_t(f)], options.axes,
                          SixMap(out[0] + 6 * n * f, 6, n));
      }
      return;
    case DynamicsFunction::centroidal:
      forward_kinematics<T>(model, q, s.kinematics);
      centroidal_matrix<T>(model, s.kinematics, s.subtree, SixMap(out[0], 6, n));
      OutMap(out[1], 3) = center_of_mass<T>(model, s.kinematics);
      return;
    case DynamicsFunction::operational_space:
      if constexpr (std::is_same_v<T, Traced>) {
        MatrixX<T> Lambda(6 * k, 6 * k), J_bar(n, 6 * k);
        operational_space_of(model, s, options, q, Lambda, J_bar);
        MatrixMap(out[0], 6 * k, 6 * k) = Lambda;
        MatrixMap(out[1], n, 6 * k) = J_bar;
        return;
      }
      break;
    case DynamicsFunction::rnea_derivatives:
      rnea_derivatives<T>(model, *s.derivatives, q, InMap(in[1], n), InMap(in[2], n),
                          MatrixMap(out[0], n, n), MatrixMap(out[1], n, n), s.M, options.effects);
      return;
    case DynamicsFunction::aba_derivatives:
      aba_derivatives<T>(model, *s.derivatives, q, InMap(in[1], n), InMap(in[2], n), s.a,
                         MatrixMap(out[0], n, n), MatrixMap(out[1], n, n), MatrixMap(out[2], n, n),
                         options.effects);
      return;
  }
  throw Error(std::string(to_text(function)) + ": can only be computed from its graph");
}

}  // namespace limb::codegen
