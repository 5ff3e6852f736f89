// Robot: frames and coordinates.
#include "limb/dynamics/kinematics/base_velocity.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/robot/robot_cache.hpp"

namespace limb {

using Order = Kinematics<double>::Order;

Pose<double> Robot::pose(std::string_view frame) const {
  const FrameId id = cache_->frame("Robot::pose", frame);
  return frame_pose(*cache_->model, cache_->updated_kinematics(Order::position), id);
}
Motion<double> Robot::velocity(std::string_view frame, FrameAxes axes) const {
  const FrameId id = cache_->frame("Robot::velocity", frame);
  return frame_velocity(*cache_->model, cache_->updated_kinematics(Order::velocity), id, axes);
}
Motion<double> Robot::acceleration(std::string_view frame, FrameAxes axes,
                                   AccelerationKind kind) const {
  const FrameId id = cache_->frame("Robot::acceleration", frame);
  return frame_acceleration(*cache_->model, cache_->updated_kinematics(Order::acceleration), id,
                            axes, kind);
}
const Matrix6X<double>& Robot::jacobian(std::string_view frame, FrameAxes axes) const {
  Cache& c = *cache_;
  const FrameId id = c.frame("Robot::jacobian", frame);
  const std::size_t index =
      static_cast<std::size_t>(3 * id.value()) + static_cast<std::size_t>(axes);
  return c.get(c.jacobians[index], Cache::kPosition, [&](Matrix6X<double>& J) {
    frame_jacobian(*c.model, c.updated_kinematics(Order::position), id, axes, J);
  });
}
Motion<double> Robot::jacobian_rate_times_v(std::string_view frame, FrameAxes axes) const {
  const FrameId id = cache_->frame("Robot::jacobian_rate_times_v", frame);
  return frame_jacobian_rate_times_v(*cache_->model, cache_->updated_kinematics(Order::velocity),
                                     id, axes);
}
const Matrix6X<double>& Robot::jacobian_rate(std::string_view frame, FrameAxes axes) const {
  Cache& c = *cache_;
  const FrameId id = c.frame("Robot::jacobian_rate", frame);
  return c.get(c.jacobian_rate, c.rate_view, {id.value(), axes}, Cache::kVelocity,
               [&](Matrix6X<double>& dJ) {
                 frame_jacobian_rate(*c.model, c.updated_kinematics(Order::velocity), id, axes, dJ);
               });
}
const KinematicHessian<double>& Robot::hessian(std::string_view frame, FrameAxes axes) const {
  Cache& c = *cache_;
  const FrameId id = c.frame("Robot::hessian", frame);
  return *c.get(c.hessian, c.hessian_view, {id.value(), axes}, Cache::kPosition,
                [&](std::optional<KinematicHessian<double>>& H) {
                  if (!H) H.emplace(*c.model);
                  frame_hessian(*c.model, c.updated_kinematics(Order::position), id, axes, *H);
                });
}
Motion<double> Robot::base_velocity(BaseVelocityConvention convention) const {
  return limb::base_velocity(*cache_->model, cache_->updated_kinematics(Order::velocity),
                             convention);
}
Motion<double> Robot::base_acceleration(BaseVelocityConvention convention) const {
  return limb::base_acceleration(*cache_->model, cache_->updated_kinematics(Order::acceleration),
                                 convention);
}

const VectorX<double>& Robot::integrate(VectorIn<double>& v) const {
  cache_->check_v("Robot::integrate", "v", v);
  limb::integrate(*cache_->model, cache_->q, v, cache_->q_moved);
  return cache_->q_moved;
}
const VectorX<double>& Robot::difference(VectorIn<double>& q_other) const {
  check_configuration("Robot::difference", "q_other", *cache_->model, q_other);
  limb::difference(*cache_->model, cache_->q, q_other, cache_->v_between);
  return cache_->v_between;
}

IkSolution Robot::inverse_kinematics(std::string_view frame, const Pose<double>& X_WG,
                                     const IkOptions<double>& options) const {
  const FrameGoal<double> goal{cache_->frame("Robot::inverse_kinematics", frame), X_WG};
  return inverse_kinematics(std::span(&goal, 1), options);
}
IkSolution Robot::inverse_kinematics(std::span<const FrameGoal<double>> goals,
                                     const IkOptions<double>& options) const {
  IkScratch<double> scratch(*cache_->model, static_cast<int>(goals.size()));
  IkSolution answer{cache_->q, {}};
  answer.report =
      limb::inverse_kinematics(*cache_->model, scratch, goals, cache_->q, answer.q, options);
  return answer;
}

}  // namespace limb
