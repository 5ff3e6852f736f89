// Derivatives of recorded functions by graph differentiation.
#include "limb/codegen/record/jacobian.hpp"

#include <gtest/gtest.h>

#include "limb/codegen/program.hpp"
#include "limb/codegen/record/function_tracer.hpp"
#include "limb/codegen/testing/abs_and_atan2.hpp"
#include "limb/codegen/testing/back_ends.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/dual.hpp"
#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using codegen::Program;
using testing::Sample;

constexpr double kEps = std::numeric_limits<double>::epsilon();

// The differentiated graph of rnea against the recorded analytic recursion.
TEST(Jacobian, OfTheGraphMatchesTheRecursion) {
  for (const Sample& s : testing::samples(2, 9)) {
    SCOPED_TRACE(s.name);
    codegen::Tracer tracer("both");
    const int n = s.model.nv();
    const VectorX<Traced> q = tracer.input("q", s.model.nq());
    const VectorX<Traced> v = tracer.input("v", n), a = tracer.input("a", n);
    const Model<Traced> model = s.model.cast<Traced>();
    const VectorX<Traced> tau = codegen::record(model, DynamicsFunction::rnea, {q, v, a})[0];
    tracer.output("dq", codegen::jacobian(tau, codegen::tangents(model, q)));
    tracer.output("dv", codegen::jacobian(tau, codegen::unit_directions(v)));
    const auto analytic = codegen::record(model, DynamicsFunction::rnea_derivatives, {q, v, a});
    tracer.output("dq_analytic", analytic[0]);
    tracer.output("dv_analytic", analytic[1]);
    const Program p(tracer.finish());
    MatrixX<double> dq(n, n), dv(n, n), dq_analytic(n, n), dv_analytic(n, n);
    const double* in[] = {s.q.data(), s.v.data(), s.a.data()};
    double* out[] = {dq.data(), dv.data(), dq_analytic.data(), dv_analytic.data()};
    p.run(in, out);
    // Sums of some hundred products in two orders.
    const double tolerance = 1024 * kEps * (1 + dq.norm() + dv.norm());
    EXPECT_LT((dq - dq_analytic).norm(), tolerance);
    EXPECT_LT((dv - dv_analytic).norm(), tolerance);
  }
}

// A derivative may be the very first value of the graph: d(x y)/dy = x, and then what is built on
// it.
TEST(Jacobian, OfProductsWithTheFirstInput) {
  codegen::Tracer tracer("first");
  const VectorX<Traced> x = tracer.input("x", 4);
  VectorX<Traced> f(6);
  const Traced xy = x[0] * x[1];
  f << xy * x[2], -xy, xy + x[0] * x[2], xy - x[1], x[3] - xy, xy / x[3];
  tracer.output("J", codegen::jacobian(f, codegen::unit_directions(x)));
  const Program p(tracer.finish());
  const Eigen::Vector4d at(0.7, -1.3, 2.1, 0.4);
  MatrixX<double> J(6, 4), expected(6, 4);
  const double* in[] = {at.data()};
  double* out[] = {J.data()};
  p.run(in, out);
  const double a = at[0], b = at[1], c = at[2], d = at[3];
  expected << b * c, a * c, a * b, 0,  //
      -b, -a, 0, 0,                    //
      b + c, a, a, 0,                  //
      b, a - 1, 0, 0,                  //
      -b, -a, 0, 1,                    //
      b / d, a / d, 0, -a * b / (d * d);
  EXPECT_LT((J - expected).norm(), 16 * kEps * expected.norm());
}

TEST(Jacobian, OfAbsAndAtan2InAllQuadrants) {
  const codegen::Trace trace = testing::abs_and_atan2_trace();
  const testing::Batch<double> in{{testing::abs_and_atan2_points<double>()}};
  const std::int64_t states = static_cast<std::int64_t>(in.data[0].size() / 2);
  const testing::Interpreted slow = testing::interpreted(trace, in, states);
  testing::expect_abs_and_atan2(in.data[0], slow.f64.data[0]);
  testing::expect_abs_and_atan2(testing::abs_and_atan2_points<float>(), slow.f32.data[0]);
  if (codegen::why_no_machine_code().empty()) {
    EXPECT_EQ(testing::disagreement(trace, in, states, slow), "");
  }
}

/// Every operation of a graph, with shared values.
template <typename T>
std::vector<T> every_operation(const T& x, const T& y, const T& z) {
  using std::abs;
  using std::atan2;
  using std::cos;
  using std::sin;
  using std::sqrt;
  const T s = sin(x * y - z), c = cos(x + T(2) * y), root = sqrt(x * x + y * y + T(1));
  const T chosen = choose(
      x < y, [&] { return s * x; }, [&] { return c - y * z; });
  const T other = choose(
      y <= z, [&] { return T(3); }, [&] { return root * z; });
  return {s / c,  root / (T(2) + s), abs(s - c), -chosen * abs(y),    atan2(s, c),
          chosen, other + x,         z / x,      T(1) / (root * root)};
}

// Dual numbers are another implementation of the same rules.
TEST(Jacobian, OfEveryOperationMatchesDualNumbers) {
  codegen::Tracer tracer("operations");
  const VectorX<Traced> x = tracer.input("x", 3);
  const std::vector<Traced> y = every_operation(x[0], x[1], x[2]);
  const VectorX<Traced> values =
      Eigen::Map<const VectorX<Traced>>(y.data(), static_cast<Eigen::Index>(y.size()));
  tracer.output("J", codegen::jacobian(values, codegen::unit_directions(x)));
  const Program p(tracer.finish());
  testing::Random random(5);
  for (int round = 0; round < 100; ++round) {
    const Vector3<double> at(random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(-2, 2));
    MatrixX<double> J(y.size(), 3);
    const double* in[] = {at.data()};
    double* out[] = {J.data()};
    p.run(in, out);
    using D = Dual<double, 3>;
    const auto expected =
        every_operation(D(at[0], {1, 0, 0}), D(at[1], {0, 1, 0}), D(at[2], {0, 0, 1}));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto& d = expected[i].tangent;
      const Vector3<double> row(d[0], d[1], d[2]);
      // A few roundings of numbers of this size, more near a zero of the cosine.
      const double size = 1 + row.norm() + expected[i].value * expected[i].value;
      EXPECT_LT((J.row(static_cast<Eigen::Index>(i)).transpose() - row).norm(), 64 * kEps * size)
          << "seed 5, round " << round << ", result " << i;
    }
  }
}

// Directions that affect different results share a pass, and each result keeps its own.
TEST(Jacobian, SeparatesDirectionsOfIndependentResults) {
  codegen::Tracer tracer("sparse");
  constexpr int kSize = 70;  // more directions than bits of a word
  const VectorX<Traced> x = tracer.input("x", kSize);
  VectorX<Traced> y(kSize);
  for (int i = 0; i < kSize; ++i) y[i] = Traced(i + 2) * x[i] * x[(i + 1) % kSize];
  tracer.output("J", codegen::jacobian(y, codegen::unit_directions(x)));
  const Program p(tracer.finish());
  VectorX<double> at(kSize);
  for (int i = 0; i < kSize; ++i) at[i] = 0.5 + i;
  MatrixX<double> J(kSize, kSize), expected = MatrixX<double>::Zero(kSize, kSize);
  for (int i = 0; i < kSize; ++i) {
    expected(i, i) = (i + 2) * at[(i + 1) % kSize];
    expected(i, (i + 1) % kSize) = (i + 2) * at[i];
  }
  const double* in[] = {at.data()};
  double* out[] = {J.data()};
  p.run(in, out);
  EXPECT_EQ(J, expected);
}

TEST(Differentiate, FixedNodesAndZeroDirectionsAreConstants) {
  codegen::Graph g;
  const int x = g.input(0), y = g.input(1), one = g.constant(1), zero = g.constant(0);
  const int square = g.mul(x, x), f = g.add(g.mul(square, y), g.sine(y));
  using Roots = std::vector<int>;
  EXPECT_EQ(codegen::differentiate(g, {f}, {{x, one}}), Roots{g.mul(y, g.add(x, x))});
  EXPECT_EQ(codegen::differentiate(g, {f}, {{x, one}}, {square}), Roots{zero});
  EXPECT_EQ(codegen::differentiate(g, {f}, {{x, zero}}), Roots{zero});
  EXPECT_EQ(codegen::differentiate(g, {f, x}, {{y, one}}),
            (Roots{g.add(square, g.cosine(y)), zero}));
  EXPECT_EQ(codegen::differentiate(g, {f}, {{square, one}}), Roots{y});
  EXPECT_EQ(codegen::differentiate(g, {g.less(x, y)}, {{x, one}}), Roots{zero});
  EXPECT_EQ(testing::message([&] {
              codegen::differentiate(g, {f}, {{one, one}});
            }),
            "differentiate: the direction contains a constant");
}

}  // namespace
}  // namespace limb
