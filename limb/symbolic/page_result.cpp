#include <fmt/format.h>

#include "limb/symbolic/document_text.hpp"
#include "limb/symbolic/page_writer.hpp"
#include "limb/symbolic/textbook_form.hpp"

/// The results: matrices, vectors and the equations joint by joint.
namespace limb::symbolic {

namespace {

bool is_zero(const Matrix& m) {
  for (Eigen::Index i = 0; i < m.size(); ++i) {
    if (!m.data()[i].is_zero()) return false;
  }
  return true;
}

}  // namespace

void PageWriter::result() {
  const std::set<std::string> standard{"M", "C", "B", "G", "tau"};
  const std::set<std::string>& wanted =
      options_.quantities.empty() ? standard : options_.quantities;
  const auto has = [&](const char* quantity) { return wanted.count(quantity) > 0; };
  document.heading(1, "Result");
  document.paragraph(
      "The equations of motion are $\\tau = M(q) \\ddot{q} + V(q, \\dot{q}) + G(q)$"
      " with");
  if (has("K")) document.equation("K", {latex(form_.K)});
  if (has("P")) document.equation("P", {latex(form_.P)});
  if (has("M")) define("M", {}, form_.M, "m");
  if (has("C") || has("B")) {
    if (is_zero(form_.V)) {
      document.equation("V", {"0"});
    } else {
      const bool products_too = n_ > 1;
      document.equation("V",
                        {products_too ? "C(q) " + squares() + " " + kBreak + "+ B(q) " + products()
                                      : "C(q) " + squares()});
      if (has("C")) define("C", {}, form_.centrifugal, "C");
      if (has("B") && products_too) define("B", {}, form_.coriolis, "B");
    }
  }
  if (has("christoffel")) partial_derivatives();
  if (has("V")) define("V", {}, form_.V, "V");
  if (has("G")) define("G", {}, form_.G, "G");
  if (has("tau")) equations_of_motion();
}

void PageWriter::equations_of_motion() {
  document.paragraph("Joint by joint, $\\tau = M \\ddot{q} + V + G$ is");
  for (int i = 0; i < n_; ++i) {
    std::vector<Formula> parts;
    std::size_t terms = 0;
    for (int j = 0; j < n_; ++j) {
      const Polynomial x =
          form_.M(i, j) *
          Polynomial::symbol(robot_.ring, robot_.coordinates[static_cast<std::size_t>(j)].a);
      terms += x.size();
      parts.push_back(textbook_form(x));
    }
    terms += form_.V[i].size() + form_.G[i].size();
    parts.push_back(textbook_form(form_.V[i]));
    parts.push_back(textbook_form(form_.damping[i]));
    parts.push_back(textbook_form(form_.G[i]));
    constexpr std::size_t kLongest = 1200;
    const std::string right = terms > kLongest
                                  ? fmt::format("\\text{{({} terms)}}", terms)
                                  : to_latex(Formula::sum_of(std::move(parts)), names_, numbers_);
    document.equation(fmt::format("\\tau_{}", i + 1), {right});
  }
}

}  // namespace limb::symbolic
