#include "limb/batch/function_runner.hpp"

#include <memory>
#include <unordered_map>

#include "limb/codegen/evaluate_impl.hpp"

namespace limb {

using codegen::EvaluateScratch;
using codegen::Layout;

namespace {

/// The templates' room for a robot on this thread.
EvaluateScratch<double>& scratch_of(std::uint64_t robot, const Model<double>& model) {
  constexpr std::size_t kMost = 16;  // robots that a thread works on in turns
  thread_local std::unordered_map<std::uint64_t, std::unique_ptr<EvaluateScratch<double>>> rooms;
  thread_local std::uint64_t last = 0;
  thread_local EvaluateScratch<double>* last_room = nullptr;
  if (last == robot) return *last_room;
  if (rooms.size() > kMost && rooms.count(robot) == 0) rooms.clear();
  auto& room = rooms[robot];
  if (!room) room = std::make_unique<EvaluateScratch<double>>(model);
  last = robot;
  last_room = room.get();
  return *room;
}

/// Arguments and results of some states that only have to take their time.
class Trial {
 public:
  Trial(const codegen::Signature& shape, std::int64_t states) {
    const std::size_t parameters = static_cast<std::size_t>(shape.parameters);
    for (std::size_t k = 0; k < shape.inputs.size(); ++k) {
      // One half everywhere is a good q, too: quaternions are of length one.
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

  std::vector<ConstRows<double>> in_rows;
  std::vector<Rows<double>> out_rows;
  std::vector<const double*> in;
  std::vector<double*> out;

 private:
  std::vector<std::vector<double>> data_;
};

bool is_of_derivatives(Function f) {
  return f == Function::rnea_derivatives || f == Function::aba_derivatives;
}

}  // namespace

FunctionRunner::FunctionRunner(const Model<double>& model, Function function,
                               const FunctionOptions& options,
                               const codegen::FunctionTracer& tracer,
                               const codegen::ProgramOptions& program, Form form,
                               std::uint64_t robot)
    : model_(model),
      options_(options),
      function_(function),
      robot_(robot),
      shape_(codegen::signature(model, function, options)),
      asked_(form) {
  const std::string obstacle = codegen::why_not_straight(model.loops().size(), function);
  const bool has_recursion = codegen::has_recursion(function);
  if (form == Form::straight_line && !obstacle.empty()) {
    fail(name(function), "form", "straight line", "recursion", obstacle);
  }
  if (form == Form::recursion && !has_recursion) {
    fail(name(function), "form", "recursion", "straight line", "the templates have no such result");
  }
  if (form == Form::split && !codegen::can_split(function)) {
    fail(name(function), "form", "split", "automatic", "it is no product of matrices");
  }
  is_whole_ = options.entries == Entries::all;
  patterns_ = codegen::whole_patterns(function, shape_.outputs, options.entries);
  const auto set_patterns = [&](const std::vector<codegen::Pattern>& patterns) {
    if (is_whole_) return;
    if (!patterns.empty()) patterns_ = patterns;
    for (std::size_t k = 0; k < patterns_.size(); ++k) {
      shape_.outputs[k] = {shape_.outputs[k].name, patterns_[k].length()};
    }
  };
  if (form == Form::recursion || !obstacle.empty()) {
    // What is zero, a recording tells.
    set_patterns(is_whole_ || !obstacle.empty() ? std::vector<codegen::Pattern>()
                                                : tracer.trace(function).patterns);
    form_.one_state = form_.batch = Form::recursion;
    form_.reason = obstacle.empty() ? "asked for" : obstacle;
    Trial trial(shape_, 1);
    recurse(trial.in.data(), trial.out.data());  // what the templates refuse is known now
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
  if (!program_->notice().empty()) {
    // The interpreter gives the bits of machine code, the templates are faster.
    const bool by_template = has_recursion && !options.has_parameters();
    form_.one_state = form_.batch = by_template ? Form::recursion : Form::straight_line;
    form_.reason = program_->notice();
    return;
  }
  if (form != Form::straight_line && is_of_derivatives(function) && !options.has_parameters()) {
    measure_one();
  }
  if (form != Form::automatic) {
    form_.batch = form;
    form_.reason = "asked for";
  } else if (is_measured()) {
    form_.reason = "measured";
  } else {
    form_.reason = has_recursion ? "always faster" : "no recursion";
  }
}

/// Derivatives alone are so long that loops may be faster. With parameters the templates make a
/// robot for each state and are not asked.
bool FunctionRunner::is_measured() const {
  return asked_ == Form::automatic && is_of_derivatives(function_) && program_ &&
         program_->is_compiled() && (!options_.has_parameters() || program_->has_split());
}

void FunctionRunner::measure_one() {
  Trial trial(shape_, 1);
  form_.straight_line_ns = fastest_ns([&] { program_->run(trial.in.data(), trial.out.data()); });
  form_.recursion_ns = fastest_ns([&] { recurse(trial.in.data(), trial.out.data()); });
  const bool recursion = form_.recursion_ns < form_.straight_line_ns;
  form_.one_state = recursion ? Form::recursion : Form::straight_line;
}

Form FunctionRunner::batch_form() const {
  if (!is_measured()) return form_.batch;
  std::call_once(batch_measured_, [&] {
    constexpr std::int64_t kStates = 64;
    Trial trial(shape_, kStates);
    const auto lanes_ns = [&](bool split) {
      return fastest_ns([&] {
               program_->run_rows(trial.in.data(), trial.out.data(), kStates, {.split = split});
             }) /
             kStates;
    };
    double best = form_.batch_straight_line_ns = lanes_ns(false);
    const auto take = [&](double ns, Form form) {
      if (ns >= best) return;
      best = ns;
      form_.batch = form;
    };
    if (program_->has_split()) take(form_.batch_split_ns = lanes_ns(true), Form::split);
    if (options_.has_parameters()) return;
    form_.batch_recursion_ns =
        fastest_ns([&] { recurse_rows<double>(trial.in_rows, trial.out_rows, 0, kStates); }) /
        kStates;
    take(form_.batch_recursion_ns, Form::recursion);
  });
  return form_.batch;
}

/// Of lanes: the faster of their two forms, whatever the recursion takes.
bool FunctionRunner::splits() const {
  const Form form = batch_form();
  return form == Form::split || (form == Form::recursion && form_.batch_split_ns > 0 &&
                                 form_.batch_split_ns < form_.batch_straight_line_ns);
}

FormReport FunctionRunner::report() const {
  batch_form();
  return form_;
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

/// The templates compute whole matrices.
void FunctionRunner::evaluate(const Model<double>& model, EvaluateScratch<double>& scratch,
                              const double* const* in, double* const* out) const {
  if (is_whole_ || function_ == Function::crba_packed) {
    return codegen::evaluate<double>(model, function_, options_, scratch, in, out);
  }
  constexpr std::size_t kMost = 3;  // results of a function
  double* whole[kMost];
  scratch.whole.resize(kMost);
  for (std::size_t k = 0; k < patterns_.size(); ++k) {
    const Eigen::Index size = patterns_[k].rows * patterns_[k].cols;
    if (scratch.whole[k].size() < size) scratch.whole[k].resize(size);
    whole[k] = scratch.whole[k].data();
  }
  codegen::evaluate<double>(model, function_, options_, scratch, in, whole);
  for (std::size_t k = 0; k < patterns_.size(); ++k) patterns_[k].gather(whole[k], out[k]);
}

void FunctionRunner::one(const double* const* in, double* const* out) const {
  if (form_.one_state == Form::recursion) {
    recurse(in, out);
  } else {
    program_->run(in, out);
  }
}

template <typename T>
void FunctionRunner::recurse_rows(std::span<const ConstRows<T>> inputs,
                                  std::span<const Rows<T>> outputs, std::int64_t first,
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
  // Columns, or floats: each state copied out and back.
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
void FunctionRunner::rows(std::span<const ConstRows<T>> in, std::span<const Rows<T>> out,
                          const BatchOptions& options) const {
  // The templates compute in double; float lanes are of no concern to them where there are any.
  const bool recursion = !program_ || (sizeof(T) == 8 && batch_form() == Form::recursion);
  if (!recursion) return run_rows(*program_, in, out, options, splits());
  check_options(name(function_), options);
  const std::int64_t states =
      check_rows<T>(name(function_), shape_.inputs, shape_.outputs, in, out);
  for_ranges(
      states, 1, options.grain > 0 ? options.grain : 64, options.threads,
      [&](std::int64_t first, std::int64_t count) { recurse_rows<T>(in, out, first, count); });
}

template void FunctionRunner::rows(std::span<const ConstRows<double>>,
                                   std::span<const Rows<double>>, const BatchOptions&) const;
template void FunctionRunner::rows(std::span<const ConstRows<float>>, std::span<const Rows<float>>,
                                   const BatchOptions&) const;

}  // namespace limb
