#include "limb/codegen/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "limb/base/error.hpp"
#include "limb/base/without_call.hpp"
#include "limb/codegen/lower/interpreter.hpp"
#include "limb/codegen/lower/lower.hpp"
#include "limb/codegen/lower/schedule.hpp"
#include "limb/codegen/states.hpp"
#include "limb/codegen/x64/machine_code.hpp"

namespace limb::codegen {
namespace {

std::string find_obstacle() {
  const char* no_jit = std::getenv("LIMB_NO_JIT");
  if (no_jit != nullptr && *no_jit != '\0' && std::string(no_jit) != "0") {
    return "LIMB_NO_JIT is set";
  }
  if (detect_isa() == Isa::none) return "this processor has no AVX2 with FMA";
  try {
    ExecutableMemory trial(1);
    trial.data()[0] = 0xc3;
    trial.seal(1);
  } catch (const Error& e) {
    return without_call(e.what());
  }
  return "";
}

// Windows as measured, see docs/adr/0008-execution-strategies.md. An instruction on lanes occupies
// its unit for two cycles, so one product starts per cycle.
constexpr ScheduleOptions kOneStateSchedule = {.window = 32, .per_cycle = 2};
constexpr ScheduleOptions kLanesSchedule = {.window = 48, .per_cycle = 1};

/// Code that exceeds the instruction caches waits for instructions, not for operands.
Code scheduled(Code code, const ScheduleOptions& options) {
  constexpr std::size_t kMaxInstructions = 12000;
  return code.instructions.size() > kMaxInstructions ? code : schedule(code, options);
}

/// Made at the first use.
template <typename T>
struct Lazy {
  std::once_flag once;
  std::optional<T> value;
};

/// The machine code and the interpreter of one precision.
template <typename T>
struct Engine {
  Lazy<Interpreter<T>> interpreter;
  Lazy<MachineCode> rows, columns, split_rows, split_columns;
};

}  // namespace

const std::string& why_no_machine_code() {
  static const std::string obstacle = find_obstacle();
  return obstacle;
}

struct Program::Impl {
  Trace trace;
  Lowerer lowerer;
  Isa isa = Isa::none;
  std::string why_not_compiled;
  std::optional<MachineCode> one;
  Interpreter<double> interpreter;
  mutable Engine<double> f64;
  mutable Engine<float> f32;
  std::function<Split()> make_split;
  mutable Lazy<Split> split;

  explicit Impl(Trace t)
      : trace(std::move(t)), lowerer(trace), interpreter(lowerer.lower(calls())) {}

  static LowerOptions calls(Precision precision = Precision::f64) {
    return {.precision = precision, .inline_sincos = false};
  }

  template <typename T>
  Engine<T>& engine() const {
    if constexpr (sizeof(T) == 8) {
      return f64;
    } else {
      return f32;
    }
  }

  const Split& split_trace() const {
    if (!make_split) throw Error(trace.name + ": has no split code");
    std::call_once(split.once, [&] { split.value.emplace(make_split()); });
    return *split.value;
  }

  /// Null without machine code.
  template <typename T>
  const MachineCode* lanes_code(Layout layout, bool by_split) const {
    if (!one) return nullptr;
    constexpr Precision kPrecision = sizeof(T) == 8 ? Precision::f64 : Precision::f32;
    const Target target{isa, kPrecision, Shape::lanes, layout};
    Engine<T>& e = engine<T>();
    const bool by_rows = layout == Layout::rows;
    const auto get = [&](Lazy<MachineCode>& lazy, const Split* by) {
      std::call_once(lazy.once, [&] {
        const LowerOptions how{.precision = kPrecision};
        Code code = by != nullptr ? lower(by->trace, how) : lowerer.lower(how);
        lazy.value.emplace(scheduled(std::move(code), kLanesSchedule), target, by);
      });
      return &*lazy.value;
    };
    if (!by_split) return get(by_rows ? e.rows : e.columns, nullptr);
    return get(by_rows ? e.split_rows : e.split_columns, &split_trace());
  }

  template <typename T>
  void interpret(const T* const* in, T* const* out) const {
    if constexpr (sizeof(T) == 8) {
      interpreter.run(in, out);
    } else {
      Lazy<Interpreter<T>>& lazy = f32.interpreter;
      std::call_once(lazy.once, [&] { lazy.value.emplace(lowerer.lower(calls(Precision::f32))); });
      lazy.value->run(in, out);
    }
  }

  /// One state.
  template <typename T>
  void run_one(const T* const* in, T* const* out) const {
    if constexpr (sizeof(T) == 8) {
      if (one && one->run_one(in, out)) return;
    }
    interpret(in, out);
  }

  /// States [first, first + count) of arrays with `states` states.
  template <typename T>
  void run_many(const T* const* inputs, T* const* outputs, Layout layout, std::int64_t states,
                std::int64_t first, std::int64_t count, const LanesOptions& options) const;
};

template <typename T>
void Program::Impl::run_many(const T* const* inputs, T* const* outputs, Layout layout,
                             std::int64_t states, std::int64_t first, std::int64_t count,
                             const LanesOptions& options) const {
  const MachineCode* code = lanes_code<T>(layout, options.split);
  const std::int64_t lanes = code != nullptr ? code->target().lanes() : 0;
  States<T> s(trace, inputs, outputs, layout, states);
  const auto one_by_one = [&](const auto& run) {
    for (std::int64_t i = first; i < first + count; ++i) s.run_one(i, run);
  };
  const auto by_interpreter = [&](const T* const* in, T* const* out) { interpret(in, out); };
  if (lanes == 0) return one_by_one(by_interpreter);
  const auto run_blocks = [&](std::int64_t number, std::int64_t stride) {
    return [code, number, stride, &options](const T* const* in, T* const* out) {
      return code->run_blocks(reinterpret_cast<const void* const*>(in),
                              reinterpret_cast<void* const*>(out), number, stride, options.stream);
    };
  };
  if (count < lanes) {
    // A block takes as long as two or three single states.
    if (sizeof(T) == 8 && count * 4 <= lanes) {
      return one_by_one([&](const T* const* in, T* const* out) { run_one(in, out); });
    }
    const auto run = run_blocks(1, lanes);
    const auto block = [&](const T* const* in, T* const* out) { return run(in, out) == 1; };
    if (count > 0 && !s.run_block(first, count, lanes, block)) one_by_one(by_interpreter);
    return;
  }
  // Whole blocks; then one that ends with the last state and repeats some of the others.
  const auto blocks = [&](std::int64_t begin, std::int64_t number) {
    while (number > 0) {
      const std::int64_t done = s.run_at(begin, run_blocks(number, states));
      if (done == number) return;
      // Angles out of the range of the polynomials.
      for (std::int64_t k = 0; k < lanes; ++k) s.run_one(begin + done * lanes + k, by_interpreter);
      begin += (done + 1) * lanes;
      number -= done + 1;
    }
  };
  blocks(first, count / lanes);
  if (count % lanes != 0) blocks(first + count - lanes, 1);
}

Program::Program(Trace trace, const ProgramOptions& options)
    : Program(std::move(trace), options, {}) {}

Program::Program(Trace trace, const ProgramOptions& options, std::function<Split()> make)
    : impl_(std::make_unique<Impl>(std::move(trace))) {
  Impl& p = *impl_;
  p.make_split = std::move(make);
  p.why_not_compiled = why_no_machine_code();
  if (p.why_not_compiled.empty() && options.interpret)
    p.why_not_compiled = "interpretation requested";
  if (p.why_not_compiled.empty() && options.max_isa == Isa::none)
    p.why_not_compiled = "interpretation requested";
  if (!p.why_not_compiled.empty()) return;
  p.isa = std::min(detect_isa(), options.max_isa);
  p.one.emplace(scheduled(p.lowerer.lower({.by_fours = true}), kOneStateSchedule),
                Target{p.isa, Precision::f64, Shape::one});
}

Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

const std::string& Program::name() const {
  return impl_->trace.name;
}
const std::vector<Array>& Program::inputs() const {
  return impl_->trace.inputs;
}
const std::vector<Array>& Program::outputs() const {
  return impl_->trace.outputs;
}
const Trace& Program::trace() const {
  return impl_->trace;
}

void Program::run(const double* const* inputs, double* const* outputs) const {
  if (impl_->one && impl_->one->run_one(inputs, outputs)) return;
  impl_->interpreter.run(inputs, outputs);
}

void Program::run_rows(const double* const* inputs, double* const* outputs, std::int64_t states,
                       const LanesOptions& options) const {
  impl_->run_many(inputs, outputs, Layout::rows, states, 0, states, options);
}
void Program::run_rows(const float* const* inputs, float* const* outputs, std::int64_t states,
                       const LanesOptions& options) const {
  impl_->run_many(inputs, outputs, Layout::rows, states, 0, states, options);
}
void Program::run_columns(const double* const* inputs, double* const* outputs, std::int64_t states,
                          std::int64_t first, std::int64_t count,
                          const LanesOptions& options) const {
  impl_->run_many(inputs, outputs, Layout::columns, states, first, count, options);
}
void Program::run_columns(const float* const* inputs, float* const* outputs, std::int64_t states,
                          std::int64_t first, std::int64_t count,
                          const LanesOptions& options) const {
  impl_->run_many(inputs, outputs, Layout::columns, states, first, count, options);
}

void Program::prepare(Precision precision, Layout layout, bool split) const {
  lanes_code(precision, layout, split);
}

const MachineCode* Program::one_state() const {
  return impl_->one ? &*impl_->one : nullptr;
}
const MachineCode* Program::lanes_code(Precision precision, Layout layout, bool split) const {
  return precision == Precision::f64 ? impl_->lanes_code<double>(layout, split)
                                     : impl_->lanes_code<float>(layout, split);
}
int Program::lanes(Precision precision) const {
  if (!impl_->one) return 1;
  return Target{impl_->isa, precision, Shape::lanes}.lanes();
}

bool Program::is_compiled() const {
  return impl_->one.has_value();
}
bool Program::has_split() const {
  return is_compiled() && impl_->make_split != nullptr;
}
const std::string& Program::why_not_compiled() const {
  return impl_->why_not_compiled;
}

}  // namespace limb::codegen
