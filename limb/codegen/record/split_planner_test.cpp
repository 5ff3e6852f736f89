// Derivatives in two steps, straight-line code and products of matrices: the values of
// straight-line code and of the templates, in all precisions, layouts and instruction sets, also
// with streaming stores.
#include "limb/codegen/record/split_planner.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "limb/base/testing/sanitized.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/codegen/testing/aligned_rows.hpp"
#include "limb/codegen/testing/check_back_ends.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using codegen::Isa;
using codegen::LanesOptions;
using codegen::Precision;
using codegen::Program;
using testing::Batch;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// The worst condition number of matrices, one per row.
double condition(const std::vector<double>& rows, int n) {
  Worst worst;
  for (std::size_t i = 0; i < rows.size(); i += static_cast<std::size_t>(n * n)) {
    const Eigen::Map<const MatrixX<double>> M(rows.data() + i, n, n);
    const Eigen::SelfAdjointEigenSolver<MatrixX<double>> eigen(M, Eigen::EigenvaluesOnly);
    worst.add(eigen.eigenvalues()[n - 1] / eigen.eigenvalues()[0]);
  }
  return worst.value();
}

Program split_program(const Model<double>& model, const FunctionOptions& options, Isa isa) {
  const codegen::FunctionTracer tracer(model, options);
  return Program(
      tracer.trace(DynamicsFunction::aba_derivatives), {.max_isa = isa}, [&model, options] {
        return codegen::FunctionTracer(model, options).split(DynamicsFunction::aba_derivatives);
      });
}

void check_split(const std::string& robot, const Model<double>& model, std::int64_t states,
                 unsigned seed) {
  SCOPED_TRACE(robot);
  constexpr DynamicsFunction f = DynamicsFunction::aba_derivatives;
  if (!testing::has_function(model, f)) {
    EXPECT_FALSE(model.loops().empty());  // of which the template has no straight-line code
    return;
  }
  const FunctionOptions options;
  for (const Isa isa : testing::instruction_sets()) {
    SCOPED_TRACE(to_text(isa));
    const Program p = split_program(model, options, isa);
    ASSERT_TRUE(p.has_split());
    const Batch<double> in = testing::random_inputs(model, p.trace(), states, seed);
    const Batch<double> expected = testing::by_template(model, f, options, p.trace(), in, states);
    const Batch<double> straight = testing::aligned_rows(p, in, states, {}),
                        split = testing::aligned_rows(p, in, states, {.split = true});
    const Batch<float> in32 = testing::cast<float>(in);
    const Batch<float> split32 = testing::aligned_rows(p, in32, states, {.split = true});
    // Rounding of n sums in another order, times the condition of the mass matrix (1e3 to 1e5 for
    // robots, up to 1e6 for random trees); worst seen 4 times that. Float loses 29
    // bits.
    const double n = model.nv();
    const double tolerance = 16 * n * kEps * condition(expected.data[2], model.nv());
    for (std::size_t k = 0; k < expected.data.size(); ++k) {
      EXPECT_LT(testing::relative(split.data[k], expected.data[k], states), tolerance);
      EXPECT_LT(testing::relative(split.data[k], straight.data[k], states), tolerance);
      EXPECT_LT(testing::relative(split32.data[k], expected.data[k], states), tolerance * 0x1p29);
    }
    // The same bits by columns, and with streaming stores.
    const Batch<double> columns = testing::transposed(in, p.inputs(), states);
    Batch<double> by_columns = testing::batch_of(p.outputs(), states, 77.0);
    p.run_columns(columns.pointers(0, p.inputs()).data(),
                  by_columns.pointers(0, p.outputs()).data(), states, 0, states, {.split = true});
    EXPECT_TRUE(
        testing::same_bits(testing::transposed(by_columns, p.outputs(), states, true), split));
    for (const std::size_t offset : {0, 2, 3, 4, 6}) {
      const LanesOptions streaming{.split = true, .stream = true};
      EXPECT_TRUE(
          testing::same_bits(testing::aligned_rows(p, in, states, streaming, offset), split))
          << offset;
      EXPECT_TRUE(
          testing::same_bits(testing::aligned_rows(p, in32, states, streaming, offset), split32))
          << offset;
    }
  }
}

TEST(Split, HasTheValuesOfTheTemplatesOnTreesOfAllJointTypes) {
  // One of each kind with sanitizers, where recording is slow.
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
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  const std::vector<testing::NamedModel> robots = testing::shared_robots(shared);
  EXPECT_GT(robots.size(), 20U);
  for (const auto& [name, model] : robots) check_split(name, model, 19, 17);
}

// Blocks with angles out of the range of the polynomials are interpreted.
TEST(Split, TakesAnyAngle) {
  const Model<double> model = load_model("builtin:arm7");
  for (const Isa isa : testing::instruction_sets()) {
    const Program p = split_program(model, {}, isa);
    Batch<double> in = testing::random_inputs(model, p.trace(), 40, 3);
    in.data[0][7 * 20 + 2] += 1e7;
    const Batch<double> split = testing::aligned_rows(p, in, 40, {.split = true}),
                        each = testing::run_each(p, in, 40);
    for (std::size_t k = 0; k < each.data.size(); ++k) {
      EXPECT_LT(testing::relative(split.data[k], each.data[k], 40), 1e6 * kEps);
    }
  }
}

TEST(Split, IsRefusedForOtherFunctions) {
  const Model<double> model = load_model("builtin:arm7");
  const codegen::FunctionTracer tracer(model, {});
  EXPECT_EQ(testing::message([&] { tracer.split(DynamicsFunction::rnea); }),
            "FunctionTracer::split: function is rnea, expected aba_derivatives");
  const Program p(tracer.trace(DynamicsFunction::rnea));
  EXPECT_FALSE(p.has_split());
  if (!p.is_compiled()) GTEST_SKIP() << codegen::why_no_machine_code();
  EXPECT_EQ(testing::message([&] { p.prepare(Precision::f64, codegen::Layout::rows, true); }),
            "rnea: has no split code");
}

}  // namespace
}  // namespace limb
