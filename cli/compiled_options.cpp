#include "cli/compiled_options.hpp"

#include <fmt/format.h>

#include "cli/choice.hpp"
#include "cli/verb.hpp"

namespace limb::cli {

void CompiledOptions::add(CLI::App& app) {
  robot_.add(app);
  add_names(app, "--functions", functions_, "functions to compile, default rnea,crba,aba");
  add_names(app, "--frames", frames_, "frames of the functions that need them");
  add_choice(app, "--strategy", strategy_, "automatic (default), straight_line, recursion or split",
             {"automatic", "straight_line", "recursion", "split"});
  app.add_flag("--rigid", rigid_, "leave out armature, damping and friction");
  app.add_flag("--nonzeros", nonzeros_,
               "only nonzeros of matrices, one triangle of symmetric ones");
}

Model<double> CompiledOptions::model() const {
  robot_.report("limb " + verb_);
  return load_model(robot_.path(), robot_.base(), robot_.read_options());
}

std::vector<DynamicsFunction> CompiledOptions::functions() const {
  std::vector<DynamicsFunction> functions;
  for (const std::string& name : functions_) functions.push_back(dynamics_function_named(name));
  if (functions.empty())
    throw Error("limb " + verb_ + ": --functions is empty, expected at least one name");
  return functions;
}

CompileOptions CompiledOptions::options(const Model<double>& model) const {
  CompileOptions options;
  if (strategy_ == "straight_line") {
    options.strategy = Strategy::straight_line;
  } else if (strategy_ == "recursion") {
    options.strategy = Strategy::recursion;
  } else if (strategy_ == "split") {
    options.strategy = Strategy::split;
  }
  for (const std::string& name : frames_) options.frames.push_back(model.find_frame(name));
  if (rigid_) options.effects = JointEffects::none();
  if (nonzeros_) options.entries = MatrixEntries::nonzeros;
  return options;
}

StrategyTable::StrategyTable(const Compiled& compiled,
                             const std::vector<DynamicsFunction>& functions)
    : table("execution strategies", {"function", "one state", "batches", "reason"}),
      json(nlohmann::json::array()) {
  for (const DynamicsFunction f : functions) {
    const StrategyReport report = compiled.strategy(f);
    std::string reason = report.reason;
    if (report.straight_line_ns > 0 && report.batch_straight_line_ns > 0) {
      reason +=
          fmt::format(": {:.0f} ns, recursion {:.0f} ns; batches: {:.0f} ns, recursion {:.0f} ns",
                      report.straight_line_ns, report.recursion_ns, report.batch_straight_line_ns,
                      report.batch_recursion_ns);
    }
    if (report.batch_split_ns > 0)
      reason += fmt::format(", split {:.0f} ns", report.batch_split_ns);
    table.add(
        {limb::to_text(f), limb::to_text(report.one_state), limb::to_text(report.batch), reason});
    json.push_back({{"function", limb::to_text(f)},
                    {"one_state", limb::to_text(report.one_state)},
                    {"batch", limb::to_text(report.batch)},
                    {"reason", report.reason},
                    {"straight_line_ns", report.straight_line_ns},
                    {"recursion_ns", report.recursion_ns},
                    {"batch_straight_line_ns", report.batch_straight_line_ns},
                    {"batch_recursion_ns", report.batch_recursion_ns},
                    {"batch_split_ns", report.batch_split_ns}});
  }
}

void fill_argument(const Model<double>& model, const std::string& name, std::mt19937_64& engine,
                   std::span<double> entries) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (double& x : entries) x = uniform(engine);
  if (name != "q") return;
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const auto& row = model.coupling().rows()[i - 1];
    if (row.yq < 0) continue;
    double start[7], step[6];
    const Joint<double>& joint = model.bodies()[i].joint;
    joint.neutral(start);
    for (double& x : step) x = uniform(engine);
    joint.integrate(start, step, entries.data() + row.yq);
  }
}

}  // namespace limb::cli
