// Whole-body quadratic programs with their solutions as JSON, for qp_vs_scipy_test.py.
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "limb/control/testing/legged_robots.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"

namespace {

using nlohmann::json;

template <typename Matrix>
json rows(const Matrix& M) {
  json out = json::array();
  for (Eigen::Index i = 0; i < M.rows(); ++i) {
    json row = json::array();
    for (Eigen::Index j = 0; j < M.cols(); ++j) row.push_back(M(i, j));
    out.push_back(row);
  }
  return out;
}
/// Infinite bounds become null, because JSON has no infinity.
json column(const limb::VectorX<double>& x) {
  json out = json::array();
  for (const double value : x) out.push_back(std::isfinite(value) ? json(value) : json());
  return out;
}

}  // namespace

int main() {
  using namespace limb;
  json out = {{"available", Qp::available()}, {"programs", json::array()}};
  if (Qp::available()) {
    std::mt19937_64 engine(4);
    std::uniform_real_distribution<double> unit(-1, 1);
    const testing::LeggedRobot robot = testing::quadruped();
    const int n = robot.model.nv();
    WholeBody body(robot.model, robot.feet);
    for (int trial = 0; trial < 6; ++trial) {
      VectorX<double> q = robot.q, dq(n), v(n);
      for (double& x : dq) x = 0.1 * unit(engine);
      for (double& x : v) x = 0.2 * unit(engine);
      integrate(robot.model, robot.q, dq, q);
      WholeBodyTargets wanted = body.targets();
      for (double& x : wanted.mass_center) x = 8 * unit(engine);  // beyond friction, sometimes
      for (double& x : wanted.turn) x = 5 * unit(engine);
      if (trial % 2 == 1) wanted.feet[2].stands = false;
      body.update(q, v);
      body.solve(wanted);
      Qp& qp = body.program();
      out["programs"].push_back({{"status", std::string(to_text(body.report().status))},
                                 {"H", rows(qp.H())},
                                 {"g", column(qp.g())},
                                 {"A", rows(qp.A())},
                                 {"b", column(qp.b())},
                                 {"C", rows(qp.C())},
                                 {"lower", column(qp.lower())},
                                 {"upper", column(qp.upper())},
                                 {"x", column(qp.x())}});
    }
  }
  std::cout << out << "\n";
}
