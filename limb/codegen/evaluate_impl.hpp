#pragma once

#include <memory>

#include "limb/codegen/functions.hpp"
#include "limb/dynamics/aba.hpp"
#include "limb/dynamics/aba_derivatives.hpp"
#include "limb/dynamics/center_of_mass.hpp"
#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/frames.hpp"
#include "limb/dynamics/jacobian.hpp"
#include "limb/dynamics/mass_factor.hpp"
#include "limb/dynamics/momentum.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/math/so3.hpp"

namespace limb::codegen {

/// Room for all functions of one robot.
template <typename T>
struct EvaluateScratch {
  explicit EvaluateScratch(const Model<T>& model)
      : work(model), kinematics(model), subtree(model), factor(model) {}
  Workspace<T> work;
  Kinematics<T> kinematics;
  SubtreeScratch<T> subtree;
  MassFactor<T> factor;
  MatrixX<T> M;  ///< n x n, where a result is a part of it or not asked for
  VectorX<T> a;
  std::unique_ptr<DerivativeWorkspace<T>> derivatives;
  std::vector<VectorX<T>> whole;  ///< results of which entries are asked for

  /// What this function needs beyond the rest; allocates the first time only.
  void prepare(const Model<T>& model, Function f) {
    const int n = model.velocity_size();
    const bool differentiates = f == Function::rnea_derivatives || f == Function::aba_derivatives;
    if (differentiates || f == Function::crba_packed) M.resize(n, n);
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

/// What a template of limb/dynamics computes as it is, in one piece and without a derivative.
constexpr bool is_by_template(Function f) {
  return f < Function::operational_space;
}
/// What evaluate() computes for numbers.
constexpr bool has_recursion(Function f) {
  return f != Function::operational_space;
}

/// The robot with the parameters of one state.
/// @param parameters arrays in the order of signature(), the last ones of a call.
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
  each(options.turned_joints, 3, [&](BodyId body, const T* x) {
    changed = changed.with_turned_joint(
        body, axis_rotation<T>(2, x[2]) * axis_rotation<T>(1, x[1]) * axis_rotation<T>(0, x[0]));
  });
  return changed;
}

/// A function, for numbers (only if has_recursion) or recorded. Arrays as in signature(), without
/// parameters.
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
  s.prepare(model, function);
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
    case Function::crba_packed:
      crba<T>(model, s.work, q, s.M, options.effects);
      for (int c = 0, to = 0; c < n; ++c) {
        for (int r = 0; r <= c; ++r) out[0][to++] = s.M(r, c);
      }
      return;
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
      break;
    case Function::rnea_derivatives:
      rnea_derivatives<T>(model, *s.derivatives, q, InMap(in[1], n), InMap(in[2], n),
                          MatrixMap(out[0], n, n), MatrixMap(out[1], n, n), s.M, options.effects);
      return;
    case Function::aba_derivatives:
      aba_derivatives<T>(model, *s.derivatives, q, InMap(in[1], n), InMap(in[2], n), s.a,
                         MatrixMap(out[0], n, n), MatrixMap(out[1], n, n), MatrixMap(out[2], n, n),
                         options.effects);
      return;
  }
  throw Error(std::string(name(function)) + ": computed from its graph only");
}

}  // namespace limb::codegen
