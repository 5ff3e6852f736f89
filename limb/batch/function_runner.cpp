#include "limb/batch/function_runner.hpp"

#include <memory>
#include <unordered_map>

#include "limb/codegen/record/evaluate_impl.hpp"

namespace limb {

using codegen::EvaluateScratch;
using codegen::Layout;

namespace {

/// The templates' workspace for a robot on this thread.
EvaluateScratch<double>& scratch_of(std::uint64_t robot, const Model<double>& model) {
  constexpr std::size_t kMaxRobots = 16;  // that a thread alternates between
  thread_local std::unordered_map<std::uint64_t, std::unique_ptr<EvaluateScratch<double>>> all;
  thread_local std::uint64_t last = 0;
  thread_local EvaluateScratch<double>* last_scratch = nullptr;
  if (last == robot) return *last_scratch;
  if (all.size() > kMaxRobots && all.count(robot) == 0) all.clear();
  auto& scratch = all[robot];
  if (!scratch) scratch = std::make_unique<EvaluateScratch<double>>(model);
  last = robot;
  last_scratch = scratch.get();
  return *scratch;
}

/// Arguments and results for timing.
class Trial {
 public:
  Trial(const codegen::Signature& shape, std::int64_t states) {
    const std::size_t parameters = static_cast<std::size_t>(shape.parameters);
    for (std::size_t k = 0; k < shape.inputs.size(); ++k) {
      // 0.5 everywhere is a valid q: quaternions have unit length.
      const bool parameter = k + parameters >= shape.inputs.size();
      const double x = parameter ? 0 : k == 0 ? 0.5 : 0.1;
      data_.emplace_back(static_cast<std::size_t>(states * shape.inputs[k].size()), x);
      in_rows.push_back({data_.back().data(), states, shape.inputs[k].size()});
    }
    for (const codegen::Array& array : shape.outputs) {
      data_.emplace_back(static_cast<std::size_t>(states * array.size()), 0.0);
      out_rows.push_back({data_.back().data(), states, array.size()});
    }
    for (const auto& x : in_rows) in.push_back(x.data);
    for (const auto& x : out_rows) out.push_back(x.data);
  }

  std::vector<ConstStateRows<double>> in_rows;
  std::vector<StateRows<double>> out_rows;
  std::vector<const double*> in;
  std::vector<double*> out;

 private:
  std::vector<std::vector<double>> data_;
};

bool is_derivative(DynamicsFunction f) {
  return f == DynamicsFunction::rnea_derivatives || f == DynamicsFunction::aba_derivatives;
}

}  // namespace

FunctionRunner::FunctionRunner(const Model<double>& model, DynamicsFunction function,
                               const FunctionOptions& options,
                               const codegen::FunctionTracer& tracer,
                               const codegen::ProgramOptions& program, Strategy strategy,
                               std::uint64_t robot)
    : model_(model),
      options_(options),
      function_(function),
      robot_(robot),
      shape_(codegen::signature(model, function, options)),
      requested_(strategy) {
  const std::string obstacle = codegen::why_not_straight(model.loops().size(), function);
  const bool has_recursion = codegen::has_recursion(function);
  if (strategy == Strategy::straight_line && !obstacle.empty()) {
    fail(to_text(function), "strategy", "straight_line", "recursion", obstacle);
  }
  if (strategy == Strategy::recursion && !has_recursion) {
    fail(to_text(function), "strategy", "recursion", "straight_line",
         "the templates have no such result");
  }
  if (strategy == Strategy::split && !codegen::can_split(function)) {
    fail(to_text(function), "strategy", "split", "automatic", "not a product of matrices");
  }
  is_whole_ = options.entries == MatrixEntries::all;
  patterns_ = codegen::whole_patterns(function, shape_.outputs, options.entries);
  const auto set_patterns = [&](const std::vector<codegen::Pattern>& patterns) {
    if (is_whole_) return;
    if (!patterns.empty()) patterns_ = patterns;
    for (std::size_t k = 0; k < patterns_.size(); ++k) {
      shape_.outputs[k] = {shape_.outputs[k].name, patterns_[k].length()};
    }
  };
  if (strategy == Strategy::recursion || !obstacle.empty()) {
    // A recording tells which entries are zero.
    set_patterns(is_whole_ || !obstacle.empty() ? std::vector<codegen::Pattern>()
                                                : tracer.trace(function).patterns);
    report_.one_state = report_.batch = Strategy::recursion;
    report_.reason = obstacle.empty() ? "requested" : obstacle;
    Trial trial(shape_, 1);
    recurse(trial.in.data(), trial.out.data());  // so that unsupported models fail now
    return;
  }
  codegen::Trace trace = tracer.trace(function);
  set_patterns(trace.patterns);
  if (codegen::can_split(function)) {
    program_.emplace(std::move(trace), program,
                     [&model, &options, function, patterns = trace.patterns] {
                       return codegen::FunctionTracer(model, options).split(function, patterns);
                     });
  } else {
    program_.emplace(std::move(trace), program);
  }
  if (!program_->why_not_compiled().empty()) {
    // The interpreter has the bits of machine code, but the templates are faster.
    const bool by_template = has_recursion && !options.has_parameters();
    report_.one_state = report_.batch = by_template ? Strategy::recursion : Strategy::straight_line;
    report_.reason = program_->why_not_compiled();
    return;
  }
  if (strategy != Strategy::straight_line && is_derivative(function) && !options.has_parameters()) {
    measure_one();
  }
  if (strategy != Strategy::automatic) {
    report_.batch = strategy;
    report_.reason = "requested";
  } else if (is_measured()) {
    report_.reason = "measured";
  } else {
    report_.reason = has_recursion ? "always faster" : "no recursion";
  }
}

/// Only derivatives are so long that the recursion may be faster. With parameters the templates
/// build a model for each state and are not measured.
bool FunctionRunner::is_measured() const {
  return requested_ == Strategy::automatic && is_derivative(function_) && program_ &&
         program_->is_compiled() && (!options_.has_parameters() || program_->has_split());
}

void FunctionRunner::measure_one() {
  Trial trial(shape_, 1);
  report_.straight_line_ns = fastest_ns([&] { program_->run(trial.in.data(), trial.out.data()); });
  report_.recursion_ns = fastest_ns([&] { recurse(trial.in.data(), trial.out.data()); });
  const bool recursion = report_.recursion_ns < report_.straight_line_ns;
  report_.one_state = recursion ? Strategy::recursion : Strategy::straight_line;
}

Strategy FunctionRunner::batch_strategy() const {
  if (!is_measured()) return report_.batch;
  std::call_once(batch_measured_, [&] {
    constexpr std::int64_t kStates = 64;
    Trial trial(shape_, kStates);
    const auto lanes_ns = [&](bool split) {
      return fastest_ns([&] {
               program_->run_rows(trial.in.data(), trial.out.data(), kStates, {.split = split});
             }) /
             kStates;
    };
    double best = report_.batch_straight_line_ns = lanes_ns(false);
    const auto take = [&](double ns, Strategy strategy) {
      if (ns >= best) return;
      best = ns;
      report_.batch = strategy;
    };
    if (program_->has_split()) take(report_.batch_split_ns = lanes_ns(true), Strategy::split);
    if (options_.has_parameters()) return;
    report_.batch_recursion_ns =
        fastest_ns([&] { recurse_rows<double>(trial.in_rows, trial.out_rows, 0, kStates); }) /
        kStates;
    take(report_.batch_recursion_ns, Strategy::recursion);
  });
  return report_.batch;
}

/// Whether lanes run the split code: the faster of their two strategies.
bool FunctionRunner::uses_split() const {
  const Strategy strategy = batch_strategy();
  return strategy == Strategy::split ||
         (strategy == Strategy::recursion && report_.batch_split_ns > 0 &&
          report_.batch_split_ns < report_.batch_straight_line_ns);
}

StrategyReport FunctionRunner::report() const {
  batch_strategy();
  return report_;
}

void FunctionRunner::recurse(const double* const* in, double* const* out) const {
  if (options_.has_parameters()) {
    const Model<double> changed = codegen::with_parameters(
        model_, options_, in + shape_.inputs.size() - std::size_t(shape_.parameters));
    EvaluateScratch<double> scratch(changed);
    return evaluate(changed, scratch, in, out);
  }
  evaluate(model_, scratch_of(robot_, model_), in, out);
}

/// The templates compute full matrices.
void FunctionRunner::evaluate(const Model<double>& model, EvaluateScratch<double>& scratch,
                              const double* const* in, double* const* out) const {
  if (is_whole_ || function_ == DynamicsFunction::crba_packed) {
    return codegen::evaluate<double>(model, function_, options_, scratch, in, out);
  }
  constexpr std::size_t kMaxResults = 3;  // of a function
  double* whole[kMaxResults];
  scratch.whole.resize(kMaxResults);
  for (std::size_t k = 0; k < patterns_.size(); ++k) {
    const Eigen::Index size = patterns_[k].rows * patterns_[k].cols;
    if (scratch.whole[k].size() < size) scratch.whole[k].resize(size);
    whole[k] = scratch.whole[k].data();
  }
  codegen::evaluate<double>(model, function_, options_, scratch, in, whole);
  for (std::size_t k = 0; k < patterns_.size(); ++k) patterns_[k].gather(whole[k], out[k]);
}

void FunctionRunner::run_one(const double* const* in, double* const* out) const {
  if (report_.one_state == Strategy::recursion) {
    recurse(in, out);
  } else {
    program_->run(in, out);
  }
}

template <typename T>
void FunctionRunner::recurse_rows(std::span<const ConstStateRows<T>> inputs,
                                  std::span<const StateRows<T>> outputs, std::int64_t first,
                                  std::int64_t count) const {
  std::vector<const double*> in(inputs.size());
  std::vector<double*> out(outputs.size());
  const auto index = [](const auto& x, std::int64_t state, std::int64_t entry) {
    return x.layout == Layout::rows ? state * x.cols + entry : entry * x.rows + state;
  };
  if constexpr (sizeof(T) == 8) {
    if (inputs.empty() || inputs[0].layout == Layout::rows) {
      for (std::int64_t i = first; i < first + count; ++i) {
        for (std::size_t k = 0; k < in.size(); ++k) in[k] = inputs[k].data + index(inputs[k], i, 0);
        for (std::size_t k = 0; k < out.size(); ++k) {
          out[k] = outputs[k].data + index(outputs[k], i, 0);
        }
        recurse(in.data(), out.data());
      }
      return;
    }
  }
  // Columns, or floats: each state is copied out and back.
  std::vector<std::vector<double>> from, to;
  for (const auto& x : inputs) from.emplace_back(static_cast<std::size_t>(x.cols));
  for (const auto& x : outputs) to.emplace_back(static_cast<std::size_t>(x.cols));
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = from[k].data();
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = to[k].data();
  for (std::int64_t i = first; i < first + count; ++i) {
    for (std::size_t k = 0; k < in.size(); ++k) {
      for (std::size_t j = 0; j < from[k].size(); ++j) {
        from[k][j] = inputs[k].data[index(inputs[k], i, static_cast<std::int64_t>(j))];
      }
    }
    recurse(in.data(), out.data());
    for (std::size_t k = 0; k < out.size(); ++k) {
      for (std::size_t j = 0; j < to[k].size(); ++j) {
        outputs[k].data[index(outputs[k], i, static_cast<std::int64_t>(j))] =
            static_cast<T>(to[k][j]);
      }
    }
  }
}

template <typename T>
void FunctionRunner::run_many(std::span<const ConstStateRows<T>> in,
                              std::span<const StateRows<T>> out,
                              const BatchOptions& options) const {
  // The templates compute in double; float batches use lanes where there is a program.
  const bool recursion = !program_ || (sizeof(T) == 8 && batch_strategy() == Strategy::recursion);
  if (!recursion) return run_rows(*program_, in, out, options, uses_split());
  check_options(to_text(function_), options);
  const std::int64_t states =
      check_rows<T>(to_text(function_), shape_.inputs, shape_.outputs, in, out);
  for_ranges(
      states, 1, options.grain > 0 ? options.grain : 64, options.threads,
      [&](std::int64_t first, std::int64_t count) { recurse_rows<T>(in, out, first, count); });
}

template void FunctionRunner::run_many(std::span<const ConstStateRows<double>>,
                                       std::span<const StateRows<double>>,
                                       const BatchOptions&) const;
template void FunctionRunner::run_many(std::span<const ConstStateRows<float>>,
                                       std::span<const StateRows<float>>,
                                       const BatchOptions&) const;

}  // namespace limb
