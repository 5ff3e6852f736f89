// Any bytes as rows of a batch, CSV and TOML: a scenario per row, or an Error.
#include <algorithm>
#include <string>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/sim/scenario/scenario_variation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  static const Scenario scenario = parse_scenario("fuzz",
                                                  "model = \"builtin:2r\"\n[initial]\nq = {joint1 "
                                                  "= 0.2}\n[controller]\ntype = \"pd\"\nkd = [2, "
                                                  "1]\n[[push]]\nframe = \"tool\"\nbegin = 0.1\n",
                                                  "fuzz.toml");
  const std::string text(fuzz::as_text(data, size));
  for (const char* name : {"rows.csv", "rows.toml"}) {
    try {
      const ScenarioVariation rows = parse_variation("fuzz", text, name);
      fuzz::require(!rows.rows.empty());
      const std::size_t most = std::min<std::size_t>(rows.rows.size(), 4);
      for (std::size_t i = 0; i < most; ++i) {
        const Scenario varied = varied_scenario("fuzz", scenario, rows, i);
        fuzz::require(varied.q.allFinite() && varied.v.allFinite());
        fuzz::require(varied.duration > 0 && varied.simulation.step > 0);
      }
    } catch (const Error&) {
    }
  }
  return 0;
}
