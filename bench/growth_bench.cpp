// How does the cost of compiled dynamics grow with the robot, and with the number of states? Prints
// two tables that bench/plot_growth.py draws.
#include <cstdio>

#include "bench/chain.hpp"
#include "bench/side_by_side.hpp"
#include "limb/batch/compiled.hpp"
#include "limb/codegen/assemble.hpp"
#include "limb/model/load.hpp"

namespace limb::bench {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

template <typename T>
struct States {
  RowMatrix<T> q, v, a, out;
  States(const Model<double>& model, int count)
      : q(count, model.nq()), v(count, model.nv()), a(count, model.nv()), out(count, model.nv()) {
    std::mt19937_64 engine(7);
    for (int i = 0; i < count; ++i) q.row(i) = model.random(engine).transpose().template cast<T>();
    v.setRandom();
    a.setRandom();
    out.setZero();
  }
  double timed(const Compiled& fast, Function f) {
    const double guess = once(fast, f);
    double best = guess;
    // Short batches many times, long ones at least five.
    const int times = std::clamp(static_cast<int>(5e7 / guess), 5, 20000);
    for (int k = 0; k < times; ++k) best = std::min(best, once(fast, f));
    return best / static_cast<double>(q.rows());
  }

 private:
  double once(const Compiled& fast, Function f) {
    const auto start = Clock::now();
    f == Function::rnea ? fast.rnea(q, v, a, out) : fast.aba(q, v, a, out);
    return milliseconds(start) * 1e6;
  }
};

double one_state(const Compiled& fast, Function f, const Model<double>& model) {
  States<double> s(model, 1);
  const VectorX<double> q = s.q.row(0), v = s.v.row(0), a = s.a.row(0);
  VectorX<double> x(model.nv());
  const auto call = [&](int) {
    f == Function::rnea ? fast.rnea(q, v, a, x) : fast.aba(q, v, a, x);
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
      const Compiled trial = compile(model, {Function::rnea, Function::aba});
      compiling = std::min(compiling, milliseconds(start));
    }
    const Compiled fast = compile(model, {Function::rnea, Function::aba});
    States<double> wide(model, 256);
    States<float> narrow(model, 256);
    std::printf("| %d", links);
    std::size_t bytes = 0;
    for (const Function f : {Function::rnea, Function::aba}) {
      std::printf(" | %.2f | %.2f | %.2f", one_state(fast, f, model) / links,
                  wide.timed(fast, f) / links, narrow.timed(fast, f) / links);
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
  const Compiled fast = compile(model, {Function::rnea, Function::aba});
  for (const int states : {1, 4, 8, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1000000}) {
    States<double> wide(model, states);
    States<float> narrow(model, states);
    std::printf("| %d", states);
    for (const Function f : {Function::rnea, Function::aba}) {
      std::printf(" | %.1f | %.1f", wide.timed(fast, f), narrow.timed(fast, f));
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
