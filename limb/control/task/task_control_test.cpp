// Task-space controllers: the accelerations from forward dynamics are those of the formulas, in
// each direction, for square, redundant and nearly singular tasks.
#include "limb/control/task/task_control.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "limb/base/testing/worst.hpp"
#include "limb/control/task/hybrid_force_control.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/math/so3.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::message;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

/// Without effort limits.
ControlledRobot unlimited(const Model<double>& model) {
  const double inf = std::numeric_limits<double>::infinity();
  return {model, MotorLimits(model, Vector::Constant(model.nv(), inf))};
}

struct Case {
  Model<double> model = load_model("builtin:arm7");
  FrameId tool = model.find_frame("tool");
  Vector q, v;
  FrameReference reference;
  Matrix3<double> R_WT;

  /// @param turn  rad: size of each component of the rotation to the reference.
  explicit Case(unsigned seed, double turn = 0.2) {
    testing::Random random(seed);
    q = Vector(7);
    v = Vector(7);
    for (int i = 0; i < 7; ++i) {
      q[i] = random.uniform(-1, 1) + (i == 3 ? 1.4 : 0);  // elbow bent
      v[i] = random.uniform(-1, 1);
    }
    q[5] += 0.8;
    Kinematics<double> k(model);
    forward_kinematics(model, q, v, k);
    reference.X_WF = frame_pose(model, k, tool);
    reference.X_WF.p += random.vector<double>(0.1);
    reference.X_WF.R = so3::exp<double>(random.vector<double>(turn)) * reference.X_WF.R;
    reference.V = random.motion<double>();
    reference.A = random.motion<double>();
    R_WT = random.rotation<double>();
  }
  FrameTaskSetup task(std::array<bool, 6> rows) const {
    FrameTaskSetup t;
    t.frame = tool;
    t.R_WT = R_WT;
    t.rows = rows;
    return t;
  }
  /// Acceleration of the tool under torques and an external wrench on it, in the axes of the task.
  Vector6<double> acceleration(const Vector& tau,
                               const Vector6<double>& F_T = Vector6<double>::Zero()) const {
    Workspace<double> work(model);
    Kinematics<double> k(model);
    Vector a(7), external = Vector::Zero(7);
    forward_kinematics(model, q, v, k);
    Matrix6X<double> J(6, 7);
    frame_jacobian(model, k, tool, FrameAxes::local_world_aligned, J);
    Vector6<double> F;
    F << R_WT * F_T.head<3>(), R_WT * F_T.tail<3>();
    external = J.transpose() * F;
    aba(model, work, q, v, Vector(tau + external), a);
    forward_kinematics(model, q, v, a, k);
    const Motion<double> A = frame_acceleration(model, k, tool, FrameAxes::local_world_aligned,
                                                AccelerationKind::classical);
    Vector6<double> result;
    result << R_WT.transpose() * A.v, R_WT.transpose() * A.w;
    return result;
  }
  /// Pose and velocity errors in the axes of the task.
  std::pair<Vector6<double>, Vector6<double>> errors() const {
    Kinematics<double> k(model);
    forward_kinematics(model, q, v, k);
    const Pose<double> X = frame_pose(model, k, tool);
    const Motion<double> V = frame_velocity(model, k, tool, FrameAxes::local_world_aligned);
    Vector6<double> e, de;
    e << R_WT.transpose() * (reference.X_WF.p - X.p),
        R_WT.transpose() * so3::log<double>(reference.X_WF.R * X.R.transpose());
    de << R_WT.transpose() * (reference.V.v - V.v), R_WT.transpose() * (reference.V.w - V.w);
    return {e, de};
  }
  Vector6<double> a_ref() const {
    Vector6<double> a;
    a << R_WT.transpose() * reference.A.v, R_WT.transpose() * reference.A.w;
    return a;
  }
};

constexpr std::array<bool, 6> kAll = {true, true, true, true, true, true};
constexpr std::array<bool, 6> kPoint = {true, true, true, false, false, false};
constexpr std::array<bool, 6> kOdd = {true, false, true, false, true, false};

TEST(OperationalSpaceControl, DirectionsAreDecoupled) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Case c(seed);
    for (const auto& rows : {kAll, kPoint, kOdd}) {
      OperationalSpaceControl::Setup setup;
      setup.task = c.task(rows);
      setup.task.threshold = 1e-3;
      setup.posture.q = Vector::Constant(7, 0.2);
      OperationalSpaceControl control(unlimited(c.model), setup);
      Vector tau(7);
      ASSERT_TRUE(control.step(c.q, c.v, c.reference, tau).ok());
      ASSERT_EQ(control.task().space.damped, 0);
      const double w = 4 * std::numbers::pi;
      const auto [e, de] = c.errors();
      const Vector6<double> expected = c.a_ref() + w * w * e + 2 * w * de;
      const Vector6<double> found = c.acceleration(tau);
      for (int i = 0; i < 6; ++i) {
        if (!rows[static_cast<std::size_t>(i)]) continue;
        EXPECT_NEAR(found[i], expected[i], 1e-9) << "seed " << seed << " row " << i;
      }
    }
  }
}

// Up to half a turn the error is the rotation vector: angle times axis, in the axes of the task.
TEST(FrameTask, ErrorsOfLargeRotationsAreRotationVectors) {
  testing::Random random(9);
  for (const double angle : {1e-9, 0.5, 1.5, 2.5, 170 * std::numbers::pi / 180,
                             std::numbers::pi - 1e-3, std::numbers::pi - 1e-6}) {
    Case c(3);
    Kinematics<double> k(c.model);
    forward_kinematics(c.model, c.q, k);
    const Vector3<double> axis = random.direction<double>();
    const Matrix3<double> R = frame_pose(c.model, k, c.tool).R;
    c.reference.X_WF.R = Matrix3<double>(Eigen::AngleAxisd(angle, axis).toRotationMatrix() * R);
    OperationalSpaceControl::Setup setup;
    setup.task = c.task(kAll);
    OperationalSpaceControl control(unlimited(c.model), setup);
    Vector tau(7);
    ASSERT_TRUE(control.step(c.q, c.v, c.reference, tau).ok());
    const Vector3<double> expected = angle * (c.R_WT.transpose() * axis);
    // Rounded products of rotations, 20 eps; near half a turn the axis is that of R + 1.
    EXPECT_LT((control.task().e.tail<3>() - expected).norm(), 1e-14) << angle;
    EXPECT_LT((control.task().rotation_error_W - angle * axis).norm(), 1e-14) << angle;
  }
}

/// A body on a ball joint.
Model<double> ball() {
  RobotBuilder<double> robot("ball");
  robot.link("body", 2, {0.1, -0.05, 0.2}, Eigen::Vector3d(0.05, 0.08, 0.11).asDiagonal());
  robot.joint("ball", Joint<double>::spherical(), "world", "body");
  return robot.build();
}

// From rest 170 degrees away: about one axis, with the closed form of critical damping,
// angle = start (1 + w t) exp(-w t). Euler angles or a part of the quaternion would not do that.
TEST(OperationalSpaceControl, ConvergesFromHalfATurnAlongOneAxis) {
  const Model<double> model = ball();
  const double start = 170 * std::numbers::pi / 180, frequency = 0.5;
  const double w = 2 * std::numbers::pi * frequency;
  testing::Random random(12);
  for (int trial = 0; trial < 3; ++trial) {
    const Vector3<double> axis = random.direction<double>();
    const Matrix3<double> R_0 = random.rotation<double>();
    OperationalSpaceControl::Setup setup;
    setup.task.frame = model.find_frame("body");
    setup.task.rows = {false, false, false, true, true, true};
    setup.frequency = frequency;
    setup.max_feedback_acceleration = 1e6;
    OperationalSpaceControl control(unlimited(model), setup);
    FrameReference reference;
    reference.X_WF.R = Eigen::AngleAxisd(start, axis).toRotationMatrix() * R_0;
    Vector q(4), v = Vector::Zero(3), tau(3), a(3), q_mid(4), v_mid(3);
    q = quaternion_from_matrix(R_0).xyzw();
    Workspace<double> work(model);
    const double h = 1e-3;
    Worst worst;
    for (int i = 0; i < 4000; ++i) {
      ASSERT_TRUE(control.step(q, v, reference, tau).ok());
      const double t = i * h, angle = start * (1 + w * t) * std::exp(-w * t);
      worst.add((control.task().rotation_error_W - angle * axis).norm());
      aba(model, work, q, v, tau, a);
      integrate(model, q, Vector(h / 2 * v), q_mid);
      v_mid = v + h / 2 * a;
      ASSERT_TRUE(control.step(q_mid, v_mid, reference, tau).ok());
      aba(model, work, q_mid, v_mid, tau, a);
      integrate(model, q, Vector(h * v_mid), q);
      v += h * a;
    }
    EXPECT_LT(worst.value(), 1e-4);  // midpoint rule: (w h)^2 / 6 of the angle
    EXPECT_LT(control.task().rotation_error_W.norm(), 1e-3);
  }
}

// |kp e| is bounded, separately for translation and rotation, along the error.
TEST(OperationalSpaceControl, FeedbackIsBoundedAlongTheError) {
  const Case c(2, 1.2);
  OperationalSpaceControl::Setup setup;
  setup.task = c.task(kAll);
  setup.task.threshold = 1e-3;
  const auto [e, de] = c.errors();
  const double w = 4 * std::numbers::pi;
  for (const double most : {0.3, 3.0, 30.0, 300.0}) {
    setup.max_feedback_acceleration = most;
    OperationalSpaceControl control(unlimited(c.model), setup);
    Vector tau(7);
    ASSERT_TRUE(control.step(c.q, c.v, c.reference, tau).ok());
    const double linear = std::min(most / (w * w * e.head<3>().norm()), 1.0);
    const double angular = std::min(most / setup.task.length / (w * w * e.tail<3>().norm()), 1.0);
    Vector6<double> expected = c.a_ref() + 2 * w * de;
    expected.head<3>() += linear * w * w * e.head<3>();
    expected.tail<3>() += angular * w * w * e.tail<3>();
    EXPECT_LT((c.acceleration(tau) - expected).norm(), 1e-9) << most;
  }
}

// An acceleration reference in one direction moves no other one: Lambda decouples the task.
TEST(OperationalSpaceControl, ReferenceInOneDirectionMovesNoOther) {
  Worst worst;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Case c(seed);
    OperationalSpaceControl::Setup setup;
    setup.task = c.task(kAll);
    setup.task.threshold = 1e-3;
    OperationalSpaceControl control(unlimited(c.model), setup);
    Vector tau(7);
    control.step(c.q, c.v, c.reference, tau);
    const Vector6<double> base = c.acceleration(tau);
    for (int i = 0; i < 6; ++i) {
      Case changed = c;
      Vector3<double>& part = i < 3 ? changed.reference.A.v : changed.reference.A.w;
      part += c.R_WT.col(i % 3);
      control.step(c.q, c.v, changed.reference, tau);
      Vector6<double> change = c.acceleration(tau) - base;
      change[i] -= 1;
      worst.add(max_abs(change));
    }
  }
  EXPECT_LT(worst.value(), 1e-9);
  RecordProperty("cross_coupling", std::to_string(worst.value()));
}

// tau = J^T Lambda (x'' - dJ/dt v - J a_0) + M a_0 + h with a_0 = w^2 (q_0 - q) - 2 ratio w v.
TEST(OperationalSpaceControl, TorqueIsItsFormula) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Case c(seed);
    OperationalSpaceControl::Setup setup;
    setup.task = c.task(kOdd);
    setup.task.threshold = 1e-3;
    setup.frequency = 1.5;
    setup.damping_ratio = 0.6;
    setup.posture = {Vector::LinSpaced(7, -0.4, 0.7), 1.3, 0.8};
    OperationalSpaceControl control(unlimited(c.model), setup);
    Vector tau(7), h(7);
    ASSERT_TRUE(control.step(c.q, c.v, c.reference, tau).ok());
    const double w_0 = 2 * std::numbers::pi * 1.3, w = 2 * std::numbers::pi * 1.5;
    const Vector a_0 = w_0 * w_0 * (setup.posture.q - c.q) - 1.6 * w_0 * c.v;
    Workspace<double> work(c.model);
    rnea(c.model, work, c.q, c.v, Vector::Zero(7), h);
    Matrix M(7, 7);
    crba(c.model, work, c.q, M);
    Kinematics<double> k(c.model);
    forward_kinematics(c.model, c.q, c.v, k);
    Matrix6X<double> J_W(6, 7);
    frame_jacobian(c.model, k, c.tool, FrameAxes::local_world_aligned, J_W);
    const Motion<double> drift =
        frame_jacobian_rate_times_v(c.model, k, c.tool, FrameAxes::local_world_aligned);
    Matrix all(6, 7), J(3, 7);
    all << c.R_WT.transpose() * J_W.topRows<3>(), c.R_WT.transpose() * J_W.bottomRows<3>();
    Vector6<double> dJ_v;
    dJ_v << c.R_WT.transpose() * drift.v, c.R_WT.transpose() * drift.w;
    const auto [e, de] = c.errors();
    const Vector6<double> x = c.a_ref() + w * w * e + 1.2 * w * de - dJ_v;
    Vector wanted(3);
    for (int r = 0; r < 3; ++r) {
      J.row(r) = all.row(2 * r);  // the rows of kOdd
      wanted[r] = x[2 * r];
    }
    const Matrix M_inverse = M.inverse();
    const Matrix Lambda = (J * M_inverse * J.transpose()).inverse();
    const Vector expected = h + M * a_0 + J.transpose() * Lambda * (wanted - J * a_0);
    EXPECT_LT((tau - expected).norm(), 1e-11 * expected.norm()) << seed;

    // Results of the task in their own units, although rotations are scaled inside.
    const OperationalSpace<double>& space = control.task().space;
    const Matrix J_bar = M_inverse * J.transpose() * Lambda;
    Vector g(7);
    gravity(c.model, work, c.q, g);
    Vector drift_rows(3);
    for (int r = 0; r < 3; ++r) drift_rows[r] = dJ_v[2 * r];
    EXPECT_LT((space.Lambda - Lambda).norm(), 1e-11 * Lambda.norm());
    EXPECT_LT((space.J_bar - J_bar).norm(), 1e-11 * J_bar.norm());
    EXPECT_LT((space.rho - J_bar.transpose() * g).norm(), 1e-11 * g.norm());
    const Vector mu = J_bar.transpose() * (h - g) - Lambda * drift_rows;
    EXPECT_LT((space.mu - mu).norm(), 1e-11 * (mu.norm() + Lambda.norm()));
  }
}

// A rotation by 1 rad counts as a translation by `length`: on a slide with a wheel, M = m + m and
// I, the mobilities are 1 / sqrt(2 m) and length / sqrt(I).
TEST(FrameTask, LengthWeighsRotationsAgainstTranslations) {
  RobotBuilder<double> robot("wheel");
  const Matrix3<double> I = Eigen::Vector3d(1, 1, 1).asDiagonal();
  robot.gravity({0, 0, 0}).link("slide", 0.5, {0, 0, 0}, I).link("wheel", 0.5, {0, 0, 0}, I);
  robot.joint("x", Joint<double>::prismatic({1, 0, 0}), "world", "slide");
  robot.joint("z", Joint<double>::revolute({0, 0, 1}), "slide", "wheel");
  const Model<double> model = robot.build();
  Workspace<double> work(model);
  for (const double length : {0.05, 0.5}) {
    for (const double threshold : {0.04, 0.06, 0.4, 0.6}) {
      FrameTaskSetup setup;
      setup.frame = model.find_frame("wheel");
      setup.rows = {true, false, false, false, false, true};
      setup.length = length;
      setup.threshold = threshold;
      FrameTask task("test", model, setup);
      const Vector zero = Vector::Zero(2);
      task.update_kinematics(model, zero, zero, {});
      ASSERT_EQ(task.update_dynamics(model, work, zero, zero), Status::ok);
      EXPECT_EQ(task.space.damped, length < threshold ? 1 : 0) << length << " " << threshold;
    }
  }
}

// The posture acts in the null space of the task.
TEST(OperationalSpaceControl, PostureDoesNotDisturbTheTask) {
  const Case c(4);
  Vector first(7), second(7);
  for (Vector* tau : {&first, &second}) {
    OperationalSpaceControl::Setup setup;
    setup.task = c.task(kPoint);
    setup.posture.q = Vector::Constant(7, tau == &first ? 0.5 : -0.5);
    OperationalSpaceControl(unlimited(c.model), setup).step(c.q, c.v, c.reference, *tau);
  }
  EXPECT_GT((first - second).norm(), 1);
  const Vector6<double> change = c.acceleration(first) - c.acceleration(second);
  EXPECT_LT(change.head<3>().norm(), 1e-9);
  EXPECT_GT(change.tail<3>().norm(), 1e-3);
}

// Lambda e'' + D e' + K e = -F_ext with an external wrench.
TEST(CartesianImpedance, ErrorsFollowTheirEquation) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Case c(seed, seed <= 5 ? 0.2 : 1.7);  // up to 2.9 rad
    testing::Random random(seed);
    CartesianImpedance::Setup setup;
    setup.task = c.task(kAll);
    setup.task.threshold = 1e-3;
    Matrix G(6, 6), H(6, 6);
    for (double& x : G.reshaped()) x = random.uniform(-1, 1);
    for (double& x : H.reshaped()) x = random.uniform(-1, 1);
    setup.stiffness = 100 * G * G.transpose();
    setup.damping = 10 * H * H.transpose();
    CartesianImpedance control(unlimited(c.model), setup);
    Vector tau(7);
    ASSERT_TRUE(control.step(c.q, c.v, c.reference, tau).ok());
    const Vector6<double> F = random.vector<double, 6>(20), a = c.acceleration(tau, F);
    const auto [e, de] = c.errors();
    Vector6<double> spring = setup.stiffness * e;
    // The moment is the gradient of e^T K e / 2 with respect to rotations: J^-1 of the rotation
    // vector.
    const Vector3<double> turn = e.tail<3>();
    spring.tail<3>() = (so3::left_jacobian_inverse<double>(turn) * spring.tail<3>()).eval();
    const Matrix& Lambda = control.task().space.Lambda;
    const Vector6<double> left = Lambda * (c.a_ref() - a) + setup.damping * de + spring;
    EXPECT_LT((left + F).norm(), 1e-8 * (1 + Lambda.norm() * a.norm())) << seed;
  }
}

// Without a matrix, D = ratio (A B + B A) with A^2 = Lambda and B^2 = K. [Albu-Schaffer 2003]
TEST(CartesianImpedance, DampingIsDesignedFromLambdaAndStiffness) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Case c(seed);
    testing::Random random(seed);
    CartesianImpedance::Setup setup;
    setup.task = c.task(kAll);
    setup.task.threshold = 1e-3;
    Matrix G(6, 6);
    for (double& x : G.reshaped()) x = random.uniform(-1, 1);
    setup.stiffness = 100 * G * G.transpose();
    setup.damping_ratio = 0.45;
    CartesianImpedance designed(unlimited(c.model), setup);
    Vector tau(7), expected(7);
    ASSERT_TRUE(designed.step(c.q, c.v, c.reference, tau).ok());
    const auto root = [](const Matrix& m) {
      return Eigen::SelfAdjointEigenSolver<Matrix>(m).operatorSqrt();
    };
    const Matrix A = root(designed.task().space.Lambda), B = root(setup.stiffness);
    setup.damping = 0.45 * (A * B + B * A);
    setup.damping = ((setup.damping + setup.damping.transpose()) / 2).eval();
    const double least = Eigen::SelfAdjointEigenSolver<Matrix>(setup.damping)
                             .eigenvalues()
                             .minCoeff<Eigen::PropagateNaN>();
    if (least < 0) continue;  // such a D cannot be given as a matrix
    CartesianImpedance given(unlimited(c.model), setup);
    ASSERT_TRUE(given.step(c.q, c.v, c.reference, expected).ok());
    EXPECT_LT((tau - expected).norm(), 1e-11 * expected.norm()) << seed;
  }
}

// The work of that moment over a closed path of rotations is zero: the spring is conservative.
TEST(CartesianImpedance, RotationalSpringIsConservative) {
  const Matrix3<double> K = Eigen::Vector3d(3, 11, 40).asDiagonal();
  // Moment at orientation R, reference 1: n = J_l^-1(phi) K phi, phi = log(R^T).
  const auto moment = [&](const Matrix3<double>& R) {
    const Vector3<double> phi = so3::log<double>(R.transpose());
    return Vector3<double>(so3::left_jacobian_inverse<double>(phi) * (K * phi));
  };
  // Around a closed path of rotations, by the midpoint rule.
  double work = 0;
  Worst most;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    const double t = 2 * std::numbers::pi * i / n, h = 2 * std::numbers::pi / n;
    const auto at = [](double s) {
      return so3::exp<double>(
          Vector3<double>(0.9 * std::sin(s), 0.7 * (1 - std::cos(s)), 0.5 * std::sin(2 * s)));
    };
    const Matrix3<double> next = at(t + h), mid = at(t + h / 2);
    work += moment(mid).dot(so3::log<double>(next * at(t).transpose()));
    most.add(std::abs(work));
  }
  EXPECT_GT(most.value(), 1);
  EXPECT_LT(std::abs(work), 1e-4 * most.value());  // midpoint rule: h^2
}

// The motion along the tangents is that of free space for any contact force.
TEST(HybridForceControl, ForceDoesNotDisturbTheMotion) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Case c(seed);
    testing::Random random(seed);
    HybridForceControl::Setup setup;
    const std::size_t along = seed % 3;  // the axis of the force
    setup.task = c.task(kAll);
    setup.task.rows[along] = false;
    setup.task.threshold = 1e-3;
    setup.force_rows = {};
    setup.force_rows[along] = true;
    setup.posture.q = Vector::Constant(7, 0.1);
    HybridForceControl control(unlimited(c.model), setup);
    Vector6<double> f_ref = Vector6<double>::Zero(), F_T = f_ref;
    f_ref[static_cast<Eigen::Index>(along)] = 30;
    F_T[static_cast<Eigen::Index>(along)] = -random.uniform(0, 40);  // the wall pushes back
    const Matrix3<double> R_FT = [&] {
      Kinematics<double> k(c.model);
      forward_kinematics(c.model, c.q, k);
      return Matrix3<double>(frame_pose(c.model, k, c.tool).R.transpose() * c.R_WT);
    }();
    const Force<double> F_F{R_FT * F_T.head<3>(), R_FT * F_T.tail<3>()};
    Vector tau(7);
    ASSERT_TRUE(control.step(c.q, c.v, c.reference, f_ref, F_F, tau).ok());
    const double w = 4 * std::numbers::pi;
    const auto [e, de] = c.errors();
    const Vector6<double> expected = c.a_ref() + w * w * e + 2 * w * de;
    const Vector6<double> found = c.acceleration(tau, F_T);
    for (int i = 0; i < 6; ++i) {
      if (i == static_cast<int>(along)) continue;
      EXPECT_NEAR(found[i], expected[i], 1e-8) << seed << " " << i;
    }
  }
}

// Each argument alone.
TEST(HybridForceControl, RejectsWhatIsNotFinite) {
  const Case c(3);
  HybridForceControl::Setup setup;
  setup.task = c.task({true, true, false, true, true, true});
  setup.force_rows[2] = true;
  HybridForceControl control(unlimited(c.model), setup);
  const double nan = std::nan("");
  for (int which = 0; which < 7; ++which) {
    Vector q = c.q, v = c.v, tau = Vector::Ones(7);
    FrameReference reference = c.reference;
    Vector6<double> f_ref = Vector6<double>::Zero();
    Force<double> F_F{Vector3<double>::Zero(), Vector3<double>::Zero()};
    if (which == 1) q[3] = nan;
    if (which == 2) v[6] = nan;
    if (which == 3) reference.X_WF.p.z() = nan;
    if (which == 4) f_ref[5] = nan;
    if (which == 5) F_F.f.x() = nan;
    if (which == 6) F_F.n.y() = nan;
    const StepReport report = control.step(q, v, reference, f_ref, F_F, tau);
    EXPECT_EQ(report.status, which == 0 ? Status::ok : Status::not_finite) << which;
    EXPECT_TRUE(tau.allFinite());
    if (which > 0) {
      EXPECT_EQ(tau.norm(), 0) << which;
    }
  }
}

/// The wall's wrench on the tool, in the axes of the tool, for a wrench in those of the task.
Force<double> in_tool_axes(const Case& c, const Vector6<double>& F_T) {
  Kinematics<double> k(c.model);
  forward_kinematics(c.model, c.q, k);
  const Matrix3<double> R_FT = frame_pose(c.model, k, c.tool).R.transpose() * c.R_WT;
  return {R_FT * F_T.head<3>(), R_FT * F_T.tail<3>()};
}

// Along the force, with the other directions decoupled: Lambda_zz z'' = f - f_now, where
// f = f_ref + kp (f_ref - f_now) + I - kd z', and I' = ki (f_ref - f_now) in contact, bounded.
TEST(HybridForceControl, ForceLawIsItsFormula) {
  const Case c(3);
  HybridForceControl::Setup setup;
  setup.task = c.task({true, true, false, true, true, true});
  setup.task.threshold = 1e-3;
  setup.force_rows = {false, false, true, false, false, false};
  setup.force_kp = 0.7;
  setup.force_ki = 5;
  setup.force_kd = 20;
  setup.largest_integral = 6;
  setup.contact_threshold = 0.2;
  setup.period = 0.01;
  FrameTaskSetup all_rows = c.task(kAll);
  all_rows.threshold = 1e-3;
  FrameTask all("test", c.model, all_rows);
  Workspace<double> work(c.model);
  all.update_kinematics(c.model, c.q, c.v, c.reference);
  ASSERT_EQ(all.update_dynamics(c.model, work, c.q, c.v), Status::ok);
  ASSERT_GT(std::abs(all.dx[2]), 0.1);
  Vector6<double> f_ref = Vector6<double>::Zero(), F_T = f_ref;
  Vector tau(7);
  for (const double sign : {1.0, -1.0}) {
    HybridForceControl control(unlimited(c.model), setup);
    f_ref[2] = 30 * sign;
    double integral = 0;
    const auto step = [&](double exerted) {
      F_T[2] = -exerted * sign;
      ASSERT_TRUE(control.step(c.q, c.v, c.reference, f_ref, in_tool_axes(c, F_T), tau).ok());
      const double error = sign * (30 - exerted);
      EXPECT_NEAR(all.space.Lambda(2, 2) * c.acceleration(tau, F_T)[2],
                  1.7 * error + integral - 20 * all.dx[2], 1e-9)
          << exerted;
      if (exerted >= 0.2 * 30) integral = std::clamp(integral + 0.05 * error, -6.0, 6.0);
      EXPECT_NEAR(control.integral()[0], integral, 1e-14) << exerted;
    };
    for (const double exerted : {10.0, 25.0, 40.0, 5.9, 6.1, -1.0}) step(exerted);
    for (int i = 0; i < 20; ++i) step(10);
    EXPECT_EQ(control.integral()[0], 6 * sign);
    control.reset();
    EXPECT_EQ(control.integral()[0], 0);
  }
  // No integration while a motor is saturated.
  HybridForceControl weak({c.model, MotorLimits(c.model, Vector::Constant(7, 1e-3))}, setup);
  EXPECT_GT(weak.step(c.q, c.v, c.reference, f_ref, in_tool_axes(c, F_T), tau).saturated, 0);
  EXPECT_EQ(weak.integral()[0], 0);
}

// A stretched arm cannot move its tool outward; when commanded to, the torques stay bounded, and
// the bound does not grow towards the singularity.
TEST(TaskControllers, TorquesStayBoundedNearSingularities) {
  const Model<double> model = load_model("builtin:arm7");
  const FrameId tool = model.find_frame("tool");
  Worst worst;
  for (const double elbow : {0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-5, 1e-8, 0.0}) {
    Vector q = Vector::Zero(7), v = Vector::Zero(7), tau(7);
    q[1] = 0.6;
    q[3] = -elbow;
    FrameReference reference;
    Kinematics<double> k(model);
    forward_kinematics(model, q, k);
    reference.X_WF = frame_pose(model, k, tool);
    reference.X_WF.p += reference.X_WF.R * Vector3<double>(0, 0, 0.3);  // out of reach
    OperationalSpaceControl::Setup setup;
    setup.task.frame = tool;
    setup.posture.q = q;
    OperationalSpaceControl control(unlimited(model), setup);
    ASSERT_TRUE(control.step(q, v, reference, tau).ok());
    worst.add(tau.norm());
    CartesianImpedance::Setup soft;
    soft.task.frame = tool;
    soft.stiffness = 500 * Matrix::Identity(6, 6);
    CartesianImpedance impedance(unlimited(model), soft);
    ASSERT_TRUE(impedance.step(q, v, reference, tau).ok());
    worst.add(tau.norm());
    if (elbow == 0) {
      EXPECT_GT(control.task().space.damped, 0);
    }
  }
  RecordProperty("largest_torque", std::to_string(worst.value()));
  EXPECT_LT(worst.value(), 3000);
}

TEST(TaskControllers, RejectInvalidSetups) {
  const Model<double> arm = load_model("builtin:arm7"), cart = load_model("builtin:cartpole");
  OperationalSpaceControl::Setup osc;
  osc.task.frame = FrameId(99);
  EXPECT_EQ(message([&] { OperationalSpaceControl(ControlledRobot(arm), osc); }).substr(0, 50),
            "OperationalSpaceControl: frame is 99, expected one");
  osc.task.frame = arm.find_frame("tool");
  osc.task.rows = {};
  EXPECT_EQ(message([&] { OperationalSpaceControl(ControlledRobot(arm), osc); }),
            "OperationalSpaceControl: rows has no direction, expected at least one");
  osc.task = {};
  osc.task.frame = cart.find_frame("pole");
  EXPECT_EQ(
      message([&] { OperationalSpaceControl(ControlledRobot(cart), osc); }),
      "OperationalSpaceControl: needs a motor for every velocity, and joint 'hinge' has none");
  CartesianImpedance::Setup soft;
  soft.task.frame = arm.find_frame("tool");
  soft.stiffness = Matrix::Identity(3, 3);
  EXPECT_EQ(message([&] { CartesianImpedance(ControlledRobot(arm), soft); }),
            "CartesianImpedance: stiffness is 3 x 3, expected 6 x 6");
  HybridForceControl::Setup hybrid;
  hybrid.task.frame = arm.find_frame("tool");
  EXPECT_EQ(
      message([&] { HybridForceControl(ControlledRobot(arm), hybrid); }),
      "HybridForceControl: direction 2 is controlled in motion and in force, expected one of the "
      "two");
}

}  // namespace
}  // namespace limb
