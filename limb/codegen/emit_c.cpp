#include "limb/codegen/emit_c.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "limb/base/error.hpp"

namespace limb::codegen {
namespace {

const char* type(Precision p) {
  return p == Precision::f64 ? "double" : "float";
}

std::string literal(double x, Precision p) {
  if (!std::isfinite(x)) throw Error("emit_c: a constant of this function is not finite");
  std::string text =
      p == Precision::f64 ? fmt::format("{}", x) : fmt::format("{}", static_cast<float>(x));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (p == Precision::f32) text += 'f';
  return x < 0 ? "(" + text + ")" : text;
}

class CWriter {
 public:
  CWriter(const Code& code) : code_(code), names_(code.instructions.size()) {
    for (const Array& array : code.inputs) list(array, inputs_);
    for (const Array& array : code.outputs) list(array, outputs_);
    const std::size_t n = code.instructions.size();
    last_.assign(n, 0);
    slot_.assign(n, -1);
    for (std::size_t i = 0; i < n; ++i) {
      const Operands operands = operands_of(code.instructions[i]);
      for (int k = 0; k < operands.count; ++k) {
        last_[static_cast<std::size_t>(operands.value[k])] = i;
      }
    }
  }

  std::string body() {
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) write(i);
    return std::move(text_);
  }
  int slots() const { return slots_; }

 private:
  static void list(const Array& array, std::vector<std::string>& names) {
    for (int j = 0; j < array.size(); ++j) names.push_back(fmt::format("{}[{}]", array.name, j));
  }

  const std::string& operand(int value) const { return names_[static_cast<std::size_t>(value)]; }

  void write(std::size_t i) {
    const Instruction& x = code_.instructions[i];
    const Precision p = code_.options.precision;
    switch (x.act) {
      case Act::constant:
        names_[i] = literal(code_.constants[static_cast<std::size_t>(x.a)], p);
        return;
      case Act::input:
        names_[i] = inputs_[static_cast<std::size_t>(x.a)];
        return;
      case Act::store:
        text_ += fmt::format("  {} = {};\n", outputs_[static_cast<std::size_t>(x.b)], operand(x.a));
        return release(i, x);
      default:
        break;
    }
    const std::string value = expression(x);
    release(i, x);
    if (last_[i] == 0) return;  // nobody reads it
    int& slot = slot_[i];
    if (free_.empty()) {
      slot = slots_++;
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    names_[i] = fmt::format("w[{}]", slot);
    text_ += fmt::format("  {} = {};\n", names_[i], value);
  }

  void release(std::size_t now, const Instruction& x) {
    const Operands operands = operands_of(x);
    for (int k = 0; k < operands.count; ++k) {
      const std::size_t v = static_cast<std::size_t>(operands.value[k]);
      if (last_[v] != now || slot_[v] < 0) continue;
      free_.push_back(slot_[v]);
      slot_[v] = -1;
    }
  }

  std::string expression(const Instruction& x) const {
    const bool f32 = code_.options.precision == Precision::f32;
    const auto a = [&] { return operand(x.a); };
    const auto b = [&] { return operand(x.b); };
    const auto call = [&](const char* f) {
      return fmt::format("{}{}({})", f, f32 ? "f" : "", a());
    };
    const char *one = f32 ? "1.0f" : "1.0", *zero = f32 ? "0.0f" : "0.0";
    const auto mask = [&](const std::string& condition) {
      return fmt::format("({}) ? {} : {}", condition, one, zero);
    };
    const auto is = [&](const std::string& m) { return fmt::format("{} > {}", m, zero); };
    switch (x.act) {
      case Act::add:
        return fmt::format("{} + {}", a(), b());
      case Act::sub:
        return fmt::format("{} - {}", a(), b());
      case Act::mul:
        return fmt::format("{} * {}", a(), b());
      case Act::div:
        return fmt::format("{} / {}", a(), b());
      case Act::neg:
        return fmt::format("-{}", a());
      case Act::abs:
        return call("fabs");
      case Act::sqrt:
        return call("sqrt");
      case Act::sine:
        return call("sin");
      case Act::cosine:
        return call("cos");
      case Act::atan2:
        return fmt::format("atan2{}({}, {})", f32 ? "f" : "", a(), b());
      case Act::less:
        return mask(fmt::format("{} < {}", a(), b()));
      case Act::less_equal:
        return mask(fmt::format("{} <= {}", a(), b()));
      case Act::both:
        return mask(is(a()) + " && " + is(b()));
      case Act::either:
        return mask(is(a()) + " || " + is(b()));
      case Act::complement:
        return mask("!(" + is(a()) + ")");
      case Act::select:
        return fmt::format("({}) ? {} : {}", is(a()), b(), operand(x.c));
      default:
        throw Error("emit_c: this code is not lowered for C");
    }
  }

  const Code& code_;
  std::vector<std::string> inputs_, outputs_, names_;
  std::vector<std::size_t> last_;
  std::vector<int> slot_, free_;
  int slots_ = 0;
  std::string text_;
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
    text += fmt::format("{}{}{} {}[{}]", comma, how, type(precision), array.name, array.size());
    comma = ", ";
  };
  for (const Array& array : trace.inputs) add(array, "const ");
  for (const Array& array : trace.outputs) add(array, "");
  return text + ")";
}

CSource emit_c(const Trace& trace, const std::string& prefix, Precision precision) {
  const Code code = lower(trace, {.precision = precision, .fuse = false, .inline_sincos = false});
  CWriter writer(code);
  const std::string body = writer.body();
  CSource source;
  source.operations = code.operation_count();
  source.scratch_bytes =
      static_cast<std::size_t>(writer.slots()) * (precision == Precision::f64 ? 8 : 4);
  source.text = c_prototype(trace, prefix, precision) + " {\n";
  if (writer.slots() > 0) {
    source.text += fmt::format("  {} w[{}];\n", type(precision), writer.slots());
  }
  // Arguments that the result does not depend on.
  std::vector<char> used(trace.inputs.size(), 0);
  for (const Instruction& x : code.instructions) {
    if (x.act != Act::input) continue;
    int k = 0, entry = x.a;
    while (entry >= trace.inputs[static_cast<std::size_t>(k)].size()) {
      entry -= trace.inputs[static_cast<std::size_t>(k++)].size();
    }
    used[static_cast<std::size_t>(k)] = 1;
  }
  for (std::size_t k = 0; k < used.size(); ++k) {
    if (used[k] == 0) source.text += fmt::format("  (void){};\n", trace.inputs[k].name);
  }
  source.text += body + "}\n";
  return source;
}

}  // namespace limb::codegen
