#include "limb/symbolic/page_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/symbolic/document_text.hpp"
#include "limb/symbolic/textbook_form.hpp"

namespace limb::symbolic {
namespace {

constexpr double kWidestMatrix = 58;       // letters; wider ones are written entry by entry
constexpr std::size_t kLongestStep = 400;  // terms; longer ones are only counted

std::vector<CoordinateLetter> letters(const Robot& robot, bool plain) {
  if (plain) return {};
  // Where parameters use these letters already, all coordinates are q.
  for (const Symbol& symbol : robot.ring->symbols()) {
    if (symbol.kind != Symbol::Kind::parameter) continue;
    const std::string latex = latex_name(symbol.name);
    if (latex.rfind("\\theta", 0) == 0 || latex == "d" || latex.rfind("d_", 0) == 0) return {};
  }
  std::vector<CoordinateLetter> result;
  for (const Coordinate& c : robot.coordinates) {
    result.push_back(c.is_angle ? CoordinateLetter::theta : CoordinateLetter::d);
  }
  return result;
}

Numbers number_style(const Robot& robot) {
  for (const Symbol& symbol : robot.ring->symbols()) {
    if (symbol.kind == Symbol::Kind::parameter) return Numbers::ratios;
  }
  return Numbers::decimals;
}

}  // namespace

std::string numbered(const std::string& pattern, int i) {
  std::string text;
  for (const char c : pattern) text += c == '%' ? std::to_string(i) : std::string(1, c);
  return text;
}

std::string joint_text(const std::string& name) {
  return name.rfind("joint", 0) == 0 ? name : "joint " + name;
}

PageWriter::PageWriter(const Derivation& derivation, const PageOptions& options)
    : derivation_(derivation),
      robot_(derivation.robot),
      form_(derivation.form),
      names_(*robot_.ring, letters(robot_, options.plain_names)),
      numbers_(number_style(robot_)),
      steps_(options.steps),
      n_(static_cast<int>(robot_.coordinates.size())) {
  document.title = fmt::format("Equations of motion of {}", robot_.model.name());
}

std::string PageWriter::latex(const Polynomial& x) const {
  if (steps_ && x.size() > kLongestStep) return fmt::format("\\text{{({} terms)}}", x.size());
  return to_latex(textbook_form(x), names_, numbers_);
}

std::string PageWriter::matrix(const Matrix& m) const {
  std::string text = "\\begin{bmatrix} ";
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    if (r > 0) text += " \\\\ ";
    for (Eigen::Index c = 0; c < m.cols(); ++c) {
      if (c > 0) text += " & ";
      text += without_marks(latex(m(r, c)));
    }
  }
  return text + " \\end{bmatrix}";
}

std::string PageWriter::column(const std::vector<std::string>& entries) const {
  return fmt::format("\\begin{{bmatrix}} {} \\end{{bmatrix}}", fmt::join(entries, " \\\\ "));
}

void PageWriter::define(const std::string& left, const std::vector<std::string>& before,
                        const Matrix& m, const std::string& entry) {
  std::vector<std::string> right = before;
  right.push_back(matrix(m));
  if (math_width(parse_math(right.back())) <= kWidestMatrix) {
    document.equation(left, std::move(right));
    return;
  }
  if (!before.empty()) document.equation(left, before);
  bool zeros = false;
  const std::string base = entry.find('_') == entry.npos ? entry : "(" + entry + ")";
  const bool symmetric = m.rows() == m.cols() && m.rows() > 1 && m == m.transpose();
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    for (Eigen::Index c = symmetric ? r : 0; c < m.cols(); ++c) {
      zeros = zeros || m(r, c).is_zero();
      if (m(r, c).is_zero()) continue;
      const std::string place =
          m.cols() == 1 ? std::to_string(r + 1) : fmt::format("{}{}", r + 1, c + 1);
      const std::string twin =
          symmetric && c > r ? fmt::format(" = {}_{{{}{}}}", base, c + 1, r + 1) : "";
      document.equation(fmt::format("{}_{{{}}}{}", base, place, twin), {latex(m(r, c))});
    }
  }
  if (zeros) document.paragraph(fmt::format("and the other entries of ${}$ are zero.", left));
}

std::string PageWriter::squares() const {
  std::vector<std::string> entries;
  for (const Coordinate& c : robot_.coordinates) entries.push_back(name(c.v) + "^2");
  return column(entries);
}

std::string PageWriter::products() const {
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < robot_.coordinates.size(); ++i) {
    for (std::size_t j = i + 1; j < robot_.coordinates.size(); ++j) {
      entries.push_back(name(robot_.coordinates[i].v) + " " + name(robot_.coordinates[j].v));
    }
  }
  return column(entries);
}

void PageWriter::robot_and_coordinates() {
  document.heading(1, "The robot");
  std::string who;
  for (std::size_t i = 0; i < robot_.coordinates.size(); ++i) {
    const Coordinate& c = robot_.coordinates[i];
    who += fmt::format("{}${}$ is the {} of {}", i == 0 ? "" : ", ", name(c.q),
                       c.is_angle ? "angle" : "displacement", joint_text(c.joint));
  }
  document.paragraph(
      fmt::format("The robot moves by {} coordinate{}: {}.", n_, n_ == 1 ? "" : "s", who));
  const bool angles = std::any_of(robot_.coordinates.begin(), robot_.coordinates.end(),
                                  [](const Coordinate& c) { return c.is_angle; });
  if (angles && names_.subscript({{robot_.coordinates[0].q, Rational(1)}})) {
    const auto first = std::find_if(robot_.coordinates.begin(), robot_.coordinates.end(),
                                    [](const Coordinate& c) { return c.is_angle; });
    const auto i = first - robot_.coordinates.begin() + 1;
    document.paragraph(
        fmt::format("Sines and cosines are written short: $c_{{{0}}} = \\cos {1}$, "
                    "$s_{{{0}}} = \\sin {1}$; two indices stand for the sum of two "
                    "angles.",
                    i, name(first->q)));
  }
  const auto& coupling = robot_.model.coupling();
  if (!coupling.is_identity()) {
    const VectorX<Polynomial> q = coupling.expand_position(VectorX<Polynomial>(robot_.q()));
    document.paragraph("Some joints follow these coordinates. The joint coordinates $\\phi$ are");
    for (const Body<Polynomial>& body : robot_.model.bodies()) {
      for (int k = 0; k < body.joint.nv(); ++k) {
        document.equation(fmt::format("\\phi_{{\\text{{{}}}}}", body.name),
                          {latex(q[body.q_start + k])});
      }
    }
  }
  document.paragraph("Gravity, in axes of the world:");
  document.equation("\\mathbf{g}", {matrix(robot_.model.gravity())});
  if (steps_) {
    std::vector<std::string> values;
    for (SymbolId id = 0; id < robot_.ring->symbols().size(); ++id) {
      const Symbol& symbol = robot_.ring->symbol(id);
      if (symbol.kind != Symbol::Kind::parameter || !symbol.value) continue;
      values.push_back(fmt::format("${} = {:.6g}$", name(id), *symbol.value));
    }
    if (!values.empty()) {
      document.paragraph(
          fmt::format("The file has values for the parameters, of which the equations "
                      "make no use: {}.",
                      fmt::join(values, ", ")));
    }
  }
  for (const std::string& note : robot_.notes) document.paragraph("Note: " + note + ".");
}

}  // namespace limb::symbolic
