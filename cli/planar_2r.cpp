#include "cli/planar_2r.hpp"

#include <Eigen/SVD>
#include <cmath>
#include <string>

namespace limb::cli {
namespace {

// A thin rod along x with one end at the origin; its inertia about x is zero.
Inertia<double> rod(double mass, double length) {
  const double I = mass * length * length / 12;
  return Inertia<double>::from_com(mass, {length / 2, 0, 0},
                                   tensor_from_entries<double>(0, I, I, 0, 0, 0));
}

struct Motions {
  Motion<double> V_WB1_B1, V_WB2_B2;
};

Motions link_motions(const Pose<double>& X_B1B2, const Vector2<double>& qd) {
  const Motion<double> S{Vector3<double>::Zero(), Vector3<double>::UnitZ()};  // both joints
  const Motion<double> V_WB1_B1 = S * qd[0];
  return {V_WB1_B1, X_B1B2.inv_act(V_WB1_B1) + S * qd[1]};
}

void check_result(std::string_view call, double value) {
  if (!std::isfinite(value)) {
    fail_computation(call, "the result is too large for a double (see lengths, masses, rates)");
  }
}

}  // namespace

Planar2RResult evaluate(std::string_view call, const Planar2R& arm, const Planar2RState& state) {
  check_positive(call, "length of link 1 (m)", arm.length1);
  check_positive(call, "length of link 2 (m)", arm.length2);
  check_positive(call, "mass of link 1 (kg)", arm.mass1);
  check_positive(call, "mass of link 2 (kg)", arm.mass2);
  check_finite(call, "q (rad)", state.q);
  check_finite(call, "qd (rad/s)", state.qd);
  const double reach = arm.length1 + arm.length2, mass = arm.mass1 + arm.mass2;
  check_result(call, mass * reach * reach);

  Planar2RResult result;
  const Pose<double> X_B1B2{axis_rotation(2, state.q[1]), {arm.length1, 0, 0}};
  const Pose<double> X_B2E{Matrix3<double>::Identity(), {arm.length2, 0, 0}};
  result.X_WB1 = {axis_rotation(2, state.q[0]), Vector3<double>::Zero()};
  result.X_WB2 = result.X_WB1 * X_B1B2;
  result.X_WE = result.X_WB2 * X_B2E;

  const auto [V1, V2] = link_motions(X_B1B2, state.qd);
  result.V_WB1_B1 = V1;
  result.V_WB2_B2 = V2;
  result.V_WE_E = X_B2E.inv_act(V2);
  result.V_WE_W = result.X_WE.act(result.V_WE_E);
  result.v_WE = result.X_WE.R * result.V_WE_E.v;

  result.I_B1 = rod(arm.mass1, arm.length1);
  result.I_B2 = rod(arm.mass2, arm.length2);
  result.I_W = result.I_B1.transformed(result.X_WB1) + result.I_B2.transformed(result.X_WB2);

  // T is a quadratic form in qd, so three of its values give the symmetric M.
  const auto energy = [&](const Vector2<double>& qd) {
    const auto [U1, U2] = link_motions(X_B1B2, qd);
    return kinetic_energy(result.I_B1, U1) + kinetic_energy(result.I_B2, U2);
  };
  const double T1 = energy({1, 0}), T2 = energy({0, 1}), T12 = energy({1, 1});
  result.mass_matrix << 2 * T1, T12 - T1 - T2, T12 - T1 - T2, 2 * T2;
  const Motion<double> S1_W{Vector3<double>::Zero(), Vector3<double>::UnitZ()};
  result.mass_matrix_11_composite = dot(S1_W, result.I_W * S1_W);
  result.energy_bodies = energy(state.qd);
  result.energy_mass_matrix = 0.5 * state.qd.dot(result.mass_matrix * state.qd);

  for (int i = 0; i < 2; ++i) {
    const auto [U1, U2] = link_motions(X_B1B2, Vector2<double>::Unit(i));
    result.J_v_WE.col(i) = (result.X_WE.R * X_B2E.inv_act(U2).v).head<2>();
  }
  check_result(call, result.energy_bodies);
  check_result(call, result.energy_mass_matrix);
  check_result(call, result.V_WE_W.vector().norm());
  return result;
}

Eigen::Matrix2d closed_form_mass_matrix(const Planar2R& arm, const Planar2RState& state) {
  const double l1 = arm.length1, c1 = arm.length1 / 2, c2 = arm.length2 / 2;
  const double I1 = arm.mass1 * l1 * l1 / 12, I2 = arm.mass2 * arm.length2 * arm.length2 / 12;
  const double m1 = arm.mass1, m2 = arm.mass2, cosine = std::cos(state.q[1]);
  const double M12 = I2 + m2 * (c2 * c2 + l1 * c2 * cosine), M22 = I2 + m2 * c2 * c2;
  const double M11 = I1 + I2 + m1 * c1 * c1 + m2 * (l1 * l1 + c2 * c2 + 2 * l1 * c2 * cosine);
  Eigen::Matrix2d M;
  M << M11, M12, M12, M22;
  return M;
}

Ellipse velocity_ellipse(const Planar2RResult& result) {
  const Eigen::JacobiSVD<Eigen::Matrix2d> svd(result.J_v_WE, Eigen::ComputeFullU);
  const Vector2<double> axis = svd.matrixU().col(0);
  return {svd.singularValues(), std::atan2(axis.y(), axis.x())};
}

}  // namespace limb::cli
