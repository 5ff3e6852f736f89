#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "limb/math/scalar.hpp"

namespace limb {

/// A surface of triangles, counter-clockwise seen from outside.
struct TriangleMesh {
  std::vector<Vector3<double>> vertices;
  std::vector<std::array<int, 3>> triangles;  ///< indices of vertices, from 0
  std::size_t first_object = 0;  ///< number of triangles of the first object of the file; they come
                                 ///< first. Only OBJ files have several objects
};

}  // namespace limb
