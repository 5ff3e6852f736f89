#include "limb/sim/contact/ground.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/base/check.hpp"
#include "limb/math/check.hpp"

namespace limb {

Ground Ground::plane(const ContactSurface& surface, double height) {
  Ground ground;
  ground.add_half_space({0, 0, 1}, height, surface);
  return ground;
}

Ground Ground::slope(double angle, const ContactSurface& surface,
                     const Vector2<double>& direction) {
  if (!(std::abs(angle) < std::numbers::pi / 2)) {
    fail("Ground::slope", "angle", to_text(angle), "less than a right angle");
  }
  const double length = direction.norm();
  if (!(length > 0 && std::isfinite(length))) {
    fail("Ground::slope", "direction", "of length " + to_text(length), "a nonzero finite vector");
  }
  const Vector2<double> d = direction / length * std::sin(angle);
  Ground ground;
  ground.add_half_space({d[0], d[1], std::cos(angle)}, 0, surface);
  return ground;
}

Ground Ground::stairs(const Stairs& stairs, const ContactSurface& surface) {
  const char* call = "Ground::stairs";
  if (stairs.count < 1) fail(call, "count", std::to_string(stairs.count), "1 or more");
  check_positive(call, "rise", stairs.rise);
  check_positive(call, "run", stairs.run);
  check_positive(call, "width", stairs.width);
  check_finite(call, "begin", stairs.begin);
  Ground ground = plane(surface);
  // Each box extends to the end of the landing, so that no tread has an internal edge.
  const double end = stairs.begin + (stairs.count + 4) * stairs.run;
  for (int i = 0; i < stairs.count; ++i) {
    const double begin = stairs.begin + i * stairs.run, top = (i + 1) * stairs.rise;
    ground.add_box({Matrix3<double>::Identity(), {(begin + end) / 2, 0, top / 2}},
                   {end - begin, stairs.width, top}, surface);
  }
  return ground;
}

void Ground::add_half_space(const Vector3<double>& normal, double level,
                            const ContactSurface& surface) {
  const char* call = "Ground::add_half_space";
  check_surface(call, surface);
  check_finite(call, "level", level);
  const double length = normal.norm();
  if (!(length > 0 && std::isfinite(length))) {
    fail(call, "normal", "of length " + to_text(length), "a nonzero finite vector");
  }
  half_spaces_.push_back({normal / length, level, surface});
}

void Ground::add_box(const Pose<double>& X_WG, const Vector3<double>& size,
                     const ContactSurface& surface) {
  const char* call = "Ground::add_box";
  check_surface(call, surface);
  for (int i = 0; i < 3; ++i) check_positive(call, "size", size[i]);
  check_finite(call, "X_WG.p", X_WG.p);
  boxes_.push_back({X_WG, size / 2, surface});
}

void Ground::add_height_field(const Vector2<double>& corner, const Vector2<double>& cell,
                              MatrixX<double> heights, const ContactSurface& surface) {
  const char* call = "Ground::add_height_field";
  check_surface(call, surface);
  check_finite(call, "corner", corner);
  check_positive(call, "cell.x", cell[0]);
  check_positive(call, "cell.y", cell[1]);
  if (heights.rows() < 2 || heights.cols() < 2) {
    fail(call, "heights", std::to_string(heights.rows()) + " x " + std::to_string(heights.cols()),
         "2 x 2 or more");
  }
  if (!heights.allFinite()) fail(call, "heights", "not all finite", "finite numbers");
  fields_.push_back({corner, cell, std::move(heights), surface});
}

int Ground::size() const {
  return static_cast<int>(half_spaces_.size() + boxes_.size() + fields_.size());
}

const ContactSurface& Ground::surface(int i) const {
  auto k = static_cast<std::size_t>(i);
  if (k < half_spaces_.size()) return half_spaces_[k].surface;
  k -= half_spaces_.size();
  if (k < boxes_.size()) return boxes_[k].surface;
  return fields_[k - boxes_.size()].surface;
}

double Ground::HeightField::height(double x, double y, Vector3<double>* normal) const {
  const double u = std::clamp((x - corner[0]) / cell[0], 0.0, double(heights.rows() - 1));
  const double v = std::clamp((y - corner[1]) / cell[1], 0.0, double(heights.cols() - 1));
  const auto i = std::min(static_cast<Eigen::Index>(u), heights.rows() - 2);
  const auto j = std::min(static_cast<Eigen::Index>(v), heights.cols() - 2);
  const double a = u - double(i), b = v - double(j);
  const double z00 = heights(i, j), z10 = heights(i + 1, j), z01 = heights(i, j + 1),
               z11 = heights(i + 1, j + 1);
  // The diagonal of a cell goes from (1, 0) to (0, 1).
  const bool low = a + b <= 1;
  const double dx = low ? z10 - z00 : z11 - z01, dy = low ? z01 - z00 : z11 - z10;
  if (normal != nullptr) {
    *normal = Vector3<double>(-dx / cell[0], -dy / cell[1], 1).normalized();
  }
  return low ? z00 + a * dx + b * dy : z11 - (1 - a) * dx - (1 - b) * dy;
}

}  // namespace limb
