#include "limb/model/mjcf/read_mjcf_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/error.hpp"
#include "limb/base/nearest.hpp"
#include "limb/base/text_file.hpp"

namespace limb::mjcf {
namespace {

namespace fs = std::filesystem;
using Severity = Diagnostic::Severity;

/// More than twice as many as any element of the format has.
constexpr int kMaxAttributes = 200;

bool is_inside(const fs::path& path, const fs::path& root) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

fs::path real_path(const fs::path& path) {
  std::error_code code;
  fs::path result = fs::weakly_canonical(path.empty() ? fs::path(".") : path, code);
  if (code) return {};
  // "folder/" has an empty last part, which paths inside it do not have.
  return result.has_filename() ? result : result.parent_path();
}

std::vector<std::string> strings(std::initializer_list<std::string_view> views) {
  return {views.begin(), views.end()};
}

}  // namespace

void add(Diagnostics& diagnostics, Severity severity, const Node& node, std::string rule,
         std::string message, std::string reason, std::string fix) {
  if (severity == Severity::note && diagnostics.size() >= kMaxNotes) return;
  diagnostics.push_back({severity, std::move(rule), node.source(), std::move(message),
                         std::move(reason), std::move(fix)});
}

std::string Node::title() const {
  constexpr std::size_t kMaxTitle = 300;
  const std::string title = XmlReader::title(*element);
  return title.size() > kMaxTitle ? title.substr(0, kMaxTitle) + "..." : title;
}

std::string closest(std::string_view typed, const std::vector<std::string>& known) {
  if (known.size() > 2000) return "";
  const std::string close = nearest(typed, known);
  return close.empty() ? "" : fmt::format(" (closest: '{}')", close);
}

void expect_attributes(Diagnostics& diagnostics, const Node& node,
                       std::initializer_list<std::string_view> known) {
  int count = 0;
  for (const auto* a = node.element->FirstAttribute(); a != nullptr; a = a->Next()) {
    if (++count > kMaxAttributes) {
      add(diagnostics, Severity::error, node, "too-many-attributes",
          fmt::format("{} has more than {} attributes", node.title(), kMaxAttributes),
          "no element of MJCF has so many");
      return;
    }
    if (std::find(known.begin(), known.end(), a->Name()) != known.end()) continue;
    if (diagnostics.size() >= kMaxNotes) return;
    add(diagnostics, Severity::note, node, "attribute-unknown",
        fmt::format("{}: unknown attribute '{}'{}", node.title(), a->Name(),
                    closest(a->Name(), strings(known))),
        "it is ignored");
  }
}

void note_unknown_child(Diagnostics& diagnostics, const Node& parent, const Node& child,
                        std::initializer_list<std::string_view> known) {
  if (diagnostics.size() >= kMaxNotes) return;
  add(diagnostics, Severity::note, child, "element-unknown",
      fmt::format("{}: unknown element '{}'{}", parent.title(), child.tag(),
                  closest(child.tag(), strings(known))),
      "it is ignored");
}

Document::Document(std::string text, const std::string& file, const ReadOptions& options,
                   Diagnostics& diagnostics)
    : diagnostics_(diagnostics), folder_(real_path(fs::path(file).parent_path())) {
  for (const fs::path& root : options.roots) roots_.push_back(real_path(root));
  roots_.push_back(folder_);
  std::erase_if(roots_, [](const fs::path& root) { return root.empty(); });
  files_.push_back(std::make_unique<XmlFile>("read_mjcf", std::move(text), file));
  included_.insert(real_path(file));
  root_.element = &files_.front()->root();
  root_.file = files_.front().get();
  expand(root_, 1, 0);
}

std::optional<fs::path> Document::resolve(const fs::path& name) const {
  if (name.empty()) return std::nullopt;
  std::vector<fs::path> candidates = {folder_ / name};
  for (const fs::path& root : roots_) {
    if (root != folder_) candidates.push_back(root / name);
  }
  for (const fs::path& candidate : candidates) {
    const fs::path path = real_path(candidate);
    std::error_code code;
    if (path.empty() || !fs::is_regular_file(path, code)) continue;
    const auto holds = [&](const fs::path& root) { return is_inside(path, root); };
    if (std::any_of(roots_.begin(), roots_.end(), holds)) return path;
  }
  return std::nullopt;
}

std::optional<fs::path> Document::resolve_asset(const Node& node, const fs::path& name,
                                                const fs::path& written) const {
  auto path = resolve(name);
  if (!path && !written.empty() && node.file != root_.file) {
    path = resolve(real_path(node.file->file()).parent_path() / written);
  }
  return path;
}

fs::path Document::folder_outside(const fs::path& name) const {
  const fs::path path = real_path(folder_ / name);
  std::error_code code;
  return !resolve(name) && !path.empty() && fs::is_regular_file(path, code) ? path.parent_path()
                                                                            : fs::path();
}

void Document::expand(Node& node, int depth, int include_depth) {
  for (const auto* e = node.element->FirstChildElement(); e != nullptr;
       e = e->NextSiblingElement()) {
    Node child{e, node.file, {}};
    if (depth >= kMaxDepth) {
      add(diagnostics_, Severity::error, child, "nested-too-deep",
          fmt::format("{} is nested more than {} levels deep", child.title(), kMaxDepth),
          "it is not read");
      return;
    }
    if (child.tag() == "include") {
      include(node, child, depth, include_depth);
    } else {
      expand(child, depth + 1, include_depth);
      node.children.push_back(std::move(child));
    }
  }
}

void Document::include(Node& parent, const Node& include_node, int depth, int include_depth) {
  const auto refuse = [&](const std::string& rule, const std::string& message,
                          const std::string& reason) {
    add(diagnostics_, Severity::error, include_node, rule, message, reason);
  };
  XmlReader reader(*include_node.file, diagnostics_);
  const std::string name = reader.required(*include_node.element, "file");
  if (name.empty()) return;
  if (include_depth >= kMaxIncludeDepth) {
    return refuse(
        "include-too-deep",
        fmt::format("include of '{}' is nested more than {} files deep", name, kMaxIncludeDepth),
        "it is not read");
  }
  auto path = resolve(name);
  // Then in the folder of the including file, as MuJoCo does.
  if (!path) path = resolve(real_path(include_node.file->file()).parent_path() / name);
  if (!path) {
    return refuse("include-not-found", fmt::format("include of '{}': no such file", name),
                  "files are searched in the folder of the model and never outside of its root");
  }
  if (!included_.insert(*path).second) {
    return refuse("include-twice", fmt::format("include of '{}', which is already included", name),
                  "a file can be included once, and not by itself");
  }
  try {
    std::string text = read_text_file("read_mjcf", *path, kMaxTextFile - bytes_);
    bytes_ += text.size();
    const fs::path shown =
        fs::path(files_.front()->file()).parent_path() / path->lexically_relative(folder_);
    files_.push_back(std::make_unique<XmlFile>("read_mjcf", std::move(text), shown.string()));
  } catch (const Error& error) {
    constexpr std::string_view kCall = "read_mjcf: ";
    return refuse("include-not-read",
                  fmt::format("include of '{}': {}", name,
                              std::string_view(error.what()).substr(kCall.size())),
                  "its elements are missing from the robot");
  }
  Node holder{&files_.back()->root(), files_.back().get(), {}};
  expand(holder, depth, include_depth + 1);
  std::move(holder.children.begin(), holder.children.end(), std::back_inserter(parent.children));
}

}  // namespace limb::mjcf
