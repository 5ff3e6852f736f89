#include "limb/math/inertia_mesh.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace limb {
namespace {

using Triangles = std::span<const std::array<int, 3>>;
constexpr std::string_view call = "inertia_from_mesh";

std::string name(std::string_view what, std::size_t index) {
  return std::string(what) + "[" + std::to_string(index) + "]";
}

template <typename T>
void check_vertices(std::span<const Vector3<T>> vertices) {
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (!vertices[i].allFinite()) {
      fail(call, name("vertices", i), to_text(vertices[i]), "finite numbers");
    }
  }
}

void check_indices(Triangles triangles, std::size_t vertices) {
  if (triangles.empty()) fail(call, "triangles", "empty", "a closed mesh");
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const auto [a, b, c] = triangles[i];
    for (const int index : {a, b, c}) {
      if (index < 0 || std::size_t(index) >= vertices) {
        fail(call, name("triangles", i), "a triangle with vertex " + std::to_string(index),
             "indices from 0 to " + std::to_string(std::ptrdiff_t(vertices) - 1));
      }
    }
    if (a == b || b == c || c == a) {
      fail(call, name("triangles", i), to_text(Vector3<double>(a, b, c)),
           "three different vertices");
    }
  }
}

/// A directed edge of a triangle, stored in the list of its lower vertex.
struct HalfEdge {
  int high;        ///< the other vertex
  bool ascending;  ///< directed from the lower vertex to the other
  std::size_t triangle;

  std::string text(int low) const {
    return "edge " + std::to_string(ascending ? low : high) + "-" +
           std::to_string(ascending ? high : low);
  }
};

/// Half-edges grouped by their lower vertex: those of vertex i are edges[begin[i]] to
/// edges[begin[i + 1] - 1].
struct HalfEdgeLists {
  std::vector<HalfEdge> edges;
  std::vector<std::size_t> begin;

  HalfEdgeLists(Triangles triangles, std::size_t vertices)
      : edges(3 * triangles.size()), begin(vertices + 1, 0) {
    const auto low = [](const std::array<int, 3>& t, std::size_t k) {
      return std::size_t(std::min(t[k], t[(k + 1) % 3]));
    };
    for (const auto& t : triangles) {
      for (std::size_t k = 0; k < 3; ++k) ++begin[low(t, k) + 1];
    }
    for (std::size_t i = 0; i < vertices; ++i) begin[i + 1] += begin[i];
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < triangles.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        const int from = triangles[i][k], to = triangles[i][(k + 1) % 3];
        edges[next[low(triangles[i], k)]++] = {std::max(from, to), from < to, i};
      }
    }
  }
};

/// Checks that each edge has one triangle on each side. Counting sort and one mark per vertex:
/// linear time, and the edge named in an error is reproducible.
void check_closed(Triangles triangles, std::size_t vertices) {
  const HalfEdgeLists lists(triangles, vertices);
  const HalfEdge* const none = nullptr;
  std::vector<std::array<const HalfEdge*, 2>> marks(vertices, {none, none});
  std::size_t open = 0;
  std::string first;
  for (std::size_t low = 0; low < vertices; ++low) {
    const std::span<const HalfEdge> edges(lists.edges.data() + lists.begin[low],
                                          lists.begin[low + 1] - lists.begin[low]);
    for (const HalfEdge& edge : edges) {
      const HalfEdge*& mark = marks[std::size_t(edge.high)][edge.ascending];
      if (mark != none) {
        fail(call, edge.text(int(low)),
             "used in the same direction by triangles " + std::to_string(mark->triangle) + " and " +
                 std::to_string(edge.triangle),
             "one triangle on each side",
             "one of the two is flipped or a duplicate, or more than two triangles share the edge");
      }
      mark = &edge;
    }
    for (const HalfEdge& edge : edges) {
      if (marks[std::size_t(edge.high)][!edge.ascending] != none) continue;
      if (open++ == 0) first = edge.text(int(low)) + " of " + name("triangles", edge.triangle);
    }
    for (const HalfEdge& edge : edges) marks[std::size_t(edge.high)] = {none, none};
  }
  if (open > 0) {
    fail(call, first, "open, one of " + std::to_string(open) + " open edges",
         "a closed mesh: a triangle on each side of every edge",
         "fill the hole, or merge coincident vertices");
  }
}

/// Volume, first and second moments about a reference point, for unit density.
struct Moments {
  Vector3<double> reference;
  double volume = 0;
  Vector3<double> first = Vector3<double>::Zero();
  Matrix3<double> second = Matrix3<double>::Zero();
  double volume_scale = 0;  ///< scale of the rounding error of the volume
};

/// A tetrahedron (0, a, b, c) of six-fold volume d has the first moment d (a+b+c) / 24 and the
/// second d (a a' + b b' + c c' + s s') / 120, s = a+b+c.
template <typename T>
Moments integrate(std::span<const Vector3<T>> vertices, Triangles triangles) {
  Eigen::AlignedBox<double, 3> bounds;
  for (const auto& triangle : triangles) {
    for (const int i : triangle) bounds.extend(vertices[std::size_t(i)].template cast<double>());
  }
  Moments sum;
  // The tetrahedra are then no larger than the mesh, wherever it is. Halved first: no overflow.
  sum.reference = 0.5 * bounds.min() + 0.5 * bounds.max();
  for (const auto& triangle : triangles) {
    const auto corner = [&](int k) -> Vector3<double> {
      return vertices[std::size_t(triangle[std::size_t(k)])].template cast<double>() -
             sum.reference;
    };
    const Vector3<double> a = corner(0), b = corner(1), c = corner(2);
    const Vector3<double> normal = (b - a).cross(c - a);
    const double d = a.dot(normal);
    const Vector3<double> s = a + b + c;
    sum.volume += d;
    sum.volume_scale += a.norm() * normal.norm();
    sum.first += d * s;
    sum.second +=
        d * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  sum.volume /= 6;
  sum.volume_scale /= 6;
  sum.first /= 24;
  sum.second /= 120;
  return sum;
}

void check_volume(const Moments& moments) {
  const double volume = moments.volume;
  if (!std::isfinite(volume) || !moments.second.allFinite()) {
    fail_computation(call, "the volume integrals overflow: the mesh is too large for its unit");
  }
  // 64 roundings of area times extent: below that the sign of the volume is noise.
  const double noise = 64 * std::numeric_limits<double>::epsilon() * moments.volume_scale;
  if (std::abs(volume) <= noise) {
    fail(call, "the volume", to_text(volume), "> 0", "the mesh is flat and encloses nothing");
  }
  if (volume < 0) {
    fail(call, "the volume", to_text(volume), "> 0",
         "the triangles are oriented inward: reverse the order of their indices");
  }
}

template <typename T>
Moments checked_moments(std::span<const Vector3<T>> vertices, Triangles triangles) {
  check_vertices(vertices);
  check_indices(triangles, vertices.size());
  check_closed(triangles, vertices.size());
  Moments moments = integrate(vertices, triangles);
  check_volume(moments);
  return moments;
}

template <typename T>
MeshInertia<T> with_mass(const Moments& moments, double m) {
  const Vector3<double> offset = moments.first / moments.volume;
  const Vector3<double> com = moments.reference + offset;
  const Matrix3<double> S =
      (m / moments.volume) * moments.second - m * (offset * offset.transpose());
  const Matrix3<double> I_com = tensor_from_second_moments<double>(S);
  const Inertia<double> inertia(m, m * com, parallel_axis_from_com<double>(I_com, m, com));
  return {inertia.cast<T>(), T(moments.volume), com.cast<T>(), I_com.cast<T>()};
}

}  // namespace

template <Real T>
MeshInertia<T> inertia_from_mesh(std::span<const Vector3<std::type_identity_t<T>>> vertices,
                                 std::span<const std::array<int, 3>> triangles,
                                 Density<T> density) {
  check_not_negative(call, "density", double(density.rho));
  const Moments moments = checked_moments<T>(vertices, triangles);
  return with_mass<T>(moments, double(density.rho) * moments.volume);
}

template <Real T>
MeshInertia<T> inertia_from_mesh(std::span<const Vector3<std::type_identity_t<T>>> vertices,
                                 std::span<const std::array<int, 3>> triangles, Mass<T> mass) {
  check_not_negative(call, "mass", double(mass.m));
  return with_mass<T>(checked_moments<T>(vertices, triangles), double(mass.m));
}

template MeshInertia<double> inertia_from_mesh(std::span<const Vector3<double>>, Triangles,
                                               Density<double>);
template MeshInertia<double> inertia_from_mesh(std::span<const Vector3<double>>, Triangles,
                                               Mass<double>);
template MeshInertia<float> inertia_from_mesh(std::span<const Vector3<float>>, Triangles,
                                              Density<float>);
template MeshInertia<float> inertia_from_mesh(std::span<const Vector3<float>>, Triangles,
                                              Mass<float>);

}  // namespace limb
