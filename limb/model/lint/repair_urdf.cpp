#include <fmt/format.h>

#include <map>
#include <string_view>

#include "limb/base/check.hpp"
#include "limb/model/core/xml.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/check_structure.hpp"
#include "limb/model/lint/repair.hpp"
#include "limb/model/lint/xml_tags.hpp"
#include "limb/model/urdf/read_urdf.hpp"

namespace limb {
namespace {

/// A link or joint of the robot with the elements below it that an edit can change.
struct Part {
  XmlTag tag;
  std::map<std::string, XmlTag> below;  // "inertial/mass", "axis"; the first of each
};

std::vector<Part> find_parts(const std::string& text) {
  std::vector<Part> parts;
  for (XmlTag& tag : find_xml_tags(text)) {
    if (tag.path.size() == 2) {
      parts.push_back({std::move(tag), {}});
    } else if (tag.path.size() == 3 && !parts.empty()) {
      parts.back().below.emplace(tag.name, tag);
    } else if (tag.path.size() == 4 && !parts.empty()) {
      parts.back().below.emplace(tag.path[2] + "/" + tag.name, tag);
    }
  }
  return parts;
}

class Writer {
 public:
  Writer(const std::string& text, const std::string& file)
      : edits_(text), file_(file), parts_(find_parts(text)) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const XmlTag& tag = parts_[i].tag;
      if (tag.find("name") != nullptr)
        index_.emplace(tag.name + " " + edits_.value(tag, "name"), i);
    }
  }

  void add(const FileEdit& edit) {
    const Part& part = find(edit);
    switch (edit.field) {
      case FileEdit::Field::mass:
        set(edit, tag(edit, part, "inertial/mass"), "value", edit.after);
        break;
      case FileEdit::Field::com:
        set(edit, tag(edit, part, "inertial/origin"), "xyz", edit.after);
        break;
      case FileEdit::Field::tensor: {
        constexpr const char* kEntries[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
        for (std::size_t i = 0; i < 6; ++i) {
          if (edit.before[i] == edit.after[i]) continue;
          set(edit, tag(edit, part, "inertial/inertia"), kEntries[i], {edit.after[i]});
        }
        break;
      }
      case FileEdit::Field::axis:
        set(edit, tag(edit, part, "axis"), "xyz", edit.after);
        break;
      case FileEdit::Field::axis2:
        fail(edit, "a URDF joint has no second axis");
      case FileEdit::Field::rpy:
        set(edit, tag(edit, part, "origin"), "rpy", edit.after);
        break;
      case FileEdit::Field::limits:
        set(edit, tag(edit, part, "limit"), "lower", {edit.after[0]});
        set(edit, tag(edit, part, "limit"), "upper", {edit.after[1]});
        break;
    }
  }

  /// Axes that the reader normalized: the Description does not have the original values.
  [[nodiscard]] std::vector<FileEdit> axis_edits(const Description<double>& robot) const {
    std::vector<FileEdit> edits;
    for (std::size_t j = 0; j < robot.joints.size(); ++j) {
      const auto& joint = robot.joints[j];
      if (joint.type == JointType::fixed || joint_nv(joint.type) > 2) continue;
      FileEdit edit = edit_axis("axis-not-unit", robot, j, FileEdit::Field::axis, joint.axis);
      if (!index_.contains("joint " + joint.name)) continue;
      const Part& part = find(edit);
      const auto axis = part.below.find("axis");
      if (axis == part.below.end()) continue;
      const std::vector<double> written = edits_.numbers(axis->second, "xyz");
      if (written.size() != 3) continue;
      const double length = Vector3<double>(written.data()).stableNorm();
      if (length == 0 || std::abs(length - 1) < 1e-5) continue;
      edit.before = written;
      edits.push_back(std::move(edit));
    }
    return edits;
  }

  std::string written() const { return edits_.written(); }

 private:
  [[noreturn]] void fail(const FileEdit& edit, std::string_view why) const {
    throw Error(fmt::format("repair_urdf: {}:{}: {} '{}': {}", file_, edit.source.line,
                            edit.of_link() ? "link" : "joint", edit.owner, why));
  }

  /// By name; if several have the name, the one on the line of the edit.
  const Part& find(const FileEdit& edit) const {
    const Part* found = nullptr;
    const auto [first, last] =
        index_.equal_range((edit.of_link() ? "link " : "joint ") + edit.owner);
    for (auto it = first; it != last; ++it) {
      const Part& part = parts_[it->second];
      const auto inertial = part.below.find("inertial");
      const bool here =
          edit.of_link() ? inertial != part.below.end() && inertial->second.line == edit.source.line
                         : part.tag.line == edit.source.line;
      if (here) return part;
      if (found == nullptr) found = &part;
    }
    if (found == nullptr) fail(edit, "is not in the text");
    return *found;
  }

  const XmlTag& tag(const FileEdit& edit, const Part& part, const std::string& path) const {
    const auto found = part.below.find(path);
    if (found == part.below.end()) fail(edit, fmt::format("has no element <{}>", path));
    return found->second;
  }

  void set(const FileEdit& edit, const XmlTag& tag, std::string_view attribute,
           const std::vector<double>& values) {
    if (!edits_.set(tag, attribute, values)) {
      fail(edit, fmt::format("<{}> has no attributes", tag.name));
    }
  }

  TextEdits edits_;
  const std::string& file_;
  std::vector<Part> parts_;
  std::multimap<std::string, std::size_t> index_;  // "link base", in order of the text
};

}  // namespace

std::string repair_urdf(const std::string& text, const std::string& file,
                        const std::vector<FileEdit>& edits) {
  const XmlFile well_formed("repair_urdf", text, file);
  Writer writer(text, well_formed.file());
  for (const FileEdit& edit : edits) writer.add(edit);
  return writer.written();
}

RepairedUrdf repair_urdf_text(const std::string& text, const std::string& file,
                              const ReadOptions& options, const MeshBoxes& meshes) {
  Diagnostics ignored;
  const Description<double> robot = parse_urdf(text, file, options, ignored);
  RepairedUrdf result;
  result.edits = Writer(text, file).axis_edits(robot);
  for (FileEdit& edit : repair_robot(robot, meshes).edits) result.edits.push_back(std::move(edit));
  result.text = repair_urdf(text, file, result.edits);
  const Description<double> repaired = parse_urdf(result.text, file, options, result.remaining);
  check_structure(repaired, result.remaining);
  check_values(repaired, result.remaining, meshes);
  return result;
}

}  // namespace limb
