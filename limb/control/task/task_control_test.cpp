// Task-space controllers: the accelerations from forward dynamics are those of the formulas, in
// each direction, for square, redundant and nearly singular tasks.
#include "limb/control/task/task_control.hpp"

#include <gtest/gtest.h>

#include "limb/control/task/hybrid_force_control.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/math/so3.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"
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

  explicit Case(unsigned seed) {
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
    reference.X_WF.R = so3::exp<double>(random.vector<double>(0.2)) * reference.X_WF.R;
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

// An acceleration reference in one direction moves no other one: Lambda decouples the task.
TEST(OperationalSpaceControl, ReferenceInOneDirectionMovesNoOther) {
  double worst = 0;
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
      worst = std::max(worst, change.cwiseAbs().maxCoeff());
    }
  }
  EXPECT_LT(worst, 1e-9);
  RecordProperty("cross_coupling", std::to_string(worst));
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
    const Case c(seed);
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

// The work of that moment over a closed path of rotations is zero: the spring is conservative.
TEST(CartesianImpedance, RotationalSpringIsConservative) {
  const Matrix3<double> K = Eigen::Vector3d(3, 11, 40).asDiagonal();
  // Moment at orientation R, reference 1: n = J_l^-1(phi) K phi, phi = log(R^T).
  const auto moment = [&](const Matrix3<double>& R) {
    const Vector3<double> phi = so3::log<double>(R.transpose());
    return Vector3<double>(so3::left_jacobian_inverse<double>(phi) * (K * phi));
  };
  // Around a closed path of rotations, by the midpoint rule.
  double work = 0, most = 0;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    const double t = 2 * std::numbers::pi * i / n, h = 2 * std::numbers::pi / n;
    const auto at = [](double s) {
      return so3::exp<double>(
          Vector3<double>(0.9 * std::sin(s), 0.7 * (1 - std::cos(s)), 0.5 * std::sin(2 * s)));
    };
    const Matrix3<double> next = at(t + h), mid = at(t + h / 2);
    work += moment(mid).dot(so3::log<double>(next * at(t).transpose()));
    most = std::max(most, std::abs(work));
  }
  EXPECT_GT(most, 1);
  EXPECT_LT(std::abs(work), 1e-4 * most);  // midpoint rule: h^2
}

// The motion along the tangents is that of free space for any contact force.
TEST(HybridForceControl, ForceDoesNotDisturbTheMotion) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Case c(seed);
    testing::Random random(seed);
    HybridForceControl::Setup setup;
    setup.task = c.task({true, true, false, true, true, true});
    setup.task.threshold = 1e-3;
    setup.force_rows = {false, false, true, false, false, false};
    setup.posture.q = Vector::Constant(7, 0.1);
    HybridForceControl control(unlimited(c.model), setup);
    Vector6<double> f_ref = Vector6<double>::Zero(), F_T = f_ref;
    f_ref[2] = 30;
    F_T[2] = -random.uniform(0, 40);  // the wall pushes back
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
    for (const int i : {0, 1, 3, 4, 5})
      EXPECT_NEAR(found[i], expected[i], 1e-8) << seed << " " << i;
  }
}

// A stretched arm cannot move its tool outward; when commanded to, the torques stay bounded, and
// the bound does not grow towards the singularity.
TEST(TaskControllers, TorquesStayBoundedNearSingularities) {
  const Model<double> model = load_model("builtin:arm7");
  const FrameId tool = model.find_frame("tool");
  double worst = 0;
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
    worst = std::max(worst, tau.norm());
    CartesianImpedance::Setup soft;
    soft.task.frame = tool;
    soft.stiffness = 500 * Matrix::Identity(6, 6);
    CartesianImpedance impedance(unlimited(model), soft);
    ASSERT_TRUE(impedance.step(q, v, reference, tau).ok());
    worst = std::max(worst, tau.norm());
    if (elbow == 0) {
      EXPECT_GT(control.task().space.damped, 0);
    }
  }
  RecordProperty("largest_torque", std::to_string(worst));
  EXPECT_LT(worst, 3000);
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
