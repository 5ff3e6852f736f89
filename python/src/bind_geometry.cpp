#include <nanobind/stl/string.h>

#include "limb/model/mesh/convex_hull.hpp"
#include "limb/model/mesh/read_mesh.hpp"
#include "python/src/eigen_conversion.hpp"

namespace limb::python {
namespace {

constexpr const char* kShapes[] = {"box",       "cylinder", "sphere", "capsule",
                                   "ellipsoid", "plane",    "mesh"};

/// All shapes of the links, as limb.results.Geometry.
nb::list geometry(const Robot& r) {
  nb::list all;
  const nb::handle type = result_type("Geometry");
  for (const auto& link : r.description().links) {
    for (const Geometry& g : link.geometry) {
      const bool mesh = g.shape == Geometry::Shape::mesh;
      all.append(type(link.name, g.role == Geometry::Role::visual ? "visual" : "collision",
                      kShapes[static_cast<std::size_t>(g.shape)], array_of(Dense(g.X_LG.matrix())),
                      array_of(Numbers(g.size)),
                      mesh && !g.mesh_path.empty() ? nb::object(nb::str(g.mesh_path.c_str()))
                                                   : nb::object(nb::none()),
                      g.mesh_uri, array_of(Numbers(g.mesh_scale)), array_of(Dense(g.X_GM.matrix())),
                      g.name));
    }
  }
  return all;
}

/// Vertices (n, 3) and triangles (m, 3) of a mesh, in the frame of the geometry.
/// @param index  in the list of geometry().
nb::tuple mesh_of(const Robot& r, int index) {
  int at = 0;
  for (const auto& link : r.description().links) {
    for (const Geometry& g : link.geometry) {
      if (at++ != index) continue;
      if (g.shape != Geometry::Shape::mesh) fail("mesh", "geometry", "not a mesh", "a mesh");
      TriangleMesh mesh;
      if (g.mesh_vertices != nullptr) {
        mesh.vertices = *g.mesh_vertices;
        mesh.triangles = convex_hull(mesh.vertices);
      } else if (g.mesh_path.empty()) {
        throw Error("mesh: '" + g.mesh_uri + "' was not found");
      } else {
        mesh = read_mesh(g.mesh_path);
      }
      Dense points(static_cast<Eigen::Index>(mesh.vertices.size()), 3);
      for (Eigen::Index i = 0; i < points.rows(); ++i) {
        const Vector3<double> p = g.X_GM * mesh.vertices[static_cast<std::size_t>(i)];
        points.row(i) = g.mesh_scale.cwiseProduct(p);
      }
      npy_intp dims[2] = {static_cast<npy_intp>(mesh.triangles.size()), 3};
      nb::object faces = nb::steal(PyArray_SimpleNew(2, dims, NPY_INT32));
      auto* to =
          static_cast<std::int32_t*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(faces.ptr())));
      for (const auto& triangle : mesh.triangles)
        to = std::copy(triangle.begin(), triangle.end(), to);
      return nb::make_tuple(array_of(points), faces);
    }
  }
  fail("mesh", "index", std::to_string(index), "less than " + std::to_string(at));
}

/// The tree of joints, for drawing: lists of numbers and names.
nb::dict kinematic_tree(const Robot& r) {
  nb::list bodies, frames;
  const auto& rows = r.model().coupling().rows();
  const auto pose = [](const Pose<double>& X) {
    return array_of(Dense(X.matrix())).attr("tolist")();
  };
  const auto vector = [](const Vector3<double>& x) { return nb::make_tuple(x[0], x[1], x[2]); };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Body<double>& body = r.model().bodies()[i + 1];
    nb::dict one;
    one["joint"] = body.name;
    one["type"] = std::string(to_text(body.joint.type()));
    one["parent"] = body.parent.value() - 1;
    one["pose"] = pose(body.X_PJ);
    one["axis"] = vector(body.joint.axis());
    one["axis2"] = vector(body.joint.axis2());
    one["pitch"] = body.joint.pitch();
    one["plane"] = array_of(Dense(body.joint.plane())).attr("tolist")();
    one["q"] = rows[i].yq;
    nb::list terms;
    for (const auto& term : rows[i].terms) terms.append(nb::make_tuple(term.y, term.ratio));
    one["terms"] = terms;
    one["offset"] = rows[i].offset;
    bodies.append(one);
  }
  for (const auto& frame : r.model().frames()) {
    nb::dict one;
    one["name"] = frame.name;
    one["body"] = frame.body.value() - 1;
    one["pose"] = pose(frame.X_BF);
    frames.append(one);
  }
  nb::dict tree;
  tree["bodies"] = bodies;
  tree["frames"] = frames;
  return tree;
}

}  // namespace

void bind_geometry(RobotClass& c) {
  c.def_prop_ro("geometry", geometry, nb::sig("def geometry(self) -> list[Geometry]"),
                Doc("Shapes of the links, visual and collision, in the order of the file."));
  c.def("_mesh", mesh_of, "index"_a, nb::sig("def _mesh(self, index: int) -> tuple[Array, Array]"));
  c.def("_kinematic_tree", kinematic_tree,
        nb::sig("def _kinematic_tree(self) -> dict[str, list[dict[str, Any]]]"));
}

}  // namespace limb::python
