#include "limb/control/joint/joint_reference.hpp"

#include <numbers>

#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/crba.hpp"

namespace limb {

JointReference::JointReference(const Model<double>& model)
    : q(model.nq()), v(VectorX<double>::Zero(model.nv())), a(v) {
  neutral(model, q);
}

JointReference::JointReference(const Model<double>& model, VectorIn<double>& q_at)
    : JointReference(model) {
  check_configuration("JointReference", "q", model, q_at);
  q = q_at;
}

JointGains acceleration_gains(const Model<double>& model, double frequency, double damping_ratio) {
  check_positive("acceleration_gains", "frequency", frequency);
  check_not_negative("acceleration_gains", "damping_ratio", damping_ratio);
  const double w = 2 * std::numbers::pi * frequency;
  const int n = model.nv();
  return {VectorX<double>::Constant(n, w * w), VectorX<double>::Constant(n, 2 * damping_ratio * w)};
}

JointGains torque_gains(const Model<double>& model, VectorIn<double>& q, double frequency,
                        double damping_ratio) {
  JointGains gains = acceleration_gains(model, frequency, damping_ratio);
  Workspace<double> work(model, Loops::open);
  MatrixX<double> M(model.nv(), model.nv());
  crba(model, work, q, M);
  gains.kp = gains.kp.cwiseProduct(M.diagonal()).eval();
  gains.kd = gains.kd.cwiseProduct(M.diagonal()).eval();
  return gains;
}

void check_gains(const char* call, const Model<double>& model, const JointGains& gains) {
  const auto check = [&](const char* name, const VectorX<double>& gain) {
    check_velocity(call, name, model, gain);
    for (Eigen::Index i = 0; i < gain.size(); ++i) check_not_negative(call, name, gain[i]);
  };
  check("kp", gains.kp);
  check("kd", gains.kd);
}

}  // namespace limb
