// Sines and cosines of compiled programs, against long double.
#include "limb/codegen/lower/sincos_lowering.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/codegen/program.hpp"
#include "limb/codegen/testing/run.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using codegen::Program;
using codegen::Tracer;
using testing::Batch;

Program sincos_program(const codegen::ProgramOptions& options = {}) {
  Tracer tracer("sincos");
  const VectorX<Traced> x = tracer.input("x", 1);
  tracer.output("s", VectorX<Traced>::Constant(1, sin(x[0])));
  tracer.output("c", VectorX<Traced>::Constant(1, cos(x[0])));
  return Program(tracer.finish(), options);
}

/// Angles of all sizes, and the doubles next to multiples of pi/2.
std::vector<double> angles() {
  testing::Random random(2);
  std::vector<double> x = {0.0, -0.0, 1e-300, 1e-8, 0.5, 999999.0};
  for (int i = 0; i < 100000; ++i) x.push_back(random.uniform(-4, 4));
  for (int i = 0; i < 100000; ++i) x.push_back(random.uniform(-999999, 999999));
  for (int k = -50000; k < 50000; ++k) x.push_back(k * 1.57079632679489661923);
  return x;
}

/// Largest error in units in the last place of the result.
template <typename T>
double worst_ulps(const Batch<T>& in, const Batch<T>& out) {
  Worst worst;
  for (std::size_t i = 0; i < in.data[0].size(); ++i) {
    const long double x = in.data[0][i];
    const auto ulps = [](T found, long double exact) {
      const T near = static_cast<T>(exact);
      const T ulp = std::nextafter(std::abs(near), std::numeric_limits<T>::max()) - std::abs(near);
      return static_cast<double>(std::abs(found - exact) / ulp);
    };
    worst.add(ulps(out.data[0][i], std::sin(x)), ulps(out.data[1][i], std::cos(x)));
  }
  return worst.value();
}

TEST(Sincos, IsWithinTwoUnitsInTheLastPlace) {
  const Program p = sincos_program();
  Batch<double> in;
  in.data.push_back(angles());
  const std::int64_t n = static_cast<std::int64_t>(in.data[0].size());
  EXPECT_LT(worst_ulps(in, run_rows(p, in, n)), 2);
  EXPECT_LT(worst_ulps(in, run_each(p, in, n)), 2);
}

TEST(Sincos, OfFloatsIsWithinTwoUnitsInTheLastPlace) {
  const Program p = sincos_program();
  testing::Random random(3);
  Batch<float> in;
  in.data.emplace_back();
  for (int i = 0; i < 200000; ++i) {
    in.data[0].push_back(static_cast<float>(random.uniform(-1, 1) * (i % 2 == 0 ? 4 : 30000)));
  }
  EXPECT_LT(worst_ulps(in, run_rows(p, in, 200000)), 2);
}

// Out of the range of the polynomials the C library is used, state by state.
TEST(Sincos, HasNoLimit) {
  const Program p = sincos_program();
  Batch<double> in;
  in.data.push_back(std::vector<double>(64, 0.3));
  for (const double large : {1e7, -1e22, 1e300, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    in.data[0][19] = large;
    for (const auto& out : {run_rows(p, in, 64), run_columns(p, in, 64), run_each(p, in, 64)}) {
      for (std::size_t i = 0; i < 64; ++i) {
        const double x = in.data[0][i];
        if (std::isfinite(x)) {
          EXPECT_NEAR(out.data[0][i], std::sin(x), 3e-16);
          EXPECT_NEAR(out.data[1][i], std::cos(x), 3e-16);
        } else {
          EXPECT_TRUE(std::isnan(out.data[0][i]) && std::isnan(out.data[1][i]));
        }
      }
    }
  }
}

// Angles whose sum is out of range, though none of them is: state by state, the same polynomials.
TEST(Sincos, HasTheSameBitsForManyLargeAngles) {
  Tracer tracer("many");
  const VectorX<Traced> x = tracer.input("x", 5);
  VectorX<Traced> y(5);
  for (int k = 0; k < 5; ++k) y[k] = sin(x[k]) - cos(x[k]);
  tracer.output("y", y);
  const codegen::Trace trace = tracer.finish();
  const Program slow(trace, {.interpret = true}), fast(trace);
  Batch<double> in = testing::batch_of(trace.inputs, 40, 0.0);
  testing::Random random(5);
  for (double& v : in.data[0]) v = random.uniform(-1, 1) * 4e5;
  const Batch<double> expected = run_each(slow, in, 40);
  EXPECT_TRUE(same_bits(run_each(fast, in, 40), expected));
  EXPECT_TRUE(same_bits(run_rows(fast, in, 40), expected));
}

// Sines of sines, which cannot all be computed first.
TEST(Sincos, MayBeNested) {
  Tracer tracer("nested");
  const VectorX<Traced> x = tracer.input("x", 2);
  const Traced inner = sin(x[0]) * Traced(3) + x[1];
  tracer.output("y", VectorX<Traced>::Constant(1, cos(inner) + sin(inner * x[0])));
  const codegen::Trace trace = tracer.finish();
  const Program slow(trace, {.interpret = true}), fast(trace);
  Batch<double> in = testing::batch_of(trace.inputs, 50, 0.0);
  testing::Random random(4);
  for (double& v : in.data[0]) v = random.uniform(-3, 3);
  in.data[0][40] = 1e9;  // too large in the first sine
  in.data[0][61] = 3e9;  // too large in the others only
  const Batch<double> expected = run_each(slow, in, 50);
  EXPECT_TRUE(same_bits(run_each(fast, in, 50), expected));
  EXPECT_TRUE(same_bits(run_rows(fast, in, 50), expected));
}

}  // namespace
}  // namespace limb
