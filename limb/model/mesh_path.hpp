#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "limb/base/diagnostic.hpp"
#include "limb/model/read_options.hpp"

namespace limb {

/// What became of a mesh's address.
struct MeshPath {
  enum class Status { found, not_found, outside_roots };
  Status status = Status::not_found;
  std::string path;  ///< of the file, links and .. resolved; empty unless found
};

/// What a reader says of a mesh that it did not find; nothing of one that it found.
std::optional<Diagnostic> mesh_remark(const MeshPath& mesh, const std::string& uri, Source source);

/// Finds the files that a robot description names, inside given folders and nowhere else.
///
/// Forms, each tried in every root in order, the first existing file wins:
///
///   package://NAME/rest, model://NAME/rest   ROOT/NAME/rest, then ROOT/rest
///   file:///folder/mesh.stl, /folder/mesh.stl   that file, if it lies in a root
///   file://mesh.stl, mesh.stl                ROOT/mesh.stl
///
/// %20 and its like are decoded after file://. A file is found only if its real place, with .. and
/// symbolic links resolved, lies in the real place of a root. No file is opened here.
class MeshPaths {
 public:
  /// @param file  the description; its folder is the root where options name none.
  MeshPaths(const std::string& file, const ReadOptions& options);

  /// The answer for each address is computed once.
  const MeshPath& find(const std::string& uri);
  /// Whether find() has answered for `uri` before.
  [[nodiscard]] bool knows(const std::string& uri) const { return known_.contains(uri); }

 private:
  [[nodiscard]] MeshPath search(const std::string& uri) const;

  std::vector<std::filesystem::path> roots_;  // real places, no .. or links left
  std::unordered_map<std::string, MeshPath> known_;
};

}  // namespace limb
