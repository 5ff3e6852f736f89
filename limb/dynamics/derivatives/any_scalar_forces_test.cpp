// Torques, mass matrix, accelerations and the analytical derivatives with the scalars Dual and
// ComplexStep, on random trees of all joint types.
#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/derivatives/any_scalar.hpp"
#include "limb/dynamics/testing/directional.hpp"

namespace limb {
namespace {

using testing::Inputs;
using testing::Record;
using testing::Sample;
using Vector = VectorX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();

// As in any_scalar_motion_test, and M^-1 with a condition number up to 1e4 (twice in its
// derivative).
constexpr testing::DirectionalTolerances kLimits = {1e6 * kEps, 1e8 * kEps, 1e-5, 1e-5};

template <typename S>
Record<S> forces(const Model<S>& model, const Inputs<S>& x) {
  Record<S> r;
  const int n = model.nv();
  Workspace<S> work(model);
  VectorX<S> y(n);
  rnea(model, work, x.q, x.v, x.a, y);
  r.add("rnea", y);
  bias<S>(model, work, x.q, x.v, y);
  r.add("bias", y);
  gravity<S>(model, work, x.q, y);
  r.add("gravity", y);
  MatrixX<S> M(n, n);
  crba<S>(model, work, x.q, M);
  r.add("crba", M);
  BaseJointPartition<S> parts(model);
  bias<S>(model, work, x.q, x.v, y);
  base_joint_partition<S>(model, M, y, parts);
  r.add("legged", parts.M_jj);
  EXPECT_TRUE(aba(model, work, x.q, x.v, x.tau, y).ok());
  r.add("aba", y);
  MassFactor<S> factor(model);
  EXPECT_TRUE(mass_inverse<S>(model, work, x.q, factor, M).ok());
  r.add("mass inverse", M);
  DerivativeWorkspace<S> derivative_work(model);
  MatrixX<S> dq(n, n), dv(n, n), da(n, n);
  rnea_derivatives<S>(model, derivative_work, x.q, x.v, x.a, dq, dv, da);
  r.add("dtau_dq", dq);
  r.add("dtau_dv", dv);
  r.add("dtau_da", da);
  EXPECT_TRUE(aba_derivatives<S>(model, derivative_work, x.q, x.v, x.tau, y, dq, dv, da).ok());
  r.add("da_dq", dq);
  r.add("da_dv", dv);
  r.add("da_dtau", da);
  return r;
}

Record<double> forces_of_facade(const Robot& start, const Inputs<double>& x) {
  Robot robot = start;
  robot.set_state(x.q, x.v, x.a);
  Record<double> r;
  r.add("rnea", robot.inverse_dynamics());
  r.add("bias", robot.bias());
  r.add("gravity", robot.gravity());
  r.add("crba", robot.mass_matrix());
  r.add("legged", robot.base_joint_partition().M_jj);
  r.add("aba", robot.forward_dynamics(x.tau));
  r.add("mass inverse", robot.mass_inverse());
  r.add("dtau_dq", robot.rnea_derivatives().dtau_dq);
  r.add("dtau_dv", robot.rnea_derivatives().dtau_dv);
  r.add("dtau_da", robot.rnea_derivatives().dtau_da);
  r.add("da_dq", robot.aba_derivatives(x.tau).da_dq);
  r.add("da_dv", robot.aba_derivatives(x.tau).da_dv);
  r.add("da_dtau", robot.aba_derivatives(x.tau).da_dtau);
  return r;
}

TEST(AnyScalar, Forces) {
  unsigned seed = 1;
  for (const Sample& s : testing::samples(2)) {
    testing::expect_same_derivatives(
        s, seed++, kLimits, [](const auto& model, const auto& x) { return forces(model, x); },
        forces_of_facade);
  }
}

// The tangents of torques agree with the analytical derivatives to rounding.
TEST(AnyScalar, TangentsAreTheAnalyticalDerivatives) {
  using S = Dual<double, 2>;
  using Complex = ComplexStep<double>;
  Worst worst;
  for (const Sample& s : testing::samples(2)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    const MatrixX<double> D = testing::directions(n, 2, 9);
    const Model<S> model = s.model.cast<S>();
    const Inputs<S> x = testing::seeded<S>(model, s, D);
    Workspace<S> work(model);
    VectorX<S> tau(n);
    rnea(model, work, x.q, x.v, x.a, tau);
    Robot robot(s.model);
    robot.set_state(s.q, s.v, s.a);
    const InverseDerivatives& d = robot.rnea_derivatives();
    const Model<Complex> complex = s.model.cast<Complex>();
    Workspace<Complex> complex_work(complex);
    for (int k = 0; k < 2; ++k) {
      const Vector expected = d.dtau_dq * D.col(k).head(n) + d.dtau_dv * D.col(k).segment(n, n) +
                              d.dtau_da * D.col(k).segment(2 * n, n);
      const Inputs<Complex> z = testing::seeded<Complex>(complex, s, D.col(k));
      VectorX<Complex> torque(n);
      rnea(complex, complex_work, z.q, z.v, z.a, torque);
      for (const Vector& found : {testing::tangents(tau, k), testing::tangents(torque, 0)}) {
        worst.add((found - expected).norm() / std::max(1.0, expected.norm()));
      }
    }
  }
  // Sums over some tens of bodies, twice.
  EXPECT_LT(worst.value(), 200 * kEps);
}

// Nested dual numbers: with q moved by (e + d) x, the e d part is the second derivative along x.
TEST(AnyScalar, NestedDualsHaveSecondDerivatives) {
  using Dual1 = Dual<double, 1>;
  using S = Dual<Dual1, 1>;
  Worst worst;
  for (const Sample& s : testing::samples(2)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    const Vector x = testing::directions(n, 1, 5).col(0).head(n);
    const Model<S> model = s.model.cast<S>();
    VectorX<S> q = s.q.cast<S>(), step(n), tau(n);
    for (int i = 0; i < n; ++i) step[i] = S(Dual1(0, x[i]), Dual1(x[i], 0));
    integrate<S>(model, q, step, q);
    Workspace<S> work(model);
    rnea<S>(model, work, q, s.v.cast<S>(), s.a.cast<S>(), tau);
    double second = 0;
    for (int i = 0; i < n; ++i) second += s.tau[i] * tau[i].tangent[0].tangent[0];
    Robot robot(s.model);
    robot.set_state(s.q, s.v, s.a);
    const HessianBlocks& H = robot.rnea_hessian(s.tau);
    worst.add(std::abs(second - x.dot(H.qq * x)) / (1 + H.qq.norm() * x.squaredNorm()));
  }
  EXPECT_LT(worst.value(), 200 * kEps);
}

}  // namespace
}  // namespace limb
