// Controllers on moving arms, builtin and real: tracking, commanded stiffness, force on a wall,
// singular poses.
#include <gtest/gtest.h>

#include "limb/base/testing/step_limit.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/control/control.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/math/so3.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/shared.hpp"
#include "limb/sim/forces/wall_law.hpp"
#include "limb/sim/forces/wrench_laws.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

struct RobotCase {
  const char* path;
  const char* frame;
};

class ArmMotion : public ::testing::TestWithParam<RobotCase> {
 protected:
  void SetUp() override {
    std::string path = GetParam().path;
    if (!path.starts_with("builtin:")) {
      const auto shared = testing::shared_folder();
      if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
      path = (shared / "robots" / path).string();
    }
    model_ = load_model(path);
    frame_ = model_.find_frame(GetParam().frame);
    q_ = Vector::Zero(model_.nq());
    q_.head(7) << 0.2, 0.6, 0.1, -1.4, 0.2, 1.1, 0.3;
  }
  Pose<double> frame_pose_at(const Vector& q) const {
    Kinematics<double> k(model_);
    forward_kinematics(model_, q, k);
    return frame_pose(model_, k, frame_);
  }
  Model<double> model_;
  FrameId frame_;
  Vector q_;
};

// Evaluated in continuous time, computed torque leaves only the error of the integrator.
TEST_P(ArmMotion, ComputedTorqueTracksToTheIntegratorsTolerance) {
  const int n = model_.nv();
  Vector end = q_;
  for (int i = 0; i < 7; ++i) end[i] += 0.5 - 0.1 * i;
  const JointPath path(model_, {q_, end}, {1.0});
  const double inf = std::numeric_limits<double>::infinity();
  ComputedTorque control({model_, MotorLimits(model_, Vector::Constant(n, inf))},
                         acceleration_gains(model_, 2, 1));
  JointReference reference(model_);
  Workspace<double> work(model_);
  Vector tau(n);
  auto equation = make_equation<double>([&](const RobotState<double>& s, Vector& a, Vector&) {
    path.sample(s.t, reference);
    ASSERT_TRUE(control.step(s.q, s.v, reference, tau).ok());
    aba(model_, work, s.q, s.v, tau, a);
  });
  const double tolerance = 1e-10;
  const auto integrator =
      make_integrator<double>(IntegrationMethod::dormand_prince, ConfigurationSpace<double>(model_),
                              0, {0.05, tolerance, tolerance});
  RobotState<double> s = make_state(model_);
  s.q = q_;
  Worst worst;
  for (testing::StepLimit limit(100'000); limit.next() && s.t < 1;) {
    integrator->advance(equation, s, 1.0);
    path.sample(s.t, reference);
    worst.add(distance(model_, s.q, reference.q));
  }
  EXPECT_LT(worst.value(), 100 * tolerance);  // about twenty steps with that error each
  RecordProperty("error", std::to_string(worst.value()));
}

// A force or moment along each axis: the frame moves by F over the commanded stiffness, and not in
// other directions.
TEST_P(ArmMotion, ImpedanceRendersTheCommandedStiffness) {
  const double stiffness[6] = {400, 600, 900, 30, 40, 25};
  Worst worst;
  for (int axis = 0; axis < 6; ++axis) {
    const double size = axis < 3 ? 8 : 0.6;
    World world(model_,
                {.friction = WorldOptions::Friction::none, .stops = WorldOptions::Stops::none});
    Vector6<double> F = Vector6<double>::Zero();
    F[axis] = axis % 2 == 0 ? size : -size;
    world.add<WrenchSchedule>(world.model(),
                              std::vector<WrenchSchedule::Push>{
                                  {frame_, 0, 10, {F.head<3>(), F.tail<3>()}, WrenchAxes::world}});
    CartesianImpedance::Setup setup;
    setup.task.frame = frame_;
    setup.stiffness = Eigen::Map<const Vector6<double>>(stiffness).asDiagonal();
    setup.damping_ratio = 1;
    setup.posture.q = q_;
    setup.posture.frequency = 2;
    CartesianImpedance control(ControlledRobot(model_), setup);
    FrameReference reference;
    reference.X_WF = frame_pose_at(q_);
    Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 2e-3});
    simulation.set_state(0, q_, Vector::Zero(model_.nv()));
    simulation.set_controller([&](const ControlInput& now, Vector& tau) {
      ASSERT_TRUE(control.step(now.q, now.v, reference, tau).ok());
    });
    simulation.run_until(2.5);
    const Pose<double> X = frame_pose_at(simulation.state().q);
    Vector6<double> moved;
    moved << X.p - reference.X_WF.p, so3::log<double>(X.R * reference.X_WF.R.transpose());
    for (int i = 0; i < 6; ++i) {
      const double expected = F[i] / stiffness[i];
      // Relative to the displacement by a push along this axis.
      const double scale = (i < 3 ? 8 : 0.6) / stiffness[i];
      worst.add(std::abs(moved[i] - expected) / scale);
      EXPECT_NEAR(moved[i], expected, 0.02 * scale) << "push " << axis << ", direction " << i;
    }
  }
  RecordProperty("stiffness_error", std::to_string(worst.value()));
}

struct HybridRun {
  double force = 0, largest_lag = 0;
  std::vector<Vector3<double>> errors;
};

// The force on the wall is the commanded one, and the motion along it that of free space.
TEST_P(ArmMotion, HybridControlPressesAndSlides) {
  const Pose<double> X = frame_pose_at(q_);
  const auto run = [&](bool wall) {
    World world(model_,
                {.friction = WorldOptions::Friction::none, .stops = WorldOptions::Stops::none});
    WallLaw::Parameters p;
    p.frame = frame_;
    p.normal = {0, 0, 1};
    p.point = X.p;
    p.point.z() -= 0.005;
    p.stiffness = 2e4;
    p.damping = 100;
    if (wall) world.add<WallLaw>(world.model(), p);
    HybridForceControl::Setup setup;
    setup.task.frame = frame_;
    setup.task.rows = {true, true, false, true, true, true};
    setup.force_rows = {false, false, true, false, false, false};
    setup.posture.q = q_;
    Vector6<double> f_ref = Vector6<double>::Zero();
    f_ref[2] = -20;
    Pose<double> end = X;
    end.p += Vector3<double>(0.05, 0.08, 0);
    const FramePath path({X, X, end}, {0.5, 1.0});
    Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 5e-4});
    simulation.set_state(0, q_, Vector::Zero(model_.nv()));
    HybridRun result;
    OperationalSpaceControl::Setup free;
    free.task.frame = frame_;
    free.posture.q = q_;
    OperationalSpaceControl in_space(ControlledRobot(model_), free);
    setup.period = 5e-4;
    HybridForceControl control(ControlledRobot(model_), setup);
    simulation.set_controller([&](const ControlInput& now, Vector& tau) {
      Force<double> measured{Vector3<double>::Zero(), Vector3<double>::Zero()};
      for (const auto& w : now.wrenches) measured.f += w.F_F.f;
      const FrameReference r = path.at(now.t);
      const StepReport report = wall ? control.step(now.q, now.v, r, f_ref, measured, tau)
                                     : in_space.step(now.q, now.v, r, tau);
      ASSERT_TRUE(report.ok());
      ASSERT_EQ(report.saturated, 0);
    });
    for (int i = 1; i <= 40; ++i) {
      simulation.run_until(0.05 * i);
      const Pose<double> now = frame_pose_at(simulation.state().q);
      Vector3<double> along = now.p - path.at(simulation.state().t).X_WF.p;
      along.z() = 0;
      result.errors.push_back(along);
      result.largest_lag = worse(result.largest_lag, along.norm());
      if (wall) {
        result.force = 0;
        for (const auto& w : world.loads().wrenches) result.force += (now.R * w.F_F.f).z();
        if (i >= 12) {
          EXPECT_NEAR(result.force, 20, 0.2) << 0.05 * i << " s";  // 1 %, while it slides
        }
      }
    }
    return result;
  };
  const HybridRun pressed = run(true), free = run(false);
  RecordProperty("force", std::to_string(pressed.force));
  RecordProperty("lag_wall", std::to_string(pressed.largest_lag));
  RecordProperty("lag_free", std::to_string(free.largest_lag));
  // Both track to a small fraction of the 94 mm path; torques are held for half a millisecond.
  EXPECT_LT(free.largest_lag, 2e-4);
  EXPECT_LT(pressed.largest_lag, 2e-4);
}

// The target moves out of the workspace, through the stretched pose: velocities stay bounded.
TEST_P(ArmMotion, VelocitiesStayBoundedAtASingularity) {
  World world(model_,
              {.friction = WorldOptions::Friction::none, .stops = WorldOptions::Stops::none});
  OperationalSpaceControl::Setup setup;
  setup.task.frame = frame_;
  setup.task.rows = {true, true, true, false, false, false};
  setup.task.threshold = 0.2;
  setup.posture.q = q_;
  OperationalSpaceControl control(ControlledRobot(model_), setup);
  Pose<double> far = frame_pose_at(q_);
  const Pose<double> start = far;
  far.p += Vector3<double>(0.8, 0.1, 0.1);  // outside the workspace of each of them
  const FramePath path({start, far}, {2.0});
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 1e-3});
  simulation.set_state(0, q_, Vector::Zero(model_.nv()));
  Worst fastest;
  int damped = 0;
  simulation.set_controller([&](const ControlInput& now, Vector& tau) {
    ASSERT_TRUE(control.step(now.q, now.v, path.at(now.t), tau).ok());
    damped = std::max<int>(damped, control.task().space.damped);
    fastest.add(max_abs(now.v));
  });
  simulation.run_until(5);
  EXPECT_LT(fastest.value(), 20);                  // rad/s
  EXPECT_LT(max_abs(simulation.state().v), 0.05);  // it comes to rest
  EXPECT_GT(damped, 0);                            // the singularity was reached
  RecordProperty("fastest", std::to_string(fastest.value()));
  RecordProperty("end_speed", std::to_string(max_abs(simulation.state().v)));
  RecordProperty("damped", std::to_string(damped));
}

INSTANTIATE_TEST_SUITE_P(Robots, ArmMotion,
                         ::testing::Values(RobotCase{"builtin:arm7", "tool"},
                                           RobotCase{"iiwa14.urdf", "iiwa_link_7"},
                                           RobotCase{"panda.urdf", "panda_hand"}),
                         [](const auto& robot) {
                           const std::string path = robot.param.path;
                           return path.starts_with("builtin") ? std::string("arm7")
                                                              : path.substr(0, path.find('.'));
                         });

}  // namespace
}  // namespace limb
