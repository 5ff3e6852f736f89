#pragma once

#include "limb/sim/contact/ground.hpp"

/// Nearest points, and the cells of a height field near a point.
namespace limb {

/// The point of a triangle nearest to p, and whether it is inside and not on the boundary.
Vector3<double> nearest_on_triangle(const Vector3<double>& p, const Vector3<double>& a,
                                    const Vector3<double>& b, const Vector3<double>& c,
                                    bool& inside);

struct Cells {
  Eigen::Index i0, i1, j0, j1;  ///< first, and one past the last
};
/// Cells within a horizontal distance of a point.
Cells cells_near(const Ground::HeightField& field, const Vector3<double>& p, double distance);

Vector3<double> field_vertex(const Ground::HeightField& field, Eigen::Index i, Eigen::Index j);
/// Whether the field has a height at x, y of p.
bool is_over(const Ground::HeightField& field, const Vector3<double>& p);

}  // namespace limb
