#pragma once

#include "limb/sim/contact/shape.hpp"

namespace limb {

/// The fixed environment: any number of half spaces, boxes and height fields, which may overlap,
/// each with a surface.
class Ground {
 public:
  struct HalfSpace {
    Vector3<double> normal;  ///< unit, outward
    double level = 0;        ///< normal . p = level on the surface
    ContactSurface surface;
  };
  struct Box {
    Pose<double> X_WG;
    Vector3<double> half;
    ContactSurface surface;
  };
  /// Heights over a grid, two triangles per cell; solid below, nothing outside the grid.
  struct HeightField {
    Vector2<double> corner;   ///< x, y of heights(0, 0)
    Vector2<double> cell;     ///< x and y edge of a cell
    MatrixX<double> heights;  ///< (i, j) at corner + (i cell.x, j cell.y)
    ContactSurface surface;

    /// Height at (x, y) and the outward unit normal there; (x, y) is clamped to the grid.
    double height(double x, double y, Vector3<double>* normal = nullptr) const;
  };

  Ground() = default;
  /// The half space z <= height.
  static Ground plane(const ContactSurface& surface = {}, double height = 0);
  /// A plane through the origin that descends by `angle` along `direction` (x, y).
  /// @throws Error unless |angle| < pi/2.
  static Ground slope(double angle, const ContactSurface& surface = {},
                      const Vector2<double>& direction = {1, 0});
  struct Stairs {
    int count = 5;
    double rise = 0.15, run = 0.3, width = 2;  ///< m
    double begin = 0.5;                        ///< x of the first riser; they ascend along +x
  };
  /// A flight of stairs on a plane; the top landing is five runs long.
  static Ground stairs(const Stairs& stairs, const ContactSurface& surface = {});

  /// @throws Error for sizes that are not positive and finite, or an invalid surface.
  void add_half_space(const Vector3<double>& normal, double level,
                      const ContactSurface& surface = {});
  void add_box(const Pose<double>& X_WG, const Vector3<double>& size,
               const ContactSurface& surface = {});
  void add_height_field(const Vector2<double>& corner, const Vector2<double>& cell,
                        MatrixX<double> heights, const ContactSurface& surface = {});

  const std::vector<HalfSpace>& half_spaces() const { return half_spaces_; }
  const std::vector<Box>& boxes() const { return boxes_; }
  const std::vector<HeightField>& height_fields() const { return fields_; }
  /// Number of solids; indices count half spaces, then boxes, then fields, in order of addition.
  int size() const;
  const ContactSurface& surface(int i) const;

 private:
  std::vector<HalfSpace> half_spaces_;
  std::vector<Box> boxes_;
  std::vector<HeightField> fields_;
};

}  // namespace limb
