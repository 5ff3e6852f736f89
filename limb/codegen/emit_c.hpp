#pragma once

#include <functional>
#include <string>
#include <vector>

#include "limb/codegen/code.hpp"

namespace limb::codegen {

struct CSource {
  std::string text;
  std::size_t scratch_bytes = 0;  ///< of the one local array, which holds all intermediate values
  int operations = 0;
};

/// A C99 function `void prefix_name(const double q[7], ..., double tau[7])`: straight-line, no
/// heap, no state, nothing but sin, cos, sqrt, fabs and atan2 of <math.h>. Results may not overlap
/// arguments. Precision f32 writes float and sinf.
CSource emit_c(const Trace& trace, const std::string& prefix, Precision precision);

/// Its declaration, without the semicolon.
std::string c_prototype(const Trace& trace, const std::string& prefix, Precision precision);

/// A name fit for C: letters, digits and _; never empty, no digit first.
std::string c_identifier(const std::string& name);

/// A file to be written.
struct GeneratedFile {
  std::string name, text;
};

struct CPackageOptions {
  std::string prefix = "limb";  ///< of file and function names
  Precision precision = Precision::f64;
  std::string remark;  ///< for the head of each file: robot and conventions, lines
  /// Entries of an argument for the generated test; default: between -1 and 1.
  std::function<std::vector<double>(const Array&)> sample;
};

/// Self-contained sources for an embedded target: PREFIX.h, PREFIX.c, PREFIX_test.c with states and
/// expected results of its own, and a Makefile with a target `test`.
struct CPackage {
  std::vector<GeneratedFile> files;
  /// Bound on the stack of any function: half more than its scratch, for what compilers keep
  /// besides (seen with gcc 12 at -O2: a third), and 256.
  std::size_t stack_bytes = 0;
};
CPackage make_c_package(const std::vector<Trace>& traces, const CPackageOptions& options);

}  // namespace limb::codegen
