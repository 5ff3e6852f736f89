#include "limb/symbolic/typeset/page_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/symbolic/algebra/calculus.hpp"
#include "limb/symbolic/typeset/line_breaks.hpp"
#include "limb/symbolic/typeset/textbook_form.hpp"

namespace limb::symbolic {
namespace {

constexpr double kMaxMatrixWidth = 58;      // letters; wider matrices are written entry by entry
constexpr std::size_t kMaxStepTerms = 400;  // of longer expressions only the size is printed

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

/// Pulleys, for example.
bool is_massless(const LinkForm& link) {
  return link.mass.is_zero() && term_count(link.tensor) == 0;
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
      names_(*robot_.ring, coordinate_letters(robot_, options.plain_names)),
      numbers_(number_style(robot_)),
      steps_(options.steps),
      n_(static_cast<int>(robot_.coordinates.size())) {
  document.title = fmt::format("Equations of motion of {}", robot_.model.name());
}

std::string PageWriter::latex(const Polynomial& x) const {
  if (steps_ && x.size() > kMaxStepTerms) return fmt::format("\\text{{({} terms)}}", x.size());
  return to_latex(textbook_form(x), names_, numbers_);
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
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    for (Eigen::Index c = symmetric ? r : 0; c < m.cols(); ++c) {
      zeros = zeros || m(r, c).is_zero();
      if (m(r, c).is_zero()) continue;
      const std::string subscript =
          m.cols() == 1 ? std::to_string(r + 1) : fmt::format("{}{}", r + 1, c + 1);
      const std::string mirrored =
          symmetric && c > r ? fmt::format(" = {}_{{{}{}}}", base, c + 1, r + 1) : "";
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
                    "$s_{{{0}}} = \\sin {1}$; two indices denote the sum of two "
                    "angles.",
                    i, name(first->q)));
  }
  const auto& coupling = robot_.model.coupling();
  if (!coupling.is_identity()) {
    const VectorX<Polynomial> q = coupling.expand_position(VectorX<Polynomial>(robot_.q()));
    document.paragraph(
        "Some joints are coupled to these coordinates. The joint coordinates $\\phi$ are");
    for (const Body<Polynomial>& body : robot_.model.bodies()) {
      for (int k = 0; k < body.joint.nv(); ++k) {
        document.equation(fmt::format("\\phi_{{\\text{{{}}}}}", body.name),
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
  for (const std::string& note : robot_.notes) document.paragraph("Note: " + note + ".");
}

// The results.

void PageWriter::result() {
  const auto has = [&](Quantity quantity) { return derivation_.quantities.count(quantity) > 0; };
  document.heading(1, "Result");
  document.paragraph(
      "The equations of motion are $\\tau = M(q) \\ddot{q} + V(q, \\dot{q}) + G(q)$.");
  if (has(Quantity::K)) document.equation("K", {latex(form_.K)});
  if (has(Quantity::P)) document.equation("P", {latex(form_.P)});
  if (has(Quantity::M)) define("M", {}, form_.M, "m");
  if (has(Quantity::christoffel)) partial_derivatives();
  if (has(Quantity::B)) split();
  if (has(Quantity::C)) {
    document.paragraph(
        "The Coriolis matrix from the Christoffel symbols, with $C(q, \\dot{q}) \\dot{q} = V$ and "
        "$\\dot{M} - 2 C$ skew-symmetric:");
    define("C(q, \\dot{q})", {}, form_.C, "C");
  }
  if (has(Quantity::V)) define("V", {}, form_.V, "V");
  if (has(Quantity::G)) define("G", {}, form_.G, "G");
  frames();
  lambdas();
  if (has(Quantity::tau)) equations_of_motion();
  if (derivation_.method == DerivationMethod::both) {
    document.paragraph(
        "Derived from the Lagrangian and by the Newton-Euler recursion: both give the same "
        "polynomials.");
  }
}

void PageWriter::split() {
  if (term_count(form_.centrifugal) + term_count(form_.coriolis) == 0) {
    document.equation("V", {"0"});
    return;
  }
  std::string sum = "C(q) " + squares();
  if (n_ > 1) sum += std::string(" ") + kBreak + "+ B(q) " + products();
  document.equation("V", {sum});
  define("C(q)", {}, form_.centrifugal, "C");
  if (n_ > 1) define("B(q)", {}, form_.coriolis, "B");
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
    document.paragraph(
        fmt::format("The operational-space inertia of frame {}, $\\Lambda = (J M^{{-1}} "
                    "J^\\top)^{{-1}}$ over the rows ${}$, is $N / D$ with",
                    derivation_.frames[i].name, rows));
    // A leading number of the denominator is moved to the numerator.
    const Formula d = textbook_form(lambda.denominator);
    const bool has_number = d.kind == Formula::Kind::product && d.parts[0].is_number();
    const Polynomial scale = Rational(1) / (has_number ? d.parts[0].number : Rational(1));
    define("N", {}, lambda.numerator * scale, "N");
    document.equation("D", {latex(lambda.denominator * scale)});
  }
}

void PageWriter::equations_of_motion() {
  const bool damped = term_count(form_.damping) > 0;
  document.paragraph(
      damped ? "Joint by joint, $\\tau = M \\ddot{q} + V + D \\dot{q} + G$, with damping $D$, is"
             : "Joint by joint, $\\tau = M \\ddot{q} + V + G$ is");
  for (int i = 0; i < n_; ++i) {
    std::vector<Formula> parts;
    for (int j = 0; j < n_; ++j) {
      parts.push_back(textbook_form(
          form_.M(i, j) *
          Polynomial::symbol(robot_.ring, robot_.coordinates[static_cast<std::size_t>(j)].a)));
    }
    for (const Vector* part : {&form_.V, &form_.damping, &form_.G}) {
      parts.push_back(textbook_form((*part)[i]));
    }
    const std::string right_side = to_latex(Formula::sum_of(std::move(parts)), names_, numbers_);
    document.equation(fmt::format("\\tau_{}", i + 1), {right_side});
  }
}

// The derivation from the energies.

void PageWriter::lagrange_steps() {
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
      "joints and for joints that do not move it.");
  for (std::size_t k = 0; k < form_.links.size(); ++k) {
    if (is_massless(form_.links[k])) continue;
    const int i = static_cast<int>(k) + 1;
    define(numbered("J_{v_%}", i), {}, jacobian(robot_, form_.links[k].p), numbered("J_{v_%}", i));
    define(numbered("J_{\\omega_%}", i), {}, form_.links[k].Jw_B, numbered("J_{\\omega_%}", i));
  }

  energies();
  mass_matrix();

  document.heading(1, "Derivatives of the mass matrix");
  partial_derivatives();
  velocity_terms();
  gravity();

  document.heading(1, "Equations of motion");
  equations_of_motion();
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
  document.paragraph(
      has_inertia ? mass + fmt::format(", mass centre $r_{{C_{0}}}$ in link axes, and inertia "
                                       "$\\mathbf{{I}}_{0}$ about it:",
                                       i)
                  : mass + fmt::format(" at $r_{{C_{}}}$ in link axes:", i));
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
  document.paragraph(
      "The kinetic energy is $\\tfrac{1}{2} \\dot{q}^\\top M \\dot{q}$, so each link contributes "
      "$m_i J_{v_i}^\\top J_{v_i} + J_{\\omega_i}^\\top \\mathbf{I}_i J_{\\omega_i}$ to $M$.");
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
  define("M", {}, form_.M, "m");
}

void PageWriter::partial_derivatives() {
  document.paragraph("The nonzero derivatives $m_{ijk} = \\partial m_{ij} / \\partial q_k$ are:");
  const std::size_t before = document.blocks.size();
  for (int i = 0; i < n_; ++i) {
    for (int j = i; j < n_; ++j) {
      for (int k = 0; k < n_; ++k) {
        const Polynomial d =
            differentiate(form_.M(i, j), robot_.coordinates[static_cast<std::size_t>(k)].q);
        if (d.is_zero()) continue;
        document.equation(fmt::format("m_{{{}{}{}}}", i + 1, j + 1, k + 1), {latex(d)});
      }
    }
  }
  if (document.blocks.size() == before) {
    document.blocks.back().text =
        "The mass matrix is constant, so all its derivatives and all Christoffel symbols are zero.";
    return;
  }
  document.paragraph(
      "The Christoffel symbols are $b_{ijk} = \\tfrac{1}{2} (m_{ijk} + m_{ikj} - m_{jki})$, "
      "symmetric in "
      "the last two indices. The nonzero ones are:");
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) {
      for (int k = j; k < n_; ++k) {
        const Polynomial& b = form_.gamma(i, j, k);
        if (b.is_zero()) continue;
        const std::string mirrored =
            j == k ? "" : fmt::format(" = b_{{{}{}{}}}", i + 1, k + 1, j + 1);
        document.equation(fmt::format("b_{{{}{}{}}}{}", i + 1, j + 1, k + 1, mirrored), {latex(b)});
      }
    }
  }
}

void PageWriter::velocity_terms() {
  document.heading(1, "Centrifugal and Coriolis forces");
  const bool pairs = n_ > 1;
  document.paragraph(
      pairs
          ? "Squared velocities give the centrifugal forces, with coefficients $b_{ijj}$ in $C$; "
            "products of two velocities give the Coriolis forces, with coefficients $2 b_{ijk}$ in "
            "$B$."
          : "Squared velocities give the centrifugal forces, with coefficients $b_{ijj}$ in $C$.");
  split();
  define("V", {}, form_.V, "V");
}

void PageWriter::gravity() {
  document.heading(1, "Gravity");
  document.paragraph("$G = \\partial P / \\partial q$:");
  define("G", {}, form_.G, "G");
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
        document.equation(fmt::format("\\tau_{{\\text{{{}}}}}", link.name), {latex(tau)});
      }
    }
  }
  document.paragraph(robot_.model.coupling().is_identity()
                         ? "The generalized forces are:"
                         : "The generalized forces on the coordinates of the robot, to which each "
                           "joint contributes in proportion to its coupling ratio, are:");
  for (int i = 0; i < n_; ++i) {
    document.equation(fmt::format("\\tau_{}", i + 1), {latex(steps.tau[i])});
  }
}

void PageWriter::comparison() {
  document.heading(1, "Comparison");
  document.paragraph(
      "Every expression here has exactly one canonical form, a sum of products of symbols with "
      "sines and cosines of sums of angles and exact rational coefficients, so two expressions are "
      "equal if and only if their canonical forms are identical. The generalized forces by "
      "Lagrange and by Newton-Euler:");
  for (int i = 0; i < n_; ++i) {
    document.equation(
        fmt::format("\\tau_{0}^{{\\text{{Lagrange}}}} - \\tau_{0}^{{\\text{{Newton-Euler}}}}",
                    i + 1),
        {fmt::format("0 \\quad \\text{{({} terms each)}}", form_.tau[i].size())});
  }
}

}  // namespace limb::symbolic
