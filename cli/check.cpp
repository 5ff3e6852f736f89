#include "cli/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "cli/json_document.hpp"
#include "cli/robot_options.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/repair.hpp"
#include "limb/model/recipe/write_recipe.hpp"
#include "limb/model/urdf/write_urdf.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;
using Severity = Diagnostic::Severity;

/// In the order of the file; errors come first within a line.
void sort_by_line(Diagnostics& diagnostics) {
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::tuple(a.source.file, a.source.line, b.severity) <
                            std::tuple(b.source.file, b.source.line, a.severity);
                   });
}

int count(const Diagnostics& diagnostics, Severity severity) {
  return static_cast<int>(
      std::count_if(diagnostics.begin(), diagnostics.end(),
                    [&](const Diagnostic& d) { return d.severity == severity; }));
}

std::string summary_of(const Diagnostics& diagnostics) {
  const auto counted = [](int n, const char* noun) {
    return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
  };
  return fmt::format("{}, {}, {}", counted(count(diagnostics, Severity::error), "error"),
                     counted(count(diagnostics, Severity::warning), "warning"),
                     counted(count(diagnostics, Severity::note), "note"));
}

Json to_json(const Diagnostics& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& d : diagnostics) {
    list.push_back({{"severity", to_text(d.severity)},
                    {"rule", d.rule},
                    {"file", d.source.file},
                    {"line", d.source.line},
                    {"message", d.message},
                    {"reason", d.reason},
                    {"fix", d.fix}});
  }
  return list;
}

void print(const Diagnostics& diagnostics, std::ostream& out) {
  for (const Diagnostic& d : diagnostics) {
    out << d.text() << "\n";
    if (!d.reason.empty()) out << "    why: " << d.reason << "\n";
    if (!d.fix.empty()) out << "    fix: " << d.fix << "\n";
  }
}

class Check : public Verb {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override {
    return "problems in a robot file, why they matter, and how to fix them";
  }
  std::string_view examples() const override {
    return "  limb check arm.urdf                    problems with file:line\n"
           "  limb check arm.urdf --fix fixed.urdf   the same file with safe repairs\n"
           "  limb check go2.xml --fix fixed.urdf    MJCF is written as .urdf or .toml\n"
           "  limb check arm.urdf --json             machine-readable output\n";
  }
  void add_options(CLI::App& app) override {
    robot_.add(app, false);
    app.add_option("--fix", fix_, "write a repaired .urdf, .toml or, from MJCF, .xml")
        ->type_name("FILE");
    app.add_flag("--quiet", quiet_, "errors and warnings only, no notes");
    app.add_flag("--json", json_, "machine-readable output");
  }

  Exit run(std::ostream& out) override {
    Diagnostics found;
    const Description<double> robot = parse_robot(robot_.path(), robot_.read_options(), found);
    meshes_ = read_mesh_boxes(robot);
    const Diagnostics rules = limb::check_robot(robot, meshes_);
    found.insert(found.end(), rules.begin(), rules.end());
    sort_by_line(found);
    if (quiet_) {
      std::erase_if(found, [](const Diagnostic& d) { return d.severity == Severity::note; });
    }
    Json json = {{"path", robot_.path()}, {"findings", to_json(found)}};
    if (!json_) {
      print(found, out);
      out << robot_.path() << ": " << summary_of(found) << "\n";
    }
    Diagnostics left = found;
    if (!fix_.empty()) left = repair_to_file(robot, found, json, out);
    json["errors_remaining"] = count(left, Severity::error);
    if (json_) out << json_document(json);
    return has_errors(left) ? Exit::bad_input : Exit::ok;
  }

 private:
  /// Output of --fix: the text, the changes, and what the format cannot represent.
  struct Repaired {
    std::string text;
    std::vector<FileEdit> edits;
    Diagnostics lost;
  };

  /// Writes the repaired robot and returns its remaining diagnostics.
  Diagnostics repair_to_file(const Description<double>& robot, const Diagnostics& found, Json& json,
                             std::ostream& out) const {
    const Repaired repaired = repaired_file(robot);
    write_text_file("limb check", fix_, repaired.text);
    // Checks the written file, not the robot in memory.
    Diagnostics left;
    const Description<double> again = parse_robot(fix_, robot_.read_options(), left);
    const Diagnostics rules = limb::check_robot(again, meshes_);
    left.insert(left.end(), rules.begin(), rules.end());
    sort_by_line(left);
    json["written"] = fix_;
    json["changes"] = Json::array();
    for (const FileEdit& edit : repaired.edits) json["changes"].push_back(edit.text());
    json["not_kept"] = to_json(repaired.lost);
    json["remaining"] = to_json(left);
    if (json_) return left;
    const std::size_t n = repaired.edits.size();
    out << "\n" << fix_ << ": " << n << (n == 1 ? " change\n" : " changes\n");
    for (const FileEdit& edit : repaired.edits) out << "  " << edit.text() << "\n";
    for (const Diagnostic& d : repaired.lost) out << "  not kept: " << d.message << "\n";
    out << "remaining: " << summary_of(left) << " (before: " << summary_of(found) << ")\n";
    return left;
  }

  /// URDF to URDF and MJCF to MJCF change only the repaired numbers in the text; otherwise a new
  /// file is written.
  Repaired repaired_file(const Description<double>& robot) const {
    const std::string ending = std::filesystem::path(fix_).extension().string();
    if (!is_builtin(robot_.path())) {
      const std::string text = read_text_file("limb check", robot_.path());
      const RobotFormat format = robot_format(robot_.path(), text);
      if (format == RobotFormat::urdf && ending == ".urdf") {
        const RepairedUrdf urdf =
            repair_urdf_text(text, robot_.path(), robot_.read_options(), meshes_);
        return {urdf.text, urdf.edits, {}};
      }
      if (format == RobotFormat::mjcf && (ending == ".xml" || ending == ".mjcf")) {
        RepairedMjcf mjcf = repair_mjcf_text(text, robot_.path(), robot_.read_options(), meshes_);
        return {std::move(mjcf.text), std::move(mjcf.edits), std::move(mjcf.lost)};
      }
    }
    if (ending != ".urdf" && ending != ".toml") {
      throw Error(fmt::format(
          "limb check: --fix is '{}', expected a name that ends in .urdf, .toml or, for "
          "an MJCF file, .xml",
          fix_));
    }
    const RepairedRobot repaired = repair_robot(robot, meshes_);
    Repaired result{{}, repaired.edits, {}};
    result.text =
        ending == ".toml" ? write_recipe(repaired.robot) : write_urdf(repaired.robot, result.lost);
    return result;
  }

  RobotOptions robot_;
  MeshBoxes meshes_;  // sizes of the meshes of the robot, read once
  std::string fix_;
  bool quiet_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_check() {
  return std::make_unique<Check>();
}

}  // namespace limb::cli
