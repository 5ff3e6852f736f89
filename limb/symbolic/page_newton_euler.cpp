#include <fmt/format.h>

#include "limb/symbolic/document_text.hpp"
#include "limb/symbolic/page_writer.hpp"

/// The recursion of Newton and Euler, link by link, and the comparison.
namespace limb::symbolic {

void PageWriter::newton_euler_steps(const NewtonEulerSteps& steps) {
  document.heading(1, "The same by Newton and Euler: outward");
  document.paragraph(
      "All vectors of link $i$ are in its own axes, $R$ turns those of its parent $j$ into them, "
      "$r$ is "
      "the origin of link $i$ in its parent, and $s$ the axis of the joint. Gravity enters as an "
      "upward acceleration of the base, $\\dot{v}_0 = -\\mathbf{g}$. For a joint that turns:");
  document.equation("\\omega_i", {"R \\omega_j + s \\dot{q}"});
  document.equation("\\dot{\\omega}_i",
                    {"R \\dot{\\omega}_j + R \\omega_j \\times s \\dot{q} + s \\ddot{q}"});
  document.equation("\\dot{v}_i",
                    {"R (\\dot{\\omega}_j \\times r + \\omega_j \\times (\\omega_j \\times r) + "
                     "\\dot{v}_j)"});
  document.paragraph(
      "A joint that slides adds $2 \\omega_i \\times s \\dot{q} + s \\ddot{q}$ to $\\dot{v}_i$ "
      "instead. The mass "
      "centre $r_{C_i}$ and the motion's needs follow:");
  document.equation("\\dot{v}_{C_i}",
                    {"\\dot{v}_i + \\dot{\\omega}_i \\times r_{C_i} + \\omega_i \\times (\\omega_i "
                     "\\times r_{C_i})"});
  document.equation("F_i", {"m_i \\dot{v}_{C_i}"});
  document.equation("N_i",
                    {"\\mathbf{I}_i \\dot{\\omega}_i + \\omega_i \\times \\mathbf{I}_i \\omega_i"});
  for (std::size_t k = 0; k < steps.links.size(); ++k) {
    const LinkMotion& link = steps.links[k];
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
  document.heading(1, "The same by Newton and Euler: inward");
  document.paragraph(
      "From the tips to the base, each joint passes on what its link and all links $k$ behind it "
      "need; "
      "$R_k$ turns axes of link $k$ into those of link $i$, in which $r_k$ is its origin. A motor "
      "gives the "
      "part along the axis: $\\tau = s^\\top n_i$ if the joint turns, $\\tau = s^\\top f_i$ if it "
      "slides.");
  document.equation("f_i", {"F_i + \\sum_k R_k f_k"});
  document.equation("n_i", {"N_i + r_{C_i} \\times F_i + \\sum_k (R_k n_k + r_k \\times R_k f_k)"});
  for (std::size_t k = steps.links.size(); k-- > 0;) {
    const LinkMotion& link = steps.links[k];
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
                         ? "The forces of the motors:"
                         : "The forces on the robot's own coordinates, to which each joint adds by "
                           "the ratio with which it follows them:");
  for (int i = 0; i < n_; ++i) {
    document.equation(fmt::format("\\tau_{}", i + 1), {latex(steps.tau[i])});
  }
}

void PageWriter::comparison() {
  document.heading(1, "Comparison");
  document.paragraph(
      "Every value here has exactly one form, a sum of products of symbols with sines and cosines "
      "of "
      "sums of angles over exact ratios, so that two values are equal if and only if their forms "
      "are the "
      "same. The forces by Lagrange and by Newton and Euler:");
  for (int i = 0; i < n_; ++i) {
    document.equation(
        fmt::format("\\tau_{0}^{{\\text{{Lagrange}}}} - \\tau_{0}^{{\\text{{Newton-Euler}}}}",
                    i + 1),
        {fmt::format("0 \\quad \\text{{({} terms each)}}", form_.tau[i].size())});
  }
}

}  // namespace limb::symbolic
