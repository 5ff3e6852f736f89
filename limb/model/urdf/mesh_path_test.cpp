#include "limb/model/urdf/mesh_path.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/model/recipe/read_recipe.hpp"

namespace limb {
namespace {

namespace fs = std::filesystem;
using Status = MeshPath::Status;

/// A folder of packages with a mesh, a file outside of it, and links to the outside and inside.
class MeshPathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(top_ / "root/arm/meshes");
    fs::create_directories(top_ / "root-beside");
    for (const char* name :
         {"root/arm/meshes/a.stl", "root/arm/meshes/b c.stl", "secret.stl", "root-beside/a.stl"}) {
      std::ofstream(top_ / name) << "solid";
    }
    fs::create_symlink(top_ / "secret.stl", top_ / "root/arm/out.stl");
    fs::create_directory_symlink(top_, top_ / "root/up");
    fs::create_symlink("meshes/a.stl", top_ / "root/arm/in.stl");
    fs::create_symlink("loop.stl", top_ / "root/loop.stl");
  }

  Status status(const std::string& uri) { return paths({}).find(uri).status; }
  std::string found(const std::string& uri) { return paths({}).find(uri).path; }
  MeshPaths paths(std::vector<fs::path> roots) const {
    if (roots.empty()) roots = {top_ / "root"};
    return {"robot.urdf", ReadOptions{std::move(roots)}};
  }
  std::string mesh() const { return (top_ / "root/arm/meshes/a.stl").string(); }

  const testing::TemporaryFolder temporary_;
  const fs::path top_ = fs::canonical(temporary_.path());
};

TEST_F(MeshPathTest, FindsEveryFormInsideARoot) {
  EXPECT_EQ(found("package://arm/meshes/a.stl"), mesh());
  EXPECT_EQ(found("model://arm/meshes/a.stl"), mesh());
  EXPECT_EQ(found("arm/meshes/a.stl"), mesh());
  EXPECT_EQ(found("./arm/../arm/meshes//a.stl"), mesh());
  EXPECT_EQ(found("file://arm/meshes/a.stl"), mesh());
  EXPECT_EQ(found("file://" + mesh()), mesh());
  EXPECT_EQ(found(mesh()), mesh());
  EXPECT_EQ(found("file://arm/meshes/b%20c.stl"), (top_ / "root/arm/meshes/b c.stl").string());
  EXPECT_EQ(found("arm/in.stl"), mesh());
}

TEST_F(MeshPathTest, TheRootMayBeThePackageItself) {
  EXPECT_EQ(paths({top_ / "root/arm"}).find("package://arm/meshes/a.stl").path, mesh());
  EXPECT_EQ(paths({top_ / "missing", top_ / "root/arm"}).find("meshes/a.stl").path, mesh());
}

TEST_F(MeshPathTest, TheFolderOfTheFileIsARoot) {
  const std::string file = (top_ / "root/arm/arm.urdf").string();
  MeshPaths paths(file, {});
  EXPECT_EQ(paths.find("meshes/a.stl").path, mesh());
  EXPECT_EQ(paths.find("../../secret.stl").status, Status::outside_roots);
  // Another root adds its files, and comes first.
  MeshPaths both(file, ReadOptions{{top_ / "root-beside"}});
  EXPECT_EQ(both.find("meshes/a.stl").path, mesh());
  EXPECT_EQ(both.find("a.stl").path, (top_ / "root-beside/a.stl").string());
}

// Both forms of the mesh are found; one that is missing twice is reported once.
TEST_F(MeshPathTest, RecipesFindTheirMeshesTheSameWay) {
  Diagnostics diagnostics;
  const auto robot = parse_recipe<double>(
      "name = \"r\"\n[[link]]\nname = \"a\"\nmass = 1\ngeometry = [\n"
      "  {shape = \"mesh\", uri = \"package://arm/meshes/a.stl\"},\n"
      "  {shape = \"mesh\", uri = \"meshes/a.stl\", role = \"collision\"},\n"
      "  {shape = \"mesh\", uri = \"b.stl\"}, {shape = \"mesh\", uri = \"b.stl\"}]\n",
      (top_ / "root/arm/arm.toml").string(), {}, diagnostics);
  ASSERT_EQ(robot.links.size(), 1u);
  ASSERT_EQ(robot.links[0].geometry.size(), 4u);
  EXPECT_EQ(robot.links[0].geometry[0].mesh_path, mesh());
  EXPECT_EQ(robot.links[0].geometry[1].mesh_path, mesh());
  EXPECT_EQ(robot.links[0].geometry[2].mesh_path, "");
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].rule, "mesh-not-found");
  EXPECT_EQ(diagnostics[0].source.line, 8);
}

TEST_F(MeshPathTest, NoPathLeadsOutsideTheRoots) {
  for (const std::string& uri :
       {std::string("../secret.stl"), std::string("arm/../../secret.stl"),
        std::string("package://../secret.stl"), std::string("package://arm/../../secret.stl"),
        std::string("file://../secret.stl"), std::string("file://%2e%2e/secret.stl"),
        (top_ / "secret.stl").string(), "file://" + (top_ / "secret.stl").string(),
        std::string("/etc/passwd"), std::string("file:///etc/passwd"), std::string("arm/out.stl"),
        std::string("up/secret.stl"), std::string("../root-beside/a.stl"),
        (top_ / "root-beside/a.stl").string()}) {
    EXPECT_EQ(status(uri), Status::outside_roots) << uri;
    EXPECT_EQ(found(uri), "") << uri;
  }
}

TEST_F(MeshPathTest, MissingFilesAreNotFound) {
  std::string deep(5000, '/');
  deep.append("etc/passwd");
  for (const std::string& uri :
       {std::string("arm/none.stl"), std::string("package://leg/a.stl"), std::string("package://"),
        std::string("package://arm"), std::string("http://example.org/a.stl"),
        std::string("file://"), std::string("arm"), std::string("loop.stl"),
        std::string("file://arm%00/meshes/a.stl"), std::string("file://arm/%zz%"),
        std::string(100000, 'a'), deep}) {
    EXPECT_EQ(status(uri), Status::not_found) << uri.substr(0, 40);
  }
}

TEST_F(MeshPathTest, CachesItsResults) {
  MeshPaths paths = this->paths({});
  EXPECT_FALSE(paths.knows("arm/in.stl"));
  paths.find("arm/in.stl");
  EXPECT_TRUE(paths.knows("arm/in.stl"));
  EXPECT_EQ(paths.find("arm/in.stl").path, mesh());
}

}  // namespace
}  // namespace limb
