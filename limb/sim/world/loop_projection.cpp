#include "limb/sim/world/loop_projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/base/max_or_nan.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/math/polynomial.hpp"
#include "limb/sim/integrate/step_end.hpp"

namespace limb {

namespace {

/// The same as loop_error() for one loop.
double error_of(const Model<double>& model, const Kinematics<double>& kinematics,
                const Loop<double>& loop) {
  if (loop.kind == LoopKind::polynomial) {
    const auto q = [&](BodyId body) { return kinematics.q[model.body(body).q_start]; };
    const auto p = evaluate_polynomial(loop.polynomial, q(loop.body_a));
    return std::abs(q(loop.body_b) - p.value);
  }
  const Pose<double> X_WA = frame_pose(model, kinematics, AnyFrame<double>(loop.body_a, loop.X_AL));
  const Pose<double> X_WB = frame_pose(model, kinematics, AnyFrame<double>(loop.body_b, loop.X_BL));
  const double distance = (X_WB.p - X_WA.p).norm();
  if (loop.kind != LoopKind::weld) return distance;
  return max_or_nan(distance, so3::log<double>(X_WA.R.transpose() * X_WB.R).norm());
}

/// "cannot be closed", with the loop that is open widest at q.
std::string why_not_closed(const Model<double>& model, const VectorX<double>& q) {
  Kinematics<double> kinematics(model);
  forward_kinematics(model, q, kinematics);
  const auto error = [&](const Loop<double>& loop) { return error_of(model, kinematics, loop); };
  const auto widest = std::max_element(
      model.loops().begin(), model.loops().end(),
      [&](const Loop<double>& a, const Loop<double>& b) { return error(a) < error(b); });
  return fmt::format(
      "the loops of the robot cannot be closed (loop '{}' is open by {:.3g} m or rad in this "
      "configuration: start in another one, or correct the two sides of the loop)",
      widest->name, error(*widest));
}

/// m; the largest distance between a joint and its parent, or between a side of a loop and its
/// body.
double size_of(const Model<double>& model) {
  double size = 0;
  for (const Body<double>& body : model.bodies()) size = std::max(size, body.X_PJ.p.norm());
  for (const Loop<double>& loop : model.loops()) {
    size = std::max({size, loop.X_AL.p.norm(), loop.X_BL.p.norm()});
  }
  return size;
}

}  // namespace

double loop_error(const Model<double>& model, const Kinematics<double>& kinematics) {
  double worst = 0;
  for (const Loop<double>& loop : model.loops()) {
    worst = max_or_nan(worst, error_of(model, kinematics, loop));
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
      tolerance_(1e-9 + 1e-6 * size_of(model)),
      zero_(VectorX<double>::Zero(model.nv())),
      tau_(zero_),
      step_(zero_),
      force_(VectorX<double>::Zero(set_.max_rows())),
      none_(VectorX<double>::Zero(1)),
      q_(VectorX<double>::Zero(model.nq())) {}

bool LoopProjection::close_position(const Model<double>& model, VectorX<double>& q) {
  constexpr int kSteps = 30;
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kSteps; ++i) {
    gravity(model, tree_, q, tau_);
    const auto report = constrained_forward_dynamics(model, set_, work_, q, zero_, tau_, step_,
                                                     force_, {JointEffects::none()});
    const double size = step_.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
    if (!report.ok() || !std::isfinite(size)) return false;
    // Loops that contradict each other leave a residual, which must be rounding of the file.
    const bool closed =
        (size < 1e-13 || (size < 1e-9 && size > before / 2)) && report.residual < tolerance_;
    before = size;
    // From far away Newton's method may overshoot.
    if (size > 0.5) step_ *= 0.5 / size;
    space_.move(q, step_, q);
    if (closed) return true;
  }
  return false;
}

void LoopProjection::close(const Model<double>& model, RobotState<double>& s) {
  constexpr int kTries = 24;
  q_ = s.q;
  bool closed = close_position(model, s.q);
  for (int i = 0; i < kTries && !closed; ++i) {
    // Directions by multiples of the golden ratio, farther away with each try.
    for (Eigen::Index k = 0; k < step_.size(); ++k) {
      const double x = 0.618033988749895 * static_cast<double>((i + 1) * (k + 1));
      step_[k] = (0.05 + 0.04 * i) * (2 * (x - std::floor(x)) - 1);
    }
    space_.move(q_, step_, s.q);
    closed = close_position(model, s.q);
  }
  if (!closed) {
    s.q = q_;
    fail_step("simulate", s.t, why_not_closed(model, s.q));
  }
  impact(model, set_, work_, s.q, s.v, none_, tau_, force_, {JointEffects()});
  s.v = tau_;
}

}  // namespace limb
