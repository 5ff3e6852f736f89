#include "limb/symbolic/typeset/line_breaks.hpp"

namespace limb::symbolic {

std::string without_breaks(std::string latex) {
  std::erase_if(latex, is_break);
  return latex;
}

std::vector<std::string> split_at_breaks(const std::string& latex, double width, char mark) {
  std::vector<std::string> parts(1);
  for (const char c : latex) {
    if (c == mark) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  std::vector<std::string> result;
  for (const std::string& part : parts) {
    if (mark == kLastBreak || math_width(parse_math(part)) <= width) {
      result.push_back(without_breaks(part));
    } else {
      for (std::string& inner : split_at_breaks(part, width, static_cast<char>(mark + 1))) {
        result.push_back(std::move(inner));
      }
    }
  }
  return result;
}

std::string replace_formulas(const std::string& text,
                             const std::function<std::string(const std::string&)>& plain,
                             const std::function<std::string(const std::string&)>& formula) {
  std::string result;
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '$') continue;
    const std::string part = text.substr(start, i - start);
    result += inside ? formula(part) : plain(part);
    inside = !inside;
    start = i + 1;
  }
  return result;
}

std::vector<std::string> fill_lines(const std::string& latex, double width) {
  std::vector<std::string> lines(1);
  double used = 0;
  for (const std::string& piece : split_at_breaks(latex, width)) {
    const double next = math_width(parse_math(piece));
    if (used > 0 && used + next > width) {
      lines.emplace_back();
      used = 0;
    }
    lines.back() += piece;
    used += next;
  }
  for (std::string& l : lines) {
    while (!l.empty() && l.back() == ' ') l.pop_back();
  }
  return lines;
}

}  // namespace limb::symbolic
