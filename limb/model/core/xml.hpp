#pragma once

#include <tinyxml2.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "limb/base/diagnostic.hpp"

/// Shared by the XML readers: a parsed document with its file name, and attribute access that
/// reports every mistake as a diagnostic with file and line.
namespace limb {

/// Text for a message, truncated after 60 bytes.
std::string shorten(std::string_view text);

class XmlFile {
 public:
  using Element = tinyxml2::XMLElement;

  /// @throws Error "call: file:line: ..." if the text is not well-formed XML. Only the five
  /// predefined entities are expanded, and nesting deeper than tinyxml2's limit is an error.
  XmlFile(std::string_view call, std::string text, std::string file);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const tinyxml2::XMLDocument& document() const { return document_; }
  [[nodiscard]] tinyxml2::XMLDocument& document() { return document_; }
  /// The root element; never null.
  [[nodiscard]] const Element& root() const { return *document_.RootElement(); }
  [[nodiscard]] SourceLocation source(const Element& element) const {
    return {file_, element.GetLineNum()};
  }

 private:
  std::string file_;
  tinyxml2::XMLDocument document_;
};

/// Reads the attributes of one document and collects diagnostics.
class XmlReader {
 public:
  static constexpr std::size_t kMaxDiagnostics = 10000;

  XmlReader(const XmlFile& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  /// The attribute's text, or nullopt.
  static std::optional<std::string> text(const XmlFile::Element& element, const char* attribute);
  /// The attribute's text; a diagnostic and "" if it is missing or empty.
  std::string required(const XmlFile::Element& element, const char* attribute);
  /// One finite number; a diagnostic and nullopt if the text is not a number.
  std::optional<double> number(const XmlFile::Element& element, const char* attribute);
  /// Exactly `count` finite numbers; otherwise a diagnostic and nullopt.
  std::optional<std::vector<double>> numbers(const XmlFile::Element& element, const char* attribute,
                                             std::size_t count);
  /// Adds a note for each attribute of `element` not in `known`, with the nearest known name.
  void expect_attributes(const XmlFile::Element& element,
                         std::initializer_list<std::string_view> known);
  /// Adds a note for each child element of `element` not in `known`, with the nearest known name.
  void expect_children(const XmlFile::Element& element,
                       std::initializer_list<std::string_view> known);

  /// "link 'base'": the element's tag with its name attribute, for messages.
  static std::string title(const XmlFile::Element& element);
  /// After kMaxDiagnostics, one more says that the others are left out; only the first error is
  /// still added. The memory for messages is bounded for every file.
  void add(Diagnostic::Severity severity, const XmlFile::Element& element, std::string rule,
           std::string message, std::string reason = {}, std::string fix = {});

 private:
  const XmlFile& file_;
  Diagnostics& diagnostics_;
  std::size_t count_ = 0;
  bool has_error_ = false;
};

}  // namespace limb
