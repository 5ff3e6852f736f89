#include "cli/derive.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "cli/derive_json.hpp"
#include "cli/robot_options.hpp"
#include "limb/base/text_file.hpp"
#include "limb/symbolic/document.hpp"
#include "limb/symbolic/write_function.hpp"

namespace limb::cli {
namespace {

/// From a finished derivation to text; one entry a format.
using Format = std::function<std::string(const symbolic::Derivation&)>;

const std::map<std::string, Format>& formats() {
  static const std::map<std::string, Format> all = {
      {"text", [](const auto& d) { return to_text(write_document(d)); }},
      {"json", [](const auto& d) { return derivation_json(d).dump(2) + "\n"; }},
      {"c", [](const auto& d) { return write_function(d, symbolic::Language::c); }},
      {"python", [](const auto& d) { return write_function(d, symbolic::Language::python); }},
  };
  return all;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    parts.push_back(list.substr(start, comma - start));
    start = comma + 1;
  }
  return parts;
}

class Derive final : public Verb {
 public:
  std::string_view name() const override { return "derive"; }
  std::string_view summary() const override {
    return "the equations of motion as closed forms, derived two ways";
  }
  std::string_view examples() const override {
    return "  limb derive builtin:2r                            equations of a planar arm\n"
           "  limb derive arm.urdf --symbolic-parameters        names m1, l1, ... for its numbers\n"
           "  limb derive builtin:rr --quantity M,G --format c  a function of C\n";
  }
  std::string_view notes() const override {
    return "Quantities: M mass matrix, C Coriolis matrix (C qd = V), B centrifugal and Coriolis\n"
           "coefficients, christoffel, V = C qd, G gravity, K and P energies, tau; of each "
           "--frame\n"
           "J, Jdot and Lambda = (J M^-1 J^T)^-1. Open chains and trees of revolute, prismatic,\n"
           "helical, cylindrical, universal and translation joints; couplings included.\n";
  }
  void add_options(CLI::App& app) override {
    robot_.add(app);
    auto* lagrange = app.add_flag("--lagrange", lagrange_, "from the energies alone");
    auto* newton = app.add_flag("--newton-euler", newton_euler_, "by the recursion alone");
    auto* both = app.add_flag("--both", both_, "both, and that they agree (default)");
    lagrange->excludes(newton)->excludes(both);
    newton->excludes(both);
    app.add_option("--quantity", quantities_, "M,C,B,christoffel,V,G,K,P,tau,J,Jdot,Lambda")
        ->type_name("A,B,...");
    app.add_option("--frame", frames_, "frame for J, Jdot, Lambda; may be repeated")
        ->type_name("NAME");
    app.add_option("--format", format_, "text, json, c, python; default text")->type_name("NAME");
    app.add_flag("--symbolic-parameters", symbols_, "numbers of the file become symbols");
    app.add_flag("--numeric-parameters", numbers_, "parameters of a recipe become numbers")
        ->excludes("--symbolic-parameters");
    app.add_option("-o,--output", output_, "where to write; default: stdout")->type_name("FILE");
    app.add_flag("--json", json_, "the same as --format json");
  }

  Exit run(std::ostream& out) override {
    const Format& format = chosen_format();
    const symbolic::Derivation derivation = derive(load(), options());
    const std::string text = format(derivation);
    if (output_.empty()) {
      out << text;
    } else {
      write_text_file("limb derive", output_, text);
    }
    return Exit::ok;
  }

 private:
  const Format& chosen_format() const {
    const std::string name = json_ ? "json" : format_;
    const auto found = formats().find(name);
    if (found != formats().end()) return found->second;
    std::string known;
    for (const auto& [key, value] : formats()) known += (known.empty() ? "" : ", ") + key;
    throw Error(fmt::format("limb derive: --format is '{}', expected one of: {}", name, known));
  }

  symbolic::Robot load() const {
    symbolic::RobotOptions options;
    options.base = robot_.base();
    options.read = robot_.read_options();
    if (symbols_) options.parameters = symbolic::Parameters::symbols;
    if (numbers_) options.parameters = symbolic::Parameters::numbers;
    return symbolic::load_robot(robot_.path(), options);
  }

  symbolic::DeriveOptions options() const {
    symbolic::DeriveOptions options;
    if (lagrange_) options.way = symbolic::Way::lagrange;
    if (newton_euler_) options.way = symbolic::Way::newton_euler;
    options.frames = frames_;
    if (!quantities_.empty()) {
      for (const std::string& name : split(quantities_)) {
        options.quantities.insert(symbolic::quantity_from_text(name));
      }
    }
    return options;
  }

  RobotOptions robot_;
  bool lagrange_ = false, newton_euler_ = false, both_ = false;
  bool symbols_ = false, numbers_ = false, json_ = false;
  std::string quantities_, format_ = "text", output_;
  std::vector<std::string> frames_;
};

}  // namespace

std::unique_ptr<Verb> make_derive() {
  return std::make_unique<Derive>();
}

}  // namespace limb::cli
