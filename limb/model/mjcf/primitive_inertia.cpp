#include "limb/model/mjcf/primitive_inertia.hpp"

#include <cmath>
#include <numbers>

#include "limb/math/inertia_solids.hpp"

namespace limb::mjcf {
namespace {

using Shape = Geometry::Shape;
constexpr double kPi = std::numbers::pi;

template <MassOrDensity A>
Inertia<double> solid(Shape shape, const Vector3<double>& half, const A& amount) {
  switch (shape) {
    case Shape::box:
      return box_inertia(amount, 2 * half);
    case Shape::capsule:
      return capsule_inertia(amount, half[0], 2 * half[1]);
    case Shape::cylinder:
      return cylinder_inertia(amount, half[0], 2 * half[1]);
    case Shape::sphere:
      return sphere_inertia(amount, half[0]);
    default:
      return ellipsoid_inertia(amount, half);
  }
}

/// Area of a surface and the means of x^2, y^2, z^2 over it.
struct Surface {
  double area;
  Vector3<double> squares;
};

Surface box_surface(const Vector3<double>& h) {
  const Vector3<double> pair(8 * h[1] * h[2], 8 * h[2] * h[0], 8 * h[0] * h[1]);
  const double area = pair.sum();
  Vector3<double> squares;
  for (int k = 0; k < 3; ++k) {
    // The two faces across k are at the distance h, the other four extend from -h to h.
    squares[k] = h[k] * h[k] * (pair[k] + (area - pair[k]) / 3) / area;
  }
  return {area, squares};
}

/// Side and two discs.
Surface cylinder_surface(double r, double h) {
  const double side = 4 * kPi * r * h, discs = 2 * kPi * r * r, area = side + discs;
  const double across = r * r * (side / 2 + discs / 4) / area;
  return {area, {across, across, h * h * (side / 3 + discs) / area}};
}

/// Side and two half spheres, on which the height above their rim is uniform [Archimedes].
Surface capsule_surface(double r, double h) {
  const double side = 4 * kPi * r * h, ends = 4 * kPi * r * r, area = side + ends;
  const double across = r * r * (side / 2 + ends / 3) / area;
  const double along = (side * h * h / 3 + ends * (h * h + h * r + r * r / 3)) / area;
  return {area, {across, across, along}};
}

/// The area of an ellipsoid has no closed form. MuJoCo takes Thomsen's formula for it (error up to
/// 1.1 %), and for the moments a layer of 1 um: the difference of two solid ellipsoids.
Surface ellipsoid_surface(const Vector3<double>& h) {
  constexpr double p = 1.6075, layer = 1e-6;
  const double a = std::pow(h[0], p), b = std::pow(h[1], p), c = std::pow(h[2], p);
  const double area = 4 * kPi * std::pow((a * b + b * c + c * a) / 3, 1 / p);
  // Derivatives by the thickness, at the middle of the layer; the error is of its second order.
  const Vector3<double> m = h.array() + layer / 2;
  const double volume = m.prod(), rate = volume * m.cwiseInverse().sum();
  Vector3<double> squares;
  for (int k = 0; k < 3; ++k) {
    squares[k] = (rate * m[k] * m[k] + volume * 2 * m[k]) / (5 * rate);
  }
  return {area, squares};
}

Surface surface_of(Shape shape, const Vector3<double>& half) {
  switch (shape) {
    case Shape::box:
      return box_surface(half);
    case Shape::capsule:
      return capsule_surface(half[0], half[1]);
    case Shape::cylinder:
      return cylinder_surface(half[0], half[1]);
    case Shape::sphere:
      return {4 * kPi * half[0] * half[0], Vector3<double>::Constant(half[0] * half[0] / 3)};
    default:
      return ellipsoid_surface(half);
  }
}

}  // namespace

Inertia<double> primitive_inertia(Shape shape, const Vector3<double>& half, const GeomMass& mass) {
  if (!mass.shell) {
    return mass.is_mass ? solid(shape, half, Mass{mass.value})
                        : solid(shape, half, Density{mass.value});
  }
  const Surface surface = surface_of(shape, half);
  const double m = mass.is_mass ? mass.value : mass.value * surface.area;
  const Matrix3<double> second = (m * surface.squares).asDiagonal();
  return {m, Vector3<double>::Zero(), tensor_from_second_moments<double>(second)};
}

}  // namespace limb::mjcf
