#include <fmt/format.h>

#include "limb/symbolic/document_text.hpp"
#include "limb/symbolic/page_writer.hpp"
#include "limb/symbolic/textbook_form.hpp"

/// The results: matrices, vectors and the equations joint by joint.
namespace limb::symbolic {

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
        "The Coriolis matrix of the Christoffel symbols, with $C(q, \\dot{q}) \\dot{q} = V$ and "
        "$\\dot{M} - 2 C$ skew:");
    define("C(q, \\dot{q})", {}, form_.C, "C");
  }
  if (has(Quantity::V)) define("V", {}, form_.V, "V");
  if (has(Quantity::G)) define("G", {}, form_.G, "G");
  frames();
  lambdas();
  if (has(Quantity::tau)) equations_of_motion();
  if (derivation_.way == Way::both) {
    document.paragraph(
        "Derived from the Lagrangian and by Newton and Euler: both give the same polynomials.");
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
        fmt::format("Frame {} stands at $p$. The rows of $J$ give the velocity of its "
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
    const LambdaForm& lambda = derivation_.lambdas[i];
    std::string rows;
    for (const int r : lambda.rows) rows += (rows.empty() ? "" : ", ") + std::string(kRows[r]);
    document.paragraph(
        fmt::format("The inertia that frame {} shows, $\\Lambda = (J M^{{-1}} "
                    "J^\\top)^{{-1}}$ over the rows ${}$, is $N / D$ with",
                    derivation_.frames[i].name, rows));
    // A number that the denominator has in front goes into the numerator.
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
    const std::string right = to_latex(Formula::sum_of(std::move(parts)), names_, numbers_);
    document.equation(fmt::format("\\tau_{}", i + 1), {right});
  }
}

}  // namespace limb::symbolic
