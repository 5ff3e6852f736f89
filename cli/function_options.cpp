#include "cli/function_options.hpp"

#include <fmt/format.h>

namespace limb::cli {

void CompiledOptions::add(CLI::App& app) {
  robot_.add(app);
  app.add_option("--functions", functions_, "which ones; default rnea,crba,aba")
      ->delimiter(',')
      ->type_name("A,B,...");
  app.add_option("--frames", frames_, "frames, for the functions that need them")
      ->delimiter(',')
      ->type_name("A,B,...");
  app.add_option("--form", form_, "automatic (default), straight-line, recursion or split")
      ->type_name("FORM");
  app.add_flag("--rigid", rigid_, "leave out rotors, damping and friction");
  app.add_flag("--nonzeros", nonzeros_, "matrices as their nonzeros, symmetric ones as a triangle");
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
  if (form_ == "straight-line") {
    options.form = Form::straight_line;
  } else if (form_ == "recursion") {
    options.form = Form::recursion;
  } else if (form_ == "split") {
    options.form = Form::split;
  } else if (form_ != "automatic") {
    throw Error(fmt::format(
        "limb {}: --form is '{}', expected automatic, straight-line, recursion or split", verb_,
        form_));
  }
  for (const std::string& name : frames_) options.frames.push_back(model.find_frame(name));
  if (rigid_) options.effects = JointEffects::none();
  if (nonzeros_) options.entries = Entries::nonzeros;
  return options;
}

Forms::Forms(const Compiled& compiled, const std::vector<Function>& functions)
    : table("forms", {"function", "one state", "batches", "why"}), json(nlohmann::json::array()) {
  for (const Function f : functions) {
    const FormReport form = compiled.form(f);
    std::string why = form.reason;
    if (form.straight_line_ns > 0 && form.batch_straight_line_ns > 0) {
      why +=
          fmt::format(": {:.0f} ns against {:.0f} of the recursion, batches {:.0f} against {:.0f}",
                      form.straight_line_ns, form.recursion_ns, form.batch_straight_line_ns,
                      form.batch_recursion_ns);
    }
    if (form.batch_split_ns > 0) why += fmt::format(", split {:.0f}", form.batch_split_ns);
    table.add({limb::name(f), limb::name(form.one_state), limb::name(form.batch), why});
    json.push_back({{"function", limb::name(f)},
                    {"one_state", limb::name(form.one_state)},
                    {"batch", limb::name(form.batch)},
                    {"reason", form.reason},
                    {"straight_line_ns", form.straight_line_ns},
                    {"recursion_ns", form.recursion_ns},
                    {"batch_straight_line_ns", form.batch_straight_line_ns},
                    {"batch_recursion_ns", form.batch_recursion_ns},
                    {"batch_split_ns", form.batch_split_ns}});
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
