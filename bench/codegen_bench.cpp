// How fast are compiled dynamics: one state and batches, next to Pinocchio on the same states in
// one process? Opponents as in dynamics_bench. Batches read and write matrices by rows, results of
// all states included, on both sides ("other", "ratio"); "alone" is against the opponent that
// leaves each result in its own memory. Rows named "nonzeros" write structural nonzeros alone, of
// symmetric matrices one triangle, as the opponent's crba does: compare with "alone". What
// compiling costs, how threads help; how cost grows: growth_bench.
#include <cstdio>
#include <ctime>

#include "bench/pinocchio/opponents.hpp"
#include "bench/reference_robots.hpp"
#include "bench/side_by_side.hpp"
#include "bench/states.hpp"
#include "limb/batch/compiled.hpp"
#include "limb/batch/run_rows.hpp"
#include "limb/codegen/assemble.hpp"

namespace limb::bench {
namespace {

constexpr int kStates = 4096;
constexpr int kHot = 128;  ///< states that take turns where one state is timed

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

/// A batch in pieces, so that few are interrupted by other work: the fastest time of each piece,
/// summed, ns a state.
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

/// What the opponent does for one state: results stay in its own memory, or go to `to`.
void theirs(const Opponent& other, void* robot, Function f, const double* q, const double* v,
            const double* a, int n, double* const* to) {
  const OpponentTable& table = *other.table;
  static std::vector<double> third;  // a result that nobody asked for here
  third.resize(static_cast<std::size_t>(n * n));
  switch (f) {
    case Function::rnea:
      return table.rnea(robot, q, v, a, to[0]);
    case Function::aba:
      return table.aba(robot, q, v, a, to[0]);
    case Function::crba:
    case Function::crba_packed:
      return table.crba(robot, q, to != nullptr ? to[0] : nullptr);
    case Function::rnea_derivatives:
      return to != nullptr ? other.rnea_derivatives(robot, q, v, a, to[0], to[1], third.data())
                           : other.rnea_derivatives(robot, q, v, a, nullptr, nullptr, nullptr);
    default:
      return to != nullptr ? other.aba_derivatives(robot, q, v, a, to[0], to[1], to[2])
                           : other.aba_derivatives(robot, q, v, a, nullptr, nullptr, nullptr);
  }
}

bool has(const Opponent& other, Function f) {
  if (f == Function::rnea_derivatives) return other.rnea_derivatives != nullptr;
  return f != Function::aba_derivatives || other.aba_derivatives != nullptr;
}

/// A function on N states, all arrays by rows.
template <typename T>
struct Batch {
  std::vector<RowMatrix<T>> in, out;
  std::vector<ConstRows<T>> in_rows;
  std::vector<Rows<T>> out_rows;

  Batch(const Model<double>& model, const Compiled& fast, Function f, int count) {
    const RowStates<T> s(model, count, 1);
    in = {s.q, s.v, s.a};
    in.resize(fast.program(f).inputs().size());
    for (const auto& array : fast.program(f).outputs()) {
      out.push_back(RowMatrix<T>::Zero(count, array.size()));
    }
    for (const auto& x : in) in_rows.push_back({x.data(), x.rows(), x.cols()});
    for (auto& x : out) out_rows.push_back({x.data(), x.rows(), x.cols()});
  }
  void run(const Compiled& fast, Function f, int first, int count) const {
    std::vector<ConstRows<T>> from = in_rows;
    std::vector<Rows<T>> to = out_rows;
    for (auto& x : from) x = {x.data + first * x.cols, count, x.cols};
    for (auto& x : to) x = {x.data + first * x.cols, count, x.cols};
    fast.run(f, from, to, {.stores = stores()});
  }
  /// What one call for all states would do, also where pieces of it are timed.
  Stores stores() const {
    std::int64_t bytes = 0;
    for (const auto& x : out) bytes += x.size() * std::int64_t{sizeof(T)};
    return are_streamed(bytes) ? Stores::streaming : Stores::cached;
  }
  const T* input(std::size_t k, int i) const {
    return k < in.size() ? in[k].data() + i * in[k].cols() : nullptr;
  }
};

constexpr double kNever = std::numeric_limits<double>::infinity();
struct Measured {
  double one = kNever, other = kNever, other_rows = kNever, rows64 = kNever, rows32 = kNever,
         hot64 = kNever;
};

Measured measure(const Model<double>& model, const Compiled& fast, Function f,
                 const std::vector<Opponent>& others) {
  const int n = model.nv();
  const bool whole_rows = fast.pattern(f).size() == fast.pattern(f).rows * fast.pattern(f).cols;
  Batch<double> s(model, fast, f, kStates), alone(model, fast, f, 1);
  std::vector<std::vector<std::span<const double>>> in;
  for (int i = 0; i < kHot; ++i) {
    in.emplace_back();
    for (std::size_t k = 0; k < s.in.size(); ++k) {
      in.back().emplace_back(s.input(k, i), static_cast<std::size_t>(s.in[k].cols()));
    }
  }
  std::vector<std::span<double>> out;
  std::vector<double*> out_data;
  for (auto& x : alone.out) {
    out.emplace_back(x.data(), static_cast<std::size_t>(x.cols()));
    out_data.push_back(x.data());
  }
  std::vector<VectorX<double>> q, v, a;
  for (int i = 0; i < kHot; ++i) {
    q.emplace_back(s.in[0].row(i));
    if (s.in.size() > 1) v.emplace_back(s.in[1].row(i));
    if (s.in.size() > 1) a.emplace_back(s.in[2].row(i));
  }
  Eigen::Map<VectorX<double>> x(out_data[0], alone.out[0].size());
  Eigen::Map<MatrixX<double>> M(out_data[0], whole_rows ? n : x.size(), whole_rows ? n : 1);
  const auto one = [&](int i) {
    const std::size_t k = static_cast<std::size_t>(i % kHot);
    switch (f) {
      case Function::rnea:
        fast.rnea(q[k], v[k], a[k], x);
        break;
      case Function::crba:
        fast.crba(q[k], M);
        break;
      case Function::crba_packed:
        fast.crba_packed(q[k], x);
        break;
      case Function::aba:
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
    const bool matrix = f != Function::rnea && f != Function::aba;
    const auto call = [&](int i, double* const* to) {
      theirs(other, robot, f, s.input(0, i), s.input(1, i), s.input(2, i), n, to);
    };
    // Their matrices are whole, but for the one triangle of crba.
    const bool is_crba = f == Function::crba || f == Function::crba_packed;
    std::vector<RowMatrix<double>> whole(alone.out.size(),
                                         RowMatrix<double>(1, std::max(n * n, n)));
    std::vector<double*> whole_data;
    for (auto& room : whole) whole_data.push_back(room.data());
    for (int i = 0; i < kHot && !is_crba; ++i) {
      one(i);
      const VectorX<double> own = alone.out[0].row(0);
      call(i, whole_data.data());
      VectorX<double> found(own.size());
      fast.pattern(f).gather(whole_data[0], found.data());
      if (!((own - found).norm() < 1e-8 * (1 + found.norm()))) {
        std::printf("%s differs from %s: %.1e\n", name(f), other.name.c_str(),
                    (own - found).norm());
        break;
      }
    }
    const Timing t = side_by_side(
        name(f), one, [&](int i) { call(i % kHot, matrix ? nullptr : whole_data.data()); }, 1000);
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
  if (others.empty()) m.one = side_by_side(name(f), one, one, 500).limb_ns;
  m.rows64 = pieces_ns([&](int i, int count) { s.run(fast, f, i, count); }, kStates, 128);
  Batch<double> hot(model, fast, f, 64);
  m.hot64 = batch_ns([&] { hot.run(fast, f, 0, 64); }, 64, 0.3);
  Batch<float> s32(model, fast, f, kStates);
  m.rows32 = pieces_ns([&](int i, int count) { s32.run(fast, f, i, count); }, kStates, 128);
  return m;
}

void measure(const char* title, const Model<double>& model, const std::vector<Opponent>& others) {
  const std::vector<Function> functions = {Function::rnea,
                                           Function::crba,
                                           Function::crba_packed,
                                           Function::aba,
                                           Function::rnea_derivatives,
                                           Function::aba_derivatives};
  CompileOptions options;
  options.effects = JointEffects::none();
  double compiling = kNever;
  for (int k = 0; k < 20; ++k) {
    // Processor time: a busy machine interrupts what takes milliseconds.
    const std::clock_t start = std::clock();
    const Compiled trial = compile(model, {Function::rnea, Function::crba, Function::aba}, options);
    compiling =
        std::min(compiling, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  const Compiled fast = compile(model, functions, options);
  const std::vector<Function> matrices = {Function::crba, Function::rnea_derivatives,
                                          Function::aba_derivatives};
  options.entries = Entries::nonzeros;
  const Compiled sparse = compile(model, matrices, options);
  std::printf("\n%s, %d dof: rnea, crba and aba compiled in %.2f ms\n", title, model.nv(),
              compiling);
  std::printf("%-17s %8s %8s %6s | %8s %8s %6s %6s | %8s %6s | %8s %7s\n", "", "one ns", "other",
              "ratio", "4096 ns", "other", "ratio", "alone", "64 ns", "ratio", "f32 ns", "f64/f32");
  const auto print = [&](const Compiled& compiled, Function f) {
    const Measured m = measure(model, compiled, f, others);
    std::printf(
        "%-17s %8.1f %8.1f %5.2fx | %8.1f %8.1f %5.1fx %5.1fx | %8.1f %5.1fx | %8.1f %6.2fx\n",
        name(f), m.one, m.other, m.other / m.one, m.rows64, m.other_rows, m.other_rows / m.rows64,
        m.other / m.rows64, m.hot64, m.other / m.hot64, m.rows32, m.rows64 / m.rows32);
    std::fflush(stdout);
  };
  for (const Function f : functions) print(fast, f);
  for (const Function f : matrices) {
    int all = 0, entries = 0;
    for (std::size_t k = 0; k < sparse.shape(f).outputs.size(); ++k) {
      const codegen::Pattern& p = sparse.pattern(f, static_cast<int>(k));
      all += p.rows * p.cols;
      entries += p.size();
    }
    std::printf("nonzeros, %d of %d entries:\n", entries, all);
    print(sparse, f);
  }
  for (const Function f : functions) {
    const codegen::Program& p = fast.program(f);
    if (!p.is_compiled()) continue;
    const FormReport form = fast.form(f);
    std::printf("  %-17s one: %d instructions, %zu bytes; lanes: %d, %zu; %s, %s (%s)\n", name(f),
                p.one_state()->instructions(), p.one_state()->code_bytes(),
                p.lanes_code(codegen::Precision::f64)->instructions(),
                p.lanes_code(codegen::Precision::f64)->code_bytes(), name(form.one_state),
                name(form.batch), form.reason.c_str());
    if (form.recursion_ns > 0) {
      std::printf("  %-17s straight line %.0f ns, recursion %.0f; batch %.0f, %.0f, split %.0f\n",
                  "", form.straight_line_ns, form.recursion_ns, form.batch_straight_line_ns,
                  form.batch_recursion_ns, form.batch_split_ns);
    }
  }
}

/// How fast this machine writes: what no result of that size can beat.
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
  const Compiled fast = compile(model, {Function::rnea, Function::aba}, options);
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
