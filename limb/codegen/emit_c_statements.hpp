#pragma once

#include <string>

#include "limb/codegen/code.hpp"

namespace limb::codegen {

/// A number as a literal of C, in brackets if it is negative. @throws Error if it is not finite.
std::string c_literal(double x, Precision precision);
inline const char* c_type(Precision precision) {
  return precision == Precision::f64 ? "double" : "float";
}
/// "double" stays as it is; functions of <math.h> get an f in single precision.
inline const char* c_suffix(Precision precision) {
  return precision == Precision::f64 ? "" : "f";
}

/// The same computation, with other names for arrays that would meet a word of C or C++ or a name
/// that the generated files use.
Trace with_c_names(Trace trace);

/// How a value of one state, or of several at once, is written in C.
class CDialect {
 public:
  virtual ~CDialect() = default;
  virtual std::string constant(double x) const = 0;
  virtual std::string input(const Array& array, int entry) const = 0;
  /// Whole lines, indented by two.
  virtual std::string store(const Array& array, int entry, const std::string& value) const = 0;
  virtual std::string expression(Act act, const std::string& a, const std::string& b,
                                 const std::string& c) const = 0;
  /// Whether sine and cosine of one angle come by one call, below, and not as expressions.
  virtual bool pairs_sines() const { return false; }
  virtual std::string sine_and_cosine(const std::string& /*angle*/, const std::string& /*sine*/,
                                      const std::string& /*cosine*/) const {
    return "";
  }

 protected:
  /// What all dialects write alike. @throws Error for what is no instruction of C.
  static std::string arithmetic(Act act, const std::string& a, const std::string& b);
};

/// Straight-line statements over one array w of intermediate values, in which a place is free again
/// after the last use of its value.
struct CStatements {
  std::string text;
  int slots = 0;  ///< of w
};
/// @param code its sines are calls.
CStatements write_statements(const Code& code, const CDialect& dialect);

/// "(void)q;" for arguments that no instruction reads.
std::string c_unused_inputs(const Code& code);

}  // namespace limb::codegen
