#include <fmt/format.h>

#include "limb/symbolic/calculus.hpp"
#include "limb/symbolic/document_text.hpp"
#include "limb/symbolic/page_writer.hpp"

/// The way from the energies, as a lecture goes it.
namespace limb::symbolic {
namespace {

Matrix times(const Matrix& a, const Matrix& b) {
  Matrix result = Matrix::Constant(a.rows(), b.cols(), Polynomial(0));
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < b.cols(); ++j) {
      for (Eigen::Index k = 0; k < a.cols(); ++k) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}

/// Pulleys and their kind move but add nothing.
bool is_massless(const LinkForm& link) {
  return link.mass.is_zero() && term_count(link.tensor) == 0;
}

}  // namespace

void PageWriter::lagrange_steps() {
  document.heading(1, "Frames and mass centres");
  document.paragraph(
      "Link $i$ carries frame $i$ at its joint. $R_i$ turns its axes into those of the world, "
      "$p_i$ "
      "is its origin and $p_{C_i}$ the mass centre, both in the world.");
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
      "p_{C_i} / \\partial q$. The angular velocity, in axes of the link, is $\\omega_i = "
      "J_{\\omega_i} "
      "\\dot{q}$: a column is the axis of a joint that turns the link, and zero for joints that "
      "slide or come after it.");
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

/// Mass, mass centre and inertia of a link, each where it has one.
void PageWriter::body_properties(int i, const LinkForm& link) {
  const std::string who = fmt::format("Link {}, moved by {}, ", i, joint_text(link.name));
  const bool has_inertia = term_count(link.tensor) > 0;
  if (is_massless(link)) {
    document.paragraph(who + "has no mass.");
    return;
  }
  const std::string mass = fmt::format("{}has {}mass ${}$", who, has_inertia ? "" : "its ",
                                       without_marks(latex(link.mass)));
  if (!link.center) {
    document.paragraph(mass + ", first moment $h$ and inertia $\\mathbf{{I}}$ about its origin:");
    define(numbered("h_%", i), {}, link.first_moment, numbered("h_%", i));
    define(numbered("\\mathbf{I}_%", i), {}, link.tensor, numbered("\\mathbf{I}_%", i));
    return;
  }
  document.paragraph(has_inertia
                         ? mass + fmt::format(" with its centre $r_{{C_{0}}}$ in its own axes, and "
                                              "inertia $\\mathbf{{I}}_{0}$ about that:",
                                              i)
                         : mass + fmt::format(" in one point, $r_{{C_{}}}$ in its own axes:", i));
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
      "zero "
      "at the world's origin.");
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
    document.paragraph(K == form_.K ? "Together:" : "Together, with the armatures of the drives:");
    document.equation("K", {latex(form_.K)});
    document.equation("P", {latex(form_.P)});
  }
}

void PageWriter::mass_matrix() {
  document.heading(1, "Mass matrix");
  document.paragraph(
      "The kinetic energy is $\\tfrac{1}{2} \\dot{q}^\\top M \\dot{q}$, so that every link adds "
      "$m_i J_{v_i}^\\top J_{v_i} + J_{\\omega_i}^\\top \\mathbf{I}_i J_{\\omega_i}$ to $M$.");
  Matrix sum = Matrix::Constant(n_, n_, Polynomial(0));
  for (std::size_t k = 0; k < form_.links.size(); ++k) {
    const LinkForm& link = form_.links[k];
    if (is_massless(link)) continue;
    const int i = static_cast<int>(k) + 1;
    sum += link.M;
    if (link.center) {
      const Matrix sliding = link.mass * times(link.Jv_B.transpose(), link.Jv_B);
      define(numbered("m_% J_{v_%}^\\top J_{v_%}", i), {}, sliding, numbered("M_{v_%}", i));
      define(numbered("J_{\\omega_%}^\\top \\mathbf{I}_% J_{\\omega_%}", i), {}, link.M - sliding,
             numbered("M_{\\omega_%}", i));
    } else {
      define(numbered("M_%", i), {}, link.M, numbered("M_%", i));
    }
  }
  document.paragraph(sum == form_.M ? "Their sum is" : "Their sum and the armatures are");
  define("M", {}, form_.M, "m");
}

void PageWriter::partial_derivatives() {
  document.paragraph("Only what is not zero, with $m_{ijk} = \\partial m_{ij} / \\partial q_k$:");
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
        "The mass matrix is constant: all its derivatives are zero, and "
        "with them all Christoffel symbols.";
    return;
  }
  document.paragraph(
      "The Christoffel symbols are $b_{ijk} = \\tfrac{1}{2} (m_{ijk} + m_{ikj} - m_{jki})$, "
      "symmetric in "
      "the last two indices. Those that are not zero:");
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) {
      for (int k = j; k < n_; ++k) {
        const Polynomial& b = form_.gamma(i, j, k);
        if (b.is_zero()) continue;
        const std::string twin = j == k ? "" : fmt::format(" = b_{{{}{}{}}}", i + 1, k + 1, j + 1);
        document.equation(fmt::format("b_{{{}{}{}}}{}", i + 1, j + 1, k + 1, twin), {latex(b)});
      }
    }
  }
}

void PageWriter::velocity_terms() {
  document.heading(1, "Centrifugal and Coriolis forces");
  const bool pairs = n_ > 1;
  document.paragraph(
      pairs
          ? "Squares of velocities give the centrifugal forces, entries $b_{ijj}$ of $C$; products "
            "give the Coriolis forces, entries $2 b_{ijk}$ of $B$."
          : "Squares of velocities give the centrifugal forces, entries $b_{ijj}$ of $C$.");
  split();
  define("V", {}, form_.V, "V");
}

void PageWriter::gravity() {
  document.heading(1, "Gravity");
  document.paragraph("$G = \\partial P / \\partial q$:");
  define("G", {}, form_.G, "G");
}

}  // namespace limb::symbolic
