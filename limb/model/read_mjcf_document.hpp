#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "limb/model/read_options.hpp"
#include "limb/model/xml.hpp"

/// The elements of an MJCF file with the files that it includes in their places.
namespace limb::mjcf {

/// Elements deeper than this are refused: a robot has some ten levels.
inline constexpr int kMaxDepth = 500;
/// Files that include files that include files ...
inline constexpr int kMaxIncludeDepth = 16;
/// Beyond this many remarks, notes are left out: a hostile file must not fill the memory.
inline constexpr std::size_t kMaxNotes = 1000;

/// And beyond this many no nearest name is looked for in long lists.
inline constexpr std::size_t kMaxSearches = 100;

struct Node {
  const XmlFile::Element* element = nullptr;
  const XmlFile* file = nullptr;
  std::vector<Node> children;

  [[nodiscard]] std::string_view tag() const { return element->Name(); }
  /// "geom 'name'" or "<geom>", of bounded length.
  [[nodiscard]] std::string title() const;
  [[nodiscard]] Source source() const { return file->source(*element); }
};

/// Adds a remark about an element; a note only while there are few.
void add(Diagnostics& diagnostics, Diagnostic::Severity severity, const Node& node,
         std::string rule, std::string message, std::string reason = {}, std::string fix = {});

/// " (closest: 'name')", or "" where nothing is near or the list is too long to search.
std::string closest(std::string_view typed, const std::vector<std::string>& known);

/// Notes attributes that are not in `known`, with the nearest known name.
void expect_attributes(Diagnostics& diagnostics, const Node& node,
                       std::initializer_list<std::string_view> known);
/// Notes that a child is none of the `known` elements of its parent.
void note_unknown_child(Diagnostics& diagnostics, const Node& parent, const Node& child,
                        std::initializer_list<std::string_view> known);

class Document {
 public:
  /// @throws Error if the text itself is no well-formed XML; an included file that is not becomes
  /// a diagnostic.
  Document(std::string text, const std::string& file, const ReadOptions& options,
           Diagnostics& diagnostics);

  [[nodiscard]] const Node& root() const { return root_; }
  /// The existing file `name`, looked for in the folder of the model, then in the roots; nothing if
  /// it does not exist or lies outside of all roots.
  [[nodiscard]] std::optional<std::filesystem::path> resolve(
      const std::filesystem::path& name) const;

 private:
  /// Fills in the children; a level at a time, with includes replaced by what they hold.
  void expand(Node& node, int depth, int include_depth);
  void include(Node& parent, const Node& include_node, int depth, int include_depth);

  Diagnostics& diagnostics_;
  std::filesystem::path folder_;              ///< of the model
  std::vector<std::filesystem::path> roots_;  ///< canonical
  std::vector<std::unique_ptr<XmlFile>> files_;
  std::set<std::filesystem::path> included_;
  std::size_t bytes_ = 0;  ///< of all included files
  Node root_;
};

}  // namespace limb::mjcf
