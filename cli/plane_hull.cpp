#include "cli/plane_hull.hpp"

#include <algorithm>

namespace limb::cli {

using Point = Svg::Point;

// Andrew's monotone chain.
std::vector<Point> plane_hull(std::vector<Point> p) {
  if (p.size() < 3) return p;
  std::sort(p.begin(), p.end(), [](const Point& a, const Point& b) {
    return a.x() < b.x() || (a.x() == b.x() && a.y() < b.y());
  });
  const auto orientation = [](const Point& a, const Point& b, const Point& c) {
    return (b.x() - a.x()) * (c.y() - a.y()) - (b.y() - a.y()) * (c.x() - a.x());
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

}  // namespace limb::cli
