#pragma once

#include <unordered_map>

#include "limb/symbolic/derive/modern_robotics_steps.hpp"
#include "limb/symbolic/derive/newton_euler_steps.hpp"
#include "limb/symbolic/typeset/derivation_page.hpp"
#include "limb/symbolic/typeset/formula_latex.hpp"

/// Writes the chapters of a derivation page.
namespace limb::symbolic {

/// The generalized forces that one route gave.
struct RouteResult {
  std::string name;
  Vector tau;
};

class PageWriter {
 public:
  PageWriter(const Derivation& derivation, const PageOptions& options);

  Document document;

  // Chapters.
  void robot_and_coordinates();
  void result();
  /// @returns the generalized forces by d/dt dL/dqd - dL/dq, with damping.
  Vector lagrange_steps();
  void newton_euler_steps(const NewtonEulerSteps& steps);
  void modern_robotics_steps(const ModernRoboticsSteps& steps);
  /// @throws Error if two routes differ.
  void comparison(const std::vector<RouteResult>& routes);

 private:
  std::string name(SymbolId id) const { return names_.latex(id); }
  /// In textbook form, or expanded. A page shows many values several times: each is computed once.
  const Formula& formula(const Polynomial& x) const;
  std::string latex(const Polynomial& x) const;
  std::string matrix(const Matrix& m) const;
  /// left = m, or its entries one by one if the matrix would be too wide; `entry` names an entry.
  void define(const std::string& left, const std::vector<std::string>& before, const Matrix& m,
              const std::string& entry);
  /// The vectors [qd_1^2, ...] and [qd_1 qd_2, ...].
  std::string squares() const;
  std::string products() const;
  std::string column(const std::vector<std::string>& entries) const;

  /// "\tau_1", or "0" if no motor acts on the coordinate.
  std::string force_name(int i) const;

  void body_properties(int i, const LinkForm& link);
  void energies();
  void mass_matrix();
  void partial_derivatives();
  void velocity_terms();
  void gravity();
  Vector euler_lagrange();
  void joint_axes();
  void equations_of_motion();
  /// "M(q) \\ddot{q} + V(q, \\dot{q}) + G(q)" in the letters of the options.
  std::string motion() const;
  /// Letters of the coefficients of squares and of products of velocities.
  std::pair<std::string, std::string> split_letters() const;
  /// @throws Error "write_page: ... differ"
  void expect_equal(const Vector& a, const Vector& b, const char* what) const;
  std::string indices(std::initializer_list<int> list, int largest) const {
    return joined_indices(list, largest, options_.comma_indices);
  }
  void split();
  void partition();
  void frames();
  void lambdas();

  const Derivation& derivation_;
  const Robot& robot_;
  const ClosedForm& form_;
  SymbolNames names_;
  NumberStyle numbers_;
  PageOptions options_;
  bool steps_;
  std::string mass_, entry_, velocity_, gravity_;  ///< letters of M, its entries, V and G
  int n_;                                          ///< number of coordinates
  struct Hash {
    std::size_t operator()(const Polynomial& x) const;
  };
  mutable std::unordered_map<Polynomial, Formula, Hash> formulas_;
};

/// theta_i for angles and d_i for lengths, or q_i for all if `plain` or if a parameter has one of
/// these letters.
std::vector<CoordinateLetter> coordinate_letters(const Robot& robot, bool plain);
/// "p_{C_1}" from "p_{C_%}" and 1: replaces % by the number.
std::string numbered(const std::string& pattern, int i);
/// "joint hip", "joint1"
std::string joint_text(const std::string& name);

}  // namespace limb::symbolic
