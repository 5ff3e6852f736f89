// The generated C compiles without a warning as C99, passes its own test, and keeps to its stack.
#include "limb/codegen/emit_c.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "limb/codegen/functions.hpp"
#include "limb/model/load.hpp"
#include "limb/model/testing/random_tree.hpp"

namespace limb {
namespace {

using codegen::Precision;
namespace fs = std::filesystem;

/// A folder that is gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "limb_emit_c_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Largest stack frame that the compiler reports.
long stack_used(const fs::path& folder) {
  long most = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".su" || file.path().stem().string().ends_with("_test"))
      continue;
    std::ifstream lines(file.path());
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line.substr(line.find('\t')));
      long bytes = 0;
      fields >> bytes;
      most = std::max(most, bytes);
    }
  }
  return most;
}

void check(const Model<double>& model, const std::vector<Function>& functions,
           const FunctionOptions& options, Precision precision) {
  std::vector<codegen::Trace> traces;
  for (const Function f : functions) traces.push_back(codegen::trace(model, f, options));
  const codegen::CPackage package = codegen::make_c_package(
      traces, {.prefix = "robot", .precision = precision, .remark = "test", .sample = {}});
  const Folder folder;
  for (const codegen::GeneratedFile& file : package.files) {
    std::ofstream(folder.path() / file.name) << file.text;
  }
  const std::string command =
      "make -s -C " + folder.path().string() +
      " CFLAGS='-std=c99 -pedantic -O1 -Wall -Wextra -Werror -ffp-contract=off -fstack-usage'"
      " test > " +
      (folder.path() / "log").string() + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT
  std::ostringstream log;
  log << std::ifstream(folder.path() / "log").rdbuf();
  EXPECT_EQ(log.str().find("FAILED"), std::string::npos) << log.str();
  EXPECT_NE(log.str().find("ok " + traces[0].name), std::string::npos) << log.str();
  const long used = stack_used(folder.path());
  EXPECT_GT(used, 0);
  EXPECT_LE(used, static_cast<long>(package.stack_bytes));
}

TEST(EmitC, PassesItsOwnTest) {
  const Model<double> model = load_model("builtin:arm7");
  FunctionOptions options;
  options.frames = {model.find_frame("tool")};
  const std::vector<Function> all = {
      Function::rnea,      Function::bias,         Function::gravity,     Function::crba,
      Function::aba,       Function::mass_inverse, Function::frame_poses, Function::frame_jacobians,
      Function::centroidal};
  check(model, all, options, Precision::f64);
  check(model, all, options, Precision::f32);
}

TEST(EmitC, ServesEveryJointType) {
  testing::RandomTreeOptions tree{.joints = 11};
  Description<double> robot = testing::random_tree(3, tree);
  for (auto& joint : robot.joints) joint.friction = 0.1;  // signs: comparisons and choices
  check(build_model(robot), {Function::rnea, Function::crba}, {}, Precision::f64);
}

TEST(EmitC, MakesNames) {
  EXPECT_EQ(codegen::c_identifier("arm-7 left"), "arm_7_left");
  EXPECT_EQ(codegen::c_identifier("2r"), "robot_2r");
  EXPECT_EQ(codegen::c_identifier(""), "robot_");
}

}  // namespace
}  // namespace limb
