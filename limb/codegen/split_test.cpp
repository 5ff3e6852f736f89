// Derivatives in two steps, a straight line and products of matrices: the values of the straight
// line and of the templates, in all precisions, layouts and instruction sets. Results past the
// caches: the same bits, whatever the alignment, and nothing beside them.
#include "limb/codegen/split.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "limb/codegen/assemble.hpp"
#include "limb/codegen/testing/check_back_ends.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/patience.hpp"
#include "limb/model/builtin.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using codegen::Isa;
using codegen::LanesOptions;
using codegen::Precision;
using codegen::Program;
using testing::Batch;

constexpr double kEps = std::numeric_limits<double>::epsilon();

std::vector<Isa> instruction_sets() {
  std::vector<Isa> all;
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (isa <= codegen::detect_isa() && codegen::why_no_machine_code().empty()) all.push_back(isa);
  }
  return all;
}

/// Rows whose arrays begin `offset` numbers behind a line of the cache, with a margin of 7s.
template <typename T>
Batch<T> rows(const Program& p, const Batch<T>& in, std::int64_t states,
              const LanesOptions& options, std::size_t offset = 0) {
  constexpr std::size_t kLine = 64 / sizeof(T);
  Batch<T> rooms, out;
  std::vector<T*> to;
  for (const codegen::Array& a : p.outputs()) {
    const std::size_t size = static_cast<std::size_t>(states * a.size());
    std::vector<T>& room = rooms.data.emplace_back(size + 4 * kLine, T(7));
    const std::size_t past = reinterpret_cast<std::uintptr_t>(room.data()) / sizeof(T) % kLine;
    to.push_back(room.data() + 2 * kLine - past + offset);
  }
  p.run_rows(in.pointers(0, p.inputs()).data(), to.data(), states, options);
  for (std::size_t k = 0; k < to.size(); ++k) {
    const std::int64_t size = states * p.outputs()[k].size();
    out.data.emplace_back(to[k], to[k] + size);
    for (std::int64_t i = 1; i <= 8; ++i) {
      EXPECT_EQ(to[k][-i], T(7));
      EXPECT_EQ(to[k][size + i - 1], T(7));
    }
  }
  return out;
}

/// The worst condition of matrices, one a row.
double condition(const std::vector<double>& rows, int n) {
  double worst = 1;
  for (std::size_t i = 0; i < rows.size(); i += static_cast<std::size_t>(n * n)) {
    const Eigen::Map<const MatrixX<double>> M(rows.data() + i, n, n);
    const Eigen::SelfAdjointEigenSolver<MatrixX<double>> eigen(M, Eigen::EigenvaluesOnly);
    worst = std::max(worst, eigen.eigenvalues()[n - 1] / eigen.eigenvalues()[0]);
  }
  return worst;
}

Program split_program(const Model<double>& model, const FunctionOptions& options, Isa isa) {
  const codegen::FunctionTracer tracer(model, options);
  return Program(tracer.trace(Function::aba_derivatives), {.most = isa}, [&model, options] {
    return codegen::FunctionTracer(model, options).split(Function::aba_derivatives);
  });
}

void check_split(const std::string& robot, const Model<double>& model, std::int64_t states,
                 unsigned seed) {
  SCOPED_TRACE(robot);
  constexpr Function f = Function::aba_derivatives;
  if (!testing::has_function(model, f)) return;
  const FunctionOptions options;
  for (const Isa isa : instruction_sets()) {
    SCOPED_TRACE(name(isa));
    const Program p = split_program(model, options, isa);
    ASSERT_TRUE(p.has_split());
    const Batch<double> in = testing::random_inputs(model, p.trace(), states, seed);
    const Batch<double> expected = testing::by_template(model, f, options, p.trace(), in, states);
    const Batch<double> straight = rows(p, in, states, {}),
                        split = rows(p, in, states, {.split = true});
    const Batch<float> in32 = testing::cast<float>(in);
    const Batch<float> split32 = rows(p, in32, states, {.split = true});
    // Rounding of n sums in another order, times the condition of the mass matrix (1e3 to 1e5 for
    // robots, up to 1e6 for random trees); worst seen 4 of these. Float loses 29 bits.
    const double n = model.velocity_size();
    const double tolerance = 16 * n * kEps * condition(expected.data[2], model.velocity_size());
    for (std::size_t k = 0; k < expected.data.size(); ++k) {
      EXPECT_LT(testing::relative(split.data[k], expected.data[k], states), tolerance);
      EXPECT_LT(testing::relative(split.data[k], straight.data[k], states), tolerance);
      EXPECT_LT(testing::relative(split32.data[k], expected.data[k], states), tolerance * 0x1p29);
    }
    // By columns, and past the caches, the same bits.
    const Batch<double> columns = testing::transposed(in, p.inputs(), states);
    Batch<double> by_columns = testing::batch_of(p.outputs(), states, 77.0);
    p.run_columns(columns.pointers(0, p.inputs()).data(),
                  by_columns.pointers(0, p.outputs()).data(), states, 0, states, {.split = true});
    EXPECT_TRUE(
        testing::same_bits(testing::transposed(by_columns, p.outputs(), states, true), split));
    for (const std::size_t offset : {0, 2, 3, 4, 6}) {
      const LanesOptions past{.split = true, .stream = true};
      EXPECT_TRUE(testing::same_bits(rows(p, in, states, past, offset), split)) << offset;
      EXPECT_TRUE(testing::same_bits(rows(p, in32, states, past, offset), split32)) << offset;
    }
  }
}

TEST(Split, HasTheValuesOfTheTemplatesOnTreesOfAllJointTypes) {
  // One of each kind where sanitizers make the recording slow.
  const int trees = testing::kSanitized ? 1 : 4;
  for (const testing::Sample& s : testing::samples(trees)) check_split(s.name, s.model, 37, 5);
}

TEST(Split, HasTheValuesOfTheTemplatesOnEmbeddedRobots) {
  for (const std::string& name : builtin_names()) {
    check_split(name, load_model("builtin:" + name), 37, 11);
  }
}

TEST(Split, HasTheValuesOfTheTemplatesOnReferenceRobots) {
  const std::filesystem::path shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << "no folder of reference robots (LIMB_SHARED)";
  for (const auto& [name, model] : testing::shared_robots(shared)) check_split(name, model, 19, 17);
}

// Angles beyond the polynomials go through the interpreter, block by block.
TEST(Split, TakesAnyAngle) {
  const Model<double> model = load_model("builtin:arm7");
  for (const Isa isa : instruction_sets()) {
    const Program p = split_program(model, {}, isa);
    Batch<double> in = testing::random_inputs(model, p.trace(), 40, 3);
    in.data[0][7 * 20 + 2] += 1e7;
    const Batch<double> split = rows(p, in, 40, {.split = true}),
                        each = testing::run_each(p, in, 40);
    for (std::size_t k = 0; k < each.data.size(); ++k) {
      EXPECT_LT(testing::relative(split.data[k], each.data[k], 40), 1e6 * kEps);
    }
  }
}

// Straight lines as well.
TEST(Stream, GivesTheSameBitsAtEveryAlignment) {
  for (const char* robot : {"builtin:arm7", "builtin:quadruped", "builtin:humanoid"}) {
    SCOPED_TRACE(robot);
    const Model<double> model = load_model(robot);
    for (const Function f : {Function::crba, Function::crba_packed, Function::rnea_derivatives}) {
      for (const Isa isa : instruction_sets()) {
        const Program p(codegen::trace(model, f), {.most = isa});
        const Batch<double> in = testing::random_inputs(model, p.trace(), 21, 7);
        const Batch<float> in32 = testing::cast<float>(in);
        const Batch<double> expected = testing::run_each(p, in, 21);
        const Batch<float> expected32 = testing::run_columns(p, in32, 21);
        for (std::size_t offset = 0; offset < 16; ++offset) {
          for (const bool stream : {false, true}) {
            EXPECT_TRUE(
                testing::same_bits(rows(p, in, 21, {.stream = stream}, offset % 8), expected))
                << name(f) << " at " << offset;
            EXPECT_TRUE(
                testing::same_bits(rows(p, in32, 21, {.stream = stream}, offset), expected32))
                << name(f) << " at " << offset;
          }
        }
      }
    }
  }
}

// The first and the last lines of a call, and what waits for the next block, with rows of an odd
// number of half lines (all entries of 18 x 18), of whole lines (nonzeros), and of anything (in
// float, and the triangle of a humanoid).
TEST(Stream, GivesTheSameBitsForEveryNumberOfStates) {
  for (const Entries entries : {Entries::all, Entries::nonzeros}) {
    FunctionOptions options;
    options.entries = entries;
    for (const Function f : {Function::crba, Function::rnea_derivatives, Function::crba_packed}) {
      const bool packed = f == Function::crba_packed;
      const Model<double> model = load_model(packed ? "builtin:humanoid" : "builtin:quadruped");
      for (const Isa isa : instruction_sets()) {
        const Program p(codegen::trace(model, f, options), {.most = isa});
        const Batch<double> in = testing::random_inputs(model, p.trace(), 40, 9);
        const Batch<float> in32 = testing::cast<float>(in);
        for (std::int64_t states = 1; states <= 40; ++states) {
          const Batch<double> expected = rows(p, in, states, {});
          const Batch<float> expected32 = rows(p, in32, states, {});
          for (const std::size_t offset : {0, 2, 4, 6, 12}) {
            EXPECT_TRUE(
                testing::same_bits(rows(p, in, states, {.stream = true}, offset % 8), expected))
                << name(f) << " of " << states << " at " << offset;
            EXPECT_TRUE(
                testing::same_bits(rows(p, in32, states, {.stream = true}, offset), expected32))
                << name(f) << " of " << states << " at " << offset;
          }
        }
      }
    }
  }
}

// A block that ends early leaves what the one before has still to write.
TEST(Stream, TakesAnyAngle) {
  const Model<double> model = load_model("builtin:quadruped");
  constexpr std::int64_t kStates = 61;
  for (const Function f : {Function::crba, Function::rnea_derivatives}) {
    for (const Isa isa : instruction_sets()) {
      const Program p(codegen::trace(model, f), {.most = isa});
      for (const std::int64_t state : {0, 9, 25, 40, 60}) {
        Batch<double> in = testing::random_inputs(model, p.trace(), kStates, 3);
        const int size = p.inputs()[0].size();
        in.data[0][static_cast<std::size_t>(state * size + size - 1)] += 1e7;
        const Batch<float> in32 = testing::cast<float>(in);
        EXPECT_TRUE(testing::same_bits(rows(p, in, kStates, {.stream = true}, 2),
                                       rows(p, in, kStates, {})));
        EXPECT_TRUE(testing::same_bits(rows(p, in32, kStates, {.stream = true}, 4),
                                       rows(p, in32, kStates, {})));
      }
    }
  }
}

TEST(Split, IsRefusedWhereThereIsNone) {
  const Model<double> model = load_model("builtin:arm7");
  const codegen::FunctionTracer tracer(model, {});
  EXPECT_EQ(testing::message([&] { tracer.split(Function::rnea); }),
            "FunctionTracer::split: function is rnea, expected aba_derivatives");
  const Program p(tracer.trace(Function::rnea));
  EXPECT_FALSE(p.has_split());
  if (!p.is_compiled()) return;
  EXPECT_EQ(testing::message([&] { p.prepare(Precision::f64, codegen::Layout::rows, true); }),
            "rnea: lanes have one way only");
}

}  // namespace
}  // namespace limb
