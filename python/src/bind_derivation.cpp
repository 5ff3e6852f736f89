#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

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
    symbolic::DeriveOptions options;
    if (method == "lagrange") {
      options.method = symbolic::DerivationMethod::lagrange;
    } else if (method == "newton_euler") {
      options.method = symbolic::DerivationMethod::newton_euler;
    } else if (method != "both") {
      fail("derive", "method", "'" + method + "'", "'lagrange', 'newton_euler' or 'both'");
    }
    options.frames = frames;
    for (const std::string& name : quantities) {
      options.quantities.insert(symbolic::quantity_from_text(name));
    }
    const nb::gil_scoped_release released;
    derivation_.emplace(symbolic::derive(symbolic::load_robot(path, robot), options));
  }

  std::string page(const std::string& format, bool steps) const {
    const nb::gil_scoped_release released;
    const symbolic::RingScope scope(derivation_->robot.ring);
    const symbolic::Document document =
        write_page(*derivation_, {.steps = steps, .plain_names = format == "text"});
    if (format == "text") return to_text(document);
    if (format == "latex") return to_latex(document);
    if (format == "markdown") return to_markdown(document);
    if (format == "html") return to_html(document);
    fail("derive", "format", "'" + format + "'", "'text', 'latex', 'markdown' or 'html'");
  }

  std::string function(const std::string& language) const {
    if (language == "c") return write_function(*derivation_, symbolic::Language::c);
    if (language == "python") return write_function(*derivation_, symbolic::Language::python);
    fail("derive", "language", "'" + language + "'", "'c' or 'python'");
  }

  Entries entries(const std::string& name) const {
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
      fail("derive", "quantity", "'" + quantity + "'", "p, R, J or Jdot");
    }
    fail("derive", "frame", "'" + name + "'", "one of the requested frames");
  }

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
      .def("page", &ClosedForms::page, "format"_a, "steps"_a)
      .def("function", &ClosedForms::function, "language"_a)
      .def("entries", &ClosedForms::entries, "quantity"_a)
      .def("frame_entries", &ClosedForms::frame_entries, "frame"_a, "quantity"_a)
      .def("symbols", &ClosedForms::symbols)
      .def("notes", &ClosedForms::notes)
      .def("coordinates", &ClosedForms::coordinates)
      .def("terms", &ClosedForms::terms);
}

}  // namespace limb::python
