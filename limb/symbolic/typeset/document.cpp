#include "limb/symbolic/typeset/document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/symbolic/typeset/line_breaks.hpp"

namespace limb::symbolic {

void Document::heading(int level, std::string text) {
  blocks.push_back({Block::Kind::heading, level, std::move(text), {}});
}
void Document::paragraph(std::string text) {
  blocks.push_back({Block::Kind::paragraph, 1, std::move(text), {}});
}
void Document::equation(std::string left, std::vector<std::string> right) {
  if (blocks.empty() || blocks.back().kind != Block::Kind::equations) {
    blocks.push_back({Block::Kind::equations, 1, "", {}});
  }
  blocks.back().equations.push_back({std::move(left), std::move(right)});
}

std::vector<std::string> aligned_lines(const Equation& equation, double width) {
  std::vector<std::string> lines;
  const double left = math_width(parse_math(equation.left)) + 2;
  for (const std::string& right : equation.right) {
    bool first = true;
    for (const std::string& part : fill_lines(right, std::max(width - left, 20.0))) {
      const std::string lead = lines.empty() ? equation.left + " &= " : first ? "&= " : "&\\quad ";
      lines.push_back(lead + part);
      first = false;
    }
  }
  return lines;
}

std::string to_latex(const Equation& equation, double width) {
  const std::vector<std::string> lines = aligned_lines(equation, width);
  if (lines.size() == 1) {
    return equation.left + " = " + lines[0].substr(equation.left.size() + 4);
  }
  std::string text = "\\begin{aligned} ";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? "" : " \\\\ ") + lines[i];
  }
  return text + " \\end{aligned}";
}

namespace {

constexpr double kPageWidth = 62;  // letters per line of LaTeX

std::string escaped_latex(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '_' || c == '%' || c == '#' || c == '&') result += '\\';
    result += c;
  }
  return result;
}

std::string latex_text(const std::string& text) {
  return replace_formulas(text, escaped_latex, [](const std::string& f) { return "$" + f + "$"; });
}

}  // namespace

std::string to_latex(const Document& document) {
  std::string text =
      "\\documentclass[11pt]{article}\n"
      "\\usepackage[T1]{fontenc}\n"
      "\\usepackage{lmodern}\n"
      "\\usepackage{amsmath}\n"
      "\\usepackage[margin=25mm]{geometry}\n"
      "\\setlength{\\parindent}{0pt}\n"
      "\\setlength{\\parskip}{0.6em}\n"
      "\\setcounter{MaxMatrixCols}{30}\n"
      "\\allowdisplaybreaks\n"
      "\\title{" +
      latex_text(document.title) +
      "}\n"
      "\\author{}\n"
      "\\date{}\n"
      "\\begin{document}\n"
      "\\maketitle\n";
  for (const Block& block : document.blocks) {
    switch (block.kind) {
      case Block::Kind::heading:
        text += fmt::format("\n\\{}section{{{}}}\n", block.level == 1 ? "" : "sub",
                            latex_text(block.text));
        break;
      case Block::Kind::paragraph:
        text += "\n" + latex_text(block.text) + "\n";
        break;
      case Block::Kind::equations: {
        text += "\\begin{align*}\n";
        bool first = true;
        for (const Equation& equation : block.equations) {
          for (const std::string& l : aligned_lines(equation, kPageWidth)) {
            text += (first ? "" : " \\\\\n") + ("  " + l);
            first = false;
          }
        }
        text += "\n\\end{align*}\n";
        break;
      }
    }
  }
  return text + "\n\\end{document}\n";
}

std::string to_markdown(const Document& document) {
  std::string text = "# " + document.title + "\n";
  for (const Block& block : document.blocks) {
    switch (block.kind) {
      case Block::Kind::heading:
        text += fmt::format("\n{} {}\n", block.level == 1 ? "##" : "###", block.text);
        break;
      case Block::Kind::paragraph:
        text += "\n" + block.text + "\n";
        break;
      case Block::Kind::equations:
        for (const Equation& equation : block.equations) {
          text += "\n$$\n" + to_latex(equation, kPageWidth) + "\n$$\n";
        }
        break;
    }
  }
  return text;
}

}  // namespace limb::symbolic
