// Simplifications of the graph; tracing of user-defined templates.
#include "limb/codegen/record/graph.hpp"

#include <gtest/gtest.h>

#include "limb/codegen/lower/lower.hpp"
#include "limb/codegen/program.hpp"
#include "limb/codegen/testing/run.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using codegen::Graph;
using codegen::Op;
using codegen::Program;
using codegen::Trace;
using codegen::Tracer;

TEST(Graph, FoldsConstantsAndIdentities) {
  Graph g;
  const int x = g.input(0), y = g.input(1), zero = g.constant(0), one = g.constant(1);
  EXPECT_EQ(g.add(g.constant(2), g.constant(3)), g.constant(5));
  EXPECT_EQ(g.mul(x, zero), zero);
  EXPECT_EQ(g.mul(one, x), x);
  EXPECT_EQ(g.add(x, zero), x);
  EXPECT_EQ(g.sub(x, x), zero);
  EXPECT_EQ(g.constant(-0.0), zero);
  EXPECT_EQ(g.add(x, x), g.mul(g.constant(2), x));
  EXPECT_EQ(g.mul(g.constant(2), g.mul(x, g.constant(3))), g.mul(g.constant(6), x));
  EXPECT_EQ(g.div(x, g.constant(4)), g.mul(g.constant(0.25), x));
  EXPECT_EQ(g[g.div(x, g.constant(3))].op, Op::div);  // a third would round
  EXPECT_EQ(g.div(zero, y), zero);
  EXPECT_EQ(g.select(g.less(one, zero), x, y), y);
  EXPECT_EQ(g.select(g.less(zero, one), x, y), x);
  EXPECT_EQ(g.select(g.less(x, y), x, x), x);
}

TEST(Graph, FoldsFunctionsOfConstants) {
  Graph g;
  const auto k = [&](double x) { return g.constant(x); };
  EXPECT_EQ(g.sub(k(2), k(5)), k(-3));
  EXPECT_EQ(g.sub(g.neg(k(2)), k(5)), k(-7));
  EXPECT_EQ(g.mul(k(2), k(-5)), k(-10));
  EXPECT_EQ(g.div(k(1), k(4)), k(0.25));
  EXPECT_EQ(g.div(k(1), k(-3)), k(-1.0 / 3));
  EXPECT_EQ(g.abs(k(-2)), k(2));
  EXPECT_EQ(g.sqrt(k(9)), k(3));
  EXPECT_EQ(g.sine(k(0.5)), k(std::sin(0.5)));
  EXPECT_EQ(g.cosine(k(0.5)), k(std::cos(0.5)));
  EXPECT_EQ(g.atan2(k(-1), k(-2)), k(std::atan2(-1, -2)));
  EXPECT_EQ(g.atan2(k(0), k(-0.0)), k(0));
  EXPECT_EQ(g.less(k(1), k(1)), k(0));
  EXPECT_EQ(g.less_equal(k(1), k(1)), k(1));
  EXPECT_EQ(g.less_equal(k(2), k(1)), k(0));
  EXPECT_EQ(g.complement(k(0)), k(1));
  EXPECT_EQ(g.complement(k(1)), k(0));
  EXPECT_EQ(g.constant_value(k(-2.5e-310)), -2.5e-310);
  EXPECT_TRUE(g.is_constant(k(3), 3));
  EXPECT_FALSE(g.is_constant(k(3), 2));
  EXPECT_FALSE(g.is_constant(g.input(0)));
  // A mask that is known decides; an unknown one stays.
  const int mask = g.less(g.input(0), g.input(1));
  for (const bool first : {true, false}) {
    const auto both = [&](int a) { return first ? g.both(a, mask) : g.both(mask, a); };
    const auto either = [&](int a) { return first ? g.either(a, mask) : g.either(mask, a); };
    EXPECT_EQ(both(k(1)), mask);
    EXPECT_EQ(both(k(0)), k(0));
    EXPECT_EQ(either(k(1)), k(1));
    EXPECT_EQ(either(k(0)), mask);
  }
}

TEST(Graph, MovesSignsOutOfQuotientsAndAbsoluteValues) {
  Graph g;
  const int x = g.input(0), y = g.input(1);
  EXPECT_EQ(g.div(g.neg(x), y), g.neg(g.div(x, y)));
  EXPECT_EQ(g.div(x, g.neg(y)), g.neg(g.div(x, y)));
  EXPECT_EQ(g.div(g.neg(x), g.neg(y)), g.div(x, y));
  EXPECT_EQ(g.div(x, g.constant(-0.5)), g.mul(g.constant(-2), x));
  EXPECT_EQ(g.abs(g.neg(x)), g.abs(x));
  EXPECT_EQ(g.sine(g.mul(g.constant(-3), x)), g.neg(g.sine(g.mul(g.constant(3), x))));
  EXPECT_EQ(g.cosine(g.mul(g.constant(-3), x)), g.cosine(g.mul(g.constant(3), x)));
  EXPECT_EQ(g.neg(g.mul(g.constant(3), x)), g.mul(g.constant(-3), x));
  EXPECT_EQ(g.mul(g.constant(-1), x), g.neg(x));
  EXPECT_EQ(g.sub(g.neg(x), y), g.neg(g.add(x, y)));
  EXPECT_EQ(g.sub(g.constant(0), x), g.neg(x));
}

// The table of nodes grows; values made before and after it are still found.
TEST(Graph, SharesValuesInLargeGraphs) {
  Graph g;
  std::vector<int> products;
  const int x = g.input(0);
  for (int i = 1; i <= 30000; ++i) products.push_back(g.mul(x, g.input(i)));
  const int size = g.size();
  EXPECT_EQ(size, 60001);
  for (int i = 1; i <= 30000; ++i) {
    ASSERT_EQ(g.mul(g.input(i), x), products[static_cast<std::size_t>(i - 1)]);
  }
  EXPECT_EQ(g.size(), size);
}

TEST(Graph, KnowsWhatRootsNeed) {
  Graph g;
  const int a = g.input(0), b = g.input(1), c = g.input(2), unused = g.input(3);
  const int mask = g.less(a, b), chosen = g.select(mask, b, c), root = g.sqrt(chosen);
  const int other = g.add(a, unused);
  const std::vector<char> needed = g.needed_by({root});
  for (const int i : {a, b, c, mask, chosen, root}) EXPECT_EQ(needed[std::size_t(i)], 1) << i;
  for (const int i : {unused, other}) EXPECT_EQ(needed[std::size_t(i)], 0) << i;
}

TEST(Graph, SharesEqualValues) {
  Graph g;
  const int x = g.input(0), y = g.input(1);
  EXPECT_EQ(g.add(x, y), g.add(y, x));
  EXPECT_EQ(g.mul(x, y), g.mul(y, x));
  EXPECT_EQ(g.sub(x, y), g.neg(g.sub(y, x)));
  EXPECT_EQ(g.mul(g.neg(x), y), g.neg(g.mul(x, y)));
  EXPECT_EQ(g.mul(g.neg(x), g.neg(y)), g.mul(x, y));
  EXPECT_EQ(g.add(x, g.mul(g.constant(-2), y)), g.sub(x, g.mul(g.constant(2), y)));
  EXPECT_EQ(g.neg(g.neg(x)), x);
  EXPECT_EQ(g.sine(g.neg(x)), g.neg(g.sine(x)));
  EXPECT_EQ(g.cosine(g.neg(x)), g.cosine(x));
  EXPECT_EQ(g.complement(g.complement(g.less(x, y))), g.less(x, y));
  const int before = g.size();
  g.mul(g.add(x, y), g.sub(x, y));
  const int after = g.size();
  g.mul(g.sub(x, y), g.add(y, x));
  EXPECT_EQ(g.size(), after);
  EXPECT_GT(after, before);
}

TEST(Graph, FactorsEqualConstantsOutOfSums) {
  Graph g;
  const int x = g.input(0), y = g.input(1), r = g.input(2), s = g.input(3), k = g.constant(3);
  const int kx = g.mul(k, x), ky = g.mul(k, y);
  EXPECT_EQ(g.add(kx, ky), g.mul(k, g.add(x, y)));
  EXPECT_EQ(g.sub(kx, ky), g.mul(k, g.sub(x, y)));
  EXPECT_EQ(g.add(g.add(r, kx), ky), g.add(r, g.mul(k, g.add(x, y))));
  EXPECT_EQ(g.sub(ky, g.add(r, kx)), g.sub(g.mul(k, g.sub(y, x)), r));
  EXPECT_EQ(g.sub(g.sub(r, kx), ky), g.sub(r, g.mul(k, g.add(x, y))));
  EXPECT_EQ(g.sub(ky, g.sub(r, kx)), g.sub(g.mul(k, g.add(x, y)), r));
  EXPECT_EQ(g.sub(g.sub(g.sub(r, kx), s), ky), g.sub(g.sub(r, g.mul(k, g.add(x, y))), s));
  EXPECT_EQ(g.add(g.sub(s, g.sub(r, kx)), ky), g.sub(s, g.sub(r, g.mul(k, g.add(x, y)))));
  const int other = g.add(g.add(r, kx), g.mul(g.constant(4), y));
  EXPECT_EQ(g[other].op, Op::add);
  EXPECT_EQ(g[other].b, g.mul(g.constant(4), y));
}

// A user-defined template, written without regard to tracing.
template <typename T>
T damped_spring(const T& x, const T& v, double stiffness) {
  using std::sin;
  using std::sqrt;
  const T energy = T(0.5) * (T(stiffness) * x * x + v * v);
  return choose(
      v < T(0), [&] { return sqrt(energy) - x; }, [&] { return sin(x) * energy; });
}

Trace spring_trace() {
  Tracer tracer("spring");
  const VectorX<Traced> x = tracer.input("x", 2);
  VectorX<Traced> f(1);
  f[0] = damped_spring<Traced>(x[0], x[1], 3);
  tracer.output("f", f);
  return tracer.finish();
}

TEST(Trace, RunsUserDefinedTemplates) {
  for (const bool interpret : {true, false}) {
    const Program p(spring_trace(), {.interpret = interpret});
    for (const double v : {-2.0, -0.0, 0.5}) {
      const double state[] = {0.7, v};
      double f = 0;
      const double* in[] = {state};
      double* out[] = {&f};
      p.run(in, out);
      const double expected = damped_spring<double>(0.7, v, 3);
      EXPECT_NEAR(f, expected, 4 * std::numeric_limits<double>::epsilon() * std::abs(expected));
    }
  }
}

// Functions of limb are templates too: a rotation by a quaternion, its angle by atan2.
TEST(Trace, RunsFunctionsOfLimb) {
  Tracer tracer("turn");
  const VectorX<Traced> q = tracer.input("q", 4), x = tracer.input("x", 3);
  const Vector3<Traced> y =
      to_matrix(quat_xyzw<Traced>(q[0], q[1], q[2], q[3])) * Vector3<Traced>(x[0], x[1], x[2]);
  tracer.output("y", y);
  tracer.output("angle", VectorX<Traced>::Constant(1, atan2(y[1], y[0])));
  const Program p(tracer.finish());
  EXPECT_EQ(p.why_not_compiled(), codegen::why_no_machine_code());
  const double q0[] = {0, 0, std::sqrt(0.5), std::sqrt(0.5)}, x0[] = {1, 0, 0};
  double y0[3], angle[1];
  const double* in[] = {q0, x0};
  double* out[] = {y0, angle};
  p.run(in, out);
  EXPECT_NEAR(y0[1], 1, 1e-15);
  EXPECT_NEAR(angle[0], std::acos(0.0), 1e-15);
}

TEST(Trace, DropsUnusedValues) {
  Tracer tracer("dead");
  const VectorX<Traced> x = tracer.input("x", 3);
  const Traced unused = sqrt(x[0] * x[1]) / x[2];
  static_cast<void>(unused);
  tracer.output("y", VectorX<Traced>::Constant(1, x[0] + x[1]));
  const codegen::Code code = codegen::lower(tracer.finish());
  EXPECT_EQ(code.operation_count(), 1);
}

TEST(Trace, ReportsErrors) {
  EXPECT_EQ(testing::message([] {
              Tracer tracer("t");
              tracer.input("x", 1);
              tracer.input("x", 2);
            }),
            "Tracer: name is 'x' twice, expected distinct names");
  EXPECT_EQ(testing::message([] {
              Tracer tracer("t");
              tracer.input("2x", 1);
            }),
            "Tracer: name is '2x', expected letters, digits and _, no digit first");
  EXPECT_EQ(testing::message([] {
              Traced x;
              {
                Tracer tracer("t");
                x = tracer.input("x", 1)[0];
              }
              x = x + x;
            }),
            "Traced: a number that is not a constant needs a Recording, or trace()");
}

}  // namespace
}  // namespace limb
