#include "cli/planar_2r_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "cli/svg.hpp"

namespace limb::cli {
namespace {

using Point = Svg::Point;

constexpr double kWidth = 760, kHeight = 520, kPanel = 250;  // width of the text panel on the right
constexpr std::string_view kInk = "#1f2933", kSoft = "#7b8794", kGrid = "#e8ecf1";
constexpr std::string_view kLink1 = "#2563a8", kLink2 = "#3aa0a0", kSpeed = "#d1495b";
constexpr std::string_view kEllipse = "#edae49";

std::string stroke(std::string_view color, double width, std::string_view more = "") {
  return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" {}", color, width, more);
}

std::string font(int size, std::string_view color, std::string_view more = "") {
  return fmt::format("font-size=\"{}\" fill=\"{}\" {}", size, color, more);
}

// Degrees without trailing zeros: 30, 22.5.
std::string degrees(double angle) {
  return fmt::format("{:.4g}", angle * 180 / std::numbers::pi);
}

// Metres to pixels, y up, one scale for both axes; all points are inside the left part.
class View {
 public:
  explicit View(const std::vector<Point>& points) {
    Point low = points.front(), high = points.front();
    for (const Point& p : points) {
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
    const Point size = high - low;
    const double width = kWidth - kPanel - 2 * kMargin, height = kHeight - 2 * kMargin;
    scale_ = std::min(width / size.x(), height / size.y());
    const Point middle = (low + high) / 2;
    origin_ = Point((kWidth - kPanel) / 2 - scale_ * middle.x(), kHeight / 2 + scale_ * middle.y());
  }
  Point operator()(const Point& metres) const {
    return {origin_.x() + scale_ * metres.x(), origin_.y() - scale_ * metres.y()};
  }
  double scale() const { return scale_; }
  Point to_metres(const Point& pixels) const {
    return {(pixels.x() - origin_.x()) / scale_, (origin_.y() - pixels.y()) / scale_};
  }

 private:
  static constexpr double kMargin = 56;
  double scale_ = 1;
  Point origin_ = Point::Zero();
};

// 5 to 12 lines at round numbers over the longer side, labelled at the border.
void draw_grid(Svg& svg, const View& view) {
  const Point low = view.to_metres({0, kHeight}), high = view.to_metres({kWidth - kPanel, 0});
  const double span = (high - low).maxCoeff(), decade = std::pow(10, std::floor(std::log10(span)));
  const double step = span / decade > 5 ? decade : span / decade > 2 ? decade / 2 : decade / 5;
  for (double i = std::ceil(low.x() / step); i * step < high.x(); ++i) {
    const double x = view({i * step, 0}).x();
    svg.line({x, 0}, {x, kHeight}, stroke(kGrid, i == 0 ? 2 : 1));
    if (x < 40 || x > kWidth - kPanel - 30) continue;
    svg.text({x, kHeight - 8}, fmt::format("{:.3g}", i * step + 0.0),
             font(11, kSoft, "text-anchor=\"middle\""));
  }
  for (double i = std::ceil(low.y() / step); i * step < high.y(); ++i) {
    const double y = view({0, i * step}).y();
    svg.line({0, y}, {kWidth - kPanel, y}, stroke(kGrid, i == 0 ? 2 : 1));
    if (y < 20 || y > kHeight - 24) continue;
    svg.text({8, y + 4}, fmt::format("{:.3g}", i * step + 0.0), font(11, kSoft));
  }
  svg.text({8, kHeight - 8}, "m", font(11, kSoft, "font-style=\"italic\""));
}

void draw_base(Svg& svg, const Point& base) {
  svg.rectangle(base + Point(-26, 14), 52, 9, fmt::format("rx=\"2\" fill=\"{}\"", kInk));
  for (int i = 0; i < 6; ++i) {
    const Point top = base + Point(-22 + 9 * i, 23);
    svg.line(top, top + Point(-7, 9), stroke(kInk, 1.4));
  }
  svg.line(base, base + Point(0, 16), stroke(kInk, 16));
}

void draw_angle(Svg& svg, const Point& joint, double from, double angle, std::string_view name) {
  const double wrapped = std::remainder(angle, 2 * std::numbers::pi), radius = 58;
  const Point ray(std::cos(from), -std::sin(from));
  svg.line(joint, joint + 84 * ray, stroke(kSoft, 1.2, "stroke-dasharray=\"5 4\""));
  svg.arc(joint, radius, from, from + wrapped, stroke(kInk, 1.6));
  const double middle = from + wrapped / 2;
  svg.text(joint + 76 * Point(std::cos(middle), -std::sin(middle)) + Point(0, 5), name,
           font(15, kInk, "font-style=\"italic\" text-anchor=\"middle\""));
}

void draw_panel(Svg& svg, const Planar2R& arm, const Planar2RState& state,
                const Planar2RResult& result) {
  const double left = kWidth - kPanel + 22;
  svg.rectangle({kWidth - kPanel, 0}, kPanel, kHeight, "fill=\"#f7f9fb\"");
  double y = 40;
  const auto write = [&](std::string_view text, int size, std::string_view color, double gap,
                         std::string_view more = "") {
    svg.text({left, y}, text, font(size, color, more));
    y += gap;
  };
  write("Planar 2R arm", 19, kInk, 30, "font-weight=\"bold\"");
  write(fmt::format("link 1: {:g} m, {:g} kg", arm.length1, arm.mass1), 13, kLink1, 19);
  write(fmt::format("link 2: {:g} m, {:g} kg", arm.length2, arm.mass2), 13, kLink2, 26);
  write(fmt::format("q1 = {}\u00b0, q2 = {}\u00b0", degrees(state.q[0]), degrees(state.q[1])), 13,
        kInk, 19);
  write(fmt::format("rates {:.4g} and {:.4g} rad/s", state.qd[0], state.qd[1]), 13, kInk, 34);

  write("Mass matrix (kg m\u00b2)", 13, kSoft, 22);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      svg.text({left + 76 + 80 * j, y}, fmt::format("{:.4g}", result.mass_matrix(i, j)),
               font(15, kInk, "text-anchor=\"end\""));
    }
    y += 22;
  }
  y += 10;
  write("Kinetic energy", 13, kSoft, 21);
  write(fmt::format("{:.4g} J", result.energy_bodies), 15, kInk, 34);
  write("Tip speed", 13, kSoft, 21);
  write(fmt::format("{:.4g} m/s", result.v_WE.norm()), 15, kSpeed, 40);

  svg.arrow({left, y - 4}, {left + 26, y - 4}, 3, kSpeed);
  svg.text({left + 38, y}, "tip velocity", font(12, kInk));
  y += 26;
  svg.ellipse({left + 13, y - 4}, {13, 7}, 0,
              fmt::format("fill=\"{0}\" fill-opacity=\"0.35\" stroke=\"{0}\"", kEllipse));
  svg.text({left + 38, y}, "tip velocity, unit joint rates", font(12, kInk));
  y += 26;
  svg.mass_centre({left + 13, y - 4}, 7, kInk);
  svg.text({left + 38, y}, "mass centre of a link", font(12, kInk));
  y += 26;
  svg.mass_centre({left + 13, y - 4}, 7, kSpeed);
  svg.text({left + 38, y}, "mass centre of the arm", font(12, kInk));
}

}  // namespace

std::string draw_planar_2r(const Planar2R& arm, const Planar2RState& state,
                           const Planar2RResult& result) {
  const Point base = result.X_WB1.p.head<2>(), elbow = result.X_WB2.p.head<2>();
  const Point tip = result.X_WE.p.head<2>(), velocity = result.v_WE.head<2>();
  const Ellipse ellipse = velocity_ellipse(result);
  // Velocities are scaled so that the longest one is 0.4 of the reach.
  const double reach = arm.length1 + arm.length2;
  const double metres_per_speed = 0.4 * reach / std::max(velocity.norm(), ellipse.half_axes[0]);
  const Point arrow_end = tip + metres_per_speed * velocity;
  const Point half_axes = metres_per_speed * ellipse.half_axes;
  const Point unit(std::cos(ellipse.angle), std::sin(ellipse.angle));
  const Point along = half_axes[0] * unit, across = half_axes[1] * Point(-unit.y(), unit.x());
  const View view({base, elbow, tip, arrow_end, tip + along, tip - along, tip + across,
                   tip - across, base - Point(0.12 * reach, 0.12 * reach)});

  Svg svg(
      kWidth, kHeight, "Planar 2R arm",
      "Two links, their mass centres, the velocity of the tip and the ellipse of tip velocities");
  svg.rectangle({0, 0}, kWidth, kHeight, "fill=\"#ffffff\"");
  draw_grid(svg, view);

  svg.ellipse(view(tip), view.scale() * half_axes, -ellipse.angle,
              fmt::format("fill=\"{0}\" fill-opacity=\"0.28\" stroke=\"{0}\" stroke-width=\"2\"",
                          kEllipse));
  draw_base(svg, view(base));
  svg.line(view(base), view(elbow), stroke(kLink1, 20, "stroke-linecap=\"round\""));
  svg.line(view(elbow), view(tip), stroke(kLink2, 16, "stroke-linecap=\"round\""));
  draw_angle(svg, view(base), 0, state.q[0], "q1");
  draw_angle(svg, view(elbow), state.q[0], state.q[1], "q2");
  for (const Point& joint : {base, elbow}) {
    svg.circle(view(joint), 8.5,
               fmt::format("fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"3\"", kInk));
  }
  svg.mass_centre(view((result.X_WB1 * result.I_B1.com()).head<2>()), 7, kInk);
  svg.mass_centre(view((result.X_WB2 * result.I_B2.com()).head<2>()), 7, kInk);
  svg.mass_centre(view(result.I_W.com().head<2>()), 7, kSpeed);
  svg.arrow(view(tip), view(arrow_end), 4, kSpeed);
  svg.circle(view(tip), 4.5, fmt::format("fill=\"{}\"", kInk));
  draw_panel(svg, arm, state, result);
  svg.rectangle({0.5, 0.5}, kWidth - 1, kHeight - 1, stroke("#cbd2d9", 1));
  return svg.finish();
}

}  // namespace limb::cli
