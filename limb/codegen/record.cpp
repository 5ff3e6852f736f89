#include "limb/codegen/record_factors.hpp"
#include "limb/dynamics/aba_derivatives_impl.hpp"
#include "limb/dynamics/aba_impl.hpp"
#include "limb/dynamics/center_of_mass_impl.hpp"
#include "limb/dynamics/crba_impl.hpp"
#include "limb/dynamics/frames_impl.hpp"
#include "limb/dynamics/jacobian_impl.hpp"
#include "limb/dynamics/mass_factor_impl.hpp"
#include "limb/dynamics/momentum_impl.hpp"
#include "limb/dynamics/rnea_impl.hpp"
#include "limb/model/model_impl.hpp"

namespace limb {

template class Model<Traced>;
template Model<Traced> Model<double>::cast<Traced>() const;

namespace codegen {

void operational_space_of(const Model<Traced>& model, EvaluateScratch<Traced>& s,
                          const FunctionOptions& options, const VectorX<Traced>& q,
                          MatrixX<Traced>& Lambda, MatrixX<Traced>& J_bar) {
  using T = Traced;
  const int n = model.velocity_size(), rows = 6 * static_cast<int>(options.frames.size());
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

std::vector<MatrixX<Traced>> record(const Model<Traced>& model, Function function,
                                    const std::vector<VectorX<Traced>>& arguments,
                                    const FunctionOptions& options) {
  const std::string obstacle = why_not_straight(model.loops().size(), function);
  if (!obstacle.empty()) {
    fail("record", "model", "one with " + obstacle, "a tree for " + std::string(name(function)));
  }
  FunctionOptions plain = options;
  plain.added_inertias = plain.shifted_joints = plain.turned_joints = {};
  const Signature shape = signature(model.position_size(), model.velocity_size(), function, plain);
  check_size(name(function), "arguments", static_cast<Eigen::Index>(arguments.size()),
             static_cast<Eigen::Index>(shape.inputs.size()));
  std::vector<const Traced*> from;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    check_size(name(function), shape.inputs[k].name, arguments[k].size(), shape.inputs[k].size());
    from.push_back(arguments[k].data());
  }
  std::vector<MatrixX<Traced>> results;
  for (const Array& x : shape.outputs) results.emplace_back(x.rows, x.cols);
  std::vector<Traced*> to;
  for (auto& x : results) to.push_back(x.data());
  EvaluateScratch<Traced> scratch(model);
  evaluate<Traced>(model, function, plain, scratch, from.data(), to.data());
  return results;
}

Factors record_factors(const Model<Traced>& model, const std::vector<VectorX<Traced>>& arguments,
                       const FunctionOptions& options) {
  const int n = model.velocity_size();
  const std::string obstacle = why_not_straight(model.loops().size(), Function::aba_derivatives);
  if (!obstacle.empty()) fail("record_factors", "model", "one with " + obstacle, "a tree");
  DerivativeWorkspace<Traced> work(model);
  VectorX<Traced> a(n);
  MatrixX<Traced> dq(n, n), dv(n, n), M_inverse(n, n);
  aba_derivatives<Traced>(model, work, arguments[0], arguments[1], arguments[2], a, dq, dv,
                          M_inverse, options.effects);
  return {work.own_q, work.own_v, M_inverse, work.factor.packed()};
}

FunctionTracer::FunctionTracer(const Model<double>& model, const FunctionOptions& options)
    : model_(model), options_(options), traced_(model.cast<Traced>()) {}

namespace {

/// The entries of results that are not zero in every state.
std::vector<Pattern> nonzeros(Function function, const std::vector<Array>& results,
                              const std::vector<MatrixX<Traced>>& values) {
  std::vector<Pattern> patterns = whole_patterns(function, results, Entries::nonzeros);
  for (std::size_t k = 0; k < patterns.size(); ++k) {
    if (results[k].cols == 1 || function == Function::frame_poses) continue;
    Pattern left(patterns[k].rows, patterns[k].cols, patterns[k].symmetric);
    for (int j = 0; j < patterns[k].size(); ++j) {
      const Traced& x = values[k].data()[patterns[k].place(j)];
      const bool zero = x.is_constant() && x.constant() == 0;
      if (!zero) left.add(patterns[k].row[std::size_t(j)], patterns[k].col[std::size_t(j)]);
    }
    left.fill_lines();
    patterns[k] = std::move(left);
  }
  return patterns;
}

}  // namespace

Trace FunctionTracer::trace(Function function) const {
  const Signature shape = signature(model_, function, options_);
  Tracer tracer(name(function));
  const std::vector<MatrixX<Traced>> out = with_arguments(
      tracer, shape, [&](const Model<Traced>& model, const std::vector<VectorX<Traced>>& in) {
        return record(model, function, in, options_);
      });
  if (options_.entries == Entries::all || function == Function::crba_packed) {
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

}  // namespace codegen
}  // namespace limb
