#include "limb/batch/compiled.hpp"

#include <array>
#include <atomic>
#include <memory>

#include "limb/batch/function_runner.hpp"
#include "limb/codegen/assemble.hpp"

namespace limb {

using codegen::Program;

namespace {

struct In;
struct Out;

/// What a call for one state needs to know of a function, without a look into its program.
struct Door {
  std::size_t input_count = 0;  ///< 0: not compiled
  Eigen::Index input[3] = {}, result = 0;
  const codegen::MachineCode* code = nullptr;
};

}  // namespace

struct Compiled::Parts {
  std::array<Door, kFunctionCount> doors;
  Model<double> model;
  CompileOptions options;
  std::array<std::unique_ptr<const FunctionRunner>, kFunctionCount> runners;
  std::string notice;

  const FunctionRunner& runner(Function function) const {
    const auto& p = runners[static_cast<std::size_t>(function)];
    if (!p) {
      throw Error(std::string(name(function)) + ": not among the functions that were compiled");
    }
    return *p;
  }

  template <std::size_t kInputs>
  void call(Function function, const In (&inputs)[kInputs], const Out& result) const;
};

Compiled::Compiled(const Model<double>& model, const std::vector<Function>& functions,
                   const CompileOptions& options)
    : parts_(std::make_unique<Parts>()) {
  static std::atomic<std::uint64_t> count{0};
  parts_->model = model;
  parts_->options = options;
  const std::uint64_t robot = ++count;
  const codegen::FunctionTracer tracer(parts_->model, options);
  for (const Function function : functions) {
    auto& runner = parts_->runners[static_cast<std::size_t>(function)];
    if (runner) continue;
    runner = std::make_unique<const FunctionRunner>(parts_->model, function, parts_->options,
                                                    tracer, options.program, options.form, robot);
    if (runner->program() != nullptr) parts_->notice = runner->program()->notice();
    Door& door = parts_->doors[static_cast<std::size_t>(function)];
    const codegen::Signature& shape = runner->shape();
    door.input_count = shape.inputs.size();
    for (std::size_t k = 0; k < std::min<std::size_t>(3, door.input_count); ++k) {
      door.input[k] = shape.inputs[k].size();
    }
    door.result = shape.outputs[0].size();
    if (!runner->recurses()) door.code = runner->program()->one_state();
  }
}

Compiled::~Compiled() = default;
Compiled::Compiled(Compiled&&) noexcept = default;
Compiled& Compiled::operator=(Compiled&&) noexcept = default;

bool Compiled::has(Function function) const {
  return parts_->runners[static_cast<std::size_t>(function)] != nullptr;
}
bool Compiled::has_program(Function function) const {
  return parts_->runner(function).program() != nullptr;
}
const Program& Compiled::program(Function function) const {
  const Program* program = parts_->runner(function).program();
  if (program == nullptr) {
    throw Error(std::string(name(function)) + ": has no program, its form is the recursion");
  }
  return *program;
}
FormReport Compiled::form(Function function) const {
  return parts_->runner(function).report();
}
const codegen::Signature& Compiled::shape(Function function) const {
  return parts_->runner(function).shape();
}
const codegen::Pattern& Compiled::pattern(Function function, int result) const {
  const auto& patterns = parts_->runner(function).patterns();
  if (result < 0 || static_cast<std::size_t>(result) >= patterns.size()) {
    fail(name(function), "result", std::to_string(result),
         "0 to " + std::to_string(patterns.size() - 1));
  }
  return patterns[static_cast<std::size_t>(result)];
}
const std::string& Compiled::notice() const {
  return parts_->notice;
}

namespace {

struct In {
  const double* data;
  Eigen::Index size;
};
struct Out {
  double* data;
  Eigen::Index size;
};

In in(VectorIn<double>& x) {
  return {x.data(), x.size()};
}
Out out(VectorOut<double>& x) {
  return {x.data(), x.size()};
}

/// What is wrong with the arguments, at length.
[[noreturn, gnu::cold, gnu::noinline]] void explain(const FunctionRunner& p,
                                                    std::span<const In> inputs, const Out& result) {
  const std::string call = name(p.function());
  const codegen::Signature& shape = p.shape();
  if (shape.inputs.size() != inputs.size()) {
    throw Error(call + ": compiled with parameters, call run() with all arguments");
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const codegen::Array& array = shape.inputs[k];
    if (inputs[k].size != array.size()) {
      check_size(call, array.name, inputs[k].size, array.size(), kSizeHint);
    }
  }
  const codegen::Array& array = shape.outputs[0];
  check_size(call, array.name, result.size, array.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (result.data < inputs[k].data + inputs[k].size &&
        inputs[k].data < result.data + result.size) {
      throw Error(call + ": " + array.name + " overlaps " + shape.inputs[k].name);
    }
  }
  throw Error(call + ": wrong arguments");
}

/// @throws Error unless the matrix is in one piece and of the function's shape.
Out square(const FunctionRunner& p, MatrixOut<double>& M) {
  const codegen::Array& array = p.shape().outputs[0];
  const char* call = name(p.function());
  check_shape(call, array.name.c_str(), M.rows(), M.cols(), array.rows, array.cols);
  if (M.cols() > 1 && M.outerStride() != M.rows()) {
    throw Error(std::string(call) + ": " + array.name + " has gaps between its columns");
  }
  return {M.data(), M.size()};
}

}  // namespace

/// One state. The checks are a few comparisons; what they found is said elsewhere.
template <std::size_t kInputs>
void Compiled::Parts::call(Function function, const In (&inputs)[kInputs],
                           const Out& result) const {
  const Door& door = doors[static_cast<std::size_t>(function)];
  bool good = door.input_count == kInputs && result.size == door.result;
  const double* from[kInputs];
  for (std::size_t k = 0; k < kInputs; ++k) {
    const In& x = inputs[k];
    good = good && x.size == door.input[k] &&
           (x.data + x.size <= result.data || result.data + result.size <= x.data);
    from[k] = x.data;
  }
  if (!good) explain(runner(function), inputs, result);
  double* const to[] = {result.data};
  if (door.code != nullptr && door.code->run_one(from, to)) return;
  runner(function).one(from, to);
}

void Compiled::rnea(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& a,
                    VectorOut<double> tau) const {
  parts_->call(Function::rnea, {in(q), in(v), in(a)}, out(tau));
}

void Compiled::bias(VectorIn<double>& q, VectorIn<double>& v, VectorOut<double> tau) const {
  parts_->call(Function::bias, {in(q), in(v)}, out(tau));
}

void Compiled::gravity(VectorIn<double>& q, VectorOut<double> tau) const {
  parts_->call(Function::gravity, {in(q)}, out(tau));
}

void Compiled::crba(VectorIn<double>& q, MatrixOut<double> M) const {
  parts_->call(Function::crba, {in(q)}, square(parts_->runner(Function::crba), M));
}

void Compiled::crba_packed(VectorIn<double>& q, VectorOut<double> M) const {
  parts_->call(Function::crba_packed, {in(q)}, out(M));
}

void Compiled::aba(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau,
                   VectorOut<double> a) const {
  parts_->call(Function::aba, {in(q), in(v), in(tau)}, out(a));
}

void Compiled::mass_inverse(VectorIn<double>& q, MatrixOut<double> M_inverse) const {
  parts_->call(Function::mass_inverse, {in(q)},
               square(parts_->runner(Function::mass_inverse), M_inverse));
}

namespace {

/// Whether arrays fit a function, and no result overlaps another array.
bool fit(const codegen::Signature& shape, std::span<const std::span<const double>> inputs,
         std::span<const std::span<double>> outputs) {
  if (inputs.size() != shape.inputs.size() || outputs.size() != shape.outputs.size()) return false;
  const auto overlap = [](const auto& x, const auto& y) {
    return x.data() < y.data() + y.size() && y.data() < x.data() + x.size();
  };
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].size() != static_cast<std::size_t>(shape.inputs[k].size())) return false;
    for (const auto& out : outputs) {
      if (overlap(inputs[k], out)) return false;
    }
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].size() != static_cast<std::size_t>(shape.outputs[k].size())) return false;
    for (std::size_t j = 0; j < k; ++j) {
      if (overlap(outputs[k], outputs[j])) return false;
    }
  }
  return true;
}

/// What is wrong with the arrays, at length.
[[noreturn, gnu::cold, gnu::noinline]] void explain_arrays(
    const FunctionRunner& runner, std::span<const std::span<const double>> inputs,
    std::span<const std::span<double>> outputs) {
  std::vector<ConstRows<double>> in;
  std::vector<Rows<double>> out;
  for (const auto& x : inputs) in.push_back({x.data(), 1, static_cast<std::int64_t>(x.size())});
  for (const auto& x : outputs) out.push_back({x.data(), 1, static_cast<std::int64_t>(x.size())});
  const std::string call = name(runner.function());
  check_rows<double>(call, runner.shape().inputs, runner.shape().outputs, in, out);
  throw Error(call + ": wrong arrays");
}

}  // namespace

void Compiled::run(Function function, std::span<const std::span<const double>> inputs,
                   std::span<const std::span<double>> outputs) const {
  constexpr std::size_t kMost = 8;  // no function has more arrays
  const FunctionRunner& runner = parts_->runner(function);
  if (!fit(runner.shape(), inputs, outputs)) explain_arrays(runner, inputs, outputs);
  const double* in[kMost];
  double* out[kMost];
  for (std::size_t k = 0; k < inputs.size(); ++k) in[k] = inputs[k].data();
  for (std::size_t k = 0; k < outputs.size(); ++k) out[k] = outputs[k].data();
  runner.one(in, out);
}

void Compiled::run(Function function, std::span<const ConstRows<double>> inputs,
                   std::span<const Rows<double>> outputs, const BatchOptions& options) const {
  parts_->runner(function).rows(inputs, outputs, options);
}

void Compiled::run(Function function, std::span<const ConstRows<float>> inputs,
                   std::span<const Rows<float>> outputs, const BatchOptions& options) const {
  parts_->runner(function).rows(inputs, outputs, options);
}

}  // namespace limb
