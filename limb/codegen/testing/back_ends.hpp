#pragma once

#include <cmath>
#include <cstring>
#include <string>

#include "limb/codegen/testing/run.hpp"

/// One computation in all back ends, for tests and fuzzers.
namespace limb::testing {

/// Where two batches of equal shape first differ: array and index; empty if nowhere. Numbers are
/// equal if their bits are; any two NaNs are equal.
template <typename T>
std::string difference(const Batch<T>& x, const Batch<T>& y,
                       const std::vector<codegen::Array>& arrays) {
  for (std::size_t k = 0; k < x.data.size(); ++k) {
    for (std::size_t i = 0; i < x.data[k].size(); ++i) {
      const T a = x.data[k][i], b = y.data[k][i];
      if (std::memcmp(&a, &b, sizeof(T)) == 0 || (std::isnan(a) && std::isnan(b))) continue;
      return arrays[k].name + " at " + std::to_string(i) + ": " + std::to_string(a) + ", not " +
             std::to_string(b);
    }
  }
  return "";
}

template <typename T>
Batch<T> cast(const Batch<double>& x) {
  Batch<T> y;
  for (const auto& v : x.data) y.data.emplace_back(v.begin(), v.end());
  return y;
}

/// Results of the interpreter.
struct Interpreted {
  Batch<double> f64;
  Batch<float> f32;
};

inline Interpreted interpreted(const codegen::Trace& trace, const Batch<double>& in,
                               std::int64_t states) {
  const codegen::Program p(trace, {.interpret = true});
  return {run_each(p, in, states), run_rows(p, cast<float>(in), states)};
}

/// The first back end whose results differ from the interpreter's, and where; empty if none. One
/// state, rows and columns, double and float, with the instructions of AVX2 and of AVX-512.
inline std::string disagreement(const codegen::Trace& trace, const Batch<double>& in,
                                std::int64_t states, const Interpreted& expected) {
  const Batch<float> in32 = cast<float>(in);
  for (const codegen::Isa isa : {codegen::Isa::avx2, codegen::Isa::avx512}) {
    if (isa > codegen::detect_isa()) continue;
    const codegen::Program p(trace, {.max_isa = isa});
    if (!p.is_compiled()) return trace.name + " is not compiled: " + p.why_not_compiled();
    const auto compare = [&](const char* what, const auto& found, const auto& right) {
      const std::string text = difference(found, right, p.outputs());
      return text.empty() ? text : std::string(to_text(isa)) + ", " + what + ": " + text;
    };
    for (const std::string& text :
         {compare("one state", run_each(p, in, states), expected.f64),
          compare("rows, double", run_rows(p, in, states), expected.f64),
          compare("rows, float", run_rows(p, in32, states), expected.f32),
          compare("columns, double", run_columns(p, in, states), expected.f64),
          compare("columns, float", run_columns(p, in32, states), expected.f32)}) {
      if (!text.empty()) return trace.name + ", " + text;
    }
  }
  return "";
}

}  // namespace limb::testing
