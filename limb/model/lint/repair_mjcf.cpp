#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "limb/base/check.hpp"
#include "limb/model/core/xml.hpp"
#include "limb/model/lint/repair.hpp"
#include "limb/model/lint/xml_tags.hpp"
#include "limb/model/mjcf/read_mjcf.hpp"

namespace limb {
namespace {

bool close(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::abs(x - y) <= 1e-12 * std::max(std::abs(x), std::abs(y));
  });
}

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& x : values) x *= factor;
  return values;
}

/// Writes edits where the element itself has the number. What comes from a default class, from
/// geoms, or from an included file is not changed.
class Writer {
 public:
  Writer(const std::string& text, const std::string& file)
      : file_(file), edits_(text), tags_(find_xml_tags(text)) {}

  /// Empty if the edit was written; otherwise why not.
  std::string write(const FileEdit& edit) {
    if (edit.source.file != file_) return fmt::format("it is in {}", edit.source.file);
    const XmlTag* tag = find(edit);
    if (tag == nullptr) return "the numbers are not written there";
    switch (edit.field) {
      case FileEdit::Field::mass:
        return set(*tag, "mass", edit.before, edit.after);
      case FileEdit::Field::com:
        return set(*tag, "pos", edit.before, edit.after);
      case FileEdit::Field::tensor:
        return set_tensor(*tag, edit);
      case FileEdit::Field::limits: {
        constexpr double kDegree = std::numbers::pi / 180;
        const std::string radians = set(*tag, "range", edit.before, edit.after);
        if (radians.empty()) return "";
        return set(*tag, "range", scaled(edit.before, 1 / kDegree),
                   scaled(edit.after, 1 / kDegree));
      }
      case FileEdit::Field::axis:
        return set(*tag, "axis", edit.before, edit.after);
      case FileEdit::Field::axis2:
      case FileEdit::Field::rpy:
        break;
    }
    return "MJCF has no such number";
  }

  std::string written() const { return edits_.written(); }

 private:
  /// The element on the line of the edit; of several the one with the name.
  const XmlTag* find(const FileEdit& edit) const {
    const XmlTag* found = nullptr;
    for (const XmlTag& tag : tags_) {
      if (tag.line != edit.source.line || tag.name != (edit.of_link() ? "inertial" : "joint"))
        continue;
      if (!edit.of_link() && edits_.value(tag, "name") == edit.owner) return &tag;
      if (found != nullptr) return nullptr;  // two on one line
      found = &tag;
    }
    return found;
  }

  std::string set(const XmlTag& tag, std::string_view attribute, const std::vector<double>& before,
                  const std::vector<double>& after) {
    if (!close(edits_.numbers(tag, attribute), before)) {
      return fmt::format("<{}> does not have the number itself", tag.name);
    }
    edits_.set(tag, attribute, after);
    return "";
  }

  std::string set_tensor(const XmlTag& tag, const FileEdit& edit) {
    if (tag.find("fullinertia") != nullptr) return set(tag, "fullinertia", edit.before, edit.after);
    const auto is_zero = [](double x) { return x == 0; };
    const std::vector<double> diagonal(edit.before.begin(), edit.before.begin() + 3);
    if (std::all_of(edit.after.begin() + 3, edit.after.end(), is_zero)) {
      return set(tag, "diaginertia", diagonal, {edit.after.begin(), edit.after.begin() + 3});
    }
    return "a diagonal tensor would become a full one";
  }

  const std::string& file_;
  TextEdits edits_;
  std::vector<XmlTag> tags_;
};

}  // namespace

RepairedMjcf repair_mjcf_text(const std::string& text, const std::string& file,
                              const ReadOptions& options, const MeshBoxes& meshes) {
  Diagnostics ignored;
  const Description<double> robot = parse_mjcf(text, file, options, ignored);
  RepairedMjcf result;
  Writer writer(text, file);
  for (FileEdit& edit : repair_robot(robot, meshes).edits) {
    const std::string why = writer.write(edit);
    if (why.empty()) {
      result.edits.push_back(std::move(edit));
    } else {
      result.lost.push_back({Diagnostic::Severity::warning, edit.rule, edit.source,
                             fmt::format("{}: {}", edit.text(), why), "", ""});
    }
  }
  result.text = writer.written();
  return result;
}

}  // namespace limb
