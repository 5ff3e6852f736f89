#pragma once

#include <chrono>
#include <limits>
#include <vector>

#include "cli/compiled_options.hpp"
#include "cli/interrupt.hpp"
#include "limb/base/memory.hpp"

namespace limb::cli {

/// Times of a compiled function, ns per state: the fastest of many short runs.
class FunctionTimer {
 public:
  /// @param seconds  per measurement; @param states  per batch.
  FunctionTimer(const Model<double>& model, double seconds, std::int64_t states)
      : model_(model), time_(seconds), states_(states) {}

  template <typename Call>
  double fastest(const Call& call) const {
    call();  // warms the caches and compiles the SIMD code
    double best = std::numeric_limits<double>::infinity();
    const auto start = Clock::now();
    for (int k = 0; k < 3 || seconds_since(start) < time_; ++k) {
      const auto before = Clock::now();
      call();
      best = std::min(best, seconds_since(before));
      Interrupt::check("limb bench", "while timing");
    }
    return best * 1e9;
  }

  /// @throws Error if the states of a batch do not fit into memory.
  void check_memory(const Compiled& compiled, DynamicsFunction f) const {
    const codegen::Signature& shape = compiled.shape(f);
    double numbers = 0;
    for (const auto* arrays : {&shape.inputs, &shape.outputs}) {
      for (const codegen::Array& array : *arrays) numbers += array.size();
    }
    limb::check_memory("limb bench", "--states", std::to_string(states_),
                       static_cast<double>(states_) * numbers * sizeof(double));
  }

  double one(const Compiled& compiled, DynamicsFunction f) const {
    constexpr int kStates = 64;
    const codegen::Signature& shape = compiled.shape(f);
    const auto in = arguments<double>(shape, kStates);
    std::vector<std::vector<std::span<const double>>> from(kStates);
    std::vector<std::vector<double>> out;
    std::vector<std::span<double>> to;
    for (std::size_t i = 0; i < kStates; ++i) {
      for (const auto& x : in) {
        const std::size_t n = static_cast<std::size_t>(x.cols());
        from[i].emplace_back(x.data() + i * n, n);
      }
    }
    for (const auto& a : shape.outputs) out.emplace_back(static_cast<std::size_t>(a.size()));
    for (auto& x : out) to.emplace_back(x);
    return fastest([&] {
             for (const auto& state : from) compiled.run(f, state, to);
           }) /
           kStates;
  }

  template <typename T>
  double batch(const Compiled& compiled, DynamicsFunction f, int threads) const {
    const codegen::Signature& shape = compiled.shape(f);
    const auto in = arguments<T>(shape, states_);
    std::vector<RowMatrix<T>> out;
    std::vector<ConstStateRows<T>> from;
    std::vector<StateRows<T>> to;
    for (const auto& x : in) from.push_back({x.data(), x.rows(), x.cols()});
    for (const auto& a : shape.outputs) out.emplace_back(states_, a.size());
    for (auto& x : out) to.push_back({x.data(), x.rows(), x.cols()});
    return fastest([&] { compiled.run(f, from, to, {.threads = threads}); }) /
           static_cast<double>(states_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// Random arguments, one state per row.
  template <typename T>
  std::vector<RowMatrix<T>> arguments(const codegen::Signature& shape, std::int64_t states) const {
    std::mt19937_64 engine(1);
    std::vector<RowMatrix<T>> in;
    for (const codegen::Array& array : shape.inputs) {
      in.emplace_back(states, array.size());
      VectorX<double> row(array.size());
      for (std::int64_t i = 0; i < states; ++i) {
        fill_argument(model_, array.name, engine,
                      {row.data(), static_cast<std::size_t>(row.size())});
        in.back().row(i) = row.transpose().cast<T>();
      }
    }
    return in;
  }

  const Model<double>& model_;
  double time_;
  std::int64_t states_;
};

}  // namespace limb::cli
