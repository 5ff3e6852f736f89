// Matrices as their structural nonzeros: patterns, completeness, the same numbers in every
// strategy, layout and precision.
#include <gtest/gtest.h>

#include "limb/base/testing/sanitized.hpp"
#include "limb/batch/compiled.hpp"
#include "limb/batch/expand.hpp"
#include "limb/codegen/c/emit_c.hpp"
#include "limb/codegen/testing/robot_inputs.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using codegen::Isa;
using codegen::Pattern;
using codegen::Program;
using testing::Batch;

constexpr double kEps = std::numeric_limits<double>::epsilon();
const std::vector<DynamicsFunction> kMatrices = {DynamicsFunction::crba,
                                                 DynamicsFunction::mass_inverse,
                                                 DynamicsFunction::frame_jacobians,
                                                 DynamicsFunction::centroidal,
                                                 DynamicsFunction::operational_space,
                                                 DynamicsFunction::rnea_derivatives,
                                                 DynamicsFunction::aba_derivatives};

/// Entries of N states as full matrices.
template <typename T>
std::vector<T> expanded(const Pattern& pattern, const std::vector<T>& entries,
                        std::int64_t states) {
  std::vector<T> whole(static_cast<std::size_t>(states * pattern.rows * pattern.cols));
  for (std::int64_t i = 0; i < states; ++i) {
    pattern.expand(entries.data() + i * pattern.length(),
                   whole.data() + i * pattern.rows * pattern.cols);
  }
  return whole;
}

/// Valid and distinct entries, column by column, none of which is always zero.
void check_pattern(const Pattern& p, const std::vector<double>& entries, std::int64_t states) {
  std::vector<char> seen(static_cast<std::size_t>(p.rows * p.cols), 0);
  for (int k = 0; k < p.size(); ++k) {
    const int r = p.row[std::size_t(k)], c = p.col[std::size_t(k)];
    ASSERT_TRUE(r >= 0 && r < p.rows && c >= 0 && c < p.cols);
    EXPECT_TRUE(!p.symmetric || r <= c);
    EXPECT_EQ(seen[std::size_t(p.index(k))]++, 0);
    EXPECT_TRUE(k == 0 || p.index(k) > p.index(k - 1));  // column by column
    double sum = 0;
    for (std::int64_t i = 0; i < states; ++i)
      sum += std::abs(entries[std::size_t(i * p.length() + k)]);
    EXPECT_GT(sum, 0) << r << ", " << c;
  }
}

/// Compares with full matrices.
void check(const Model<double>& model, DynamicsFunction f) {
  SCOPED_TRACE(to_text(f));
  FunctionOptions options = testing::options_for(model, f);
  const codegen::Trace dense = codegen::trace(model, f, options);
  options.entries = MatrixEntries::nonzeros;
  const codegen::Trace sparse = codegen::trace(model, f, options);
  const std::int64_t states = 37;
  const Batch<double> in = testing::random_inputs(model, dense, states, 5);
  Batch<float> in32;
  for (const auto& x : in.data) in32.data.emplace_back(x.begin(), x.end());
  ASSERT_EQ(sparse.patterns.size(), dense.outputs.size());
  EXPECT_TRUE(dense.patterns.empty());
  const Program p(dense), s(sparse);
  const Batch<double> whole = run_rows(p, in, states), rows = run_rows(s, in, states);
  const Batch<double> each = run_each(s, in, states), columns = run_columns(s, in, states);
  const Batch<float> whole32 = run_rows(p, in32, states), rows32 = run_rows(s, in32, states);
  EXPECT_TRUE(same_bits(rows, each));
  EXPECT_TRUE(same_bits(rows, columns));
  // The lower triangle of an inverse sums in another order (condition up to 1e5).
  const double tolerance = f == DynamicsFunction::crba ? 0 : 1e7 * kEps;
  for (std::size_t k = 0; k < sparse.patterns.size(); ++k) {
    const Pattern& pattern = sparse.patterns[k];
    EXPECT_EQ(sparse.outputs[k].size(), pattern.length());
    EXPECT_EQ(pattern.rows * pattern.cols, dense.outputs[k].size());
    if (dense.outputs[k].cols > 1) check_pattern(pattern, rows.data[k], states);
    EXPECT_LE(testing::relative(expanded(pattern, rows.data[k], states), whole.data[k], states),
              tolerance);
    EXPECT_LE(testing::relative(expanded(pattern, rows32.data[k], states), whole32.data[k], states),
              tolerance * 0x1p29);
  }
}

TEST(Nonzeros, ExpandToTheWholeMatrices) {
  for (const char* robot : {"builtin:arm7", "builtin:quadruped"}) {
    SCOPED_TRACE(robot);
    const Model<double> model = load_model(robot);
    for (const DynamicsFunction f : kMatrices) check(model, f);
  }
  const unsigned seeds = testing::kSanitized ? 1 : 2;
  for (const testing::Sample& s : testing::samples(seeds, testing::kSanitized ? 3 : 7)) {
    SCOPED_TRACE(s.name);
    for (const DynamicsFunction f : kMatrices) {
      // Frames of random trees may have no task inertia.
      if (f != DynamicsFunction::operational_space) check(s.model, f);
    }
  }
}

// Legs do not couple with each other: of 18 x 18 entries, the triangle of the 6 x 6 block of the
// base and, for each of four legs, 6 x 3 and the triangle of 3 x 3.
TEST(Nonzeros, FollowTheTree) {
  const Model<double> model = load_model("builtin:quadruped");
  CompileOptions options;
  options.entries = MatrixEntries::nonzeros;
  const Compiled fast = compile(
      model, {DynamicsFunction::crba, DynamicsFunction::crba_packed, DynamicsFunction::rnea},
      options);
  const Pattern& p = fast.pattern(DynamicsFunction::crba);
  EXPECT_EQ(p.rows, 18);
  EXPECT_EQ(p.cols, 18);
  EXPECT_TRUE(p.symmetric);
  EXPECT_LE(p.size(), 21 + 4 * (18 + 6));
  EXPECT_GT(p.size(), 4 * (15 + 6));
  for (int k = 0; k < p.size(); ++k) {
    const int r = p.row[std::size_t(k)], c = p.col[std::size_t(k)];
    EXPECT_TRUE(r < 6 || r / 3 == c / 3) << r << ", " << c;
  }
  // Whole cache lines.
  EXPECT_EQ(p.length() % 8, 0);
  EXPECT_LT(p.zeros, 8);
  EXPECT_EQ(fast.shape(DynamicsFunction::crba).outputs[0].size(), p.length());
  EXPECT_EQ(fast.pattern(DynamicsFunction::crba_packed).size(), 18 * 19 / 2);
  EXPECT_EQ(fast.pattern(DynamicsFunction::crba_packed).length(), 18 * 19 / 2);
  EXPECT_EQ(fast.pattern(DynamicsFunction::rnea).length(), 18);
  EXPECT_EQ(testing::message([&] { fast.pattern(DynamicsFunction::crba, 1); }),
            "crba: result is 1, expected 0 to 0");
}

// Templates, straight lines and products of matrices, with and without machine code.
TEST(Nonzeros, AreTheSameInEveryStrategy) {
  const Model<double> model = load_model("builtin:quadruped");
  const int n = model.nv(), N = 21;
  const codegen::Trace arguments = codegen::trace(model, DynamicsFunction::rnea);
  const Batch<double> in = testing::random_inputs(model, arguments, N, 3);
  std::vector<ConstStateRows<double>> from;
  for (std::size_t k = 0; k < 3; ++k) {
    from.push_back({in.data[k].data(), N, arguments.inputs[k].size()});
  }
  CompileOptions options;
  const Compiled dense = compile(model, {DynamicsFunction::aba_derivatives}, options);
  std::vector<RowMatrix<double>> whole(3, RowMatrix<double>(N, n * n)), found = whole;
  const auto rows = [](std::vector<RowMatrix<double>>& x) {
    std::vector<StateRows<double>> r;
    for (auto& m : x) r.push_back({m.data(), m.rows(), m.cols()});
    return r;
  };
  dense.run(DynamicsFunction::aba_derivatives, from, rows(whole));
  options.entries = MatrixEntries::nonzeros;
  for (const Strategy strategy : {Strategy::straight_line, Strategy::recursion, Strategy::split}) {
    for (const bool interpret : {false, true}) {
      SCOPED_TRACE(to_text(strategy));
      options.strategy = strategy;
      options.program.interpret = interpret;
      const Compiled fast = compile(model, {DynamicsFunction::aba_derivatives}, options);
      std::vector<RowMatrix<double>> entries;
      for (int k = 0; k < 3; ++k) {
        entries.emplace_back(N, fast.pattern(DynamicsFunction::aba_derivatives, k).length());
        entries.back().setConstant(7);
      }
      EXPECT_LT(entries[0].cols() + entries[1].cols() + entries[2].cols(), 3 * n * n);
      fast.run(DynamicsFunction::aba_derivatives, from, rows(entries));
      for (int k = 0; k < 3; ++k) {
        const Pattern& p = fast.pattern(DynamicsFunction::aba_derivatives, k);
        expand(p, entries[std::size_t(k)], found[std::size_t(k)]);
        EXPECT_TRUE(entries[std::size_t(k)].rightCols(p.zeros).isZero(0));
        // Other orders of summation, times the condition of the mass matrix.
        EXPECT_LT((found[std::size_t(k)] - whole[std::size_t(k)]).norm(),
                  1e7 * kEps * whole[std::size_t(k)].norm());
      }
      // One state.
      std::vector<VectorX<double>> one;
      std::vector<std::span<double>> to;
      for (const auto& x : entries) one.emplace_back(x.cols());
      for (auto& x : one) to.emplace_back(x.data(), static_cast<std::size_t>(x.size()));
      std::vector<std::span<const double>> state;
      for (const auto& x : from) state.emplace_back(x.data, static_cast<std::size_t>(x.cols));
      fast.run(DynamicsFunction::aba_derivatives, state, to);
      for (int k = 0; k < 3; ++k) {
        EXPECT_LT((one[std::size_t(k)] - entries[std::size_t(k)].row(0).transpose()).norm(),
                  1e7 * kEps * one[std::size_t(k)].norm());
      }
    }
  }
}

/// Rows of whole cache lines by cached and by streaming stores, at every alignment of the array.
template <typename T>
void check_streams() {
  const Model<double> model = load_model("builtin:quadruped");
  CompileOptions options;
  options.entries = MatrixEntries::nonzeros;
  const Compiled fast = compile(model, {DynamicsFunction::crba}, options);
  const int N = 43, length = fast.pattern(DynamicsFunction::crba).length();
  const codegen::Trace arguments = codegen::trace(model, DynamicsFunction::crba);
  const Batch<double> in = testing::random_inputs(model, arguments, N, 4);
  const std::vector<T> q(in.data[0].begin(), in.data[0].end());
  const std::vector<ConstStateRows<T>> from = {{q.data(), N, model.nq()}};
  const std::size_t size = static_cast<std::size_t>(N * length), margin = 64;  // of 7s
  std::vector<T> expected(size);
  const std::vector<StateRows<T>> first = {{expected.data(), N, length}};
  fast.run(DynamicsFunction::crba, from, first, {.stores = StoreKind::cached});
  for (const StoreKind stores : {StoreKind::cached, StoreKind::streaming}) {
    for (std::size_t offset = 0; offset < 64 / sizeof(T); ++offset) {
      std::vector<T> buffer(size + 2 * margin, T(7));
      const std::size_t past = reinterpret_cast<std::uintptr_t>(buffer.data()) / sizeof(T) % 16;
      T* const out = buffer.data() + margin - past + offset;
      const std::vector<StateRows<T>> to = {{out, N, length}};
      fast.run(DynamicsFunction::crba, from, to, {.stores = stores});
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out)) << offset;
      EXPECT_TRUE(std::all_of(buffer.data(), out, [](T x) { return x == T(7); }));
      EXPECT_TRUE(
          std::all_of(out + size, buffer.data() + buffer.size(), [](T x) { return x == T(7); }));
    }
  }
}

TEST(Nonzeros, CanBeStreamed) {
  check_streams<double>();
  check_streams<float>();
}

TEST(Nonzeros, ExpandChecksSizes) {
  const Model<double> model = load_model("builtin:2r");
  CompileOptions options;
  options.entries = MatrixEntries::nonzeros;
  const Compiled fast = compile(model, {DynamicsFunction::crba}, options);
  const Pattern& p = fast.pattern(DynamicsFunction::crba);
  RowMatrix<double> Q = RowMatrix<double>::Zero(2, 2), entries(2, 3), M(2, 4), few(2, 3);
  fast.crba(Q, entries);
  expand(p, entries, M);
  EXPECT_EQ(M(0, 1), M(0, 2));
  EXPECT_EQ(M(0, 3), entries(0, 2));
  EXPECT_EQ(testing::message([&] { expand(p, entries, few); }),
            "expand: the result is 2 x 3, expected 2 x 4");
  VectorX<double> one(3);
  fast.crba(VectorX<double>(Q.row(0)), one);
  EXPECT_EQ(one, entries.row(0).transpose());
}

}  // namespace
}  // namespace limb
