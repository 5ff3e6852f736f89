// Reads the states that convert_dump wrote for a seed, and writes limb's kinematics of the last
// body, dynamics, momentum and manifold operations there, in Pinocchio's convention, for
// dynamics_vs_pinocchio_test.py.
//
//   convert_dump pinocchio SEED | dynamics_dump SEED
#include <iostream>
#include <nlohmann/json.hpp>

#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/derivatives/centroidal_derivatives.hpp"
#include "limb/dynamics/derivatives/frame_derivatives.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/testing/random_tree.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;
using Vector = VectorX<double>;

template <typename Derived>
Json numbers(const Eigen::MatrixBase<Derived>& m) {
  Json rows = Json::array();
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    Json row = Json::array();
    for (Eigen::Index c = 0; c < m.cols(); ++c) row.push_back(double(m(r, c)));
    rows.push_back(m.cols() == 1 ? row[0] : row);
  }
  return rows;
}

Vector vector_of(const Json& j) {
  const auto x = j.get<std::vector<double>>();
  return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

Json frame_fields(const Model<double>& model, const Convention& to, const Kinematics<double>& k,
                  BodyId body) {
  const std::pair<const char*, FrameAxes> kAxes[] = {
      {"LOCAL", FrameAxes::local},
      {"LOCAL_WORLD_ALIGNED", FrameAxes::local_world_aligned},
      {"WORLD", FrameAxes::world}};
  Matrix6X<double> J(6, model.nv()), dJ = J, dq = J, dv = J, da = J;
  Json fields;
  for (const auto& [name, in_axes] : kAxes) {
    const FrameAxes axes = in_axes;  // clang 14 cannot capture structured bindings
    frame_jacobian(model, k, body, axes, J);
    frame_jacobian_rate(model, k, body, axes, dJ);
    const auto A = [&](AccelerationKind kind) {
      return numbers(frame_acceleration(model, k, body, axes, kind).vector());
    };
    fields[name] = {{"J", numbers(to.jacobian_to(k.q, J))},
                    {"dJ", numbers(to.jacobian_to(k.q, dJ))},
                    {"V", numbers(frame_velocity(model, k, body, axes).vector())},
                    {"A", A(AccelerationKind::spatial)},
                    {"classical", A(AccelerationKind::classical)}};
    const auto derivatives = [&](AccelerationKind kind) {
      frame_acceleration_derivatives(model, k, body, axes, kind, dq, dv, da);
      return Json{{"dq", numbers(to.jacobian_to(k.q, dq))},
                  {"dv", numbers(to.jacobian_to(k.q, dv))},
                  {"da", numbers(to.jacobian_to(k.q, da))}};
    };
    fields[name]["dA"] = derivatives(AccelerationKind::spatial);
    fields[name]["dclassical"] = derivatives(AccelerationKind::classical);
    frame_velocity_derivatives(model, k, body, axes, dq, dv);
    fields[name]["dV"] = {{"dq", numbers(to.jacobian_to(k.q, dq))},
                          {"dv", numbers(to.jacobian_to(k.q, dv))}};
  }
  return fields;
}

/// Derivatives of inverse dynamics at a and of forward dynamics at tau. The matrix P of Pinocchio's
/// convention is constant, so that derivatives transform like the mass matrix.
Json derivative_fields(const Model<double>& model, const Convention& to, const Vector& q,
                       const Vector& v, const Vector& a, const Vector& tau) {
  constexpr JointEffects kNone = JointEffects::none();
  const int n = model.nv();
  DerivativeWorkspace<double> work(model);
  MatrixX<double> dq(n, n), dv(n, n), da(n, n), ddq_dq(n, n), ddq_dv(n, n), ddq_dtau(n, n);
  Vector forward(n);
  rnea_derivatives(model, work, q, v, a, dq, dv, da, kNone);
  aba_derivatives(model, work, q, v, tau, forward, ddq_dq, ddq_dv, ddq_dtau, kNone);
  const auto both = [&](const MatrixX<double>& x) { return numbers(to.mass_matrix_to(q, x)); };
  return {{"dtau_dq", both(dq)},    {"dtau_dv", both(dv)},    {"dtau_da", both(da)},
          {"ddq_dq", both(ddq_dq)}, {"ddq_dv", both(ddq_dv)}, {"ddq_dtau", both(ddq_dtau)}};
}

/// Dynamics of the rigid bodies; forward dynamics with the given torques.
Json dynamics_fields(const Model<double>& model, const Convention& to, const Vector& q,
                     const Vector& v, const Vector& a, const Vector& tau_given) {
  constexpr JointEffects kNone = JointEffects::none();
  const int n = model.nv();
  Workspace<double> work(model);
  MassFactor<double> factor(model);
  Vector tau(n), h(n), g(n), forward(n);
  MatrixX<double> M(n, n), M_inverse(n, n);
  rnea(model, work, q, v, a, tau, kNone);
  bias(model, work, q, v, h, kNone);
  gravity(model, work, q, g);
  crba(model, work, q, M, kNone);
  aba(model, work, q, v, to.tau_from(q, tau_given), forward, kNone);
  mass_inverse(model, work, q, factor, M_inverse, kNone);
  return {{"tau", numbers(to.tau_to(q, tau))},
          {"nle", numbers(to.tau_to(q, h))},
          {"g", numbers(to.tau_to(q, g))},
          {"M", numbers(to.mass_matrix_to(q, M))},
          {"Minv", numbers(to.mass_matrix_to(q, M_inverse))},
          {"aba", numbers(to.a_to(q, v, forward))},
          {"derivatives", derivative_fields(model, to, q, v, a, to.tau_from(q, tau_given))}};
}

Json fields_at(const Model<double>& model, const Convention& to, const Json& state) {
  const Vector q = to.q_from(vector_of(state["q"]));
  const Vector v = to.v_from(q, vector_of(state["v"]));
  const Vector a = to.a_from(q, v, vector_of(state["a"]));
  Kinematics<double> k(model);
  forward_kinematics(model, q, v, a, k);
  SubtreeScratch<double> scratch(model);
  const int n = model.nv();
  Matrix6X<double> A_G(6, n), dA_G(6, n);
  centroidal_matrix(model, k, scratch, A_G);
  centroidal_matrix_rate(model, k, scratch, dA_G);
  Matrix3X<double> J_com(3, n);
  center_of_mass_jacobian(model, k, scratch, J_com);
  Matrix6X<double> J_com_padded = Matrix6X<double>::Zero(6, n);
  J_com_padded.topRows(3) = J_com;

  Matrix6X<double> dh_dq(6, n), dh_dv(6, n), df_dq(6, n), df_dv(6, n), df_da(6, n);
  centroidal_momentum_derivatives(model, k, scratch, dh_dq, dh_dv);
  centroidal_momentum_rate_derivatives(model, k, scratch, df_dq, df_dv, df_da);
  Matrix3X<double> dv_dq(3, n), dv_dv(3, n);
  center_of_mass_velocity_derivatives(model, k, scratch, dv_dq, dv_dv);
  Matrix6X<double> dv_dq_padded = Matrix6X<double>::Zero(6, n);
  dv_dq_padded.topRows(3) = dv_dq;

  Vector q1(model.nq());
  integrate(model, q, v, q1);
  MatrixX<double> I_q(n, n), I_v(n, n), D_0(n, n), D_1(n, n);
  integrate_jacobians(model, v, I_q, I_v);
  difference_jacobians(model, q, q1, D_0, D_1);
  const MatrixX<double> P = to.velocity_matrix(q);
  const auto both = [&](const MatrixX<double>& J) {
    return numbers((P * J * P.transpose()).eval());
  };

  return {{"dynamics", dynamics_fields(model, to, q, v, a, vector_of(state["v"]) * 3)},
          {"frame", frame_fields(model, to, k, BodyId(model.body_count() - 1))},
          {"hg", numbers(centroidal_momentum(model, k).vector())},
          {"dhg", numbers(centroidal_momentum_rate(model, k).vector())},
          {"Ag", numbers(to.jacobian_to(q, A_G))},
          {"dAg", numbers(to.jacobian_to(q, dA_G))},
          {"hg_dq", numbers(to.jacobian_to(q, dh_dq))},
          {"dhg_dq", numbers(to.jacobian_to(q, df_dq))},
          {"dhg_dv", numbers(to.jacobian_to(q, df_dv))},
          {"dhg_da", numbers(to.jacobian_to(q, df_da))},
          {"vcom_dq", numbers(to.jacobian_to(q, dv_dq_padded).topRows(3))},
          {"com", numbers(center_of_mass(model, k))},
          {"vcom", numbers(center_of_mass_velocity(model, k))},
          {"acom", numbers(center_of_mass_acceleration(model, k))},
          {"Jcom", numbers(to.jacobian_to(q, J_com_padded).topRows(3))},
          {"kinetic_energy", kinetic_energy(model, k, JointEffects::none())},
          {"potential_energy", potential_energy(model, k)},
          {"q1", numbers(to.q_to(q1))},
          {"integrate_q", both(I_q)},
          {"integrate_v", both(I_v)},
          {"difference_q0", both(D_0)},
          {"difference_q1", both(D_1)}};
}

}  // namespace
}  // namespace limb

int main(int argc, char** argv) {
  using namespace limb;
  if (argc != 2) {
    std::cerr << "usage: dynamics_dump SEED < states\n";
    return 1;
  }
  const unsigned seed = static_cast<unsigned>(std::stoul(argv[1]));
  const auto description =
      testing::random_tree(seed, {.joints = 22, .root = JointType::free});  // as in convert_dump
  const Model<double> model = build_model(description);
  const PinocchioConvention convention(model, description);
  const Json input = Json::parse(std::cin);
  Json states = Json::array();
  for (const Json& state : input["states"]) states.push_back(fields_at(model, convention, state));
  std::cout << states << "\n";
  return 0;
}
