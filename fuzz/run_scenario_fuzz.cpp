// Any bytes as a scenario: read it, and run it for three steps.
#include <algorithm>
#include <string>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/sim/scenario/scenario_run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  try {
    Scenario scenario = parse_scenario("fuzz", std::string(fuzz::as_text(data, size)), "fuzz.toml");
    // Three steps, or as many as the adaptive method needs.
    scenario.duration = std::min(scenario.duration, 3 * std::min(scenario.simulation.step, 1e-3));
    run_scenario(scenario, nullptr);
  } catch (const Error&) {
  }
  return 0;
}
