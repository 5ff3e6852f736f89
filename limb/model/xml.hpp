#pragma once

#include <tinyxml2.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "limb/base/diagnostic.hpp"

/// What the XML readers share: a parsed document that knows its file, and attribute access that
/// turns every mistake into a diagnostic with file and line.
namespace limb {

/// A text for a message: cut after 60 bytes, so that a huge name cannot make a huge message.
std::string shorten(std::string_view text);

class XmlFile {
 public:
  using Element = tinyxml2::XMLElement;

  /// @throws Error "call: file:line: ..." if the text is no well-formed XML. Entities are not
  /// expanded beyond the five of XML, and nesting deeper than tinyxml2's limit is an error.
  XmlFile(std::string_view call, std::string text, std::string file);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const tinyxml2::XMLDocument& document() const { return document_; }
  [[nodiscard]] tinyxml2::XMLDocument& document() { return document_; }
  /// The outermost element; never null.
  [[nodiscard]] const Element& root() const { return *document_.RootElement(); }
  [[nodiscard]] Source source(const Element& element) const {
    return {file_, element.GetLineNum()};
  }

 private:
  std::string file_;
  tinyxml2::XMLDocument document_;
};

/// Reads the attributes of one document and collects what is wrong with them.
class XmlReader {
 public:
  static constexpr std::size_t kMaxRemarks = 10000;

  XmlReader(const XmlFile& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  /// The attribute's text, or nothing.
  static std::optional<std::string> text(const XmlFile::Element& element, const char* attribute);
  /// The attribute's text; a diagnostic and "" where it is missing or empty.
  std::string required(const XmlFile::Element& element, const char* attribute);
  /// One finite number; a diagnostic and nothing where the text is no number.
  std::optional<double> number(const XmlFile::Element& element, const char* attribute);
  /// Exactly `count` finite numbers; a diagnostic and nothing where they are not.
  std::optional<std::vector<double>> numbers(const XmlFile::Element& element, const char* attribute,
                                             std::size_t count);
  /// Notes every attribute of `element` that is not in `known`, with the nearest known name.
  void expect_attributes(const XmlFile::Element& element,
                         std::initializer_list<std::string_view> known);
  /// Notes every child element of `element` that is not in `known`, with the nearest known name.
  void expect_children(const XmlFile::Element& element,
                       std::initializer_list<std::string_view> known);

  /// "link 'base'": the element's tag with its name attribute, for messages.
  static std::string title(const XmlFile::Element& element);
  /// After kMaxRemarks a last one says that no more follow, except for the first error: the memory
  /// for messages stays small whatever the file holds.
  void add(Diagnostic::Severity severity, const XmlFile::Element& element, std::string rule,
           std::string message, std::string reason = {}, std::string fix = {});

 private:
  const XmlFile& file_;
  Diagnostics& diagnostics_;
  std::size_t count_ = 0;
  bool has_error_ = false;
};

}  // namespace limb
