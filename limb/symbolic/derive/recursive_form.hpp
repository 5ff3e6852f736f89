#pragma once

#include "limb/symbolic/derive/robot.hpp"
#include "limb/symbolic/derive/traced.hpp"
#include "limb/symbolic/derive/write_function.hpp"

/// The equations of motion as a sequence of assignments with intermediate variables: the recursive
/// algorithms of the dynamics module with constants folded and common subexpressions shared. Its
/// length grows as the cost of these algorithms, so every robot without loops has one, with any
/// joints.
namespace limb::symbolic {

struct RecursiveForm {
  struct Output {
    std::string name;  ///< "M", "V", "G", "tau"
    int rows = 0, cols = 1;
    std::vector<int> nodes;  ///< by rows
  };
  std::string robot;
  int nq = 0, nv = 0;
  std::vector<std::string> parameters;  ///< names of the inputs other than q, qd, qdd
  std::vector<double> defaults;         ///< their values in the file
  Tape tape;
  std::vector<Output> outputs;
  std::vector<std::string> notes;  ///< as in Robot
  bool friction = false;           ///< whether tau contains Coulomb friction

  /// Number of assignments that the outputs need.
  std::size_t size() const;
};

struct RecursiveOptions {
  RobotOptions robot;
  bool M = true, V = true, G = true, tau = true;
};

/// Numbers of the file stay numbers unless the options replace them by symbols; free, planar and
/// spherical joints are then rejected as in closed forms.
RecursiveForm derive_recursive(const std::string& path, const RecursiveOptions& options = {});

/// Lines "t12 = t3*t7", then the outputs.
std::string to_text(const RecursiveForm& form);
/// The same as an align* environment.
std::string to_latex(const RecursiveForm& form);
std::string write_function(const RecursiveForm& form, Language language);

/// The outputs at given values of the inputs, by name; for tests.
std::vector<std::vector<double>> evaluate(const RecursiveForm& form,
                                          const std::unordered_map<std::string, double>& inputs);

}  // namespace limb::symbolic
