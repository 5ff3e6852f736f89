#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "limb/dynamics/constraints/jacobian_rows.hpp"
#include "limb/symbolic/derive/check_answer.hpp"
#include "limb/symbolic/derive/recursive_form.hpp"
#include "limb/symbolic/derive/write_function.hpp"
#include "limb/symbolic/typeset/derivation_page.hpp"
#include "limb/symbolic/typeset/formula_latex.hpp"
#include "limb/symbolic/typeset/textbook_form.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

using symbolic::Matrix;
using symbolic::Polynomial;

/// Entries of a matrix as text and as LaTeX, row by row.
struct Entries {
  int rows, cols;
  std::vector<std::string> text, latex;
};

std::string without_line_breaks(const std::string& latex) {
  std::string plain;
  for (const char c : latex) {
    if (!symbolic::is_break(c)) plain += c;
  }
  return plain;
}

class ClosedForms {
 public:
  ClosedForms(const std::string& path, const std::string& base, const std::string& parameters,
              const std::string& method, const std::vector<std::string>& quantities,
              const std::vector<std::string>& frames) {
    symbolic::RobotOptions robot;
    robot.base = base_named(base);
    if (parameters == "symbols") {
      robot.parameters = symbolic::Parameters::symbols;
    } else if (parameters == "numbers") {
      robot.parameters = symbolic::Parameters::numbers;
    } else if (parameters != "named") {
      fail("derive", "parameters", "'" + parameters + "'", "'named', 'numbers' or 'symbols'");
    }
    // Control-C ends a long derivation.
    robot.progress = [](std::size_t) {
      const nb::gil_scoped_acquire acquired;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };
    using enum symbolic::DerivationMethod;
    static const std::map<std::string, symbolic::DerivationMethod> kMethods = {
        {"lagrange", lagrange},
        {"newton_euler", newton_euler},
        {"modern_robotics", modern_robotics},
        {"both", both},
        {"all", all}};
    const auto found = kMethods.find(method);
    if (found == kMethods.end()) {
      fail("derive", "method", "'" + method + "'",
           "'lagrange', 'newton_euler', 'modern_robotics', 'both' or 'all'");
    }
    options_.method = found->second;
    options_.frames = frames;
    for (const std::string& name : quantities) {
      options_.quantities.insert(symbolic::quantity_from_text(name));
    }
    const nb::gil_scoped_release released;
    derivation_.emplace(symbolic::derive(symbolic::load_robot(path, robot), options_));
  }

  std::string page(const std::string& format, bool steps, const std::string& letters,
                   bool long_functions, bool expanded, bool comma_indices) {
    symbolic::PageOptions options{.steps = steps,
                                  .plain_names = format == "text",
                                  .letters = symbolic::Letters::mvg,
                                  .long_functions = long_functions,
                                  .expanded = expanded,
                                  .comma_indices = comma_indices};
    if (letters == "Mcg") {
      options.letters = symbolic::Letters::mcg;
    } else if (letters == "DCg") {
      options.letters = symbolic::Letters::dcg;
    } else if (letters != "MVG") {
      fail("derive", "letters", "'" + letters + "'", "'MVG', 'Mcg' or 'DCg'");
    }
    const nb::gil_scoped_release released;
    if (steps) complete();
    const symbolic::RingScope scope(derivation_->robot.ring);
    const symbolic::Document document = write_page(*derivation_, options);
    if (format == "text") return to_text(document);
    if (format == "latex") return to_latex(document);
    if (format == "latex-fragment") return to_latex(document, symbolic::LatexKind::fragment);
    if (format == "beamer") return to_latex(document, symbolic::LatexKind::slides);
    if (format == "markdown") return to_markdown(document);
    if (format == "html") return to_html(document);
    fail("derive", "format", "'" + format + "'",
         "'text', 'latex', 'latex-fragment', 'beamer', 'markdown' or 'html'");
  }

  using Checked = std::tuple<std::string, bool, std::string, std::string, std::string,
                             std::vector<std::string>, std::string>;
  Checked check(const std::string& answer) {
    const nb::gil_scoped_release released;
    complete();
    const symbolic::AnswerCheck result = check_answer(*derivation_, answer);
    return {result.name,
            result.equal(),
            to_text(result.derived),
            to_text(result.given),
            to_text(result.difference),
            result.hints,
            to_text(*derivation_, result)};
  }

  std::string function(const std::string& language) {
    complete();
    if (language == "c") return write_function(*derivation_, symbolic::Language::c);
    if (language == "python") return write_function(*derivation_, symbolic::Language::python);
    fail("derive", "language", "'" + language + "'", "'c' or 'python'");
  }

  Entries entries(const std::string& name) {
    const bool inertia = name == "M" || name == "K", position = name == "G" || name == "P";
    if (!position && !(inertia && derivation_->parts.inertia)) complete();
    const symbolic::ClosedForm& f = derivation_->form;
    if (name == "M") return entries_of(f.M);
    if (name == "C") return entries_of(f.C);
    if (name == "centrifugal") return entries_of(f.centrifugal);
    if (name == "coriolis") return entries_of(f.coriolis);
    if (name == "V") return entries_of(f.V);
    if (name == "G") return entries_of(f.G);
    if (name == "tau") return entries_of(f.tau);
    if (name == "K") return entries_of(Matrix::Constant(1, 1, f.K));
    if (name == "P") return entries_of(Matrix::Constant(1, 1, f.P));
    if (name == "christoffel") {
      const int n = f.gamma.size();
      Matrix all(n, n * n);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          for (int k = 0; k < n; ++k) all(i, j * n + k) = f.gamma(i, j, k);
        }
      }
      return entries_of(all);
    }
    fail("derive", "quantity", "'" + name + "'",
         "M, C, centrifugal, coriolis, christoffel, V, G, K, P or tau");
  }
  Entries frame_entries(const std::string& name, const std::string& quantity) const {
    for (std::size_t i = 0; i < derivation_->frames.size(); ++i) {
      const symbolic::FrameForm& frame = derivation_->frames[i];
      if (frame.name != name) continue;
      if (quantity == "p") return entries_of(Matrix(frame.X_WF.p));
      if (quantity == "R") return entries_of(Matrix(frame.X_WF.R));
      if (quantity == "J") return entries_of(frame.J);
      if (quantity == "Jdot") return entries_of(frame.Jdot);
      fail("derive", "quantity", "'" + quantity + "'", "p, R, J, Jdot, Lambda, mu or rho");
    }
    fail("derive", "frame", "'" + name + "'", "one of the requested frames");
  }
  /// Lambda, mu or rho of a frame, each entry a quotient of polynomials.
  Entries operational_entries(const std::string& frame, const std::string& quantity) {
    const symbolic::OperationalSpaceInertia& task = operational_space(frame);
    const Matrix top = quantity == "Lambda" ? task.numerator
                       : quantity == "mu"   ? Matrix(task.mu)
                                            : Matrix(task.rho);
    Entries result = entries_of(top);
    const Entries below = entries_of(Matrix::Constant(1, 1, task.denominator));
    for (std::size_t i = 0; i < result.text.size(); ++i) {
      if (result.text[i] == "0" || below.text[0] == "1") continue;
      result.text[i] = "(" + result.text[i] + ")/(" + below.text[0] + ")";
      result.latex[i] = "\\frac{" + result.latex[i] + "}{" + below.latex[0] + "}";
    }
    return result;
  }
  /// Rows of the Jacobian that Lambda, mu and rho belong to.
  std::vector<std::string> operational_rows(const std::string& frame) {
    std::vector<std::string> names;
    for (const int row : operational_space(frame).rows) {
      names.push_back(jacobian_row_names()[static_cast<std::size_t>(row)]);
    }
    return names;
  }
  int floating_base_size() const { return symbolic::floating_base_size(derivation_->robot); }

  using SymbolRow = std::tuple<std::string, std::string, std::optional<double>>;
  std::vector<SymbolRow> symbols() const {
    static constexpr const char* kKinds[] = {"parameter", "coordinate", "velocity", "acceleration",
                                             "number"};
    std::vector<SymbolRow> all;
    for (const symbolic::Symbol& s : derivation_->robot.ring->symbols()) {
      all.emplace_back(s.name, kKinds[static_cast<int>(s.kind)], s.value);
    }
    return all;
  }
  const std::vector<std::string>& notes() const { return derivation_->robot.notes; }
  std::vector<std::string> coordinates() const {
    std::vector<std::string> joints;
    for (const auto& c : derivation_->robot.coordinates) joints.push_back(c.joint);
    return joints;
  }
  std::size_t terms() const { return term_count(*derivation_); }

 private:
  const symbolic::OperationalSpaceInertia& operational_space(const std::string& frame) {
    std::size_t at = 0;
    while (at < derivation_->frames.size() && derivation_->frames[at].name != frame) ++at;
    if (at == derivation_->frames.size()) {
      fail("derive", "frame", "'" + frame + "'", "one of the requested frames");
    }
    if (derivation_->lambdas.size() <= at || derivation_->lambdas[at].mu.size() == 0) {
      using enum symbolic::Quantity;
      const nb::gil_scoped_release released;
      options_.quantities = derivation_->quantities;
      options_.quantities.insert({Lambda, mu, rho});
      derivation_.emplace(symbolic::derive(symbolic::Robot(derivation_->robot), options_));
    }
    return derivation_->lambdas[at];
  }

  /// Derives what was not requested at first.
  void complete() {
    if (derivation_->parts.all()) return;
    symbolic::DeriveOptions all = options_;
    all.complete = true;
    derivation_.emplace(symbolic::derive(symbolic::Robot(derivation_->robot), all));
  }

  Entries entries_of(const Matrix& m) const {
    const nb::gil_scoped_release released;
    const symbolic::RingScope scope(derivation_->robot.ring);
    const symbolic::SymbolNames names(*derivation_->robot.ring, letters());
    Entries result{static_cast<int>(m.rows()), static_cast<int>(m.cols()), {}, {}};
    for (Eigen::Index i = 0; i < m.rows(); ++i) {
      for (Eigen::Index j = 0; j < m.cols(); ++j) {
        result.text.push_back(to_text(m(i, j)));
        result.latex.push_back(without_line_breaks(to_latex(textbook_form(m(i, j)), names)));
      }
    }
    return result;
  }
  std::vector<symbolic::CoordinateLetter> letters() const {
    std::vector<symbolic::CoordinateLetter> all;
    for (const auto& c : derivation_->robot.coordinates) {
      all.push_back(c.is_angle ? symbolic::CoordinateLetter::theta : symbolic::CoordinateLetter::d);
    }
    return all;
  }

  symbolic::DeriveOptions options_;
  std::optional<symbolic::Derivation> derivation_;
};

}  // namespace

void bind_derivation(nb::module_& m) {
  nb::class_<Entries>(m, "Entries")
      .def_ro("rows", &Entries::rows)
      .def_ro("cols", &Entries::cols)
      .def_ro("text", &Entries::text)
      .def_ro("latex", &Entries::latex);
  nb::class_<ClosedForms>(m, "ClosedForms")
      .def(nb::init<const std::string&, const std::string&, const std::string&, const std::string&,
                    const std::vector<std::string>&, const std::vector<std::string>&>(),
           "path"_a, "base"_a, "parameters"_a, "method"_a, "quantities"_a, "frames"_a)
      .def("page", &ClosedForms::page, "format"_a, "steps"_a, "letters"_a, "long_functions"_a,
           "expanded"_a, "comma_indices"_a)
      .def("check", &ClosedForms::check, "answer"_a)
      .def("function", &ClosedForms::function, "language"_a)
      .def("entries", &ClosedForms::entries, "quantity"_a)
      .def("frame_entries", &ClosedForms::frame_entries, "frame"_a, "quantity"_a)
      .def("operational_entries", &ClosedForms::operational_entries, "frame"_a, "quantity"_a)
      .def("operational_rows", &ClosedForms::operational_rows, "frame"_a)
      .def("floating_base_size", &ClosedForms::floating_base_size)
      .def("symbols", &ClosedForms::symbols)
      .def("notes", &ClosedForms::notes)
      .def("coordinates", &ClosedForms::coordinates)
      .def("terms", &ClosedForms::terms);
}

}  // namespace limb::python
