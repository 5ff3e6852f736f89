#pragma once

#include <functional>
#include <string>
#include <vector>

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

struct CSource {
  std::string text;
  std::size_t scratch_bytes = 0;  ///< of the local array of intermediate values
  int operations = 0;
};

/// A C99 function `void prefix_name(const double q[7], ..., double tau[7])`: straight-line, no
/// heap, no state, nothing but sin, cos, sqrt, fabs and atan2 of <math.h>. Results may not overlap
/// arguments. Precision f32 writes float and sinf.
CSource emit_c(const Trace& trace, const std::string& prefix, Precision precision);

/// Its declaration, without the semicolon.
std::string c_prototype(const Trace& trace, const std::string& prefix, Precision precision);

/// Batches of the same functions for gcc and clang, with vectors of 16 to 64 bytes, depending on
/// the compiler's target: `void prefix_name_rows(size_t states, const double* q, ..., double* tau)`
/// with one state per row, `prefix_name_columns` with an entry of all states side by side, `int
/// prefix_lanes(void)`. Sines are polynomials; states with angles out of their range, and all
/// states with other compilers, are computed by the functions of emit_c.
CSource emit_c_simd(const std::vector<Trace>& traces, const std::string& prefix,
                    Precision precision);
/// Declarations of the two functions of a trace.
std::string simd_prototypes(const Trace& trace, const std::string& prefix, Precision precision);

/// A C++17 header for these functions: arrays with sizes that the compiler checks, results by
/// value, namespace limb_PREFIX.
std::string emit_cpp_wrapper(const std::vector<Trace>& traces, const std::string& prefix,
                             Precision precision, bool simd);

/// A valid C identifier: letters, digits and _; never empty, no digit first.
std::string c_identifier(const std::string& name);

/// A file to be written.
struct GeneratedFile {
  std::string name, text;
};

struct CPackageOptions {
  std::string prefix = "limb";  ///< of file and function names
  Precision precision = Precision::f64;
  std::string comment;  ///< lines for the top of each file: robot and conventions
  bool simd = false;    ///< emit_c_simd as PREFIX_simd.h and PREFIX_simd.c
  bool cpp = false;     ///< emit_cpp_wrapper as PREFIX.hpp
  /// Entries of an argument for the generated test; default: between -1 and 1.
  std::function<std::vector<double>(const Array&)> sample;
};

/// Self-contained sources for an embedded target: PREFIX.h, PREFIX.c, PREFIX_test.c with states and
/// expected results (PREFIX_test.h), and a Makefile with a target `test`.
struct CPackage {
  std::vector<GeneratedFile> files;
  /// Bound on the stack of any function: 1.5 times its scratch, since compilers need more (a third
  /// more with gcc 12 at -O2), plus 256.
  std::size_t stack_bytes = 0;
  std::size_t simd_stack_bytes = 0;  ///< the same for batches, with vectors of 64 bytes
};
CPackage make_c_package(const std::vector<Trace>& traces, const CPackageOptions& options);

/// The tests of a package with their states.
std::vector<GeneratedFile> make_c_tests(const std::vector<Trace>& traces,
                                        const CPackageOptions& options);
/// The comment at the top of a generated file.
std::string c_comment(const std::string& comment);

}  // namespace limb::codegen
