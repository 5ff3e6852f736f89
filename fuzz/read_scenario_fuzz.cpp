// Any bytes as a scenario: a state of the robot, or an Error.
#include <string>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/sim/scenario/scenario.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  try {
    const Scenario scenario =
        parse_scenario("fuzz", std::string(fuzz::as_text(data, size)), "fuzz.toml");
    fuzz::require(scenario.q.allFinite() && scenario.v.allFinite());
    fuzz::require(scenario.duration > 0 && scenario.simulation.step > 0);
  } catch (const Error&) {
  }
  return 0;
}
