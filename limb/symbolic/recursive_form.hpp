#pragma once

#include "limb/symbolic/robot.hpp"
#include "limb/symbolic/traced.hpp"
#include "limb/symbolic/write_function.hpp"

/// The equations of motion as a sequence of assignments with intermediate variables: what the
/// recursions of the dynamics room compute, with everything constant folded and every equal
/// operation once. Its length grows with the number of joints, not with its powers, so that every
/// robot has one, whatever its joints.
namespace limb::symbolic {

struct RecursiveForm {
  struct Output {
    std::string name;  ///< "M", "V", "G", "tau"
    int rows = 0, cols = 1;
    std::vector<int> nodes;  ///< by rows
  };
  std::string robot;
  int nq = 0, nv = 0;
  std::vector<std::string> parameters;  ///< names of inputs besides q, qd, qdd
  std::vector<double> defaults;         ///< their values in the file
  Tape tape;
  std::vector<Output> outputs;

  /// Assignments that the outputs need.
  std::size_t size() const;
};

struct RecursiveOptions {
  RobotOptions robot;
  bool M = true, V = true, G = true, tau = true;
};

/// Numbers of the file stay numbers unless the options name them; then, or where a recipe names
/// them, free, planar and spherical joints are refused as in closed forms.
RecursiveForm derive_recursive(const std::string& path, const RecursiveOptions& options = {});

/// Lines "t12 = t3*t7", then the outputs.
std::string to_text(const RecursiveForm& form);
/// The same as an aligned display.
std::string to_latex(const RecursiveForm& form);
std::string write_function(const RecursiveForm& form, Language language);

/// The outputs at numbers for the inputs, for tests: values by name of input.
std::vector<std::vector<double>> evaluate(const RecursiveForm& form,
                                          const std::unordered_map<std::string, double>& inputs);

}  // namespace limb::symbolic
