#include "cli/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace limb::cli {
namespace {

using Point = Svg::Point;

constexpr std::array kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                "#946c00", "#56b4e9", "#6a3d9a", "#444444"};
static_assert(kColors.size() == kMaxCurves);
/// Dashes of the curves of a chart without references, so that they also differ in black and white.
constexpr std::array kDashes = {"",     "9 3", "4 2",         "9 3 2 3",
                                "14 4", "2 2", "6 2 1 2 1 2", "14 3 4 3"};
static_assert(kDashes.size() == kMaxCurves);
constexpr const char* kReferenceDash = "6 4";
constexpr const char* kReferenceColor = "#1a1a1a";

constexpr double kLeft = 74, kRight = 14, kTitle = 26, kLegendRow = 20, kBottom = 44, kGap = 10;
constexpr double kKey = 26;  // px, of the sample of a line in a legend
constexpr double kFont = 14;

/// px, of a text of the usual size; an estimate for proportional fonts.
double text_width(std::string_view text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
  return 0.56 * kFont * static_cast<double>(letters);
}

/// 1, 2 or 5 times a power of ten, so that about `count` ticks fit.
double tick_step(double range, int count) {
  const double rough = range / count, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// Ticks of an axis: numbers with as many digits as the step needs, in units of a power of ten if
/// they are very large or small.
class Ticks {
 public:
  Ticks(const ChartRange& range, int count) {
    const double size = std::max(std::abs(range.low), std::abs(range.high));
    if (size >= 1e5 || size < 2e-3) {
      exponent_ = 3 * static_cast<int>(std::floor(std::log10(size) / 3));
    }
    const double factor = std::pow(10, exponent_);
    const double step = tick_step(range.high - range.low, count);
    const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step / factor) + 1e-9)));
    for (double i = std::ceil(range.low / step - 1e-9); i * step <= range.high * (1 + 1e-12); ++i) {
      // "-0" is 0.
      values_.emplace_back(i * step, fmt::format("{:.{}f}", i * step / factor + 0.0, digits));
    }
  }
  const std::vector<std::pair<double, std::string>>& values() const { return values_; }
  /// "10^-6 N m" for a label "N m".
  std::string label(const std::string& text) const {
    if (exponent_ == 0) return text;
    constexpr std::array kDigits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string power = exponent_ < 0 ? "10⁻" : "10";
    for (const char c : std::to_string(std::abs(exponent_))) {
      power += kDigits[static_cast<std::size_t>(c - '0')];
    }
    const std::size_t comma = text.rfind(", ");
    if (comma == text.npos) return power + " " + text;
    return text.substr(0, comma + 2) + power + " " + text.substr(comma + 2);
  }

 private:
  std::vector<std::pair<double, std::string>> values_;
  int exponent_ = 0;
};

/// The range of most values, if few are far outside of it: impacts do not set the scale.
ChartRange robust_range(std::vector<double> values) {
  std::erase_if(values, [](double x) { return !std::isfinite(x); });
  ChartRange all;
  for (const double x : values) all.add(x);
  if (values.size() < 50) return all;
  std::sort(values.begin(), values.end());
  constexpr double kTail = 0.005, kFar = 2.5;
  const auto skip = static_cast<std::size_t>(kTail * static_cast<double>(values.size()));
  ChartRange most;
  most.add(values[skip]);
  most.add(values[values.size() - 1 - skip]);
  if (most.high - most.low <= 0 || all.high - all.low <= kFar * (most.high - most.low)) return all;
  return most;
}

bool has_references(const Chart& chart) {
  return std::any_of(chart.lines.begin(), chart.lines.end(),
                     [](const ChartLine& line) { return line.reference; });
}

ChartRange value_range(const Chart& chart) {
  std::vector<double> values;
  for (const ChartBand& band : chart.bands) {
    values.insert(values.end(), band.low->begin(), band.low->end());
    values.insert(values.end(), band.high->begin(), band.high->end());
  }
  for (const ChartLine& line : chart.lines) {
    values.insert(values.end(), line.values->begin(), line.values->end());
  }
  return robust_range(std::move(values));
}

struct LineStyle {
  std::string color, dash;
  std::string attributes(double width) const {
    return fmt::format("stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{}", color,
                       width, dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
  }
};

/// Styles of all lines: lines that follow a reference are not dashed.
std::vector<LineStyle> styles_of(const Chart& chart) {
  std::vector<LineStyle> styles(chart.lines.size());
  const bool plain = has_references(chart);
  std::size_t next = 0;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    if (chart.lines[i].reference) continue;
    styles[i] = {line_color(next), plain ? "" : kDashes[next % kDashes.size()]};
    ++next;
  }
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    if (!chart.lines[i].reference) continue;
    const int follower = chart.lines[i].follower;
    // A single reference is dark; several have the colours of what follows them.
    const bool several = std::count_if(chart.lines.begin(), chart.lines.end(),
                                       [](const ChartLine& x) { return x.reference; }) > 1;
    styles[i] = {follower >= 0 && several ? styles[static_cast<std::size_t>(follower)].color
                                          : kReferenceColor,
                 kReferenceDash};
  }
  return styles;
}

/// A key with the attributes of its sample.
struct Key {
  std::string name;
  LegendKey::Kind kind;
  std::string attributes, color;
  std::size_t marker = 0;
};

/// Corners of the entries of a legend; wraps at the width of a chart.
std::vector<Point> legend_places(const std::vector<std::string>& names) {
  std::vector<Point> places;
  double x = kLeft, y = 0;
  for (const std::string& name : names) {
    const double width = kKey + 6 + text_width(name) + 16;
    if (x > kLeft && x + width > kChartWidth) {
      x = kLeft;
      y += kLegendRow;
    }
    places.emplace_back(x, y);
    x += width;
  }
  return places;
}

double height_of(const std::vector<Point>& places) {
  return places.empty() ? 0 : places.back().y() + kLegendRow + 4;
}

template <typename Keys>
std::vector<std::string> names_of(const Keys& keys) {
  std::vector<std::string> names;
  for (const auto& key : keys) names.push_back(key.name);
  return names;
}

/// The n-th marker, of eight.
void draw_marker(Svg& svg, const Point& p, std::size_t n, const std::string& color,
                 double r = 2.6) {
  const std::string fill = fmt::format("fill=\"{}\" fill-opacity=\"0.65\"", color);
  const auto corners = [&](std::initializer_list<Point> offsets) {
    std::vector<Point> points;
    for (const Point& x : offsets) points.push_back(p + r * x);
    svg.polygon(points, fill);
  };
  switch (n % 4) {
    case 0:
      svg.circle(p, r, fill);
      break;
    case 1:
      corners({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
      break;
    case 2:
      corners({{0, -1.3}, {1.15, 0.8}, {-1.15, 0.8}});
      break;
    default:
      corners({{0, -1.35}, {1.35, 0}, {0, 1.35}, {-1.35, 0}});
  }
}

void draw_keys(Svg& svg, const Point& corner, const std::vector<Key>& keys) {
  const std::vector<Point> places = legend_places(names_of(keys));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Point at = corner + places[i] + Point(0, 9);
    switch (keys[i].kind) {
      case LegendKey::Kind::line:
        svg.line(at, at + Point(kKey, 0), keys[i].attributes);
        break;
      case LegendKey::Kind::area:
        svg.rectangle(at - Point(0, 6), kKey, 12, keys[i].attributes);
        break;
      case LegendKey::Kind::dots:
        for (const double x : {5.0, 13.0, 21.0})
          draw_marker(svg, at + Point(x, 0), keys[i].marker, keys[i].color);
        break;
      case LegendKey::Kind::arrow:
        svg.arrow(at, at + Point(kKey, 0), 2, keys[i].color);
        break;
    }
    svg.text(at + Point(kKey + 6, 5), keys[i].name, chart_text());
  }
}

std::string area_attributes(const std::string& color) {
  return fmt::format("fill=\"{}\" fill-opacity=\"0.2\" stroke=\"none\"", color);
}

std::vector<Key> keys_of(const Chart& chart, const std::vector<LineStyle>& styles) {
  std::vector<Key> keys;
  bool followed = false;
  std::string reference;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const ChartLine& line = chart.lines[i];
    if (line.name.empty()) continue;
    // One entry for all references of the same name.
    if (line.reference && line.name == reference && followed) continue;
    LineStyle style = styles[i];
    if (line.reference) {
      followed = true;
      reference = line.name;
      const auto same = std::count_if(chart.lines.begin(), chart.lines.end(), [&](const auto& x) {
        return x.reference && x.name == line.name;
      });
      if (same > 1) style.color = kReferenceColor;
    }
    keys.push_back({line.name, LegendKey::Kind::line, style.attributes(2), style.color});
  }
  for (const ChartBand& band : chart.bands) {
    if (band.name.empty()) continue;
    keys.push_back({band.name, LegendKey::Kind::area,
                    area_attributes(styles.empty() ? line_color(0) : styles[band.line].color), ""});
  }
  return keys;
}

/// Runs of points without gaps, reduced to the smallest and largest value per pixel.
void draw_line(Svg& svg, const ChartAxes& axes, const ChartLine& line, const LineStyle& style) {
  const auto &t = *line.t, &y = *line.values;
  const std::string attributes = style.attributes(line.reference ? 1.8 : 1.6);
  const auto bins = static_cast<std::size_t>(axes.right() - axes.left());
  const std::size_t stride = std::max<std::size_t>(1, t.size() / bins);
  std::vector<Point> points;
  const auto draw = [&] {
    if (points.size() > 1) svg.polyline(points, attributes);
    if (points.size() == 1) svg.circle(points[0], 1.6, fmt::format("fill=\"{}\"", style.color));
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
    points.push_back(axes.at(t[k], falls ? *high : *low));
    if (stride > 1) points.push_back(axes.at(t[k], falls ? *low : *high));
  }
  draw();
}

void draw_band(Svg& svg, const ChartAxes& axes, const ChartBand& band, const std::string& color) {
  const auto &t = *band.t, &low = *band.low, &high = *band.high;
  const auto bins = static_cast<std::size_t>(axes.right() - axes.left());
  const std::size_t stride = std::max<std::size_t>(1, t.size() / bins);
  std::vector<Point> upper, lower;
  const auto draw = [&] {
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    if (upper.size() > 2) svg.polygon(upper, area_attributes(color));
    upper.clear();
    lower.clear();
  };
  for (std::size_t k = 0; k < t.size(); k += stride) {
    if (!std::isfinite(low[k]) || !std::isfinite(high[k])) {
      draw();
      continue;
    }
    upper.push_back(axes.at(t[k], high[k]));
    lower.push_back(axes.at(t[k], low[k]));
  }
  draw();
}

std::string with_unit(double value, const std::string& unit) {
  return fmt::format("{:.3g}{}", value, unit.empty() || unit == "1" ? "" : " " + unit);
}

/// Notes the largest value above and the smallest below the axis.
void draw_outliers(Svg& svg, const ChartAxes& axes, const Chart& chart, const ChartRange& range) {
  for (const bool above : {true, false}) {
    double worst = above ? range.high : range.low, at = 0;
    const ChartLine* found = nullptr;
    for (const ChartLine& line : chart.lines) {
      for (std::size_t k = 0; k < line.t->size(); ++k) {
        const double y = (*line.values)[k];
        if (!std::isfinite(y) || (above ? y <= worst : y >= worst)) continue;
        worst = y;
        at = (*line.t)[k];
        found = &line;
      }
    }
    if (found == nullptr) continue;
    const Point p = axes.at(at, above ? range.high : range.low);
    const double s = above ? 1 : -1;
    svg.polygon({p + Point(0, 1 * s), p + Point(5, 9 * s), p + Point(-5, 9 * s)},
                "fill=\"#b00020\"");
    const bool right = p.x() < (axes.left() + axes.right()) / 2;
    const bool named = chart.lines.size() > 1 && !found->name.empty();
    svg.text(p + Point(right ? 9 : -9, above ? 13 : -5),
             fmt::format("{} at {:.4g} {}{}", with_unit(worst, chart.unit), at,
                         chart.x_label.substr(chart.x_label.rfind(' ') + 1),
                         named ? ", " + found->name : ""),
             chart_text(right ? "start" : "end") +
                 " style=\"fill:#b00020;stroke:#fff;stroke-width:3px;paint-order:stroke\"");
  }
}

std::string axis_label(const std::string& unit) {
  if (unit.empty()) return "unit not logged";
  return unit == "1" ? "number" : unit;
}

void draw_chart(Svg& svg, const Point& corner, const Chart& chart) {
  const std::vector<LineStyle> styles = styles_of(chart);
  const std::vector<Key> keys = keys_of(chart, styles);
  svg.text(corner + Point(4, 18), chart.title, chart_title());
  draw_keys(svg, corner + Point(0, kTitle), keys);
  const double top = corner.y() + kTitle + height_of(legend_places(names_of(keys)));
  ChartRange time, values = chart.values ? *chart.values : value_range(chart);
  for (const ChartLine& line : chart.lines) {
    for (const double t : *line.t) time.add(t);
  }
  time.widen(0.015);
  values.widen(0.08);
  const ChartAxes axes(svg, corner.x(), kChartWidth, top, top + chart.height, time, values,
                       chart.x_label, axis_label(chart.unit));
  axes.begin();
  for (const ChartBand& band : chart.bands) {
    draw_band(svg, axes, band, styles.empty() ? line_color(0) : styles[band.line].color);
  }
  for (const bool reference : {false, true}) {
    for (std::size_t i = 0; i < chart.lines.size(); ++i) {
      if (chart.lines[i].reference == reference) draw_line(svg, axes, chart.lines[i], styles[i]);
    }
  }
  axes.end();
  draw_outliers(svg, axes, chart, values);
}

std::vector<Key> keys_of(const PlaneChart& chart) {
  std::vector<Key> keys;
  for (const PlaneChart::Series& one : chart.series) {
    if (one.name.empty()) continue;
    const std::string color = one.reference ? kReferenceColor : line_color(one.color);
    switch (one.kind) {
      case PlaneChart::Kind::line:
        keys.push_back({one.name, LegendKey::Kind::line,
                        LineStyle{color, one.reference ? kReferenceDash : ""}.attributes(2),
                        color});
        break;
      case PlaneChart::Kind::dots:
        keys.push_back({one.name, LegendKey::Kind::dots, "", color, one.color});
        break;
      case PlaneChart::Kind::area:
        keys.push_back({one.name, LegendKey::Kind::area, area_attributes(color), color});
        break;
    }
  }
  return keys;
}

void draw_series(Svg& svg, const ChartAxes& axes, const PlaneChart::Series& one) {
  const std::string color = one.reference ? kReferenceColor : line_color(one.color);
  const std::string line =
      LineStyle{color, one.reference ? kReferenceDash : ""}.attributes(one.reference ? 1.8 : 1.6);
  std::vector<Point> points;
  const auto draw = [&] {
    if (one.kind == PlaneChart::Kind::area && !points.empty()) {
      svg.polygon(points, fmt::format("fill=\"{0}\" fill-opacity=\"0.2\" stroke=\"{0}\" "
                                      "stroke-width=\"1.4\" stroke-linejoin=\"round\"",
                                      color));
    } else if (points.size() > 1) {
      svg.polyline(points, line);
    }
    points.clear();
  };
  constexpr std::size_t kMost = 2000;
  const std::size_t stride = std::max<std::size_t>(1, one.points.size() / kMost);
  for (std::size_t k = 0; k < one.points.size(); k += stride) {
    const Point& p = one.points[k];
    if (!p.allFinite()) {
      draw();
    } else if (one.kind == PlaneChart::Kind::dots) {
      // Few points are places, many are a cloud.
      draw_marker(svg, axes.at(p.x(), p.y()), one.color, color, one.points.size() < 10 ? 5 : 2.6);
    } else {
      points.push_back(axes.at(p.x(), p.y()));
    }
  }
  draw();
}

void draw_plane(Svg& svg, const Point& corner, const PlaneChart& chart) {
  const std::vector<Key> keys = keys_of(chart);
  svg.text(corner + Point(4, 18), chart.title, chart_title());
  draw_keys(svg, corner + Point(0, kTitle), keys);
  const double top = corner.y() + kTitle + height_of(legend_places(names_of(keys)));
  std::vector<double> xs, ys;
  for (const PlaneChart::Series& one : chart.series) {
    if (one.reference) continue;
    for (const Point& p : one.points) {
      if (!p.allFinite()) continue;
      xs.push_back(p.x());
      ys.push_back(p.y());
    }
  }
  ChartRange x, y;
  if (chart.equal_scales) {
    for (const double one : xs) x.add(one);
    for (const double one : ys) y.add(one);
    x.widen(0.06);
    y.widen(0.06);
    // The same number of pixels per unit along both axes.
    const double width = kChartWidth - kLeft - kRight;
    const double unit = std::max((x.high - x.low) / width, (y.high - y.low) / chart.height);
    const auto stretch = [&](ChartRange& range, double pixels) {
      const double middle = (range.low + range.high) / 2;
      range.low = middle - unit * pixels / 2;
      range.high = middle + unit * pixels / 2;
    };
    stretch(x, width);
    stretch(y, chart.height);
  } else {
    x = robust_range(xs);
    y = robust_range(ys);
    x.add(0);
    y.add(0);
    y.add(chart.least_y);
    x.widen(0.06);
    y.widen(0.06);
  }
  const ChartAxes axes(svg, corner.x(), kChartWidth, top, top + chart.height, x, y, chart.x_label,
                       chart.y_label);
  axes.begin();
  for (const bool reference : {false, true}) {
    for (const PlaneChart::Series& one : chart.series) {
      if (one.reference == reference) draw_series(svg, axes, one);
    }
  }
  axes.end();
  const auto outside = static_cast<std::size_t>(
      std::count_if(xs.begin(), xs.end(), [&](double v) { return v < x.low || v > x.high; }));
  const double largest = xs.empty() ? 0 : *std::max_element(xs.begin(), xs.end());
  if (outside > 0) {
    svg.text({axes.right() - 6, top + chart.height - 8},
             fmt::format("{} of {} points beyond, up to {:.3g}", outside, xs.size(), largest),
             chart_text("end") +
                 " style=\"fill:#b00020;stroke:#fff;stroke-width:3px;paint-order:stroke\"");
  }
}

/// Names that belong together have the same start: "LF_hip", "LF_knee".
std::string prefix_of(const std::string& name) {
  return name.substr(0, name.find_first_of("_. "));
}

/// Splits indices of lines into charts of at most `most`, without tearing limbs apart if possible.
std::vector<std::vector<std::size_t>> split(const std::vector<std::string>& names,
                                            std::size_t most) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::string, std::size_t> by_prefix;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [found, is_new] = by_prefix.emplace(prefix_of(names[i]), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  const bool fits =
      groups.size() > 1 && std::all_of(groups.begin(), groups.end(),
                                       [&](const auto& group) { return group.size() <= most; });
  std::vector<std::vector<std::size_t>> charts(1);
  if (!fits) {
    // Charts of nearly the same size.
    const std::size_t count = (names.size() + most - 1) / most;
    charts.resize(count);
    for (std::size_t i = 0; i < names.size(); ++i) charts[i * count / names.size()].push_back(i);
    return charts;
  }
  for (const auto& group : groups) {
    if (charts.back().size() + group.size() > most) charts.emplace_back();
    charts.back().insert(charts.back().end(), group.begin(), group.end());
  }
  return charts;
}

}  // namespace

std::string chart_text(const char* anchor) {
  return fmt::format("font-size=\"{:g}\" fill=\"#222\" text-anchor=\"{}\"", kFont, anchor);
}

std::string chart_title() {
  return "font-size=\"16\" font-weight=\"bold\" fill=\"#111\"";
}

double round_length(double length) {
  const double power = std::pow(10, std::floor(std::log10(length)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= length) return factor * power;
  }
  return power;
}

const char* line_color(std::size_t i) {
  return kColors[i % kColors.size()];
}

void ChartRange::add(double x) {
  if (!std::isfinite(x)) return;
  low = any ? std::min(low, x) : x;
  high = any ? std::max(high, x) : x;
  any = true;
}

void ChartRange::widen(double margin) {
  const double size = std::max(std::abs(low), std::abs(high));
  const double least = size > 0 ? 1e-4 * size : 1;  // numbers of five digits fit beside the axis
  if (high - low < least) {
    low -= least;
    high += least;
  }
  const double more = margin * (high - low);
  low -= more;
  high += more;
}

ChartAxes::ChartAxes(Svg& svg, double left, double width, double top, double bottom,
                     const ChartRange& x, const ChartRange& y, const std::string& x_label,
                     const std::string& y_label)
    : svg_(svg),
      left_(left + kLeft),
      right_(left + width - kRight),
      top_(top),
      bottom_(bottom),
      x_(x),
      y_(y) {
  svg.rectangle({left_, top_}, right_ - left_, bottom_ - top_, "fill=\"#fff\" stroke=\"#888\"");
  const Ticks rows(y, std::max(3, static_cast<int>((bottom_ - top_) / 26)));
  for (const auto& [value, text] : rows.values()) {
    if (y_label.empty()) break;
    const Point p = at(x_.low, value);
    svg.line(p, {right_, p.y()}, value == 0 ? "stroke=\"#bbb\"" : "stroke=\"#e6e6e6\"");
    svg.text(p + Point(-6, 5), text, chart_text("end"));
  }
  const Ticks columns(x, std::max(3, static_cast<int>((right_ - left_) / 70)));
  for (const auto& [value, text] : columns.values()) {
    const Point p = at(value, y_.low);
    svg.line(p, {p.x(), top_}, "stroke=\"#e6e6e6\"");
    svg.text(p + Point(0, 18), text, chart_text("middle"));
  }
  svg.text({(left_ + right_) / 2, bottom_ + 36}, columns.label(x_label), chart_text("middle"));
  const double middle = (top_ + bottom_) / 2, edge = left + 16;
  if (y_label.empty()) return;
  svg.text(
      {edge, middle}, rows.label(y_label),
      chart_text("middle") + fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", edge, middle));
}

Point ChartAxes::at(double x, double y) const {
  return {left_ + (x - x_.low) / (x_.high - x_.low) * (right_ - left_),
          bottom_ + (y - y_.low) / (y_.high - y_.low) * (top_ - bottom_)};
}

void ChartAxes::begin() const {
  svg_.begin_clip({left_, top_}, right_ - left_, bottom_ - top_);
}

void ChartAxes::end() const {
  svg_.end_clip();
}

double legend_height(const std::vector<LegendKey>& keys) {
  return height_of(legend_places(names_of(keys)));
}

void draw_legend(Svg& svg, const Point& corner, const std::vector<LegendKey>& keys) {
  std::vector<Key> drawn;
  for (const LegendKey& key : keys) {
    const std::string color = line_color(key.color);
    drawn.push_back({key.name, key.kind,
                     key.kind == LegendKey::Kind::area ? fmt::format("fill=\"{}\"", color)
                                                       : LineStyle{color, key.dash}.attributes(2),
                     color});
  }
  draw_keys(svg, corner, drawn);
}

void Figure::add(double height, std::function<void(Svg& svg, const Point& corner)> draw) {
  parts_.push_back({height, std::move(draw)});
}

void Figure::add_one(Chart chart) {
  const double legend = height_of(legend_places(names_of(keys_of(chart, styles_of(chart)))));
  const double height = kTitle + legend + chart.height + kBottom + kGap;
  add(height, [chart = std::move(chart)](Svg& svg, const Point& corner) {
    draw_chart(svg, corner, chart);
  });
}

void Figure::add(Chart chart) {
  std::vector<std::size_t> followers;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    // A reference without follower belongs to every chart.
    if (chart.lines[i].reference && chart.lines[i].follower >= 0) continue;
    if (chart.lines[i].reference) continue;
    followers.push_back(i);
    names.push_back(chart.lines[i].name);
  }
  const bool references = has_references(chart);
  const std::size_t most = references ? kMaxCurves / 2 : kMaxCurves;
  if (followers.size() <= most) {
    add_one(std::move(chart));
    return;
  }
  const auto parts = split(names, most);
  const ChartRange range = value_range(chart);
  for (std::size_t n = 0; n < parts.size(); ++n) {
    Chart part = chart;
    part.title = fmt::format("{} ({} of {})", chart.title, n + 1, parts.size());
    part.values = range;
    part.lines.clear();
    part.bands.clear();
    for (const std::size_t name : parts[n]) {
      const std::size_t old = followers[name];
      const auto now = part.lines.size();
      part.lines.push_back(chart.lines[old]);
      for (ChartBand band : chart.bands) {
        if (band.line != old) continue;
        band.line = now;
        part.bands.push_back(band);
      }
    }
    for (std::size_t k = 0; k < parts[n].size(); ++k) {
      for (ChartLine line : chart.lines) {
        if (!line.reference || line.follower != static_cast<int>(followers[parts[n][k]])) continue;
        line.follower = static_cast<int>(k);
        part.lines.push_back(line);
      }
    }
    for (const ChartLine& line : chart.lines) {
      if (line.reference && line.follower < 0) part.lines.push_back(line);
    }
    add_one(std::move(part));
  }
}

void Figure::add(PlaneChart chart) {
  const double legend = height_of(legend_places(names_of(keys_of(chart))));
  const double height = kTitle + legend + chart.height + kBottom + kGap;
  add(height, [chart = std::move(chart)](Svg& svg, const Point& corner) {
    draw_plane(svg, corner, chart);
  });
}

std::string Figure::svg(const std::string& title, const std::string& description) const {
  double height = 0;
  for (const Part& part : parts_) height += part.height;
  Svg svg(kChartWidth, height, title, description);
  svg.rectangle({0, 0}, kChartWidth, height, "fill=\"#fff\"");
  double y = 0;
  for (const Part& part : parts_) {
    part.draw(svg, {0, y});
    y += part.height;
  }
  return svg.finish();
}

}  // namespace limb::cli
