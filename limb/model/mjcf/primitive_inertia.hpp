#pragma once

#include "limb/math/inertia.hpp"
#include "limb/model/core/description.hpp"

/// Inertia of MJCF's primitive geoms, about their centre.
namespace limb::mjcf {

/// The mass of a geom: `mass`, else `density` times its volume, or times its area for a shell.
struct GeomMass {
  bool is_mass = false;  ///< whether `value` is a mass (kg) or a density (kg/m^3, shell: kg/m^2)
  double value = 1000;
  bool shell = false;
};

/// @param half  MJCF's sizes: radii and half lengths, all positive.
Inertia<double> primitive_inertia(Geometry::Shape shape, const Vector3<double>& half,
                                  const GeomMass& mass);

}  // namespace limb::mjcf
