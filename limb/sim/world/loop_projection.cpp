#include "limb/sim/world/loop_projection.hpp"

#include <algorithm>

#include "limb/base/max_or_nan.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/sim/integrate/step_end.hpp"

namespace limb {

double loop_error(const Model<double>& model, const Kinematics<double>& kinematics) {
  double worst = 0;
  for (const Loop<double>& loop : model.loops()) {
    const Pose<double> X_WA =
        frame_pose(model, kinematics, AnyFrame<double>(loop.body_a, loop.X_AL));
    const Pose<double> X_WB =
        frame_pose(model, kinematics, AnyFrame<double>(loop.body_b, loop.X_BL));
    worst = max_or_nan(worst, (X_WB.p - X_WA.p).norm());
    if (loop.kind == LoopDescription<double>::Kind::weld) {
      worst = max_or_nan(worst, so3::log<double>(X_WA.R.transpose() * X_WB.R).norm());
    }
  }
  return worst;
}

// With unit stabilization stiffness and no damping, at rest and with gravity compensated, the
// accelerations of constrained forward dynamics are the Newton step that closes the loops: the
// smallest one in the metric of M.
LoopProjection::LoopProjection(const Model<double>& model)
    : set_(model, {}, all_loops(model, {1, 0})),
      work_(model, set_),
      space_(model),
      tree_(model, Loops::open),
      zero_(VectorX<double>::Zero(model.nv())),
      tau_(zero_),
      step_(zero_),
      force_(VectorX<double>::Zero(set_.max_rows())),
      none_(VectorX<double>::Zero(1)) {}

void LoopProjection::close(const Model<double>& model, RobotState<double>& s) {
  constexpr int kSteps = 30;
  double before = std::numeric_limits<double>::infinity();
  bool closed = false;
  for (int i = 0; i < kSteps && !closed; ++i) {
    gravity(model, tree_, s.q, tau_);
    const auto report = constrained_forward_dynamics(model, set_, work_, s.q, zero_, tau_, step_,
                                                     force_, {JointEffects::none()});
    const double size = step_.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
    if (!report.ok() || !std::isfinite(size)) break;
    // Inconsistent loops leave a residual, which must be rounding.
    closed = (size < 1e-13 || (size < 1e-9 && size > before / 2)) && report.residual < 1e-9;
    before = size;
    // From far away Newton's method may overshoot.
    if (size > 0.5) step_ *= 0.5 / size;
    space_.move(s.q, step_, s.q);
  }
  if (!closed) fail_step("simulate", s.t, "the loops of the robot cannot be closed");
  impact(model, set_, work_, s.q, s.v, none_, tau_, force_, {JointEffects()});
  s.v = tau_;
}

}  // namespace limb
