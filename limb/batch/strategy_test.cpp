// Execution strategies: which one is chosen, which ones can be requested, and that they agree.
// Robots with closed loops; user-defined programs in batches.
#include "limb/batch/strategy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "limb/base/testing/worst.hpp"
#include "limb/batch/compiled.hpp"
#include "limb/batch/run_rows.hpp"
#include "limb/codegen/record/function_tracer.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/loops.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::Sample;
constexpr double kEps = std::numeric_limits<double>::epsilon();

template <typename T>
std::vector<ConstStateRows<T>> const_rows(const std::vector<RowMatrix<T>>& m) {
  std::vector<ConstStateRows<T>> rows;
  for (const auto& x : m) rows.push_back({x.data(), x.rows(), x.cols()});
  return rows;
}
template <typename T>
std::vector<StateRows<T>> rows(std::vector<RowMatrix<T>>& m) {
  std::vector<StateRows<T>> all;
  for (auto& x : m) all.push_back({x.data(), x.rows(), x.cols()});
  return all;
}

/// All results of a function on N states near the sample's.
template <typename T>
std::vector<RowMatrix<T>> results(const Compiled& fast, DynamicsFunction f, const Sample& s,
                                  int states, int threads = 1) {
  testing::Random random(11);
  const Eigen::Index n = s.v.size();
  std::vector<RowMatrix<T>> in = {RowMatrix<T>(states, s.q.size()), RowMatrix<T>(states, n),
                                  RowMatrix<T>(states, n)};
  for (int i = 0; i < states; ++i) {
    const VectorX<double> step = testing::random_numbers(random, static_cast<int>(n));
    in[0].row(i) =
        testing::integrate_configuration<double>(s.model, s.q, step).transpose().template cast<T>();
    for (const std::size_t k : {1, 2}) {
      in[k].row(i) =
          testing::random_numbers(random, static_cast<int>(n)).transpose().template cast<T>();
    }
  }
  const std::size_t outputs = f == DynamicsFunction::aba                ? 1
                              : f == DynamicsFunction::rnea_derivatives ? 2
                                                                        : 3;
  std::vector<RowMatrix<T>> out(
      outputs, RowMatrix<T>::Constant(states, f == DynamicsFunction::aba ? n : n * n, T(7)));
  fast.run(f, const_rows(in), rows(out), {.threads = threads});
  return out;
}

template <typename T>
double relative(const std::vector<RowMatrix<T>>& x, const std::vector<RowMatrix<double>>& y) {
  Worst worst;
  for (std::size_t k = 0; k < x.size(); ++k) {
    worst.add((x[k].template cast<double>() - y[k]).norm() / (1 + y[k].norm()));
  }
  return worst.value();
}

TEST(Strategy, AllGiveTheSameDerivatives) {
  const Sample s = testing::sample_of("quadruped", load_model("builtin:quadruped"), 3);
  for (const DynamicsFunction f :
       {DynamicsFunction::rnea_derivatives, DynamicsFunction::aba_derivatives}) {
    CompileOptions options;
    options.strategy = Strategy::straight_line;
    const Compiled straight = compile(s.model, {f}, options);
    options.strategy = Strategy::recursion;
    const Compiled loops = compile(s.model, {f}, options);
    const auto expected = results<double>(straight, f, s, 37);
    // Other rounding order, and the condition of the mass matrix (1e4) where it is inverted.
    const double tolerance = (f == DynamicsFunction::aba_derivatives ? 1e6 : 256) * kEps;
    EXPECT_LT(relative(results<double>(loops, f, s, 37), expected), tolerance);
    EXPECT_LT(relative(results<double>(loops, f, s, 300, 2), results<double>(straight, f, s, 300)),
              tolerance);
    EXPECT_LT(relative(results<float>(loops, f, s, 37), expected), tolerance * 0x1p29);
    EXPECT_LT(relative(results<float>(straight, f, s, 37), expected), tolerance * 0x1p29);
    if (f != DynamicsFunction::aba_derivatives) continue;
    options.strategy = Strategy::split;
    const Compiled split = compile(s.model, {f}, options);
    EXPECT_LT(relative(results<double>(split, f, s, 37), expected), tolerance);
    EXPECT_LT(relative(results<double>(split, f, s, 300, 2), results<double>(straight, f, s, 300)),
              tolerance);
    EXPECT_LT(relative(results<float>(split, f, s, 37), expected), tolerance * 0x1p29);
  }
}

// By columns each state is copied out and back. Floats are computed in double and rounded once.
TEST(Strategy, RecursionHasTheSameBitsByRowsAndByColumns) {
  const Sample s = testing::sample_of("quadruped", load_model("builtin:quadruped"), 3);
  const Eigen::Index n = s.v.size();
  CompileOptions options;
  options.strategy = Strategy::recursion;
  for (const DynamicsFunction f :
       {DynamicsFunction::rnea, DynamicsFunction::crba, DynamicsFunction::rnea_derivatives,
        DynamicsFunction::centroidal}) {
    SCOPED_TRACE(to_text(f));
    const Compiled loops = compile(s.model, {f}, options);
    const codegen::Signature& shape = loops.shape(f);
    testing::Random random(21);
    for (const int states : {1, 2, 65, 130}) {
      SCOPED_TRACE(states);
      std::vector<RowMatrix<double>> in, expected;
      for (const codegen::Array& array : shape.inputs) {
        in.emplace_back(states, array.size());
        for (int i = 0; i < states; ++i) {
          VectorX<double> x = testing::random_numbers(random, static_cast<int>(n));
          if (array.name == "q") x = testing::integrate_configuration<double>(s.model, s.q, x);
          in.back().row(i) = x.transpose();
        }
        in.back() = in.back().cast<float>().cast<double>().eval();  // exact in both precisions
      }
      // One state after the other.
      for (const codegen::Array& array : shape.outputs) expected.emplace_back(states, array.size());
      for (int i = 0; i < states; ++i) {
        std::vector<std::span<const double>> from;
        std::vector<std::span<double>> to;
        for (const auto& x : in) from.emplace_back(&x(i, 0), static_cast<std::size_t>(x.cols()));
        for (auto& x : expected) to.emplace_back(&x(i, 0), static_cast<std::size_t>(x.cols()));
        loops.run(f, from, to);
      }
      const auto check = [&](auto number, auto order, const BatchOptions& batch) {
        using T = decltype(number);
        constexpr int kOrder = decltype(order)::value;
        using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, kOrder>;
        constexpr codegen::Layout kLayout =
            kOrder == Eigen::RowMajor ? codegen::Layout::rows : codegen::Layout::columns;
        std::vector<Rows> arguments, found;
        std::vector<ConstStateRows<T>> from;
        std::vector<StateRows<T>> to;
        for (const auto& x : in) arguments.push_back(x.template cast<T>());
        for (const auto& x : expected) found.push_back(Rows::Constant(states, x.cols(), T(7)));
        for (const auto& x : arguments) from.push_back({x.data(), x.rows(), x.cols(), kLayout});
        for (auto& x : found) to.push_back({x.data(), x.rows(), x.cols(), kLayout});
        loops.run(f, from, to, batch);
        for (std::size_t k = 0; k < found.size(); ++k) {
          EXPECT_EQ(found[k], Rows(expected[k].template cast<T>())) << k;
        }
      };
      using ByRows = std::integral_constant<int, Eigen::RowMajor>;
      using ByColumns = std::integral_constant<int, Eigen::ColMajor>;
      for (const BatchOptions& batch : {BatchOptions{}, BatchOptions{.threads = 2, .grain = 3}}) {
        check(1.0, ByRows(), batch);
        check(1.0, ByColumns(), batch);
        check(1.0f, ByRows(), batch);
        check(1.0f, ByColumns(), batch);
      }
    }
  }
}

TEST(Strategy, HasNames) {
  EXPECT_STREQ(to_text(Strategy::automatic), "automatic");
  EXPECT_STREQ(to_text(Strategy::straight_line), "straight_line");
  EXPECT_STREQ(to_text(Strategy::recursion), "recursion");
  EXPECT_STREQ(to_text(Strategy::split), "split");
}

// The number of calls: one to warm the caches, then 3 to 64, until a millisecond is spent.
TEST(Strategy, MeasurementsRepeatShortCalls) {
  int calls = 0;
  EXPECT_GE(fastest_ns([&] { ++calls; }), 0);
  EXPECT_GE(calls, 4);
  EXPECT_LE(calls, 65);
  calls = 0;
  const double ns = fastest_ns([&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  });
  EXPECT_EQ(calls, 4);
  EXPECT_GE(ns, 2e6);
}

TEST(Strategy, ReportHasTimesOnlyWhereItMeasured) {
  if (!codegen::why_no_machine_code().empty()) GTEST_SKIP() << codegen::why_no_machine_code();
  const Model<double> model = load_model("builtin:2r");
  const auto times = [&](DynamicsFunction f, Strategy strategy, bool parameters = false) {
    CompileOptions options;
    options.strategy = strategy;
    if (parameters) options.added_inertias = {BodyId(1)};
    const StrategyReport r = compile(model, {f}, options).strategy(f);
    return std::vector<bool>{r.straight_line_ns > 0, r.recursion_ns > 0,
                             r.batch_straight_line_ns > 0, r.batch_recursion_ns > 0,
                             r.batch_split_ns > 0};
  };
  using Bools = std::vector<bool>;
  const Bools none = {false, false, false, false, false};
  using F = DynamicsFunction;
  EXPECT_EQ(times(F::rnea, Strategy::automatic), none);
  EXPECT_EQ(times(F::rnea_derivatives, Strategy::straight_line), none);
  EXPECT_EQ(times(F::rnea_derivatives, Strategy::recursion), none);
  EXPECT_EQ(times(F::rnea_derivatives, Strategy::automatic),
            (Bools{true, true, true, true, false}));
  EXPECT_EQ(times(F::aba_derivatives, Strategy::automatic), (Bools{true, true, true, true, true}));
  EXPECT_EQ(times(F::aba_derivatives, Strategy::split), (Bools{true, true, false, false, false}));
  // The templates build a model for each state with parameters: only lanes are measured.
  EXPECT_EQ(times(F::aba_derivatives, Strategy::automatic, true),
            (Bools{false, false, true, false, true}));
  EXPECT_EQ(times(F::rnea_derivatives, Strategy::automatic, true), none);
}

TEST(Strategy, IsReported) {
  const Model<double> robot = load_model("builtin:arm7");
  CompileOptions options;
  const Compiled fast =
      compile(robot, {DynamicsFunction::rnea, DynamicsFunction::rnea_derivatives});
  const bool jit = codegen::why_no_machine_code().empty();
  if (jit) {
    EXPECT_EQ(fast.strategy(DynamicsFunction::rnea).reason, "always faster");
    EXPECT_EQ(fast.strategy(DynamicsFunction::rnea).one_state, Strategy::straight_line);
    const StrategyReport measured = fast.strategy(DynamicsFunction::rnea_derivatives);
    EXPECT_EQ(measured.reason, "measured");
    EXPECT_EQ(measured.one_state == Strategy::recursion,
              measured.recursion_ns < measured.straight_line_ns);
    EXPECT_EQ(measured.batch == Strategy::recursion,
              measured.batch_recursion_ns < measured.batch_straight_line_ns);
    EXPECT_GT(measured.straight_line_ns, 0);
    EXPECT_GT(measured.batch_recursion_ns, 0);
    EXPECT_EQ(measured.batch_split_ns, 0);
    const Compiled forward = compile(robot, {DynamicsFunction::aba_derivatives});
    const StrategyReport three = forward.strategy(DynamicsFunction::aba_derivatives);
    Least best;
    best.add(three.batch_straight_line_ns, three.batch_recursion_ns, three.batch_split_ns);
    EXPECT_GT(best.value(), 0);
    EXPECT_EQ(three.batch == Strategy::split, three.batch_split_ns == best.value());
    options.strategy = Strategy::split;
    const StrategyReport requested = compile(robot, {DynamicsFunction::aba_derivatives}, options)
                                         .strategy(DynamicsFunction::aba_derivatives);
    EXPECT_EQ(requested.batch, Strategy::split);
    EXPECT_EQ(requested.reason, "requested");
    EXPECT_NE(requested.one_state, Strategy::split);
  } else {
    EXPECT_EQ(fast.strategy(DynamicsFunction::rnea).one_state, Strategy::recursion);
  }
  options.strategy = Strategy::recursion;
  const Compiled loops = compile(robot, {DynamicsFunction::rnea}, options);
  EXPECT_EQ(loops.strategy(DynamicsFunction::rnea).reason, "requested");
  EXPECT_EQ(loops.strategy(DynamicsFunction::rnea).batch, Strategy::recursion);
  EXPECT_EQ(testing::message([&] { loops.program(DynamicsFunction::rnea); }),
            "rnea: not compiled: runs the recursive template");
  CompileOptions split;
  split.strategy = Strategy::split;
  EXPECT_EQ(testing::message([&] { compile(robot, {DynamicsFunction::rnea}, split); }),
            "rnea: strategy is split, expected automatic (not a product of matrices)");
  options.frames = {FrameId(0)};
  EXPECT_EQ(
      testing::message([&] { compile(robot, {DynamicsFunction::operational_space}, options); }),
      "operational_space: strategy is recursion, expected straight_line (the templates have no "
      "such result)");
}

// Which rows of loops are independent depends on the state, so the templates are used.
TEST(Strategy, IsRecursionForForwardDynamicsWithLoops) {
  const Model<double> model = build_model(testing::random_tree_with_loops(1, false), Base::free);
  const Sample s = testing::sample_of("loops", model, 5);
  const Compiled fast = compile(model, {DynamicsFunction::rnea, DynamicsFunction::aba});
  EXPECT_EQ(fast.strategy(DynamicsFunction::aba).one_state, Strategy::recursion);
  EXPECT_EQ(fast.strategy(DynamicsFunction::aba).reason,
            "4 closed loops, whose rank depends on the state");
  Workspace<double> work(model);
  VectorX<double> a(s.v.size()), expected(s.v.size());
  aba(model, work, s.q, s.v, s.tau, expected);
  fast.aba(s.q, s.v, s.tau, a);
  EXPECT_EQ(a, expected);
  const auto many = results<double>(fast, DynamicsFunction::aba, s, 40);
  EXPECT_EQ(relative(results<double>(fast, DynamicsFunction::aba, s, 40, 2), many), 0);
  CompileOptions straight;
  straight.strategy = Strategy::straight_line;
  EXPECT_EQ(
      testing::message([&] { compile(model, {DynamicsFunction::aba}, straight); }),
      "aba: strategy is straight_line, expected recursion (4 closed loops, whose rank depends "
      "on the state)");
  EXPECT_EQ(testing::message([&] { codegen::trace(model, DynamicsFunction::aba); }),
            "record: model is one with 4 closed loops, whose rank depends on the state, expected a "
            "tree for aba");
}

// A mass and a length as parameters of each state.
TEST(Strategy, RecursionTakesParameters) {
  const Model<double> model = load_model("builtin:arm7");
  const Sample s = testing::sample_of("arm", model, 5);
  CompileOptions options;
  options.added_inertias = {BodyId(7)};
  options.shifted_joints = {BodyId(4)};
  const Compiled straight = compile(model, {DynamicsFunction::rnea}, options);
  options.strategy = Strategy::recursion;
  const Compiled loops = compile(model, {DynamicsFunction::rnea}, options);
  VectorX<double> added = VectorX<double>::Zero(10), shifted(3), x(7), y(7);
  added[0] = 2;
  shifted << 0.1, 0, 0.2;
  const auto span = [](const VectorX<double>& v) {
    return std::span<const double>(v.data(), static_cast<std::size_t>(v.size()));
  };
  const std::span<const double> in[] = {span(s.q), span(s.v), span(s.a), span(added),
                                        span(shifted)};
  const std::span<double> to_x[] = {{x.data(), 7}}, to_y[] = {{y.data(), 7}};
  straight.run(DynamicsFunction::rnea, in, to_x);
  loops.run(DynamicsFunction::rnea, in, to_y);
  EXPECT_LT((x - y).norm(), 64 * kEps * (1 + y.norm()));
}

// A mass as parameter of each state, in straight-line and split code.
TEST(Strategy, SplitTakesParameters) {
  if (!codegen::why_no_machine_code().empty()) GTEST_SKIP() << codegen::why_no_machine_code();
  const Model<double> model = load_model("builtin:quadruped");
  const Sample s = testing::sample_of("quadruped", model, 5);
  constexpr int kStates = 21;
  const int n = model.nv();
  CompileOptions options;
  options.added_inertias = {BodyId(model.body_count() - 1)};
  const auto run = [&](Strategy strategy) {
    options.strategy = strategy;
    const Compiled fast = compile(model, {DynamicsFunction::aba_derivatives}, options);
    testing::Random random(3);
    std::vector<RowMatrix<double>> in = {
        s.q.transpose().replicate(kStates, 1), RowMatrix<double>(kStates, n),
        RowMatrix<double>(kStates, n), RowMatrix<double>::Zero(kStates, 10)};
    for (int i = 0; i < kStates; ++i) {
      for (const std::size_t k : {1, 2}) {
        in[k].row(i) = testing::random_numbers(random, n).transpose();
      }
      in[3](i, 0) = 0.1 * i;
    }
    std::vector<RowMatrix<double>> out(3, RowMatrix<double>(kStates, n * n));
    fast.run(DynamicsFunction::aba_derivatives, const_rows(in), rows(out));
    return out;
  };
  const auto expected = run(Strategy::straight_line);
  EXPECT_LT(relative(run(Strategy::split), expected), 1e6 * kEps);
  EXPECT_LT(relative(run(Strategy::automatic), expected), 1e6 * kEps);
  EXPECT_GT((expected[2].row(0) - expected[2].row(20)).norm(), 1e-3);  // the mass matters
}

// Results larger than the caches, streamed automatically and on request; only threads allocate.
TEST(Stores, StreamingGivesTheSameResults) {
  EXPECT_FALSE(should_stream(1 << 20));
  EXPECT_TRUE(should_stream(1 << 30));
  const Model<double> model = load_model("builtin:quadruped");
  const Sample s = testing::sample_of("quadruped", model, 5);
  constexpr int kStates = 8000;
  const int n = model.nv();
  ASSERT_TRUE(should_stream(std::int64_t{8} * kStates * n * n));
  const Compiled fast = compile(model, {DynamicsFunction::crba});
  RowMatrix<double> q = s.q.transpose().replicate(kStates, 1), expected(kStates, n * n);
  for (int i = 0; i < kStates; ++i) q(i, q.cols() - 1) = 0.001 * i;
  fast.crba(q, expected, {.stores = StoreKind::cached});
  for (const StoreKind stores : {StoreKind::automatic, StoreKind::streaming}) {
    for (const int threads : {1, 2}) {
      RowMatrix<double> M = RowMatrix<double>::Constant(kStates, n * n, 7);
      const auto run = [&] { fast.crba(q, M, {.threads = threads, .stores = stores}); };
      run();
      EXPECT_EQ(M, expected);
      if (testing::kCountsAllocations && threads == 1) {
        EXPECT_EQ(testing::allocations(run), 0);
      }
    }
  }
}

TEST(Strategy, DoesNotAllocateForOneState) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "allocations are not counted in this build";
  const Sample s = testing::sample_of("arm", load_model("builtin:arm7"), 3);
  VectorX<double> packed(28);
  MatrixX<double> dq(7, 7), dv(7, 7), inverse(7, 7);
  const auto span = [](const VectorX<double>& v) {
    return std::span<const double>(v.data(), static_cast<std::size_t>(v.size()));
  };
  for (const Strategy strategy : {Strategy::straight_line, Strategy::recursion}) {
    CompileOptions options;
    options.strategy = strategy;
    const Compiled fast =
        compile(s.model,
                {DynamicsFunction::rnea_derivatives, DynamicsFunction::aba_derivatives,
                 DynamicsFunction::crba_packed},
                options);
    const auto all = [&] {
      const std::span<const double> in[] = {span(s.q), span(s.v), span(s.a)};
      const std::span<double> out[] = {{dq.data(), 49}, {dv.data(), 49}, {inverse.data(), 49}};
      fast.run(DynamicsFunction::rnea_derivatives, in, std::span(out).first(2));
      fast.run(DynamicsFunction::aba_derivatives, in, out);
      fast.crba_packed(s.q, packed);
    };
    all();
    EXPECT_EQ(testing::allocations(all), 0) << to_text(strategy);
  }
}

TEST(Packed, IsTheUpperTriangle) {
  const Sample s = testing::sample_of("quadruped", load_model("builtin:quadruped"), 3);
  const int n = s.model.nv();
  const Compiled fast = compile(s.model, {DynamicsFunction::crba, DynamicsFunction::crba_packed});
  MatrixX<double> M(n, n);
  VectorX<double> packed(n * (n + 1) / 2);
  fast.crba(s.q, M);
  fast.crba_packed(s.q, packed);
  RowMatrix<double> Q = s.q.transpose().replicate(9, 1), P(9, packed.size());
  fast.crba_packed(Q, P);
  for (int c = 0, k = 0; c < n; ++c) {
    for (int r = 0; r <= c; ++r, ++k) {
      EXPECT_EQ(packed[k], M(r, c));
      EXPECT_EQ(P(8, k), M(r, c));
    }
  }
}

// Ranges make up all states in order, in whole steps and pieces of one grain.
TEST(RunRows, RangesCoverAllStates) {
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  const auto ranges = [](std::int64_t states, std::int64_t step, std::int64_t grain, int threads) {
    Ranges found;
    std::mutex mutex;
    for_ranges(states, step, grain, threads, [&](std::int64_t first, std::int64_t count) {
      const std::lock_guard lock(mutex);
      found.emplace_back(first, count);
    });
    std::sort(found.begin(), found.end());
    return found;
  };
  EXPECT_EQ(ranges(0, 8, 64, 1), Ranges());
  EXPECT_EQ(ranges(5, 8, 64, 1), (Ranges{{0, 5}}));
  EXPECT_EQ(ranges(20, 8, 8, 1), (Ranges{{0, 8}, {8, 12}}));
  EXPECT_EQ(ranges(50, 8, 17, 1), (Ranges{{0, 16}, {16, 16}, {32, 18}}));
  EXPECT_EQ(ranges(50, 8, 1, 1), (Ranges{{0, 8}, {8, 8}, {16, 8}, {24, 8}, {32, 8}, {40, 10}}));
  EXPECT_EQ(ranges(50, 8, 1000, 2), (Ranges{{0, 50}}));
  for (const int threads : {1, 2, 0}) {
    for (const std::int64_t states : {1, 7, 8, 9, 64, 1001}) {
      std::int64_t next = 0;
      for (const auto& [first, count] : ranges(states, 8, 24, threads)) {
        EXPECT_EQ(first, next);
        EXPECT_TRUE(count % 8 == 0 || first + count == states);
        EXPECT_TRUE(count >= 8 || count == states);
        next += count;
      }
      EXPECT_EQ(next, states);
    }
  }
}

// More than three eighths of the largest cache, of which at most 32 MiB count.
TEST(Stores, StreamResultsLargerThanThreeEighthsOfTheCache) {
  std::int64_t cache = 32 << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
  if (const std::int64_t found = sysconf(_SC_LEVEL3_CACHE_SIZE); found > 0) {
    cache = std::min<std::int64_t>(cache, found);
  }
#endif
  EXPECT_FALSE(should_stream(cache * 3 / 8));
  EXPECT_TRUE(should_stream(cache * 3 / 8 + 8));
}

// A user-defined program: rows, columns, floats, threads, errors.
TEST(RunRows, TakesAnyProgram) {
  codegen::Tracer tracer("norm");
  const VectorX<Traced> x = tracer.input("x", 3);
  tracer.output("r", VectorX<Traced>::Constant(1, sqrt(x.dot(x))));
  const codegen::Program p(tracer.finish());
  const int states = 3001;
  RowMatrix<double> X(states, 3), R(states, 1);
  for (int i = 0; i < states; ++i) X.row(i) << 3 * i, 4 * i, 0;
  const ConstStateRows<double> in[] = {{X.data(), states, 3}};
  const StateRows<double> out[] = {{R.data(), states, 1}};
  for (const int threads : {1, 2, 0}) {
    R.setConstant(-1);
    run_rows<double>(p, in, out, {.threads = threads, .grain = 100});
    for (int i = 0; i < states; ++i) ASSERT_EQ(R(i, 0), 5.0 * i);
  }
  const MatrixX<float> columns = X.cast<float>();
  MatrixX<float> lengths(states, 1);
  const ConstStateRows<float> in32[] = {{columns.data(), states, 3, codegen::Layout::columns}};
  const StateRows<float> out32[] = {{lengths.data(), states, 1, codegen::Layout::columns}};
  run_rows<float>(p, in32, out32);
  EXPECT_EQ(lengths(1000, 0), 5000.0f);
  const StateRows<double> short_out[] = {{R.data(), states - 1, 1}};
  EXPECT_EQ(testing::message([&] { run_rows<double>(p, in, short_out); }),
            "norm: r is 3000 x 1, expected 3001 x 1 (one state per row)");
}

}  // namespace
}  // namespace limb
