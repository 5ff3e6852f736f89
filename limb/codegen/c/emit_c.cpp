#include "limb/codegen/c/emit_c.hpp"

#include <fmt/format.h>

#include <cctype>

#include "limb/codegen/c/emit_c_statements.hpp"
#include "limb/codegen/lower/lower.hpp"

namespace limb::codegen {
namespace {

/// One state in plain C99. A mask is 1 or 0.
class PlainC final : public CDialect {
 public:
  explicit PlainC(Precision precision)
      : precision_(precision),
        one_(c_literal(1, precision)),
        zero_(c_literal(0, precision)),
        f_(c_suffix(precision)) {}

  std::string constant(double x) const override { return c_literal(x, precision_); }
  std::string input(const Array& array, int entry) const override {
    return fmt::format("{}[{}]", array.name, entry);
  }
  std::string store(const Array& array, int entry, const std::string& value) const override {
    return fmt::format("  {}[{}] = {};\n", array.name, entry, value);
  }

  std::string expression(Opcode opcode, const std::string& a, const std::string& b,
                         const std::string& c) const override {
    const auto mask = [&](const std::string& condition) {
      return fmt::format("({}) ? {} : {}", condition, one_, zero_);
    };
    const auto is = [&](const std::string& m) { return fmt::format("{} > {}", m, zero_); };
    switch (opcode) {
      case Opcode::abs:
        return fmt::format("fabs{}({})", f_, a);
      case Opcode::sqrt:
        return fmt::format("sqrt{}({})", f_, a);
      case Opcode::sine:
        return fmt::format("sin{}({})", f_, a);
      case Opcode::cosine:
        return fmt::format("cos{}({})", f_, a);
      case Opcode::atan2:
        return fmt::format("atan2{}({}, {})", f_, a, b);
      case Opcode::less:
        return mask(fmt::format("{} < {}", a, b));
      case Opcode::less_equal:
        return mask(fmt::format("{} <= {}", a, b));
      case Opcode::both:
        return mask(is(a) + " && " + is(b));
      case Opcode::either:
        return mask(is(a) + " || " + is(b));
      case Opcode::complement:
        return mask("!(" + is(a) + ")");
      case Opcode::select:
        return fmt::format("({}) ? {} : {}", is(a), b, c);
      default:
        return arithmetic(opcode, a, b);
    }
  }

 private:
  Precision precision_;
  std::string one_, zero_;
  const char* f_;
};

}  // namespace

std::string c_identifier(const std::string& name) {
  std::string id;
  for (const char c : name) {
    id += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (id.empty() || std::isdigit(static_cast<unsigned char>(id[0])) != 0) id = "robot_" + id;
  return id;
}

std::string c_prototype(const Trace& trace, const std::string& prefix, Precision precision) {
  std::string text = fmt::format("void {}_{}(", prefix, trace.name);
  const char* comma = "";
  const auto add = [&](const Array& array, const char* how) {
    text += fmt::format("{}{}{} {}[{}]", comma, how, c_type(precision), array.name, array.size());
    comma = ", ";
  };
  for (const Array& array : trace.inputs) add(array, "const ");
  for (const Array& array : trace.outputs) add(array, "");
  return text + ")";
}

CSource emit_c(const Trace& recorded, const std::string& prefix, Precision precision) {
  const Trace trace = with_c_names(recorded);
  const Code code = lower(trace, {.precision = precision, .fuse = false, .inline_sincos = false});
  const CStatements body = write_statements(code, PlainC(precision));
  CSource source;
  source.operations = code.operation_count();
  source.scratch_bytes =
      static_cast<std::size_t>(body.slots) * (precision == Precision::f64 ? 8 : 4);
  source.text = c_prototype(trace, prefix, precision) + " {\n";
  if (body.slots > 0) source.text += fmt::format("  {} w[{}];\n", c_type(precision), body.slots);
  source.text += c_unused_inputs(code) + body.text + "}\n";
  return source;
}

}  // namespace limb::codegen
