#include "limb/model/core/xml.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/error.hpp"
#include "limb/base/nearest.hpp"
#include "limb/base/number.hpp"
#include "limb/base/stand_in_file.hpp"
#include "limb/model/core/xml_fault.hpp"

namespace limb {
namespace {

using Severity = Diagnostic::Severity;

/// Message for an unknown name, with the nearest known one.
std::string unknown(std::string_view kind, std::string_view name,
                    std::initializer_list<std::string_view> known) {
  const std::vector<std::string> names(known.begin(), known.end());
  const std::string close = nearest(name, names);
  return fmt::format("unknown {} '{}'{}", kind, shorten(name),
                     close.empty() ? "" : fmt::format(" (closest: '{}')", close));
}

// tinyxml2 compares each attribute of an element with all previous ones, and needs some hundred
// bytes per node: without these two limits a small file could cost hours or gigabytes.
constexpr std::size_t kMaxAttributes = 1000;  // per element
constexpr std::ptrdiff_t kMaxTags = 4'000'000;

std::size_t skip_past(std::string_view text, std::size_t from, std::string_view end) {
  const std::size_t found = text.find(end, from);
  return found == text.npos ? text.size() : found + end.size();
}

/// Offset of an element with more than kMaxAttributes attributes, or npos.
std::size_t find_element_with_too_many_attributes(std::string_view text) {
  std::size_t i = 0;
  while ((i = text.find('<', i)) != text.npos) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("<!--")) {
      i = skip_past(text, i, "-->");
    } else if (rest.starts_with("<![CDATA[")) {
      i = skip_past(text, i, "]]>");
    } else {
      const std::size_t start = i++;
      std::size_t attributes = 0;
      for (; i < text.size() && text[i] != '>'; ++i) {
        if (text[i] == '=' && ++attributes > kMaxAttributes) return start;
        if (text[i] == '"' || text[i] == '\'') i = std::min(text.find(text[i], i + 1), text.size());
      }
    }
  }
  return text.npos;
}

/// What a text is that is not XML, or "".
std::string_view other_kind(std::string_view text) {
  if (const std::string_view kind = stand_in_file(text); !kind.empty()) return kind;
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return "is UTF-16 text, expected UTF-8";
  }
  if (text.find('\0') != text.npos) return "is a binary file, expected XML text";
  if (text.find('<') == text.npos) return "is not XML: it has no element";
  return "";
}

}  // namespace

std::string shorten(std::string_view text) {
  if (text.size() <= 60) return std::string(text);
  std::size_t end = 57;
  while (end > 54 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // inside a UTF-8 sequence
  return std::string(text.substr(0, end)) + "...";
}

XmlFile::XmlFile(std::string_view call, std::string text, std::string file)
    : file_(std::move(file)) {
  if (const std::string_view kind = other_kind(text); !kind.empty()) {
    throw Error(fmt::format("{}: {}: {}", call, file_, kind));
  }
  if (std::count(text.begin(), text.end(), '<') > kMaxTags) {
    throw Error(fmt::format("{}: {}: has more than {} tags, the limit for a robot description",
                            call, file_, kMaxTags));
  }
  if (const std::size_t start = find_element_with_too_many_attributes(text); start != text.npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(start), '\n');
    throw Error(fmt::format("{}: {}:{}: an element has more than {} attributes", call, file_, line,
                            kMaxAttributes));
  }
  document_.Parse(text.data(), text.size());
  if (document_.Error()) {
    XmlFault fault{std::max(1, document_.ErrorLineNum()), "elements are nested too deeply"};
    if (document_.ErrorID() != tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED) {
      fault.text = "it has no element";
      if (document_.ErrorID() != tinyxml2::XML_ERROR_EMPTY_DOCUMENT) fault.text = "a tag is wrong";
      if (auto found = find_xml_fault(text)) fault = *std::move(found);
    }
    throw Error(
        fmt::format("{}: {}:{}: not well-formed XML: {}", call, file_, fault.line, fault.text));
  }
  if (document_.RootElement() == nullptr) {
    throw Error(fmt::format("{}: {}:1: not well-formed XML: it has no element", call, file_));
  }
}

std::optional<std::string> XmlReader::text(const XmlFile::Element& element, const char* attribute) {
  const char* value = element.Attribute(attribute);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string XmlReader::title(const XmlFile::Element& element) {
  const char* name = element.Attribute("name");
  return name == nullptr ? fmt::format("<{}>", shorten(element.Name()))
                         : fmt::format("{} '{}'", shorten(element.Name()), shorten(name));
}

void XmlReader::add(Severity severity, const XmlFile::Element& element, std::string rule,
                    std::string message, std::string reason, std::string fix) {
  const bool first_error = severity == Severity::error && !has_error_;
  has_error_ = has_error_ || severity == Severity::error;
  if (++count_ > kMaxDiagnostics && !first_error) {
    if (count_ == kMaxDiagnostics + 1) {
      diagnostics_.push_back(
          {Severity::warning, "too-many-remarks", file_.source(element),
           fmt::format("more than {} diagnostics, the others are left out", kMaxDiagnostics),
           "a file with so many is broken or has another format", ""});
    }
    return;
  }
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
  add(Severity::error, element, "attribute-not-a-number",
      fmt::format(
          "{}: attribute '{}' is '{}', expected {}", title(element), attribute, shorten(*value),
          count == 1 ? std::string("a finite number") : fmt::format("{} finite numbers", count)),
      "the value cannot be used");
  return std::nullopt;
}

void XmlReader::expect_attributes(const XmlFile::Element& element,
                                  std::initializer_list<std::string_view> known) {
  for (const auto* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
    if (std::find(known.begin(), known.end(), a->Name()) != known.end()) continue;
    if (std::string_view(a->Name()).starts_with("xmlns")) continue;  // declares a namespace
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
