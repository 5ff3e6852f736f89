#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "limb/base/check.hpp"
#include "limb/base/number.hpp"
#include "limb/model/core/xml.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/check_structure.hpp"
#include "limb/model/lint/repair.hpp"
#include "limb/model/urdf/read_urdf.hpp"

namespace limb {
namespace {

/// A start tag in the text with the offsets of its attribute values.
struct Tag {
  struct Attribute {
    std::string name;
    std::size_t begin, end;  // of the value, quotes not included
  };
  std::string name;
  int line = 0;
  std::size_t end = 0;  // offset of ">" or "/>"
  std::vector<Attribute> attributes;

  [[nodiscard]] const Attribute* find(std::string_view attribute) const {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const Attribute& a) { return a.name == attribute; });
    return found == attributes.end() ? nullptr : &*found;
  }
};

/// A link or joint of the robot with the elements below it that an edit can change.
struct Part {
  Tag tag;
  std::map<std::string, Tag> below;  // "inertial/mass", "axis"; the first of each
};

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Decodes the five predefined entities of XML.
std::string decoded(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}};
  for (const auto& [name, character] : kEntities) {
    for (std::size_t at = text.find(name); at != text.npos;
         at = text.find(name, at + character.size())) {
      text.replace(at, name.size(), character);
    }
  }
  return text;
}

/// Finds the offsets of tags in text that tinyxml2 has found to be well-formed.
class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  std::vector<Part> parts() {
    std::vector<Part> parts;
    std::vector<std::string> path;
    while (true) {
      const std::size_t at = text_.find('<', position_);
      if (at == text_.npos) return parts;
      move_to(at);
      if (skipped("<!--", "-->") || skipped("<![CDATA[", "]]>") || skipped("<?", "?>")) continue;
      if (text_.compare(at, 2, "<!") == 0) {
        move_to(std::min(text_.find('>', at), text_.size() - 1) + 1);
        continue;
      }
      if (text_.compare(at, 2, "</") == 0) {
        if (!path.empty()) path.pop_back();
        move_to(std::min(text_.find('>', at), text_.size() - 1) + 1);
        continue;
      }
      const Tag tag = read_tag();
      const bool closed = text_.compare(tag.end, 2, "/>") == 0;
      path.push_back(tag.name);
      if (path.size() == 2) {
        parts.push_back({tag, {}});
      } else if (path.size() == 3 && !parts.empty()) {
        parts.back().below.emplace(tag.name, tag);
      } else if (path.size() == 4 && !parts.empty()) {
        parts.back().below.emplace(path[2] + "/" + tag.name, tag);
      }
      if (closed) path.pop_back();
    }
  }

 private:
  void move_to(std::size_t position) {
    position = std::min(position, text_.size());
    line_ +=
        static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(position_),
                                    text_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    position_ = position;
  }

  bool skipped(std::string_view open, std::string_view close) {
    if (text_.compare(position_, open.size(), open) != 0) return false;
    const std::size_t end = text_.find(close, position_ + open.size());
    move_to(end == text_.npos ? text_.size() : end + close.size());
    return true;
  }

  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '>'; }

  Tag read_tag() {
    Tag tag;
    tag.line = line_;
    std::size_t i = position_ + 1;
    const auto word = [&] {
      const std::size_t start = i;
      while (!is_space(at(i)) && at(i) != '>' && at(i) != '/' && at(i) != '=') ++i;
      return text_.substr(start, i - start);
    };
    tag.name = word();
    while (true) {
      while (is_space(at(i))) ++i;
      if (at(i) == '>') break;
      if (at(i) == '/') {
        if (at(i + 1) == '>') break;
        ++i;
        continue;
      }
      const std::string name = word();
      while (is_space(at(i))) ++i;
      if (at(i) != '=') continue;
      ++i;
      while (is_space(at(i))) ++i;
      const char quote = at(i);
      const std::size_t begin = i + 1, end = text_.find(quote, begin);
      if ((quote != '"' && quote != '\'') || end == text_.npos) break;
      tag.attributes.push_back({name, begin, end});
      i = end + 1;
    }
    tag.end = i;
    move_to(std::min(text_.find('>', i), text_.size() - 1) + 1);
    return tag;
  }

  const std::string& text_;
  std::size_t position_ = 0;
  int line_ = 1;
};

struct Splice {
  std::size_t begin, end;
  std::string text;
};

class Writer {
 public:
  Writer(const std::string& text, const std::string& file)
      : text_(text), file_(file), parts_(Scanner(text).parts()) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Tag& tag = parts_[i].tag;
      const auto* name = tag.find("name");
      if (name == nullptr) continue;
      const std::string owner = decoded(text.substr(name->begin, name->end - name->begin));
      index_.emplace(tag.name + " " + owner, i);
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
      const Tag::Attribute* xyz = axis->second.find("xyz");
      if (xyz == nullptr) continue;
      const auto written = parse_numbers(text_.substr(xyz->begin, xyz->end - xyz->begin));
      if (!written || written->size() != 3) continue;
      const double length =
          Vector3<double>((*written)[0], (*written)[1], (*written)[2]).stableNorm();
      if (length == 0 || std::abs(length - 1) < 1e-5) continue;
      edit.before = *written;
      edits.push_back(std::move(edit));
    }
    return edits;
  }

  std::string written() {
    std::sort(splices_.begin(), splices_.end(),
              [](const Splice& a, const Splice& b) { return a.begin < b.begin; });
    std::string out;
    std::size_t done = 0;
    for (const Splice& splice : splices_) {
      out.append(text_, done, splice.begin - done);
      out += splice.text;
      done = splice.end;
    }
    return out.append(text_, done);
  }

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

  const Tag& tag(const FileEdit& edit, const Part& part, const std::string& path) const {
    const auto found = part.below.find(path);
    if (found == part.below.end()) fail(edit, fmt::format("has no element <{}>", path));
    return found->second;
  }

  void set(const FileEdit& edit, const Tag& tag, std::string_view attribute,
           const std::vector<double>& values) {
    std::string written;
    for (const double value : values) {
      if (!written.empty()) written += ' ';
      written += to_text(value);
    }
    const Tag::Attribute* found = tag.find(attribute);
    if (found == nullptr) {
      if (tag.attributes.empty()) fail(edit, fmt::format("<{}> has no attributes", tag.name));
      const std::size_t after = tag.attributes.back().end + 1;
      splices_.push_back({after, after, fmt::format(" {}=\"{}\"", attribute, written)});
      return;
    }
    // The same number in another notation is kept as written.
    const auto now = parse_numbers(text_.substr(found->begin, found->end - found->begin));
    if (now && *now == values) return;
    splices_.push_back({found->begin, found->end, written});
  }

  const std::string& text_;
  const std::string& file_;
  std::vector<Part> parts_;
  std::multimap<std::string, std::size_t> index_;  // "link base", in order of the text
  std::vector<Splice> splices_;
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
                              const ReadOptions& options) {
  Diagnostics ignored;
  const Description<double> robot = parse_urdf(text, file, options, ignored);
  RepairedUrdf result;
  result.edits = Writer(text, file).axis_edits(robot);
  for (FileEdit& edit : repair_robot(robot).edits) result.edits.push_back(std::move(edit));
  result.text = repair_urdf(text, file, result.edits);
  const Description<double> repaired = parse_urdf(result.text, file, options, result.remaining);
  check_structure(repaired, result.remaining);
  check_values(repaired, result.remaining);
  return result;
}

}  // namespace limb
