#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "limb/model/core/read_options.hpp"
#include "limb/model/core/xml.hpp"

/// The elements of an MJCF file, with includes replaced by the contents of the included files.
namespace limb::mjcf {

/// Deeper elements are rejected: a robot has some ten levels.
inline constexpr int kMaxDepth = 500;
/// Nesting depth of includes.
inline constexpr int kMaxIncludeDepth = 16;
/// Beyond this many diagnostics notes are left out, to limit memory for malicious files.
inline constexpr std::size_t kMaxNotes = 1000;

/// Beyond this many diagnostics no nearest name is searched in long lists.
inline constexpr std::size_t kMaxSearches = 100;

struct Node {
  const XmlFile::Element* element = nullptr;
  const XmlFile* file = nullptr;
  std::vector<Node> children;

  [[nodiscard]] std::string_view tag() const { return element->Name(); }
  /// "geom 'name'" or "<geom>", of bounded length.
  [[nodiscard]] std::string title() const;
  [[nodiscard]] SourceLocation source() const { return file->source(*element); }
};

/// Adds a diagnostic about an element; notes only up to kMaxNotes.
void add(Diagnostics& diagnostics, Diagnostic::Severity severity, const Node& node,
         std::string rule, std::string message, std::string reason = {}, std::string fix = {});

/// " (closest: 'name')", or "" if no name is close or the list is too long to search.
std::string closest(std::string_view typed, const std::vector<std::string>& known);

/// Adds a note for each attribute that is not in `known`, with the nearest known name.
void expect_attributes(Diagnostics& diagnostics, const Node& node,
                       std::initializer_list<std::string_view> known);
/// Adds a note that a child is not one of the `known` elements of its parent.
void note_unknown_child(Diagnostics& diagnostics, const Node& parent, const Node& child,
                        std::initializer_list<std::string_view> known);

class Document {
 public:
  /// @throws Error if the text is not well-formed XML; an included file that is not well-formed
  /// gives a diagnostic.
  Document(std::string text, const std::string& file, const ReadOptions& options,
           Diagnostics& diagnostics);

  [[nodiscard]] const Node& root() const { return root_; }
  /// The folder of the model.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// The existing file `name`, searched in the folder of the model, then in the roots; nullopt if
  /// it does not exist or is outside of all roots.
  [[nodiscard]] std::optional<std::filesystem::path> resolve(
      const std::filesystem::path& name) const;
  /// The file of an asset: `name`, which begins with the folder of the compiler, or else what the
  /// element has written, in the folder of the element's file if that is included, as MuJoCo does.
  [[nodiscard]] std::optional<std::filesystem::path> resolve_asset(
      const Node& node, const std::filesystem::path& name,
      const std::filesystem::path& written) const;
  /// The folder of a file that exists but is in none of the roots, so that it is not opened; or
  /// empty.
  [[nodiscard]] std::filesystem::path folder_outside(const std::filesystem::path& name) const;

 private:
  /// Adds the children recursively, with includes replaced by the contents of their files.
  void expand(Node& node, int depth, int include_depth);
  void include(Node& parent, const Node& include_node, int depth, int include_depth);

  Diagnostics& diagnostics_;
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> roots_;  ///< canonical
  std::vector<std::unique_ptr<XmlFile>> files_;
  std::set<std::filesystem::path> included_;
  std::size_t bytes_ = 0;  ///< of all included files
  Node root_;
};

}  // namespace limb::mjcf
