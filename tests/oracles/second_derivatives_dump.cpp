// Reads the states that convert_dump wrote for a seed, and writes limb's second derivatives of
// torques and accelerations there, along the motion of the state, in Pinocchio's convention; the
// number of base parameters of the tree; and log-Cholesky parameters of its bodies. For
// second_derivatives_vs_pinocchio_test.py.
//
//   convert_dump pinocchio SEED | second_derivatives_dump SEED
#include <iostream>
#include <nlohmann/json.hpp>

#include "limb/dynamics/derivatives/second_derivatives.hpp"
#include "limb/dynamics/identify/base_parameters.hpp"
#include "limb/dynamics/identify/log_cholesky_regressor.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/testing/random_tree.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

Vector vector_of(const Json& j) {
  const auto x = j.get<std::vector<double>>();
  return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}
Json numbers(const Vector& x) {
  return std::vector<double>(x.data(), x.data() + x.size());
}

/// Second derivatives of rnea(q, v, a) and aba(q, v, tau) along (q + t v, v + t a).
Json second_derivatives(const Model<double>& model, const Convention& to,
                        SecondDerivativeWorkspace<double>& work, const Json& state) {
  constexpr JointEffects kNone = JointEffects::none();
  const Vector q = to.q_from(vector_of(state["q"]));
  const Vector v = to.v_from(q, vector_of(state["v"])), a = to.v_from(q, vector_of(state["a"]));
  const Vector tau = to.tau_from(q, 3 * vector_of(state["v"]));
  const int n = model.nv();
  const Vector zero = Vector::Zero(n);
  Matrix by_q(n, n), by_v(n, n), by_u(n, n);
  rnea_derivatives_along(model, work, q, v, a, v, a, zero, by_q, by_v, by_u, kNone);
  const Vector torque = by_q * v + by_v * a;
  aba_derivatives_along(model, work, q, v, tau, v, a, zero, by_q, by_v, by_u, kNone);
  const Vector acceleration = by_q * v + by_v * a;
  return {{"rnea", numbers(to.tau_to(q, torque))}, {"aba", numbers(to.v_to(q, acceleration))}};
}

Json log_cholesky_of(const Model<double>& model) {
  Vector theta(parameter_count(model)), p(theta.size());
  log_cholesky_parameters(model, theta);
  parameters_from_log_cholesky<double>(theta, p);
  Json bodies = Json::array();
  for (Eigen::Index at = 0; at < theta.size(); at += kBodyParameters) {
    // The unit regressor is transformed to dp/dtheta.
    Matrix J = Matrix::Identity(kBodyParameters, kBodyParameters);
    regressor_by_log_cholesky<double>(theta.segment(at, kBodyParameters), J);
    Json rows = Json::array();
    for (Eigen::Index r = 0; r < J.rows(); ++r) rows.push_back(numbers(J.row(r)));
    bodies.push_back({{"theta", numbers(theta.segment(at, kBodyParameters))},
                      {"p", numbers(p.segment(at, kBodyParameters))},
                      {"J", rows}});
  }
  return bodies;
}

}  // namespace
}  // namespace limb

int main(int argc, char** argv) {
  using namespace limb;
  if (argc != 2) {
    std::cerr << "usage: second_derivatives_dump SEED < states\n";
    return 1;
  }
  const unsigned seed = static_cast<unsigned>(std::stoul(argv[1]));
  const auto description =
      testing::random_tree(seed, {.joints = 22, .root = JointType::free});  // as in convert_dump
  const Model<double> model = build_model(description);
  const PinocchioConvention convention(model, description);
  SecondDerivativeWorkspace<double> work(model);
  Json out = {{"states", Json::array()},
              {"base_parameters", base_parameters(model).groups.size()},
              {"log_cholesky", log_cholesky_of(model)}};
  const Json input = Json::parse(std::cin);
  for (const Json& state : input["states"]) {
    out["states"].push_back(second_derivatives(model, convention, work, state));
  }
  std::cout << out << "\n";
  return 0;
}
