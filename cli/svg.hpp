#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "limb/math/scalar.hpp"

/// A minimal SVG writer. Coordinates are pixels, x right, y down.
namespace limb::cli {

class Svg {
 public:
  using Point = Vector2<double>;
  /// Title and description are for screen readers.
  Svg(double width, double height, std::string_view title, std::string_view description);

  /// `style` is any list of SVG attributes: fill="#fff" stroke="#000".
  void line(const Point& a, const Point& b, std::string_view style);
  void polyline(const std::vector<Point>& points, std::string_view style);
  void polygon(const std::vector<Point>& corners, std::string_view style);
  void rectangle(const Point& corner, double width, double height, std::string_view style);
  void circle(const Point& center, double radius, std::string_view style);
  /// `angle` in rad, clockwise as seen (y points down).
  void ellipse(const Point& center, const Point& half_axes, double angle, std::string_view style);
  /// Circular arc around `center` from angle `from` to `to`, rad, anticlockwise positive as seen.
  void arc(const Point& center, double radius, double from, double to, std::string_view style);
  void arrow(const Point& from, const Point& to, double width, std::string_view color);
  /// Mass-centre symbol: a disc with two filled quarters.
  void mass_centre(const Point& center, double radius, std::string_view color);
  /// What follows, until end_clip(), is cut off at the rectangle.
  void begin_clip(const Point& corner, double width, double height);
  void end_clip();
  void text(const Point& anchor, std::string_view text, std::string_view style);

  std::string finish() const { return body_ + "</svg>\n"; }

 private:
  std::string body_;
};

}  // namespace limb::cli
