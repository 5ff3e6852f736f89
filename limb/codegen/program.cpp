#include "limb/codegen/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "limb/base/error.hpp"
#include "limb/codegen/assemble.hpp"
#include "limb/codegen/interpret.hpp"
#include "limb/codegen/schedule.hpp"
#include "limb/codegen/states.hpp"

namespace limb::codegen {
namespace {

std::string find_obstacle() {
  const char* wish = std::getenv("LIMB_NO_JIT");
  if (wish != nullptr && *wish != '\0' && std::string(wish) != "0") {
    return "LIMB_NO_JIT is set";
  }
  if (detect_isa() == Isa::none) return "this processor has no AVX2 with FMA";
  try {
    ExecutableMemory trial(1);
    trial.data()[0] = 0xc3;
    trial.seal(1);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// Windows as measured, see docs/adr/0008-forms-and-order.md. A lane register takes two turns in
// each unit, so one product begins in a cycle.
constexpr ScheduleOptions kOneOrder = {.window = 32, .per_cycle = 2};
constexpr ScheduleOptions kLanesOrder = {.window = 48, .per_cycle = 1};

/// Code that no cache of instructions holds waits for these, not for operands.
Code ordered(Code code, const ScheduleOptions& options) {
  constexpr std::size_t kMost = 12000;
  return code.instructions.size() > kMost ? code : schedule(code, options);
}

/// Made when it is first asked for.
template <typename Made>
struct Lazy {
  std::once_flag once;
  std::optional<Made> made;
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

struct Program::Parts {
  Trace trace;
  Lowerer lowerer;
  Isa isa = Isa::none;
  std::string notice;
  std::optional<MachineCode> one;
  Interpreter<double> interpreter;
  mutable Engine<double> f64;
  mutable Engine<float> f32;
  std::function<Split()> make_split;
  mutable Lazy<Split> split;

  explicit Parts(Trace t)
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
    if (!make_split) throw Error(trace.name + ": lanes have one way only");
    std::call_once(split.once, [&] { split.made.emplace(make_split()); });
    return *split.made;
  }

  /// Null without machine code.
  template <typename T>
  const MachineCode* lanes_code(Layout layout, bool by_split) const {
    if (!one) return nullptr;
    constexpr Precision kPrecision = sizeof(T) == 8 ? Precision::f64 : Precision::f32;
    const Target target{isa, kPrecision, Shape::lanes, layout};
    Engine<T>& e = engine<T>();
    const bool by_rows = layout == Layout::rows;
    const auto made = [&](Lazy<MachineCode>& lazy, const Split* two) {
      std::call_once(lazy.once, [&] {
        const LowerOptions how{.precision = kPrecision};
        Code code = two != nullptr ? lower(two->trace, how) : lowerer.lower(how);
        lazy.made.emplace(ordered(std::move(code), kLanesOrder), target, two);
      });
      return &*lazy.made;
    };
    if (!by_split) return made(by_rows ? e.rows : e.columns, nullptr);
    return made(by_rows ? e.split_rows : e.split_columns, &split_trace());
  }

  template <typename T>
  void interpret(const T* const* in, T* const* out) const {
    if constexpr (sizeof(T) == 8) {
      interpreter.run(in, out);
    } else {
      Lazy<Interpreter<T>>& lazy = f32.interpreter;
      std::call_once(lazy.once, [&] { lazy.made.emplace(lowerer.lower(calls(Precision::f32))); });
      lazy.made->run(in, out);
    }
  }

  /// One state alone.
  template <typename T>
  void run_one(const T* const* in, T* const* out) const {
    if constexpr (sizeof(T) == 8) {
      if (one && one->run_one(in, out)) return;
    }
    interpret(in, out);
  }

  /// States [first, first + count) of arrays that hold `states`.
  template <typename T>
  void run_many(const T* const* inputs, T* const* outputs, Layout layout, std::int64_t states,
                std::int64_t first, std::int64_t count, const LanesOptions& options) const;
};

template <typename T>
void Program::Parts::run_many(const T* const* inputs, T* const* outputs, Layout layout,
                              std::int64_t states, std::int64_t first, std::int64_t count,
                              const LanesOptions& options) const {
  const MachineCode* code = lanes_code<T>(layout, options.split);
  const std::int64_t lanes = code != nullptr ? code->target().lanes() : 0;
  States<T> s(trace, inputs, outputs, layout, states);
  const auto one_by_one = [&](const auto& run) {
    for (std::int64_t i = first; i < first + count; ++i) s.alone(i, run);
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
    // A block takes as long as two or three states alone.
    if (sizeof(T) == 8 && count * 4 <= lanes) {
      return one_by_one([&](const T* const* in, T* const* out) { run_one(in, out); });
    }
    const auto run = run_blocks(1, lanes);
    const auto block = [&](const T* const* in, T* const* out) { return run(in, out) == 1; };
    if (count > 0 && !s.in_block(first, count, lanes, block)) one_by_one(by_interpreter);
    return;
  }
  // Whole blocks; then one more that ends with the last state and repeats some of the others.
  const auto blocks = [&](std::int64_t begin, std::int64_t number) {
    while (number > 0) {
      const std::int64_t done = s.at(begin, run_blocks(number, states));
      if (done == number) return;
      // Angles beyond the polynomials.
      for (std::int64_t k = 0; k < lanes; ++k) s.alone(begin + done * lanes + k, by_interpreter);
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
    : parts_(std::make_unique<Parts>(std::move(trace))) {
  Parts& p = *parts_;
  p.make_split = std::move(make);
  p.notice = why_no_machine_code();
  if (p.notice.empty() && options.interpret) p.notice = "asked to interpret";
  if (p.notice.empty() && options.most == Isa::none) p.notice = "asked to interpret";
  if (!p.notice.empty()) return;
  p.isa = std::min(detect_isa(), options.most);
  p.one.emplace(ordered(p.lowerer.lower({.by_fours = true}), kOneOrder),
                Target{p.isa, Precision::f64, Shape::one});
}

Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

const std::string& Program::name() const {
  return parts_->trace.name;
}
const std::vector<Array>& Program::inputs() const {
  return parts_->trace.inputs;
}
const std::vector<Array>& Program::outputs() const {
  return parts_->trace.outputs;
}
const Trace& Program::trace() const {
  return parts_->trace;
}

void Program::run(const double* const* inputs, double* const* outputs) const {
  if (parts_->one && parts_->one->run_one(inputs, outputs)) return;
  parts_->interpreter.run(inputs, outputs);
}

void Program::run_rows(const double* const* inputs, double* const* outputs, std::int64_t states,
                       const LanesOptions& options) const {
  parts_->run_many(inputs, outputs, Layout::rows, states, 0, states, options);
}
void Program::run_rows(const float* const* inputs, float* const* outputs, std::int64_t states,
                       const LanesOptions& options) const {
  parts_->run_many(inputs, outputs, Layout::rows, states, 0, states, options);
}
void Program::run_columns(const double* const* inputs, double* const* outputs, std::int64_t states,
                          std::int64_t first, std::int64_t count,
                          const LanesOptions& options) const {
  parts_->run_many(inputs, outputs, Layout::columns, states, first, count, options);
}
void Program::run_columns(const float* const* inputs, float* const* outputs, std::int64_t states,
                          std::int64_t first, std::int64_t count,
                          const LanesOptions& options) const {
  parts_->run_many(inputs, outputs, Layout::columns, states, first, count, options);
}

void Program::prepare(Precision precision, Layout layout, bool split) const {
  lanes_code(precision, layout, split);
}

const MachineCode* Program::one_state() const {
  return parts_->one ? &*parts_->one : nullptr;
}
const MachineCode* Program::lanes_code(Precision precision, Layout layout, bool split) const {
  return precision == Precision::f64 ? parts_->lanes_code<double>(layout, split)
                                     : parts_->lanes_code<float>(layout, split);
}
int Program::lanes(Precision precision) const {
  if (!parts_->one) return 1;
  return Target{parts_->isa, precision, Shape::lanes}.lanes();
}

bool Program::is_compiled() const {
  return parts_->one.has_value();
}
bool Program::has_split() const {
  return is_compiled() && parts_->make_split != nullptr;
}
const std::string& Program::notice() const {
  return parts_->notice;
}

}  // namespace limb::codegen
