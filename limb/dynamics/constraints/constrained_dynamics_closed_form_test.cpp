// Constrained motions with a closed form: a beam on two supports, a rod that falls on its end, a
// four-bar linkage, redundant contacts.
#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/constraints/constrained_dynamics.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/testing/loops.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
using testing::Dual;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// A rod of length l along x, its mass centre at the origin, on a free joint.
Model<double> rod(double m, double l) {
  RobotBuilder<double> builder("rod");
  const double I = m * l * l / 12;
  builder.link("rod", m, {0, 0, 0}, Vector3<double>(1e-3, I, I).asDiagonal().toDenseMatrix());
  builder.joint("base", Joint<double>::free(), kWorldLink, "rod");
  return builder.build();
}

Contact<double> point_at(const Vector3<double>& p_BC) {
  Contact<double> contact{BodyId(1)};
  contact.X_FC.p = p_BC;
  return contact;
}

// Statics: N1 (l1 + l2) = m g l2. Forces along the line between the supports are indeterminate; the
// least-norm ones are zero.
TEST(ClosedForm, BeamOnTwoSupports) {
  const double m = 3, l1 = 0.3, l2 = 0.7, g = 9.81;
  const Model<double> model = rod(m, 2);
  const ConstraintSet<double> set(model, {point_at({-l1, 0, 0}), point_at({l2, 0, 0})});
  ConstraintWorkspace<double> work(model, set);
  const Vector zero = Vector::Zero(6);
  Vector a(6), f(6);
  const auto report =
      constrained_forward_dynamics(model, set, work, model.neutral(), zero, zero, a, f);
  EXPECT_EQ(report.rows, 6);
  EXPECT_EQ(report.rank, 5);
  Vector expected(6);
  expected << 0, 0, m * g * l2 / (l1 + l2), 0, 0, m * g * l1 / (l1 + l2);
  EXPECT_LT(a.norm(), 64 * kEps * g);  // worst seen 2 eps
  EXPECT_LT((f - expected).norm(), 64 * kEps * m * g);

  // Inverse dynamics: the supports hold the beam at rest without motors.
  Vector tau(6), f_inverse(6);
  const auto inverse =
      constrained_inverse_dynamics(model, set, work, model.neutral(), zero, zero, tau, f_inverse);
  EXPECT_EQ(inverse.rank, 5);
  EXPECT_EQ(tau, zero);
  EXPECT_LT((f_inverse - expected).norm(), 64 * kEps * m * g);
  EXPECT_LT(inverse.residual, 64 * kEps * m * g);
  // On one support it cannot stay at rest: the residual reports it.
  ConstraintSet<double> one(model, {point_at({l2, 0, 0})});
  ConstraintWorkspace<double> one_work(model, one);
  EXPECT_GT(constrained_inverse_dynamics(model, one, one_work, model.neutral(), zero, zero, tau,
                                         f.head(3))
                .residual,
            1);
}

// One support at its end: the rod rotates about it with alpha = (m g l/2) / (m l^2 / 3).
TEST(ClosedForm, RodHeldAtOneEndFalls) {
  const double m = 2, l = 1.2, g = 9.81;
  const Model<double> model = rod(m, l);
  const ConstraintSet<double> set(model, {point_at({-l / 2, 0, 0})});
  ConstraintWorkspace<double> work(model, set);
  const Vector zero = Vector::Zero(6);
  Vector a(6), f(3);
  constrained_forward_dynamics(model, set, work, model.neutral(), zero, zero, a, f);
  Vector expected(6);
  expected << 0, 0, -0.75 * g, 0, 1.5 * g / l, 0;
  EXPECT_LT((a - expected).norm(), 64 * kEps * expected.norm());
  EXPECT_LT((f - Vector3<double>(0, 0, m * g / 4)).norm(), 64 * kEps * m * g);
}

// A mass that falls straight down on its mass centre rebounds with e times its speed; the effective
// mass of a rod at its end is a quarter of its mass.
TEST(ClosedForm, HoppingMassAndFallingRod) {
  const double m = 2, l = 1.2, speed = 3, e = 0.4;
  const Model<double> model = rod(m, l);
  Vector v = Vector::Zero(6), v_after(6), impulse(3), expected(6);
  v[2] = -speed;
  const auto hit = [&](double x, const Vector& restitution) {
    const ConstraintSet<double> set(model, {point_at({x, 0, 0})});
    ConstraintWorkspace<double> work(model, set);
    return impact(model, set, work, model.neutral(), v, restitution, v_after, impulse);
  };
  hit(0, Vector3<double>(0, 0, e));
  expected << 0, 0, e * speed, 0, 0, 0;
  EXPECT_LT((v_after - expected).norm(), 16 * kEps * speed);
  EXPECT_LT((impulse - Vector3<double>(0, 0, (1 + e) * m * speed)).norm(), 16 * kEps * m * speed);

  hit(l / 2, Vector::Constant(1, e));
  const double P = (1 + e) * speed * m / 4;
  expected << 0, 0, -speed + P / m, 0, -P * (l / 2) / (m * l * l / 12), 0;
  EXPECT_LT((v_after - expected).norm(), 64 * kEps * expected.norm());
  EXPECT_LT((impulse - Vector3<double>(0, 0, P)).norm(), 64 * kEps * P);
  const double lost = 0.5 * m * speed * speed - 0.5 * m * v_after[2] * v_after[2] -
                      0.5 * (m * l * l / 12) * v_after[4] * v_after[4];
  EXPECT_NEAR(lost, 0.5 * (1 - e * e) * (m / 4) * speed * speed, 64 * kEps * m * speed * speed);
}

/// Crank, coupler and rocker: uniform rods of these lengths and masses, with pivots d apart.
struct FourBar {
  double a = 0.3, b = 0.8, c = 0.6, d = 0.7, g = 9.81;
  double m1 = 1.1, m2 = 2.3, m3 = 1.7;

  Model<double> model() const {
    RobotBuilder<double> builder("four_bar");
    builder.gravity({0, -g, 0}).link("ground");
    const auto add = [&](const char* name, double m, double l) {
      const double I = m * l * l / 12;
      builder.link(name, m, {l / 2, 0, 0},
                   Vector3<double>(1e-4, I, I).asDiagonal().toDenseMatrix());
    };
    add("crank", m1, a);
    add("coupler", m2, b);
    add("rocker", m3, c);
    const auto hinge = Joint<double>::revolute(Vector3<double>::UnitZ());
    const auto shifted = [](double x) {
      Pose<double> X;
      X.p = {x, 0, 0};
      return X;
    };
    builder.joint("j1", hinge, "ground", "crank");
    builder.joint("j2", hinge, "crank", "coupler", shifted(a));
    builder.joint("j3", hinge, "ground", "rocker", shifted(d));
    Description<double> description = builder.description();
    LoopDescription<double> loop;
    loop.name = "pin";
    loop.link_a = "rocker";
    loop.link_b = "coupler";
    loop.X_AL = shifted(c);
    loop.X_BL = shifted(b);
    description.loops.push_back(loop);
    return build_model(description);
  }

  /// Absolute angles of coupler and rocker: the pin lies on circles about the crank's tip and the
  /// second pivot.
  template <typename T>
  std::pair<T, T> angles(const T& t) const {
    using std::atan2;
    using std::cos;
    using std::sin;
    using std::sqrt;
    const T x = T(a) * cos(t) - T(d), y = T(a) * sin(t);  // from the pivot to the crank's tip
    const T r2 = x * x + y * y;
    const T k = (r2 + T(c * c - b * b)) / (T(2) * r2);
    const T h = sqrt(T(c * c) / r2 - k * k);
    const T px = k * x - h * (T(0) - y), py = k * y - h * x;
    return {atan2(py - y, px - x), atan2(py, px)};
  }
  /// Effective inertia at the crank, and the potential energy.
  template <typename T>
  T inertia(const T& t) const {
    using std::cos;
    using std::sin;
    const auto [t2, t3] = angles(t);
    const T u2 = T(a) * sin(t3 - t) / (T(b) * sin(t2 - t3));  // d t2 / d t
    const T u3 = T(a) * sin(t2 - t) / (T(c) * sin(t2 - t3));
    const T speed2 = T(a * a) + T(b * b / 4) * u2 * u2 + T(a * b) * u2 * cos(t2 - t);
    return T(m1 * a * a / 3) + T(m2) * speed2 + T(m2 * b * b / 12) * u2 * u2 +
           T(m3 * c * c / 3) * u3 * u3;
  }
  template <typename T>
  T potential(const T& t) const {
    using std::sin;
    const auto [t2, t3] = angles(t);
    return T(g) * (T(m1 * a / 2) * sin(t) + T(m2) * (T(a) * sin(t) + T(b / 2) * sin(t2)) +
                   T(m3 * c / 2) * sin(t3));
  }
};

// Two masses on sliders, one across and one up with z = p(x): with the multiplier f eliminated,
// (m1 + m2 p'^2) a + m2 p' p'' v^2 + m2 g p' = tau_x + p' tau_z, and f = m2 (a_z + g) - tau_z.
TEST(ClosedForm, SlidersCoupledByAPolynomial) {
  const double m1 = 1.7, m2 = 0.6, g = 9.81, tau_x = 2.5, tau_z = -1.25;
  const std::vector<double> c = {0.2, -0.5, 1.5, 0.75, -0.25};
  for (const bool quartic : {false, true}) {
    RobotBuilder<double> robot("sliders");
    const Matrix3<double> I = 0.1 * Matrix3<double>::Identity();
    robot.link("cart", m1, {0, 0, 0}, I).link("lift", m2, {0, 0, 0}, I);
    robot.joint("x", Joint<double>::prismatic({1, 0, 0}), "world", "cart");
    robot.joint("z", Joint<double>::prismatic({0, 0, 1}), "world", "lift");
    robot.couple("z", "x", {c.begin(), quartic ? c.end() : c.begin() + 3});
    const Model<double> model = robot.build();
    ASSERT_EQ(model.nv(), 2);
    ASSERT_EQ(model.loops().size(), 1u);
    const ConstraintSet<double> set(model, {}, all_loops(model));
    ConstraintWorkspace<double> work(model, set);
    Workspace<double> closed(model);
    for (const double x : {-1.2, 0.0, 0.4, 2.0}) {
      const double v = 0.8, d = quartic ? 1 : 0;
      const double value = c[0] + c[1] * x + c[2] * x * x + d * (c[3] + c[4] * x) * x * x * x,
                   slope = c[1] + 2 * c[2] * x + d * (3 * c[3] + 4 * c[4] * x) * x * x,
                   curvature = 2 * c[2] + d * (6 * c[3] + 12 * c[4] * x) * x;
      const double a_x = (tau_x + slope * tau_z - m2 * slope * (curvature * v * v + g)) /
                         (m1 + m2 * slope * slope);
      const double a_z = slope * a_x + curvature * v * v;
      const Vector q = Eigen::Vector2d(x, value), rates = Eigen::Vector2d(v, slope * v),
                   tau = Eigen::Vector2d(tau_x, tau_z);
      Vector a(2), f(1);
      const auto report = constrained_forward_dynamics(model, set, work, q, rates, tau, a, f);
      EXPECT_TRUE(report.ok());
      EXPECT_EQ(report.rank, 1);
      const double tolerance = 64 * kEps * (1 + a.norm() + g);  // sums of few terms
      EXPECT_NEAR(a[0], a_x, tolerance);
      EXPECT_NEAR(a[1], a_z, tolerance);
      EXPECT_NEAR(f[0], m2 * (a_z + g) - tau_z, tolerance);
      aba(model, closed, q, rates, tau, a);
      EXPECT_NEAR(a[0], a_x, tolerance);
    }
  }
}

// d/dt (I w) = I' w^2 / 2 - V' + tau, with one coordinate: the crank's angle.
TEST(ClosedForm, FourBarLinkage) {
  const FourBar bar;
  const Model<double> model = bar.model();
  ASSERT_EQ(model.loops().size(), 1u);
  const ConstraintSet<double> set(model, {}, all_loops(model));
  ConstraintWorkspace<double> work(model, set);
  Workspace<double> closed(model);
  Worst worst;
  for (int k = 0; k < 24; ++k) {
    const double t = -3 + 0.25 * k, w = 2.5, tau = 1.3;
    const auto [t2, t3] = bar.angles<Dual>(Dual(t, 1));
    Vector q(3), v(3), a(3), f(3);
    q << t, t2.value - t, t3.value;
    v << w, w * (t2.tangent[0] - 1), w * t3.tangent[0];
    const auto report =
        constrained_forward_dynamics(model, set, work, q, v, Vector3<double>(tau, 0, 0), a, f);
    EXPECT_EQ(report.rank, 2);  // nothing moves out of the plane
    Vector a_free(3);
    EXPECT_TRUE(aba(model, closed, q, v, Vector3<double>(tau, 0, 0), a_free).ok());
    EXPECT_EQ(a_free, a);  // forward dynamics keeps loops closed by default
    const Dual I = bar.inertia<Dual>(Dual(t, 1)), V = bar.potential<Dual>(Dual(t, 1));
    const double expected = (tau - V.tangent[0] - 0.5 * I.tangent[0] * w * w) / I.value;
    worst.add(std::abs(a[0] - expected) / (1 + std::abs(expected)));
    // Near the linkage's stretched pose the two rows are almost dependent: condition 1e4.
    EXPECT_LT(report.residual, 1e4 * kEps * (1 + a.norm()));
    // The pin does no work.
    Matrix J(3, 3);
    Vector drift(3);
    constraint_jacobian(model, set, work, q, v, J, drift);
    EXPECT_LT((J * v).norm(), 64 * kEps * v.norm());  // some tens of products
    EXPECT_LT(std::abs(f.dot(J * v)), 64 * kEps * f.norm() * v.norm());
  }
  // The angles of the pin involve a square root; worst seen 60 eps.
  EXPECT_LT(worst.value(), 1e3 * kEps);
  std::printf("four-bar: worst %.1e\n", worst.value());
}

// Loops between bodies of random trees: J v is the rate of the pose of B's frame relative to A, and
// drift is the rate of J v. Central differences of step h = 1e-5 have an error of h^2 times a third
// derivative, some 1e3 for chains of 14 joints.
TEST(Loops, RowsAreRatesOfTheGap) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    for (const bool coupled : {false, true}) {
      SCOPED_TRACE(seed);
      const Description<double> robot = testing::random_tree_with_loops(seed, coupled);
      const auto s = testing::sample_of("loops", build_model(robot, Base::free), seed);
      const Model<double>& model = s.model;
      const Loop<double>& first = model.loops()[1];
      const ConstraintSet<double> set(model, {}, all_loops(model));
      ConstraintWorkspace<double> work(model, set);
      const int n = model.nv();
      Matrix J(set.rows(), n);
      Vector drift(set.rows()), q(model.nq());
      const auto rate = [&](double t) {
        integrate(model, s.q, t * s.v, q);
        constraint_jacobian(model, set, work, q, s.v, J, drift);
        return Vector(J * s.v);
      };
      const auto gap = [&](double t) {
        integrate(model, s.q, t * s.v, q);
        Kinematics<double> k(model);
        forward_kinematics(model, q, k);
        const auto at = [&](BodyId b) { return k.X_WB[static_cast<std::size_t>(b.value())]; };
        return (at(first.body_a) * first.X_AL).inverse() * (at(first.body_b) * first.X_BL);
      };
      const double h = 1e-5;
      const Vector rates = (rate(h) - rate(-h)) / (2 * h);
      const Vector now = rate(0);
      EXPECT_LT(testing::relative(drift, rates), 1e3 * h * h);
      const Pose<double> X = gap(0);
      const Vector3<double> p_rate = (gap(h).p - gap(-h).p) / (2 * h);
      const Vector3<double> turn =
          so3::log<double>(gap(h).R * gap(-h).R.transpose()) / (2 * h);  // in axes of A
      EXPECT_LT((now.segment<3>(3) - p_rate).norm(), 1e3 * h * h);
      EXPECT_LT((now.segment<3>(6) - turn).norm(), 1e3 * h * h);
      // Stiffness acts on the gap itself: the change of the drift, a difference of two sums.
      const ConstraintSet<double> pulled(model, {}, all_loops(model, {10, 0}));
      Vector more(set.rows());
      constraint_jacobian(model, pulled, work, s.q, s.v, J, more);
      const Vector pull = (more - drift) / 10;
      EXPECT_LT((pull.segment<3>(3) - X.p).norm(), 1e3 * kEps * (1 + drift.norm()));
      EXPECT_LT((pull.segment<3>(6) - so3::log<double>(X.R)).norm(),
                1e3 * kEps * (1 + drift.norm()));
      const Loop<double>& polynomial = model.loops()[3];
      ASSERT_EQ(polynomial.kind, LoopKind::polynomial);
      Kinematics<double> k(model);
      forward_kinematics(model, s.q, k);
      const auto coordinate = [&](BodyId b) { return k.q[model.body(b).q_start]; };
      double value = 0;
      for (int i = 0; i < 5; ++i) {
        value += polynomial.polynomial[static_cast<std::size_t>(i)] *
                 std::pow(coordinate(polynomial.body_a), i);
      }
      EXPECT_NEAR(pull[15], coordinate(polynomial.body_b) - value, 1e3 * kEps * (1 + drift.norm()));
    }
  }
}

// Four feet welded to the ground: 24 rows on 18 velocities. The robot cannot move, and the forces
// are finite and do not depend on the order of the feet.
TEST(Redundant, FourWeldedFeet) {
  const Model<double> model = load_model("builtin:quadruped");
  std::vector<Contact<double>> feet;
  for (int body = 4; body <= 13; body += 3) {
    Contact<double> foot{BodyId(body)};
    foot.kind = ContactKind::surface;
    feet.push_back(foot);
  }
  const auto s = testing::sample_of("quadruped", model, 3);
  const Vector zero = Vector::Zero(18);
  const auto solve = [&](const std::vector<Contact<double>>& contacts, Vector& a) {
    const ConstraintSet<double> set(model, contacts);
    ConstraintWorkspace<double> work(model, set);
    Vector f(24);
    const auto report = constrained_forward_dynamics(model, set, work, s.q, zero, s.tau, a, f);
    EXPECT_EQ(report.rows, 24);
    EXPECT_EQ(report.rank, 18);
    return f;
  };
  Vector a(18), a_back(18);
  const Vector f = solve(feet, a);
  EXPECT_LT(a.norm(), 1e6 * kEps);  // condition number of J M^-1 J^T: 1e6
  EXPECT_TRUE(f.allFinite());
  std::swap(feet[0], feet[3]);
  Vector back = solve(feet, a_back);
  const Vector first = back.head(6);
  back.head(6) = back.tail(6);
  back.tail(6) = first;
  // The least-norm forces have the square of that condition number; worst seen 2e5 eps.
  EXPECT_LT((back - f).norm(), 5e7 * kEps * f.norm());
}

// Two contacts at one point share its force evenly; the motion is that of one contact.
TEST(Redundant, TwoContactsOnOnePoint) {
  const auto s = testing::sample_of("quadruped", load_model("builtin:quadruped"), 5);
  Contact<double> foot{BodyId(3)};
  foot.X_FC.p = {0.1, 0, -0.2};
  const ConstraintSet<double> one(s.model, {foot}), two(s.model, {foot, foot});
  ConstraintWorkspace<double> one_work(s.model, one), two_work(s.model, two);
  Vector a(18), f(3), a_two(18), f_two(6);
  constrained_forward_dynamics(s.model, one, one_work, s.q, s.v, s.tau, a, f);
  const auto report =
      constrained_forward_dynamics(s.model, two, two_work, s.q, s.v, s.tau, a_two, f_two);
  EXPECT_EQ(report.rank, 3);
  // Condition number of the small matrix 1e3; worst seen 30 eps.
  EXPECT_LT(testing::relative(a_two, a), 1e4 * kEps);
  EXPECT_LT((f_two.head(3) - f / 2).norm(), 1e4 * kEps * f.norm());
  EXPECT_LT((f_two.tail(3) - f / 2).norm(), 1e4 * kEps * f.norm());

  // Contradictory targets: the least-squares solution is the mean.
  ConstraintSet<double> contradictory(s.model, {foot, foot});
  contradictory.set_target(0, {{1, 0, 0}, {0, 0, 0}});
  contradictory.set_target(1, {{-1, 0, 0}, {0, 0, 0}});
  const auto report_contradictory =
      constrained_forward_dynamics(s.model, contradictory, two_work, s.q, s.v, s.tau, a_two, f_two);
  EXPECT_LT(testing::relative(a_two, a), 1e4 * kEps);
  EXPECT_NEAR(report_contradictory.residual, std::sqrt(2.0), 1e4 * kEps * (1 + a.norm()));
  // Compliance: the contact acceleration is compliance times force.
  ConstrainedOptions soft;
  soft.compliance = 1e-3;
  const auto report_soft =
      constrained_forward_dynamics(s.model, two, two_work, s.q, s.v, s.tau, a_two, f_two, soft);
  EXPECT_EQ(report_soft.rank, 6);
  EXPECT_NEAR(report_soft.residual, 1e-3 * f_two.norm(), 1e4 * kEps * f_two.norm());
}

}  // namespace
}  // namespace limb
