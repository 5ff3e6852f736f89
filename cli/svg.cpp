#include "cli/svg.hpp"

#include <fmt/format.h>

#include <cmath>

namespace limb::cli {
namespace {

// Rounded to a tenth of a pixel.
std::string px(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string xy(const Svg::Point& p) {
  return px(p.x()) + " " + px(p.y());
}

std::string escape(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

Svg::Point on_circle(const Svg::Point& center, double radius, double angle) {
  return {center.x() + radius * std::cos(angle), center.y() - radius * std::sin(angle)};
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title, std::string_view description) {
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\">\n"
      "<title>{2}</title>\n<desc>{3}</desc>\n",
      px(width), px(height), escape(title), escape(description));
}

void Svg::line(const Point& a, const Point& b, std::string_view style) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", px(a.x()), px(a.y()),
                       px(b.x()), px(b.y()), style);
}

void Svg::polyline(const std::vector<Point>& points, std::string_view style) {
  body_ += "<polyline fill=\"none\" points=\"";
  for (const Point& p : points) body_ += px(p.x()) + "," + px(p.y()) + " ";
  body_ += fmt::format("\" {}/>\n", style);
}

void Svg::polygon(const std::vector<Point>& corners, std::string_view style) {
  body_ += "<polygon points=\"";
  for (const Point& p : corners) body_ += px(p.x()) + "," + px(p.y()) + " ";
  body_ += fmt::format("\" {}/>\n", style);
}

void Svg::begin_clip(const Point& corner, double width, double height) {
  // An inner picture with the same coordinates: clips without an id, which a page could have twice.
  body_ += fmt::format(
      "<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">\n",
      px(corner.x()), px(corner.y()), px(width), px(height));
}

void Svg::end_clip() {
  body_ += "</svg>\n";
}

void Svg::rectangle(const Point& corner, double width, double height, std::string_view style) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n", px(corner.x()),
                       px(corner.y()), px(width), px(height), style);
}

void Svg::circle(const Point& center, double radius, std::string_view style) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>\n", px(center.x()),
                       px(center.y()), px(radius), style);
}

void Svg::ellipse(const Point& center, const Point& half_axes, double angle,
                  std::string_view style) {
  body_ +=
      fmt::format("<ellipse rx=\"{}\" ry=\"{}\" transform=\"translate({}) rotate({:.2f})\" {}/>\n",
                  px(half_axes.x()), px(half_axes.y()), xy(center), angle * 180 / M_PI, style);
}

void Svg::arc(const Point& center, double radius, double from, double to, std::string_view style) {
  const int large = std::abs(to - from) > M_PI ? 1 : 0, clockwise = to < from ? 1 : 0;
  body_ += fmt::format("<path d=\"M{} A{} {} 0 {} {} {}\" {}/>\n",
                       xy(on_circle(center, radius, from)), px(radius), px(radius), large,
                       clockwise, xy(on_circle(center, radius, to)), style);
}

void Svg::arrow(const Point& from, const Point& to, double width, std::string_view color) {
  const Point along = to - from;
  const double length = along.norm();
  if (length < 1) return;  // too short for a head
  const Point unit = along / length, side(-unit.y(), unit.x());
  const double head = std::min(4.5 * width, length);
  const Point neck = to - head * unit;
  line(from, neck + 0.5 * unit, fmt::format("stroke=\"{}\" stroke-width=\"{}\"", color, px(width)));
  body_ += fmt::format("<path d=\"M{} L{} L{} Z\" fill=\"{}\"/>\n", xy(to),
                       xy(neck + 0.4 * head * side), xy(neck - 0.4 * head * side), color);
}

void Svg::mass_centre(const Point& center, double radius, std::string_view color) {
  circle(center, radius, "fill=\"#ffffff\"");
  for (const double start : {0.0, M_PI}) {
    body_ += fmt::format("<path d=\"M{} L{} A{} {} 0 0 0 {} Z\" fill=\"{}\"/>\n", xy(center),
                         xy(on_circle(center, radius, start)), px(radius), px(radius),
                         xy(on_circle(center, radius, start + M_PI / 2)), color);
  }
  circle(center, radius, fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"", color));
}

void Svg::text(const Point& anchor, std::string_view text, std::string_view style) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n", px(anchor.x()), px(anchor.y()),
                       style, escape(text));
}

}  // namespace limb::cli
