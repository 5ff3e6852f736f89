#include "limb/batch/compiled.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <unordered_map>

#include "limb/batch/run_rows.hpp"
#include "limb/codegen/assemble.hpp"
#include "limb/codegen/evaluate_impl.hpp"

namespace limb {

using codegen::EvaluateScratch;
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
  std::array<std::optional<Program>, kFunctionCount> programs;
  std::string notice;
  bool by_template = false;  ///< no machine code, and the templates know all arguments
  std::uint64_t id = 0;

  const Program& program(Function function) const {
    const auto& p = programs[static_cast<std::size_t>(function)];
    if (!p) {
      throw Error(std::string(name(function)) + ": not among the functions that were compiled");
    }
    return *p;
  }

  /// The templates' room for this robot on this thread.
  EvaluateScratch<double>& scratch() const {
    constexpr std::size_t kMost = 16;  // robots that a thread works on in turns
    thread_local std::unordered_map<std::uint64_t, std::unique_ptr<EvaluateScratch<double>>> rooms;
    auto& room = rooms[id];
    if (!room) {
      if (rooms.size() > kMost) {
        rooms.clear();
        return *(rooms[id] = std::make_unique<EvaluateScratch<double>>(model));
      }
      room = std::make_unique<EvaluateScratch<double>>(model);
    }
    return *room;
  }

  void run(Function function, const Program& p, const double* const* in, double* const* out) const {
    if (by_template && codegen::is_by_template(function)) {
      codegen::evaluate<double>(model, function, options, scratch(), in, out);
    } else {
      p.run(in, out);
    }
  }

  /// State i of arrays by columns, copied out and back.
  void run_column(Function function, const Program& p, std::span<const ConstRows<double>> inputs,
                  std::span<const Rows<double>> outputs, std::int64_t i) const {
    std::vector<std::vector<double>> from, to;
    std::vector<const double*> in;
    std::vector<double*> out;
    for (const auto& x : inputs) {
      from.emplace_back();
      for (std::int64_t j = 0; j < x.cols; ++j) from.back().push_back(x.data[j * x.rows + i]);
    }
    for (const auto& x : outputs) to.emplace_back(static_cast<std::size_t>(x.cols));
    for (const auto& x : from) in.push_back(x.data());
    for (auto& x : to) out.push_back(x.data());
    run(function, p, in.data(), out.data());
    for (std::size_t k = 0; k < to.size(); ++k) {
      const Rows<double>& x = outputs[k];
      for (std::int64_t j = 0; j < x.cols; ++j) {
        x.data[j * x.rows + i] = to[k][static_cast<std::size_t>(j)];
      }
    }
  }

  template <std::size_t kInputs>
  void call(Function function, const In (&inputs)[kInputs], const Out& result) const;

  template <typename T>
  void run_rows(Function function, std::span<const ConstRows<T>> inputs,
                std::span<const Rows<T>> outputs, const BatchOptions& batch) const;
};

template <typename T>
void Compiled::Parts::run_rows(Function function, std::span<const ConstRows<T>> inputs,
                               std::span<const Rows<T>> outputs, const BatchOptions& batch) const {
  constexpr codegen::Precision kPrecision =
      sizeof(T) == 8 ? codegen::Precision::f64 : codegen::Precision::f32;
  const Program& p = program(function);
  if (batch.threads < 0)
    fail(name(function), "threads", std::to_string(batch.threads), "0 or more");
  if (batch.grain < 0) fail(name(function), "grain", std::to_string(batch.grain), "0 or more");
  const std::int64_t states = check_rows<T>(p, inputs, outputs);
  const codegen::Layout layout = inputs.empty() ? codegen::Layout::rows : inputs[0].layout;
  p.prepare(kPrecision, layout);
  const bool by_rows = layout == codegen::Layout::rows;
  const std::int64_t grain = batch.grain > 0 ? batch.grain : 1024;
  const auto part = [&](std::int64_t first, std::int64_t count) {
    std::vector<const T*> in;
    std::vector<T*> out;
    const auto point = [&](std::int64_t row) {
      in.clear();
      out.clear();
      for (const auto& x : inputs) in.push_back(x.data + row * x.cols);
      for (const auto& x : outputs) out.push_back(x.data + row * x.cols);
    };
    if constexpr (sizeof(T) == 8) {
      if (by_template) {
        for (std::int64_t i = first; i < first + count; ++i) {
          if (by_rows) {
            point(i);
            run(function, p, in.data(), out.data());
          } else {
            run_column(function, p, inputs, outputs, i);
          }
        }
        return;
      }
    }
    if (!by_rows) {
      point(0);
      return p.run_columns(in.data(), out.data(), states, first, count);
    }
    point(first);
    p.run_rows(in.data(), out.data(), count);
  };
  for_ranges(states, p.lanes(kPrecision), grain, batch.threads, part);
}

Compiled::Compiled(const Model<double>& model, const std::vector<Function>& functions,
                   const CompileOptions& options)
    : parts_(std::make_unique<Parts>()) {
  static std::atomic<std::uint64_t> count{0};
  parts_->model = model;
  parts_->options = options;
  parts_->id = ++count;
  const codegen::FunctionTracer tracer(parts_->model, options);
  for (const Function function : functions) {
    auto& program = parts_->programs[static_cast<std::size_t>(function)];
    if (program) continue;
    program.emplace(tracer.trace(function), options.program);
    parts_->notice = program->notice();
    Door& door = parts_->doors[static_cast<std::size_t>(function)];
    door.input_count = program->inputs().size();
    for (std::size_t k = 0; k < std::min<std::size_t>(3, door.input_count); ++k) {
      door.input[k] = program->inputs()[k].size();
    }
    door.result = program->outputs()[0].size();
    door.code = program->one_state();
  }
  parts_->by_template = !parts_->notice.empty() && options.added_inertias.empty();
}

Compiled::~Compiled() = default;
Compiled::Compiled(Compiled&&) noexcept = default;
Compiled& Compiled::operator=(Compiled&&) noexcept = default;

bool Compiled::has(Function function) const {
  return parts_->programs[static_cast<std::size_t>(function)].has_value();
}
const Program& Compiled::program(Function function) const {
  return parts_->program(function);
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
[[noreturn, gnu::cold, gnu::noinline]] void explain(const Program& p, std::span<const In> inputs,
                                                    const Out& result) {
  if (p.inputs().size() != inputs.size()) {
    throw Error(p.name() + ": compiled with added inertias, call run() with all arguments");
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const codegen::Array& array = p.inputs()[k];
    if (inputs[k].size != array.size()) {
      check_size(p.name(), array.name, inputs[k].size, array.size(), kSizeHint);
    }
  }
  const codegen::Array& array = p.outputs()[0];
  check_size(p.name(), array.name, result.size, array.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (result.data < inputs[k].data + inputs[k].size &&
        inputs[k].data < result.data + result.size) {
      throw Error(p.name() + ": " + array.name + " overlaps " + p.inputs()[k].name);
    }
  }
  throw Error(p.name() + ": wrong arguments");
}

/// @throws Error unless the matrix is in one piece and of the program's shape.
Out square(const Program& p, MatrixOut<double>& M) {
  const codegen::Array& array = p.outputs()[0];
  check_shape(p.name().c_str(), array.name.c_str(), M.rows(), M.cols(), array.rows, array.cols);
  if (M.cols() > 1 && M.outerStride() != M.rows()) {
    throw Error(p.name() + ": " + array.name + " has gaps between its columns");
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
  if (!good) explain(program(function), inputs, result);
  double* const to[] = {result.data};
  if (door.code != nullptr && door.code->run_one(from, to)) return;
  run(function, program(function), from, to);
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
  parts_->call(Function::crba, {in(q)}, square(program(Function::crba), M));
}

void Compiled::aba(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau,
                   VectorOut<double> a) const {
  parts_->call(Function::aba, {in(q), in(v), in(tau)}, out(a));
}

void Compiled::mass_inverse(VectorIn<double>& q, MatrixOut<double> M_inverse) const {
  parts_->call(Function::mass_inverse, {in(q)}, square(program(Function::mass_inverse), M_inverse));
}

void Compiled::run(Function function, std::span<const std::span<const double>> inputs,
                   std::span<const std::span<double>> outputs) const {
  const Program& p = program(function);
  std::array<ConstRows<double>, 8> in_rows;
  std::array<Rows<double>, 8> out_rows;
  std::array<const double*, 8> in_data{};
  std::array<double*, 8> out_data{};
  const std::size_t ins = std::min<std::size_t>(8, inputs.size());
  const std::size_t outs = std::min<std::size_t>(8, outputs.size());
  for (std::size_t k = 0; k < ins; ++k) {
    in_rows[k] = {inputs[k].data(), 1, static_cast<std::int64_t>(inputs[k].size())};
    in_data[k] = inputs[k].data();
  }
  for (std::size_t k = 0; k < outs; ++k) {
    out_rows[k] = {outputs[k].data(), 1, static_cast<std::int64_t>(outputs[k].size())};
    out_data[k] = outputs[k].data();
  }
  check_rows<double>(p, {in_rows.data(), ins}, {out_rows.data(), outs});
  parts_->run(function, p, in_data.data(), out_data.data());
}

void Compiled::run(Function function, std::span<const ConstRows<double>> inputs,
                   std::span<const Rows<double>> outputs, const BatchOptions& options) const {
  parts_->run_rows(function, inputs, outputs, options);
}

void Compiled::run(Function function, std::span<const ConstRows<float>> inputs,
                   std::span<const Rows<float>> outputs, const BatchOptions& options) const {
  parts_->run_rows(function, inputs, outputs, options);
}

}  // namespace limb
