#include "limb/symbolic/typeset/page_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "limb/symbolic/algebra/calculus.hpp"
#include "limb/symbolic/typeset/line_breaks.hpp"
#include "limb/symbolic/typeset/robot_figure.hpp"
#include "limb/symbolic/typeset/textbook_form.hpp"

namespace limb::symbolic {
namespace {

constexpr double kMaxMatrixWidth = 58;      // letters; wider matrices are written entry by entry
constexpr std::size_t kMaxStepTerms = 400;  // of longer expressions only the size is printed

NumberStyle number_style(const Robot& robot) {
  for (const Symbol& symbol : robot.ring->symbols()) {
    if (symbol.kind == Symbol::Kind::parameter) return NumberStyle::ratios;
  }
  return NumberStyle::decimals;
}

Matrix multiply(const Matrix& a, const Matrix& b) {
  Matrix result = Matrix::Constant(a.rows(), b.cols(), Polynomial(0));
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < b.cols(); ++j) {
      for (Eigen::Index k = 0; k < a.cols(); ++k) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}

/// Names and notes without dollar signs, which enclose formulas in paragraphs.
std::string plain_text(std::string text) {
  std::erase(text, '$');
  return text;
}

/// A name as an index in a formula: letters, digits and a few signs.
std::string math_label(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '_') {
      text += "\\_";
    } else if (std::isalnum(u) != 0 || c == '-' || c == '.' || c == ' ' || u >= 0x80) {
      text += c;
    }
  }
  return text;
}

/// Pulleys, for example.
bool is_massless(const LinkForm& link) {
  return link.mass.is_zero() && term_count(link.tensor) == 0;
}

}  // namespace

std::vector<CoordinateLetter> coordinate_letters(const Robot& robot, bool plain) {
  if (plain) return {};
  // If parameters already use these letters, all coordinates are q.
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

std::string numbered(const std::string& pattern, int i) {
  std::string text;
  const std::string number = i > 9 ? fmt::format("{{{}}}", i) : std::to_string(i);
  for (const char c : pattern) text += c == '%' ? number : std::string(1, c);
  return text;
}

std::string joint_text(const std::string& name) {
  return plain_text(name.rfind("joint", 0) == 0 ? name : "joint " + name);
}

PageWriter::PageWriter(const Derivation& derivation, const PageOptions& options)
    : derivation_(derivation),
      robot_(derivation.robot),
      form_(derivation.form),
      names_(*robot_.ring, coordinate_letters(robot_, options.plain_names)),
      numbers_(number_style(robot_)),
      options_(options),
      steps_(options.steps),
      mass_(options.letters == Letters::dcg ? "D" : "M"),
      entry_(options.letters == Letters::dcg ? "D" : "m"),
      velocity_(options.letters == Letters::mvg   ? "V"
                : options.letters == Letters::mcg ? "c"
                                                  : "C \\dot{q}"),
      gravity_(options.letters == Letters::mvg ? "G" : "g"),
      n_(static_cast<int>(robot_.coordinates.size())) {
  if (options.long_functions) names_.spell_functions();
  if (options.comma_indices) names_.separate_indices();
  document.title = fmt::format("Equations of motion of {}", plain_text(robot_.model.name()));
}

std::size_t PageWriter::Hash::operator()(const Polynomial& x) const {
  std::uint64_t hash = x.size();
  for (const Term& term : x.terms()) hash = (hash ^ term.key) * 0x9e3779b97f4a7c15 + (hash >> 29);
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

const Formula& PageWriter::formula(const Polynomial& x) const {
  robot_.ring->report_progress();
  const auto found = formulas_.find(x);
  if (found != formulas_.end()) return found->second;
  return formulas_.emplace(x, options_.expanded ? expanded_form(x) : textbook_form(x))
      .first->second;
}

std::string PageWriter::latex(const Polynomial& x) const {
  if (steps_ && x.size() > kMaxStepTerms) return fmt::format("\\text{{({} terms)}}", x.size());
  return to_latex(formula(x), names_, numbers_);
}

std::string PageWriter::matrix(const Matrix& m) const {
  std::string text = "\\begin{bmatrix} ";
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    if (r > 0) text += " \\\\ ";
    for (Eigen::Index c = 0; c < m.cols(); ++c) {
      if (c > 0) text += " & ";
      text += without_breaks(latex(m(r, c)));
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
  if (math_width(parse_math(right.back())) <= kMaxMatrixWidth) {
    document.equation(left, std::move(right));
    return;
  }
  if (!before.empty()) document.equation(left, before);
  bool zeros = false;
  const std::string base = entry.find('_') == entry.npos ? entry : "(" + entry + ")";
  const bool symmetric = m.rows() == m.cols() && m.rows() > 1 && m == m.transpose();
  const int largest = static_cast<int>(std::max(m.rows(), m.cols()));
  const auto index = [&](Eigen::Index r, Eigen::Index c) {
    return indices({static_cast<int>(r) + 1, static_cast<int>(c) + 1}, largest);
  };
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    for (Eigen::Index c = symmetric ? r : 0; c < m.cols(); ++c) {
      zeros = zeros || m(r, c).is_zero();
      if (m(r, c).is_zero()) continue;
      const std::string subscript = m.cols() == 1 ? std::to_string(r + 1) : index(r, c);
      const std::string mirrored =
          symmetric && c > r ? fmt::format(" = {}_{{{}}}", base, index(c, r)) : "";
      document.equation(fmt::format("{}_{{{}}}{}", base, subscript, mirrored), {latex(m(r, c))});
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
  document.figure(draw_robot(robot_, {.q = {}, .plain_names = options_.plain_names}));
  std::string list;
  for (std::size_t i = 0; i < robot_.coordinates.size(); ++i) {
    const Coordinate& c = robot_.coordinates[i];
    list += fmt::format("{}${}$ is the {} of {}", i == 0 ? "" : ", ", name(c.q),
                        c.is_angle ? "angle" : "displacement", joint_text(c.joint));
  }
  document.paragraph(
      fmt::format("The robot has {} coordinate{}: {}.", n_, n_ == 1 ? "" : "s", list));
  const bool angles = std::any_of(robot_.coordinates.begin(), robot_.coordinates.end(),
                                  [](const Coordinate& c) { return c.is_angle; });
  if (angles && names_.subscript({{robot_.coordinates[0].q, Rational(1)}})) {
    const auto first = std::find_if(robot_.coordinates.begin(), robot_.coordinates.end(),
                                    [](const Coordinate& c) { return c.is_angle; });
    const auto i = first - robot_.coordinates.begin() + 1;
    document.paragraph(
        fmt::format("Sines and cosines are abbreviated: $c_{{{0}}} = \\cos {1}$, "
                    "$s_{{{0}}} = \\sin {1}$; two indices{2} denote the sum of two "
                    "angles.",
                    i, name(first->q), n_ > 9 ? " with a comma" : ""));
  }
  const auto& coupling = robot_.model.coupling();
  if (!coupling.is_identity()) {
    const VectorX<Polynomial> q = coupling.expand_position(VectorX<Polynomial>(robot_.q()));
    document.paragraph(
        "Some joints are coupled to these coordinates. The joint coordinates $\\phi$ are");
    for (const Body<Polynomial>& body : robot_.model.bodies()) {
      for (int k = 0; k < body.joint.nv(); ++k) {
        document.equation(fmt::format("\\phi_{{\\text{{{}}}}}", math_label(body.name)),
                          {latex(q[body.q_start + k])});
      }
    }
  }
  document.paragraph("Gravity in world axes:");
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
          fmt::format("The file gives values for the parameters, which the equations "
                      "do not use: {}.",
                      fmt::join(values, ", ")));
    }
  }
  for (const std::string& note : robot_.notes)
    document.paragraph(plain_text("Note: " + note + "."));
}

// The results.

void PageWriter::result() {
  const auto has = [&](Quantity quantity) { return derivation_.quantities.count(quantity) > 0; };
  document.heading(1, "Result");
  document.paragraph("The equations of motion are $\\tau = " + motion() + "$.");
  if (has(Quantity::K)) document.equation("K", {latex(form_.K)});
  if (has(Quantity::P)) document.equation("P", {latex(form_.P)});
  if (has(Quantity::M)) define(mass_, {}, form_.M, entry_);
  if (has(Quantity::christoffel)) partial_derivatives();
  if (has(Quantity::B)) split();
  if (has(Quantity::C)) {
    document.paragraph(
        fmt::format("The Coriolis matrix from the Christoffel symbols, with {}$\\dot{{{}}} - 2 C$ "
                    "skew-symmetric:",
                    options_.letters == Letters::dcg
                        ? ""
                        : fmt::format("$C(q, \\dot{{q}}) \\dot{{q}} = {}$ and ", velocity_),
                    mass_));
    define("C(q, \\dot{q})", {}, form_.C, "C");
  }
  if (has(Quantity::V)) define(velocity_, {}, form_.V, velocity_);
  if (has(Quantity::G)) define(gravity_, {}, form_.G, gravity_);
  partition();
  frames();
  lambdas();
  if (has(Quantity::tau)) equations_of_motion();
  if (derivation_.method == DerivationMethod::all) {
    document.paragraph(
        "Derived from the Lagrangian, by the Newton-Euler recursion and with twists and wrenches "
        "(Modern Robotics): all three give the same polynomials.");
  }
  if (derivation_.method == DerivationMethod::both) {
    document.paragraph(
        "Derived from the Lagrangian and by the Newton-Euler recursion: both give the same "
        "polynomials.");
  }
}

/// The partitioned equation of a floating base: the coordinates of the base come first and have no
/// motors.
void PageWriter::partition() {
  const int base = floating_base_size(robot_);
  if (base == 0 || !derivation_.parts.inertia) return;
  const std::string blocks = fmt::format(
      "\\begin{{bmatrix}} {0}_b & {0}_{{bj}} \\\\ {0}_{{bj}}^\\top & {0}_j \\end{{bmatrix}} "
      "\\begin{{bmatrix}} \\ddot{{q}}_b \\\\ \\ddot{{q}}_j \\end{{bmatrix}}",
      mass_);
  document.paragraph(fmt::format(
      "The first {} coordinates are those of the floating base and have no motors, so that the "
      "equation has two parts{}, with the wrenches $f_i$ of the contacts, their Jacobians $J_i$ "
      "and "
      "the selection $S$ of the joints:",
      base, options_.letters == Letters::dcg ? " ($h = C \\dot{q}$)" : ""));
  const auto pair = [](const std::string& b, const std::string& j) {
    return fmt::format("\\begin{{bmatrix}} {} \\\\ {} \\end{{bmatrix}}", b, j);
  };
  const std::string h = options_.letters == Letters::dcg ? "h" : velocity_;
  document.equation("S^\\top \\tau + \\sum_i J_i^\\top f_i",
                    {fmt::format("{} + {} + {}", blocks, pair(h + "_b", h + "_j"),
                                 pair(gravity_ + "_b", gravity_ + "_j"))});
  document.equation("S^\\top \\tau", {pair("0", "\\tau")});
  const Matrix& M = form_.M;
  const int joints = n_ - base;
  define(mass_ + "_b", {}, M.topLeftCorner(base, base), mass_ + "_b");
  define(mass_ + "_{bj}", {}, M.topRightCorner(base, joints), mass_ + "_{bj}");
  define(mass_ + "_j", {}, M.bottomRightCorner(joints, joints), mass_ + "_j");
}

void PageWriter::split() {
  if (term_count(form_.centrifugal) + term_count(form_.coriolis) == 0) {
    document.equation(velocity_, {"0"});
    return;
  }
  const auto [C, B] = split_letters();
  std::string sum = C + "(q) " + squares();
  if (n_ > 1) sum += std::string(" ") + kBreak + "+ " + B + "(q) " + products();
  document.equation(velocity_, {sum});
  define(C + "(q)", {}, form_.centrifugal, C);
  if (n_ > 1) define(B + "(q)", {}, form_.coriolis, B);
}

void PageWriter::frames() {
  const bool J = derivation_.quantities.count(Quantity::J) > 0;
  const bool Jdot = derivation_.quantities.count(Quantity::Jdot) > 0;
  if (!J && !Jdot) return;
  for (const FrameForm& frame : derivation_.frames) {
    document.paragraph(
        fmt::format("The origin of frame {} is at $p$. The rows of $J$ give the velocity of its "
                    "origin and its angular velocity, both in world axes.",
                    frame.name));
    if (J) define("p", {}, frame.X_WF.p, "p");
    if (J) define("J", {}, frame.J, "J");
    if (Jdot) define("\\dot{J}", {}, frame.Jdot, "\\dot{J}");
  }
}

void PageWriter::lambdas() {
  static constexpr const char* kRows[] = {"v_x",       "v_y",       "v_z",
                                          "\\omega_x", "\\omega_y", "\\omega_z"};
  for (std::size_t i = 0; i < derivation_.lambdas.size(); ++i) {
    const OperationalSpaceInertia& lambda = derivation_.lambdas[i];
    std::string rows;
    for (const int r : lambda.rows) rows += (rows.empty() ? "" : ", ") + std::string(kRows[r]);
    document.paragraph(fmt::format(
        "The operational-space dynamics of frame {} over the rows ${}$ are $F = \\Lambda "
        "\\ddot{{x}} + \\mu + \\rho$, with $\\Lambda = (J {}^{{-1}} J^\\top)^{{-1}} = N / "
        "\\delta${}:",
        plain_text(derivation_.frames[i].name), rows, mass_,
        lambda.mu.size() == 0 ? ""
                              : ", velocity-dependent forces $\\mu = N_\\mu / \\delta$ and gravity "
                                "$\\rho = N_\\rho / \\delta$"));
    // A leading number of the denominator is moved to the numerator.
    const Formula d = textbook_form(lambda.denominator);
    const bool has_number = d.kind == Formula::Kind::product && d.parts[0].is_number();
    const Polynomial scale = Rational(1) / (has_number ? d.parts[0].number : Rational(1));
    define("N", {}, lambda.numerator * scale, "N");
    if (derivation_.quantities.contains(Quantity::mu)) {
      define("N_\\mu", {}, lambda.mu * scale, "N_\\mu");
    }
    if (derivation_.quantities.contains(Quantity::rho)) {
      define("N_\\rho", {}, lambda.rho * scale, "N_\\rho");
    }
    document.equation("\\delta", {latex(lambda.denominator * scale)});
  }
}

void PageWriter::equations_of_motion() {
  const bool damped = term_count(form_.damping) > 0, rubs = !form_.friction.empty();
  const char* damping = options_.letters == Letters::dcg ? "B" : "D";
  document.paragraph(fmt::format(
      "Joint by joint, $\\tau = {} \\ddot{{q}} + {}{}{} + {}${}{}{} is", mass_, velocity_,
      damped ? fmt::format(" + {} \\dot{{q}}", damping) : "",
      rubs ? " + f_c \\mathrm{sgn}(\\dot{q})" : "", gravity_,
      damped ? fmt::format(", with damping ${}$", damping) : "",
      rubs ? (damped ? " and Coulomb friction $f_c$" : ", with Coulomb friction $f_c$") : "",
      damped || rubs ? "," : ""));
  for (int i = 0; i < n_; ++i) {
    std::vector<Formula> parts;
    for (int j = 0; j < n_; ++j) {
      parts.push_back(formula(
          form_.M(i, j) *
          Polynomial::symbol(robot_.ring, robot_.coordinates[static_cast<std::size_t>(j)].a)));
    }
    for (const Vector* part : {&form_.V, &form_.damping, &form_.G}) {
      parts.push_back(formula((*part)[i]));
    }
    std::string right_side = to_latex(Formula::sum_of(std::move(parts)), names_, numbers_);
    for (const CoulombFriction& f : form_.friction) {
      if (f.size[i].is_zero()) continue;
      const Formula& size = formula(f.size[i]);
      std::string text = to_latex(size, names_, numbers_);
      const bool negative = size.is_negative() && size.kind != Formula::Kind::sum;
      if (negative) text.erase(0, 1);
      if (size.kind == Formula::Kind::sum) text = "(" + text + ")";
      right_side += fmt::format(" {}{} {} \\mathrm{{sgn}}({})", kBreak, negative ? "-" : "+", text,
                                latex(f.velocity));
    }
    document.equation(force_name(i), {right_side});
  }
  std::vector<std::string> passive;
  for (const Coordinate& c : robot_.coordinates) {
    if (!c.actuated) passive.push_back(fmt::format("${}$", name(c.q)));
  }
  if (!passive.empty()) {
    document.paragraph(
        fmt::format("No motor acts on {}: the left side is zero there.", fmt::join(passive, ", ")));
  }
}

std::string PageWriter::force_name(int i) const {
  return robot_.coordinates[static_cast<std::size_t>(i)].actuated ? numbered("\\tau_%", i + 1)
                                                                  : "0";
}

// The derivation from the energies.

std::string PageWriter::motion() const {
  switch (options_.letters) {
    case Letters::mcg:
      return "M(q) \\ddot{q} + c(q, \\dot{q}) + g(q)";
    case Letters::dcg:
      return "D(q) \\ddot{q} + C(q, \\dot{q}) \\dot{q} + g(q)";
    default:
      return "M(q) \\ddot{q} + V(q, \\dot{q}) + G(q)";
  }
}

std::pair<std::string, std::string> PageWriter::split_letters() const {
  // C is the Coriolis matrix in the other notations.
  if (options_.letters == Letters::mvg) return {"C", "B"};
  return {"B_1", "B_2"};
}

Vector PageWriter::lagrange_steps() {
  document.heading(1, "Frames and mass centres");
  document.paragraph(
      "Frame $i$ is attached to link $i$ at its joint. The rotation $R_i$ maps vectors from its "
      "axes "
      "to world axes, $p_i$ is its origin and $p_{C_i}$ the mass centre of the link, both in world "
      "coordinates.");
  for (std::size_t k = 0; k < form_.links.size(); ++k) {
    const LinkForm& link = form_.links[k];
    const int i = static_cast<int>(k) + 1;
    body_properties(i, link);
    define(numbered("R_%", i), {}, link.X_WB.R, numbered("R_%", i));
    define(numbered("p_%", i), {}, link.X_WB.p, numbered("p_%", i));
    if (link.center) define(numbered("p_{C_%}", i), {}, link.p, numbered("p_{C_%}", i));
  }

  document.heading(1, "Jacobians");
  document.paragraph(
      "The velocity of a mass centre is $\\dot{p}_{C_i} = J_{v_i} \\dot{q}$ with $J_{v_i} = "
      "\\partial "
      "p_{C_i} / \\partial q$. The angular velocity in link axes is $\\omega_i = "
      "J_{\\omega_i} "
      "\\dot{q}$: each column is the axis of a joint that rotates the link, or zero for prismatic "
      "joints and for joints that do not move it. $J_{\\omega_i}^0 = R_i J_{\\omega_i}$ is the "
      "same "
      "in world axes, where its columns are $\\rho_j z_{j-1}$, with the axis $z_{j-1}$ of joint "
      "$j$ "
      "and $\\rho_j = 1$ for a revolute, $\\rho_j = 0$ for a prismatic joint.");
  joint_axes();
  for (std::size_t k = 0; k < form_.links.size(); ++k) {
    if (is_massless(form_.links[k])) continue;
    const int i = static_cast<int>(k) + 1;
    define(numbered("J_{v_%}", i), {}, jacobian(robot_, form_.links[k].p), numbered("J_{v_%}", i));
    define(numbered("J_{\\omega_%}", i), {}, form_.links[k].Jw_B, numbered("J_{\\omega_%}", i));
    define(numbered("J_{\\omega_%}^0", i), {}, multiply(form_.links[k].X_WB.R, form_.links[k].Jw_B),
           numbered("J_{\\omega_%}^0", i));
  }

  energies();
  mass_matrix();

  document.heading(1, "Derivatives of the mass matrix");
  partial_derivatives();
  velocity_terms();
  gravity();

  const Vector tau = euler_lagrange();

  document.heading(1, "Equations of motion");
  equations_of_motion();
  return tau;
}

/// The axes z_{j-1} of the joints in world axes, if each joint has one coordinate.
void PageWriter::joint_axes() {
  if (!robot_.model.coupling().is_identity() || !has_screw_axes(robot_)) return;
  const VectorX<Polynomial> q = robot_.q();
  for (std::size_t k = 0; k < form_.links.size(); ++k) {
    const Body<Polynomial>& body = robot_.model.bodies()[k + 1];
    Motion<Polynomial> S[6];
    body.joint.subspace(q.data() + body.q_start, S);
    const bool turns = term_count(Matrix(S[0].w)) > 0;
    const Vector3<Polynomial> z = form_.links[k].X_WB.R * (turns ? S[0].w : S[0].v);
    const int i = static_cast<int>(k) + 1;
    document.equation(numbered("\\rho_%", i), {fmt::format("{} \\quad {} = {}", turns ? 1 : 0,
                                                           numbered("z_%", i - 1), matrix(z))});
  }
}

/// Mass, mass centre and inertia of a link, as far as it has them.
void PageWriter::body_properties(int i, const LinkForm& link) {
  const std::string subject = fmt::format("Link {}, moved by {}, ", i, joint_text(link.name));
  const bool has_inertia = term_count(link.tensor) > 0;
  if (is_massless(link)) {
    document.paragraph(subject + "has no mass.");
    return;
  }
  const std::string mass = fmt::format("{}has {}mass ${}$", subject, has_inertia ? "" : "a point ",
                                       without_breaks(latex(link.mass)));
  if (!link.center) {
    document.paragraph(mass + ", first moment $h$ and inertia $\\mathbf{I}$ about its origin:");
    define(numbered("h_%", i), {}, link.first_moment, numbered("h_%", i));
    define(numbered("\\mathbf{I}_%", i), {}, link.tensor, numbered("\\mathbf{I}_%", i));
    return;
  }
  document.paragraph(has_inertia
                         ? mass + numbered(", mass centre $r_{C_%}$ in link axes, and inertia "
                                           "$\\mathbf{I}_%$ about it:",
                                           i)
                         : mass + numbered(" at $r_{C_%}$ in link axes:", i));
  define(numbered("r_{C_%}", i), {}, *link.center, numbered("r_{C_%}", i));
  if (has_inertia)
    define(numbered("\\mathbf{I}_%", i), {}, link.tensor, numbered("\\mathbf{I}_%", i));
}

void PageWriter::energies() {
  document.heading(1, "Energies");
  document.paragraph(
      "$K_i = \\tfrac{1}{2} m_i \\dot{p}_{C_i}^\\top \\dot{p}_{C_i} + \\tfrac{1}{2} "
      "\\omega_i^\\top \\mathbf{I}_i \\omega_i$ "
      "with the inertia $\\mathbf{I}_i$ about the mass centre, and $P_i = -m_i \\mathbf{g}^\\top "
      "p_{C_i}$, "
      "which is zero at the world origin.");
  Polynomial K;
  for (std::size_t k = 0; k < form_.links.size(); ++k) {
    if (is_massless(form_.links[k])) continue;
    const int i = static_cast<int>(k) + 1;
    const Polynomial K_i = kinetic_energy(robot_, form_.links[k].M);
    document.equation(numbered("K_%", i), {latex(K_i)});
    document.equation(numbered("P_%", i), {latex(form_.links[k].P)});
    K += K_i;
  }
  if (form_.links.size() > 1 || K != form_.K) {
    document.paragraph(K == form_.K ? "The sums are:"
                                    : "The sums, with the armatures of the drives, are:");
    document.equation("K", {latex(form_.K)});
    document.equation("P", {latex(form_.P)});
  }
}

void PageWriter::mass_matrix() {
  document.heading(1, "Mass matrix");
  document.paragraph(fmt::format(
      "The kinetic energy is $\\tfrac{{1}}{{2}} \\dot{{q}}^\\top {0} \\dot{{q}}$, so each link "
      "contributes $m_i J_{{v_i}}^\\top J_{{v_i}} + J_{{\\omega_i}}^\\top \\mathbf{{I}}_i "
      "J_{{\\omega_i}}$ to ${0}$. Inertia and Jacobian must be in the same axes: here those of "
      "the link; in world axes the inertia is $R_i \\mathbf{{I}}_i R_i^\\top$.",
      mass_));
  Matrix sum = Matrix::Constant(n_, n_, Polynomial(0));
  for (std::size_t k = 0; k < form_.links.size(); ++k) {
    const LinkForm& link = form_.links[k];
    if (is_massless(link)) continue;
    const int i = static_cast<int>(k) + 1;
    sum += link.M;
    if (link.center) {
      const Matrix translational = link.mass * multiply(link.Jv_B.transpose(), link.Jv_B);
      define(numbered("m_% J_{v_%}^\\top J_{v_%}", i), {}, translational, numbered("M_{v_%}", i));
      define(numbered("J_{\\omega_%}^\\top \\mathbf{I}_% J_{\\omega_%}", i), {},
             link.M - translational, numbered("M_{\\omega_%}", i));
    } else {
      define(numbered("M_%", i), {}, link.M, numbered("M_%", i));
    }
  }
  document.paragraph(sum == form_.M ? "Their sum is" : "Their sum with the armatures is");
  define(mass_, {}, form_.M, entry_);
}

void PageWriter::partial_derivatives() {
  document.paragraph(fmt::format(
      "The nonzero derivatives ${0}_{{ijk}} = \\partial {0}_{{ij}} / \\partial q_k$ are:", entry_));
  const std::size_t before = document.blocks.size();
  for (int i = 0; i < n_; ++i) {
    for (int j = i; j < n_; ++j) {
      for (int k = 0; k < n_; ++k) {
        const Polynomial d =
            differentiate(form_.M(i, j), robot_.coordinates[static_cast<std::size_t>(k)].q);
        if (d.is_zero()) continue;
        document.equation(fmt::format("{}_{{{}}}", entry_, indices({i + 1, j + 1, k + 1}, n_)),
                          {latex(d)});
      }
    }
  }
  if (document.blocks.size() == before) {
    document.blocks.back().text =
        "The mass matrix is constant, so all its derivatives and all Christoffel symbols are zero.";
    return;
  }
  document.paragraph(fmt::format(
      "The Christoffel symbols are $b_{{ijk}} = \\tfrac{{1}}{{2}} ({0}_{{ijk}} + {0}_{{ikj}} - "
      "{0}_{{jki}})$, symmetric in the last two indices. The nonzero ones are:",
      entry_));
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) {
      for (int k = j; k < n_; ++k) {
        const Polynomial& b = form_.gamma(i, j, k);
        if (b.is_zero()) continue;
        const std::string mirrored =
            j == k ? "" : fmt::format(" = b_{{{}}}", indices({i + 1, k + 1, j + 1}, n_));
        document.equation(fmt::format("b_{{{}}}{}", indices({i + 1, j + 1, k + 1}, n_), mirrored),
                          {latex(b)});
      }
    }
  }
}

void PageWriter::velocity_terms() {
  document.heading(1, "Centrifugal and Coriolis forces");
  const auto [C, B] = split_letters();
  const std::string coriolis = fmt::format(
      "; products of two velocities give the Coriolis forces, with coefficients $2 "
      "b_{{ijk}}$ in ${}$.",
      B);
  document.paragraph(
      fmt::format("Squared velocities give the centrifugal forces, with coefficients "
                  "$b_{{ijj}}$ in ${}${}",
                  C, n_ > 1 ? coriolis : "."));
  split();
  define(velocity_, {}, form_.V, velocity_);

  // The same from the rate of M, as lectures on Lagrange's equations write it.
  const Matrix rates = form_.M.unaryExpr([](const Polynomial& x) { return rate(x); });
  Vector result = multiply(rates, robot_.v());
  document.paragraph(fmt::format(
      "The same without Christoffel symbols: ${0} = \\dot{{{1}}} \\dot{{q}} - \\tfrac{{1}}{{2}} "
      "u$, with "
      "the entries $u_k = \\dot{{q}}^\\top (\\partial {1} / \\partial q_k) \\dot{{q}}$ of $u$.",
      velocity_, mass_));
  define(fmt::format("\\dot{{{}}}", mass_), {}, rates, fmt::format("\\dot{{{}}}", entry_));
  const std::string product = fmt::format("\\dot{{{}}} \\dot{{q}}", mass_);
  define(product, {}, result, "(" + product + ")");
  Vector u(n_);
  for (int k = 0; k < n_; ++k) {
    const SymbolId q = robot_.coordinates[static_cast<std::size_t>(k)].q;
    u[k] = Polynomial(2) * differentiate(form_.K, q);
    result[k] -= u[k] / Polynomial(2);
  }
  define("u", {}, u, "u");
  expect_equal(result, form_.V, "V from the rate of M and from the Christoffel symbols");
  document.paragraph("The difference is the same polynomial as above in every row.");
}

void PageWriter::expect_equal(const Vector& a, const Vector& b, const char* what) const {
  if (!(a == b)) fail_computation("write_page", fmt::format("{} differ", what));
}

void PageWriter::gravity() {
  document.heading(1, "Gravity");
  document.paragraph(fmt::format("${} = \\partial P / \\partial q$:", gravity_));
  define(gravity_, {}, form_.G, gravity_);
  document.paragraph(
      fmt::format("The same from the Jacobians: ${} = -\\sum_i J_{{v_i}}^\\top m_i \\mathbf{{g}}$, "
                  "with the summands",
                  gravity_));
  Vector sum = Vector::Constant(n_, Polynomial(0));
  for (std::size_t k = 0; k < form_.links.size(); ++k) {
    const LinkForm& link = form_.links[k];
    if (is_massless(link)) continue;
    const int i = static_cast<int>(k) + 1;
    Vector part(n_);
    if (link.center) {
      const Matrix Jv = jacobian(robot_, link.p);
      part = multiply(Jv.transpose(), Matrix(robot_.model.gravity() * -link.mass));
    } else {
      for (int c = 0; c < n_; ++c) {
        part[c] = differentiate(link.P, robot_.coordinates[static_cast<std::size_t>(c)].q);
      }
    }
    sum += part;
    const std::string left = numbered("-J_{v_%}^\\top m_% \\mathbf{g}", i);
    define(left, {}, part, left);
  }
  expect_equal(sum, form_.G, "G from the potential energy and from the Jacobians");
  document.paragraph("Their sum is the same polynomial as above in every row.");
}

Vector PageWriter::euler_lagrange() {
  document.heading(1, "Euler-Lagrange equations");
  document.paragraph(
      "The Lagrangian $L = K - P$ gives the generalized forces "
      "$\\frac{d}{dt} \\frac{\\partial L}{\\partial \\dot{q}_i} - \\frac{\\partial L}{\\partial "
      "q_i}$, "
      "coordinate by coordinate.");
  const Polynomial L = form_.K - form_.P;
  document.equation("L", {latex(L)});
  Vector tau(n_);
  for (int i = 0; i < n_; ++i) {
    const Coordinate& c = robot_.coordinates[static_cast<std::size_t>(i)];
    document.heading(2, fmt::format("Coordinate ${}$", name(c.q)));
    const Polynomial momentum = differentiate(L, c.v), force = differentiate(L, c.q);
    const Polynomial change = rate(momentum);
    const std::string by_v = fmt::format("\\frac{{\\partial L}}{{\\partial {}}}", name(c.v));
    const std::string by_q = fmt::format("\\frac{{\\partial L}}{{\\partial {}}}", name(c.q));
    document.equation(by_v, {latex(momentum)});
    document.equation("\\frac{d}{dt} " + by_v, {latex(change)});
    document.equation(by_q, {latex(force)});
    tau[i] = change - force;
    document.equation(fmt::format("\\frac{{d}}{{dt}} {} - {}", by_v, by_q), {latex(tau[i])});
  }
  tau += form_.damping;
  expect_equal(tau, form_.tau, "the Euler-Lagrange equations and M qdd + V + G");
  document.paragraph(fmt::format(
      "The last line{} is {} ${} \\ddot{{q}} + {} + {}$, polynomial by polynomial{}.",
      n_ == 1 ? "" : " of coordinate $i$", n_ == 1 ? "" : "row $i$ of", mass_, velocity_, gravity_,
      term_count(form_.damping) > 0 ? "; damping is added to it" : ""));
  return tau;
}

// The Newton-Euler recursion, link by link, and the comparison.

void PageWriter::newton_euler_steps(const NewtonEulerSteps& steps) {
  document.heading(1, "Newton-Euler: forward pass");
  document.paragraph(
      "All vectors of link $i$ are in link axes, $R$ maps vectors from the axes of its parent $j$ "
      "to those of link $i$, $r$ is the origin of link $i$ in the parent frame, and $s$ the joint "
      "axis. Gravity enters as an upward acceleration of the base, $\\dot{v}_0 = -\\mathbf{g}$. "
      "For "
      "a revolute joint:");
  document.equation("\\omega_i", {"R \\omega_j + s \\dot{q}"});
  document.equation("\\dot{\\omega}_i",
                    {"R \\dot{\\omega}_j + R \\omega_j \\times s \\dot{q} + s \\ddot{q}"});
  document.equation("\\dot{v}_i",
                    {"R (\\dot{\\omega}_j \\times r + \\omega_j \\times (\\omega_j \\times r) + "
                     "\\dot{v}_j)"});
  document.paragraph(
      "A prismatic joint adds $2 \\omega_i \\times s \\dot{q} + s \\ddot{q}$ to $\\dot{v}_i$ "
      "instead. The acceleration of the mass centre $r_{C_i}$ and the required force and moment "
      "follow:");
  document.equation("\\dot{v}_{C_i}",
                    {"\\dot{v}_i + \\dot{\\omega}_i \\times r_{C_i} + \\omega_i \\times (\\omega_i "
                     "\\times r_{C_i})"});
  document.equation("F_i", {"m_i \\dot{v}_{C_i}"});
  document.equation("N_i",
                    {"\\mathbf{I}_i \\dot{\\omega}_i + \\omega_i \\times \\mathbf{I}_i \\omega_i"});
  for (std::size_t k = 0; k < steps.links.size(); ++k) {
    const NewtonEulerLink& link = steps.links[k];
    const int i = static_cast<int>(k) + 1;
    document.heading(2, fmt::format("Link {}, moved by {}", i, joint_text(link.name)));
    const auto vector = [&](const char* pattern, const Vector3<Polynomial>& x) {
      define(numbered(pattern, i), {}, x, numbered(pattern, i));
    };
    vector("\\omega_%", link.w);
    vector("\\dot{\\omega}_%", link.wd);
    vector("\\dot{v}_%", link.vd);
    if (form_.links[k].center) vector("\\dot{v}_{C_%}", link.vd_center);
    vector("F_%", link.F);
    vector("N_%", link.N);
  }
  document.heading(1, "Newton-Euler: backward pass");
  document.paragraph(
      "From the tips to the base, each joint transmits the force and moment required by its link "
      "and by its child links $k$; $R_k$ maps vectors from the axes of link $k$ to those of link "
      "$i$, and $r_k$ is the origin of link $k$ in frame $i$. The motor supplies the component "
      "along the joint axis: $\\tau = s^\\top n_i$ for a revolute joint, $\\tau = s^\\top f_i$ for "
      "a prismatic joint.");
  document.equation("f_i", {"F_i + \\sum_k R_k f_k"});
  document.equation("n_i", {"N_i + r_{C_i} \\times F_i + \\sum_k (R_k n_k + r_k \\times R_k f_k)"});
  for (std::size_t k = steps.links.size(); k-- > 0;) {
    const NewtonEulerLink& link = steps.links[k];
    const int i = static_cast<int>(k) + 1;
    document.heading(2, fmt::format("Link {}, moved by {}", i, joint_text(link.name)));
    define(numbered("f_%", i), {}, link.f, numbered("f_%", i));
    define(numbered("n_%", i), {}, link.n, numbered("n_%", i));
    if (!robot_.model.coupling().is_identity()) {
      for (const Polynomial& tau : link.tau) {
        document.equation(fmt::format("\\tau_{{\\text{{{}}}}}", math_label(link.name)),
                          {latex(tau)});
      }
    }
  }
  document.paragraph(robot_.model.coupling().is_identity()
                         ? "The generalized forces are:"
                         : "The generalized forces on the coordinates of the robot, to which each "
                           "joint contributes in proportion to its coupling ratio, are:");
  for (int i = 0; i < n_; ++i) {
    document.equation(force_name(i), {latex(steps.tau[i])});
  }
}

// The same recursion with twists and wrenches.

void PageWriter::modern_robotics_steps(const ModernRoboticsSteps& steps) {
  document.heading(1, "Twists and wrenches: screw axes");
  document.paragraph(
      "Frame $i$ is now at the mass centre of link $i$, with the axes of the link. Twists are "
      "$\\mathcal{V} = (\\omega, v)$ and wrenches $\\mathcal{F} = (m, f)$, the angular part first. "
      "$\\mathcal{A}_i$ is the screw axis of joint $i$ in frame $i$, $\\mathcal{G}_i$ the spatial "
      "inertia "
      "of link $i$, and $M_{i,p}$ the frame of its parent $p$ in frame $i$ at $q = 0$, so that "
      "$T_{i,p} = e^{-[\\mathcal{A}_i] q_i} M_{i,p}$.");
  const auto label = [](const char* pattern, std::size_t k) {
    return numbered(pattern, static_cast<int>(k) + 1);
  };
  for (std::size_t k = 0; k < steps.links.size(); ++k) {
    const ModernRoboticsLink& link = steps.links[k];
    document.heading(2, fmt::format("Link {}, moved by {}", k + 1, joint_text(link.name)));
    if (!form_.links[k].center && !is_massless(form_.links[k])) {
      document.paragraph(
          "The masses of its parts are different symbols, so the mass centre is not a polynomial; "
          "the frame is at the link origin.");
    }
    const std::string home = fmt::format("M_{{{},{}}}", k + 1, link.parent);
    define(home, {}, link.home, home);
    define(label("\\mathcal{A}_%", k), {}, link.axis, label("\\mathcal{A}_%", k));
    define(label("\\mathcal{G}_%", k), {}, link.inertia, label("\\mathcal{G}_%", k));
  }
  document.heading(1, "Twists and wrenches: forward pass");
  document.paragraph(
      "The base is at rest, $\\mathcal{V}_0 = 0$, and gravity is an acceleration of the base: "
      "$\\dot{\\mathcal{V}}_0 = (0, -\\mathbf{g})$ with the vector $\\mathbf{g}$. From the base to "
      "the "
      "tips, with the parent $p$ of link $i$ and the Lie bracket $\\mathrm{ad}$:");
  document.equation("\\mathcal{V}_i",
                    {"\\mathrm{Ad}_{T_{i,p}} \\mathcal{V}_p + \\mathcal{A}_i \\dot{q}_i"});
  document.equation("\\dot{\\mathcal{V}}_i",
                    {"\\mathrm{Ad}_{T_{i,p}} \\dot{\\mathcal{V}}_p + \\mathrm{ad}_{\\mathcal{V}_i} "
                     "\\mathcal{A}_i \\dot{q}_i + \\mathcal{A}_i \\ddot{q}_i"});
  for (std::size_t k = 0; k < steps.links.size(); ++k) {
    const ModernRoboticsLink& link = steps.links[k];
    document.heading(2, fmt::format("Link {}, moved by {}", k + 1, joint_text(link.name)));
    define(label("\\mathcal{V}_%", k), {}, link.V, label("\\mathcal{V}_%", k));
    define(label("\\dot{\\mathcal{V}}_%", k), {}, link.Vd, label("\\dot{\\mathcal{V}}_%", k));
  }
  document.heading(1, "Twists and wrenches: backward pass");
  document.paragraph(
      "From the tips to the base, with the children $c$ of link $i$; there is no wrench at the "
      "tips. "
      "The motor supplies the component along its screw axis, $\\tau_i = \\mathcal{F}_i^\\top "
      "\\mathcal{A}_i$.");
  document.equation("\\mathcal{F}_i",
                    {"\\sum_c \\mathrm{Ad}_{T_{c,i}}^\\top \\mathcal{F}_c + \\mathcal{G}_i "
                     "\\dot{\\mathcal{V}}_i - \\mathrm{ad}_{\\mathcal{V}_i}^\\top (\\mathcal{G}_i "
                     "\\mathcal{V}_i)"});
  for (std::size_t k = steps.links.size(); k-- > 0;) {
    const ModernRoboticsLink& link = steps.links[k];
    document.heading(2, fmt::format("Link {}, moved by {}", k + 1, joint_text(link.name)));
    define(label("\\mathcal{F}_%", k), {}, link.F, label("\\mathcal{F}_%", k));
    if (!robot_.model.coupling().is_identity()) {
      document.equation(fmt::format("\\tau_{{\\text{{{}}}}}", math_label(link.name)),
                        {latex(link.tau)});
    }
  }
  document.paragraph("The generalized forces are:");
  for (int i = 0; i < n_; ++i) document.equation(force_name(i), {latex(steps.tau[i])});
}

void PageWriter::comparison(const std::vector<RouteResult>& routes) {
  document.heading(1, "Comparison");
  std::vector<std::string> names;
  for (const RouteResult& route : routes) names.push_back(route.name);
  document.paragraph(fmt::format(
      "Every expression here has exactly one canonical form, a sum of products of symbols with "
      "sines and cosines of sums of angles and exact rational coefficients, so two expressions are "
      "equal if and only if their canonical forms are identical. The generalized forces by {}:",
      fmt::join(names, ", by ")));
  for (std::size_t k = 1; k < routes.size(); ++k) {
    expect_equal(routes[k].tau, routes[0].tau, "two routes");
    for (int i = 0; i < n_; ++i) {
      const std::string difference = fmt::format(
          "\\tau_%^{{\\text{{{}}}}} - \\tau_%^{{\\text{{{}}}}}", routes[0].name, routes[k].name);
      document.equation(
          numbered(difference, i + 1),
          {fmt::format("0 \\quad \\text{{({} terms each)}}", routes[k].tau[i].size())});
    }
  }
}

}  // namespace limb::symbolic
