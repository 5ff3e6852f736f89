#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "limb/base/diagnostic.hpp"
#include "limb/model/core/read_options.hpp"

namespace limb {

/// Result of the search for a mesh file.
struct MeshPath {
  enum class Status { found, not_found, outside_roots };
  Status status = Status::not_found;
  std::string path;  ///< of the file, with links and .. resolved; empty unless found
};

/// The diagnostic for a mesh that was not found; nullopt if it was found.
std::optional<Diagnostic> mesh_diagnostic(const MeshPath& mesh, const std::string& uri,
                                          SourceLocation source);

/// Finds the files that a robot description names, only inside given folders.
///
/// Forms, each tried in every root in order; the first existing file is used:
///
///   package://NAME/rest, model://NAME/rest   ROOT/NAME/rest, then ROOT/rest
///   file:///folder/mesh.stl, /folder/mesh.stl   that file, if it lies in a root
///   file://mesh.stl, mesh.stl                ROOT/mesh.stl
///
/// Percent-encoding such as %20 is decoded after file://. A file is found only if its real path,
/// with .. and symbolic links resolved, is inside the real path of a root. No file is opened here.
class MeshPaths {
 public:
  /// @param file  the description; its folder is searched after the roots of the options.
  MeshPaths(const std::string& file, const ReadOptions& options);

  /// The result for each URI is computed once.
  const MeshPath& find(const std::string& uri);
  /// Whether find() has been called for `uri` before.
  [[nodiscard]] bool knows(const std::string& uri) const { return known_.contains(uri); }

 private:
  [[nodiscard]] MeshPath search(const std::string& uri) const;

  std::vector<std::filesystem::path> roots_;  // real paths, without .. or links
  std::unordered_map<std::string, MeshPath> known_;
};

}  // namespace limb
