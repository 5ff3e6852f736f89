#pragma once

#include "limb/sim/contact/shape.hpp"

namespace limb {

/// What stands still: any number of half spaces, boxes and height fields, which may overlap. Each
/// has a surface of its own.
class Ground {
 public:
  struct HalfSpace {
    Vector3<double> normal;  ///< unit, outwards
    double level = 0;        ///< normal . p = level on the surface
    Surface surface;
  };
  struct Box {
    Pose<double> X_WG;
    Vector3<double> half;
    Surface surface;
  };
  /// Heights over a grid, two triangles a cell; solid below, and nothing beside it.
  struct HeightField {
    Vector2<double> corner;   ///< x, y of heights(0, 0)
    Vector2<double> cell;     ///< x and y edge of a cell
    MatrixX<double> heights;  ///< (i, j) at corner + (i cell.x, j cell.y)
    Surface surface;

    /// Height at a place and the outward unit normal there; the place is moved into the field.
    double height(double x, double y, Vector3<double>* normal = nullptr) const;
  };

  Ground() = default;
  /// z <= height.
  static Ground plane(const Surface& surface = {}, double height = 0);
  /// A plane through the origin that falls by `angle` along `direction` (x, y).
  /// @throws Error unless the angle is below a right one.
  static Ground slope(double angle, const Surface& surface = {},
                      const Vector2<double>& direction = {1, 0});
  struct Stairs {
    int count = 5;
    double rise = 0.15, run = 0.3, width = 2;  ///< m
    double begin = 0.5;                        ///< x of the first riser; the way up is +x
  };
  /// A flight of stairs on a plane; it ends in a landing of five runs.
  static Ground stairs(const Stairs& stairs, const Surface& surface = {});

  /// @throws Error for sizes that are not positive or finite, or a surface that is none.
  void add_half_space(const Vector3<double>& normal, double level, const Surface& surface = {});
  void add_box(const Pose<double>& X_WG, const Vector3<double>& size, const Surface& surface = {});
  void add_height_field(const Vector2<double>& corner, const Vector2<double>& cell,
                        MatrixX<double> heights, const Surface& surface = {});

  const std::vector<HalfSpace>& half_spaces() const { return half_spaces_; }
  const std::vector<Box>& boxes() const { return boxes_; }
  const std::vector<HeightField>& height_fields() const { return fields_; }
  /// How many solids: half spaces, then boxes, then fields, in the order in which they came.
  int size() const;
  const Surface& surface(int i) const;

 private:
  std::vector<HalfSpace> half_spaces_;
  std::vector<Box> boxes_;
  std::vector<HeightField> fields_;
};

}  // namespace limb
