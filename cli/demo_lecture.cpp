#include "cli/demo_lecture.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/chart.hpp"
#include "cli/robot_view.hpp"
#include "cli/table.hpp"
#include "limb/dynamics/robot/proof.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/world/simulation.hpp"
#include "limb/symbolic/derive/closed_form.hpp"
#include "limb/symbolic/typeset/derivation_page.hpp"

namespace limb::cli {
namespace {

using Vector = VectorX<double>;
constexpr const char* kRobot = "builtin:rr";

/// The page with HTML appended to its body.
std::string append_to_body(std::string page, const std::string& end) {
  page.insert(page.rfind("</body>"), end);
  return page;
}

struct Swing {
  LogSeries state;
  std::vector<double> t, q1, q2, kinetic, potential, total;
  double drift = 0;  ///< J, largest change of the total energy
};

/// Free motion from rest with both links horizontal.
Swing simulate_swing(const Model<double>& model) {
  World world(model);
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 1e-3});
  Swing s;
  s.state.topic = "state";
  s.state.fields = {"q.1", "q.2"};
  s.state.values.resize(2);
  simulation.set_state(0, Vector::Zero(2), Vector::Zero(2));
  for (int i = 0; i <= 1200; ++i) {
    simulation.run_until(5e-3 * i);
    const RobotState<double>& now = simulation.state();
    const World::Energy e = world.energy(now);
    s.t.push_back(now.t);
    s.q1.push_back(now.q[0]);
    s.q2.push_back(now.q[1]);
    s.kinetic.push_back(e.kinetic);
    s.potential.push_back(e.potential);
    s.total.push_back(e.total());
    s.drift = std::max(s.drift, std::abs(e.total() - s.total.front()));
    s.state.t.push_back(now.t);
    for (int k = 0; k < 2; ++k) s.state.values[static_cast<std::size_t>(k)].push_back(now.q[k]);
  }
  return s;
}

}  // namespace

DemoResult demo_lecture() {
  using symbolic::Quantity;
  // Derive.
  symbolic::DeriveOptions options;
  options.quantities = {Quantity::M, Quantity::B, Quantity::G, Quantity::tau};
  const symbolic::Robot robot = symbolic::load_robot(kRobot, {});
  const symbolic::Derivation derivation = symbolic::derive(robot, options);
  const symbolic::Document short_page = symbolic::write_page(derivation);
  const bool equal = symbolic::derive_lagrange(robot).tau == symbolic::derive_newton_euler(robot);

  // Prove.
  const Model<double> model = load_model(kRobot);
  std::vector<ProofRow> rows = prove(model);
  rows.push_back({"Newton-Euler = Lagrange as polynomials, for every state", equal ? 0.0 : 1.0, 0});
  std::size_t holding = 0;
  double worst = 0;
  std::string proof =
      "<table cellpadding=\"4\"><tr><th>statement</th><th>largest difference</th><th></th></tr>\n";
  for (const ProofRow& row : rows) {
    holding += row.holds() ? 1 : 0;
    worst = std::max(worst, row.worst);
    proof += fmt::format("<tr><td>{}</td><td>{:.1e}</td><td>{}</td></tr>\n", row.statement,
                         row.worst, row.holds() ? "holds" : "FAILS");
  }
  proof += "</table>\n";

  // Simulate.
  const Swing s = simulate_swing(model);
  Figure figure;
  figure.add({"Angles", "rad", {{"q1", &s.t, &s.q1}, {"q2", &s.t, &s.q2}}});
  figure.add({"Energy",
              "J",
              {{"kinetic", &s.t, &s.kinetic},
               {"potential", &s.t, &s.potential},
               {"total", &s.t, &s.total}}});

  DemoResult result;
  result.picture = figure.svg("The RR arm swings", "Angles and energies over six seconds");
  result.text =
      symbolic::to_text(short_page) +
      fmt::format(
          "\nProven: {} of {} statements hold on random states, largest difference {:.1e}; "
          "Newton-Euler and\nLagrange give {} polynomials.\n"
          "Simulated: 6 s from both links horizontal, energy drift {:.1e} J.\n",
          holding, rows.size(), worst, equal ? "the same" : "DIFFERENT", s.drift);
  result.numbers = {{"statements", rows.size()},
                    {"proven", holding},
                    {"equal_polynomials", equal},
                    {"energy_drift", s.drift}};
  symbolic::PageOptions steps;
  steps.steps = true;
  symbolic::Document page = symbolic::write_page(derivation, steps);
  page.title = "The RR arm: derived, proven, simulated";
  result.page = append_to_body(
      symbolic::to_html(page),
      "<h2>Proven</h2>\n" + proof + "<h2>Simulated</h2>\n" +
          RobotView("limb demo", {model, {}, {}}, s.state, 400).animation() + result.picture);
  return result;
}

}  // namespace limb::cli
