#include <fmt/format.h>

#include <cctype>
#include <functional>

#include "limb/base/check.hpp"
#include "limb/symbolic/derive/recursive_form.hpp"
#include "limb/symbolic/derive/source_writer.hpp"
#include "limb/symbolic/typeset/document.hpp"

/// Recursive forms as text, LaTeX and source code.
namespace limb::symbolic {
namespace {

using Op = TapeNode::Op;

/// The syntax of one output format.
struct Style {
  std::function<std::string(const std::string&)> input;
  std::function<std::string(int)> variable;
  std::function<std::string(double)> number;
  std::function<std::string(const char*, const std::string&)> call;
  const char* times;
};

/// Visits the assignments that the outputs need, in order, with their right-hand sides as text.
class Assignments {
 public:
  Assignments(const RecursiveForm& form, const Style& style) : form_(form), style_(style) {
    const auto& nodes = form.tape.nodes();
    text_.resize(nodes.size());
    uses_.resize(nodes.size(), 0);
    for (const auto& output : form.outputs) {
      for (const int node : output.nodes) ++uses_[static_cast<std::size_t>(node)];
    }
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if (uses_[i] == 0) continue;
      if (nodes[i].a >= 0) ++uses_[static_cast<std::size_t>(nodes[i].a)];
      if (nodes[i].b >= 0) ++uses_[static_cast<std::size_t>(nodes[i].b)];
    }
  }

  void visit(const std::function<void(const std::string&, const std::string&)>& assign) {
    const auto& nodes = form_.tape.nodes();
    int count = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (uses_[i] == 0) continue;
      const TapeNode& n = nodes[i];
      if (n.op == Op::input) {
        text_[i] = style_.input(form_.tape.names().at(static_cast<int>(i)));
      } else if (n.op == Op::constant) {
        text_[i] = style_.number(n.value);
      } else {
        text_[i] = style_.variable(++count);
        assign(text_[i], right_side(n));
      }
    }
  }
  const std::string& of(int node) const { return text_[static_cast<std::size_t>(node)]; }

 private:
  std::string right_side(const TapeNode& n) const {
    switch (n.op) {
      case Op::negate:
        return fmt::format("-{}", of(n.a));
      case Op::add:
        return fmt::format("{} + {}", of(n.a), of(n.b));
      case Op::subtract:
        return fmt::format("{} - {}", of(n.a), of(n.b));
      case Op::multiply:
        return fmt::format("{}{}{}", of(n.a), style_.times, of(n.b));
      case Op::divide:
        return fmt::format("{}/{}", of(n.a), of(n.b));
      case Op::sin:
        return style_.call("sin", of(n.a));
      case Op::cos:
        return style_.call("cos", of(n.a));
      case Op::sign:
        return style_.call("sign", of(n.a));
      default:
        return style_.call("sqrt", of(n.a));
    }
  }

  const RecursiveForm& form_;
  const Style& style_;
  std::vector<std::string> text_;
  std::vector<int> uses_;
};

/// Negative numbers in parentheses, for use as factors and summands.
std::string enclosed(double x) {
  return x < 0 ? fmt::format("({})", limb::to_text(x)) : limb::to_text(x);
}

std::string index_text(const RecursiveForm::Output& o, std::size_t k) {
  if (o.cols == 1) return fmt::format("{}", k + 1);
  const auto cols = static_cast<std::size_t>(o.cols);
  return fmt::format("{},{}", k / cols + 1, k % cols + 1);
}

/// m1 -> m_{1}, qd2 -> \dot q_{2}, alpha1 -> \alpha_{1}
std::string latex_name(const std::string& name) {
  std::size_t digits = name.size();
  while (digits > 1 && std::isdigit(static_cast<unsigned char>(name[digits - 1])) != 0) --digits;
  std::string letters = name.substr(0, digits);
  const std::string index = name.substr(digits);
  if (letters == "qd") {
    letters = "\\dot q";
  } else if (letters == "qdd") {
    letters = "\\ddot q";
  } else if (letters == "alpha") {
    letters = "\\alpha";
  } else if (letters.size() > 1) {
    std::string escaped;
    for (const char c : letters) {
      if (c == '_') escaped.push_back('\\');
      escaped.push_back(c);
    }
    letters = fmt::format("\\mathit{{{}}}", escaped);
  }
  return index.empty() ? letters : fmt::format("{}_{{{}}}", letters, index);
}

}  // namespace

std::string to_text(const RecursiveForm& form) {
  const Style style = {
      [](const std::string& name) { return name; }, [](int i) { return fmt::format("t{}", i); },
      enclosed, [](const char* f, const std::string& x) { return fmt::format("{}({})", f, x); },
      "*"};
  std::string out =
      fmt::format("Recursive equations of motion of {}: {} assignments\n", form.robot, form.size());
  for (const std::string& note : form.notes) out += fmt::format("Note: {}.\n", note);
  Assignments assignments(form, style);
  assignments.visit(
      [&](const auto& left, const auto& right) { out += fmt::format("  {} = {}\n", left, right); });
  for (const auto& o : form.outputs) {
    for (std::size_t k = 0; k < o.nodes.size(); ++k) {
      out += fmt::format("  {}[{}] = {}\n", o.name, index_text(o, k), assignments.of(o.nodes[k]));
    }
  }
  return out;
}

std::string to_latex(const RecursiveForm& form) {
  const Style style = {latex_name, [](int i) { return fmt::format("t_{{{}}}", i); }, enclosed,
                       [](const char* f, const std::string& x) {
                         return fmt::format("{}({})",
                                            f == std::string_view("sign") ? "\\operatorname{sgn}"
                                                                          : fmt::format("\\{}", f),
                                            x);
                       },
                       "\\,"};
  // TeX keeps an environment in memory, so it has a bounded number of lines.
  constexpr std::size_t kLines = 40;
  std::vector<std::string> lines;
  Assignments assignments(form, style);
  assignments.visit([&](const auto& left, const auto& right) {
    lines.push_back(fmt::format("{} &= {}", left, right));
  });
  for (const auto& o : form.outputs) {
    const std::string name = o.name == "tau" ? "\\tau" : o.name;
    for (std::size_t k = 0; k < o.nodes.size(); ++k) {
      lines.push_back(
          fmt::format("{}_{{{}}} &= {}", name, index_text(o, k), assignments.of(o.nodes[k])));
    }
  }
  std::string body = fmt::format("\n{} assignments, in this order.\n", form.size());
  for (const std::string& note : form.notes)
    body += fmt::format("\nNote: {}.\n", escaped_latex(note));
  for (std::size_t i = 0; i < lines.size(); i += kLines) {
    body += "\\begin{align*}\n";
    for (std::size_t k = i; k < std::min(lines.size(), i + kLines); ++k) {
      body += fmt::format("{}{}\n", lines[k],
                          k + 1 < std::min(lines.size(), i + kLines) ? " \\\\" : "");
    }
    body += "\\end{align*}\n";
  }
  return latex_document(fmt::format("Recursive equations of motion of {}", form.robot), body);
}

std::string write_function(const RecursiveForm& form, Language language) {
  SourceWriter text(language);
  std::vector<SourceWriter::Output> outputs;
  for (const auto& o : form.outputs) outputs.push_back({o.name, o.rows * o.cols});
  text.open(identifier(form.robot), form.robot, form.nv, form.parameters, form.defaults, outputs,
            form.notes, form.friction);
  const auto input = [&](const std::string& name) -> std::string {
    for (std::size_t i = 0; i < form.parameters.size(); ++i) {
      if (form.parameters[i] == name) return fmt::format("p[{}]", i);
    }
    const std::size_t digits = name.find_first_of("0123456789");
    return fmt::format("{}[{}]", name.substr(0, digits), std::stoi(name.substr(digits)) - 1);
  };
  const Style style = {input, [](int i) { return fmt::format("t{}", i); }, number_literal,
                       [&](const char* f, const std::string& x) { return text.call(f, x); }, "*"};
  Assignments assignments(form, style);
  assignments.visit([&](const auto& left, const auto& right) { text.declare(left, right); });
  for (const auto& o : form.outputs) {
    for (std::size_t k = 0; k < o.nodes.size(); ++k) {
      text.assign(fmt::format("{}[{}]", o.name, k), assignments.of(o.nodes[k]));
    }
  }
  return text.close();
}

}  // namespace limb::symbolic
