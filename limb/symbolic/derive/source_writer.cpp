#include "limb/symbolic/derive/source_writer.hpp"

#include <fmt/format.h>

#include "limb/base/check.hpp"

namespace limb::symbolic {

std::string number_literal(double value) {
  std::string text = limb::to_text(value);
  if (text.find_first_of(".en") == text.npos) text += ".0";
  return value < 0 ? fmt::format("({})", text) : text;
}

namespace {

/// Without what could end a comment: names in files may contain anything.
std::string in_comment(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '*' || c == '\\') c = ' ';
  }
  return text;
}

}  // namespace

void SourceWriter::open(const std::string& name, const std::string& robot, int n,
                        const std::vector<std::string>& parameters,
                        const std::vector<double>& defaults, const std::vector<Output>& outputs,
                        const std::vector<std::string>& notes, bool friction) {
  outputs_ = outputs;
  std::string list, values, sizes;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", parameters[i]);
    values += fmt::format("{}{}", i == 0 ? "" : ", ", limb::to_text(defaults[i]));
  }
  for (const Output& o : outputs)
    sizes += fmt::format("{}{}[{}]", sizes.empty() ? "" : ", ", o.name, o.size);
  const std::string equation =
      fmt::format("tau = M(q) qdd + V(q, qd) + G(q) + D qd{}, SI units and rad",
                  friction ? " + fc sign(qd)" : "");
  if (is_c()) {
    text_ += fmt::format("/* Equations of motion of '{}', written by limb: {}.\n", robot, equation);
    text_ += fmt::format("   Parameters p: {}. Results: {}; matrices by rows.",
                         list.empty() ? "none" : list, sizes);
    for (const std::string& note : notes) text_ += fmt::format("\n   Note: {}.", in_comment(note));
    text_ += " */\n";
    text_ += "#include <math.h>\n\n";
    if (!parameters.empty()) {
      text_ += fmt::format("const double {}_defaults[{}] = {{{}}};\n\n", name, parameters.size(),
                           values);
    }
    text_ += fmt::format(
        "void {}(const double* p, const double* q, const double* qd, const double* qdd", name);
    for (const Output& o : outputs) text_ += fmt::format(", double* {}", o.name);
    text_ += ") {\n  (void)p; (void)q; (void)qd; (void)qdd;\n";
  } else {
    text_ += fmt::format("\"\"\"Equations of motion of '{}', written by limb: {}.\"\"\"\n", robot,
                         equation);
    for (const std::string& note : notes) text_ += fmt::format("# Note: {}.\n", in_comment(note));
    text_ += fmt::format("import math\n\n{}_defaults = [{}]  # {}\n\n\n", name, values,
                         list.empty() ? "no parameters" : list);
    text_ += fmt::format("def {}(p, q, qd, qdd):\n", name);
    text_ += fmt::format("    \"\"\"Lists {}; matrices by rows. {} velocities.\"\"\"\n", sizes, n);
    for (const Output& o : outputs) text_ += fmt::format("    {} = [0.0] * {}\n", o.name, o.size);
  }
}

void SourceWriter::declare(const std::string& name, const std::string& value) {
  text_ += is_c() ? fmt::format("  const double {} = {};\n", name, value)
                  : fmt::format("    {} = {}\n", name, value);
}
void SourceWriter::assign(const std::string& target, const std::string& value) {
  text_ += is_c() ? fmt::format("  {} = {};\n", target, value)
                  : fmt::format("    {} = {}\n", target, value);
}
void SourceWriter::add_to(const std::string& target, const std::string& value) {
  text_ += is_c() ? fmt::format("  {} += {};\n", target, value)
                  : fmt::format("    {} += {}\n", target, value);
}
std::string SourceWriter::call(const std::string& function, const std::string& x) const {
  // Neither language has a sign function; comparisons are 0 or 1 in both.
  if (function == "sign") return fmt::format("(({0} > 0.0) - ({0} < 0.0))", x);
  return fmt::format("{}{}({})", is_c() ? "" : "math.", function, x);
}

std::string SourceWriter::close() {
  if (is_c()) {
    text_ += "}\n";
  } else {
    std::string list;
    for (const Output& o : outputs_) list += (list.empty() ? "" : ", ") + o.name;
    text_ += "    return " + list + "\n";
  }
  return std::move(text_);
}

}  // namespace limb::symbolic
