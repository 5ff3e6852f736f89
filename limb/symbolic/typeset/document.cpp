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
void Document::figure(std::string svg) {
  blocks.push_back({Block::Kind::figure, 1, std::move(svg), {}});
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

std::string escaped_latex(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '_':
      case '%':
      case '#':
      case '&':
      case '{':
      case '}':
        result += '\\';
        result += c;
        break;
      case '\\':
        result += "\\textbackslash{}";
        break;
      case '^':
        result += "\\textasciicircum{}";
        break;
      case '~':
        result += "\\textasciitilde{}";
        break;
      default:
        result += c;
    }
  }
  return result;
}

namespace {

constexpr double kPageWidth = 62;  // letters per line of LaTeX

constexpr double kMarginMm = 25;

std::string latex_text(const std::string& text) {
  return replace_formulas(text, escaped_latex, [](const std::string& f) { return "$" + f + "$"; });
}

}  // namespace

std::string latex_document(const std::string& title, const std::string& body) {
  // A4 with margins of 25 mm; TeX adds one inch on the left and at the top.
  return fmt::format(
      "\\documentclass[11pt,a4paper]{{article}}\n"
      "\\usepackage{{amsmath}}\n"
      "\\setlength{{\\textwidth}}{{{0}mm}}\n"
      "\\setlength{{\\textheight}}{{{1}mm}}\n"
      "\\setlength{{\\oddsidemargin}}{{{2}mm}}\n"
      "\\setlength{{\\topmargin}}{{{2}mm}}\n"
      "\\setlength{{\\headheight}}{{0pt}}\n"
      "\\setlength{{\\headsep}}{{0pt}}\n"
      "\\setlength{{\\parindent}}{{0pt}}\n"
      "\\setlength{{\\parskip}}{{0.6em}}\n"
      "\\setcounter{{MaxMatrixCols}}{{30}}\n"
      "\\allowdisplaybreaks\n"
      "\\title{{{3}}}\n"
      "\\author{{}}\n"
      "\\date{{}}\n"
      "\\begin{{document}}\n"
      "\\maketitle\n{4}\n\\end{{document}}\n",
      210 - 2 * kMarginMm, 297 - 2 * kMarginMm - 12, kMarginMm - 25.4, latex_text(title), body);
}

namespace {

/// Frames of a bounded number of lines; a heading starts a new one.
class SlideWriter {
 public:
  std::string write(const Document& document) {
    for (const Block& block : document.blocks) {
      switch (block.kind) {
        case Block::Kind::heading:
          close();
          if (block.level == 1) {
            chapter_ = block.text;
            title_ = chapter_;
          } else {
            title_ = chapter_ + ": " + block.text;
          }
          break;
        case Block::Kind::paragraph:
          paragraph(block.text);
          break;
        case Block::Kind::figure:
          break;
        case Block::Kind::equations:
          for (const Equation& equation : block.equations) add(equation);
          break;
      }
    }
    close();
    return std::move(text_);
  }

 private:
  static constexpr double kSlideWidth = 46;  // letters
  static constexpr double kLines = 9;

  void paragraph(const std::string& text) {
    constexpr double kLettersPerLine = 70;
    end_equations();
    reserve(1 + static_cast<double>(text.size()) / kLettersPerLine);
    text_ += latex_text(text) + "\n\n";
  }
  void add(const Equation& equation) {
    const std::vector<std::string> lines = aligned_lines(equation, kSlideWidth);
    std::size_t rows = 0;  // of the largest matrix
    for (const std::string& right : equation.right) {
      std::size_t count = 0;
      for (std::size_t at = right.find("\\\\"); at != right.npos; at = right.find("\\\\", at + 2))
        ++count;
      rows = std::max(rows, count);
    }
    const double height = static_cast<double>(lines.size()) + static_cast<double>(rows);
    reserve(height);
    for (const std::string& line : lines) {
      if (used_in_frame_ + 1 > 2 * kLines) {
        close();
        open();
      }
      text_ += in_equations_ ? " \\\\\n" : "\\begin{align*}\n";
      in_equations_ = true;
      text_ += "  " + line;
    }
  }
  void reserve(double lines) {
    if (!open_ || used_in_frame_ + lines > kLines) {
      close();
      open();
    }
    used_in_frame_ += lines;
  }
  void open() {
    text_ += fmt::format("\\begin{{frame}}{{{}}}\n\\footnotesize\n", latex_text(title_));
    open_ = true;
    used_in_frame_ = 0;
  }
  void end_equations() {
    if (in_equations_) text_ += "\n\\end{align*}\n";
    in_equations_ = false;
  }
  void close() {
    end_equations();
    if (open_) text_ += "\\end{frame}\n\n";
    open_ = false;
    used_in_frame_ = 0;
  }

  std::string text_, chapter_, title_;
  double used_in_frame_ = 0;
  bool open_ = false, in_equations_ = false;
};

std::string slides(const Document& document) {
  return fmt::format(
      "\\documentclass{{beamer}}\n\\setbeamertemplate{{navigation symbols}}{{}}\n"
      "\\setcounter{{MaxMatrixCols}}{{30}}\n\\title{{{}}}\n\\date{{}}\n\\begin{{document}}\n"
      "\\begin{{frame}}\n\\titlepage\n\\end{{frame}}\n\n{}\\end{{document}}\n",
      latex_text(document.title), SlideWriter().write(document));
}

}  // namespace

std::string to_latex(const Document& document, LatexKind kind) {
  if (kind == LatexKind::slides) return slides(document);
  std::string text;
  for (const Block& block : document.blocks) {
    switch (block.kind) {
      case Block::Kind::heading:
        text += fmt::format("\n\\{}section{{{}}}\n", block.level == 1 ? "" : "sub",
                            latex_text(block.text));
        break;
      case Block::Kind::paragraph:
        text += "\n" + latex_text(block.text) + "\n";
        break;
      case Block::Kind::figure:
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
  if (kind == LatexKind::fragment) return text;
  return latex_document(document.title, text);
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
      case Block::Kind::figure:
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
