// Growth of the cost of compiled dynamics with the size of the robot and with the number of states.
// Prints two tables for bench/plot_growth.py.
#include <cstdio>

#include "bench/chain.hpp"
#include "bench/side_by_side.hpp"
#include "bench/states.hpp"
#include "limb/batch/compiled.hpp"
#include "limb/codegen/x64/machine_code.hpp"
#include "limb/model/core/load.hpp"

namespace limb::bench {
namespace {

template <typename T>
double timed(const Compiled& fast, DynamicsFunction f, RowStates<T>& s) {
  const auto once = [&] {
    const auto start = Clock::now();
    f == DynamicsFunction::rnea ? fast.rnea(s.q, s.v, s.a, s.out) : fast.aba(s.q, s.v, s.a, s.out);
    return milliseconds(start) * 1e6;
  };
  const double guess = once();
  double best = guess;
  // Short batches many times, long ones at least five.
  const int times = std::clamp(static_cast<int>(5e7 / guess), 5, 20000);
  for (int k = 0; k < times; ++k) best = std::min(best, once());
  return best / static_cast<double>(s.q.rows());
}

double one_state(const Compiled& fast, DynamicsFunction f, const Model<double>& model) {
  const States s(model, 1);
  const VectorX<double>&q = s.q[0], &v = s.v[0], &a = s.a[0];
  VectorX<double> x(model.nv());
  const auto call = [&](int) {
    f == DynamicsFunction::rnea ? fast.rnea(q, v, a, x) : fast.aba(q, v, a, x);
  };
  double best = std::numeric_limits<double>::infinity();
  const int calls = std::max(1, static_cast<int>(1e5 / window_ns(call, 20)));
  for (int k = 0; k < 400; ++k) best = std::min(best, window_ns(call, calls));
  return best;
}

void chains() {
  std::printf(
      "| links | RNEA, one state | RNEA, f64 | RNEA, f32 | ABA, one state | ABA, f64 | ABA, f32 | "
      "compile ms | KB of code |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const int links : {8, 16, 32, 64, 128, 256}) {
    const Model<double> model = chain(links);
    double compiling = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 5; ++k) {
      const auto start = Clock::now();
      const Compiled trial = compile(model, {DynamicsFunction::rnea, DynamicsFunction::aba});
      compiling = std::min(compiling, milliseconds(start));
    }
    const Compiled fast = compile(model, {DynamicsFunction::rnea, DynamicsFunction::aba});
    RowStates<double> wide(model, 256, model.nv());
    RowStates<float> narrow(model, 256, model.nv());
    std::printf("| %d", links);
    std::size_t bytes = 0;
    for (const DynamicsFunction f : {DynamicsFunction::rnea, DynamicsFunction::aba}) {
      std::printf(" | %.2f | %.2f | %.2f", one_state(fast, f, model) / links,
                  timed(fast, f, wide) / links, timed(fast, f, narrow) / links);
      if (fast.program(f).is_compiled()) bytes += fast.program(f).one_state()->code_bytes();
    }
    std::printf(" | %.1f | %.0f |\n", compiling, static_cast<double>(bytes) / 1024);
    std::fflush(stdout);
  }
}

void batches() {
  std::printf(
      "\n| states | RNEA, f64 | RNEA, f32 | ABA, f64 | ABA, f32 |\n|---|---|---|---|---|\n");
  const Model<double> model = load_model("builtin:quadruped");
  const Compiled fast = compile(model, {DynamicsFunction::rnea, DynamicsFunction::aba});
  for (const int states : {1, 4, 8, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1000000}) {
    RowStates<double> wide(model, states, model.nv());
    RowStates<float> narrow(model, states, model.nv());
    std::printf("| %d", states);
    for (const DynamicsFunction f : {DynamicsFunction::rnea, DynamicsFunction::aba}) {
      std::printf(" | %.1f | %.1f", timed(fast, f, wide), timed(fast, f, narrow));
    }
    std::printf(" |\n");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace limb::bench

int main() {
  limb::bench::chains();
  limb::bench::batches();
}
