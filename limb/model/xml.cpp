#include "limb/model/xml.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/error.hpp"
#include "limb/base/nearest.hpp"
#include "limb/base/number.hpp"

namespace limb {
namespace {

using Severity = Diagnostic::Severity;

/// A name that is not known, and what was probably meant.
std::string unknown(std::string_view kind, std::string_view name,
                    std::initializer_list<std::string_view> known) {
  const std::vector<std::string> names(known.begin(), known.end());
  const std::string close = nearest(name, names);
  return fmt::format("unknown {} '{}'{}", kind, name,
                     close.empty() ? "" : fmt::format(" (closest: '{}')", close));
}

/// No format that we read has an element with a tenth of it; the parser compares each attribute of
/// an element with all others, so that a long list would take it hours.
constexpr int kMaxAttributes = 1000;

/// The line of the first element with more than kMaxAttributes attributes, or 0. One look at each
/// letter; what is no well-formed XML is left to the parser.
int line_of_too_many_attributes(std::string_view text) {
  const auto skip_past = [&](std::size_t from, std::string_view end) {
    const std::size_t at = text.find(end, from);
    return at == text.npos ? text.size() : at + end.size();
  };
  std::size_t i = 0;
  while ((i = text.find('<', i)) < text.size()) {
    const std::size_t start = i;
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("<!--")) {
      i = skip_past(i + 4, "-->");
    } else if (rest.starts_with("<![CDATA[")) {
      i = skip_past(i, "]]>");
    } else {
      int attributes = 0;
      while (i < text.size() && text[i] != '>') {
        if (text[i] == '"' || text[i] == '\'') {
          i = skip_past(i + 1, text.substr(i, 1));
          continue;
        }
        attributes += text[i++] == '=';
      }
      if (attributes > kMaxAttributes) {
        return 1 + static_cast<int>(
                       std::count(text.begin(), text.begin() + std::ptrdiff_t(start), '\n'));
      }
    }
  }
  return 0;
}

}  // namespace

XmlFile::XmlFile(std::string_view call, std::string text, std::string file)
    : file_(std::move(file)) {
  if (text.find('\0') != text.npos) {
    throw Error(fmt::format("{}: {}: is a binary file, expected XML text", call, file_));
  }
  if (const int line = line_of_too_many_attributes(text)) {
    throw Error(fmt::format("{}: {}:{}: an element has more than {} attributes", call, file_, line,
                            kMaxAttributes));
  }
  document_.Parse(text.data(), text.size());
  if (document_.Error()) {
    const char* detail = document_.ErrorID() == tinyxml2::XML_ERROR_EMPTY_DOCUMENT
                             ? "no XML element in the file"
                         : document_.ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED
                             ? "elements are nested too deeply"
                             : tinyxml2::XMLDocument::ErrorIDToName(document_.ErrorID());
    throw Error(fmt::format("{}: {}:{}: not well-formed XML ({})", call, file_,
                            std::max(1, document_.ErrorLineNum()), detail));
  }
  if (document_.RootElement() == nullptr) {
    throw Error(
        fmt::format("{}: {}:1: not well-formed XML (no XML element in the file)", call, file_));
  }
}

std::optional<std::string> XmlReader::text(const XmlFile::Element& element, const char* attribute) {
  const char* value = element.Attribute(attribute);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string XmlReader::title(const XmlFile::Element& element) {
  const char* name = element.Attribute("name");
  return name == nullptr ? fmt::format("<{}>", element.Name())
                         : fmt::format("{} '{}'", element.Name(), name);
}

void XmlReader::add(Severity severity, const XmlFile::Element& element, std::string rule,
                    std::string message, std::string reason, std::string fix) {
  diagnostics_.push_back({severity, std::move(rule), file_.source(element), std::move(message),
                          std::move(reason), std::move(fix)});
}

std::string XmlReader::required(const XmlFile::Element& element, const char* attribute) {
  const auto value = text(element, attribute);
  if (!value || value->empty()) {
    add(Severity::error, element, "attribute-missing",
        fmt::format("{} has no attribute '{}'", title(element), attribute),
        "without it the element has no meaning");
    return {};
  }
  return *value;
}

std::optional<double> XmlReader::number(const XmlFile::Element& element, const char* attribute) {
  const auto value = numbers(element, attribute, 1);
  return value ? std::optional(value->front()) : std::nullopt;
}

std::optional<std::vector<double>> XmlReader::numbers(const XmlFile::Element& element,
                                                      const char* attribute, std::size_t count) {
  const auto value = text(element, attribute);
  if (!value) return std::nullopt;
  auto parsed = parse_numbers(*value);
  if (parsed && parsed->size() == count) return parsed;
  // A long text is quoted in part: the message must stay readable.
  const std::string shown = value->size() > 60 ? value->substr(0, 57) + "..." : *value;
  add(Severity::error, element, "attribute-not-a-number",
      fmt::format(
          "{}: attribute '{}' is '{}', expected {}", title(element), attribute, shown,
          count == 1 ? std::string("a finite number") : fmt::format("{} finite numbers", count)),
      "the value cannot be used");
  return std::nullopt;
}

void XmlReader::expect_attributes(const XmlFile::Element& element,
                                  std::initializer_list<std::string_view> known) {
  for (const auto* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
    if (std::find(known.begin(), known.end(), a->Name()) != known.end()) continue;
    add(Severity::note, element, "attribute-unknown",
        fmt::format("{}: {}", title(element), unknown("attribute", a->Name(), known)),
        "it is ignored");
  }
}

void XmlReader::expect_children(const XmlFile::Element& element,
                                std::initializer_list<std::string_view> known) {
  for (const auto* c = element.FirstChildElement(); c != nullptr; c = c->NextSiblingElement()) {
    if (std::find(known.begin(), known.end(), c->Name()) != known.end()) continue;
    add(Severity::note, *c, "element-unknown",
        fmt::format("{}: {}", title(element), unknown("element", c->Name(), known)),
        "it is ignored");
  }
}

}  // namespace limb
