#pragma once

#include <concepts>
#include <numbers>
#include <type_traits>

#include "limb/math/inertia.hpp"

/// Inertia of homogeneous solids from their mass or their density.
///
///   box_inertia(Mass{2.4}, {0.5, 0.3, 0.2})      2.4 kg
///   cylinder_inertia(Density{2700.0}, 0.02, 0.5) aluminium
///
/// Frame of every solid except the cone: origin at the mass centre, z the axis of revolution,
/// principal axes. The cone has its origin at the centre of the base, with the apex up.
/// Move the solid with Inertia::transformed; add and subtract solids with + and -.
namespace limb {

/// Mass of a body, kg.
template <typename T>
struct Mass {
  using Scalar = T;
  T m;
};
template <typename T>
Mass(T) -> Mass<T>;
template <std::integral T>
Mass(T) -> Mass<double>;

/// Mass per volume, kg/m^3.
template <typename T>
struct Density {
  using Scalar = T;
  T rho;
};
template <typename T>
Density(T) -> Density<T>;
template <std::integral T>
Density(T) -> Density<double>;

/// The amount of matter in a solid: Mass or Density. Two types, so that 2.7 cannot mean both.
template <typename A>
concept MassOrDensity =
    std::same_as<A, Mass<typename A::Scalar>> || std::same_as<A, Density<typename A::Scalar>>;

namespace solids {

/// Checks that a length is positive.
template <typename T>
void check_length(std::string_view call, std::string_view argument, const T& value) {
  if constexpr (Real<T>) check_positive(call, argument, double(value));
}

/// Checks 0 <= inner < outer.
template <typename T>
void check_wall(std::string_view call, const T& inner_radius, const T& outer_radius) {
  if constexpr (Real<T>) {
    check_not_negative(call, "inner_radius", double(inner_radius));
    check_positive(call, "outer_radius", double(outer_radius));
    if (!(inner_radius < outer_radius)) {
      fail(call, "inner_radius", to_text(double(inner_radius)),
           "less than outer_radius = " + to_text(double(outer_radius)));
    }
  }
}

template <typename T>
T total_mass(std::string_view call, const Mass<T>& amount, const T&) {
  if constexpr (Real<T>) check_not_negative(call, "mass", double(amount.m));
  return amount.m;
}
template <typename T>
T total_mass(std::string_view call, const Density<T>& amount, const T& volume) {
  if constexpr (Real<T>) check_not_negative(call, "density", double(amount.rho));
  return amount.rho * volume;
}

template <typename T>
Inertia<T> centred(const T& mass, const T& Ixx, const T& Iyy, const T& Izz) {
  const T zero(0);
  return {mass, Vector3<T>::Zero(), tensor_from_entries<T>(Ixx, Iyy, Izz, zero, zero, zero)};
}

template <typename T>
T pi() {
  return T(std::numbers::pi);
}

}  // namespace solids

/// Box with edges size = (x, y, z) along the axes: Ixx = m (y^2 + z^2) / 12 and so on.
template <MassOrDensity A, typename T = typename A::Scalar>
Inertia<T> box_inertia(const A& amount, const Vector3<std::type_identity_t<T>>& size) {
  solids::check_length<T>("box_inertia", "size.x", size.x());
  solids::check_length<T>("box_inertia", "size.y", size.y());
  solids::check_length<T>("box_inertia", "size.z", size.z());
  const T volume = size.x() * size.y() * size.z();
  const T m = solids::total_mass<T>("box_inertia", amount, volume);
  const T k = m / T(12);
  const T x2 = size.x() * size.x(), y2 = size.y() * size.y(), z2 = size.z() * size.z();
  return solids::centred<T>(m, k * (y2 + z2), k * (x2 + z2), k * (x2 + y2));
}

/// Tube along z: Izz = m (r1^2 + r2^2) / 2, Ixx = Iyy = m (3 (r1^2 + r2^2) + length^2) / 12.
/// An inner radius of 0 gives the solid cylinder.
template <MassOrDensity A, typename T = typename A::Scalar>
Inertia<T> hollow_cylinder_inertia(const A& amount, const std::type_identity_t<T>& inner_radius,
                                   const std::type_identity_t<T>& outer_radius,
                                   const std::type_identity_t<T>& length) {
  solids::check_wall<T>("hollow_cylinder_inertia", inner_radius, outer_radius);
  solids::check_length<T>("hollow_cylinder_inertia", "length", length);
  // The factored difference of squares is accurate for a thin wall.
  const T wall = (outer_radius - inner_radius) * (outer_radius + inner_radius);
  const T volume = solids::pi<T>() * wall * length;
  const T m = solids::total_mass<T>("hollow_cylinder_inertia", amount, volume);
  const T squares = inner_radius * inner_radius + outer_radius * outer_radius;
  const T across = m * (T(3) * squares + length * length) / T(12);
  return solids::centred<T>(m, across, across, m * squares / T(2));
}

/// Cylinder along z: Izz = m r^2 / 2, Ixx = Iyy = m (3 r^2 + length^2) / 12.
template <MassOrDensity A, typename T = typename A::Scalar>
Inertia<T> cylinder_inertia(const A& amount, const std::type_identity_t<T>& radius,
                            const std::type_identity_t<T>& length) {
  solids::check_length<T>("cylinder_inertia", "radius", radius);
  solids::check_length<T>("cylinder_inertia", "length", length);
  const T r2 = radius * radius;
  const T volume = solids::pi<T>() * r2 * length;
  const T m = solids::total_mass<T>("cylinder_inertia", amount, volume);
  const T across = m * (T(3) * r2 + length * length) / T(12);
  return solids::centred<T>(m, across, across, m * r2 / T(2));
}

/// Ellipsoid with half axes (a, b, c) along x, y, z: Ixx = m (b^2 + c^2) / 5 and so on.
template <MassOrDensity A, typename T = typename A::Scalar>
Inertia<T> ellipsoid_inertia(const A& amount, const Vector3<std::type_identity_t<T>>& half_axes) {
  solids::check_length<T>("ellipsoid_inertia", "half_axes.x", half_axes.x());
  solids::check_length<T>("ellipsoid_inertia", "half_axes.y", half_axes.y());
  solids::check_length<T>("ellipsoid_inertia", "half_axes.z", half_axes.z());
  const T volume = T(4) * solids::pi<T>() / T(3) * half_axes.x() * half_axes.y() * half_axes.z();
  const T m = solids::total_mass<T>("ellipsoid_inertia", amount, volume);
  const T k = m / T(5);
  const T a2 = half_axes.x() * half_axes.x(), b2 = half_axes.y() * half_axes.y(),
          c2 = half_axes.z() * half_axes.z();
  return solids::centred<T>(m, k * (b2 + c2), k * (a2 + c2), k * (a2 + b2));
}

/// Ball: 2 m r^2 / 5 about every diameter.
template <MassOrDensity A, typename T = typename A::Scalar>
Inertia<T> sphere_inertia(const A& amount, const std::type_identity_t<T>& radius) {
  solids::check_length<T>("sphere_inertia", "radius", radius);
  const T r2 = radius * radius;
  const T volume = T(4) * solids::pi<T>() / T(3) * r2 * radius;
  const T m = solids::total_mass<T>("sphere_inertia", amount, volume);
  const T I = T(2) * m * r2 / T(5);
  return solids::centred<T>(m, I, I, I);
}

/// Ball with a concentric cavity: 2 m (r2^5 - r1^5) / (5 (r2^3 - r1^3)) about every diameter.
template <MassOrDensity A, typename T = typename A::Scalar>
Inertia<T> hollow_sphere_inertia(const A& amount, const std::type_identity_t<T>& inner_radius,
                                 const std::type_identity_t<T>& outer_radius) {
  solids::check_wall<T>("hollow_sphere_inertia", inner_radius, outer_radius);
  // Both differences of powers divided by (r2 - r1), which is accurate for a thin wall.
  const T a = inner_radius, b = outer_radius;
  const T cubes = a * a + a * b + b * b;
  const T fifths = a * a * (a * a + a * b) + b * b * (a * a + a * b + b * b);
  const T volume = T(4) * solids::pi<T>() / T(3) * (b - a) * cubes;
  const T m = solids::total_mass<T>("hollow_sphere_inertia", amount, volume);
  const T I = T(2) * m * fifths / (T(5) * cubes);
  return solids::centred<T>(m, I, I, I);
}

/// Spherical shell without thickness: 2 m r^2 / 3 about every diameter.
template <typename T>
Inertia<T> spherical_shell_inertia(const Mass<T>& mass, const std::type_identity_t<T>& radius) {
  solids::check_length<T>("spherical_shell_inertia", "radius", radius);
  const T m = solids::total_mass<T>("spherical_shell_inertia", mass, T(0));
  const T I = T(2) * m * radius * radius / T(3);
  return solids::centred<T>(m, I, I, I);
}

/// The same for a wall so thin that its mass is density * area * thickness; the exact solid is
/// hollow_sphere_inertia.
template <typename T>
Inertia<T> spherical_shell_inertia(const Density<T>& density, const std::type_identity_t<T>& radius,
                                   const std::type_identity_t<T>& thickness) {
  solids::check_length<T>("spherical_shell_inertia", "radius", radius);
  solids::check_length<T>("spherical_shell_inertia", "thickness", thickness);
  const T volume = T(4) * solids::pi<T>() * radius * radius * thickness;
  return spherical_shell_inertia(
      Mass<T>{solids::total_mass<T>("spherical_shell_inertia", density, volume)}, radius);
}

/// Cylinder along z of the given length with a hemisphere on each end; the total length is
/// length + 2 radius. A length of 0 gives the ball.
template <MassOrDensity A, typename T = typename A::Scalar>
Inertia<T> capsule_inertia(const A& amount, const std::type_identity_t<T>& radius,
                           const std::type_identity_t<T>& length) {
  solids::check_length<T>("capsule_inertia", "radius", radius);
  if constexpr (Real<T>) check_not_negative("capsule_inertia", "length", double(length));
  const T r2 = radius * radius, l2 = length * length;
  // Volumes over pi r^2; each part has the same share in the mass as in the volume.
  const T ends = T(4) * radius / T(3), whole = length + ends;
  const T volume = solids::pi<T>() * r2 * whole;
  const T m = solids::total_mass<T>("capsule_inertia", amount, volume);
  const T m_cylinder = m * (length / whole), m_ends = m * (ends / whole);
  const T along = m_cylinder * r2 / T(2) + m_ends * (T(2) * r2 / T(5));
  // The centre of a hemisphere is 3r/8 from the flat side: the cross term is 2 (l/2) (3r/8).
  const T across = m_cylinder * (T(3) * r2 + l2) / T(12) +
                   m_ends * (T(2) * r2 / T(5) + l2 / T(4) + T(3) * radius * length / T(8));
  return solids::centred<T>(m, across, across, along);
}

/// Cone: base of the given radius in the plane z = 0 with its centre at the origin, apex at
/// (0, 0, height), mass centre at (0, 0, height / 4).
/// About the mass centre Izz = 3 m r^2 / 10 and Ixx = Iyy = 3 m (4 r^2 + height^2) / 80.
template <MassOrDensity A, typename T = typename A::Scalar>
Inertia<T> cone_inertia(const A& amount, const std::type_identity_t<T>& radius,
                        const std::type_identity_t<T>& height) {
  solids::check_length<T>("cone_inertia", "radius", radius);
  solids::check_length<T>("cone_inertia", "height", height);
  const T r2 = radius * radius, h2 = height * height;
  const T volume = solids::pi<T>() * r2 * height / T(3);
  const T m = solids::total_mass<T>("cone_inertia", amount, volume);
  const T zero(0);
  const T across = m * (T(3) * r2 + T(2) * h2) / T(20);  // about the origin, not the mass centre
  return {m, Vector3<T>(zero, zero, m * height / T(4)),
          tensor_from_entries<T>(across, across, T(3) * m * r2 / T(10), zero, zero, zero)};
}

}  // namespace limb
