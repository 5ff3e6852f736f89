#include "limb/symbolic/typeset/derivation_page.hpp"

#include "limb/symbolic/typeset/page_writer.hpp"

namespace limb::symbolic {

Document write_page(const Derivation& derivation, const PageOptions& options) {
  const RingScope scope(derivation.robot.ring);
  PageWriter writer(derivation, options);
  writer.robot_and_coordinates();
  if (!options.steps) {
    writer.result();
    return std::move(writer.document);
  }
  if (derivation.method != DerivationMethod::newton_euler) writer.lagrange_steps();
  if (derivation.method != DerivationMethod::lagrange) {
    writer.newton_euler_steps(newton_euler_steps(derivation.robot, derivation.form.links));
  }
  if (derivation.method == DerivationMethod::both) writer.comparison();
  return std::move(writer.document);
}

}  // namespace limb::symbolic
