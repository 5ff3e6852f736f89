#include "cli/derive.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "cli/choice.hpp"
#include "cli/derive_json.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_document.hpp"
#include "cli/progress.hpp"
#include "cli/robot_options.hpp"
#include "limb/base/text_file.hpp"
#include "limb/symbolic/derive/check_answer.hpp"
#include "limb/symbolic/derive/recursive_form.hpp"
#include "limb/symbolic/derive/write_function.hpp"
#include "limb/symbolic/typeset/derivation_page.hpp"

namespace limb::cli {
namespace {

/// An output format: functions that print a derivation or a recursive form. Formats that are not
/// for people have no limit of terms.
struct Format {
  std::function<std::string(const symbolic::Derivation&, const symbolic::PageOptions&)> closed;
  std::function<std::string(const symbolic::RecursiveForm&)> recursive;
  bool for_people = true;
  bool function = false;  ///< needs the whole closed form
};

/// Prints a page; `plain_names` writes coordinates as q_1, ... instead of Greek letters.
template <typename Print>
auto page(Print print, bool plain_names = false) {
  return [=](const symbolic::Derivation& derivation, symbolic::PageOptions options) {
    options.plain_names = plain_names;
    return print(write_page(derivation, options));
  };
}

const std::map<std::string, Format>& formats() {
  using symbolic::Document;
  static const std::map<std::string, Format> all = {
      {"text",
       {page([](const Document& d) { return to_text(d); }, true),
        [](const auto& r) { return to_text(r); }}},
      {"latex",
       {page([](const Document& d) { return to_latex(d); }),
        [](const auto& r) { return to_latex(r); }}},
      {"latex-fragment",
       {page([](const Document& d) { return to_latex(d, symbolic::LatexKind::fragment); }),
        nullptr}},
      {"beamer",
       {page([](const Document& d) { return to_latex(d, symbolic::LatexKind::slides); }), nullptr}},
      {"markdown", {page([](const Document& d) { return to_markdown(d); }), nullptr}},
      {"html", {page([](const Document& d) { return to_html(d); }), nullptr}},
      {"json",
       {[](const auto& d, const auto&) { return json_document(derivation_json(d)); },
        [](const auto& r) { return json_document(recursive_json(r)); }, false}},
      {"c",
       {[](const auto& d, const auto&) { return write_function(d, symbolic::Language::c); },
        [](const auto& r) { return write_function(r, symbolic::Language::c); }, false, true}},
      {"python",
       {[](const auto& d, const auto&) { return write_function(d, symbolic::Language::python); },
        [](const auto& r) { return write_function(r, symbolic::Language::python); }, false, true}},
  };
  return all;
}

class Derive final : public Verb {
 public:
  std::string_view name() const override { return "derive"; }
  std::string_view summary() const override {
    return "equations of motion in closed form, from Lagrange and Newton-Euler";
  }
  std::string_view examples() const override {
    return "  limb derive builtin:2r                            equations of a planar arm\n"
           "  limb derive builtin:2r --steps --format html -o 2r.html  the whole derivation\n"
           "  limb derive arm.urdf --symbolic-parameters        symbols m1, l1, ... for its "
           "numbers\n"
           "  limb derive builtin:rr --only M,G --format c  a C function\n"
           "  limb derive humanoid.urdf --recursive --only tau  assignments, any size\n"
           "  limb derive builtin:rr --route all --steps        three derivations, proven equal\n"
           "  limb derive builtin:rr --check 'M22 = m2 lc2^2 + I2'  is this answer right?\n";
  }
  std::string_view notes() const override {
    return "Quantities: M mass matrix, C Coriolis matrix (C qd = V), B centrifugal and Coriolis\n"
           "coefficients, christoffel, V = C qd, G gravity, K and P energies, tau; of --frames\n"
           "J, Jdot, Lambda = (J M^-1 J^T)^-1, mu and rho. Open chains and trees; planar, "
           "spherical\n"
           "and free joints have displacements and angles as coordinates; couplings included.\n"
           "--check exits with status 2 if an answer differs.\n";
  }
  void add_options(CLI::App& app) override {
    robot_.add(app);
    auto* route =
        add_choice(app, "--route", route_,
                   "lagrange, newton-euler, modern-robotics, both (the first two, default) or "
                   "all, which proves that they agree",
                   {"lagrange", "newton-euler", "modern-robotics", "both", "all"});
    auto* lagrange = app.add_flag("--lagrange", lagrange_, "the same as --route lagrange");
    auto* newton =
        app.add_flag("--newton-euler", newton_euler_, "the same as --route newton-euler");
    auto* both = app.add_flag("--both", both_, "the same as --route both");
    lagrange->excludes(newton)->excludes(both)->excludes(route);
    newton->excludes(both)->excludes(route);
    both->excludes(route);
    app.add_option("--check", answers_,
                   "compares an answer, 'M11 = ...', in plain text or LaTeX; repeatable")
        ->type_name("FORMULA");
    add_choice(app, "--letters", letters_,
               "of the equations: MVG (default), Mcg (M, c, g) or DCg (D, C, g)",
               {"MVG", "Mcg", "DCg"})
        ->capture_default_str();
    app.add_flag("--long-functions", page_.long_functions, "cos(theta_1 + theta_2), not c_12");
    app.add_flag("--expanded", page_.expanded, "sums of products without parentheses");
    app.add_flag("--comma-indices", page_.comma_indices, "m_{1,2}, not m_{12}");
    add_names(app, "--only", quantities_, "only these of the quantities listed above");
    add_names(app, "--frames", frames_, "frames of J, Jdot, Lambda, mu, rho");
    add_names(app, "--quantity", quantities_, "former name of --only")->group("");
    add_names(app, "--frame", frames_, "former name of --frames")->group("");
    std::vector<std::string> names;
    for (const auto& [name, format] : formats()) names.push_back(name);
    add_choice(app, "--format", format_,
               "text (default), latex, latex-fragment, beamer, markdown, html, json, c or python",
               names);
    app.add_flag("--steps", steps_, "all steps of the derivation");
    app.add_flag("--recursive", recursive_,
                 "assignments with intermediate values: any size, any joint");
    add_whole_number(app, "--max-terms", max_terms_,
                     "largest number of terms to print, default 20000", 1);
    app.add_flag("--symbolic-parameters", symbols_, "numbers of the file become symbols");
    app.add_flag("--numeric-parameters", numbers_, "parameters of a recipe become numbers")
        ->excludes("--symbolic-parameters");
    app.add_option("-o,--output", output_, "output file, default stdout")->type_name("FILE");
    app.add_flag("--json", json_, "the same as --format json");
  }

  Exit run(std::ostream& out) override {
    const Format& format = chosen_format();
    robot_.report("limb derive");
    const Interrupt interrupt;
    if (!answers_.empty()) return check_answers(out);
    const std::string text = recursive_ ? recursive(format) : closed(format);
    if (output_.empty()) {
      out << text;
    } else {
      write_text_file("limb derive", output_, text);
    }
    return Exit::ok;
  }

 private:
  const Format& chosen_format() const { return formats().at(json_ ? "json" : format_); }

  std::string closed(const Format& format) const {
    if (steps_ && !format.for_people) {
      throw Error("limb derive: --steps needs the format text, latex, markdown or html");
    }
    try {
      const symbolic::Derivation derivation =
          derive(symbolic::load_robot(robot_.path(), robot_options()), options(format));
      constexpr const char* kWriting = "while writing the closed form";
      Interrupt::check("limb derive", kWriting);
      const std::size_t terms = term_count(derivation);
      if (format.for_people && terms > max_terms_) {
        fail_computation("limb derive",
                         fmt::format("the closed forms have {} terms, more than the limit of {} "
                                     "(--max-terms)",
                                     terms, max_terms_));
      }
      std::string text = format.closed(derivation, page_options());
      Interrupt::check("limb derive", kWriting);
      return text;
    } catch (const Error& error) {
      // Too large in closed form: add the size of the recursive form to the message.
      if (error.kind() != Error::Kind::computation_failed) throw;
      std::string text = error.what();
      if (text.find("limit") == text.npos) throw;
      // The limits of the library, "(Ring::Limits::terms)", are not options of the command line.
      if (const std::size_t at = text.find(" (Ring::"); at != text.npos) {
        text.erase(at, text.find(')', at) + 1 - at);
      }
      constexpr std::string_view kLibrary = "symbolic: ";
      if (text.starts_with(kLibrary)) text.replace(0, kLibrary.size(), "limb derive: ");
      throw Error(fmt::format("{}; the recursive form (--recursive) has {} assignments", text,
                              recursive_form().size()),
                  Error::Kind::computation_failed);
    }
  }

  /// Exit status 2 if an answer differs.
  Exit check_answers(std::ostream& out) const {
    if (recursive_) throw Error("limb derive: --check excludes --recursive");
    symbolic::DeriveOptions derive_options;
    derive_options.method = method();
    derive_options.complete = true;
    const symbolic::Derivation derivation =
        derive(symbolic::load_robot(robot_.path(), robot_options()), derive_options);
    bool all_equal = true;
    nlohmann::json list = nlohmann::json::array();
    std::string text;
    for (const std::string& answer : answers_) {
      const symbolic::AnswerCheck check = check_answer(derivation, answer);
      all_equal = all_equal && check.equal();
      list.push_back({{"name", check.name},
                      {"equal", check.equal()},
                      {"derived", to_text(check.derived)},
                      {"given", to_text(check.given)},
                      {"difference", to_text(check.difference)},
                      {"hints", check.hints}});
      text += to_text(derivation, check);
    }
    const bool as_json = json_ || format_ == "json";
    if (as_json) {
      text = json_document(nlohmann::json{
          {"robot", derivation.robot.model.name()}, {"equal", all_equal}, {"answers", list}});
    }
    if (output_.empty()) {
      out << text;
    } else {
      write_text_file("limb derive", output_, text);
    }
    return all_equal ? Exit::ok : Exit::computation_failed;
  }

  symbolic::DerivationMethod method() const {
    using enum symbolic::DerivationMethod;
    if (lagrange_ || route_ == "lagrange") return lagrange;
    if (newton_euler_ || route_ == "newton-euler") return newton_euler;
    if (route_ == "modern-robotics") return modern_robotics;
    return route_ == "all" ? all : both;
  }
  symbolic::PageOptions page_options() const {
    symbolic::PageOptions options = page_;
    options.steps = steps_;
    options.letters = letters_ == "Mcg"   ? symbolic::Letters::mcg
                      : letters_ == "DCg" ? symbolic::Letters::dcg
                                          : symbolic::Letters::mvg;
    return options;
  }

  symbolic::RecursiveForm recursive_form() const {
    symbolic::RecursiveOptions options;
    options.robot = robot_options();
    if (!quantities_.empty()) {
      options.M = options.V = options.G = options.tau = false;
      for (const std::string& name : quantities_) {
        switch (symbolic::quantity_from_text(name)) {
          case symbolic::Quantity::M:
            options.M = true;
            break;
          case symbolic::Quantity::V:
            options.V = true;
            break;
          case symbolic::Quantity::G:
            options.G = true;
            break;
          case symbolic::Quantity::tau:
            options.tau = true;
            break;
          default:
            throw Error(fmt::format(
                "limb derive: {} has no recursive form, expected M, V, G or tau", name));
        }
      }
    }
    return symbolic::derive_recursive(robot_.path(), options);
  }
  std::string recursive(const Format& format) const {
    if (!format.recursive || steps_) {
      throw Error(
          "limb derive: --recursive excludes --steps and needs the format text, latex, json, c or "
          "python");
    }
    return format.recursive(recursive_form());
  }

  symbolic::RobotOptions robot_options() const {
    symbolic::RobotOptions options;
    options.base = robot_.base();
    options.read = robot_.read_options();
    if (symbols_) options.parameters = symbolic::Parameters::symbols;
    if (numbers_) options.parameters = symbolic::Parameters::numbers;
    auto line = std::make_shared<Progress>(static_cast<double>(options.limits.products),
                                           "products of terms at most");
    options.progress = [line](std::size_t products) {
      line->show(static_cast<double>(products));
      Interrupt::check("limb derive", fmt::format("after {} products of terms", products));
    };
    return options;
  }

  symbolic::DeriveOptions options(const Format& format) const {
    symbolic::DeriveOptions options;
    options.method = method();
    options.frames = frames_;
    options.complete = steps_ || format.function;
    if (format.for_people) options.max_terms = max_terms_;
    if (!quantities_.empty()) {
      for (const std::string& name : quantities_) {
        options.quantities.insert(symbolic::quantity_from_text(name));
      }
    } else if (format.for_people) {
      using symbolic::Quantity;
      // D qdd + C qd + g has the Coriolis matrix in place of its split.
      const Quantity split = letters_ == "DCg" ? Quantity::C : Quantity::B;
      options.quantities = {Quantity::M, split, Quantity::G, Quantity::tau};
      if (!frames_.empty()) options.quantities.insert({Quantity::J, Quantity::Jdot});
    }
    return options;
  }

  RobotOptions robot_;
  bool lagrange_ = false, newton_euler_ = false, both_ = false;
  bool symbols_ = false, numbers_ = false, json_ = false, recursive_ = false;
  bool steps_ = false;
  std::size_t max_terms_ = 20'000;
  std::string format_ = "text", output_, route_ = "both", letters_ = "MVG";
  symbolic::PageOptions page_;
  std::vector<std::string> quantities_, frames_, answers_;
};

}  // namespace

std::unique_ptr<Verb> make_derive() {
  return std::make_unique<Derive>();
}

}  // namespace limb::cli
