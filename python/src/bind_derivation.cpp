#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "limb/symbolic/derivation_page.hpp"
#include "limb/symbolic/formula_latex.hpp"
#include "limb/symbolic/recursive_form.hpp"
#include "limb/symbolic/textbook_form.hpp"
#include "limb/symbolic/write_function.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

using symbolic::Matrix;
using symbolic::Polynomial;

/// Entries as texts and as LaTeX, by rows.
struct Entries {
  int rows, cols;
  std::vector<std::string> text, latex;
};

std::string without_marks(const std::string& latex) {
  std::string plain;
  for (const char c : latex) {
    if (!symbolic::is_break(c)) plain += c;
  }
  return plain;
}

class Forms {
 public:
  Forms(const std::string& path, const std::string& base, const std::string& parameters,
        const std::string& way, const std::vector<std::string>& quantities,
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
    if (way == "lagrange") {
      options.way = symbolic::Way::lagrange;
    } else if (way == "newton_euler") {
      options.way = symbolic::Way::newton_euler;
    } else if (way != "both") {
      fail("derive", "way", "'" + way + "'", "'lagrange', 'newton_euler' or 'both'");
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
    if (name == "M") return written(f.M);
    if (name == "C") return written(f.C);
    if (name == "centrifugal") return written(f.centrifugal);
    if (name == "coriolis") return written(f.coriolis);
    if (name == "V") return written(f.V);
    if (name == "G") return written(f.G);
    if (name == "tau") return written(f.tau);
    if (name == "K") return written(Matrix::Constant(1, 1, f.K));
    if (name == "P") return written(Matrix::Constant(1, 1, f.P));
    if (name == "christoffel") {
      const int n = f.gamma.size();
      Matrix all(n, n * n);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          for (int k = 0; k < n; ++k) all(i, j * n + k) = f.gamma(i, j, k);
        }
      }
      return written(all);
    }
    fail("derive", "quantity", "'" + name + "'",
         "M, C, centrifugal, coriolis, christoffel, V, G, K, P or tau");
  }
  Entries frame_entries(const std::string& name, const std::string& quantity) const {
    for (std::size_t i = 0; i < derivation_->frames.size(); ++i) {
      const symbolic::FrameForm& frame = derivation_->frames[i];
      if (frame.name != name) continue;
      if (quantity == "p") return written(Matrix(frame.X_WF.p));
      if (quantity == "R") return written(Matrix(frame.X_WF.R));
      if (quantity == "J") return written(frame.J);
      if (quantity == "Jdot") return written(frame.Jdot);
      fail("derive", "quantity", "'" + quantity + "'", "p, R, J or Jdot");
    }
    fail("derive", "frame", "'" + name + "'", "a frame that was asked for");
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
  Entries written(const Matrix& m) const {
    const nb::gil_scoped_release released;
    const symbolic::RingScope scope(derivation_->robot.ring);
    const symbolic::SymbolNames names(*derivation_->robot.ring, letters());
    Entries result{static_cast<int>(m.rows()), static_cast<int>(m.cols()), {}, {}};
    for (Eigen::Index i = 0; i < m.rows(); ++i) {
      for (Eigen::Index j = 0; j < m.cols(); ++j) {
        result.text.push_back(to_text(m(i, j)));
        result.latex.push_back(without_marks(to_latex(textbook_form(m(i, j)), names)));
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
  nb::class_<Forms>(m, "Forms")
      .def(nb::init<const std::string&, const std::string&, const std::string&, const std::string&,
                    const std::vector<std::string>&, const std::vector<std::string>&>(),
           "path"_a, "base"_a, "parameters"_a, "way"_a, "quantities"_a, "frames"_a)
      .def("page", &Forms::page, "format"_a, "steps"_a)
      .def("function", &Forms::function, "language"_a)
      .def("entries", &Forms::entries, "quantity"_a)
      .def("frame_entries", &Forms::frame_entries, "frame"_a, "quantity"_a)
      .def("symbols", &Forms::symbols)
      .def("notes", &Forms::notes)
      .def("coordinates", &Forms::coordinates)
      .def("terms", &Forms::terms);
}

}  // namespace limb::python
