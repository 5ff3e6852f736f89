#include <algorithm>
#include <sstream>

#include "limb/symbolic/typeset/line_breaks.hpp"

/// Documents as plain text for terminals.
namespace limb::symbolic {
namespace {

constexpr std::size_t kWidth = 96;

constexpr char kNonBreakingSpace = '\x0b';  // inside a short formula

std::string inline_text(const std::string& latex) {
  const TextBox box = to_text_box(parse_math(latex));
  return box.lines.empty() ? "" : box.lines[box.baseline];
}

std::string unbreakable_text(const std::string& latex) {
  constexpr std::size_t kShort = 24;
  std::string text = inline_text(latex);
  if (text.size() <= kShort) std::replace(text.begin(), text.end(), ' ', kNonBreakingSpace);
  return text;
}

std::string wrapped(const std::string& text) {
  std::string result;
  std::size_t used = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (used > 0 && used + 1 + word.size() > kWidth) {
      result += '\n';
      used = 0;
    }
    if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += word.size();
  }
  std::replace(result.begin(), result.end(), kNonBreakingSpace, ' ');
  return result + "\n";
}

void print(std::string& out, const TextBox& box, const std::string& indent) {
  for (const std::string& l : box.lines) {
    std::string text = indent + l;
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
}

TextBox beside(const std::string& lead, const TextBox& box) {
  TextBox result = box;
  for (std::size_t i = 0; i < result.lines.size(); ++i) {
    const std::string before = i == box.baseline ? lead : std::string(lead.size(), ' ');
    result.lines[i] = before + result.lines[i];
  }
  return result;
}

void print(std::string& out, const Equation& equation) {
  std::string lead = inline_text(equation.left) + " = ";
  const double width = static_cast<double>(kWidth - std::min(kWidth - 20, lead.size() + 4));
  for (const std::string& right : equation.right) {
    bool first = true;
    // Plain text needs more width than print: a letter with its index has two or three characters.
    for (const std::string& part : fill_lines(right, 0.6 * width)) {
      const std::string indent = first ? lead : std::string(lead.size() + 2, ' ');
      print(out, beside(indent, to_text_box(parse_math(part))), "    ");
      first = false;
    }
    lead = std::string(lead.size() - 2, ' ') + "= ";
  }
}

}  // namespace

std::string to_text(const Document& document) {
  const auto plain = [](const std::string& text) {
    return replace_formulas(
        text, [](const std::string& t) { return t; }, inline_text);
  };
  std::string out = plain(document.title) + "\n";
  out += std::string(out.size() - 1, '=') + "\n";
  for (const Block& block : document.blocks) {
    switch (block.kind) {
      case Block::Kind::heading: {
        const std::string title = plain(block.text);
        out += "\n" + title + "\n" + std::string(title.size(), block.level == 1 ? '-' : '.') + "\n";
        break;
      }
      case Block::Kind::figure:
        break;
      case Block::Kind::paragraph:
        out += "\n" + wrapped(replace_formulas(
                          block.text, [](const std::string& t) { return t; }, unbreakable_text));
        break;
      case Block::Kind::equations:
        for (const Equation& equation : block.equations) {
          out += "\n";
          print(out, equation);
        }
        break;
    }
  }
  return out;
}

}  // namespace limb::symbolic
