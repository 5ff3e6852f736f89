#include "cli/demo_lecture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/chart.hpp"
#include "cli/interrupt.hpp"
#include "cli/report_page.hpp"
#include "cli/robot_view.hpp"
#include "cli/table.hpp"
#include "limb/base/without_call.hpp"
#include "limb/dynamics/constraints/actuated.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/robot/proof.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/core/operations.hpp"
#include "limb/sim/world/coordinate_units.hpp"
#include "limb/sim/world/sensors.hpp"
#include "limb/sim/world/simulation.hpp"
#include "limb/symbolic/derive/closed_form.hpp"
#include "limb/symbolic/derive/recursive_form.hpp"
#include "limb/symbolic/typeset/derivation_page.hpp"

namespace limb::cli {
namespace {

using Vector = VectorX<double>;
constexpr const char* kCall = "limb demo";
constexpr double kDuration = 6;  // s

/// The page with HTML appended to its body.
std::string append_to_body(std::string page, const std::string& end) {
  page.insert(page.rfind("</body>"), end);
  return page;
}

/// The equations of motion, as text and as a page.
struct Equations {
  std::string text, page;
  std::optional<bool> equal;  ///< Newton-Euler and Lagrange give the same polynomials
};

/// Closed forms that fit on a few pages and take a few seconds.
symbolic::RobotOptions small_limits(const LectureDemo& demo) {
  symbolic::RobotOptions options;
  options.read = demo.read;
  options.limits.products = 5'000'000;
  options.progress = [](std::size_t) { Interrupt::check(kCall, "during the derivation"); };
  return options;
}
constexpr std::size_t kMostTerms = 4000;

Equations closed_equations(const LectureDemo& demo, const std::string& title) {
  using symbolic::Quantity;
  const symbolic::Robot robot = symbolic::load_robot(demo.model, small_limits(demo));
  symbolic::DeriveOptions options;
  options.quantities = {Quantity::M, Quantity::B, Quantity::G, Quantity::tau};
  options.complete = true;
  options.max_terms = kMostTerms;
  const symbolic::Derivation derivation = symbolic::derive(robot, options);
  Equations made;
  made.equal = derivation.form.tau == derivation.tau_newton_euler;
  made.text = symbolic::to_text(symbolic::write_page(derivation, {.plain_names = true}));
  symbolic::PageOptions steps;
  steps.steps = true;
  symbolic::Document page = symbolic::write_page(derivation, steps);
  page.title = title;
  made.page = symbolic::to_html(page);
  return made;
}

/// Assignments; those of a large robot are counted, not printed.
Equations recursive_equations(const LectureDemo& demo, const std::string& title,
                              const std::string& why) {
  Equations made;
  std::string form;
  try {
    symbolic::RecursiveOptions options;
    options.robot.read = demo.read;
    options.M = options.V = options.G = false;
    const symbolic::RecursiveForm recursive = symbolic::derive_recursive(demo.model, options);
    made.text = fmt::format("tau in recursive form: {} assignments (limb derive --recursive).\n",
                            recursive.size());
    constexpr std::size_t kMostAssignments = 2000;
    if (recursive.size() <= kMostAssignments) form = symbolic::to_text(recursive);
  } catch (const Error& error) {  // closed loops
    made.text = fmt::format("No recursive form: {}.\n", without_call(error.what()));
  }
  made.text = fmt::format("{}\nNo closed form on a few pages: {}.\n{}", title, why, made.text);
  made.page =
      report_page(html_text(title),
                  fmt::format("<p>{}</p>\n{}", html_text(made.text),
                              form.empty() ? "" : fmt::format("<pre>{}</pre>\n", html_text(form))));
  return made;
}

struct Swing {
  LogSeries state;
  std::vector<double> kinetic, potential, total;
  double error = 0;     ///< J, largest error of the energy balance
  std::string failure;  ///< why it ended early
};

/// A configuration from which the robot moves: the neutral one, or, if gravity does not act there,
/// one with its joints moved by 0.5 rad or m.
Vector start_of(const Model<double>& model) {
  Vector q(model.nq()), g(model.nv());
  neutral(model, q);
  Workspace<double> work(model, Loops::open);
  gravity(model, work, q, g);
  if (g.lpNorm<Eigen::Infinity>() > 1e-6) return q;
  Vector moved(model.nq());
  integrate(model, q, Vector(Vector::Constant(model.nv(), 0.5)), moved);
  return moved;
}

/// A base without motors, with joints that have them. With gravity it would fall out of the
/// picture.
bool floats(const Model<double>& model) {
  if (model.nv() == 0 || is_actuated(model, 0)) return false;
  for (int i = 1; i < model.nv(); ++i) {
    if (is_actuated(model, i)) return true;
  }
  return false;
}

/// Velocities at the start: rest, or joints of a floating robot that move.
Vector start_velocity(const Model<double>& model) {
  Vector v = Vector::Zero(model.nv());
  for (int i = 0; i < model.nv() && floats(model); ++i) v[i] = is_actuated(model, i) ? 1 : 0;
  return v;
}

/// Free motion without friction and stops.
Swing simulate_swing(const Model<double>& model) {
  WorldOptions options;
  options.friction = WorldOptions::Friction::none;
  options.stops = WorldOptions::Stops::none;
  World world(model, options);
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 1e-3});
  simulation.set_progress([](double) { Interrupt::check(kCall, "during the simulation"); });
  Swing s;
  s.state.topic = "state";
  for (const std::string& name : position_names(model)) s.state.fields.push_back("q." + name);
  s.state.values.resize(s.state.fields.size());
  simulation.set_state(0, start_of(model), start_velocity(model));
  try {
    for (int i = 0; i <= 1200; ++i) {
      simulation.run_until(kDuration / 1200 * i);
      const RobotState<double>& now = simulation.state();
      const World::Energy e = world.energy(now);
      s.state.t.push_back(now.t);
      s.kinetic.push_back(e.kinetic);
      s.potential.push_back(e.potential);
      s.total.push_back(e.total());
      s.error = std::max(s.error, std::abs(world.balance(now).closure));
      for (std::size_t k = 0; k < s.state.values.size(); ++k) {
        s.state.values[k].push_back(now.q[static_cast<Eigen::Index>(k)]);
      }
    }
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::computation_failed || s.state.t.empty()) throw;
    s.failure = without_call(error.what());
  }
  return s;
}

/// Coordinates by unit; components of quaternions are left to the animation.
std::string draw(const Swing& s, const Model<double>& model, const std::string& title) {
  Figure figure;
  const auto units = position_units(model);
  for (const auto& [unit, name] : {std::pair{"rad", "Angles"}, {"m", "Displacements"}}) {
    Chart chart{name, unit, {}};
    for (std::size_t k = 0; k < units.size(); ++k) {
      if (units[k] != unit) continue;
      chart.lines.push_back({s.state.fields[k].substr(2), &s.state.t, &s.state.values[k]});
    }
    if (!chart.lines.empty()) figure.add(std::move(chart));
  }
  figure.add({"Energy",
              "J",
              {{"kinetic", &s.state.t, &s.kinetic},
               {"potential", &s.state.t, &s.potential},
               {"total", &s.state.t, &s.total}}});
  return figure.svg(title, "Coordinates and energies over time");
}

}  // namespace

DemoResult demo_lecture(const LectureDemo& demo) {
  const Interrupt interrupt;
  const Description<double> description = load_description(demo.model, demo.read);
  const Model<double> model = build_model(description, Base::described);
  const std::string title = fmt::format("{}: derived, proven, simulated", model.name());

  // Derive.
  Equations equations;
  try {
    equations = closed_equations(demo, title);
  } catch (const Error& error) {
    Interrupt::check(kCall, "during the derivation");
    std::string why = without_call(error.what());
    // The limits of the library are not options of the command line.
    for (const char* option : {" (Ring::", " (--max-terms"}) why = why.substr(0, why.find(option));
    equations = recursive_equations(demo, title, why);
  }

  // Prove.
  std::vector<ProofRow> rows = prove(model);
  if (equations.equal) {
    rows.push_back({"Newton-Euler = Lagrange as polynomials, for every state",
                    *equations.equal ? 0.0 : 1.0, 0});
  }
  std::size_t holding = 0;
  double worst = 0;
  std::string proof =
      "<table cellpadding=\"4\"><tr><th>statement</th><th>largest difference</th><th></th></tr>\n";
  for (const ProofRow& row : rows) {
    holding += row.holds() ? 1 : 0;
    if (!(row.worst <= worst)) worst = row.worst;  // NaN stays
    proof += fmt::format("<tr><td>{}</td><td>{:.1e}</td><td>{}</td></tr>\n", row.statement,
                         row.worst, row.holds() ? "holds" : "FAILS");
  }
  proof += "</table>\n";

  // Simulate.
  const Swing s =
      simulate_swing(floats(model) ? build_model(with_gravity(description, Vector3<double>::Zero()),
                                                 Base::described)
                                   : model);
  DemoResult result;
  result.picture = draw(s, model, fmt::format("{} moves freely", model.name()));
  result.text = equations.text;
  result.text += fmt::format(
      "\nProven: {} of {} statements hold on random states, largest difference {:.1e}{}.\n",
      holding, rows.size(), worst,
      !equations.equal ? ""
                       : fmt::format("; Newton-Euler and\nLagrange give {} polynomials",
                                     *equations.equal ? "the same" : "DIFFERENT"));
  result.text += fmt::format(
      "Simulated: {:g} s of free motion {}, energy drift {:.1e} J{}.\n", s.state.t.back(),
      floats(model) ? "without gravity, joints at 1 rad/s" : "from rest", s.error,
      s.failure.empty() ? "" : fmt::format("; it ended because {}", s.failure));
  result.numbers = {{"robot", model.name()},
                    {"statements", rows.size()},
                    {"proven", holding},
                    {"closed_form", equations.equal.has_value()},
                    {"equal_polynomials", equations.equal.value_or(false)},
                    {"duration", s.state.t.back()},
                    {"energy_drift", s.error}};
  result.ok = holding == rows.size() && equations.equal.value_or(true) && s.failure.empty();
  result.page = append_to_body(
      equations.page, "<style>svg { max-width: 100%; height: auto }</style>\n<h2>Proven</h2>\n" +
                          proof + "<h2>Simulated</h2>\n" +
                          RobotView(kCall, {model, {}, {}}, s.state, 400).animation() +
                          result.picture);
  return result;
}

}  // namespace limb::cli
