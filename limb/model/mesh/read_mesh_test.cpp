#include "limb/model/mesh/read_mesh.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <fstream>
#include <limits>

#include "limb/base/error.hpp"
#include "limb/base/testing/temporary_folder.hpp"
#include "limb/model/mesh/mesh_inertia.hpp"

namespace limb {
namespace {

using Mode = MeshInertiaMode;

std::string bytes_of(std::uint32_t x) {
  std::string result;
  for (int k = 0; k < 4; ++k) result += static_cast<char>(x >> (8 * k) & 0xff);
  return result;
}
std::string bytes_of(float x) {
  return bytes_of(std::bit_cast<std::uint32_t>(x));
}

/// Corners (0,0,0), (1,0,0), (0,2,0), (0,0,3): volume 1.
const float kCorners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
const int kFaces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

std::string binary_stl(const std::string& header = "made by a test") {
  std::string result = header;
  result.resize(80, '\0');
  result += bytes_of(4u);
  for (const auto& face : kFaces) {
    for (int k = 0; k < 3; ++k) result += bytes_of(0.0f);
    for (const int corner : face) {
      for (const float x : kCorners[corner]) result += bytes_of(corner == 0 ? -x : x);  // -0 is 0
    }
    result += std::string(2, '\0');
  }
  return result;
}

std::string text_stl() {
  std::string result = "solid a facet normal\n";
  for (const auto& face : kFaces) {
    result += " facet normal 0 0 nan\n  outer loop\n";
    for (const int c : face) {
      result += "   vertex " + std::to_string(kCorners[c][0]) + " +" +
                std::to_string(kCorners[c][1]) + " " + std::to_string(kCorners[c][2]) + "e0\r\n";
    }
    result += "  endloop\n endfacet\n";
  }
  return result + "endsolid a\n";
}

std::string msh(std::uint32_t normals = 0, std::uint32_t texcoords = 0) {
  std::string result = bytes_of(4u) + bytes_of(normals) + bytes_of(texcoords) + bytes_of(4u);
  for (const auto& corner : kCorners) {
    for (const float x : corner) result += bytes_of(x);
  }
  result += std::string(12 * normals + 8 * texcoords, '\x7f');
  for (const auto& face : kFaces) {
    for (const int i : face) result += bytes_of(static_cast<std::uint32_t>(i));
  }
  return result;
}

const std::string kObjVertices = "v 0 0 0\nv 1 0 0 0.5\nv 0 2 0 1 0 0\nv 0 0 3\n";

double volume(const std::string& bytes, MeshFormat format) {
  const TriangleMesh mesh = parse_mesh(bytes, format, "m");
  EXPECT_EQ(mesh.vertices.size(), 4u);
  return mesh_mass_properties(mesh, Mode::exact).mass;
}

std::string message(const std::string& bytes, MeshFormat format) {
  try {
    (void)parse_mesh(bytes, format, "m");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReadMesh, TheSameTetrahedronInEveryFormat) {
  EXPECT_DOUBLE_EQ(volume(binary_stl(), MeshFormat::stl), 1);
  EXPECT_DOUBLE_EQ(volume(binary_stl("solid, although it is binary"), MeshFormat::stl), 1);
  EXPECT_DOUBLE_EQ(volume(text_stl(), MeshFormat::stl), 1);
  EXPECT_DOUBLE_EQ(volume(msh(), MeshFormat::msh), 1);
  EXPECT_DOUBLE_EQ(volume(msh(4, 4), MeshFormat::msh), 1);
  for (const std::string faces :
       {"f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
        "f 1/5 3/6 2/7\nf 1//1 2//1 4//1\nf -4 -1 -2\nf 2/1/1 3/1/1 4/1/1",
        "g a # b\ns off\nusemtl x\nf 1 3 2\r\nf 1 2 \\\n 4\nf  1\t4 3 \nvn 0 0 1\nf 2 3 4\nl 1 "
        "2\nf 1 2\n"}) {
    EXPECT_DOUBLE_EQ(volume(kObjVertices + faces, MeshFormat::obj), 1) << faces;
  }
  // Faces before their vertices.
  EXPECT_DOUBLE_EQ(volume("f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n" + kObjVertices, MeshFormat::obj),
                   1);
}

TEST(ReadMesh, ObjectsOfObj) {
  const TriangleMesh mesh =
      parse_mesh("o a\n" + kObjVertices + "g b\nf 1 3 2\nf 1 2 4\ng c\nf 1 4 3\nf 2 3 4\n",
                 MeshFormat::obj, "m");
  EXPECT_EQ(mesh.triangles.size(), 4u);
  EXPECT_EQ(mesh.first_object, 2u);
  EXPECT_EQ(parse_mesh(kObjVertices + "f 1 2 3\no b\n", MeshFormat::obj, "m").first_object, 1u);
  EXPECT_EQ(parse_mesh(binary_stl(), MeshFormat::stl, "m").first_object, 4u);
}

TEST(ReadMesh, PolygonsOfObj) {
  const auto triangles = [](const std::string& text) {
    return parse_mesh(text, MeshFormat::obj, "m").triangles;
  };
  using Triangles = std::vector<std::array<int, 3>>;
  const std::string square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
  // The shorter diagonal.
  EXPECT_EQ(triangles("v 0 0 0\nv 1 0 0\nv 3 3 0\nv 0 1 0\nf 1 2 3 4\n"),
            (Triangles{{0, 1, 3}, {1, 2, 3}}));
  EXPECT_EQ(triangles("v 0 0 0\nv 1 0 0\nv 0.9 0.9 0\nv 0 1 0\nf 1 2 3 4\n"),
            (Triangles{{0, 1, 2}, {0, 2, 3}}));
  // A convex pentagon is a fan.
  EXPECT_EQ(triangles(square + "v -0.5 0.5 0\nf 1 2 3 4 5\n"),
            (Triangles{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}}));
  // An L: its triangles do not overlap, so their absolute areas have the sum of the polygon's.
  const TriangleMesh angle =
      parse_mesh("v 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\nv 0 0 0\nf 1 2 3 4 5 6\n",
                 MeshFormat::obj, "m");
  ASSERT_EQ(angle.triangles.size(), 4u);
  EXPECT_DOUBLE_EQ(mesh_mass_properties(angle, Mode::shell).mass, 4);
  for (const auto& t : angle.triangles) {
    const auto at = [&](int i) {
      return angle.vertices[static_cast<std::size_t>(t[std::size_t(i)])];
    };
    EXPECT_GE((at(1) - at(0)).cross(at(2) - at(0)).z(), 0);
  }
  // A star with many corners is refused, a circle with many corners is not.
  std::string star, circle, face = "f";
  for (int i = 0; i < 400; ++i) {
    const double angle_of_i = 2 * 3.14159265358979 * i / 400, r = i % 2 == 0 ? 1 : 0.5;
    const double x = std::cos(angle_of_i), y = std::sin(angle_of_i);
    star += "v " + std::to_string(r * x) + " " + std::to_string(r * y) + " 0\n";
    circle += "v " + std::to_string(x) + " " + std::to_string(y) + " 0\n";
    face += " " + std::to_string(i + 1);
  }
  EXPECT_EQ(message(star + face, MeshFormat::obj),
            "read_mesh: m: line 401: a concave face has 400 corners, expected at most 256 (export "
            "triangles)");
}

TEST(ReadMesh, ErrorsOfBinaryFiles) {
  std::string stl = binary_stl(), table = msh();
  EXPECT_EQ(
      message(stl.substr(0, 200), MeshFormat::stl),
      "read_mesh: m: has 200 bytes, expected 284 by the number of triangles in the STL header "
      "(the file is cut, or not STL)");
  EXPECT_EQ(message(stl + "x", MeshFormat::stl).substr(0, 42),
            "read_mesh: m: has 285 bytes, expected 284 ");
  EXPECT_EQ(
      message(stl.substr(0, 20), MeshFormat::stl),
      "read_mesh: m: has 20 bytes, expected at least the 84 of an STL header (the file is cut, "
      "or not STL)");
  stl.replace(84 + 12, 4, bytes_of(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_EQ(message(stl, MeshFormat::stl),
            "read_mesh: m: a coordinate of triangle 1 is not a finite number");
  EXPECT_EQ(message(table.substr(0, 100), MeshFormat::msh),
            "read_mesh: m: has 100 bytes, expected 112 by the header of the MSH file (the file is "
            "cut, or not MuJoCo's MSH format)");
  EXPECT_EQ(message(table.substr(0, 10), MeshFormat::msh),
            "read_mesh: m: has 10 bytes, expected at least the 16 of an MSH header");
  EXPECT_EQ(message(msh(3, 0), MeshFormat::msh),
            "read_mesh: m: the header of the MSH file has 3 normals and 0 texture coordinates, "
            "expected 0 or 4, one per vertex");
  std::string index = table, infinite = table, negative = table;
  index.replace(index.size() - 4, 4, bytes_of(4u));
  EXPECT_EQ(message(index, MeshFormat::msh),
            "read_mesh: m: triangle 4 has vertex 4, expected 0 to 3");
  infinite.replace(16, 4, bytes_of(std::numeric_limits<float>::infinity()));
  EXPECT_EQ(message(infinite, MeshFormat::msh),
            "read_mesh: m: a coordinate of vertex 1 is not a finite number");
  negative.replace(0, 4, bytes_of(0xffffffffu));
  EXPECT_EQ(message(negative, MeshFormat::msh),
            "read_mesh: m: a count in the header of the MSH file is negative");
  // Counts that need far more memory than the file has are compared with its size first.
  EXPECT_EQ(message(bytes_of(0x7fffffffu) + bytes_of(0u) + bytes_of(0u) + bytes_of(0x7fffffffu),
                    MeshFormat::msh)
                .substr(0, 48),
            "read_mesh: m: has 16 bytes, expected 51539607544");
}

TEST(ReadMesh, ErrorsOfTextFiles) {
  const std::string stl = text_stl();
  EXPECT_EQ(message(stl.substr(0, stl.find("endsolid")), MeshFormat::stl),
            "read_mesh: m: line 30: the file ends, expected facet or endsolid (the file is cut)");
  EXPECT_EQ(message("solid\nfacet normal 0 0 1 outer loop vertex 1 2 inf", MeshFormat::stl),
            "read_mesh: m: line 2: 'inf' is found, expected a finite number");
  EXPECT_EQ(message("solid a\nfacte", MeshFormat::stl),
            "read_mesh: m: line 2: 'facte' is found, expected facet or endsolid");
  EXPECT_EQ(message("solid a\nendsolid a\n", MeshFormat::stl), "read_mesh: m: has no vertices");
  EXPECT_EQ(message(kObjVertices + "f 1 2 5\n", MeshFormat::obj),
            "read_mesh: m: line 5: a face has the vertex 5, expected at most 4");
  EXPECT_EQ(message(kObjVertices + "f 1 2 -5\n", MeshFormat::obj),
            "read_mesh: m: line 5: a face has the vertex -5, but there are only 4 before it");
  EXPECT_EQ(message(kObjVertices + "f 1 2 0\n", MeshFormat::obj),
            "read_mesh: m: line 5: a corner of a face is '0', expected an index from 1 or a "
            "negative one");
  EXPECT_EQ(message("v 1 2\n", MeshFormat::obj),
            "read_mesh: m: line 1: a coordinate is '', expected a finite number");
  EXPECT_EQ(message("v 1 2 1e999\n", MeshFormat::obj),
            "read_mesh: m: line 1: a coordinate is '1e999', expected a finite number");
  EXPECT_EQ(message("# nothing\n", MeshFormat::obj), "read_mesh: m: has no vertices");
}

TEST(ReadMesh, OtherContent) {
  for (const MeshFormat format : {MeshFormat::stl, MeshFormat::obj, MeshFormat::msh}) {
    EXPECT_EQ(message("", format), "read_mesh: m: is empty");
    EXPECT_EQ(message("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", format),
              "read_mesh: m: is a Git LFS pointer instead of the file (run: git lfs pull)");
    EXPECT_EQ(message("\n <!DOCTYPE html><html>", format),
              "read_mesh: m: is a web page instead of the file (download the raw file)");
  }
}

TEST(ReadMesh, FilesByTheirExtension) {
  const testing::TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder.file(name), std::ios::binary) << bytes;
    return folder.file(name);
  };
  EXPECT_EQ(read_mesh(write("a.STL", binary_stl())).triangles.size(), 4u);
  EXPECT_EQ(read_mesh(write("a.obj", kObjVertices)).triangles.size(), 0u);
  EXPECT_EQ(read_mesh(write("a.msh", msh())).triangles.size(), 4u);
  const auto text = [](const std::filesystem::path& path) -> std::string {
    try {
      (void)read_mesh(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(text("a.dae"),
            "read_mesh: a.dae: has the extension '.dae', expected .stl, .obj or .msh (convert the "
            "mesh)");
  EXPECT_EQ(text("no/such.stl"), "read_mesh: no/such.stl: no such file");
}

}  // namespace
}  // namespace limb
