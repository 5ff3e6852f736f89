// Derivatives of recorded functions by graph differentiation.
#include "limb/codegen/record/jacobian.hpp"

#include <gtest/gtest.h>

#include "limb/codegen/program.hpp"
#include "limb/codegen/record/function_tracer.hpp"
#include "limb/dynamics/testing/sample.hpp"

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

}  // namespace
}  // namespace limb
