// How fast are compiled dynamics: one state and batches, next to Pinocchio on the same states in
// one process? Opponents as in dynamics_bench. Batches read and write matrices by rows, results of
// all states included. What compiling costs, how threads help, how chains grow.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/chain.hpp"
#include "bench/pinocchio/opponents.hpp"
#include "bench/side_by_side.hpp"
#include "limb/batch/compiled.hpp"
#include "limb/codegen/assemble.hpp"
#include "limb/model/builder.hpp"
#include "limb/model/load.hpp"

namespace limb::bench {
namespace {

constexpr int kStates = 4096;
constexpr int kHot = 128;  ///< states that take turns where one state is timed
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

template <typename T>
struct States {
  RowMatrix<T> q, v, a, out;
  States(const Model<double>& model, int count, int results)
      : q(count, model.nq()), v(count, model.nv()), a(count, model.nv()), out(count, results) {
    std::mt19937_64 engine(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int i = 0; i < count; ++i) {
      q.row(i) = model.random(engine).transpose().template cast<T>();
      for (int k = 0; k < model.nv(); ++k) {
        v(i, k) = T(2 * uniform(engine));
        a(i, k) = T(5 * uniform(engine));
      }
    }
    out.setZero();
  }
};

/// Fastest of many calls of a batch, ns a state.
template <typename Call>
double batch_ns(const Call& call, int states, double seconds = 0.6) {
  double best = std::numeric_limits<double>::infinity();
  const auto start = Clock::now();
  do {
    const auto before = Clock::now();
    call();
    best = std::min(best, milliseconds(before) * 1e6 / states);
  } while (milliseconds(start) < 1e3 * seconds);
  return best;
}

struct Measured {
  double one = 0, rows64 = 0, rows32 = 0, hot64 = 0, columns64 = 0,
         other = std::numeric_limits<double>::infinity();
};

/// One function: fast(one state i), fast(rows of states).
Measured measure(const Model<double>& model, const Compiled& fast, Function f,
                 const std::vector<Opponent>& others) {
  const int n = model.nv(), results = f == Function::crba ? n * n : n;
  States<double> s(model, kStates, results);
  VectorX<double> x(n), x_other(n);
  MatrixX<double> M(n, n), M_other(n, n);
  std::vector<VectorX<double>> q, v, a;
  for (int i = 0; i < kHot; ++i) {
    q.push_back(s.q.row(i));
    v.push_back(s.v.row(i));
    a.push_back(s.a.row(i));
  }
  const auto one = [&](int i) {
    const std::size_t k = static_cast<std::size_t>(i % kHot);
    if (f == Function::rnea) fast.rnea(q[k], v[k], a[k], x);
    if (f == Function::crba) fast.crba(q[k], M);
    if (f == Function::aba) fast.aba(q[k], v[k], a[k], x);
    benchmark::ClobberMemory();
  };
  Measured m;
  m.one = std::numeric_limits<double>::infinity();
  for (const Opponent& other : others) {
    const auto bodies = opponent_bodies(model);
    const OpponentTable& table = *other.table;
    void* robot =
        table.make(bodies.data(), static_cast<int>(bodies.size()), model.gravity().data());
    const auto theirs = [&](int i) {
      const std::size_t k = static_cast<std::size_t>(i % kHot);
      if (f == Function::rnea)
        table.rnea(robot, q[k].data(), v[k].data(), a[k].data(), x_other.data());
      if (f == Function::crba) table.crba(robot, q[k].data(), nullptr);
      if (f == Function::aba)
        table.aba(robot, q[k].data(), v[k].data(), a[k].data(), x_other.data());
    };
    double worst = 0;
    for (int i = 0; i < kHot && f != Function::crba; ++i) {
      one(i);
      theirs(i);
      worst = std::max(worst, (x - x_other).norm() / (1 + x_other.norm()));
    }
    if (!(worst < 1e-9))
      std::printf("%s differs from %s: %.1e\n", name(f), other.name.c_str(), worst);
    const Timing t = side_by_side(name(f), one, theirs, 1500);
    m.one = std::min(m.one, t.limb_ns);
    m.other = std::min(m.other, t.other_ns);
    table.release(robot);
  }
  if (others.empty()) m.one = side_by_side(name(f), one, one, 500).limb_ns;
  const auto rows = [&](auto& states, int count) {
    const auto top = [&](auto& matrix) { return matrix.topRows(count); };
    auto out = top(states.out);
    if (f == Function::rnea) fast.rnea(top(states.q), top(states.v), top(states.a), out);
    if (f == Function::crba) fast.crba(top(states.q), out);
    if (f == Function::aba) fast.aba(top(states.q), top(states.v), top(states.a), out);
  };
  States<float> s32(model, kStates, results);
  m.rows64 = batch_ns([&] { rows(s, kStates); }, kStates);
  m.hot64 = batch_ns([&] { rows(s, 64); }, 64, 0.3);
  m.rows32 = batch_ns([&] { rows(s32, kStates); }, kStates);
  const MatrixX<double> qc = s.q, vc = s.v, ac = s.a;
  MatrixX<double> out = MatrixX<double>::Zero(kStates, results);
  m.columns64 = batch_ns(
      [&] {
        if (f == Function::rnea) fast.rnea(qc, vc, ac, out);
        if (f == Function::crba) fast.crba(qc, out);
        if (f == Function::aba) fast.aba(qc, vc, ac, out);
      },
      kStates);
  return m;
}

void measure(const char* title, const Model<double>& model, const std::vector<Opponent>& others) {
  const std::vector<Function> functions = {Function::rnea, Function::crba, Function::aba};
  CompileOptions options;
  options.effects = JointEffects::none();
  double compiling = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 20; ++k) {
    const auto start = Clock::now();
    const Compiled trial = compile(model, functions, options);
    compiling = std::min(compiling, milliseconds(start));
  }
  const Compiled fast = compile(model, functions, options);
  std::printf("\n%s, %d dof: compiled in %.2f ms\n", title, model.nv(), compiling);
  std::printf("%-6s %9s %9s %7s | %9s %7s %9s %7s %9s %7s | %9s %8s\n", "", "one ns", "other ns",
              "ratio", "4096 ns", "ratio", "64 ns", "ratio", "columns", "ratio", "f32 ns",
              "f64/f32");
  for (const Function f : functions) {
    const Measured m = measure(model, fast, f, others);
    std::printf("%-6s %9.1f %9.1f %6.2fx | %9.2f %6.1fx %9.2f %6.1fx %9.2f %6.1fx | %9.2f %7.2fx\n",
                name(f), m.one, m.other, m.other / m.one, m.rows64, m.other / m.rows64, m.hot64,
                m.other / m.hot64, m.columns64, m.other / m.columns64, m.rows32,
                m.rows64 / m.rows32);
    std::fflush(stdout);
  }
  for (const Function f : functions) {
    const codegen::Program& p = fast.program(f);
    if (!p.is_compiled()) continue;
    std::printf("  %-5s one: %d instructions, %zu bytes; lanes: %d instructions, %zu bytes\n",
                name(f), p.one_state()->instructions(), p.one_state()->code_bytes(),
                p.lanes_code(codegen::Precision::f64)->instructions(),
                p.lanes_code(codegen::Precision::f64)->code_bytes());
  }
}

/// Derivatives: of limb alone, the opponent's are not built.
void measure_derivatives(const char* title, const Model<double>& model) {
  CompileOptions options;
  options.effects = JointEffects::none();
  const std::vector<Function> functions = {Function::rnea_derivatives, Function::aba_derivatives};
  const auto start = Clock::now();
  const Compiled fast = compile(model, functions, options);
  std::printf("%s derivatives: compiled in %.1f ms", title, milliseconds(start));
  const int n = model.nv();
  States<double> s(model, 64, n * n);
  RowMatrix<double> second = s.out, third = s.out;
  for (const Function f : functions) {
    const std::size_t results = f == Function::rnea_derivatives ? 2 : 3;
    const auto call = [&](int states) {
      const auto rows = [&](const RowMatrix<double>& m) {
        return ConstRows<double>{m.data(), states, m.cols()};
      };
      const ConstRows<double> in[] = {rows(s.q), rows(s.v), rows(s.a)};
      const Rows<double> out[] = {{s.out.data(), states, n * n},
                                  {second.data(), states, n * n},
                                  {third.data(), states, n * n}};
      fast.run(f, in, std::span<const Rows<double>>(out, results));
    };
    std::printf("; %s one %.0f ns, 64 states %.0f", name(f), batch_ns([&] { call(1); }, 1, 0.3),
                batch_ns([&] { call(64); }, 64, 0.3));
  }
  std::puts("");
}

void measure_threads(const char* title, const Model<double>& model) {
  constexpr int kMany = 65536;
  CompileOptions options;
  options.effects = JointEffects::none();
  const Compiled fast = compile(model, {Function::rnea, Function::aba}, options);
  States<double> s(model, kMany, model.nv());
  const auto timed = [&](int threads, bool inverse) {
    return batch_ns(
        [&] {
          inverse ? fast.rnea(s.q, s.v, s.a, s.out, {.threads = threads})
                  : fast.aba(s.q, s.v, s.a, s.out, {.threads = threads});
        },
        kMany, 1.5);
  };
  const double r1 = timed(1, true), r2 = timed(2, true), a1 = timed(1, false), a2 = timed(2, false);
  std::printf("%s, %d states: rnea %.1f ns, two threads %.1f (%.2fx); aba %.1f, %.1f (%.2fx)\n",
              title, kMany, r1, r2, r1 / r2, a1, a2, a1 / a2);
}

void measure_growth() {
  std::printf("\nchains: ns a state and body; compile ms of both\n%6s %9s %9s %9s %9s %9s\n",
              "links", "rnea one", "rnea 64", "aba one", "aba 64", "compile");
  for (const int links : {8, 16, 32, 64, 128, 256}) {
    const Model<double> model = chain(links);
    const auto start = Clock::now();
    const Compiled fast = compile(model, {Function::rnea, Function::aba});
    const double compiling = milliseconds(start);
    States<double> s(model, 64, links);
    VectorX<double> q = s.q.row(0), v = s.v.row(0), a = s.a.row(0), x(links);
    const Timing one = side_by_side(
        "", [&](int) { fast.rnea(q, v, a, x); }, [&](int) { fast.aba(q, v, a, x); }, 200);
    const double rnea64 = batch_ns([&] { fast.rnea(s.q, s.v, s.a, s.out); }, 64, 0.1);
    const double aba64 = batch_ns([&] { fast.aba(s.q, s.v, s.a, s.out); }, 64, 0.1);
    std::printf("%6d %9.2f %9.2f %9.2f %9.2f %9.2f\n", links, one.limb_ns / links, rnea64 / links,
                one.other_ns / links, aba64 / links, compiling);
  }
  std::printf("\nbatches of the quadruped: ns a state\n%9s %9s %9s\n", "states", "rnea", "aba");
  const Model<double> model = load_model("builtin:quadruped");
  const Compiled fast = compile(model, {Function::rnea, Function::aba});
  for (const int states : {1, 4, 8, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576}) {
    States<double> s(model, states, model.nv());
    std::printf("%9d %9.1f %9.1f\n", states,
                batch_ns([&] { fast.rnea(s.q, s.v, s.a, s.out); }, states, 0.2),
                batch_ns([&] { fast.aba(s.q, s.v, s.a, s.out); }, states, 0.2));
  }
}

}  // namespace
}  // namespace limb::bench

int main() {
  using namespace limb;
  const char* given = std::getenv("LIMB_SHARED");
  const std::filesystem::path robots =
      std::filesystem::path(given != nullptr ? given : LIMB_SHARED_DEFAULT) / "robots";
  const char* paths = std::getenv("LIMB_BENCH_OPPONENTS");
  const auto others = bench::opponents(paths != nullptr ? paths : LIMB_BENCH_OPPONENTS_DEFAULT);
  if (others.empty()) std::puts("codegen_bench: no comparison, no opponent was built");
  const bool real = std::filesystem::exists(robots);
  const auto load = [&](const char* file, const char* builtin, Base base) {
    return load_model(real ? (robots / file).string() : builtin, base).without_couplings();
  };
  bench::measure(real ? "iiwa14" : "arm7", load("iiwa14.urdf", "builtin:arm7", Base::fixed),
                 others);
  const Model<double> four_legs = load("hyq.urdf", "builtin:quadruped", Base::free);
  bench::measure(real ? "hyq" : "quadruped", four_legs, others);
  bench::measure(real ? "talos" : "humanoid",
                 load("talos_reduced.urdf", "builtin:humanoid", Base::free), others);
  bench::measure_derivatives("arm", load("iiwa14.urdf", "builtin:arm7", Base::fixed));
  bench::measure_derivatives("quadruped", four_legs);
  bench::measure_threads(real ? "hyq" : "quadruped", four_legs);
  bench::measure_growth();
}
