#include "limb/codegen/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "limb/base/error.hpp"
#include "limb/codegen/assemble.hpp"
#include "limb/codegen/interpret.hpp"

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

bool calls_library(const Trace& trace) {
  const std::vector<char> needed = trace.graph.needed_by(trace.roots);
  for (int i = 0; i < trace.graph.size(); ++i) {
    if (needed[static_cast<std::size_t>(i)] != 0 && trace.graph[i].op == Op::atan2) return true;
  }
  return false;
}

/// The machine code and the interpreter of one precision.
template <typename T>
struct Engine {
  std::once_flag made;
  std::optional<Interpreter<T>> interpreter;
  std::optional<MachineCode> rows;
};

}  // namespace

const std::string& why_no_machine_code() {
  static const std::string obstacle = find_obstacle();
  return obstacle;
}

struct Program::Parts {
  Trace trace;
  Isa isa = Isa::none;
  std::string notice;
  std::optional<MachineCode> one;
  Interpreter<double> interpreter;
  mutable Engine<double> f64;
  mutable Engine<float> f32;

  explicit Parts(Trace t) : trace(std::move(t)), interpreter(lower(trace, calls())) {}

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

  template <typename T>
  const Engine<T>& prepare() const {
    constexpr Precision kPrecision = sizeof(T) == 8 ? Precision::f64 : Precision::f32;
    Engine<T>& e = engine<T>();
    std::call_once(e.made, [&] {
      if constexpr (sizeof(T) == 4) e.interpreter.emplace(lower(trace, calls(kPrecision)));
      if (!one) return;
      e.rows.emplace(lower(trace, {.precision = kPrecision}),
                     Target{isa, kPrecision, Shape::lanes});
    });
    return e;
  }

  template <typename T>
  void interpret(const T* const* in, T* const* out) const {
    if constexpr (sizeof(T) == 8) {
      interpreter.run(in, out);
    } else {
      f32.interpreter->run(in, out);
    }
  }

  /// The arrays from a state on.
  template <typename T>
  struct Pointers {
    std::vector<const T*> in;
    std::vector<T*> out;
  };
  template <typename T>
  void point(const T* const* in, T* const* out, std::int64_t state, Pointers<T>& p) const {
    for (std::size_t k = 0; k < p.in.size(); ++k) p.in[k] = in[k] + state * trace.inputs[k].size();
    for (std::size_t k = 0; k < p.out.size(); ++k) {
      p.out[k] = out[k] + state * trace.outputs[k].size();
    }
  }

  template <typename T>
  void run_rows(const T* const* in, T* const* out, std::int64_t states) const;
  template <typename T>
  void run_few(const T* const* in, T* const* out, std::int64_t states) const;
};

template <typename T>
void Program::Parts::run_rows(const T* const* in, T* const* out, std::int64_t states) const {
  const Engine<T>& e = prepare<T>();
  const std::int64_t lanes = e.rows ? e.rows->target().lanes() : 0;
  if (lanes == 0 || states < lanes) return run_few(in, out, states);
  Pointers<T> p{std::vector<const T*>(trace.inputs.size()), std::vector<T*>(trace.outputs.size())};
  // Whole blocks; then one more that ends with the last state and repeats some of the others.
  const auto blocks = [&](std::int64_t first, std::int64_t count) {
    while (count > 0) {
      point(in, out, first, p);
      const std::int64_t done =
          e.rows->run_blocks(reinterpret_cast<const void* const*>(p.in.data()),
                             reinterpret_cast<void* const*>(p.out.data()), count);
      if (done == count) return;
      // Angles beyond the polynomials.
      for (std::int64_t k = 0; k < lanes; ++k) {
        point(in, out, first + done * lanes + k, p);
        interpret(p.in.data(), p.out.data());
      }
      first += (done + 1) * lanes;
      count -= done + 1;
    }
  };
  blocks(0, states / lanes);
  if (states % lanes != 0) blocks(states - lanes, 1);
}

/// Fewer states than lanes, or no machine code for lanes.
template <typename T>
void Program::Parts::run_few(const T* const* in, T* const* out, std::int64_t states) const {
  Pointers<T> p{std::vector<const T*>(trace.inputs.size()), std::vector<T*>(trace.outputs.size())};
  for (std::int64_t i = 0; i < states; ++i) {
    point(in, out, i, p);
    if constexpr (sizeof(T) == 8) {
      if (one && one->run_one(p.in.data(), p.out.data())) continue;
    }
    interpret(p.in.data(), p.out.data());
  }
}

Program::Program(Trace trace, const ProgramOptions& options)
    : parts_(std::make_unique<Parts>(std::move(trace))) {
  Parts& p = *parts_;
  p.notice = why_no_machine_code();
  if (p.notice.empty() && options.interpret) p.notice = "asked to interpret";
  if (p.notice.empty() && options.most == Isa::none) p.notice = "asked to interpret";
  if (p.notice.empty() && calls_library(p.trace)) p.notice = "atan2 is left to the C library";
  if (!p.notice.empty()) return;
  p.isa = std::min(detect_isa(), options.most);
  p.one.emplace(lower(p.trace, {.by_fours = true}), Target{p.isa, Precision::f64, Shape::one});
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

void Program::run_rows(const double* const* inputs, double* const* outputs,
                       std::int64_t states) const {
  parts_->run_rows(inputs, outputs, states);
}
void Program::run_rows(const float* const* inputs, float* const* outputs,
                       std::int64_t states) const {
  parts_->run_rows(inputs, outputs, states);
}

void Program::prepare_rows(Precision precision) const {
  if (precision == Precision::f64) {
    parts_->prepare<double>();
  } else {
    parts_->prepare<float>();
  }
}

const MachineCode* Program::one_state() const {
  return parts_->one ? &*parts_->one : nullptr;
}
const MachineCode* Program::rows(Precision precision) const {
  prepare_rows(precision);
  const auto& made = precision == Precision::f64 ? parts_->f64.rows : parts_->f32.rows;
  return made ? &*made : nullptr;
}
int Program::lanes(Precision precision) const {
  if (!parts_->one) return 1;
  return Target{parts_->isa, precision, Shape::lanes}.lanes();
}

bool Program::is_compiled() const {
  return parts_->one.has_value();
}
const std::string& Program::notice() const {
  return parts_->notice;
}

}  // namespace limb::codegen
