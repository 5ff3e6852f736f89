// Riccati equations: closed forms, residuals at rounding, error messages; LQR of robots about their
// equilibria.
#include "limb/control/lqr/lqr.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::message;
using Matrix = MatrixX<double>;
using Vector = VectorX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

Matrix random_matrix(testing::Random& random, int rows, int cols) {
  Matrix m(rows, cols);
  for (double& x : m.reshaped()) x = random.uniform(-1, 1);
  return m;
}

// x'' = u with cost x^2 + u^2: X = [sqrt(2) 1; 1 sqrt(2)], K = [1 sqrt(2)].
TEST(Riccati, DoubleIntegratorClosedForm) {
  Matrix A(2, 2), B(2, 1), Q = Matrix::Zero(2, 2), R = Matrix::Identity(1, 1);
  A << 0, 1, 0, 0;
  B << 0, 1;
  Q(0, 0) = 1;
  const RiccatiSolution s = solve_riccati(A, B, Q, R);
  const double w = std::sqrt(2.0);
  Matrix X(2, 2);
  X << w, 1, 1, w;
  EXPECT_LT((s.X - X).norm(), 16 * kEps);  // a handful of rounded sums
  EXPECT_LT((s.K - Eigen::RowVector2d(1, w)).norm(), 16 * kEps);
  EXPECT_NEAR(s.spectrum, -w / 2, 1e-12);
}

// a x + b u, scalar: X = (a + sqrt(a^2 + b^2 q / r)) r / b^2; discrete likewise a quadratic.
TEST(Riccati, ScalarClosedForms) {
  for (const double a : {-2.0, -0.1, 0.0, 0.4, 3.0}) {
    const double b = 0.7, q = 2, r = 0.3;
    const auto m = [](double x) { return Matrix::Constant(1, 1, x); };
    const double X = (a + std::sqrt(a * a + b * b * q / r)) * r / (b * b);
    EXPECT_NEAR(solve_riccati(m(a), m(b), m(q), m(r)).X(0, 0), X, 32 * kEps * X) << a;
    // X = a^2 X r / (r + b^2 X) + q
    const double c = r - a * a * r - b * b * q;
    const double D = (-c + std::sqrt(c * c + 4 * b * b * q * r)) / (2 * b * b);
    EXPECT_NEAR(solve_discrete_riccati(m(a), m(b), m(q), m(r)).X(0, 0), D, 32 * kEps * D) << a;
  }
}

// Random systems of 2 to 23 states, unstable ones among them.
TEST(Riccati, ResidualsAreRounding) {
  Worst worst, worst_discrete;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    testing::Random random(seed);
    const int n = 2 + static_cast<int>(seed % 8) * 3, m = 2 + static_cast<int>(seed % 3);
    // Eigenvalues in a circle of about 1 for any n.
    const Matrix A = 1.7 / std::sqrt(n) * random_matrix(random, n, n);
    const Matrix B = random_matrix(random, n, m);
    const Matrix C = random_matrix(random, n, n), Q = C.transpose() * C;
    const Matrix R = Matrix::Identity(m, m) * random.uniform(0.1, 2);
    const RiccatiSolution s = solve_riccati(A, B, Q, R);
    const Matrix G = B * R.inverse() * B.transpose();
    const double scale = 2 * A.norm() * s.X.norm() + Q.norm() + s.X.norm() * G.norm() * s.X.norm();
    worst.add(s.residual / (n * kEps * scale));
    EXPECT_LT(s.spectrum, 0) << seed;
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(s.X).eigenvalues()[0], 0) << seed;

    const RiccatiSolution d = solve_discrete_riccati(A, B, Q, R);
    const double scale_d = (A.norm() * A.norm() + 1) * d.X.norm() + Q.norm();
    worst_discrete.add(d.residual / (n * kEps * scale_d));
    EXPECT_LT(d.spectrum, 1) << seed;
  }
  // Sums of n products, relative to their sizes.
  EXPECT_LT(worst.value(), 1);
  EXPECT_LT(worst_discrete.value(), 1);
  RecordProperty("continuous", std::to_string(worst.value()));
  RecordProperty("discrete", std::to_string(worst_discrete.value()));
}

TEST(Riccati, ErrorsNameTheMode) {
  Matrix A(2, 2), B(2, 1);
  A << 1, 0, 0, -3;
  B << 0, 1;
  const Matrix Q = Matrix::Identity(2, 2), R = Matrix::Identity(1, 1);
  EXPECT_EQ(
      message([&] { solve_riccati(A, B, Q, R); }),
      "solve_riccati: no input controls the mode of eigenvalue 1, which does not decay: (A, B) "
      "is not stabilisable [computation failed]");
  A(0, 0) = -1;  // stable: needs no input
  EXPECT_LT(solve_riccati(A, B, Q, R).spectrum, 0);
  EXPECT_EQ(message([&] { solve_riccati(A, B, Q, -R); }),
            "solve_riccati: smallest eigenvalue of R is -1, expected > 0");
  EXPECT_EQ(message([&] { solve_riccati(A, B, -Q, R); }),
            "solve_riccati: smallest eigenvalue of Q is -1, expected >= 0");
  EXPECT_EQ(message([&] { solve_riccati(A, Matrix::Ones(3, 1), Q, R); }),
            "solve_riccati: B is 3 x 1, expected 2 x 1");
  A << 0, 1, -4, 0;  // an undamped oscillation, not observable through Q
  // Which of the two conjugate eigenvalues is named is up to the solver.
  const std::string text = message([&] { solve_riccati(A, B, Matrix::Zero(2, 2), R); });
  EXPECT_TRUE(text.starts_with("solve_riccati: the mode of eigenvalue ")) << text;
  EXPECT_TRUE(
      text.ends_with(" is not observable through Q and does not decay [computation failed]"))
      << text;
}

// exp(A h) and its integral of the double integrator.
TEST(SampleAndHold, DoubleIntegratorClosedForm) {
  Matrix A(2, 2), B(2, 1), Q = Matrix::Zero(2, 2);
  A << 0, 1, 0, 0;
  B << 0, 1;
  Q(0, 0) = 1;
  const double h = 0.3;
  const SampledSystem s = sample_and_hold(A, B, Q, Matrix::Identity(1, 1), h);
  Matrix A_d(2, 2), Q_d(2, 2);
  A_d << 1, h, 0, 1;
  Q_d << h, h * h / 2, h * h / 2, h * h * h / 3;
  EXPECT_LT((s.A - A_d).norm() + (s.B - Eigen::Vector2d(h * h / 2, h)).norm(), 16 * kEps);
  EXPECT_LT((s.Q - Q_d).norm(), 16 * kEps);
  EXPECT_LT((s.S - Eigen::Vector2d(h * h * h / 6, h * h * h * h / 8)).norm(), 16 * kEps);
  EXPECT_NEAR(s.R(0, 0), h + std::pow(h, 5) / 20, 16 * kEps);
}

/// Two links upright, q = 0, motors only in the named joints.
Model<double> double_pendulum(const std::vector<std::string>& motors) {
  RobotBuilder<double> robot("pendulum");
  const Matrix3<double> I = Eigen::Vector3d(0.02, 0.02, 0.001).asDiagonal();
  robot.link("a", 1.2, {0, 0, 0.25}, I).link("b", 0.8, {0, 0, 0.2}, I);
  robot.joint("shoulder", Joint<double>::revolute({0, 1, 0}), "world", "a");
  robot.joint("elbow", Joint<double>::revolute({0, 1, 0}), "a", "b",
              {Matrix3<double>::Identity(), {0, 0, 0.5}});
  Description<double> d = robot.description();
  for (const auto& name : motors) d.actuators.push_back({name, 1, {}});
  return build_model(d);
}

Lqr::Setup setup_of(const Model<double>& model, const Vector& q) {
  Lqr::Setup s;
  const int n = model.nv();
  s.q = q;
  s.Q = Matrix::Identity(2 * n, 2 * n);
  int motors = 0;
  for (int i = 0; i < n; ++i) motors += MotorLimits(model).largest()[i] > 0;
  s.R = 0.1 * Matrix::Identity(motors, motors);
  return s;
}

/// |x| after `time` of steps of 1 ms, explicit midpoint, from a tilt.
double distance_after(const Model<double>& model, Lqr& lqr, const Vector& tilt, double time) {
  const int n = model.nv();
  Workspace<double> work(model);
  Vector q = lqr.system().q, v = Vector::Zero(n), tau(n), a(n), q_mid(q), v_mid(n);
  integrate(model, q, tilt, q);
  const double h = 1e-3;
  for (int i = 0; i < static_cast<int>(time / h); ++i) {
    EXPECT_TRUE(lqr.step(q, v, tau).ok());
    aba(model, work, q, v, tau, a);
    integrate(model, q, Vector(h / 2 * v), q_mid);
    v_mid = v + h / 2 * a;
    aba(model, work, q_mid, v_mid, tau, a);
    integrate(model, q, Vector(h * v_mid), q);
    v += h * a;
  }
  return distance(model, q, lqr.system().q) + v.norm();
}

TEST(Lqr, HoldsThePoleUpright) {
  const Model<double> model = load_model("builtin:cartpole");
  Lqr lqr(ControlledRobot(model), setup_of(model, Eigen::Vector2d(0, std::numbers::pi)));
  EXPECT_GT(distance_after(model, lqr, Eigen::Vector2d(0.2, 0.25), 0), 0.3);
  EXPECT_LT(distance_after(model, lqr, Eigen::Vector2d(0.2, 0.25), 15), 1e-4);
  Lqr::Setup slow = setup_of(model, Eigen::Vector2d(0, std::numbers::pi));
  slow.period = 1e-3;
  Lqr sampled((ControlledRobot(model)), slow);
  EXPECT_LT(distance_after(model, sampled, Eigen::Vector2d(0.2, 0.25), 15), 1e-4);
}

/// What a period with held torques does, by Runge-Kutta steps of order 4 instead of exponentials:
/// z = (x, u) -> step z, at the cost z^T W z.
struct HeldPeriod {
  Matrix step, W;
};
HeldPeriod integrate_period(const Matrix& A, const Matrix& B, const Matrix& Q, const Matrix& R,
                            double period) {
  const Eigen::Index n = A.rows(), all = n + B.cols();
  Matrix F = Matrix::Zero(all, all), C = Matrix::Zero(all, all);
  F << A, B, Matrix::Zero(B.cols(), all);
  C.topLeftCorner(n, n) = Q;
  C.bottomRightCorner(B.cols(), B.cols()) = R;
  HeldPeriod p{Matrix::Identity(all, all), Matrix::Zero(all, all)};
  constexpr int kSteps = 2000;
  const double h = period / kSteps;
  const auto cost = [&](const Matrix& z) -> Matrix { return z.transpose() * C * z; };
  for (int i = 0; i < kSteps; ++i) {
    const Matrix& z = p.step;
    const Matrix k1 = F * z, z2 = z + h / 2 * k1, k2 = F * z2, z3 = z + h / 2 * k2, k3 = F * z3,
                 z4 = z + h * k3, k4 = F * z4;
    p.W += h / 6 * (cost(z) + 2 * cost(z2) + 2 * cost(z3) + cost(z4));
    p.step += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return p;
}
/// X of the cost x^T X x of u = -K x, held for each period, for ever.
Matrix cost_of_gains(const HeldPeriod& period, const Matrix& K) {
  const Eigen::Index n = K.cols();
  Matrix feedback(n + K.rows(), n);
  feedback << Matrix::Identity(n, n), -K;
  Matrix power = (period.step * feedback).topRows(n),
         X = feedback.transpose() * period.W * feedback;
  for (int doubling = 0; doubling < 12; ++doubling) {  // 4096 periods
    X += (power.transpose() * X * power).eval();
    power = (power * power).eval();
  }
  return X;
}

// Periods at which holding matters (an eigenvalue times the period is up to 1): the cost is that of
// the held torques, and no other gains are better.
TEST(Lqr, SampledGainsAreOptimalAtLongPeriods) {
  const Model<double> model = load_model("builtin:cartpole");
  Lqr::Setup setup = setup_of(model, Eigen::Vector2d(0, std::numbers::pi));
  setup.R *= 3;
  const Vector x0 = Eigen::Vector4d(0.1, -0.05, 0.2, 0.3);
  Lqr continuous((ControlledRobot(model)), setup);
  for (const double period : {0.02, 0.1, 0.2}) {
    setup.period = period;
    Lqr lqr((ControlledRobot(model)), setup);
    const LinearizedRobot& s = lqr.system();
    const HeldPeriod held = integrate_period(s.A, s.B, setup.Q, setup.R, period);
    const Matrix K = lqr.solution().K, X = cost_of_gains(held, K);
    // Runge-Kutta: (5 / s * 0.2 s / 2000)^4; the solution: rounding times its condition.
    EXPECT_LT((lqr.solution().X - X).norm(), 1e-10 * X.norm()) << period;
    const Vector q = Eigen::Vector2d(x0[0], std::numbers::pi + x0[1]), v = x0.tail(2);
    EXPECT_NEAR(lqr.cost_to_go(q, v), x0.dot(X * x0), 1e-10 * x0.dot(X * x0)) << period;
    for (Eigen::Index i = 0; i < K.cols(); ++i) {
      const double change = 1e-3 * K.norm();
      Matrix up = K, down = K;
      up(0, i) += change;
      down(0, i) -= change;
      const double cost = X.trace(), more = cost_of_gains(held, up).trace() - cost,
                   less = cost_of_gains(held, down).trace() - cost;
      EXPECT_GT(more, 0) << period << ", gain " << i;
      EXPECT_GT(less, 0) << period << ", gain " << i;
    }
    // Holding costs something, and the gains of continuous time cost more.
    EXPECT_GT(X.trace(), continuous.solution().X.trace());
    if (period == 0.02) {
      EXPECT_GT(cost_of_gains(held, continuous.solution().K).trace(), (1 + 1e-5) * X.trace());
    }
  }
}

// Half the period, half the distance to the gains of continuous time.
TEST(Lqr, SampledGainsConvergeAtFirstOrder) {
  const Model<double> model = load_model("builtin:cartpole");
  Lqr::Setup setup = setup_of(model, Eigen::Vector2d(0, std::numbers::pi));
  const Matrix K = Lqr(ControlledRobot(model), setup).solution().K;
  const auto distance_at = [&](double period) {
    setup.period = period;
    return (Lqr(ControlledRobot(model), setup).solution().K - K).norm() / K.norm();
  };
  EXPECT_NEAR(distance_at(2e-3) / distance_at(1e-3), 2, 0.02);  // 2 + O(period / 0.1 s)
}

// Unactuated joints need no torque at an equilibrium, to 1e-9 of the weight.
TEST(Lqr, EquilibriaAreExact) {
  const Model<double> cart = load_model("builtin:cartpole");
  const auto text = [&](double tilt) {
    return message([&] { linearize(cart, Eigen::Vector2d(0.4, std::numbers::pi + tilt)); });
  };
  EXPECT_EQ(text(1e-12), "no error");
  EXPECT_NE(text(1e-6), "no error");
  EXPECT_NE(text(-1e-6), "no error");
}

TEST(Lqr, HoldsADoublePendulumUprightByEitherMotor) {
  for (const std::vector<std::string>& motors :
       {std::vector<std::string>{"shoulder", "elbow"}, {"shoulder"}, {"elbow"}}) {
    const Model<double> model = double_pendulum(motors);
    Lqr lqr(ControlledRobot(model), setup_of(model, Vector::Zero(2)));
    EXPECT_LT(lqr.solution().spectrum, 0);
    const double tilt = motors.size() == 2 ? 0.5 : 0.02;
    EXPECT_LT(distance_after(model, lqr, Vector::Constant(2, tilt), 12), 1e-4) << motors[0];
  }
}

TEST(Lqr, CostToGoIsTheCost) {
  const Model<double> model = load_model("builtin:cartpole");
  const Lqr::Setup setup = setup_of(model, Eigen::Vector2d(0, std::numbers::pi));
  Lqr lqr((ControlledRobot(model)), setup);
  // x' = (A - B K) x from x0, the cost summed by Runge-Kutta of the integral.
  const Matrix A_c = lqr.system().A - lqr.system().B * lqr.solution().K;
  const Matrix W = setup.Q + lqr.solution().K.transpose() * setup.R * lqr.solution().K;
  Vector x(4);
  x << 0.1, -0.05, 0.2, 0;
  const Vector q = Eigen::Vector2d(0.1, std::numbers::pi - 0.05), v = x.tail(2);
  const double expected = lqr.cost_to_go(q, v);
  double cost = 0;
  const double h = 1e-3;
  for (int i = 0; i < 20000; ++i) {
    const Vector k1 = A_c * x, y = x + h / 2 * k1, k2 = A_c * y, z = x + h / 2 * k2, k3 = A_c * z,
                 e = x + h * k3, k4 = A_c * e;
    const Vector next = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    const Vector mid = (x + next) / 2 + h / 8 * (k1 - k4);
    cost += h / 6 * (x.dot(W * x) + 4 * mid.dot(W * mid) + next.dot(W * next));
    x = next;
  }
  EXPECT_NEAR(cost / expected, 1, 1e-9);  // order 4 in h times the fastest mode, 20 s of decay
}

TEST(Lqr, CostOfWrongSizesIsNotANumber) {
  const Model<double> model = load_model("builtin:cartpole");
  Lqr lqr((ControlledRobot(model)), setup_of(model, Eigen::Vector2d(0, std::numbers::pi)));
  const Vector q = lqr.system().q, v = Vector::Zero(2);
  EXPECT_EQ(lqr.cost_to_go(q, v), 0);
  EXPECT_TRUE(std::isnan(lqr.cost_to_go(Vector::Zero(3), v)));
  EXPECT_TRUE(std::isnan(lqr.cost_to_go(q, Vector::Zero(1))));
}

TEST(Lqr, ErrorsNameTheJoint) {
  const Model<double> cart = load_model("builtin:cartpole");
  EXPECT_EQ(message([&] { linearize(cart, Eigen::Vector2d(0, 1)); }).substr(0, 66),
            "linearize: q is not an equilibrium: joint 'hinge' has no motor and");
  // Horizontal links on vertical axes: neither gravity nor a motor acts on the second.
  RobotBuilder<double> robot("carousel");
  const Matrix3<double> I = Matrix3<double>::Identity();
  robot.link("a", 1, {0, 0, 0}, I).link("b", 1, {0, 0, 0}, I);
  robot.joint("first", Joint<double>::revolute({0, 0, 1}), "world", "a");
  robot.joint("second", Joint<double>::revolute({0, 0, 1}), "world", "b");
  Description<double> d = robot.description();
  d.actuators.push_back({"first", 1, {}});
  const Model<double> model = build_model(d);
  EXPECT_EQ(
      message([&] { Lqr(ControlledRobot(model), setup_of(model, Vector::Zero(2))); }),
      "Lqr: no motor controls a mode of joint 'second' with eigenvalue 0, which does not decay: "
      "the robot is not stabilisable here [computation failed]");
}

}  // namespace
}  // namespace limb
