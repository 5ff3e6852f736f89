// Times of compiled dynamics, for one state and for batches, compared with Pinocchio on the same
// states in one process. Opponents as in dynamics_bench. Batches read and write matrices by rows,
// including the results of all states, on both sides ("other", "ratio"); "in place" compares with
// the opponent that leaves each result in its data structure. Rows named "nonzeros" write only
// structural nonzeros, and one triangle of symmetric matrices, as the opponent's crba does: compare
// with "in place". Also compile times and the speedup by threads; growth_bench: how cost grows.
#include <cstdio>
#include <ctime>

#include "bench/pinocchio/opponents.hpp"
#include "bench/reference_robots.hpp"
#include "bench/side_by_side.hpp"
#include "bench/states.hpp"
#include "limb/batch/compiled.hpp"
#include "limb/batch/run_rows.hpp"
#include "limb/codegen/x64/machine_code.hpp"

namespace limb::bench {
namespace {

constexpr int kStates = 4096;
constexpr int kCachedStates = 128;  ///< states that are used in turn where one state is timed

/// Fastest of many calls of a batch, ns per state.
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

/// A batch in pieces, so that few are interrupted by other processes: the sum of the fastest
/// times of the pieces, ns per state.
template <typename Call>
double pieces_ns(const Call& call, int states, int piece, double seconds = 0.8) {
  std::vector<double> best(static_cast<std::size_t>((states + piece - 1) / piece),
                           std::numeric_limits<double>::infinity());
  const auto start = Clock::now();
  int passes = 0;
  do {
    for (std::size_t k = 0; k < best.size(); ++k) {
      const int first = static_cast<int>(k) * piece;
      const auto before = Clock::now();
      call(first, std::min(piece, states - first));
      best[k] = std::min(best[k], milliseconds(before) * 1e6);
    }
  } while (milliseconds(start) < 1e3 * seconds || ++passes < 5);
  double sum = 0;
  for (const double ns : best) sum += ns;
  return sum / states;
}

/// One state of the opponent: results stay in its data structure, or are copied to `to`.
void run_opponent(const Opponent& other, void* robot, DynamicsFunction f, const double* q,
                  const double* v, const double* a, int n, double* const* to) {
  const OpponentTable& table = *other.table;
  static std::vector<double> third;  // a result that is not used
  third.resize(static_cast<std::size_t>(n * n));
  switch (f) {
    case DynamicsFunction::rnea:
      return table.rnea(robot, q, v, a, to[0]);
    case DynamicsFunction::aba:
      return table.aba(robot, q, v, a, to[0]);
    case DynamicsFunction::crba:
    case DynamicsFunction::crba_packed:
      return table.crba(robot, q, to != nullptr ? to[0] : nullptr);
    case DynamicsFunction::rnea_derivatives:
      return to != nullptr ? other.rnea_derivatives(robot, q, v, a, to[0], to[1], third.data())
                           : other.rnea_derivatives(robot, q, v, a, nullptr, nullptr, nullptr);
    default:
      return to != nullptr ? other.aba_derivatives(robot, q, v, a, to[0], to[1], to[2])
                           : other.aba_derivatives(robot, q, v, a, nullptr, nullptr, nullptr);
  }
}

bool has(const Opponent& other, DynamicsFunction f) {
  if (f == DynamicsFunction::rnea_derivatives) return other.rnea_derivatives != nullptr;
  return f != DynamicsFunction::aba_derivatives || other.aba_derivatives != nullptr;
}

/// A function on N states, all arrays by rows.
template <typename T>
struct Batch {
  std::vector<RowMatrix<T>> in, out;
  std::vector<ConstStateRows<T>> in_rows;
  std::vector<StateRows<T>> out_rows;

  Batch(const Model<double>& model, const Compiled& fast, DynamicsFunction f, int count) {
    const RowStates<T> s(model, count, 1);
    in = {s.q, s.v, s.a};
    in.resize(fast.program(f).inputs().size());
    for (const auto& array : fast.program(f).outputs()) {
      out.push_back(RowMatrix<T>::Zero(count, array.size()));
    }
    for (const auto& x : in) in_rows.push_back({x.data(), x.rows(), x.cols()});
    for (auto& x : out) out_rows.push_back({x.data(), x.rows(), x.cols()});
  }
  void run(const Compiled& fast, DynamicsFunction f, int first, int count) const {
    std::vector<ConstStateRows<T>> from = in_rows;
    std::vector<StateRows<T>> to = out_rows;
    for (auto& x : from) x = {x.data + first * x.cols, count, x.cols};
    for (auto& x : to) x = {x.data + first * x.cols, count, x.cols};
    fast.run(f, from, to, {.stores = stores()});
  }
  /// The stores that one call for all states would use, also if pieces of it are timed.
  StoreKind stores() const {
    std::int64_t bytes = 0;
    for (const auto& x : out) bytes += x.size() * std::int64_t{sizeof(T)};
    return should_stream(bytes) ? StoreKind::streaming : StoreKind::cached;
  }
  const T* input(std::size_t k, int i) const {
    return k < in.size() ? in[k].data() + i * in[k].cols() : nullptr;
  }
};

constexpr double kNotMeasured = std::numeric_limits<double>::infinity();
struct Measured {
  double one = kNotMeasured, other = kNotMeasured, other_rows = kNotMeasured, rows64 = kNotMeasured,
         rows32 = kNotMeasured, cached64 = kNotMeasured;
};

Measured measure(const Model<double>& model, const Compiled& fast, DynamicsFunction f,
                 const std::vector<Opponent>& others) {
  const int n = model.nv();
  const bool whole_rows = fast.pattern(f).size() == fast.pattern(f).rows * fast.pattern(f).cols;
  Batch<double> s(model, fast, f, kStates), single(model, fast, f, 1);
  std::vector<std::vector<std::span<const double>>> in;
  for (int i = 0; i < kCachedStates; ++i) {
    in.emplace_back();
    for (std::size_t k = 0; k < s.in.size(); ++k) {
      in.back().emplace_back(s.input(k, i), static_cast<std::size_t>(s.in[k].cols()));
    }
  }
  std::vector<std::span<double>> out;
  std::vector<double*> out_data;
  for (auto& x : single.out) {
    out.emplace_back(x.data(), static_cast<std::size_t>(x.cols()));
    out_data.push_back(x.data());
  }
  std::vector<VectorX<double>> q, v, a;
  for (int i = 0; i < kCachedStates; ++i) {
    q.emplace_back(s.in[0].row(i));
    if (s.in.size() > 1) v.emplace_back(s.in[1].row(i));
    if (s.in.size() > 1) a.emplace_back(s.in[2].row(i));
  }
  Eigen::Map<VectorX<double>> x(out_data[0], single.out[0].size());
  Eigen::Map<MatrixX<double>> M(out_data[0], whole_rows ? n : x.size(), whole_rows ? n : 1);
  const auto one = [&](int i) {
    const std::size_t k = static_cast<std::size_t>(i % kCachedStates);
    switch (f) {
      case DynamicsFunction::rnea:
        fast.rnea(q[k], v[k], a[k], x);
        break;
      case DynamicsFunction::crba:
        fast.crba(q[k], M);
        break;
      case DynamicsFunction::crba_packed:
        fast.crba_packed(q[k], x);
        break;
      case DynamicsFunction::aba:
        fast.aba(q[k], v[k], a[k], x);
        break;
      default:
        fast.run(f, in[k], out);
    }
    benchmark::ClobberMemory();
  };
  Measured m;
  for (const Opponent& other : others) {
    if (!has(other, f)) continue;
    const auto bodies = opponent_bodies(model);
    void* robot =
        other.table->make(bodies.data(), static_cast<int>(bodies.size()), model.gravity().data());
    const bool matrix = f != DynamicsFunction::rnea && f != DynamicsFunction::aba;
    const auto call = [&](int i, double* const* to) {
      run_opponent(other, robot, f, s.input(0, i), s.input(1, i), s.input(2, i), n, to);
    };
    // The matrices of the opponent are complete, except for the one triangle of crba.
    const bool is_crba = f == DynamicsFunction::crba || f == DynamicsFunction::crba_packed;
    std::vector<RowMatrix<double>> whole(single.out.size(),
                                         RowMatrix<double>(1, std::max(n * n, n)));
    std::vector<double*> whole_data;
    for (auto& row : whole) whole_data.push_back(row.data());
    for (int i = 0; i < kCachedStates && !is_crba; ++i) {
      one(i);
      const VectorX<double> ours = single.out[0].row(0);
      call(i, whole_data.data());
      VectorX<double> found(ours.size());
      fast.pattern(f).gather(whole_data[0], found.data());
      if (!((ours - found).norm() < 1e-8 * (1 + found.norm()))) {
        std::printf("%s differs from %s: %.1e\n", to_text(f), other.name.c_str(),
                    (ours - found).norm());
        break;
      }
    }
    const Timing t = side_by_side(
        to_text(f), one,
        [&](int i) { call(i % kCachedStates, matrix ? nullptr : whole_data.data()); }, 1000);
    m.one = std::min(m.one, t.limb_ns);
    m.other = std::min(m.other, t.other_ns);
    if (whole_rows) {
      std::vector<double*> to(s.out.size());
      const auto rows = [&](int first, int count) {
        for (int i = first; i < first + count; ++i) {
          for (std::size_t k = 0; k < to.size(); ++k) to[k] = s.out[k].data() + i * s.out[k].cols();
          call(i, to.data());
        }
      };
      m.other_rows = std::min(m.other_rows, pieces_ns(rows, kStates, 16, 1.5));
    }
    other.table->release(robot);
  }
  if (others.empty()) m.one = side_by_side(to_text(f), one, one, 500).limb_ns;
  m.rows64 = pieces_ns([&](int i, int count) { s.run(fast, f, i, count); }, kStates, 128);
  Batch<double> cached(model, fast, f, 64);
  m.cached64 = batch_ns([&] { cached.run(fast, f, 0, 64); }, 64, 0.3);
  Batch<float> s32(model, fast, f, kStates);
  m.rows32 = pieces_ns([&](int i, int count) { s32.run(fast, f, i, count); }, kStates, 128);
  return m;
}

void measure(const char* title, const Model<double>& model, const std::vector<Opponent>& others) {
  const std::vector<DynamicsFunction> functions = {DynamicsFunction::rnea,
                                                   DynamicsFunction::crba,
                                                   DynamicsFunction::crba_packed,
                                                   DynamicsFunction::aba,
                                                   DynamicsFunction::rnea_derivatives,
                                                   DynamicsFunction::aba_derivatives};
  CompileOptions options;
  options.effects = JointEffects::none();
  double compiling = kNotMeasured;
  for (int k = 0; k < 20; ++k) {
    // Processor time, because a busy machine interrupts work of milliseconds.
    const std::clock_t start = std::clock();
    const Compiled trial = compile(
        model, {DynamicsFunction::rnea, DynamicsFunction::crba, DynamicsFunction::aba}, options);
    compiling =
        std::min(compiling, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  const Compiled fast = compile(model, functions, options);
  const std::vector<DynamicsFunction> matrices = {DynamicsFunction::crba,
                                                  DynamicsFunction::rnea_derivatives,
                                                  DynamicsFunction::aba_derivatives};
  options.entries = MatrixEntries::nonzeros;
  const Compiled sparse = compile(model, matrices, options);
  std::printf("\n%s, %d dof: rnea, crba and aba compiled in %.2f ms\n", title, model.nv(),
              compiling);
  std::printf("%-17s %8s %8s %6s | %8s %8s %6s %6s | %8s %6s | %8s %7s\n", "", "one ns", "other",
              "ratio", "4096 ns", "other", "ratio", "place", "64 ns", "ratio", "f32 ns", "f64/f32");
  const auto print = [&](const Compiled& compiled, DynamicsFunction f) {
    const Measured m = measure(model, compiled, f, others);
    std::printf(
        "%-17s %8.1f %8.1f %5.2fx | %8.1f %8.1f %5.1fx %5.1fx | %8.1f %5.1fx | %8.1f %6.2fx\n",
        to_text(f), m.one, m.other, m.other / m.one, m.rows64, m.other_rows,
        m.other_rows / m.rows64, m.other / m.rows64, m.cached64, m.other / m.cached64, m.rows32,
        m.rows64 / m.rows32);
    std::fflush(stdout);
  };
  for (const DynamicsFunction f : functions) print(fast, f);
  for (const DynamicsFunction f : matrices) {
    int all = 0, entries = 0;
    for (std::size_t k = 0; k < sparse.shape(f).outputs.size(); ++k) {
      const codegen::Pattern& p = sparse.pattern(f, static_cast<int>(k));
      all += p.rows * p.cols;
      entries += p.size();
    }
    std::printf("nonzeros, %d of %d entries:\n", entries, all);
    print(sparse, f);
  }
  for (const DynamicsFunction f : functions) {
    const codegen::Program& p = fast.program(f);
    if (!p.is_compiled()) continue;
    const StrategyReport strategy = fast.strategy(f);
    std::printf("  %-17s one: %d instructions, %zu bytes; lanes: %d, %zu; %s, %s (%s)\n",
                to_text(f), p.one_state()->instructions(), p.one_state()->code_bytes(),
                p.lanes_code(codegen::Precision::f64)->instructions(),
                p.lanes_code(codegen::Precision::f64)->code_bytes(), to_text(strategy.one_state),
                to_text(strategy.batch), strategy.reason.c_str());
    if (strategy.recursion_ns > 0) {
      std::printf("  %-17s straight line %.0f ns, recursion %.0f; batch %.0f, %.0f, split %.0f\n",
                  "", strategy.straight_line_ns, strategy.recursion_ns,
                  strategy.batch_straight_line_ns, strategy.batch_recursion_ns,
                  strategy.batch_split_ns);
    }
  }
}

/// Write bandwidth of this machine, a bound for results of that size.
void measure_memory() {
  std::printf("\nwriting memory, GB/s:");
  for (const std::size_t megabytes : {1, 10, 47, 95}) {
    std::vector<double> x(megabytes << 17);
    double value = 1;
    const double ns = batch_ns(
        [&] {
          value += 1;
          std::fill(x.begin(), x.end(), value);
          benchmark::ClobberMemory();
        },
        1, 0.4);
    std::printf("  %zu MB %.1f", megabytes, static_cast<double>(x.size() * 8) / ns);
  }
  std::puts("");
}

void measure_threads(const char* title, const Model<double>& model) {
  constexpr int kMany = 65536;
  CompileOptions options;
  options.effects = JointEffects::none();
  const Compiled fast = compile(model, {DynamicsFunction::rnea, DynamicsFunction::aba}, options);
  RowStates<double> s(model, kMany, model.nv());
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

}  // namespace
}  // namespace limb::bench

int main() {
  using namespace limb;
  const auto others = bench::opponents(bench::opponent_paths());
  if (others.empty()) std::puts("codegen_bench: no comparison, no opponent was built");
  const auto robots = bench::reference_robots();
  for (const auto& [name, model] : robots) bench::measure(name.c_str(), model, others);
  bench::measure_memory();
  bench::measure_threads(robots[1].name.c_str(), robots[1].model);
}
