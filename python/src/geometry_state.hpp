#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "limb/model/core/description.hpp"

/// What a recipe does not say about the geometry of a robot, for pickling: the files of meshes,
/// which were found next to the robot's file or below its roots, and properties of surfaces.
namespace limb::python {

/// name, mesh file, X_GM (3 x 4, row by row), vertices (3 n), friction, {torsion, rolling},
/// {contact dimension, priority}, {contact type, affinity}
using GeometryState =
    std::tuple<std::string, std::string, std::vector<double>, std::vector<double>,
               std::optional<double>, std::vector<double>, std::vector<int>, std::vector<unsigned>>;

/// One per geometry, links in order.
inline std::vector<GeometryState> geometry_states(const Description<double>& description) {
  std::vector<GeometryState> states;
  for (const auto& link : description.links) {
    for (const Geometry& g : link.geometry) {
      std::vector<double> pose, vertices;
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) pose.push_back(g.X_GM.R(r, c));
        pose.push_back(g.X_GM.p[r]);
      }
      if (g.mesh_vertices != nullptr) {
        for (const auto& p : *g.mesh_vertices) vertices.insert(vertices.end(), p.begin(), p.end());
      }
      states.emplace_back(g.name, g.mesh_path, pose, vertices, g.friction,
                          std::vector<double>{g.torsion, g.rolling},
                          std::vector<int>{g.contact_dimension, g.priority},
                          std::vector<unsigned>{g.contact_type, g.contact_affinity});
    }
  }
  return states;
}

/// @throws Error if the states are not those of this description.
inline void set_geometry_states(const std::vector<GeometryState>& states,
                                Description<double>& description) {
  std::size_t at = 0;
  for (auto& link : description.links) {
    for (Geometry& g : link.geometry) {
      if (at == states.size()) break;
      const auto& [name, path, pose, vertices, friction, moments, contact, masks] = states[at++];
      if (pose.size() != 12 || vertices.size() % 3 != 0 || moments.size() != 2 ||
          contact.size() != 2 || masks.size() != 2) {
        throw Error("Robot.__setstate__: the state is not that of a robot");
      }
      g.name = name;
      g.mesh_path = path;
      for (int i = 0; i < 12; ++i) {
        const double x = pose[static_cast<std::size_t>(i)];
        i % 4 < 3 ? g.X_GM.R(i / 4, i % 4) = x : g.X_GM.p[i / 4] = x;
      }
      if (!vertices.empty()) {
        auto points = std::make_shared<std::vector<Vector3<double>>>();
        for (std::size_t i = 0; i < vertices.size(); i += 3) {
          points->emplace_back(vertices[i], vertices[i + 1], vertices[i + 2]);
        }
        g.mesh_vertices = std::move(points);
      }
      g.friction = friction;
      g.torsion = moments[0];
      g.rolling = moments[1];
      g.contact_dimension = contact[0];
      g.priority = contact[1];
      g.contact_type = masks[0];
      g.contact_affinity = masks[1];
    }
  }
}

}  // namespace limb::python
