#pragma once

#include <string>

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

/// A number as a C literal, in parentheses if it is negative. @throws Error if it is not finite.
std::string c_literal(double x, Precision precision);
inline const char* c_type(Precision precision) {
  return precision == Precision::f64 ? "double" : "float";
}
/// "double" stays as it is; functions of <math.h> get an f in single precision.
inline const char* c_suffix(Precision precision) {
  return precision == Precision::f64 ? "" : "f";
}

/// The same computation with arrays renamed whose names are keywords of C or C++ or are used by the
/// generated files.
Trace with_c_names(Trace trace);

/// How values of one state, or of several at once, are written in C.
class CDialect {
 public:
  virtual ~CDialect() = default;
  virtual std::string constant(double x) const = 0;
  virtual std::string input(const Array& array, int entry) const = 0;
  /// Whole lines, indented by two.
  virtual std::string store(const Array& array, int entry, const std::string& value) const = 0;
  virtual std::string expression(Opcode opcode, const std::string& a, const std::string& b,
                                 const std::string& c) const = 0;
  /// Whether sine and cosine of one angle are computed by one call (below) instead of expressions.
  virtual bool pairs_sines() const { return false; }
  virtual std::string sine_and_cosine(const std::string& /*angle*/, const std::string& /*sine*/,
                                      const std::string& /*cosine*/) const {
    return "";
  }

 protected:
  /// Expressions common to all dialects. @throws Error for instructions that C does not have.
  static std::string arithmetic(Opcode opcode, const std::string& a, const std::string& b);
};

/// Straight-line statements with one array w of intermediate values, whose entries are reused after
/// the last use of a value.
struct CStatements {
  std::string text;
  int slots = 0;  ///< of w
};
/// @param code with sines as calls.
CStatements write_statements(const Code& code, const CDialect& dialect);

/// "(void)q;" for arguments that no instruction reads.
std::string c_unused_inputs(const Code& code);

}  // namespace limb::codegen
