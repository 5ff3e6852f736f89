#include <array>

#include "cli/bench.hpp"
#include "cli/check.hpp"
#include "cli/compile.hpp"
#include "cli/demo.hpp"
#include "cli/derive.hpp"
#include "cli/estimate.hpp"
#include "cli/eval.hpp"
#include "cli/info.hpp"
#include "cli/plot.hpp"
#include "cli/prove.hpp"
#include "cli/simulate.hpp"
#include "cli/verb.hpp"

int main(int argc, char** argv) {
  const std::array verbs = {
      limb::cli::make_info(),     limb::cli::make_check(),    limb::cli::make_eval(),
      limb::cli::make_prove(),    limb::cli::make_derive(),   limb::cli::make_compile(),
      limb::cli::make_bench(),    limb::cli::make_simulate(), limb::cli::make_plot(),
      limb::cli::make_estimate(), limb::cli::make_demo()};
  return limb::cli::run_command_line(verbs, argc, argv);
}
