#include "cli/bench.hpp"
#include "cli/check.hpp"
#include "cli/compile.hpp"
#include "cli/demo.hpp"
#include "cli/derive.hpp"
#include "cli/draw.hpp"
#include "cli/estimate.hpp"
#include "cli/eval.hpp"
#include "cli/info.hpp"
#include "cli/list.hpp"
#include "cli/plot.hpp"
#include "cli/prove.hpp"
#include "cli/simulate.hpp"
#include "cli/verb.hpp"

int main(int argc, char** argv) {
  using namespace limb::cli;
  VerbGroup groups[] = {
      {"Robots", {}}, {"Dynamics", {}}, {"Simulation, estimation and control", {}}};
  for (auto* make : {make_info, make_check, make_list}) groups[0].verbs.push_back(make());
  for (auto* make : {make_eval, make_prove, make_derive, make_draw, make_compile, make_bench}) {
    groups[1].verbs.push_back(make());
  }
  for (auto* make : {make_simulate, make_plot, make_estimate, make_demo}) {
    groups[2].verbs.push_back(make());
  }
  return run_command_line(groups, argc, argv);
}
