#include "limb/batch/compiled.hpp"

#include <array>
#include <atomic>
#include <memory>

#include "limb/batch/function_runner.hpp"
#include "limb/codegen/x64/machine_code.hpp"

namespace limb {

using codegen::Program;

namespace {

struct In;
struct Out;

/// What a call for one state needs to check and run a function.
struct EntryPoint {
  std::size_t input_count = 0;  ///< 0: not compiled
  Eigen::Index input[3] = {}, result = 0;
  const codegen::MachineCode* code = nullptr;
};

}  // namespace

struct Compiled::Impl {
  std::array<EntryPoint, kFunctionCount> entry_points;
  Model<double> model;
  CompileOptions options;
  std::array<std::unique_ptr<const FunctionRunner>, kFunctionCount> runners;
  std::string why_not_compiled;

  const FunctionRunner& runner(DynamicsFunction function) const {
    const auto& p = runners[static_cast<std::size_t>(function)];
    if (!p) {
      throw Error(std::string(to_text(function)) + ": not among the functions that were compiled");
    }
    return *p;
  }

  template <std::size_t kInputs>
  void call(DynamicsFunction function, const In (&inputs)[kInputs], const Out& result) const;
};

Compiled::Compiled(const Model<double>& model, const std::vector<DynamicsFunction>& functions,
                   const CompileOptions& options)
    : impl_(std::make_unique<Impl>()) {
  static std::atomic<std::uint64_t> count{0};
  impl_->model = model;
  impl_->options = options;
  const std::uint64_t robot = ++count;
  const codegen::FunctionTracer tracer(impl_->model, options);
  for (const DynamicsFunction function : functions) {
    auto& runner = impl_->runners[static_cast<std::size_t>(function)];
    if (runner) continue;
    runner = std::make_unique<const FunctionRunner>(impl_->model, function, impl_->options, tracer,
                                                    options.program, options.strategy, robot);
    if (runner->program() != nullptr)
      impl_->why_not_compiled = runner->program()->why_not_compiled();
    EntryPoint& entry_point = impl_->entry_points[static_cast<std::size_t>(function)];
    const codegen::Signature& shape = runner->shape();
    entry_point.input_count = shape.inputs.size();
    for (std::size_t k = 0; k < std::min<std::size_t>(3, entry_point.input_count); ++k) {
      entry_point.input[k] = shape.inputs[k].size();
    }
    entry_point.result = shape.outputs[0].size();
    if (!runner->uses_recursion()) entry_point.code = runner->program()->one_state();
  }
}

Compiled::~Compiled() = default;
Compiled::Compiled(Compiled&&) noexcept = default;
Compiled& Compiled::operator=(Compiled&&) noexcept = default;

bool Compiled::has(DynamicsFunction function) const {
  return impl_->runners[static_cast<std::size_t>(function)] != nullptr;
}
bool Compiled::has_program(DynamicsFunction function) const {
  return impl_->runner(function).program() != nullptr;
}
const Program& Compiled::program(DynamicsFunction function) const {
  const Program* program = impl_->runner(function).program();
  if (program == nullptr) {
    throw Error(std::string(to_text(function)) + ": not compiled: runs the recursive template");
  }
  return *program;
}
StrategyReport Compiled::strategy(DynamicsFunction function) const {
  return impl_->runner(function).report();
}
const codegen::Signature& Compiled::shape(DynamicsFunction function) const {
  return impl_->runner(function).shape();
}
const codegen::Pattern& Compiled::pattern(DynamicsFunction function, int result) const {
  const auto& patterns = impl_->runner(function).patterns();
  if (result < 0 || static_cast<std::size_t>(result) >= patterns.size()) {
    fail(to_text(function), "result", std::to_string(result),
         "0 to " + std::to_string(patterns.size() - 1));
  }
  return patterns[static_cast<std::size_t>(result)];
}
const std::string& Compiled::why_not_compiled() const {
  return impl_->why_not_compiled;
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

/// Throws the error for wrong arguments.
[[noreturn, gnu::cold, gnu::noinline]] void throw_argument_error(const FunctionRunner& p,
                                                                 std::span<const In> inputs,
                                                                 const Out& result) {
  const std::string call = to_text(p.function());
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

/// @throws Error unless the matrix is contiguous and has the function's shape.
Out matrix_result(const FunctionRunner& p, MatrixOut<double>& M, std::size_t result = 0) {
  const codegen::Array& array = p.shape().outputs[result];
  const char* call = to_text(p.function());
  check_shape(call, array.name.c_str(), M.rows(), M.cols(), array.rows, array.cols);
  if (M.cols() > 1 && M.outerStride() != M.rows()) {
    throw Error(std::string(call) + ": " + array.name + " has gaps between its columns");
  }
  return {M.data(), M.size()};
}

}  // namespace

/// One state. Only a few comparisons here; throw_argument_error finds what is wrong.
template <std::size_t kInputs>
void Compiled::Impl::call(DynamicsFunction function, const In (&inputs)[kInputs],
                          const Out& result) const {
  const EntryPoint& entry_point = entry_points[static_cast<std::size_t>(function)];
  bool good = entry_point.input_count == kInputs && result.size == entry_point.result;
  const double* from[kInputs];
  for (std::size_t k = 0; k < kInputs; ++k) {
    const In& x = inputs[k];
    good = good && x.size == entry_point.input[k] &&
           (x.data + x.size <= result.data || result.data + result.size <= x.data);
    from[k] = x.data;
  }
  if (!good) throw_argument_error(runner(function), inputs, result);
  double* const to[] = {result.data};
  if (entry_point.code != nullptr && entry_point.code->run_one(from, to)) return;
  runner(function).run_one(from, to);
}

void Compiled::inverse_dynamics(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& a,
                                VectorOut<double> tau) const {
  impl_->call(DynamicsFunction::rnea, {in(q), in(v), in(a)}, out(tau));
}

void Compiled::bias(VectorIn<double>& q, VectorIn<double>& v, VectorOut<double> tau) const {
  impl_->call(DynamicsFunction::bias, {in(q), in(v)}, out(tau));
}

void Compiled::gravity(VectorIn<double>& q, VectorOut<double> tau) const {
  impl_->call(DynamicsFunction::gravity, {in(q)}, out(tau));
}

void Compiled::mass_matrix(VectorIn<double>& q, MatrixOut<double> M) const {
  impl_->call(DynamicsFunction::crba, {in(q)},
              matrix_result(impl_->runner(DynamicsFunction::crba), M));
}

void Compiled::crba_packed(VectorIn<double>& q, VectorOut<double> M) const {
  impl_->call(DynamicsFunction::crba_packed, {in(q)}, out(M));
}

void Compiled::forward_dynamics(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau,
                                VectorOut<double> a) const {
  impl_->call(DynamicsFunction::aba, {in(q), in(v), in(tau)}, out(a));
}

void Compiled::mass_inverse(VectorIn<double>& q, MatrixOut<double> M_inverse) const {
  impl_->call(DynamicsFunction::mass_inverse, {in(q)},
              matrix_result(impl_->runner(DynamicsFunction::mass_inverse), M_inverse));
}

void Compiled::frame_jacobians(VectorIn<double>& q, MatrixOut<double> J) const {
  impl_->call(DynamicsFunction::frame_jacobians, {in(q)},
              matrix_result(impl_->runner(DynamicsFunction::frame_jacobians), J));
}

namespace {

std::span<const double> span_of(VectorIn<double>& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}
std::span<double> span_of(const Out& x) {
  return {x.data, static_cast<std::size_t>(x.size)};
}

}  // namespace

void Compiled::frame_poses(VectorIn<double>& q, MatrixOut<double> R, MatrixOut<double> p) const {
  constexpr auto kFunction = DynamicsFunction::frame_poses;
  const FunctionRunner& runner = impl_->runner(kFunction);
  const std::span<const double> from[] = {span_of(q)};
  const std::span<double> to[] = {span_of(matrix_result(runner, R)),
                                  span_of(matrix_result(runner, p, 1))};
  run(kFunction, from, to);
}

void Compiled::centroidal(VectorIn<double>& q, MatrixOut<double> A_G, VectorOut<double> com) const {
  constexpr auto kFunction = DynamicsFunction::centroidal;
  const std::span<const double> from[] = {span_of(q)};
  const std::span<double> to[] = {span_of(matrix_result(impl_->runner(kFunction), A_G)),
                                  span_of(out(com))};
  run(kFunction, from, to);
}

void Compiled::operational_space(VectorIn<double>& q, MatrixOut<double> Lambda,
                                 MatrixOut<double> J_bar) const {
  constexpr auto kFunction = DynamicsFunction::operational_space;
  const FunctionRunner& runner = impl_->runner(kFunction);
  const std::span<const double> from[] = {span_of(q)};
  const std::span<double> to[] = {span_of(matrix_result(runner, Lambda)),
                                  span_of(matrix_result(runner, J_bar, 1))};
  run(kFunction, from, to);
}

void Compiled::inverse_dynamics_derivatives(VectorIn<double>& q, VectorIn<double>& v,
                                            VectorIn<double>& a, MatrixOut<double> dtau_dq,
                                            MatrixOut<double> dtau_dv) const {
  constexpr auto kFunction = DynamicsFunction::rnea_derivatives;
  const FunctionRunner& runner = impl_->runner(kFunction);
  const std::span<const double> from[] = {span_of(q), span_of(v), span_of(a)};
  const std::span<double> to[] = {span_of(matrix_result(runner, dtau_dq)),
                                  span_of(matrix_result(runner, dtau_dv, 1))};
  run(kFunction, from, to);
}

void Compiled::forward_dynamics_derivatives(VectorIn<double>& q, VectorIn<double>& v,
                                            VectorIn<double>& tau, MatrixOut<double> da_dq,
                                            MatrixOut<double> da_dv,
                                            MatrixOut<double> da_dtau) const {
  constexpr auto kFunction = DynamicsFunction::aba_derivatives;
  const FunctionRunner& runner = impl_->runner(kFunction);
  const std::span<const double> from[] = {span_of(q), span_of(v), span_of(tau)};
  const std::span<double> to[] = {span_of(matrix_result(runner, da_dq)),
                                  span_of(matrix_result(runner, da_dv, 1)),
                                  span_of(matrix_result(runner, da_dtau, 2))};
  run(kFunction, from, to);
}

namespace {

/// Whether arrays match the signature, and no result overlaps another array.
bool arrays_match(const codegen::Signature& shape, std::span<const std::span<const double>> inputs,
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

/// Throws the error for wrong arrays.
[[noreturn, gnu::cold, gnu::noinline]] void throw_array_error(
    const FunctionRunner& runner, std::span<const std::span<const double>> inputs,
    std::span<const std::span<double>> outputs) {
  std::vector<ConstStateRows<double>> in;
  std::vector<StateRows<double>> out;
  for (const auto& x : inputs) in.push_back({x.data(), 1, static_cast<std::int64_t>(x.size())});
  for (const auto& x : outputs) out.push_back({x.data(), 1, static_cast<std::int64_t>(x.size())});
  const std::string call = to_text(runner.function());
  check_rows<double>(call, runner.shape().inputs, runner.shape().outputs, in, out);
  throw Error(call + ": wrong arrays");
}

}  // namespace

void Compiled::run(DynamicsFunction function, std::span<const std::span<const double>> inputs,
                   std::span<const std::span<double>> outputs) const {
  constexpr std::size_t kMaxArrays = 8;  // of any function
  const FunctionRunner& runner = impl_->runner(function);
  if (!arrays_match(runner.shape(), inputs, outputs)) throw_array_error(runner, inputs, outputs);
  const double* in[kMaxArrays];
  double* out[kMaxArrays];
  for (std::size_t k = 0; k < inputs.size(); ++k) in[k] = inputs[k].data();
  for (std::size_t k = 0; k < outputs.size(); ++k) out[k] = outputs[k].data();
  runner.run_one(in, out);
}

void Compiled::run(DynamicsFunction function, std::span<const ConstStateRows<double>> inputs,
                   std::span<const StateRows<double>> outputs, const BatchOptions& options) const {
  impl_->runner(function).run_many(inputs, outputs, options);
}

void Compiled::run(DynamicsFunction function, std::span<const ConstStateRows<float>> inputs,
                   std::span<const StateRows<float>> outputs, const BatchOptions& options) const {
  impl_->runner(function).run_many(inputs, outputs, options);
}

}  // namespace limb
