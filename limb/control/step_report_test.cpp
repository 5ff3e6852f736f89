// Guarantees of every controller step: no allocation, no exception, torques within the limits of
// the motors, and a report of saturation and errors. On built-in and real robots.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "limb/control/control.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

/// A controller bound to a fixed reference; its step takes the measured state.
struct BoundController {
  const char* name;
  std::function<StepReport(VectorIn<double>&, VectorIn<double>&, VectorOut<double>)> step;
};

/// All controllers for one robot, with the reference at rest in q.
std::vector<BoundController> make_controllers(const Model<double>& model, FrameId frame,
                                              const Vector& q) {
  const int n = model.nv();
  const ControlledRobot robot(model);
  const auto reference = std::make_shared<JointReference>(model, q);
  const auto pose = std::make_shared<FrameReference>();
  Kinematics<double> k(model);
  forward_kinematics(model, q, k);
  pose->X_WF = frame_pose(model, k, frame);
  std::vector<BoundController> all;
  const auto joint = [&](const char* name, auto controller) {
    const auto c = std::make_shared<decltype(controller)>(std::move(controller));
    all.push_back(
        {name, [c, reference](VectorIn<double>& q_now, VectorIn<double>& v, VectorOut<double> tau) {
           return c->step(q_now, v, *reference, tau);
         }});
  };
  joint("pd", JointPd(robot, torque_gains(model, q, 2, 1), JointPd::Compensation::none));
  joint("gravity", JointPd(robot, torque_gains(model, q, 2, 1), JointPd::Compensation::gravity));
  JointPid::Setup pid{torque_gains(model, q, 2, 1), Vector::Constant(n, 3)};
  joint("pid", JointPid(robot, pid));
  joint("joint impedance",
        JointImpedance(robot, {40 * Matrix::Identity(n, n), 4 * Matrix::Identity(n, n), {}}));
  if (robot.limits().first_without_motor() >= 0) return all;
  joint("computed torque", ComputedTorque(robot, acceleration_gains(model, 2, 1)));
  const auto task = [&](const char* name, auto controller) {
    const auto c = std::make_shared<decltype(controller)>(std::move(controller));
    all.push_back(
        {name, [c, pose](VectorIn<double>& q_now, VectorIn<double>& v, VectorOut<double> tau) {
           return c->step(q_now, v, *pose, tau);
         }});
  };
  OperationalSpaceControl::Setup osc;
  osc.task.frame = frame;
  osc.posture.q = q;
  task("operational space", OperationalSpaceControl(robot, osc));
  CartesianImpedance::Setup soft;
  soft.task.frame = frame;
  soft.stiffness = 300 * Matrix::Identity(6, 6);
  soft.posture.q = q;
  task("cartesian impedance", CartesianImpedance(robot, soft));
  HybridForceControl::Setup hybrid;
  hybrid.task.frame = frame;
  hybrid.task.rows[2] = false;
  const auto h = std::make_shared<HybridForceControl>(robot, hybrid);
  all.push_back({"hybrid force",
                 [h, pose](VectorIn<double>& q_now, VectorIn<double>& v, VectorOut<double> tau) {
                   Vector6<double> f = Vector6<double>::Zero();
                   f[2] = -5;
                   return h->step(q_now, v, *pose, f, {{0, 0, 4}, {0, 0, 0}}, tau);
                 }});
  Lqr::Setup lqr;
  lqr.q = q;
  lqr.Q = Matrix::Identity(2 * n, 2 * n);
  lqr.R = 0.01 * Matrix::Identity(n, n);
  const auto l = std::make_shared<Lqr>(robot, lqr);
  all.push_back({"lqr", [l](VectorIn<double>& q_now, VectorIn<double>& v, VectorOut<double> tau) {
                   return l->step(q_now, v, tau);
                 }});
  return all;
}

struct RobotCase {
  const char* path;
  const char* frame;
  Base base = Base::described;
};

class StepReports : public ::testing::TestWithParam<RobotCase> {
 protected:
  void SetUp() override {
    std::string path = GetParam().path;
    if (!path.starts_with("builtin:")) {
      const auto shared = testing::shared_folder();
      if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
      path = (shared / "robots" / path).string();
    }
    model_ = load_model(path, GetParam().base);
    frame_ = model_.find_frame(GetParam().frame);
    q_ = Vector(model_.nq());
    neutral(model_, q_);
    // Away from the stretched (singular) configuration.
    integrate(model_, q_, Vector(0.3 * driven()), q_);
    controllers_ = make_controllers(model_, frame_, q_);
  }
  /// 1 where there is a motor, else 0.
  Vector driven() const { return MotorLimits(model_).largest().cwiseMin(1).cwiseSign(); }

  Model<double> model_;
  FrameId frame_;
  Vector q_;
  std::vector<BoundController> controllers_;
};

TEST_P(StepReports, DoNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  const int n = model_.nv();
  const Vector v = Vector::Constant(n, 0.1);
  Vector tau(n);
  for (const BoundController& controller : controllers_) {
    controller.step(q_, v, tau);
    EXPECT_EQ(testing::allocations([&] { controller.step(q_, v, tau); }), 0) << controller.name;
  }
}

TEST_P(StepReports, SaturationIsAppliedAndCounted) {
  const int n = model_.nv();
  const Vector largest = MotorLimits(model_).largest();
  Vector tau(n), q_far(q_.size());
  integrate(model_, q_, Vector(0.8 * driven()), q_far);
  const Vector fast = Vector::Constant(n, -2000);  // all controllers oppose it
  for (const BoundController& controller : controllers_) {
    const StepReport report = controller.step(q_far, fast, tau);
    EXPECT_TRUE(report.ok()) << controller.name;
    int at_limit = 0;
    for (int i = 0; i < n; ++i) {
      EXPECT_LE(std::abs(tau[i]), largest[i]) << controller.name;
      at_limit += largest[i] > 0 && std::abs(tau[i]) == largest[i];
    }
    EXPECT_EQ(report.saturated, at_limit) << controller.name;
    if (largest.allFinite()) {
      EXPECT_GT(report.saturated, 0) << controller.name;
    }
    const StepReport at_rest = controller.step(q_, Vector::Zero(n), tau);
    EXPECT_EQ(at_rest.saturated, 0) << controller.name;
  }
}

TEST_P(StepReports, InvalidInputGivesZeroTorque) {
  const int n = model_.nv();
  Vector tau = Vector::Ones(n), bad_q = q_, v = Vector::Zero(n), bad_v = v;
  bad_q[q_.size() - 1] = std::nan("");
  bad_v[0] = std::numeric_limits<double>::infinity();
  for (const BoundController& controller : controllers_) {
    EXPECT_EQ(controller.step(bad_q, v, tau).status, Status::not_finite) << controller.name;
    EXPECT_EQ(tau.norm(), 0) << controller.name;
    // The velocity of an unactuated joint may be unused.
    if (MotorLimits(model_).largest()[0] > 0) {
      EXPECT_EQ(controller.step(q_, bad_v, tau).status, Status::not_finite) << controller.name;
    }
    EXPECT_EQ(controller.step(q_, Vector::Zero(n + 1), tau).status, Status::wrong_size)
        << controller.name;
    EXPECT_TRUE(controller.step(q_, v, tau).ok())
        << controller.name;  // recovers with the next valid state
  }
}

INSTANTIATE_TEST_SUITE_P(Robots, StepReports,
                         ::testing::Values(RobotCase{"builtin:arm7", "tool"},
                                           RobotCase{"builtin:arm6", "tool"},
                                           RobotCase{"builtin:quadruped", "trunk"},
                                           RobotCase{"panda.urdf", "panda_hand"},
                                           RobotCase{"iiwa14.urdf", "iiwa_link_7"},
                                           RobotCase{"ur5.urdf", "ee_link"},
                                           RobotCase{"go2.urdf", "base", Base::free}),
                         [](const auto& robot) {
                           std::string name = robot.param.path;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace limb
