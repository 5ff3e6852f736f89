#include "limb/codegen/record/function_tracer.hpp"

#include "limb/codegen/record/evaluate_impl.hpp"
#include "limb/codegen/record/split_planner.hpp"
#include "limb/dynamics/derivatives/aba_derivatives_impl.hpp"
#include "limb/dynamics/factor/mass_factor_impl.hpp"
#include "limb/dynamics/kinematics/center_of_mass_impl.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum_impl.hpp"
#include "limb/dynamics/kinematics/frames_impl.hpp"
#include "limb/dynamics/kinematics/jacobian_impl.hpp"
#include "limb/dynamics/recursive/aba_impl.hpp"
#include "limb/dynamics/recursive/crba_impl.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"
#include "limb/model/core/model_impl.hpp"

namespace limb {

template class Model<Traced>;
template Model<Traced> Model<double>::cast<Traced>() const;

namespace codegen {

void operational_space_of(const Model<Traced>& model, EvaluateScratch<Traced>& s,
                          const FunctionOptions& options, const VectorX<Traced>& q,
                          MatrixX<Traced>& Lambda, MatrixX<Traced>& J_bar) {
  using T = Traced;
  const int n = model.nv(), rows = 6 * static_cast<int>(options.frames.size());
  factorize_mass<T>(model, s.work, q, s.factor, options.effects);
  s.factor.set_ready(true);
  forward_kinematics<T>(model, q, s.kinematics);
  MatrixX<T> B(n, rows), J(rows, n);
  Matrix6X<T> part(6, n);
  for (std::size_t k = 0; k < options.frames.size(); ++k) {
    frame_jacobian<T>(model, s.kinematics, options.frames[k], options.axes, part);
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c < n; ++c) {
        B(c, 6 * static_cast<int>(k) + r) = J(6 * static_cast<int>(k) + r, c) = part(r, c);
      }
    }
  }
  solve_mass_columns<T>(s.factor, B, B);
  MatrixX<T> A = J.lazyProduct(B);
  MatrixOut<T> factors(A);
  kernel::factorize_in_place<T>(factors);
  for (int c = 0; c < rows; ++c) {
    VectorX<T> x = VectorX<T>::Constant(rows, T(0));
    x[c] = T(1);
    VectorOut<T> column(x);
    kernel::solve_factorized<T>(factors, column);
    Lambda.col(c) = x;
  }
  J_bar = B.lazyProduct(Lambda);
}

std::vector<MatrixX<Traced>> record(const Model<Traced>& model, DynamicsFunction function,
                                    const std::vector<VectorX<Traced>>& arguments,
                                    const FunctionOptions& options) {
  const std::string obstacle = why_not_straight(model.loops().size(), function);
  if (!obstacle.empty()) {
    fail("record", "model", "one with " + obstacle, "a tree for " + std::string(to_text(function)));
  }
  FunctionOptions without_parameters = options;
  without_parameters.added_inertias = without_parameters.shifted_joints =
      without_parameters.rotated_joints = {};
  const Signature shape = signature(model.nq(), model.nv(), function, without_parameters);
  check_size(to_text(function), "arguments", static_cast<Eigen::Index>(arguments.size()),
             static_cast<Eigen::Index>(shape.inputs.size()));
  std::vector<const Traced*> from;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    check_size(to_text(function), shape.inputs[k].name, arguments[k].size(),
               shape.inputs[k].size());
    from.push_back(arguments[k].data());
  }
  std::vector<MatrixX<Traced>> results;
  for (const Array& x : shape.outputs) results.emplace_back(x.rows, x.cols);
  std::vector<Traced*> to;
  for (auto& x : results) to.push_back(x.data());
  EvaluateScratch<Traced> scratch(model);
  evaluate<Traced>(model, function, without_parameters, scratch, from.data(), to.data());
  return results;
}

namespace {

DerivativeFactors record_factors(const Model<Traced>& model,
                                 const std::vector<VectorX<Traced>>& arguments,
                                 const FunctionOptions& options) {
  const int n = model.nv();
  const std::string obstacle =
      why_not_straight(model.loops().size(), DynamicsFunction::aba_derivatives);
  if (!obstacle.empty()) fail("FunctionTracer::split", "model", "one with " + obstacle, "a tree");
  DerivativeWorkspace<Traced> work(model);
  VectorX<Traced> a(n);
  MatrixX<Traced> dq(n, n), dv(n, n), M_inverse(n, n);
  aba_derivatives<Traced>(model, work, arguments[0], arguments[1], arguments[2], a, dq, dv,
                          M_inverse, options.effects);
  const DerivativeWorkspaceData<Traced>& data = work.data();
  return {data.reduced_dtau_dq, data.reduced_dtau_dv, M_inverse, data.factor.packed()};
}

}  // namespace

FunctionTracer::FunctionTracer(const Model<double>& model, const FunctionOptions& options)
    : model_(model), options_(options), traced_(model.cast<Traced>()) {}

template <typename Run>
auto FunctionTracer::with_arguments(Tracer& tracer, const Signature& shape, const Run& run) const {
  std::vector<VectorX<Traced>> in;
  std::vector<const Traced*> parameters;
  for (const Array& x : shape.inputs) {
    const MatrixX<Traced> entries = tracer.input(x.name, x.rows, x.cols);
    in.push_back(Eigen::Map<const VectorX<Traced>>(entries.data(), x.size()));
  }
  const std::size_t first_parameter = in.size() - static_cast<std::size_t>(shape.parameters);
  for (std::size_t k = first_parameter; k < in.size(); ++k) parameters.push_back(in[k].data());
  if (parameters.empty()) return run(traced_, in);
  const Model<Traced> changed = with_parameters(traced_, options_, parameters.data());
  in.resize(first_parameter);
  return run(changed, in);
}

namespace {

/// The entries of results that are not structurally zero.
std::vector<Pattern> nonzeros(DynamicsFunction function, const std::vector<Array>& results,
                              const std::vector<MatrixX<Traced>>& values) {
  std::vector<Pattern> patterns = whole_patterns(function, results, MatrixEntries::nonzeros);
  for (std::size_t k = 0; k < patterns.size(); ++k) {
    if (results[k].cols == 1 || function == DynamicsFunction::frame_poses) continue;
    Pattern kept(patterns[k].rows, patterns[k].cols, patterns[k].symmetric);
    for (int j = 0; j < patterns[k].size(); ++j) {
      const Traced& x = values[k].data()[patterns[k].index(j)];
      const bool zero = x.is_constant() && x.constant() == 0;
      if (!zero) kept.add(patterns[k].row[std::size_t(j)], patterns[k].col[std::size_t(j)]);
    }
    kept.pad_to_cache_lines();
    patterns[k] = std::move(kept);
  }
  return patterns;
}

/// Keeps only the entries of each pattern in the results.
void keep_entries(Split& split, const std::vector<Pattern>& patterns) {
  std::vector<int> kept;
  std::size_t start = 0;
  for (std::size_t k = 0; k < patterns.size(); ++k) {
    Array& x = split.outputs[k];
    for (int j = 0; j < patterns[k].size(); ++j) {
      kept.push_back(split.results[start + static_cast<std::size_t>(patterns[k].index(j))]);
    }
    kept.insert(kept.end(), static_cast<std::size_t>(patterns[k].zeros), 0);
    start += static_cast<std::size_t>(x.size());
    x = {x.name, patterns[k].length()};
  }
  split.results = std::move(kept);
}

}  // namespace

Trace FunctionTracer::trace(DynamicsFunction function) const {
  const Signature shape = signature(model_, function, options_);
  Tracer tracer(to_text(function));
  const std::vector<MatrixX<Traced>> out = with_arguments(
      tracer, shape, [&](const Model<Traced>& model, const std::vector<VectorX<Traced>>& in) {
        return record(model, function, in, options_);
      });
  if (options_.entries == MatrixEntries::all || function == DynamicsFunction::crba_packed) {
    for (std::size_t k = 0; k < out.size(); ++k) tracer.output(shape.outputs[k].name, out[k]);
    return tracer.finish();
  }
  std::vector<Pattern> patterns = nonzeros(function, shape.outputs, out);
  for (std::size_t k = 0; k < out.size(); ++k) {
    MatrixX<Traced> entries(patterns[k].length(), 1);
    patterns[k].gather(out[k].data(), entries.data());
    tracer.output(shape.outputs[k].name, entries);
  }
  Trace trace = tracer.finish();
  trace.patterns = std::move(patterns);
  return trace;
}

Split FunctionTracer::split(DynamicsFunction function, const std::vector<Pattern>& patterns) const {
  const Signature shape = signature(model_, function, options_);
  if (!can_split(function)) {
    fail("FunctionTracer::split", "function", to_text(function), "aba_derivatives");
  }
  Split split;
  split.outputs = shape.outputs;
  Tracer tracer(to_text(function));
  const DerivativeFactors factors = with_arguments(
      tracer, shape, [&](const Model<Traced>& model, const std::vector<VectorX<Traced>>& in) {
        return record_factors(model, in, options_);
      });
  tracer.output("numbers", plan_products(factors, split));
  split.trace = tracer.finish();
  if (!patterns.empty()) keep_entries(split, patterns);
  return split;
}

Trace trace(const Model<double>& model, DynamicsFunction function, const FunctionOptions& options) {
  return FunctionTracer(model, options).trace(function);
}

}  // namespace codegen
}  // namespace limb
