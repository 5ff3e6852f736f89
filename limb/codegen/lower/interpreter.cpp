#include "limb/codegen/lower/interpreter.hpp"

#include <bit>
#include <cmath>

#include "limb/base/error.hpp"
#include "limb/codegen/lower/atan2_lowering.hpp"
#include "limb/codegen/lower/sincos_lowering.hpp"

namespace limb::codegen {
namespace {

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <typename T>
T mask_of(bool yes) {
  return std::bit_cast<T>(yes ? ~Bits<T>(0) : Bits<T>(0));
}
template <typename T>
bool is_set(T mask) {
  return std::bit_cast<Bits<T>>(mask) != 0;
}

template <typename T>
T compute(Opcode opcode, T a, T b, T c) {
  switch (opcode) {
    case Opcode::add:
      return a + b;
    case Opcode::sub:
      return a - b;
    case Opcode::mul:
      return a * b;
    case Opcode::div:
      return a / b;
    case Opcode::neg:
      return -a;
    case Opcode::abs:
      return std::abs(a);
    case Opcode::sqrt:
      return std::sqrt(a);
    case Opcode::fma:
      return std::fma(a, b, c);
    case Opcode::fms:
      return std::fma(a, b, -c);
    case Opcode::fnma:
      return std::fma(-a, b, c);
    case Opcode::less:
      return mask_of<T>(a < b);
    case Opcode::less_equal:
      return mask_of<T>(a <= b);
    case Opcode::both:
      return mask_of<T>(is_set(a) && is_set(b));
    case Opcode::either:
      return mask_of<T>(is_set(a) || is_set(b));
    case Opcode::complement:
      return mask_of<T>(!is_set(a));
    case Opcode::select:
      return is_set(a) ? b : c;
    case Opcode::quadrant_choice:
      return (std::bit_cast<Bits<T>>(a) & 1) != 0 ? c : b;
    default:
      return a;
  }
}

/// Computes numbers, for make_sincos and make_atan2.
template <typename T>
struct Computer {
  T constant(double c) const { return static_cast<T>(c); }
  T operator()(Opcode opcode, T a, T b, T c = T(0)) const { return compute(opcode, a, b, c); }
  T unary(Opcode opcode, T a) const { return compute(opcode, a, T(0), T(0)); }
  T sign(T t, T x, int shift) const {
    return ((std::bit_cast<Bits<T>>(t) + static_cast<Bits<T>>(shift)) & 2) != 0 ? -x : x;
  }
};

template <typename T>
constexpr Precision kPrecisionOf = sizeof(T) == 8 ? Precision::f64 : Precision::f32;

template <typename T>
SinCos<T> sincos(T x) {
  if (std::abs(x) <= static_cast<T>(sincos_bound(kPrecisionOf<T>))) {
    return make_sincos(kPrecisionOf<T>, x, Computer<T>{});
  }
  return {std::sin(x), std::cos(x)};
}

}  // namespace

template <typename T>
Interpreter<T>::Interpreter(const Code& code) {
  if (code.options.inline_sincos) throw Error("Interpreter: sines of this code must be calls");
  for (const double c : code.constants) constants_.push_back(static_cast<T>(c));
  const auto fill = [](const std::vector<Array>& arrays, auto add) {
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      for (int j = 0; j < arrays[k].size(); ++j) add(static_cast<int>(k), j);
    }
  };
  fill(code.inputs, [&](int array, int entry) {
    input_array_.push_back(array);
    input_entry_.push_back(entry);
  });
  fill(code.outputs, [&](int array, int entry) { results_.push_back({array, entry, -1}); });

  // A slot is free again after the last use of its value. Results are written at the end, so that
  // they may overwrite arguments; their values are kept.
  const std::size_t n = code.instructions.size();
  std::vector<std::size_t> last(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Operands operands = operands_of(code.instructions[i]);
    const bool kept = code.instructions[i].opcode == Opcode::store;
    for (int k = 0; k < operands.count; ++k) {
      last[static_cast<std::size_t>(operands.value[k])] = kept ? n : i;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {  // a later use must not undo "kept"
    const Instruction& x = code.instructions[i];
    if (x.opcode == Opcode::store) last[static_cast<std::size_t>(x.a)] = n;
  }
  std::vector<int> slot(n, -1), free;
  for (std::size_t i = 0; i < n; ++i) {
    const Instruction& x = code.instructions[i];
    if (x.opcode == Opcode::store) {
      results_[static_cast<std::size_t>(x.b)].from = slot[static_cast<std::size_t>(x.a)];
      continue;
    }
    const Operands operands = operands_of(x);
    int from[3] = {x.a, x.b, x.c};
    for (int k = 0; k < operands.count; ++k) {
      const std::size_t v = static_cast<std::size_t>(operands.value[k]);
      from[k] = slot[v];
      if (last[v] == i) {
        free.push_back(slot[v]);
        last[v] = n;  // free it once, even if it is used twice here
      }
    }
    int to = slots_;
    if (free.empty()) {
      ++slots_;
    } else {
      to = free.back();
      free.pop_back();
    }
    slot[i] = to;
    steps_.push_back({x.opcode, to, from[0], from[1], from[2]});
  }
}

template <typename T>
void Interpreter<T>::run(const T* const* inputs, T* const* outputs) const {
  thread_local std::vector<T> scratch;
  if (scratch.size() < static_cast<std::size_t>(slots_)) {
    scratch.resize(static_cast<std::size_t>(slots_));
  }
  T* const x = scratch.data();
  for (const Step& s : steps_) {
    switch (s.opcode) {
      case Opcode::constant:
        x[s.to] = constants_[static_cast<std::size_t>(s.a)];
        break;
      case Opcode::input: {
        const std::size_t k = static_cast<std::size_t>(s.a);
        x[s.to] = inputs[input_array_[k]][input_entry_[k]];
        break;
      }
      case Opcode::sine:
        x[s.to] = sincos(x[s.a]).sine;
        break;
      case Opcode::cosine:
        x[s.to] = sincos(x[s.a]).cosine;
        break;
      case Opcode::atan2:
        x[s.to] = make_atan2(kPrecisionOf<T>, x[s.a], x[s.b], Computer<T>{});
        break;
      default: {
        const auto at = [&](int i) { return i >= 0 ? x[i] : T(0); };
        x[s.to] = compute(s.opcode, at(s.a), at(s.b), at(s.c));
      }
    }
  }
  for (const Result& r : results_) outputs[r.array][r.entry] = x[r.from];
}

template class Interpreter<double>;
template class Interpreter<float>;

}  // namespace limb::codegen
