#include "limb/symbolic/derivation_page.hpp"

#include <fmt/format.h>

#include "limb/symbolic/page_writer.hpp"

namespace limb::symbolic {

Document write_page(const Robot& robot, const ClosedForm& form, const PageOptions& options) {
  const RingScope scope(robot.ring);
  PageWriter writer(robot, form, options);
  writer.robot_and_coordinates();
  if (!options.steps) {
    writer.result();
    return std::move(writer.document);
  }
  if (options.lagrange) writer.lagrange_steps();
  if (options.newton_euler) {
    const NewtonEulerSteps steps = newton_euler_steps(robot, form.links);
    writer.newton_euler_steps(steps);
    if (options.lagrange) writer.comparison(steps.tau);
  }
  return std::move(writer.document);
}

}  // namespace limb::symbolic
