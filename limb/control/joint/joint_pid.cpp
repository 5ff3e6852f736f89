#include "limb/control/joint/joint_pid.hpp"

#include <algorithm>
#include <cmath>

#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/rnea.hpp"

namespace limb {

JointPid::JointPid(ControlledRobot robot, Setup setup)
    : robot_(std::move(robot)),
      setup_(std::move(setup)),
      e_(VectorX<double>::Zero(robot_.size())),
      g_(e_),
      I_(e_),
      tau_unlimited_(e_) {
  constexpr const char* kCall = "JointPid";
  check_gains(kCall, robot_.model(), setup_.gains);
  check_velocity(kCall, "ki", robot_.model(), setup_.ki);
  for (const double k : setup_.ki) check_not_negative(kCall, "ki", k);
  check_positive(kCall, "period", setup_.period);
  check_positive(kCall, "tracking_time", setup_.tracking_time);
  if (setup_.largest_I.size() == 0) setup_.largest_I = robot_.limits().largest();
  check_velocity(kCall, "largest_I", robot_.model(), setup_.largest_I);
  for (const double most : setup_.largest_I) {
    if (!(most >= 0)) fail(kCall, "largest_I", to_text(most), ">= 0");
  }
}

StepReport JointPid::step(VectorIn<double>& q, VectorIn<double>& v, const JointReference& reference,
                          VectorOut<double> tau) noexcept {
  if (!robot_.fits(q, v, tau) || !reference.fits(robot_.model())) {
    return MotorLimits::reject(Status::wrong_size, tau);
  }
  difference(robot_.model(), q, reference.q, e_);
  tau = setup_.gains.kp.cwiseProduct(e_) + setup_.gains.kd.cwiseProduct(reference.v - v) + I_;
  if (setup_.compensation == JointPd::Compensation::gravity) {
    gravity(robot_.model(), robot_.work(), q, g_);
    tau += g_;
  }
  tau_unlimited_ = tau;
  const StepReport report = robot_.limits().finish(tau);
  if (!report.ok()) return report;  // the integrals do not change
  for (Eigen::Index i = 0; i < I_.size(); ++i) {
    const double cut = tau[i] - tau_unlimited_[i];  // zero where the torque is not saturated
    double rate = setup_.ki[i] * e_[i];
    if (setup_.anti_windup == AntiWindup::conditional && cut * rate < 0) rate = 0;
    if (setup_.anti_windup == AntiWindup::back_calculation) rate += cut / setup_.tracking_time;
    const double most = setup_.largest_I[i];
    I_[i] = std::clamp(I_[i] + setup_.period * rate, -most, most);
  }
  return report;
}

}  // namespace limb
