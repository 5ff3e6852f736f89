#include "limb/symbolic/derivation_page.hpp"

#include "limb/symbolic/page_writer.hpp"

namespace limb::symbolic {

Document write_page(const Derivation& derivation, const PageOptions& options) {
  const RingScope scope(derivation.robot.ring);
  PageWriter writer(derivation, options);
  writer.robot_and_coordinates();
  if (!options.steps) {
    writer.result();
    return std::move(writer.document);
  }
  if (derivation.way != Way::newton_euler) writer.lagrange_steps();
  if (derivation.way != Way::lagrange) {
    writer.newton_euler_steps(newton_euler_steps(derivation.robot, derivation.form.links));
  }
  if (derivation.way == Way::both) writer.comparison();
  return std::move(writer.document);
}

}  // namespace limb::symbolic
