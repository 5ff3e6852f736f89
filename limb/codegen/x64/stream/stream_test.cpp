// Streaming stores of straight-line code: the same bits as other stores at every alignment and for
// every number of states, and nothing written beside the arrays.
#include <gtest/gtest.h>

#include "limb/codegen/record/function_tracer.hpp"
#include "limb/codegen/testing/aligned_rows.hpp"
#include "limb/codegen/testing/back_ends.hpp"
#include "limb/codegen/testing/robot_inputs.hpp"

namespace limb {
namespace {

using codegen::Isa;
using codegen::Program;
using testing::Batch;

TEST(Stream, GivesTheSameBitsAtEveryAlignment) {
  for (const char* robot : {"builtin:arm7", "builtin:quadruped", "builtin:humanoid"}) {
    SCOPED_TRACE(robot);
    const Model<double> model = load_model(robot);
    for (const DynamicsFunction f : {DynamicsFunction::crba, DynamicsFunction::crba_packed,
                                     DynamicsFunction::rnea_derivatives}) {
      for (const Isa isa : testing::instruction_sets()) {
        const Program p(codegen::trace(model, f), {.max_isa = isa});
        const Batch<double> in = testing::random_inputs(model, p.trace(), 21, 7);
        const Batch<float> in32 = testing::cast<float>(in);
        const Batch<double> expected = testing::run_each(p, in, 21);
        const Batch<float> expected32 = testing::run_columns(p, in32, 21);
        for (std::size_t offset = 0; offset < 16; ++offset) {
          for (const bool stream : {false, true}) {
            EXPECT_TRUE(testing::same_bits(
                testing::aligned_rows(p, in, 21, {.stream = stream}, offset % 8), expected))
                << to_text(f) << " at " << offset;
            EXPECT_TRUE(testing::same_bits(
                testing::aligned_rows(p, in32, 21, {.stream = stream}, offset), expected32))
                << to_text(f) << " at " << offset;
          }
        }
      }
    }
  }
}

// The first and the last cache lines of a call, and those completed by the next block, with rows of
// an odd number of half lines (all entries of 18 x 18), of whole lines (nonzeros), and of other
// lengths (in float, and the triangle of a humanoid).
TEST(Stream, GivesTheSameBitsForEveryNumberOfStates) {
  for (const MatrixEntries entries : {MatrixEntries::all, MatrixEntries::nonzeros}) {
    FunctionOptions options;
    options.entries = entries;
    for (const DynamicsFunction f : {DynamicsFunction::crba, DynamicsFunction::rnea_derivatives,
                                     DynamicsFunction::crba_packed}) {
      const bool packed = f == DynamicsFunction::crba_packed;
      const Model<double> model = load_model(packed ? "builtin:humanoid" : "builtin:quadruped");
      for (const Isa isa : testing::instruction_sets()) {
        const Program p(codegen::trace(model, f, options), {.max_isa = isa});
        const Batch<double> in = testing::random_inputs(model, p.trace(), 40, 9);
        const Batch<float> in32 = testing::cast<float>(in);
        for (std::int64_t states = 1; states <= 40; ++states) {
          const Batch<double> expected = testing::aligned_rows(p, in, states, {});
          const Batch<float> expected32 = testing::aligned_rows(p, in32, states, {});
          for (const std::size_t offset : {0, 2, 4, 6, 12}) {
            EXPECT_TRUE(testing::same_bits(
                testing::aligned_rows(p, in, states, {.stream = true}, offset % 8), expected))
                << to_text(f) << " of " << states << " at " << offset;
            EXPECT_TRUE(testing::same_bits(
                testing::aligned_rows(p, in32, states, {.stream = true}, offset), expected32))
                << to_text(f) << " of " << states << " at " << offset;
          }
        }
      }
    }
  }
}

// A block that ends early leaves rows of the previous block to be written.
TEST(Stream, TakesAnyAngle) {
  const Model<double> model = load_model("builtin:quadruped");
  constexpr std::int64_t kStates = 61;
  for (const DynamicsFunction f : {DynamicsFunction::crba, DynamicsFunction::rnea_derivatives}) {
    for (const Isa isa : testing::instruction_sets()) {
      const Program p(codegen::trace(model, f), {.max_isa = isa});
      for (const std::int64_t state : {0, 9, 25, 40, 60}) {
        Batch<double> in = testing::random_inputs(model, p.trace(), kStates, 3);
        const int size = p.inputs()[0].size();
        in.data[0][static_cast<std::size_t>(state * size + size - 1)] += 1e7;
        const Batch<float> in32 = testing::cast<float>(in);
        EXPECT_TRUE(testing::same_bits(testing::aligned_rows(p, in, kStates, {.stream = true}, 2),
                                       testing::aligned_rows(p, in, kStates, {})));
        EXPECT_TRUE(testing::same_bits(testing::aligned_rows(p, in32, kStates, {.stream = true}, 4),
                                       testing::aligned_rows(p, in32, kStates, {})));
      }
    }
  }
}

}  // namespace
}  // namespace limb
