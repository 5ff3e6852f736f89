// Derivatives recorded from the analytic recursion, against dual numbers through the templates of
// the functions (exact).
#include <gtest/gtest.h>

#include "limb/codegen/program.hpp"
#include "limb/codegen/record/function_tracer.hpp"
#include "limb/codegen/testing/run.hpp"
#include "limb/dynamics/recursive/aba_impl.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/model/core/model_impl.hpp"

namespace limb {
namespace {

using codegen::Program;
using testing::Dual;
using testing::State;

constexpr double kEps = std::numeric_limits<double>::epsilon();

struct Derivatives {
  MatrixX<double> dq, dv, da_dtau;
};

Derivatives run(const Model<double>& model, DynamicsFunction function, const State& s,
                const VectorX<double>& last) {
  const Program p(codegen::trace(model, function));
  const int n = model.nv();
  Derivatives d{MatrixX<double>(n, n), MatrixX<double>(n, n), MatrixX<double>(n, n)};
  const double* in[] = {s.q.data(), s.v.data(), last.data()};
  double* out[] = {d.dq.data(), d.dv.data(), d.da_dtau.data()};
  p.run(in, out);
  return d;
}

/// f(q, v) along a tangent of q and a change of v.
template <typename F>
VectorX<double> along(const Model<Dual>& model, const State& s, const VectorX<double>& dq,
                      const VectorX<double>& dv, const F& f) {
  const VectorX<Dual> q = testing::dual_position(model, s.q, dq);
  return testing::derivative(f(q, testing::dual_vector(s.v, dv)));
}

TEST(Derivatives, OfInverseDynamicsMatchDualNumbers) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    for (const Model<double>& model : testing::random_robots(seed)) {
      const State s = testing::random_state(model, seed);
      const Derivatives d = run(model, DynamicsFunction::rnea_derivatives, s, s.a);
      const Model<Dual> dual = model.cast<Dual>();
      Workspace<Dual> work(dual);
      const int n = model.nv();
      const VectorX<double> zero = VectorX<double>::Zero(n);
      const VectorX<Dual> a = testing::dual_vector(s.a, zero);
      const auto tau = [&](const VectorX<Dual>& q, const VectorX<Dual>& v) {
        VectorX<Dual> t(n);
        rnea<Dual>(dual, work, q, v, a, t, {});
        return t;
      };
      for (int k = 0; k < n; ++k) {
        const VectorX<double> unit = VectorX<double>::Unit(n, k);
        // Both are exact up to rounding; worst seen 30 eps of the norm.
        const double tolerance = 1024 * kEps * (1 + d.dq.norm() + d.dv.norm());
        EXPECT_LT((d.dq.col(k) - along(dual, s, unit, zero, tau)).norm(), tolerance) << seed;
        EXPECT_LT((d.dv.col(k) - along(dual, s, zero, unit, tau)).norm(), tolerance) << seed;
      }
    }
  }
}

TEST(Derivatives, OfForwardDynamicsMatchDualNumbers) {
  for (const Model<double>& model : testing::random_robots(5)) {
    const State s = testing::random_state(model, 6);
    const Derivatives d = run(model, DynamicsFunction::aba_derivatives, s, s.a);
    const Model<Dual> dual = model.cast<Dual>();
    Workspace<Dual> work(dual);
    const int n = model.nv();
    const VectorX<double> zero = VectorX<double>::Zero(n);
    const VectorX<Dual> tau = testing::dual_vector(s.a, zero);
    const auto a = [&](const VectorX<Dual>& q, const VectorX<Dual>& v) {
      VectorX<Dual> x(n);
      aba<Dual>(dual, work, q, v, tau, x, {});
      return x;
    };
    // Condition of the mass matrix, below 1e5 for these robots, times a few tens of eps.
    const double tolerance = 1e7 * kEps * (1 + d.dq.norm() + d.dv.norm());
    for (int k = 0; k < n; ++k) {
      const VectorX<double> unit = VectorX<double>::Unit(n, k);
      EXPECT_LT((d.dq.col(k) - along(dual, s, unit, zero, a)).norm(), tolerance);
      EXPECT_LT((d.dv.col(k) - along(dual, s, zero, unit, a)).norm(), tolerance);
    }
    Workspace<double> plain(model);
    MatrixX<double> M(n, n);
    crba(model, plain, s.q, M);
    EXPECT_LT((M * d.da_dtau - MatrixX<double>::Identity(n, n)).norm(), 1e6 * kEps);
  }
}

}  // namespace
}  // namespace limb
