#include "limb/model/urdf/mesh_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "limb/model/core/xml.hpp"

namespace limb {

namespace fs = std::filesystem;

namespace {

/// Decodes percent-encoding such as %20; all other text is unchanged.
std::string decode(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16).ptr ==
            text.data() + i + 3) {
      plain += static_cast<char>(code);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// Lexical comparison of two normalized paths.
bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::optional<Diagnostic> mesh_diagnostic(const MeshPath& mesh, const std::string& uri,
                                          SourceLocation source) {
  using Severity = Diagnostic::Severity;
  switch (mesh.status) {
    case MeshPath::Status::found:
      break;
    case MeshPath::Status::outside_roots:
      return Diagnostic{Severity::warning,
                        "mesh-outside-root",
                        std::move(source),
                        fmt::format("mesh '{}' is outside the given folders", shorten(uri)),
                        "files outside them are never opened",
                        "name its folder as a root"};
    case MeshPath::Status::not_found:
      return Diagnostic{Severity::note,
                        "mesh-not-found",
                        std::move(source),
                        fmt::format("mesh '{}' was not found", shorten(uri)),
                        "the link has no shape there; its dynamics do not need one",
                        "name the folder that contains it as a root"};
  }
  return std::nullopt;
}

MeshPaths::MeshPaths(const std::string& file, const ReadOptions& options) {
  std::vector<fs::path> roots = options.roots;
  roots.push_back(fs::path(file).parent_path());
  for (const fs::path& root : roots) {
    std::error_code code;
    const fs::path real = fs::canonical(root.empty() ? fs::path(".") : root, code);
    if (!code) roots_.push_back(real);  // folders that do not exist are skipped
  }
}

const MeshPath& MeshPaths::find(const std::string& uri) {
  const auto [entry, is_new] = known_.try_emplace(uri);
  if (is_new) entry->second = search(uri);
  return entry->second;
}

MeshPath MeshPaths::search(const std::string& uri) const {
  // No system opens longer paths, and each of their parts would need memory.
  constexpr std::size_t kLongest = 4096;
  if (uri.size() > kLongest) return {};
  std::string_view rest = uri;
  std::vector<std::string> names;  // what may follow the root
  if (take_prefix(rest, "package://") || take_prefix(rest, "model://")) {
    names.emplace_back(rest);
    const std::size_t slash = rest.find('/');
    if (slash != rest.npos) names.emplace_back(rest.substr(slash + 1));
  } else if (take_prefix(rest, "file://")) {
    names.push_back(decode(rest));
  } else if (rest.find("://") != rest.npos) {
    return {};  // remote files are never fetched
  } else {
    names.emplace_back(rest);
  }

  bool outside = false;
  for (const fs::path& root : roots_) {
    for (const std::string& name : names) {
      if (name.empty() || name.find('\0') != name.npos) continue;
      // An absolute name replaces the root here, and must then be inside it.
      const fs::path candidate = (root / name).lexically_normal();
      if (!lies_in(candidate, root)) {
        outside = true;
        continue;
      }
      std::error_code code;
      if (!fs::is_regular_file(candidate, code)) continue;
      const fs::path real = fs::canonical(candidate, code);
      if (code) continue;
      if (lies_in(real, root)) return {MeshPath::Status::found, real.string()};
      outside = true;
    }
  }
  return {outside ? MeshPath::Status::outside_roots : MeshPath::Status::not_found, {}};
}

}  // namespace limb
