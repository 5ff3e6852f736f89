#include "limb/sim/contact/step_functions.hpp"

#include "limb/batch/compiled.hpp"
#include "limb/codegen/record/trace_step.hpp"
#include "limb/dynamics/factor/packed_factor.hpp"

namespace limb {

using codegen::Program;

namespace {

/// Multiplications; above, loops over packed rows are faster than straight-line code.
constexpr double kLargestFactor = 10000;

}  // namespace

struct StepFunctions::Impl {
  Impl(const Model<double>& robot, const CompileOptions& options)
      : model(robot),
        effects(options.effects),
        compiled(model, {DynamicsFunction::crba, DynamicsFunction::bias}, options) {
    if (!codegen::why_no_machine_code().empty()) return;
    has_factor =
        model.coupling().is_identity() && codegen::mass_factor_cost(model) <= kLargestFactor;
    if (!has_factor) return;
    begin = make(codegen::trace_step(model, effects, codegen::StepPoses::none));
    factor = make(codegen::trace_mass_factor(model));
    solve = make(codegen::trace_mass_solve(model, codegen::MassSolve::whole));
    forward = make(codegen::trace_mass_solve(model, codegen::MassSolve::forward));
  }
  static std::unique_ptr<Program> make(codegen::Trace trace) {
    auto program = std::make_unique<Program>(std::move(trace));
    return program->is_compiled() ? std::move(program) : nullptr;
  }

  const Model<double>& model;
  JointEffects effects;
  Compiled compiled;
  bool has_factor = false;
  std::unique_ptr<Program> begin, begin_with_poses, poses, factor, solve, forward;  ///< may be null
};

namespace {

/// Whether no pivot is zero, as in factorize_mass: not larger than the rounding errors of its
/// diagonal entry.
bool is_positive(const VectorX<double>& D, const double* diagonal) {
  const double tolerance =
      16 * std::numeric_limits<double>::epsilon() * static_cast<double>(D.size());
  bool positive = true;
  for (Eigen::Index i = 0; i < D.size(); ++i) positive &= D[i] > tolerance * diagonal[i];
  return positive;
}

double* poses_data(Kinematics<double>& kinematics) {
  static_assert(sizeof(Pose<double>) == 12 * sizeof(double));
  return kinematics.X_WB[1].R.data();
}
double* axes_data(Kinematics<double>& kinematics) {
  static_assert(sizeof(Motion<double>) == 6 * sizeof(double));
  return kinematics.S_W[0].v.data();
}

}  // namespace

StepFunctions::StepFunctions(const Model<double>& model, const JointEffects& effects) {
  CompileOptions options;
  options.effects = effects;
  impl_ = std::make_unique<Impl>(model, options);
}

StepFunctions::~StepFunctions() = default;

void StepFunctions::add_poses() {
  Impl& p = *impl_;
  if (p.poses != nullptr || !codegen::why_no_machine_code().empty()) return;
  if (p.model.uncoupled_nv() == 0) return;  // nothing moves
  p.poses = Impl::make(codegen::trace_poses(p.model));
  if (!p.has_factor) return;
  p.begin_with_poses = Impl::make(codegen::trace_step(p.model, p.effects, codegen::StepPoses::all));
}

bool StepFunctions::begin(const VectorX<double>& q, const VectorX<double>& v,
                          const VectorX<double>& added, MassFactor<double>& factor,
                          VectorX<double>& tau, Kinematics<double>* kinematics) const {
  const auto& program = kinematics != nullptr ? impl_->begin_with_poses : impl_->begin;
  if (program == nullptr) return false;
  kernel::PackedFactor<double>& F = factor.packed();
  double* const diagonal = factor.M_buffer().data();
  const double* const inputs[] = {q.data(), v.data(), added.data()};
  double* const outputs[] = {F.L.data(),
                             F.inverse.data(),
                             F.D.data(),
                             diagonal,
                             tau.data(),
                             kinematics != nullptr ? poses_data(*kinematics) : nullptr,
                             kinematics != nullptr ? axes_data(*kinematics) : nullptr};
  program->run(inputs, outputs);
  const bool positive = is_positive(F.D, diagonal);
  factor.set_ready(positive);
  return positive;
}

void StepFunctions::bias(const VectorX<double>& q, const VectorX<double>& v,
                         VectorX<double>& tau) const {
  impl_->compiled.bias(q, v, tau);
}

void StepFunctions::mass_matrix(const VectorX<double>& q, MatrixX<double>& M) const {
  impl_->compiled.crba(q, M);
}

bool StepFunctions::factorize(const VectorX<double>& q, const VectorX<double>& added,
                              MassFactor<double>& factor) const {
  if (impl_->factor == nullptr) return false;
  kernel::PackedFactor<double>& F = factor.packed();
  double* const diagonal = factor.M_buffer().data();
  const double* const inputs[] = {q.data(), added.data()};
  double* const outputs[] = {F.L.data(), F.inverse.data(), F.D.data(), diagonal};
  impl_->factor->run(inputs, outputs);
  const bool positive = is_positive(F.D, diagonal);
  factor.set_ready(positive);
  return positive;
}

bool StepFunctions::solve(const MassFactor<double>& factor, const VectorX<double>& b,
                          VectorX<double>& x) const {
  if (impl_->solve == nullptr || !factor.is_ready()) return false;
  const auto& F = factor.packed();
  const double* const inputs[] = {F.L.data(), F.inverse.data(), b.data()};
  double* const outputs[] = {x.data()};
  impl_->solve->run(inputs, outputs);
  return true;
}

bool StepFunctions::solve_forward(const MassFactor<double>& factor, const VectorX<double>& b,
                                  VectorX<double>& x) const {
  if (impl_->forward == nullptr || !factor.is_ready()) return false;
  const double* const inputs[] = {factor.packed().L.data(), b.data()};
  double* const outputs[] = {x.data()};
  impl_->forward->run(inputs, outputs);
  return true;
}

bool StepFunctions::poses(const VectorX<double>& q, Kinematics<double>& kinematics) const {
  if (impl_->poses == nullptr) return false;
  const double* const inputs[] = {q.data()};
  double* const outputs[] = {poses_data(kinematics), axes_data(kinematics)};
  impl_->poses->run(inputs, outputs);
  return true;
}

}  // namespace limb
