#include "limb/control/whole_body/balance.hpp"

#include "limb/base/check.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace {

void check_gains(const char* argument, const TaskGains& gains) {
  check_not_negative("Balance", argument, gains.stiffness);
  check_not_negative("Balance", argument, gains.damping);
}

}  // namespace

Balance::Balance(const Model<double>& model, std::vector<Foot> feet, const BalanceOptions& options)
    : options_(options),
      body_(model, std::move(feet), options.whole_body),
      targets_(body_.targets()) {
  check_gains("mass_center", options.mass_center);
  check_gains("turn", options.turn);
  check_gains("posture", options.posture);
}

Balance::Reference Balance::reference_at(VectorIn<double>& q) {
  body_.update(q, VectorX<double>::Zero(body_.model().nv()));
  Reference reference;
  reference.mass_center = body_.mass_center();
  reference.R_WB = body_.kinematics().X_WB[1].R;
  reference.posture = q;
  return reference;
}

const VectorX<double>& Balance::step(VectorIn<double>& q, VectorIn<double>& v,
                                     const Reference& reference) {
  check_position("Balance::step", "posture", body_.model(), reference.posture);
  body_.update(q, v);
  const auto& [com, turn, posture, whole] = options_;
  targets_.mass_center =
      reference.mass_center_acceleration +
      com.stiffness * (reference.mass_center - body_.mass_center()) +
      com.damping * (reference.mass_center_velocity - body_.mass_center_velocity());

  const Matrix3<double>& R_WB = body_.kinematics().X_WB[1].R;
  const Vector3<double> error_W = so3::log<double>(reference.R_WB * R_WB.transpose());
  const Vector3<double> w_WB = R_WB * body_.kinematics().V_WB_B[1].w;
  targets_.turn = turn.stiffness * error_W - turn.damping * w_WB;

  difference(body_.model(), q, reference.posture, targets_.posture);
  targets_.posture = posture.stiffness * targets_.posture - posture.damping * v;
  return body_.solve(targets_);
}

}  // namespace limb
