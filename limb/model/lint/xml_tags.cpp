#include "limb/model/lint/xml_tags.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/check.hpp"
#include "limb/base/number.hpp"

namespace limb {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<XmlTag> tags() {
    std::vector<XmlTag> tags;
    std::vector<std::string> path;
    while (true) {
      const std::size_t at = text_.find('<', position_);
      if (at == text_.npos) return tags;
      move_to(at);
      if (skipped("<!--", "-->") || skipped("<![CDATA[", "]]>") || skipped("<?", "?>")) continue;
      const std::string_view rest = text_.substr(at);
      if (rest.starts_with("<!") || rest.starts_with("</")) {
        if (rest.starts_with("</") && !path.empty()) path.pop_back();
        move_to(std::min(text_.find('>', at), text_.size() - 1) + 1);
        continue;
      }
      XmlTag tag = read_tag();
      const bool closed = text_.substr(tag.end, 2) == "/>";
      path.push_back(tag.name);
      tag.path = path;
      tags.push_back(std::move(tag));
      if (closed) path.pop_back();
    }
  }

 private:
  void move_to(std::size_t position) {
    position = std::min(position, text_.size());
    line_ +=
        static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(position_),
                                    text_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    position_ = position;
  }

  bool skipped(std::string_view open, std::string_view close) {
    if (!text_.substr(position_).starts_with(open)) return false;
    const std::size_t end = text_.find(close, position_ + open.size());
    move_to(end == text_.npos ? text_.size() : end + close.size());
    return true;
  }

  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '>'; }

  XmlTag read_tag() {
    XmlTag tag;
    tag.line = line_;
    std::size_t i = position_ + 1;
    const auto word = [&] {
      const std::size_t start = i;
      while (!is_space(at(i)) && at(i) != '>' && at(i) != '/' && at(i) != '=') ++i;
      return std::string(text_.substr(start, i - start));
    };
    tag.name = word();
    while (true) {
      while (is_space(at(i))) ++i;
      if (at(i) == '>') break;
      if (at(i) == '/') {
        if (at(i + 1) == '>') break;
        ++i;
        continue;
      }
      const std::string name = word();
      while (is_space(at(i))) ++i;
      if (at(i) != '=') continue;
      ++i;
      while (is_space(at(i))) ++i;
      const char quote = at(i);
      const std::size_t begin = i + 1, end = text_.find(quote, begin);
      if ((quote != '"' && quote != '\'') || end == text_.npos) break;
      tag.attributes.push_back({name, begin, end});
      i = end + 1;
    }
    tag.end = i;
    move_to(std::min(text_.find('>', i), text_.size() - 1) + 1);
    return tag;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
};

}  // namespace

const XmlTag::Attribute* XmlTag::find(std::string_view attribute) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& a) { return a.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

std::vector<XmlTag> find_xml_tags(std::string_view text) {
  return Scanner(text).tags();
}

bool TextEdits::set(const XmlTag& tag, std::string_view attribute,
                    const std::vector<double>& values) {
  std::string written;
  for (const double value : values) {
    if (!written.empty()) written += ' ';
    written += to_text(value);
  }
  const XmlTag::Attribute* found = tag.find(attribute);
  if (found == nullptr) {
    if (tag.attributes.empty()) return false;
    const std::size_t after = tag.attributes.back().end + 1;
    splices_.push_back({after, after, fmt::format(" {}=\"{}\"", attribute, written)});
  } else if (numbers(tag, attribute) != values) {
    splices_.push_back({found->begin, found->end, written});
  }
  return true;
}

void TextEdits::remove(const XmlTag& tag, std::string_view attribute) {
  const XmlTag::Attribute* found = tag.find(attribute);
  if (found == nullptr) return;
  std::size_t begin = text_.rfind(attribute, found->begin);
  while (begin > 0 && is_space(text_[begin - 1])) --begin;
  splices_.push_back({begin, found->end + 1, ""});
}

std::vector<double> TextEdits::numbers(const XmlTag& tag, std::string_view attribute) const {
  const XmlTag::Attribute* found = tag.find(attribute);
  if (found == nullptr) return {};
  return parse_numbers(text_.substr(found->begin, found->end - found->begin))
      .value_or(std::vector<double>());
}

std::string TextEdits::value(const XmlTag& tag, std::string_view attribute) const {
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}};
  const XmlTag::Attribute* found = tag.find(attribute);
  if (found == nullptr) return {};
  std::string text(text_.substr(found->begin, found->end - found->begin));
  for (const auto& [name, character] : kEntities) {
    for (std::size_t at = text.find(name); at != text.npos;
         at = text.find(name, at + character.size())) {
      text.replace(at, name.size(), character);
    }
  }
  return text;
}

std::string TextEdits::written() const {
  std::vector<Splice> splices = splices_;
  std::stable_sort(splices.begin(), splices.end(),
                   [](const Splice& a, const Splice& b) { return a.begin < b.begin; });
  std::string out;
  std::size_t done = 0;
  for (const Splice& splice : splices) {
    out.append(text_, done, splice.begin - done);
    out += splice.text;
    done = splice.end;
  }
  return out.append(text_, done);
}

}  // namespace limb
