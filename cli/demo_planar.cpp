#include "cli/demo_planar.hpp"

#include <fmt/format.h>

#include <array>
#include <numbers>

#include "cli/planar_2r_picture.hpp"
#include "cli/table.hpp"
#include "limb/base/version.hpp"

namespace limb::cli {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;

std::span<const double> numbers(const Vector3<double>& v) {
  return {v.data(), 3};
}

nlohmann::json to_json(const Eigen::MatrixXd& m) {
  nlohmann::json rows = nlohmann::json::array();
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    nlohmann::json row = nlohmann::json::array();
    for (Eigen::Index j = 0; j < m.cols(); ++j) row.push_back(m(i, j));
    if (m.cols() == 1)
      rows.push_back(row[0]);
    else
      rows.push_back(row);
  }
  return rows;
}

nlohmann::json to_json(const Pose<double>& X) {
  return {{"R", to_json(X.R)}, {"p", to_json(X.p)}};
}

nlohmann::json to_json(const Inertia<double>& I) {
  return {{"mass", I.mass()}, {"com", to_json(I.com())}, {"tensor", to_json(I.tensor())}};
}

std::string frame_table(const Planar2RResult& r) {
  Table table("Frames, position and axes in the world W",
              {"", "x (m)", "y (m)", "x axis", "y axis"});
  const auto add = [&](const std::string& name, const Pose<double>& X) {
    const Vector3<double> axis = X.R.col(0);
    std::vector<std::string> row = {name};
    for (const auto& cell : to_cells({X.p.data(), 2})) row.push_back(cell);
    const auto pair = [](double x, double y) {
      const std::array values = {x, y};
      const auto cells = to_cells(values);
      return fmt::format("({}, {})", cells[0], cells[1]);
    };
    row.push_back(pair(axis.x(), axis.y()));
    row.push_back(pair(X.R(0, 1), X.R(1, 1)));
    table.add(row);
  };
  add("X_WB1  joint 1", r.X_WB1);
  add("X_WB2  joint 2", r.X_WB2);
  add("X_WE   tip", r.X_WE);
  return table.text();
}

std::string velocity_table(const Planar2RResult& r) {
  Table table("Velocity of the tip", {"", "x", "y", "z", ""});
  const auto add = [&](const std::string& name, const Vector3<double>& v, const char* unit) {
    std::vector<std::string> row = to_cells(numbers(v));
    row.insert(row.begin(), name);
    row.push_back(unit);
    table.add(row);
  };
  add("V_WE_E  linear, at the tip, tip axes", r.V_WE_E.v, "m/s");
  add("        angular", r.V_WE_E.w, "rad/s");
  add("V_WE_W  linear, at the origin of W, world axes", r.V_WE_W.v, "m/s");
  add("        angular", r.V_WE_W.w, "rad/s");
  add("v_WE    velocity of the tip point, world axes", r.v_WE, "m/s");
  // The spatial velocity belongs to the point at the origin of W; move it to the tip to check.
  const Vector3<double> moved = r.V_WE_W.v + r.V_WE_W.w.cross(r.X_WE.p);
  return table.text() +
         fmt::format("  check: V_WE_W.v + w x p_WE differs from v_WE by {:.1e} m/s\n",
                     (moved - r.v_WE).norm());
}

std::string inertia_table(const Planar2RResult& r) {
  Table table("Spatial inertia (kg, m, kg m2; tensor about the frame origin, Ixy = -int xy dm)",
              {"", "mass", "com x", "com y", "Ixx", "Iyy", "Izz", "Ixy"});
  const auto add = [&](const std::string& name, const Inertia<double>& I) {
    const Matrix3<double>& t = I.tensor();
    std::vector<std::string> row = {name, to_cell(I.mass())};
    for (const auto& cell : to_cells({I.com().eval().data(), 2})) row.push_back(cell);
    const std::array entries = {t(0, 0), t(1, 1), t(2, 2), t(0, 1)};
    for (const auto& cell : to_cells(entries)) row.push_back(cell);
    table.add(row);
  };
  add("I_B1  link 1, link axes", r.I_B1);
  add("I_B2  link 2, link axes", r.I_B2);
  add("I_W   both, world axes", r.I_W);
  return table.text();
}

std::string energy_tables(const Planar2RResult& r, const Eigen::Matrix2d& closed) {
  const Eigen::Matrix2d& M = r.mass_matrix;
  Table matrix("Mass matrix (kg m2)", {"", "M11", "M12", "M22"});
  matrix.add("from kinetic energies", std::array{M(0, 0), M(0, 1), M(1, 1)});
  matrix.add("closed form", std::array{closed(0, 0), closed(0, 1), closed(1, 1)});
  matrix.add("composite inertia, S^T I_W S", std::array{r.mass_matrix_11_composite});
  Table energy("Kinetic energy (J)", {"", "T"});
  energy.add("sum over the links", std::array{r.energy_bodies});
  energy.add("qd^T M qd / 2", std::array{r.energy_mass_matrix});
  return matrix.text() +
         fmt::format("  largest difference {:.1e}\n\n", (M - closed).cwiseAbs().maxCoeff()) +
         energy.text() +
         fmt::format("  difference {:.1e}\n", std::abs(r.energy_bodies - r.energy_mass_matrix));
}

std::string tables(const PlanarDemo& demo, const Planar2RResult& result,
                   const Eigen::Matrix2d& closed) {
  return fmt::format(
      "Planar 2R arm: links {:g} m, {:g} kg and {:g} m, {:g} kg, uniform rods\n"
      "State: q = ({:g}, {:g}) deg, qd = ({:g}, {:g}) rad/s\n\n{}\n{}\n{}\n{}",
      demo.arm.length1, demo.arm.mass1, demo.arm.length2, demo.arm.mass2, demo.q1_deg, demo.q2_deg,
      demo.qd[0], demo.qd[1], frame_table(result), velocity_table(result), inertia_table(result),
      energy_tables(result, closed));
}

nlohmann::ordered_json report(const Planar2R& arm, const Planar2RState& state,
                              const Planar2RResult& r, const Eigen::Matrix2d& closed) {
  const Ellipse ellipse = velocity_ellipse(r);
  return {
      {"limb", kVersion},
      {"units", "SI, rad; spatial vectors linear before angular"},
      {"arm", {{"length", {arm.length1, arm.length2}}, {"mass", {arm.mass1, arm.mass2}}}},
      {"state", {{"q", to_json(state.q)}, {"qd", to_json(state.qd)}}},
      {"frames",
       {{"X_WB1", to_json(r.X_WB1)}, {"X_WB2", to_json(r.X_WB2)}, {"X_WE", to_json(r.X_WE)}}},
      {"tip",
       {{"V_WE_E", to_json(r.V_WE_E.vector())},
        {"V_WE_W", to_json(r.V_WE_W.vector())},
        {"v_WE", to_json(r.v_WE)},
        {"J_v_WE", to_json(r.J_v_WE)},
        {"velocity_ellipse",
         {{"half_axes", to_json(ellipse.half_axes)}, {"angle", ellipse.angle}}}}},
      {"inertia", {{"I_B1", to_json(r.I_B1)}, {"I_B2", to_json(r.I_B2)}, {"I_W", to_json(r.I_W)}}},
      {"mass_matrix",
       {{"kinetic_energies", to_json(r.mass_matrix)},
        {"closed_form", to_json(closed)},
        {"composite_11", r.mass_matrix_11_composite}}},
      {"kinetic_energy", {{"bodies", r.energy_bodies}, {"mass_matrix", r.energy_mass_matrix}}}};
}

}  // namespace

DemoResult demo_planar(const PlanarDemo& demo) {
  const Planar2RState state{kRadPerDeg * Vector2<double>(demo.q1_deg, demo.q2_deg), demo.qd};
  const Planar2RResult result = evaluate("limb demo", demo.arm, state);
  const Eigen::Matrix2d closed = closed_form_mass_matrix(demo.arm, state);
  DemoResult made;
  made.text = tables(demo, result, closed);
  made.numbers = report(demo.arm, state, result, closed);
  made.picture = draw_planar_2r(demo.arm, state, result);
  return made;
}

}  // namespace limb::cli
