// Compiled functions: one state, batches of any size, threads, float, added inertias, errors,
// allocations.
#include "limb/batch/compiled.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::Sample;
constexpr double kEps = std::numeric_limits<double>::epsilon();
const std::vector<DynamicsFunction> kSix = {
    DynamicsFunction::rnea, DynamicsFunction::bias, DynamicsFunction::gravity,
    DynamicsFunction::crba, DynamicsFunction::aba,  DynamicsFunction::mass_inverse};

Sample robot(const char* name = "builtin:quadruped") {
  return testing::sample_of(name, load_model(name), 3);
}

/// N states in which every number differs.
struct States {
  RowMatrix<double> q, v, a, tau;
  States(const Sample& s, int count)
      : q(count, s.q.size()),
        v(count, s.v.size()),
        a(count, s.v.size()),
        tau(RowMatrix<double>::Constant(count, s.v.size(), 7)) {
    testing::Random random(9);
    for (int i = 0; i < count; ++i) {
      const VectorX<double> step = testing::random_numbers(random, static_cast<int>(s.v.size()));
      q.row(i) = testing::integrate_configuration<double>(s.model, s.q, step).transpose();
      v.row(i) = testing::random_numbers(random, static_cast<int>(s.v.size())).transpose();
      a.row(i) = testing::random_numbers(random, static_cast<int>(s.v.size())).transpose();
    }
  }
};

double relative(const MatrixX<double>& x, const MatrixX<double>& y) {
  return (x - y).norm() / (1 + y.norm());
}

TEST(Compiled, OneStateMatchesTheTemplates) {
  const Sample s = robot();
  const Compiled fast = compile(s.model, kSix);
  EXPECT_EQ(fast.why_not_compiled(), codegen::why_no_machine_code());
  Workspace<double> work(s.model);
  MassFactor<double> factor(s.model);
  const Eigen::Index n = s.v.size();
  VectorX<double> x(n), y(n);
  MatrixX<double> M(n, n), W(n, n);
  // Sums of some hundred products; `many` where a mass matrix of condition 1e4 is inverted.
  const double few = 64 * kEps, many = 1e5 * kEps;
  fast.rnea(s.q, s.v, s.a, x);
  rnea(s.model, work, s.q, s.v, s.a, y);
  EXPECT_LT(relative(x, y), few);
  fast.bias(s.q, s.v, x);
  bias(s.model, work, s.q, s.v, y);
  EXPECT_LT(relative(x, y), few);
  fast.gravity(s.q, x);
  gravity(s.model, work, s.q, y);
  EXPECT_LT(relative(x, y), few);
  fast.aba(s.q, s.v, s.tau, x);
  aba(s.model, work, s.q, s.v, s.tau, y);
  EXPECT_LT(relative(x, y), many);
  fast.crba(s.q, M);
  crba(s.model, work, s.q, W);
  EXPECT_LT(relative(M, W), few);
  fast.mass_inverse(s.q, M);
  mass_inverse(s.model, work, s.q, factor, W);
  EXPECT_LT(relative(M, W), many);
}

// Functions with several results, and the second names: the bits of run(), for one state and for N.
TEST(Compiled, EveryFunctionHasAMethod) {
  using F = DynamicsFunction;
  const Sample s = robot();
  CompileOptions options;
  options.frames = {s.model.find_frame("FL_foot"), s.model.find_frame("trunk")};
  std::vector<F> functions;
  for (int f = 0; f < kFunctionCount; ++f) functions.push_back(static_cast<F>(f));
  const Compiled fast = compile(s.model, functions, options);
  const int n = static_cast<int>(s.v.size()), N = 11;
  const States x(s, N);

  // One state, then N states, into matrices of the same total sizes.
  const auto check = [&](F function, const auto& one, const auto& many) {
    const codegen::Signature& shape = fast.shape(function);
    std::vector<VectorX<double>> expected;
    std::vector<MatrixX<double>> found;
    std::vector<RowMatrix<double>> expected_rows, found_rows;
    std::vector<std::span<const double>> in;
    std::vector<ConstStateRows<double>> in_rows;
    for (const codegen::Array& array : shape.inputs) {
      const VectorX<double>& v = array.name == "q" ? s.q : array.name == "v" ? s.v : s.a;
      const RowMatrix<double>& rows = array.name == "q" ? x.q : array.name == "v" ? x.v : x.a;
      in.emplace_back(v.data(), static_cast<std::size_t>(v.size()));
      in_rows.push_back({rows.data(), rows.rows(), rows.cols()});
    }
    for (const codegen::Array& array : shape.outputs) {
      expected.push_back(VectorX<double>::Zero(array.size()));
      found.push_back(MatrixX<double>::Zero(array.rows, array.cols));
      expected_rows.push_back(RowMatrix<double>::Zero(N, array.size()));
      found_rows.push_back(RowMatrix<double>::Zero(N, array.size()));
    }
    std::vector<std::span<double>> out;
    std::vector<StateRows<double>> out_rows;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      out.emplace_back(expected[k].data(), static_cast<std::size_t>(expected[k].size()));
      out_rows.push_back({expected_rows[k].data(), N, expected_rows[k].cols()});
    }
    fast.run(function, in, out);
    fast.run(function, in_rows, out_rows);
    one(found);
    many(found_rows);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_GT(expected[k].norm(), 0);
      EXPECT_EQ(expected[k], found[k].reshaped()) << to_text(function) << k;
      EXPECT_EQ(expected_rows[k], found_rows[k]) << to_text(function) << k;
    }
  };
  using One = std::vector<MatrixX<double>>;
  using Many = std::vector<RowMatrix<double>>;
  const auto &q = s.q, &v = s.v, &a = s.a;
  check(
      F::rnea, [&](One& r) { fast.inverse_dynamics(q, v, a, r[0].col(0)); },
      [&](Many& r) { fast.inverse_dynamics(x.q, x.v, x.a, r[0]); });
  check(
      F::bias, [&](One& r) { fast.bias(q, v, r[0].col(0)); },
      [&](Many& r) { fast.bias(x.q, x.v, r[0]); });
  check(
      F::gravity, [&](One& r) { fast.gravity(q, r[0].col(0)); },
      [&](Many& r) { fast.gravity(x.q, r[0]); });
  check(
      F::mass_inverse, [&](One& r) { fast.mass_inverse(q, r[0]); },
      [&](Many& r) { fast.mass_inverse(x.q, r[0]); });
  check(
      F::aba, [&](One& r) { fast.forward_dynamics(q, v, a, r[0].col(0)); },
      [&](Many& r) { fast.forward_dynamics(x.q, x.v, x.a, r[0]); });
  check(
      F::crba, [&](One& r) { fast.mass_matrix(q, r[0]); },
      [&](Many& r) { fast.mass_matrix(x.q, r[0]); });
  check(
      F::crba_packed, [&](One& r) { fast.crba_packed(q, r[0].col(0)); },
      [&](Many& r) { fast.crba_packed(x.q, r[0]); });
  check(
      F::frame_poses, [&](One& r) { fast.frame_poses(q, r[0], r[1]); },
      [&](Many& r) { fast.frame_poses(x.q, r[0], r[1]); });
  check(
      F::frame_jacobians, [&](One& r) { fast.frame_jacobians(q, r[0]); },
      [&](Many& r) { fast.frame_jacobians(x.q, r[0]); });
  check(
      F::centroidal, [&](One& r) { fast.centroidal(q, r[0], r[1].col(0)); },
      [&](Many& r) { fast.centroidal(x.q, r[0], r[1]); });
  check(
      F::operational_space, [&](One& r) { fast.operational_space(q, r[0], r[1]); },
      [&](Many& r) { fast.operational_space(x.q, r[0], r[1]); });
  check(
      F::rnea_derivatives, [&](One& r) { fast.inverse_dynamics_derivatives(q, v, a, r[0], r[1]); },
      [&](Many& r) { fast.inverse_dynamics_derivatives(x.q, x.v, x.a, r[0], r[1]); });
  check(
      F::rnea_derivatives, [&](One& r) { fast.rnea_derivatives(q, v, a, r[0], r[1]); },
      [&](Many& r) { fast.rnea_derivatives(x.q, x.v, x.a, r[0], r[1]); });
  check(
      F::aba_derivatives,
      [&](One& r) { fast.forward_dynamics_derivatives(q, v, a, r[0], r[1], r[2]); },
      [&](Many& r) { fast.forward_dynamics_derivatives(x.q, x.v, x.a, r[0], r[1], r[2]); });
  check(
      F::aba_derivatives, [&](One& r) { fast.aba_derivatives(q, v, a, r[0], r[1], r[2]); },
      [&](Many& r) { fast.aba_derivatives(x.q, x.v, x.a, r[0], r[1], r[2]); });

  MatrixX<double> wrong(n, n + 1), square(n, n);
  EXPECT_EQ(testing::message([&] { fast.rnea_derivatives(q, v, a, square, wrong); }),
            "rnea_derivatives: dtau_dv is 18 x 19, expected 18 x 18");
}

TEST(Compiled, BothNamesOfAFunctionAreKnown) {
  for (int f = 0; f < kFunctionCount; ++f) {
    const auto function = static_cast<DynamicsFunction>(f);
    EXPECT_EQ(dynamics_function_named(to_text(function)), function);
  }
  EXPECT_EQ(dynamics_function_named("inverse_dynamics"), DynamicsFunction::rnea);
  EXPECT_EQ(dynamics_function_named("forward_dynamics"), DynamicsFunction::aba);
  EXPECT_EQ(dynamics_function_named("mass_matrix"), DynamicsFunction::crba);
  EXPECT_EQ(dynamics_function_named("inverse_dynamics_derivatives"),
            DynamicsFunction::rnea_derivatives);
  EXPECT_EQ(dynamics_function_named("forward_dynamics_derivatives"),
            DynamicsFunction::aba_derivatives);
}

TEST(Compiled, BatchesOfAnySizeHaveTheBitsOfOneState) {
  const Sample s = robot();
  const Compiled fast = compile(s.model, {DynamicsFunction::rnea});
  for (const int count : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 100, 2500}) {
    States x(s, count);
    RowMatrix<double> expected = x.tau;
    for (int i = 0; i < count; ++i) {
      VectorX<double> tau(s.v.size());
      fast.rnea(x.q.row(i).transpose().eval(), x.v.row(i).transpose().eval(),
                x.a.row(i).transpose().eval(), tau);
      expected.row(i) = tau.transpose();
    }
    fast.rnea(x.q, x.v, x.a, x.tau);
    EXPECT_EQ(x.tau, expected) << count;
    x.tau.setConstant(7);
    fast.rnea(x.q, x.v, x.a, x.tau, {.threads = 2, .grain = 64});
    EXPECT_EQ(x.tau, expected) << count;
    x.tau.setConstant(7);
    fast.rnea(x.q, x.v, x.a, x.tau, {.threads = 0, .grain = 1});
    EXPECT_EQ(x.tau, expected) << count;
  }
}

// The code for large results depends on the alignment of their first entry.
TEST(Compiled, ResultsMayHaveAnyAlignment) {
  const Sample s = robot();
  const Compiled fast = compile(s.model, {DynamicsFunction::crba});
  const int count = 19, entries = static_cast<int>(s.v.size() * s.v.size());
  const States x(s, count);
  const RowMatrix<float> q32 = x.q.cast<float>();
  RowMatrix<double> expected(count, entries);
  RowMatrix<float> expected32(count, entries);
  fast.crba(x.q, expected);
  fast.crba(q32, expected32);
  std::vector<double> buffer(static_cast<std::size_t>(count * entries) + 8);
  for (int shift = 0; shift < 8; ++shift) {
    Eigen::Map<RowMatrix<double>> M(buffer.data() + shift, count, entries);
    M.setConstant(7);
    fast.crba(x.q, M);
    EXPECT_EQ(M, expected) << shift;
    Eigen::Map<RowMatrix<float>> M32(reinterpret_cast<float*>(buffer.data()) + shift, count,
                                     entries);
    M32.setConstant(7);
    fast.crba(q32, M32);
    EXPECT_EQ(M32, expected32) << shift;
  }
}

// Eigen matrices are stored by columns by default.
TEST(Compiled, BatchesByColumnsHaveTheSameBits) {
  const Sample s = robot();
  const Compiled fast = compile(s.model, {DynamicsFunction::rnea});
  for (const int count : {0, 1, 7, 8, 9, 100, 1500}) {
    States x(s, count);
    fast.rnea(x.q, x.v, x.a, x.tau);
    const MatrixX<double> q = x.q, v = x.v, a = x.a;
    MatrixX<double> tau = MatrixX<double>::Constant(count, s.v.size(), 7);
    fast.rnea(q, v, a, tau);
    EXPECT_EQ(tau, x.tau) << count;
    tau.setConstant(7);
    fast.rnea(q, v, a, tau, {.threads = 2, .grain = 64});
    EXPECT_EQ(tau, x.tau) << count;
  }
}

TEST(Compiled, FloatBatchesHaveFloatAccuracy) {
  const Sample s = robot();
  const Compiled fast = compile(s.model, {DynamicsFunction::rnea, DynamicsFunction::crba});
  for (const int count : {3, 16, 35}) {
    States x(s, count);
    const RowMatrix<float> q = x.q.cast<float>(), v = x.v.cast<float>(), a = x.a.cast<float>();
    RowMatrix<float> tau(count, s.v.size()), M(count, s.v.size() * s.v.size());
    RowMatrix<double> M64(count, s.v.size() * s.v.size());
    fast.rnea(x.q, x.v, x.a, x.tau);
    fast.rnea(q, v, a, tau);
    // Rounding of the arguments and of the sums; worst seen 6 eps.
    const double tolerance = 64 * std::numeric_limits<float>::epsilon();
    EXPECT_LT(relative(tau.cast<double>(), x.tau), tolerance);
    fast.crba(x.q, M64);
    fast.crba(q, M);
    EXPECT_LT(relative(M.cast<double>(), M64), tolerance);
  }
}

TEST(Compiled, EachStateMayHaveAnotherPayload) {
  const Sample s = robot("builtin:arm7");
  const BodyId hand(s.model.body_count() - 1);
  CompileOptions options;
  options.added_inertias = {hand};
  const Compiled fast = compile(s.model, {DynamicsFunction::rnea, DynamicsFunction::aba}, options);
  const int count = 11;
  States x(s, count);
  RowMatrix<double> added(count, 10), found(count, s.v.size()), back(count, s.v.size());
  testing::Random random(4);
  std::vector<Inertia<double>> loads;
  for (int i = 0; i < count; ++i) {
    const double m = random.uniform(0, 5);
    const Vector3<double> c = random.direction<double>() * 0.1;
    const Matrix3<double> tensor =
        m * (c.squaredNorm() * Matrix3<double>::Identity() - c * c.transpose());
    loads.emplace_back(m, m * c, tensor);
    added.row(i) << m, m * c[0], m * c[1], m * c[2], tensor(0, 0), tensor(0, 1), tensor(0, 2),
        tensor(1, 1), tensor(1, 2), tensor(2, 2);
  }
  const auto rows = [](const RowMatrix<double>& m) {
    return ConstStateRows<double>{m.data(), m.rows(), m.cols()};
  };
  const ConstStateRows<double> in[] = {rows(x.q), rows(x.v), rows(x.a), rows(added)};
  const StateRows<double> out[] = {{found.data(), found.rows(), found.cols()}};
  fast.run(DynamicsFunction::rnea, in, out);
  for (int i = 0; i < count; ++i) {
    const Model<double> heavier =
        s.model.with_added_inertia(hand, loads[static_cast<std::size_t>(i)]);
    Workspace<double> work(heavier);
    VectorX<double> tau(s.v.size());
    rnea(heavier, work, x.q.row(i).transpose(), x.v.row(i).transpose(), x.a.row(i).transpose(),
         tau);
    EXPECT_LT(relative(found.row(i), tau.transpose()), 64 * kEps);
  }
  const ConstStateRows<double> again[] = {rows(x.q), rows(x.v), rows(found), rows(added)};
  const StateRows<double> a[] = {{back.data(), back.rows(), back.cols()}};
  fast.run(DynamicsFunction::aba, again, a);
  EXPECT_LT(relative(back, x.a), 1e5 * kEps);  // condition of the mass matrix
}

TEST(Compiled, DoesNotAllocateForOneState) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "allocations are not counted in this build";
  const Sample s = robot();
  for (const bool interpret : {false, true}) {
    CompileOptions options;
    options.program.interpret = interpret;
    const Compiled fast = compile(s.model, kSix, options);
    VectorX<double> x(s.v.size());
    MatrixX<double> M(s.v.size(), s.v.size());
    const auto all = [&] {
      fast.rnea(s.q, s.v, s.a, x);
      fast.bias(s.q, s.v, x);
      fast.gravity(s.q, x);
      fast.aba(s.q, s.v, s.tau, x);
      fast.crba(s.q, M);
      fast.mass_inverse(s.q, M);
    };
    all();  // without machine code, allocates this thread's workspace
    EXPECT_EQ(testing::allocations(all), 0);
  }
}

// Fewer states than lanes are copied into a buffer of this thread.
TEST(Compiled, DoesNotAllocateForFewStates) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "allocations are not counted in this build";
  const Sample s = robot();
  const Compiled fast = compile(s.model, {DynamicsFunction::rnea});
  States x(s, 5);
  const RowMatrix<float> q = x.q.cast<float>(), v = x.v.cast<float>(), a = x.a.cast<float>();
  RowMatrix<float> tau(5, s.v.size());
  const auto all = [&] {
    fast.rnea(x.q, x.v, x.a, x.tau);
    fast.rnea(q, v, a, tau);
  };
  all();
  EXPECT_EQ(testing::allocations(all), 0);
}

TEST(Compiled, RunsTheTemplatesWithoutMachineCode) {
  const Sample s = robot();
  CompileOptions options;
  options.program.interpret = true;
  const Compiled slow = compile(s.model, kSix, options), fast = compile(s.model, kSix);
  const std::string why = codegen::why_no_machine_code();
  EXPECT_EQ(slow.why_not_compiled(), why.empty() ? "interpretation requested" : why);
  Workspace<double> work(s.model);
  VectorX<double> x(s.v.size()), y(s.v.size());
  slow.rnea(s.q, s.v, s.a, x);
  rnea(s.model, work, s.q, s.v, s.a, y);
  EXPECT_EQ(x, y);
  States states(s, 20);
  RowMatrix<double> tau = states.tau;
  slow.rnea(states.q, states.v, states.a, tau, {.threads = 2, .grain = 4});
  fast.rnea(states.q, states.v, states.a, states.tau);
  EXPECT_LT(relative(tau, states.tau), 64 * kEps);
}

// One entry in common is refused; arrays that touch are not.
TEST(Compiled, ResultMustNotOverlapArguments) {
  const Sample s = robot("builtin:arm7");
  for (const Strategy strategy : {Strategy::straight_line, Strategy::recursion}) {
    CompileOptions options;
    options.strategy = strategy;
    const Compiled fast = compile(s.model, {DynamicsFunction::rnea}, options);
    VectorX<double> expected(7), buffer(21);
    fast.rnea(s.q, s.v, s.a, expected);
    const auto q = buffer.segment(7, 7);
    for (const int at : {0, 1, 7, 13, 14}) {
      SCOPED_TRACE(at);
      buffer.segment(7, 7) = s.q;
      const auto call = [&] { fast.rnea(q, s.v, s.a, buffer.segment(at, 7)); };
      if (at == 0 || at == 14) {
        call();
        EXPECT_EQ(buffer.segment(at, 7), expected);
      } else {
        EXPECT_EQ(testing::message(call), "rnea: tau overlaps q");
        EXPECT_EQ(buffer.segment(7, 7), s.q);
      }
    }
  }
}

TEST(Compiled, ResultsMustNotOverlapEachOther) {
  using Map = Eigen::Map<MatrixX<double>>;
  const Sample s = robot("builtin:arm7");
  constexpr DynamicsFunction kFunction = DynamicsFunction::rnea_derivatives;
  for (const Strategy strategy : {Strategy::straight_line, Strategy::recursion}) {
    CompileOptions options;
    options.strategy = strategy;
    const Compiled fast = compile(s.model, {kFunction}, options);
    MatrixX<double> dq(7, 7), dv(7, 7);
    fast.rnea_derivatives(s.q, s.v, s.a, dq, dv);
    // One state: the second result after the first, before it, and on it.
    VectorX<double> buffer(3 * 49);
    for (const int at : {0, 1, 49, 97, 98}) {
      SCOPED_TRACE(at);
      Map first(buffer.data() + 49, 7, 7), second(buffer.data() + at, 7, 7);
      const auto call = [&] { fast.rnea_derivatives(s.q, s.v, s.a, first, second); };
      if (at == 0 || at == 98) {
        call();
        EXPECT_EQ(first, dq);
        EXPECT_EQ(second, dv);
      } else {
        EXPECT_EQ(testing::message(call), "rnea_derivatives: dtau_dv overlaps dtau_dq");
      }
    }
    // A result on an argument.
    buffer.segment(10, 7) = s.v;
    EXPECT_EQ(testing::message([&] {
                fast.rnea_derivatives(s.q, buffer.segment(10, 7), s.a, dq,
                                      Map(buffer.data() + 16, 7, 7));
              }),
              "rnea_derivatives: dtau_dv overlaps v");
    // N states, by rows and by columns, double and float.
    const int N = 5;
    const States x(s, N);
    const auto check = [&](auto number, auto layout) {
      using T = decltype(number);
      constexpr int kOrder = decltype(layout)::value;
      using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, kOrder>;
      using RowsMap = Eigen::Map<Rows>;
      const Rows q = x.q.cast<T>(), v = x.v.cast<T>(), a = x.a.cast<T>();
      Rows all_dq(N, 49), all_dv(N, 49);
      fast.rnea_derivatives(q, v, a, all_dq, all_dv);
      std::vector<T> space(3 * N * 49);
      for (const int at : {0, 1, N * 49, 2 * N * 49 - 1, 2 * N * 49}) {
        SCOPED_TRACE(at);
        RowsMap first(space.data() + N * 49, N, 49), second(space.data() + at, N, 49);
        const auto call = [&] { fast.rnea_derivatives(q, v, a, first, second); };
        if (at == 0 || at == 2 * N * 49) {
          call();
          EXPECT_EQ(first, all_dq);
          EXPECT_EQ(second, all_dv);
        } else {
          EXPECT_EQ(testing::message(call), "rnea_derivatives: dtau_dv overlaps dtau_dq");
        }
      }
    };
    check(1.0, std::integral_constant<int, Eigen::RowMajor>());
    check(1.0, std::integral_constant<int, Eigen::ColMajor>());
    check(1.0f, std::integral_constant<int, Eigen::RowMajor>());
    check(1.0f, std::integral_constant<int, Eigen::ColMajor>());
  }
}

TEST(Compiled, ReportsErrors) {
  const Sample s = robot("builtin:arm7");
  const Compiled fast = compile(s.model, {DynamicsFunction::rnea, DynamicsFunction::crba});
  VectorX<double> x(7), short_x(6);
  MatrixX<double> large(9, 9);
  const auto message = [](const auto& call) { return testing::message(call); };
  EXPECT_EQ(message([&] { fast.aba(s.q, s.v, s.a, x); }),
            "aba: not among the functions that were compiled");
  EXPECT_EQ(message([&] { fast.rnea(short_x, s.v, s.a, x); }),
            "rnea: q has 6 entries, expected 7 (a free joint needs 7 numbers in q but 6 in v)");
  EXPECT_EQ(message([&] { fast.rnea(s.q, s.v, s.a, short_x); }),
            "rnea: tau has 6 entries, expected 7");
  EXPECT_EQ(message([&] { fast.rnea(s.q, s.v, x, x); }), "rnea: tau overlaps a");
  EXPECT_EQ(message([&] { fast.crba(s.q, large); }), "crba: M is 9 x 9, expected 7 x 7");
  EXPECT_EQ(message([&] { fast.crba(s.q, large.topLeftCorner(7, 7)); }),
            "crba: M has gaps between its columns");
  States states(s, 4);
  RowMatrix<double> wrong(4, 6), fewer(3, 7);
  EXPECT_EQ(message([&] { fast.rnea(states.q, states.v, wrong, states.tau); }),
            "rnea: a is 4 x 6, expected 4 x 7 (one state per row)");
  EXPECT_EQ(message([&] { fast.rnea(states.q, states.v, states.a, fewer); }),
            "rnea: tau is 3 x 7, expected 4 x 7 (one state per row)");
  const RowMatrix<double> wide = RowMatrix<double>::Zero(4, 9);
  EXPECT_EQ(message([&] { fast.rnea(states.q, wide.leftCols(7), states.a, states.tau); }),
            "rnea: an argument has gaps between its rows");
  const MatrixX<double> by_columns = states.v;
  EXPECT_EQ(message([&] { fast.rnea(states.q, by_columns, states.a, states.tau); }),
            "rnea: v is stored by columns, unlike q");
  EXPECT_EQ(message([&] { fast.rnea(states.q, states.v, states.a, states.a); }),
            "rnea: tau overlaps a");
  EXPECT_EQ(message([&] { fast.rnea(states.q, states.v, states.a, states.tau, {.threads = -1}); }),
            "rnea: threads is -1, expected 0 or more");
  EXPECT_EQ(message([&] { fast.rnea(states.q, states.v, states.a, states.tau, {.grain = -1}); }),
            "rnea: grain is -1, expected 0 or more");
  const std::span<const double> few[] = {{s.q.data(), 7}, {s.v.data(), 7}};
  const std::span<double> one[] = {{x.data(), 7}}, two[] = {{x.data(), 3}, {x.data() + 3, 4}};
  EXPECT_EQ(message([&] { fast.run(DynamicsFunction::rnea, few, one); }),
            "rnea: arguments is 2 arrays, expected 3");
  EXPECT_EQ(message([&] { fast.run(DynamicsFunction::crba, std::span(few).first(1), two); }),
            "crba: results is 2 arrays, expected 1");
  EXPECT_EQ(message([&] { fast.pattern(DynamicsFunction::crba, -1); }),
            "crba: result is -1, expected 0 to 0");
  CompileOptions loaded;
  loaded.added_inertias = {BodyId(7)};
  const Compiled heavier = compile(s.model, {DynamicsFunction::rnea}, loaded);
  EXPECT_EQ(message([&] { heavier.rnea(s.q, s.v, s.a, x); }),
            "rnea: compiled with parameters, call run() with all arguments");
  EXPECT_TRUE(fast.has(DynamicsFunction::crba) && fast.has_program(DynamicsFunction::crba));
  EXPECT_FALSE(fast.has(DynamicsFunction::aba));
  EXPECT_EQ(message([&] { compile(s.model, {DynamicsFunction::frame_poses}); }),
            "frame_poses: frames is empty, expected at least one (set FunctionOptions::frames)");
  EXPECT_EQ(message([&] { dynamics_function_named("rnae"); }),
            "compile: no function is named 'rnae' (closest: 'rnea')");
}

}  // namespace
}  // namespace limb
