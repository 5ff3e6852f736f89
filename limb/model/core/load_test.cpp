#include "limb/model/core/load.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/testing/reference_dynamics.hpp"
#include "limb/model/urdf/write_urdf.hpp"

namespace limb {
namespace {

namespace fs = std::filesystem;

/// Files in a folder that is removed after the test.
class Load : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  static std::string message(const std::string& path) {
    try {
      load_model(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  const testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(Load, RecognisesFormatsByTheirContent) {
  EXPECT_EQ(robot_format("a.xml", "<?xml version='1.0'?>\n<!-- <robot/> -->\n<mujoco model='m'/>"),
            RobotFormat::mjcf);
  EXPECT_EQ(robot_format("a.xml", "<robot name='r'/>"), RobotFormat::urdf);
  EXPECT_EQ(robot_format("a.urdf", "<robot name='r'/>"), RobotFormat::urdf);
  EXPECT_EQ(robot_format("noending", "<robot name='r'/>"), RobotFormat::urdf);
  EXPECT_EQ(robot_format("a.toml", "name = 'r'"), RobotFormat::recipe);
  // XML of another kind, or nothing: the reader of URDF says what it found.
  for (const char* path : {"a.urdf", "a.xml", "a.xacro", "a.mjcf"}) {
    EXPECT_EQ(robot_format(path, "<sdf version='1.6'/>"), RobotFormat::urdf) << path;
  }
  EXPECT_EQ(robot_format("a.urdf", ""), RobotFormat::urdf);
  EXPECT_EQ(robot_format("a.xml", "text"), RobotFormat::urdf);
  for (const char* path : {"a.txt", "a.stl", "a"}) {
    EXPECT_THROW(robot_format(path, "<sdf version='1.6'/>"), Error) << path;
    EXPECT_THROW(robot_format(path, "text"), Error) << path;
  }
  EXPECT_THROW(robot_format("a.xacro", "text"), Error);
}

TEST_F(Load, ErrorsNameTheFileAndTheCause) {
  const std::string picture = file("robot.png", "PNG");
  EXPECT_EQ(message(picture), "load: " + picture +
                                  ": not a robot file that limb reads (.urdf, MJCF .xml, .toml "
                                  "recipe, builtin:NAME)");
  const std::string nothing = (folder_ / "none.urdf").string();
  EXPECT_EQ(message(nothing), "load: " + nothing + ": no such file");
  EXPECT_EQ(message(folder_.string()),
            "load: " + folder_.string() + ": is a folder, expected a file");
  const std::string wrong =
      file("wrong.urdf",
           "<robot name='r'>\n<link name='a'/>\n<joint name='j' type='fixed'>\n<parent link='a'/>\n"
           "<child link='b'/>\n</joint>\n</robot>\n");
  EXPECT_EQ(message(wrong).find("build_model: " + wrong + ":3: "), 0u) << message(wrong);
}

TEST_F(Load, EveryFormatGivesAModel) {
  const std::string urdf =
      file("arm.urdf",
           "<robot name='arm'><link name='base'/><link name='tip'><inertial><mass value='2'/>"
           "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
           "<joint name='j' type='continuous'><parent link='base'/><child link='tip'/>"
           "<axis xyz='0 0 1'/></joint></robot>");
  const std::string mjcf =
      file("arm.xml",
           "<mujoco><worldbody><body name='tip'><joint name='j' type='hinge' axis='0 0 1'/>"
           "<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/></body></worldbody></mujoco>");
  for (const std::string& path : {urdf, mjcf}) {
    const Model<double> model = load_model(path);
    EXPECT_EQ(model.uncoupled_nv(), 1) << path;
    EXPECT_EQ(model.total_mass(), 2.0) << path;
    EXPECT_EQ(model.bodies()[1].joint.axis(), Vector3<double>::UnitZ()) << path;
  }
  for (const std::string& name : builtin_names()) {
    EXPECT_GT(load_model("builtin:" + name).nv(), 0) << name;
  }
}

// The same robot in standard DH, modified DH, screw axes, explicit placements and URDF is the same
// mechanism: mass matrix, gravity and the pose of every link's mass at random states, to 1e-12.
TEST_F(Load, FiveFormatsOfOneRobotAgree) {
  const std::string models = LIMB_MODELS;
  for (const std::string& name : {std::string("2r"), std::string("arm7")}) {
    std::vector<std::string> files = {models + "/" + name + ".toml"};
    for (const char* form : {"standard_dh", "modified_dh", "screw", "explicit"}) {
      const std::string path = models + "/testing/" + name + "_" + form + ".toml";
      if (fs::exists(path)) files.push_back(path);
    }
    Diagnostics ignored;
    Description<double> plain = load_description(files.back());
    const Vector3<double> gravity = plain.gravity;
    plain.gravity = {0, 0, -9.81};  // URDF has no other
    files.push_back(file(name + ".urdf", write_urdf(plain, ignored)));
    ASSERT_EQ(files.size(), 5u) << name;

    const Model<double> first = load_model(files[0]);
    std::mt19937_64 engine(11);
    for (std::size_t i = 1; i < files.size(); ++i) {
      Description<double> robot = load_description(files[i]);
      robot.gravity = gravity;
      const Model<double> model = build_model(robot);
      ASSERT_EQ(model.uncoupled_nv(), first.nv()) << files[i];
      EXPECT_NEAR(model.total_mass(), first.total_mass(), 1e-12) << files[i];
      for (int k = 0; k < 5; ++k) {
        const VectorX<double> q = first.random_configuration(engine);
        const VectorX<double> v = VectorX<double>::LinSpaced(q.size(), -1, 1), a = v.reverse();
        EXPECT_LT((testing::mass_matrix(model, q) - testing::mass_matrix(first, q)).norm(), 1e-12)
            << files[i];
        const VectorX<double> tau = testing::inverse_dynamics(first, q, v, a);
        EXPECT_LT((testing::inverse_dynamics(model, q, v, a) - tau).norm(), 1e-12 * tau.norm())
            << files[i];
      }
    }
  }
}

}  // namespace
}  // namespace limb
