#include <fmt/format.h>

#include <cctype>

#include "limb/codegen/c/emit_c.hpp"
#include "limb/codegen/c/emit_c_statements.hpp"

namespace limb::codegen {
namespace {

std::string type_of(const Array& a) {
  return a.cols == 1 ? fmt::format("Vector<{}>", a.rows)
                     : fmt::format("Matrix<{}, {}>", a.rows, a.cols);
}

/// rnea_derivatives -> RneaDerivatives
std::string struct_name(const std::string& name) {
  std::string result;
  bool capital = true;
  for (const char c : name) {
    if (c == '_') {
      capital = true;
      continue;
    }
    result += capital ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    capital = false;
  }
  return result;
}

std::string one_state(const Trace& trace, const std::string& prefix) {
  std::string text, arguments, call;
  for (const Array& a : trace.inputs) {
    arguments += fmt::format("{}const {}& {}", arguments.empty() ? "" : ", ", type_of(a), a.name);
    call += a.name + ".data(), ";
  }
  const bool single = trace.outputs.size() == 1;
  const std::string result = single ? type_of(trace.outputs[0]) : struct_name(trace.name);
  if (!single) {
    text += fmt::format("\nstruct {} {{\n", result);
    for (const Array& a : trace.outputs) text += fmt::format("  {} {};\n", type_of(a), a.name);
    text += "};";
  }
  for (std::size_t k = 0; k < trace.outputs.size(); ++k) {
    call += (k == 0 ? "" : ", ") + std::string("result") +
            (single ? "" : "." + trace.outputs[k].name) + ".data()";
  }
  return text + fmt::format(
                    "\ninline {} {}({}) noexcept {{\n  {} result;\n  ::{}_{}({});\n"
                    "  return result;\n}}\n",
                    result, trace.name, arguments, result, prefix, trace.name, call);
}

std::string batch(const Trace& trace, const std::string& prefix) {
  std::string arguments, call;
  const auto add = [&](const Array& a, const char* how) {
    arguments += fmt::format(", {}Scalar* {}", how, a.name);
    call += ", " + a.name;
  };
  for (const Array& a : trace.inputs) add(a, "const ");
  for (const Array& a : trace.outputs) add(a, "");
  std::string text;
  for (const char* layout : {"rows", "columns"}) {
    text += fmt::format(
        "inline void {0}_{1}(std::size_t states{2}) noexcept {{\n  ::{3}_{0}_{1}(states{4});\n}}\n",
        trace.name, layout, arguments, prefix, call);
  }
  return text;
}

}  // namespace

std::string emit_cpp_wrapper(const std::vector<Trace>& traces, const std::string& prefix,
                             Precision precision, bool simd) {
  std::string text = fmt::format(
      "#pragma once\n\n#include <array>\n#include <cstddef>\n\n#include \"{0}.h\"\n{1}\n"
      "namespace limb_{0} {{\n\nusing Scalar = {2};\n"
      "template <std::size_t n>\nusing Vector = std::array<Scalar, n>;\n"
      "/// Column by column.\n"
      "template <std::size_t rows, std::size_t cols>\n"
      "struct Matrix : std::array<Scalar, rows * cols> {{\n"
      "  Scalar& operator()(std::size_t r, std::size_t c) {{ return (*this)[c * rows + r]; }}\n"
      "  const Scalar& operator()(std::size_t r, std::size_t c) const {{\n"
      "    return (*this)[c * rows + r];\n  }}\n}};\n",
      prefix, simd ? fmt::format("#include \"{}_simd.h\"\n", prefix) : "", c_type(precision));
  for (const Trace& trace : traces) {
    text += one_state(trace, prefix);
    if (simd) text += batch(trace, prefix);
  }
  return text + fmt::format("\n}}  // namespace limb_{}\n", prefix);
}

}  // namespace limb::codegen
