#include "limb/symbolic/typeset/derivation_page.hpp"

#include <fmt/format.h>

#include "limb/symbolic/typeset/line_breaks.hpp"
#include "limb/symbolic/typeset/page_writer.hpp"
#include "limb/symbolic/typeset/textbook_form.hpp"

namespace limb::symbolic {

Document write_page(const Derivation& derivation, const PageOptions& options) {
  const RingScope scope(derivation.robot.ring);
  PageWriter writer(derivation, options);
  writer.robot_and_coordinates();
  if (!options.steps) {
    writer.result();
    return std::move(writer.document);
  }
  if (!derivation.parts.all()) {
    throw Error(
        "write_page: the steps need the whole derivation, expected DeriveOptions::complete");
  }
  std::vector<RouteResult> routes;
  if (uses_lagrange(derivation.method)) routes.push_back({"Lagrange", writer.lagrange_steps()});
  if (uses_newton_euler(derivation.method)) {
    const auto steps = newton_euler_steps(derivation.robot, derivation.form.links);
    writer.newton_euler_steps(steps);
    routes.push_back({"Newton-Euler", steps.tau});
  }
  if (uses_modern_robotics(derivation.method)) {
    const auto steps = modern_robotics_steps(derivation.robot, derivation.form.links);
    writer.modern_robotics_steps(steps);
    routes.push_back({"Modern Robotics", steps.tau});
  }
  if (routes.size() > 1) writer.comparison(routes);
  return std::move(writer.document);
}

std::string to_text(const Derivation& derivation, const AnswerCheck& check) {
  const RingScope scope(derivation.robot.ring);
  const SymbolNames names(*derivation.robot.ring);
  const auto formula = [&](const Polynomial& x) {
    const std::string latex = without_breaks(to_latex(textbook_form(x), names));
    const TextBox box = to_text_box(parse_math(latex));
    return box.lines.empty() ? std::string() : box.lines[box.baseline];
  };
  if (check.equal()) return fmt::format("{}: equal\n", check.name);
  std::string text = fmt::format("{}: different\n", check.name);
  text += fmt::format("  derived          {}\n", formula(check.derived));
  text += fmt::format("  given            {}\n", formula(check.given));
  text += fmt::format("  derived - given  {}\n", formula(check.difference));
  for (const std::string& hint : check.hints) text += fmt::format("  {}\n", hint);
  return text;
}

}  // namespace limb::symbolic
