#include "limb/control/joint/reference_path.hpp"
#include "limb/control/task/hybrid_force_control.hpp"
#include "limb/control/task/task_control.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/sim/world/controllers.hpp"

namespace limb {
namespace {

using Kind = ControllerSetup::Kind;
using Vector = VectorX<double>;

Pose<double> pose_at(const Model<double>& model, const Vector& q, FrameId frame) {
  Kinematics<double> k(model);
  forward_kinematics(model, q, k);
  return frame_pose(model, k, frame);
}

/// From the frame's pose in the start configuration to that in the target, plus the offset.
FramePath path_of(const Model<double>& model, const ControllerSetup& setup) {
  Pose<double> end = pose_at(model, setup.target, setup.task.frame);
  end.p += setup.task.offset;
  const bool moves = setup.move_time > 0 && setup.start.size() > 0;
  const Pose<double> start = moves ? pose_at(model, setup.start, setup.task.frame) : end;
  return FramePath({start, end}, {moves ? setup.move_time : 1});
}

FrameTaskSetup task_of(const ControllerSetup& setup) {
  FrameTaskSetup task;
  task.frame = setup.task.frame;
  task.R_WT = setup.task.R_WT;
  task.rows = setup.task.rows;
  return task;
}

PostureOptions posture_of(const ControllerSetup& setup) {
  return {setup.target, setup.task.posture_frequency, 1};
}

void record_task(const FrameTask& task, const FrameReference& reference,
                 ControllerStatistics* statistics) {
  if (statistics == nullptr) return;
  statistics->task.target = reference.X_WF.p;
  statistics->task.position = task.X_WF.p;
  statistics->task.rotation_error = task.rotation_error_W.norm();
}

template <typename Law>
Controller adapt(const Model<double>& model, const ControllerSetup& setup, Law law,
                 std::shared_ptr<ControllerStatistics> statistics) {
  const auto shared = std::make_shared<Law>(std::move(law));
  const auto path = std::make_shared<FramePath>(path_of(model, setup));
  return [shared, path, statistics](const ControlInput& now, Vector& tau) {
    const FrameReference reference = path->at(now.t);
    record_step(now.t, shared->step(now.q, now.v, reference, tau), statistics.get());
    record_task(shared->task(), reference, statistics.get());
  };
}

/// With a sensor of all wrenches on the frame.
struct HybridLaw {
  HybridForceControl control;
  FrameId frame;
  Vector6<double> force;
  FramePath path;
  Force<double> measured = {};  ///< of the environment on the frame, in its axes

  StepReport step(const ControlInput& now, const FrameReference& reference, Vector& tau) noexcept {
    measured = {Vector3<double>::Zero(), Vector3<double>::Zero()};
    for (const FrameWrench<double>& w : now.wrenches) {
      if (w.frame != frame) continue;
      measured.f += w.F_F.f;
      measured.n += w.F_F.n;
    }
    return control.step(now.q, now.v, reference, force, measured, tau);
  }
};

Controller hybrid(const Model<double>& model, const ControllerSetup& setup,
                  std::shared_ptr<ControllerStatistics> statistics) {
  HybridForceControl::Setup s;
  s.task = task_of(setup);
  s.force_rows = setup.task.force_rows;
  for (std::size_t i = 0; i < 6; ++i) s.task.rows[i] = s.task.rows[i] && !s.force_rows[i];
  s.frequency = setup.task.frequency;
  s.damping_ratio = setup.task.damping_ratio;
  s.force_kp = setup.task.force_kp;
  s.force_ki = setup.task.force_ki;
  s.force_kd = setup.task.force_kd;
  s.period = setup.period;
  s.posture = posture_of(setup);
  const auto law = std::make_shared<HybridLaw>(
      HybridLaw{HybridForceControl(controlled_robot(model, setup), s), setup.task.frame,
                setup.task.force, path_of(model, setup)});
  return [law, statistics](const ControlInput& now, Vector& tau) {
    const FrameReference reference = law->path.at(now.t);
    record_step(now.t, law->step(now, reference, tau), statistics.get());
    if (statistics == nullptr) return;
    const FrameTask& task = law->control.task();
    record_task(task, reference, statistics.get());
    const Matrix3<double> R_TF = task.setup().R_WT.transpose() * task.X_WF.R;
    statistics->task.force_target = law->force;
    statistics->task.force << R_TF * -law->measured.f, R_TF * -law->measured.n;
  };
}

}  // namespace

Controller make_frame_controller(const Model<double>& model, const ControllerSetup& setup,
                                 std::shared_ptr<ControllerStatistics> statistics) {
  const int frames = static_cast<int>(model.frames().size());
  if (setup.task.frame.value() < 0 || setup.task.frame.value() >= frames) {
    fail("make_controller", "frame", std::to_string(setup.task.frame.value()),
         "one of the " + std::to_string(frames) + " frames of the model");
  }
  if (setup.kind == Kind::hybrid_force) return hybrid(model, setup, std::move(statistics));
  if (setup.kind == Kind::operational_space) {
    OperationalSpaceControl::Setup s;
    s.task = task_of(setup);
    s.frequency = setup.task.frequency;
    s.damping_ratio = setup.task.damping_ratio;
    s.posture = posture_of(setup);
    return adapt(model, setup, OperationalSpaceControl(controlled_robot(model, setup), s),
                 std::move(statistics));
  }
  CartesianImpedance::Setup s;
  s.task = task_of(setup);
  s.stiffness = MatrixX<double>::Zero(s.task.row_count(), s.task.row_count());
  int row = 0;
  for (int i = 0; i < 6; ++i) {
    if (s.task.rows[static_cast<std::size_t>(i)]) {
      s.stiffness(row, row) = setup.task.stiffness[i];
      ++row;
    }
  }
  s.damping_ratio = setup.task.damping_ratio;
  s.posture = posture_of(setup);
  return adapt(model, setup, CartesianImpedance(controlled_robot(model, setup), s),
               std::move(statistics));
}

}  // namespace limb
