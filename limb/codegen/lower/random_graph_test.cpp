// All back ends on random computations, with angles out of range, infinities and NaN; like
// fuzz/program_fuzz.cpp, but with random bytes.
#include <gtest/gtest.h>

#include "limb/base/testing/sanitized.hpp"
#include "limb/codegen/lower/lower.hpp"
#include "limb/codegen/testing/back_ends.hpp"
#include "limb/codegen/testing/random_graph.hpp"

namespace limb {
namespace {

TEST(RandomGraph, AllBackEndsAgree) {
  if (!codegen::why_no_machine_code().empty()) GTEST_SKIP() << codegen::why_no_machine_code();
  std::mt19937_64 engine(1);
  std::int64_t operations = 0, numbers = 0, finite = 0;
  constexpr int kGraphs = testing::kSanitized ? 105 : 400;
  for (int seed = 0; seed < kGraphs; ++seed) {
    std::vector<unsigned char> data(3000);
    for (unsigned char& x : data) x = static_cast<unsigned char>(engine());
    testing::Bytes bytes(data);
    const codegen::Trace trace = testing::random_graph(bytes);
    const std::int64_t states = 1 + seed % 35;  // less than a block of lanes; blocks and remainders
    const testing::Batch<double> in = testing::random_numbers(bytes, trace, states);
    const testing::Interpreted expected = testing::interpreted(trace, in, states);
    ASSERT_EQ(testing::disagreement(trace, in, states, expected), "") << "graph " << seed;
    operations += codegen::lower(trace).operation_count();
    for (const auto& array : expected.f64.data) {
      for (const double x : array) {
        ++numbers;
        finite += std::isfinite(x);
      }
    }
  }
  // Enough operations, and enough finite results.
  EXPECT_GT(operations, kGraphs * 50);
  EXPECT_GT(finite, numbers / 4);
}

}  // namespace
}  // namespace limb
