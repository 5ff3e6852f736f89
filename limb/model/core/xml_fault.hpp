#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace limb {

/// Why a text is not well-formed XML.
struct XmlFault {
  std::ptrdiff_t line = 1;
  std::string text;  ///< for example "</link> does not close <joint> of line 12"
};

/// The first fault of the tags of a text, in words: the parser itself reports only a code. Nullopt
/// if every tag is closed and every attribute has a quoted value.
std::optional<XmlFault> find_xml_fault(std::string_view text);

}  // namespace limb
