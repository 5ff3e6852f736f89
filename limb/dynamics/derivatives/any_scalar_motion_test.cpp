// Kinematics, frames, Jacobians, energy, momentum, manifold, Lagrangian terms and regressors with
// the scalars Dual and ComplexStep, on random trees of all joint types.
#include "limb/dynamics/derivatives/any_scalar.hpp"
#include "limb/dynamics/testing/directional.hpp"

namespace limb {
namespace {

using testing::Inputs;
using testing::Record;
using testing::Sample;

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr FrameAxes kAxes = FrameAxes::local_world_aligned;
constexpr AccelerationKind kKind = AccelerationKind::classical;

// Values: sums over a dozen bodies in another order than in Robot. Scalars: the same formulas with
// different rounding. Differences with step h have an error of h^2 times a third derivative of
// order 1e3.
constexpr testing::DirectionalTolerances kLimits = {200 * kEps, 1000 * kEps, 1e-7, 1e-5};

template <typename S>
Record<S> motion(const Model<S>& model, const Inputs<S>& x) {
  Record<S> r;
  const int n = model.nv();
  const FrameId frame(static_cast<int>(model.frames().size()) - 1);
  Kinematics<S> k(model);
  forward_kinematics(model, x.q, x.v, x.a, k);
  const Pose<S> X = frame_pose<S>(model, k, frame);
  r.add("pose", X.R);
  r.add("position", X.p);
  r.add("velocity", frame_velocity<S>(model, k, frame, kAxes));
  r.add("acceleration", frame_acceleration<S>(model, k, frame, kAxes, kKind));
  Matrix6X<S> J(6, n);
  frame_jacobian<S>(model, k, frame, kAxes, J);
  r.add("jacobian", J);
  frame_jacobian_rate<S>(model, k, frame, kAxes, J);
  r.add("jacobian_rate", J);
  r.add("rate times v", frame_jacobian_rate_times_v<S>(model, k, frame, kAxes));
  KinematicHessian<S> H(model);
  frame_hessian<S>(model, k, frame, kAxes, H);
  r.add("hessian", H.along(n / 2));
  r.add("com", center_of_mass(model, k));
  r.add("com velocity", center_of_mass_velocity(model, k));
  r.add("com acceleration", center_of_mass_acceleration(model, k));
  SubtreeScratch<S> subtree(model);
  Matrix3X<S> J3(3, n);
  center_of_mass_jacobian<S>(model, k, subtree, J3);
  r.add("com jacobian", J3);
  r.add("kinetic", kinetic_energy(model, k));
  r.add("potential", potential_energy(model, k));
  r.add("momentum", centroidal_momentum(model, k));
  r.add("momentum rate", centroidal_momentum_rate(model, k));
  centroidal_matrix<S>(model, k, subtree, J);
  r.add("centroidal matrix", J);
  centroidal_matrix_rate<S>(model, k, subtree, J);
  r.add("centroidal rate", J);
  if (has_floating_base(model)) {
    r.add("base velocity", base_velocity<S>(model, k, BaseVelocityConvention::mujoco));
    r.add("base acceleration", base_acceleration<S>(model, k, BaseVelocityConvention::mujoco));
  }
  VectorX<S> q(x.q.size()), between(n);
  integrate<S>(model, x.q, x.v, q);
  r.add("integrate", q);
  integrate<S>(model, x.q, x.a, q);
  difference<S>(model, x.q, q, between);
  r.add("difference", between);
  return r;
}

Record<double> motion_of_facade(const Robot& start, const Inputs<double>& x) {
  Robot robot = start;
  robot.set_state(x.q, x.v, x.a);
  Record<double> r;
  const std::string frame = robot.model().frames().back().name;
  const Pose<double> X = robot.pose(frame);
  r.add("pose", X.R);
  r.add("position", X.p);
  r.add("velocity", robot.velocity(frame, kAxes));
  r.add("acceleration", robot.acceleration(frame, kAxes, kKind));
  r.add("jacobian", robot.jacobian(frame, kAxes));
  r.add("jacobian_rate", robot.jacobian_rate(frame, kAxes));
  r.add("rate times v", robot.jacobian_rate_times_v(frame, kAxes));
  r.add("hessian", robot.hessian(frame, kAxes).along(robot.model().nv() / 2));
  r.add("com", robot.center_of_mass());
  r.add("com velocity", robot.center_of_mass_velocity());
  r.add("com acceleration", robot.center_of_mass_acceleration());
  r.add("com jacobian", robot.center_of_mass_jacobian());
  r.add("kinetic", robot.kinetic_energy());
  r.add("potential", robot.potential_energy());
  r.add("momentum", robot.centroidal_momentum());
  r.add("momentum rate", robot.centroidal_momentum_rate());
  r.add("centroidal matrix", robot.centroidal_matrix());
  r.add("centroidal rate", robot.centroidal_matrix_rate());
  if (robot.model().bodies()[1].joint.nv() == 6) {
    r.add("base velocity", robot.base_velocity(BaseVelocityConvention::mujoco));
    r.add("base acceleration", robot.base_acceleration(BaseVelocityConvention::mujoco));
  }
  r.add("integrate", robot.integrate(x.v));
  const VectorX<double> q = robot.integrate(x.a);
  r.add("difference", robot.difference(q));
  return r;
}

TEST(AnyScalar, Motion) {
  unsigned seed = 1;
  for (const Sample& s : testing::samples(2)) {
    testing::expect_same_derivatives(
        s, seed++, kLimits, [](const auto& model, const auto& x) { return motion(model, x); },
        motion_of_facade);
  }
}

template <typename S>
Record<S> lagrange_terms(const Model<S>& model, const Inputs<S>& x) {
  Record<S> r;
  const int n = model.nv();
  Kinematics<S> k(model);
  forward_kinematics(model, x.q, x.v, x.a, k);
  LagrangeScratch<S> scratch(model);
  MatrixX<S> C(n, n), products(n, n * (n - 1) / 2);
  coriolis_matrix<S>(model, k, scratch, C);
  r.add("coriolis", C);
  ChristoffelTensor<S> gamma(n);
  christoffel<S>(model, k, scratch, gamma);
  MatrixX<S> slice(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) slice(i, j) = gamma(i, n / 2, j);
  }
  r.add("christoffel", slice);
  centrifugal_coriolis_split<S>(model, k, scratch, C, products);
  r.add("squares", C);
  r.add("products", products);
  TorqueBudgetScratch<S> budget_scratch(model);
  TorqueBudget<S> budget(model);
  torque_budget<S>(model, k, budget_scratch, budget);
  r.add("inertial", budget.inertial);
  r.add("gravity", budget.gravity);
  r.add("all", budget.tau);
  RegressorScratch<S> regressor_scratch(model);
  MatrixX<S> Y(n, parameter_count(model));
  torque_regressor<S>(model, k, regressor_scratch, Y);
  r.add("regressor", Y);
  return r;
}

Record<double> lagrange_terms_of_facade(const Robot& start, const Inputs<double>& x) {
  Robot robot = start;
  robot.set_state(x.q, x.v, x.a);
  Record<double> r;
  const int n = robot.model().nv();
  r.add("coriolis", robot.coriolis_matrix());
  MatrixX<double> slice(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) slice(i, j) = robot.christoffel()(i, n / 2, j);
  }
  r.add("christoffel", slice);
  r.add("squares", robot.centrifugal_coriolis_split().squares);
  r.add("products", robot.centrifugal_coriolis_split().products);
  r.add("inertial", robot.torque_budget().inertial);
  r.add("gravity", robot.torque_budget().gravity);
  r.add("all", robot.torque_budget().tau);
  r.add("regressor", robot.regressor());
  return r;
}

TEST(AnyScalar, LagrangeAndRegressors) {
  unsigned seed = 50;
  for (const Sample& s : testing::samples(2)) {
    testing::expect_same_derivatives(
        s, seed++, kLimits,
        [](const auto& model, const auto& x) { return lagrange_terms(model, x); },
        lagrange_terms_of_facade);
  }
}

// Energies and momentum are linear in the parameters, also for dual numbers.
TEST(AnyScalar, EnergyAndMomentumRegressors) {
  using S = Dual<double, 2>;
  for (const Sample& s : testing::samples(1)) {
    SCOPED_TRACE(s.name);
    const Model<S> model = s.model.cast<S>();
    const Inputs<S> x = testing::seeded<S>(model, s, testing::directions(model.nv(), 2, 7));
    Kinematics<S> k(model);
    forward_kinematics(model, x.q, x.v, k);
    const int count = parameter_count(model);
    VectorX<S> p(count), y(count);
    inertial_parameters<S>(model, p);
    const auto near = [](const S& found, const S& expected, double scale) {
      EXPECT_NEAR(found.value, expected.value, 100 * kEps * scale);
      EXPECT_NEAR(found.tangent[1], expected.tangent[1], 100 * kEps * scale);
    };
    kinetic_energy_regressor<S>(model, k, y);
    near(y.dot(p), kinetic_energy(model, k, JointEffects::none()), 100);
    potential_energy_regressor<S>(model, k, y);
    near(y.dot(p), potential_energy(model, k), 1000);
    Matrix6X<S> Y(6, count);
    momentum_regressor<S>(model, k, Y);
    const Vector6<S> h = Y * p, expected = spatial_momentum(model, k).vector();
    for (int i = 0; i < 6; ++i) near(h[i], expected[i], 1000);
  }
}

}  // namespace
}  // namespace limb
