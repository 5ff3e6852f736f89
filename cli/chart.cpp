#include "cli/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace limb::cli {
namespace {

using Point = Svg::Point;

constexpr std::array kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                "#b58900", "#56b4e9", "#6a3d9a", "#444444"};
constexpr std::size_t kLegendEntries = 12;  // more do not fit
constexpr double kLeft = 62, kRight = 150, kTop = 26, kBottom = 24;

/// 1, 2 or 5 times a power of ten, so that about `count` ticks fit.
double tick_step(double range, int count) {
  const double rough = range / count, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

struct Range {
  double low = 0, high = 0;
  bool any = false;
  void add(double x) {
    if (!std::isfinite(x)) return;
    low = any ? std::min(low, x) : x;
    high = any ? std::max(high, x) : x;
    any = true;
  }
  /// Makes the range wider than rounding errors.
  void widen() {
    const double size = std::max(std::abs(low), std::abs(high));
    const double least = size > 0 ? 1e-6 * size : 1;
    if (high - low < least) {
      low -= least;
      high += least;
    }
  }
};

}  // namespace

const char* line_color(std::size_t i) {
  return kColors[i % kColors.size()];
}

void draw_chart(Svg& svg, const Point& corner, double width, double height,
                const std::string& title, const std::vector<ChartLine>& lines,
                const std::vector<ChartBand>& bands) {
  Range time, value;
  for (const ChartBand& band : bands) {
    for (const double y : *band.low) value.add(y);
    for (const double y : *band.high) value.add(y);
  }
  for (const ChartLine& line : lines) {
    for (const double t : *line.t) time.add(t);
    for (const double y : *line.values) value.add(y);
  }
  time.widen();
  value.widen();
  const double x0 = corner.x() + kLeft, x1 = corner.x() + width - kRight;
  const double y0 = corner.y() + height - kBottom, y1 = corner.y() + kTop;
  const auto at = [&](double t, double y) {
    return Point(x0 + (t - time.low) / (time.high - time.low) * (x1 - x0),
                 y0 + (y - value.low) / (value.high - value.low) * (y1 - y0));
  };
  svg.text({corner.x() + 4, corner.y() + 16}, title, "font-size=\"13\" font-weight=\"bold\"");
  svg.rectangle({x0, y1}, x1 - x0, y0 - y1, "fill=\"#fff\" stroke=\"#999\"");
  const double value_step = tick_step(value.high - value.low, 5);
  for (double y = std::ceil(value.low / value_step) * value_step; y <= value.high;
       y += value_step) {
    const Point p = at(time.low, y);
    svg.line(p, {x1, p.y()}, "stroke=\"#e4e4e4\"");
    svg.text({x0 - 5, p.y() + 4}, fmt::format("{:.4g}", std::abs(y) < 1e-9 * value_step ? 0 : y),
             "font-size=\"10\" text-anchor=\"end\"");
  }
  const double time_step = tick_step(time.high - time.low, 8);
  for (double t = std::ceil(time.low / time_step) * time_step; t <= time.high; t += time_step) {
    const Point p = at(t, value.low);
    svg.line(p, {p.x(), y1}, "stroke=\"#e4e4e4\"");
    svg.text({p.x(), p.y() + 14}, fmt::format("{:.4g}", std::abs(t) < 1e-9 * time_step ? 0 : t),
             "font-size=\"10\" text-anchor=\"middle\"");
  }
  svg.text({x1 + 20, y0 + 14}, "t, s", "font-size=\"10\"");
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const std::string fill =
        fmt::format("style=\"fill:{};fill-opacity:0.2;stroke:none\"", line_color(i));
    const auto &t = *bands[i].t, &low = *bands[i].low, &high = *bands[i].high;
    const std::size_t stride =
        std::max<std::size_t>(1, t.size() / static_cast<std::size_t>(x1 - x0));
    std::vector<Point> upper, lower;
    const auto draw = [&] {
      upper.insert(upper.end(), lower.rbegin(), lower.rend());
      if (upper.size() > 2) svg.polyline(upper, fill);
      upper.clear();
      lower.clear();
    };
    for (std::size_t k = 0; k < t.size(); k += stride) {
      if (!std::isfinite(low[k]) || !std::isfinite(high[k])) {
        draw();
        continue;
      }
      upper.push_back(at(t[k], high[k]));
      lower.push_back(at(t[k], low[k]));
    }
    draw();
    if (bands[i].name.empty()) continue;
    const Point key(x1 + 8, y1 + 8 + 13 * static_cast<double>(lines.size() + i));
    svg.rectangle({key.x(), key.y() - 4}, 14, 8, fill);
    svg.text({key.x() + 18, key.y() + 4}, bands[i].name, "font-size=\"10\"");
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string style = fmt::format("stroke=\"{}\" stroke-width=\"1.5\"", line_color(i));
    const auto &t = *lines[i].t, &y = *lines[i].values;
    const auto bins = static_cast<std::size_t>(x1 - x0);
    const std::size_t stride = std::max<std::size_t>(1, t.size() / bins);
    std::vector<Point> points;
    const auto draw = [&] {
      if (points.size() > 1) svg.polyline(points, style);
      points.clear();
    };
    for (std::size_t k = 0; k < t.size(); k += stride) {
      const auto first = y.begin() + static_cast<std::ptrdiff_t>(k);
      const auto last = y.begin() + static_cast<std::ptrdiff_t>(std::min(k + stride, y.size()));
      if (std::any_of(first, last, [](double x) { return !std::isfinite(x); })) {
        draw();
        continue;
      }
      const auto [low, high] = std::minmax_element(first, last);
      const bool falls = high < low;
      points.push_back(at(t[k], falls ? *high : *low));
      if (stride > 1) points.push_back(at(t[k], falls ? *low : *high));
    }
    draw();
    if (i < kLegendEntries && !lines[i].name.empty()) {
      const Point key(x1 + 8, y1 + 8 + 13 * static_cast<double>(i));
      svg.line(key, {key.x() + 14, key.y()}, style);
      svg.text(
          {key.x() + 18, key.y() + 4},
          i + 1 == kLegendEntries && lines.size() > kLegendEntries ? "and others" : lines[i].name,
          "font-size=\"10\"");
    }
  }
}

void draw_plane(Svg& svg, const Point& corner, double width, double height,
                const std::string& title, const std::vector<PlaneCurve>& curves) {
  Range x, y;
  for (const PlaneCurve& curve : curves) {
    for (const double one : *curve.x) x.add(one);
    for (const double one : *curve.y) y.add(one);
  }
  x.widen();
  y.widen();
  const double x0 = corner.x() + kLeft, x1 = corner.x() + width - kRight;
  const double y0 = corner.y() + height - kBottom, y1 = corner.y() + kTop;
  const double scale = 0.92 * std::min((x1 - x0) / (x.high - x.low), (y0 - y1) / (y.high - y.low));
  const Point middle((x.low + x.high) / 2, (y.low + y.high) / 2);
  const auto at = [&](double a, double b) {
    return Point((x0 + x1) / 2 + scale * (a - middle.x()),
                 (y0 + y1) / 2 - scale * (b - middle.y()));
  };
  svg.text({corner.x() + 4, corner.y() + 16}, title, "font-size=\"13\" font-weight=\"bold\"");
  svg.rectangle({x0, y1}, x1 - x0, y0 - y1, "fill=\"#fff\" stroke=\"#999\"");
  const double half_x = (x1 - x0) / 2 / scale, half_y = (y0 - y1) / 2 / scale;
  const double step = tick_step(2 * std::max(half_x, half_y), 10);
  const auto number = [&](double value) {
    return fmt::format("{:.4g}", std::abs(value) < 1e-9 * step ? 0 : value);
  };
  for (double a = std::ceil((middle.x() - half_x) / step) * step; a <= middle.x() + half_x;
       a += step) {
    const double px = at(a, 0).x();
    svg.line({px, y0}, {px, y1}, "stroke=\"#e4e4e4\"");
    svg.text({px, y0 + 14}, number(a), "font-size=\"10\" text-anchor=\"middle\"");
  }
  for (double b = std::ceil((middle.y() - half_y) / step) * step; b <= middle.y() + half_y;
       b += step) {
    const double py = at(0, b).y();
    svg.line({x0, py}, {x1, py}, "stroke=\"#e4e4e4\"");
    svg.text({x0 - 5, py + 4}, number(b), "font-size=\"10\" text-anchor=\"end\"");
  }
  svg.text({x1 + 20, y0 + 14}, "x, m", "font-size=\"10\"");
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string style = fmt::format("stroke=\"{}\" stroke-width=\"1.5\"", line_color(i));
    std::vector<Point> points;
    const auto draw = [&] {
      if (points.size() > 1) svg.polyline(points, style);
      points.clear();
    };
    const std::size_t rows = curves[i].x->size();
    const std::size_t stride = std::max<std::size_t>(1, rows / 2000);
    for (std::size_t k = 0; k < rows; k += stride) {
      const double a = (*curves[i].x)[k], b = (*curves[i].y)[k];
      if (!std::isfinite(a) || !std::isfinite(b)) {
        draw();
      } else {
        points.push_back(at(a, b));
      }
    }
    draw();
    const Point key(x1 + 8, y1 + 8 + 13 * static_cast<double>(i));
    svg.line(key, {key.x() + 14, key.y()}, style);
    svg.text({key.x() + 18, key.y() + 4}, curves[i].name, "font-size=\"10\"");
  }
}

}  // namespace limb::cli
