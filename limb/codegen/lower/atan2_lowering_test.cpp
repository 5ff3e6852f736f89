// atan2 in compiled programs, against long double.
#include "limb/codegen/lower/atan2_lowering.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/codegen/program.hpp"
#include "limb/codegen/testing/aligned_rows.hpp"
#include "limb/codegen/testing/run.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using codegen::Isa;
using codegen::Program;
using testing::Batch;

codegen::Trace atan2_trace() {
  codegen::Tracer tracer("angle");
  const VectorX<Traced> p = tracer.input("p", 2);
  tracer.output("angle", VectorX<Traced>::Constant(1, atan2(p[1], p[0])));
  return tracer.finish();
}

/// Points in all directions, also near the axes and the diagonals, of all lengths.
template <typename T>
Batch<T> points() {
  testing::Random random(6);
  Batch<T> in;
  in.data.emplace_back();
  const auto add = [&](double x, double y) {
    in.data[0].push_back(static_cast<T>(x));
    in.data[0].push_back(static_cast<T>(y));
  };
  for (const double x : {0.0, 1.0, -1.0, 1e-30, -1e30}) {
    for (const double y : {0.0, 1.0, -1.0, 1e-30, -1e30}) add(x, y);
  }
  for (int k = 0; k < 100000; ++k) {
    const double scale = std::pow(10.0, random.uniform(-20, 20));
    const double eighth = 0.39269908169872414 * std::floor(random.uniform(-8, 9));
    const double near = std::pow(10.0, random.uniform(-18, 0));
    const double angle = k % 2 == 0 ? random.uniform(-3.2, 3.2) : eighth + near;
    add(scale * std::cos(angle), scale * std::sin(angle));
  }
  return in;
}

template <typename T>
double worst_ulps(const Batch<T>& in, const Batch<T>& out) {
  Worst worst;
  for (std::size_t i = 0; i < out.data[0].size(); ++i) {
    const long double exact = std::atan2(static_cast<long double>(in.data[0][2 * i + 1]),
                                         static_cast<long double>(in.data[0][2 * i]));
    const T near = std::abs(static_cast<T>(exact));
    const T ulp = std::nextafter(near, std::numeric_limits<T>::max()) - near;
    worst.add(static_cast<double>(std::abs(out.data[0][i] - exact) / ulp));
  }
  return worst.value();
}

// Division, sum and difference of the reduction and the polynomial round about once each.
TEST(Atan2, IsWithinThreeUnitsInTheLastPlace) {
  const Program p(atan2_trace());
  const Batch<double> in = points<double>();
  const Batch<float> in32 = points<float>();
  const std::int64_t n = static_cast<std::int64_t>(in.data[0].size() / 2);
  EXPECT_LT(worst_ulps(in, run_rows(p, in, n)), 3);
  EXPECT_LT(worst_ulps(in32, run_rows(p, in32, n)), 3);
}

TEST(Atan2, ZerosHaveNoSign) {
  for (const bool interpret : {false, true}) {
    const Program p(atan2_trace(), {.interpret = interpret});
    const Batch<double> in{{{0.0, 0.0, -0.0, 0.0, 0.0, -0.0, -0.0, -0.0, -1.0, -0.0, -1.0, 0.0, 1.0,
                             -0.0, -0.0, 2.0}}};
    const double pi = 3.141592653589793;
    const std::vector<double> expected = {0, 0, 0, 0, pi, pi, 0, pi / 2};
    EXPECT_EQ(run_rows(p, in, 8).data[0], expected);
    EXPECT_EQ(run_each(p, in, 8).data[0], expected);
  }
}

TEST(Atan2, HasTheSameBitsInAllBackEnds) {
  const codegen::Trace trace = atan2_trace();
  const Program slow(trace, {.interpret = true});
  const Batch<double> in = points<double>();
  const Batch<float> in32 = points<float>();
  const std::int64_t n = static_cast<std::int64_t>(in.data[0].size() / 2);
  const Batch<double> expected = run_each(slow, in, n);
  const Batch<float> expected32 = run_rows(slow, in32, n);
  for (const Isa isa : testing::instruction_sets()) {
    const Program fast(trace, {.max_isa = isa});
    ASSERT_TRUE(fast.is_compiled());
    EXPECT_TRUE(same_bits(run_each(fast, in, n), expected));
    EXPECT_TRUE(same_bits(run_rows(fast, in, n), expected));
    EXPECT_TRUE(same_bits(run_rows(fast, in32, n), expected32));
  }
}

}  // namespace
}  // namespace limb
