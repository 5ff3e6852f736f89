// Every file of tests/broken gives the first message of its manifest, and none crashes,
// hangs or is changed twice by repair.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "limb/base/error.hpp"
#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/check_structure.hpp"
#include "limb/model/lint/repair.hpp"
#include "limb/model/mesh/mesh_boxes.hpp"
#include "limb/model/mjcf/read_mjcf.hpp"
#include "limb/model/urdf/read_urdf.hpp"

namespace limb {
namespace {

namespace fs = std::filesystem;

struct Expected {
  int exit_code;
  std::string first;
};

std::map<std::string, Expected> manifest() {
  std::ifstream in(fs::path(LIMB_BROKEN_FOLDER) / "expected.tsv");
  std::map<std::string, Expected> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t a = line.find('\t'), b = line.find('\t', a + 1);
    rows[line.substr(0, a)] = {std::stoi(line.substr(a + 1, b - a - 1)), line.substr(b + 1)};
  }
  return rows;
}

Diagnostics all_diagnostics(const std::string& text, const std::string& file) {
  Diagnostics diagnostics;
  // The folder of the corpus is the root, as it is for a file that is read from there.
  ReadOptions options;
  options.roots = {LIMB_BROKEN_FOLDER};
  const Description<double> robot = file.ends_with(".xml")
                                        ? parse_mjcf(text, file, options, diagnostics)
                                        : parse_urdf(text, file, options, diagnostics);
  check_structure(robot, diagnostics);
  check_values(robot, diagnostics, read_mesh_boxes(robot));
  return diagnostics;
}

std::string text_of(const std::string& file) {
  return read_text_file("test", fs::path(LIMB_BROKEN_FOLDER) / file);
}

TEST(Broken, ManifestNamesEveryFileAndAtLeastSixty) {
  const auto rows = manifest();
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(LIMB_BROKEN_FOLDER)) {
    const std::string name = entry.path().filename().string();
    if (name != "expected.tsv" && !entry.is_directory()) files.insert(name);
  }
  for (const std::string& file : files) EXPECT_TRUE(rows.contains(file)) << file;
  for (const auto& [file, row] : rows) EXPECT_TRUE(files.contains(file)) << file;
  EXPECT_GE(files.size(), 60u);
}

TEST(Broken, GivesTheExpectedFirstMessage) {
  for (const auto& [file, expected] : manifest()) {
    ASSERT_TRUE(file.ends_with(".urdf") || file.ends_with(".xml")) << file;
    try {
      const Diagnostics found = all_diagnostics(text_of(file), file);
      EXPECT_EQ(found.empty() ? "-" : found[0].rule, expected.first) << file;
      EXPECT_EQ(has_errors(found) ? 1 : 0, expected.exit_code) << file;
      for (const Diagnostic& d : found) {
        EXPECT_FALSE(d.rule.empty() || d.message.empty() || d.reason.empty()) << d.text();
        EXPECT_TRUE(d.source.line > 0 || d.rule == "link-none") << d.text();
      }
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), expected.first) << file;
      EXPECT_EQ(expected.exit_code, 1) << file;
    }
  }
}

TEST(Broken, RepairRemovesTheFindingAndIsIdempotent) {
  int repaired = 0;
  for (const auto& [file, expected] : manifest()) {
    if (!file.ends_with(".urdf")) continue;
    RepairedUrdf first;
    try {
      first = repair_urdf_text(text_of(file), file);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), expected.first) << file;
      continue;
    }
    const RepairedUrdf second = repair_urdf_text(first.text, file);
    EXPECT_EQ(first.text, second.text) << file;
    EXPECT_TRUE(second.edits.empty()) << file << ": " << second.edits[0].text();
    if (first.edits.empty()) {
      EXPECT_EQ(first.text, text_of(file)) << file;
      continue;
    }
    ++repaired;
    for (const FileEdit& edit : first.edits) {
      for (const Diagnostic& d : first.remaining) {
        EXPECT_FALSE(d.rule == edit.rule && d.source.line == edit.source.line) << d.text();
      }
    }
  }
  EXPECT_GE(repaired, 15);
}

TEST(Broken, RepairOfMjcfIsIdempotent) {
  ReadOptions options;
  options.roots = {LIMB_BROKEN_FOLDER};
  int repaired = 0;
  for (const auto& [file, expected] : manifest()) {
    if (!file.ends_with(".xml")) continue;
    RepairedMjcf first;
    try {
      first = repair_mjcf_text(text_of(file), file, options);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), expected.first) << file;
      continue;
    }
    const RepairedMjcf second = repair_mjcf_text(first.text, file, options);
    EXPECT_EQ(first.text, second.text) << file;
    EXPECT_EQ(first.edits.empty(), first.text == text_of(file)) << file;
    repaired += first.edits.empty() ? 0 : 1;
  }
  EXPECT_GE(repaired, 2);
}

TEST(Broken, WhitespaceOf100MegabytesIsRejectedAndOf60IsRead) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "whitespace.urdf";
  const std::string robot = "<robot name='wide'>\n<link name='base'/></robot>";
  write_text_file("test", path, std::string(100u << 20, ' ') + robot);
  try {
    read_urdf(path);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "read_urdf: " + path.string() +
                  ": has more than 67108864 bytes, the limit for a robot description");
  }
  EXPECT_TRUE(all_diagnostics(std::string(60u << 20, '\n') + robot, "wide.urdf").empty());
}

// 10,000 links in a chain, each with mistakes: quadratic code would take minutes.
TEST(Broken, ManyMistakesAreAllFoundAndRepaired) {
  std::string text = "<robot name='chain'>\n";
  for (int i = 0; i < 10000; ++i) {
    const std::string n = std::to_string(i);
    text += "<link name='left_" + n +
            "'><inertial><mass value='1'/><inertia ixx='1e-3' iyy='1e-3' "
            "izz='5e-3' ixy='0' ixz='0' iyz='0'/></inertial></link>\n";
    text += "<joint name='j" + n + "' type='revolute'><parent link='left_" +
            (i % 2 == 0 ? std::to_string(i - 1) : "x" + n) + "'/><child link='left_" + n +
            "'/><limit lower='1' upper='-1' effort='1' velocity='1'/></joint>\n";
  }
  text += "</robot>";
  const Diagnostics found = all_diagnostics(text, "chain.urdf");
  const RepairedUrdf repaired = repair_urdf_text(text, "chain.urdf");
  EXPECT_GE(found.size(), 25000u);
  EXPECT_EQ(repaired.edits.size(), 20000u);
}

}  // namespace
}  // namespace limb
