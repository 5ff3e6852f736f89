#include "cli/contact_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/chart.hpp"

namespace limb::cli {
namespace {

using Point = Svg::Point;

/// Values of one field, or null if it does not exist.
const std::vector<double>* values_of(const LogSeries& series, const std::string& field) {
  const auto found = std::find(series.fields.begin(), series.fields.end(), field);
  return found == series.fields.end()
             ? nullptr
             : &series.values[static_cast<std::size_t>(found - series.fields.begin())];
}

/// Names of the feet or links that were ever in contact.
std::vector<std::string> contact_names(const LogSeries& contact) {
  std::vector<std::string> names;
  constexpr std::string_view kEnd = ".normal";
  for (std::size_t i = 0; i < contact.fields.size(); ++i) {
    if (!contact.fields[i].ends_with(kEnd)) continue;
    const auto& x = contact.values[i];
    if (std::none_of(x.begin(), x.end(), [](double y) { return y > 0; })) continue;
    names.push_back(contact.fields[i].substr(0, contact.fields[i].size() - kEnd.size()));
  }
  return names;
}

/// 1, 2 or 5 times a power of ten, about a fifth of the range.
double tick_of(double range) {
  const double rough = std::max(range, 1e-9) / 5,
               power = std::pow(10, std::floor(std::log10(rough)));
  for (const double k : {1.0, 2.0, 5.0}) {
    if (k * power >= rough) return k * power;
  }
  return 10 * power;
}

constexpr const char* kSmall = "font-size=\"11\" fill=\"#444\"";

void draw_cone(Svg& svg, const Point& corner, double width, double height, const LogSeries& contact,
               const std::vector<std::string>& names) {
  const double left = corner[0] + 60, right = corner[0] + width - 16, top = corner[1] + 34,
               bottom = corner[1] + height - 34;
  double largest = 1e-9, mu = 0, high = 1e-9;
  for (const std::string& name : names) {
    const auto &normal = *values_of(contact, name + ".normal"),
               &tangential = *values_of(contact, name + ".tangential"),
               &bound = *values_of(contact, name + ".bound");
    for (std::size_t k = 0; k < normal.size(); ++k) {
      if (!(normal[k] > 0)) continue;
      largest = std::max(largest, normal[k]);
      high = std::max({high, tangential[k]});
      mu = std::max(mu, bound[k] / normal[k]);
    }
  }
  high = std::max(high, mu * largest);
  const auto at = [&](double x, double y) {
    return Point(left + x / largest * (right - left), bottom - y / high * (bottom - top));
  };
  svg.text({corner[0] + 12, corner[1] + 20}, "Friction over normal force, N; the line is the cone",
           "font-size=\"14\" fill=\"#222\"");
  svg.rectangle({left, top}, right - left, bottom - top, "fill=\"none\" stroke=\"#ccc\"");
  const double step = tick_of(largest), rise = tick_of(high);
  for (double x = 0; x <= largest; x += step) {
    svg.text(at(x, 0) + Point(0, 15), fmt::format("{:g}", x),
             fmt::format("{} text-anchor=\"middle\"", kSmall));
  }
  for (double y = 0; y <= high; y += rise) {
    svg.text(at(0, y) + Point(-6, 4), fmt::format("{:g}", y),
             fmt::format("{} text-anchor=\"end\"", kSmall));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto &normal = *values_of(contact, names[i] + ".normal"),
               &tangential = *values_of(contact, names[i] + ".tangential");
    const std::size_t every = std::max<std::size_t>(1, normal.size() / 400);
    for (std::size_t k = 0; k < normal.size(); k += every) {
      if (!(normal[k] > 0)) continue;
      svg.circle(at(normal[k], tangential[k]), 2,
                 fmt::format("fill=\"{}\" fill-opacity=\"0.6\"", line_color(i)));
    }
    if (i < 6) {
      svg.text({left + 8, top + 16 + 14 * static_cast<double>(i)}, names[i],
               fmt::format("font-size=\"11\" fill=\"{}\"", line_color(i)));
    }
  }
  if (mu > 0) svg.line(at(0, 0), at(largest, mu * largest), "stroke=\"#222\" stroke-width=\"1.5\"");
}

/// Corners of the convex hull, anticlockwise. [Andrew's monotone chain]
std::vector<Point> hull(std::vector<Point> p) {
  if (p.size() < 3) return p;
  std::sort(p.begin(), p.end(), [](const Point& a, const Point& b) {
    return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
  });
  const auto orientation = [](const Point& a, const Point& b, const Point& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  };
  std::vector<Point> h;
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t start = h.size();
    for (const Point& x : p) {
      while (h.size() >= start + 2 && orientation(h[h.size() - 2], h.back(), x) <= 0) h.pop_back();
      h.push_back(x);
    }
    h.pop_back();
    std::reverse(p.begin(), p.end());
  }
  return h;
}

void draw_support(Svg& svg, const Point& corner, double width, double height,
                  const LogSeries& support, const std::vector<std::string>& names) {
  std::vector<Point> path, feet;
  const auto collect = [&](const std::string& name, bool last, std::vector<Point>& out) {
    const auto *x = values_of(support, name + ".x"), *y = values_of(support, name + ".y");
    if (x == nullptr || y == nullptr) return;
    for (std::size_t k = last ? x->size() - 1 : 0; k < x->size(); ++k) {
      if (std::isfinite((*x)[k]) && std::isfinite((*y)[k])) out.push_back({(*x)[k], (*y)[k]});
    }
  };
  collect("pressure", false, path);
  for (const std::string& name : names) collect(name, true, feet);
  svg.text({corner[0] + 12, corner[1] + 20}, "From above, m: centre of pressure, support polygon",
           "font-size=\"14\" fill=\"#222\"");
  std::vector<Point> all = path;
  all.insert(all.end(), feet.begin(), feet.end());
  if (all.empty()) return;
  Point low = all[0], high = all[0];
  for (const Point& p : all) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const double left = corner[0] + 60, top = corner[1] + 34, w = width - 76, h = height - 68;
  const double scale =
      0.9 * std::min(w / std::max(high[0] - low[0], 1e-3), h / std::max(high[1] - low[1], 1e-3));
  const Point middle = (low + high) / 2, center(left + w / 2, top + h / 2);
  const auto at = [&](const Point& p) {
    return Point(center[0] + scale * (p[0] - middle[0]), center[1] - scale * (p[1] - middle[1]));
  };
  svg.rectangle({left, top}, w, h, "fill=\"none\" stroke=\"#ccc\"");
  std::vector<Point> polygon;
  for (const Point& p : hull(feet)) polygon.push_back(at(p));
  if (polygon.size() > 1) polygon.push_back(polygon.front());
  svg.polyline(polygon, "stroke=\"#446\" stroke-width=\"1.2\"");
  std::vector<Point> line;
  const std::size_t every = std::max<std::size_t>(1, path.size() / 600);
  for (std::size_t k = 0; k < path.size(); k += every) line.push_back(at(path[k]));
  svg.polyline(line, "stroke=\"#c44\" stroke-width=\"1\"");
  for (const Point& p : feet) svg.circle(at(p), 4, "fill=\"#446\"");
  if (!path.empty()) svg.circle(at(path.back()), 4, "fill=\"#c00\"");
  for (int axis = 0; axis < 2; ++axis) {
    const double range = (axis == 0 ? w : h) / scale, step = tick_of(range);
    const double begin = middle[axis] - range / 2, end = middle[axis] + range / 2;
    for (double x = std::ceil(begin / step) * step; x <= end; x += step) {
      const std::string text = fmt::format("{:g}", std::abs(x) < 1e-12 ? 0 : x);
      if (axis == 0) {
        svg.text({at({x, 0})[0], top + h + 15}, text,
                 fmt::format("{} text-anchor=\"middle\"", kSmall));
      } else {
        svg.text({left - 6, at({0, x})[1] + 4}, text,
                 fmt::format("{} text-anchor=\"end\"", kSmall));
      }
    }
  }
}

}  // namespace

bool has_contact(const LogData& log) {
  return log.find("contact") != nullptr && log.find("support") != nullptr &&
         !contact_names(*log.find("contact")).empty();
}

void draw_contact(Svg& svg, const Point& corner, double width, double height, const LogData& log) {
  const LogSeries &contact = *log.find("contact"), &support = *log.find("support");
  const std::vector<std::string> names = contact_names(contact);
  draw_cone(svg, corner, width / 2, height, contact, names);
  draw_support(svg, corner + Point(width / 2, 0), width / 2, height, support, names);
}

}  // namespace limb::cli
