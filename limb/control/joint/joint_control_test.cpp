// Joint-space controllers: each closed loop follows the equation in its header.
#include "limb/control/joint/joint_control.hpp"

#include <gtest/gtest.h>

#include <unsupported/Eigen/MatrixFunctions>

#include "limb/base/testing/worst.hpp"
#include "limb/control/joint/joint_pid.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::message;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Random trees of all joint types, with and without couplings, fully actuated.
std::vector<testing::Sample> robots() {
  std::vector<testing::Sample> all;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    testing::RandomTreeOptions options;
    options.joints = 12;
    options.with_couplings = seed % 2 == 0;
    Description<double> robot = testing::random_tree(seed, options);
    for (const auto& joint : robot.joints) robot.actuators.push_back({joint.name, 1, {}});
    all.push_back(testing::sample_of("seed " + std::to_string(seed), build_model(robot), seed));
  }
  return all;
}

/// Without effort limits.
ControlledRobot unlimited(const Model<double>& model) {
  const double inf = std::numeric_limits<double>::infinity();
  return {model, MotorLimits(model, Vector::Constant(model.nv(), inf))};
}

TEST(JointReference, ChecksItsConfiguration) {
  const Model<double> model = load_model("builtin:arm7");
  const JointReference r(model, Vector::Constant(7, 0.35));
  EXPECT_EQ(r.q, Vector::Constant(7, 0.35));
  EXPECT_EQ(r.v.norm() + r.a.norm(), 0);
  EXPECT_THROW(JointReference(model, Vector::Zero(6)), Error);
  EXPECT_THROW(JointReference(model, Vector::Constant(7, std::nan(""))), Error);
}

JointReference reference_near(const testing::Sample& s) {
  JointReference r(s.model);
  integrate(s.model, s.q, Vector(0.1 * s.tau), r.q);
  r.v = 0.5 * s.a;
  r.a = s.tau;
  return r;
}

// e'' + kd e' + kp e = 0, with accelerations from forward dynamics.
TEST(ComputedTorque, ErrorsFollowTheirEquation) {
  for (const testing::Sample& s : robots()) {
    ComputedTorque control(unlimited(s.model), acceleration_gains(s.model, 2, 0.8));
    const JointReference r = reference_near(s);
    const JointGains gains = acceleration_gains(s.model, 2, 0.8);
    const int n = s.model.nv();
    Vector tau(n), a(n), e(n);
    ASSERT_TRUE(control.step(s.q, s.v, r, tau).ok()) << s.name;
    Workspace<double> work(s.model);
    aba(s.model, work, s.q, s.v, tau, a);
    difference(s.model, s.q, r.q, e);
    const Vector expected = r.a + gains.kp.cwiseProduct(e) + gains.kd.cwiseProduct(r.v - s.v);
    Matrix M(n, n);
    crba(s.model, work, s.q, M);
    // Rounding of the torques, through the inverse of M.
    const double condition = M.norm() * M.inverse().norm();
    EXPECT_LT((a - expected).norm(), 64 * kEps * condition * (1 + expected.norm() + a.norm()))
        << s.name;
  }
}

// M e'' + (C + D) e' + K e = -tau_ext
TEST(JointImpedance, ErrorsFollowTheirEquation) {
  for (const testing::Sample& s : robots()) {
    const int n = s.model.nv();
    testing::Random random(7);
    const auto square = [&] {
      Matrix m(n, n);
      for (double& x : m.reshaped()) x = random.uniform(-1, 1);
      return Matrix(m * m.transpose());
    };
    JointImpedance::Setup setup{square(), square(), {}};
    JointImpedance control(unlimited(s.model), setup);
    const JointReference r = reference_near(s);
    Vector tau(n), a(n), e(n);
    const Vector external = testing::random_numbers(random, n);
    ASSERT_TRUE(control.step(s.q, s.v, r, tau).ok());
    Workspace<double> work(s.model);
    aba(s.model, work, s.q, s.v, Vector(tau + external), a);
    difference(s.model, s.q, r.q, e);
    Kinematics<double> kinematics(s.model);
    LagrangeScratch<double> scratch(s.model);
    Matrix M(n, n), C(n, n);
    forward_kinematics(s.model, s.q, s.v, kinematics);
    coriolis_matrix(s.model, kinematics, scratch, C);
    crba(s.model, work, s.q, M);
    const Vector de = r.v - s.v,
                 left = M * (r.a - a) + (C + setup.damping) * de + setup.stiffness * e;
    const double scale = M.norm() * (a.norm() + r.a.norm()) + tau.norm();
    EXPECT_LT((left + external).norm(), 256 * kEps * M.norm() * M.inverse().norm() * scale)
        << s.name;
  }
}

TEST(JointImpedance, ModalDampingHasTheRatioInEveryMode) {
  Matrix M(3, 3), K(3, 3);
  M << 2, 0.3, 0.1, 0.3, 1, 0.2, 0.1, 0.2, 0.5;
  K << 30, 2, 0, 2, 50, 4, 0, 4, 20;
  const Matrix D = modal_damping(M, K, 0.6);
  Matrix A = Matrix::Zero(6, 6);
  A.topRightCorner(3, 3).setIdentity();
  A.bottomLeftCorner(3, 3) = -M.inverse() * K;
  A.bottomRightCorner(3, 3) = -M.inverse() * D;
  const Eigen::VectorXcd modes = Eigen::EigenSolver<Matrix>(A).eigenvalues();
  for (const std::complex<double>& x : modes) EXPECT_NEAR(-x.real() / std::abs(x), 0.6, 1e-12);
}

// Each joint alone is an oscillator of this frequency and damping ratio: a = -w^2 e - 2 ratio w v,
// torques times the inertia of the joint.
TEST(JointGains, AreThoseOfAnOscillator) {
  const Model<double> model = load_model("builtin:arm7");
  const Vector q = Vector::LinSpaced(7, -0.8, 1.1);
  const double w = 2 * std::numbers::pi * 1.7;
  const JointGains a = acceleration_gains(model, 1.7, 0.6), tau = torque_gains(model, q, 1.7, 0.6);
  Workspace<double> work(model);
  Matrix M(7, 7);
  crba(model, work, q, M);
  for (int i = 0; i < 7; ++i) {
    EXPECT_DOUBLE_EQ(a.kp[i], w * w);
    EXPECT_DOUBLE_EQ(a.kd[i], 1.2 * w);
    EXPECT_DOUBLE_EQ(tau.kp[i], w * w * M(i, i));
    EXPECT_DOUBLE_EQ(tau.kd[i], 1.2 * w * M(i, i));
  }
}

// Matrices of lower rank are accepted although rounding makes an eigenvalue slightly negative.
TEST(JointImpedance, AcceptsSemidefiniteMatrices) {
  const Model<double> model = load_model("builtin:arm7");
  testing::Random random(31);
  for (int trial = 0; trial < 50; ++trial) {
    Matrix half(7, 1 + trial % 3);
    for (double& x : half.reshaped()) x = random.uniform(-1, 1);
    const Matrix K = half * half.transpose();
    EXPECT_EQ(message([&] { JointImpedance(ControlledRobot(model), {K, K, {}}); }), "no error");
    const Matrix negative = K - 1e-3 * Matrix::Identity(7, 7);
    EXPECT_NE(message([&] {
                JointImpedance(ControlledRobot(model), {negative, K, {}});
              }),
              "no error");
    EXPECT_NE(message([&] {
                JointImpedance(ControlledRobot(model), {K, negative, {}});
              }),
              "no error");
  }
}

TEST(JointPd, IsItsFormula) {
  const Model<double> model = load_model("builtin:arm7");
  const Vector q = Vector::Constant(7, 0.3), v = Vector::Constant(7, -0.2);
  const JointReference r(model, Vector::Constant(7, 0.35));
  const JointGains gains{Vector::Constant(7, 40), Vector::Constant(7, 5)};
  Workspace<double> work(model);
  Vector tau(7), g(7);
  gravity(model, work, q, g);
  JointPd plain(ControlledRobot(model), gains, JointPd::Compensation::none);
  plain.step(q, v, r, tau);
  EXPECT_LT((tau - Vector::Constant(7, 40 * 0.05 + 5 * 0.2)).norm(), 1e-14);
  JointPd compensated(ControlledRobot(model), gains, JointPd::Compensation::gravity);
  compensated.step(q, v, r, tau);
  EXPECT_LT((tau - Vector::Constant(7, 3) - g).norm(), 1e-12);
}

/// One mass on a rail with the effort limit F.
Model<double> block(double mass, double F) {
  RobotBuilder<double> robot("block");
  robot.gravity({0, 0, 0}).link("block", mass, {0, 0, 0}, Matrix3<double>::Identity());
  DofLimits<double> limits;
  limits.effort = F;
  robot.joint("rail", Joint<double>::prismatic({1, 0, 0}), "world", "block").limits({limits});
  return robot.build();
}

struct Peak {
  double position, integral_at_exit;
  bool saturated;
};

/// The block from rest at 0 to 1 under a PID of period h, integrated exactly between two steps.
Peak run_block(JointPid::AntiWindup kind, double h) {
  const double m = 2, F = 3;
  const Model<double> model = block(m, F);
  JointPid::Setup setup{{Vector::Constant(1, 20), Vector::Constant(1, 12)},
                        Vector::Constant(1, 15)};
  setup.period = h;
  setup.anti_windup = kind;
  setup.largest_I = Vector::Constant(1, 1e6);
  JointPid pid((ControlledRobot(model)), setup);
  const JointReference r(model, Vector::Ones(1));
  Vector q = Vector::Zero(1), v = Vector::Zero(1), tau(1);
  Peak peak{0, 0, false};
  bool left = false;
  for (int i = 0; i < static_cast<int>(6 / h); ++i) {
    const StepReport report = pid.step(q, v, r, tau);
    if (report.saturated > 0) peak.saturated = true;
    if (report.saturated == 0 && !left) {
      left = true;
      peak.integral_at_exit = pid.integral()[0];
    }
    q += h * v + h * h / (2 * m) * tau;
    v += h / m * tau;
    peak.position = worse(peak.position, q[0]);
  }
  EXPECT_NEAR(q[0], 1, 2e-2);  // its slowest mode has 6 s to decay
  return peak;
}

// Full force until kp e - kd v + I = F: x = F t^2 / 2 m, a quadratic in t. Conditional integration
// keeps I = 0 up to there; without it I = ki (t - F t^3 / 6 m). After that, while the motor is not
// saturated, the third-order system is solved by its matrix exponential.
TEST(JointPid, AntiWindupClosedForm) {
  const double m = 2, F = 3, kp = 20, kd = 12, ki = 15, h = 1e-4;
  const double b = kd * F / m, c = kp - F;
  const double t = (-b + std::sqrt(b * b + 4 * (kp * F / (2 * m)) * c)) / (2 * kp * F / (2 * m));
  const Peak conditional = run_block(JointPid::AntiWindup::conditional, h);
  EXPECT_TRUE(conditional.saturated);
  EXPECT_NEAR(conditional.integral_at_exit, 0, 2 * ki * h);  // from at most one step

  Matrix A(3, 3);  // (e, v, I)
  A << 0, -1, 0, kp / m, -kd / m, 1 / m, ki, 0, 0;
  Vector x(3);
  x << 1 - F * t * t / (2 * m), F * t / m, 0;
  Worst highest;
  const Matrix step = Matrix(1e-3 * A).exp();
  for (int i = 0; i < 5000; ++i) {
    highest.add(1 - x[0]);
    ASSERT_LT(std::abs(kp * x[0] - kd * x[1] + x[2]), F + 1e-9);  // not saturated
    x = (step * x).eval();
  }
  // Samples of 0.1 ms: first order in that.
  EXPECT_NEAR(conditional.position, highest.value(), 1e-3);

  // Windup: the integral at the time when the motor leaves its limit.
  const Peak none = run_block(JointPid::AntiWindup::none, h);
  double s = t;  // kp (1 - F s^2 / 2m) - kd F s / m + ki (s - F s^3 / 6m) = F, by Newton
  for (int i = 0; i < 20; ++i) {
    const double f =
        kp * (1 - F * s * s / (2 * m)) - kd * F * s / m + ki * (s - F * s * s * s / (6 * m)) - F;
    const double df = -kp * F * s / m - kd * F / m + ki * (1 - F * s * s / (2 * m));
    s -= f / df;
  }
  EXPECT_NEAR(none.integral_at_exit, ki * (s - F * s * s * s / (6 * m)), 1e-2);
  EXPECT_GT(none.position, conditional.position + 0.05);
  const Peak back = run_block(JointPid::AntiWindup::back_calculation, h);
  EXPECT_LT(back.position, none.position - 0.05);
}

/// A PID at a fixed position error, so that the only state is its integral.
struct HeldPid {
  Model<double> model = block(2, 3);
  JointPid::Setup setup{{Vector::Constant(1, 20), Vector::Constant(1, 12)},
                        Vector::Constant(1, 15)};
  double error = 1, velocity = 0;

  HeldPid() {
    setup.largest_I = Vector::Constant(1, 1e6);
    setup.anti_windup = JointPid::AntiWindup::back_calculation;
    setup.period = 1e-3;
    setup.tracking_time = 0.05;
  }
  StepReport step(JointPid& pid, double* applied = nullptr) const {
    const JointReference r(model, Vector::Constant(1, error));
    Vector tau(1);
    const StepReport report = pid.step(Vector::Zero(1), Vector::Constant(1, velocity), r, tau);
    if (applied != nullptr) *applied = tau[0];
    return report;
  }
};

// While the motor is saturated at F, I' = ki e + (F - kp e - I) / T: I approaches
// F - kp e + T ki e exponentially, in steps of 1 - h / T. [Astrom 2006, Sec. 3.5]
TEST(JointPid, BackCalculationClosedForm) {
  for (const double sign : {1.0, -1.0}) {
    HeldPid held;
    held.error = sign;
    JointPid pid(ControlledRobot(held.model), held.setup);
    const double T = held.setup.tracking_time, h = held.setup.period;
    const double end = sign * (3 - 20 + T * 15);
    Worst worst;
    for (int n = 1; n <= 500; ++n) {
      double applied = 0;
      EXPECT_EQ(held.step(pid, &applied).saturated, 1);
      EXPECT_EQ(applied, 3 * sign);
      worst.add(std::abs(pid.integral()[0] - end * (1 - std::pow(1 - h / T, n))));
    }
    // Each step rounds a sum of size 20; the contraction keeps about T / h = 50 of these errors.
    EXPECT_LT(worst.value(), 8 * kEps * 20);
    EXPECT_NEAR(pid.integral()[0], end, 20 * std::exp(-500 * h / T));  // e^-10 is left
    // The command exceeds the limit by T ki e only: with a tenth less error it is below.
    held.error = 0.9 * sign;
    EXPECT_EQ(held.step(pid).saturated, 0);
  }
}

// Without saturation all three are the same integral, ki e n h.
TEST(JointPid, IntegralWithoutSaturation) {
  for (const auto kind : {JointPid::AntiWindup::none, JointPid::AntiWindup::conditional,
                          JointPid::AntiWindup::back_calculation}) {
    HeldPid held;
    held.setup.anti_windup = kind;
    held.error = 0.05;
    held.velocity = -0.02;
    JointPid pid(ControlledRobot(held.model), held.setup);
    for (int n = 0; n < 1000; ++n) {
      double applied = 0;
      ASSERT_EQ(held.step(pid, &applied).saturated, 0);
      // The torque has the integral of the steps before.
      EXPECT_NEAR(applied, 20 * 0.05 + 12 * 0.02 + 15 * 0.05 * 1e-3 * n, 1e-13);
    }
    EXPECT_NEAR(pid.integral()[0], 15 * 0.05, 100 * kEps);  // 1000 sums of at most 0.75
    // A step that fails leaves it.
    const double before = pid.integral()[0];
    held.velocity = std::nan("");
    EXPECT_EQ(held.step(pid).status, Status::not_finite);
    EXPECT_EQ(pid.integral()[0], before);
  }
}

// Conditional integration stops only what increases the saturation.
TEST(JointPid, ConditionalIntegrationContinuesTowardsTheLimit) {
  HeldPid held;
  held.setup.anti_windup = JointPid::AntiWindup::conditional;
  for (const double sign : {1.0, -1.0}) {
    JointPid pid(ControlledRobot(held.model), held.setup);
    held.error = sign;
    held.velocity = 0;
    EXPECT_EQ(held.step(pid).saturated, 1);
    EXPECT_EQ(pid.integral()[0], 0);
    // Damping saturates the motor in the other direction: the integral reduces that.
    held.velocity = 3 * sign;
    EXPECT_EQ(held.step(pid).saturated, 1);
    EXPECT_DOUBLE_EQ(pid.integral()[0], 15e-3 * sign);
  }
}

// The bound on I, and the limits of the motors as its default.
TEST(JointPid, IntegralIsBounded) {
  HeldPid held;
  held.setup.anti_windup = JointPid::AntiWindup::none;
  for (const double bound : {0.5, -1.0}) {
    held.setup.largest_I = bound > 0 ? Vector::Constant(1, bound) : Vector();
    JointPid pid(ControlledRobot(held.model), held.setup);
    for (const double sign : {1.0, -1.0}) {
      held.error = sign;
      for (int n = 0; n < 1000; ++n) held.step(pid);
      EXPECT_EQ(pid.integral()[0], sign * (bound > 0 ? bound : 3));
    }
  }
}

// With g(q) the first torque is that of PD with gravity compensation.
TEST(JointPid, CompensatesGravity) {
  const Model<double> model = load_model("builtin:arm7");
  const Vector q = Vector::Constant(7, 0.3), v = Vector::Constant(7, -0.02);
  const JointReference r(model, Vector::Constant(7, 0.31));
  JointPid::Setup setup{{Vector::Constant(7, 40), Vector::Constant(7, 5)}, Vector::Ones(7)};
  Workspace<double> work(model);
  Vector tau(7), g(7);
  gravity(model, work, q, g);
  EXPECT_GT(g.norm(), 1);
  for (const auto kind : {JointPd::Compensation::none, JointPd::Compensation::gravity}) {
    setup.compensation = kind;
    JointPid pid(ControlledRobot(model), setup);
    pid.step(q, v, r, tau);
    const Vector pd = Vector::Constant(7, 40 * 0.01 + 5 * 0.02);
    const bool compensates = kind == JointPd::Compensation::gravity;
    EXPECT_LT((tau - pd - (compensates ? g : Vector::Zero(7))).norm(), 32 * kEps * g.norm());
  }
}

TEST(JointPid, RemovesTheSteadyStateErrorOfGravity) {
  const Model<double> model = load_model("builtin:2r");
  const Vector start = Eigen::Vector2d(0.3, 0.4);
  JointPid::Setup setup{torque_gains(model, start, 2, 1), {}};
  setup.ki = 4 * setup.gains.kp;
  JointPid pid((ControlledRobot(model)), setup);
  const JointReference r(model, Eigen::Vector2d(0.8, -0.2));
  Workspace<double> work(model);
  Vector q = start, v = Vector::Zero(2), tau(2), a(2);
  for (int i = 0; i < 6000; ++i) {
    pid.step(q, v, r, tau);
    aba(model, work, q, v, tau, a);
    v += 1e-3 * a;
    q += 1e-3 * v;
  }
  EXPECT_LT((q - r.q).norm(), 1e-6);
  Vector g(2);
  gravity(model, work, q, g);
  EXPECT_LT((pid.integral() - g).norm(),
            1e-3 * g.norm());  // the integral equals the gravity torque
  pid.reset();
  EXPECT_EQ(pid.integral().norm(), 0);
}

// An effort limit of 0 is one that was not written.
TEST(MotorLimits, ZeroAndMissingLimitsAreInfinite) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(MotorLimits(block(2, 3)).largest()[0], 3);
  EXPECT_EQ(MotorLimits(block(2, 0)).largest()[0], inf);
  Vector tau = Vector::Constant(1, -4);
  EXPECT_EQ(MotorLimits(block(2, 3)).apply(tau), 1);
  EXPECT_EQ(tau[0], -3);
  EXPECT_EQ(MotorLimits(block(2, 3)).apply(tau), 0);  // at the limit, not above it
  tau[0] = 1e9;
  EXPECT_EQ(MotorLimits(block(2, 0)).apply(tau), 0);
  // A limit for a joint without motor has no effect.
  const Model<double> cart = load_model("builtin:cartpole");
  const MotorLimits limits(cart, Vector::Constant(2, 5));
  Vector both = Vector::Constant(2, 7);
  EXPECT_EQ(limits.apply(both), 1);
  EXPECT_EQ(both, Vector(Eigen::Vector2d(5, 0)));
}

TEST(JointControllers, RejectInvalidSetups) {
  const Model<double> arm = load_model("builtin:arm7"), cart = load_model("builtin:cartpole");
  EXPECT_EQ(message([&] { JointPd(ControlledRobot(arm), {}, JointPd::Compensation::none); }),
            "JointPd: kp has 0 entries, expected 7 (a free joint needs 7 numbers in q but 6 in v)");
  EXPECT_EQ(message([&] { ComputedTorque(ControlledRobot(cart), acceleration_gains(cart, 1, 1)); }),
            "ComputedTorque: needs a motor for every velocity, and joint 'hinge' has none");
  EXPECT_EQ(message([&] {
              JointImpedance(ControlledRobot(cart),
                             {-Matrix::Identity(2, 2), Matrix::Identity(2, 2), {}});
            }),
            "JointImpedance: smallest eigenvalue of stiffness is -1, expected >= 0");
  EXPECT_EQ(message([&] { acceleration_gains(arm, 0, 1); }),
            "acceleration_gains: frequency is 0, expected > 0 and finite");
  JointPid::Setup pid{acceleration_gains(arm, 1, 1), Vector::Ones(7)};
  pid.period = 0;
  EXPECT_EQ(message([&] { JointPid(ControlledRobot(arm), pid); }),
            "JointPid: period is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] { MotorLimits(arm, -Vector::Ones(7)); }),
            "MotorLimits: largest[0] is -1, expected >= 0");
}

}  // namespace
}  // namespace limb
