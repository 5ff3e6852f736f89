#include "limb/model/mesh/mesh_boxes.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "limb/base/testing/temporary_folder.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;

/// A tetrahedron, and a vertex that no triangle uses.
constexpr const char* kObj =
    "v 1 0 0\nv 3 0 0\nv 1 1 0\nv 1 0 -0.5\nv 90 90 90\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

class MeshBoxesTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name)) << text;
    return folder_.file(name);
  }
  /// One link with a mesh for each path.
  static Description<double> robot_with(const std::vector<std::string>& paths) {
    Description<double> robot;
    robot.links.resize(1);
    for (const std::string& path : paths) {
      Geometry g;
      g.shape = Geometry::Shape::mesh;
      g.mesh_path = path;
      g.mesh_scale = Vector(2, 2, 2);
      robot.links[0].geometry.push_back(g);
    }
    return robot;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(MeshBoxesTest, TheBoxIsThatOfTheTrianglesInUnitsOfTheFile) {
  const std::string path = write("a.obj", kObj);
  const MeshBoxes boxes = read_mesh_boxes(robot_with({path, path}));
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(Vector(boxes.at(path).min()), Vector(1, 0, -0.5));
  EXPECT_EQ(Vector(boxes.at(path).max()), Vector(3, 1, 0));
}

TEST_F(MeshBoxesTest, PointCloudsHaveTheBoxOfAllPoints) {
  const std::string path = write("cloud.obj", "v 0 0 0\nv 1 2 3\n");
  EXPECT_EQ(Vector(read_mesh_boxes(robot_with({path})).at(path).max()), Vector(1, 2, 3));
}

TEST_F(MeshBoxesTest, WhatCannotBeReadIsLeftOut) {
  const std::string fine = write("fine.obj", kObj);
  const auto robot = robot_with(
      {"", folder_.file("absent.stl"), folder_.path().string(), write("scene.dae", "<COLLADA/>"),
       write("cut.stl", std::string(100, 'x')), write("wrong.obj", "v 0 0 0\nf 1 2 3\n"),
       write("pointer.obj", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
       fine});
  const MeshBoxes boxes = read_mesh_boxes(robot);
  EXPECT_EQ(boxes.size(), 1u);
  EXPECT_TRUE(boxes.contains(fine));
}

TEST_F(MeshBoxesTest, TheLimitsHold) {
  const std::string a = write("a.obj", kObj), b = write("b.obj", kObj);
  const std::uintmax_t bytes = std::string(kObj).size();
  const auto robot = robot_with({a, b});
  EXPECT_EQ(read_mesh_boxes(robot, {.file = bytes, .total = 2 * bytes}).size(), 2u);
  EXPECT_EQ(read_mesh_boxes(robot, {.file = bytes, .total = 2 * bytes - 1}).size(), 1u);
  EXPECT_EQ(read_mesh_boxes(robot, {.file = bytes - 1, .total = 2 * bytes}).size(), 0u);
}

TEST_F(MeshBoxesTest, PrimitivesAreNoMeshes) {
  auto robot = robot_with({write("a.obj", kObj)});
  robot.links[0].geometry[0].shape = Geometry::Shape::box;
  EXPECT_TRUE(read_mesh_boxes(robot).empty());
}

}  // namespace
}  // namespace limb
