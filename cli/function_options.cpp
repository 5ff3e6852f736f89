#include "cli/function_options.hpp"

namespace limb::cli {

void CompiledOptions::add(CLI::App& app) {
  robot_.add(app);
  app.add_option("--functions", functions_, "which ones; default rnea,crba,aba")
      ->delimiter(',')
      ->type_name("A,B,...");
  app.add_option("--frames", frames_, "frames, for the functions that need them")
      ->delimiter(',')
      ->type_name("A,B,...");
  app.add_flag("--rigid", rigid_, "leave out rotors, damping and friction");
}

Model<double> CompiledOptions::model() const {
  return load_model(robot_.path(), robot_.base(), robot_.read_options());
}

std::vector<Function> CompiledOptions::functions() const {
  std::vector<Function> functions;
  for (const std::string& name : functions_) functions.push_back(function_named(name));
  if (functions.empty()) throw Error("limb " + verb_ + ": --functions names none");
  return functions;
}

CompileOptions CompiledOptions::options(const Model<double>& model) const {
  CompileOptions options;
  for (const std::string& name : frames_) options.frames.push_back(model.find_frame(name));
  if (rigid_) options.effects = JointEffects::none();
  return options;
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
