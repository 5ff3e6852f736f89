#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Places of tags and attribute values in the text of an XML file, for edits that keep every other
/// byte.
namespace limb {

/// A start tag in the text with the offsets of its attribute values.
struct XmlTag {
  struct Attribute {
    std::string name;
    std::size_t begin, end;  ///< of the value, quotes not included
  };
  std::string name;
  std::vector<std::string> path;  ///< names of the elements around it and its own
  int line = 0;
  std::size_t end = 0;  ///< offset of ">" or "/>"
  std::vector<Attribute> attributes;

  /// Nullptr if the tag has no such attribute.
  [[nodiscard]] const Attribute* find(std::string_view attribute) const;
};

/// The start tags in document order. The text must be well-formed, see XmlFile.
std::vector<XmlTag> find_xml_tags(std::string_view text);

/// Replacements of parts of a text that do not overlap.
class TextEdits {
 public:
  explicit TextEdits(std::string_view text) : text_(text) {}

  /// The numbers become the value of the attribute, which is added if the tag does not have it. The
  /// same numbers in another notation are kept as written.
  /// @returns false for a tag without any attribute: where to add one is not known.
  bool set(const XmlTag& tag, std::string_view attribute, const std::vector<double>& values);
  /// The attribute with the space before it.
  void remove(const XmlTag& tag, std::string_view attribute);
  /// The numbers of an attribute; empty if it has none or other text.
  [[nodiscard]] std::vector<double> numbers(const XmlTag& tag, std::string_view attribute) const;
  /// The value of an attribute with entities decoded; empty without the attribute.
  [[nodiscard]] std::string value(const XmlTag& tag, std::string_view attribute) const;

  [[nodiscard]] std::string written() const;

 private:
  struct Splice {
    std::size_t begin, end;
    std::string text;
  };
  std::string_view text_;
  std::vector<Splice> splices_;
};

}  // namespace limb
