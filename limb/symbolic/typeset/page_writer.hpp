#pragma once

#include "limb/symbolic/derive/newton_euler_steps.hpp"
#include "limb/symbolic/typeset/derivation_page.hpp"
#include "limb/symbolic/typeset/formula_latex.hpp"

/// Writes the chapters of a derivation page.
namespace limb::symbolic {

class PageWriter {
 public:
  PageWriter(const Derivation& derivation, const PageOptions& options);

  Document document;

  // Chapters.
  void robot_and_coordinates();
  void result();
  void lagrange_steps();
  void newton_euler_steps(const NewtonEulerSteps& steps);
  void comparison();

 private:
  std::string name(SymbolId id) const { return names_.latex(id); }
  /// In textbook form.
  std::string latex(const Polynomial& x) const;
  std::string matrix(const Matrix& m) const;
  /// left = m, or its entries one by one if the matrix would be too wide; `entry` names an entry.
  void define(const std::string& left, const std::vector<std::string>& before, const Matrix& m,
              const std::string& entry);
  /// The vectors [qd_1^2, ...] and [qd_1 qd_2, ...].
  std::string squares() const;
  std::string products() const;
  std::string column(const std::vector<std::string>& entries) const;

  void body_properties(int i, const LinkForm& link);
  void energies();
  void mass_matrix();
  void partial_derivatives();
  void velocity_terms();
  void gravity();
  void equations_of_motion();
  void split();
  void frames();
  void lambdas();

  const Derivation& derivation_;
  const Robot& robot_;
  const ClosedForm& form_;
  SymbolNames names_;
  NumberStyle numbers_;
  bool steps_;
  int n_;  ///< number of coordinates
};

/// "p_{C_1}" from "p_{C_%}" and 1: replaces % by the number.
std::string numbered(const std::string& pattern, int i);
/// "joint hip", "joint1"
std::string joint_text(const std::string& name);

}  // namespace limb::symbolic
