#include "cli/contact_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/plane_hull.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"

namespace limb::cli {
namespace {

using Point = Svg::Point;
using Kind = PlaneChart::Kind;

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
    const std::string name = contact.fields[i].substr(0, contact.fields[i].size() - kEnd.size());
    const bool complete = values_of(contact, name + ".tangential") != nullptr &&
                          values_of(contact, name + ".bound") != nullptr;
    if (complete) names.push_back(name);
  }
  return names;
}

/// Tangential over normal forces of the feet, and the largest friction cone.
PlaneChart cone_chart(const LogSeries& contact, const std::vector<std::string>& names) {
  PlaneChart chart;
  chart.title = "Contact forces in their friction cone";
  chart.x_label = "normal force, N";
  chart.y_label = "tangential force, N";
  chart.equal_scales = false;
  chart.height = 200;
  double mu = 0, largest = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto &normal = *values_of(contact, names[i] + ".normal"),
               &tangential = *values_of(contact, names[i] + ".tangential"),
               &bound = *values_of(contact, names[i] + ".bound");
    // Links beyond the eighth share one entry.
    const std::size_t slot = std::min(i, kMaxCurves - 1);
    if (slot == chart.series.size()) {
      const bool others = slot + 1 == kMaxCurves && names.size() > kMaxCurves;
      chart.series.push_back(
          {others ? fmt::format("{} other links", names.size() - slot) : names[i],
           Kind::dots,
           {},
           slot});
    }
    const std::size_t every = std::max<std::size_t>(1, normal.size() / 300);
    for (std::size_t k = 0; k < normal.size(); k += every) {
      if (!(normal[k] > 0)) continue;
      chart.series[slot].points.emplace_back(normal[k], tangential[k]);
      mu = std::max(mu, bound[k] / normal[k]);
      largest = std::max(largest, normal[k]);
    }
  }
  // Rounding errors of forces without friction do not fill the chart.
  chart.least_y = 0.02 * largest;
  if (mu > 0) {
    chart.series.push_back({fmt::format("friction {:.3g} times normal force", mu),
                            Kind::line,
                            {Point(0, 0), Point(largest, mu * largest)},
                            0,
                            true});
  }
  return chart;
}

/// Corners of the soles that touch in a row of the log.
std::vector<std::vector<Point>> soles_at(const LogScene& scene, const LogSeries& state,
                                         const LogSeries& contact, std::size_t row,
                                         const std::vector<std::string>& names) {
  const int nq = scene.model.nq();
  VectorX<double> q(nq);
  for (int i = 0; i < nq; ++i) q[i] = state.values[static_cast<std::size_t>(i)][row];
  if (!q.allFinite()) return {};
  Kinematics<double> kinematics(scene.model);
  forward_kinematics(scene.model, q, kinematics);
  std::vector<std::vector<Point>> soles;
  for (const std::string& name : names) {
    const double normal = (*values_of(contact, name + ".normal"))[row];
    if (!(normal > 0)) continue;
    // The lowest of all solids of this foot or link.
    std::vector<Point> corners;
    double lowest = 1e300;
    for (const Solid& solid : scene.solids) {
      if (solid.name != name) continue;
      const auto points = lowest_points(solid, kinematics.X_WB[solid.body],
                                        scene.ground ? &*scene.ground : nullptr);
      double low = 1e300;
      for (const auto& p : points) low = std::min(low, p.z());
      constexpr double kSlack = 0.003;  // m
      if (low < lowest - kSlack) corners.clear();
      lowest = std::min(lowest, low);
      if (low > lowest + kSlack) continue;
      for (const auto& p : points) corners.push_back(p.head<2>());
    }
    if (!corners.empty()) soles.push_back(plane_hull(std::move(corners)));
  }
  return soles;
}

PlaneChart support_chart(const LogData& log, const LogScene* scene,
                         const std::vector<std::string>& names) {
  const LogSeries &contact = *log.find("contact"), &support = *log.find("support");
  PlaneChart chart;
  chart.title = "Support, from above";
  chart.x_label = "x, m";
  chart.y_label = "y, m";
  chart.height = 230;
  // The last row in which something touches.
  std::size_t row = contact.t.size();
  const auto touches = [&](std::size_t k) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return (*values_of(contact, name + ".normal"))[k] > 0;
    });
  };
  while (row > 0 && !touches(row - 1)) --row;
  if (row == 0) return chart;
  --row;
  std::vector<std::vector<Point>> soles;
  const LogSeries* state = log.find("state");
  if (scene != nullptr && state != nullptr && state->t.size() == contact.t.size() &&
      static_cast<int>(state->values.size()) >= scene->model.nq()) {
    soles = soles_at(*scene, *state, contact, row, names);
  }
  const bool points = soles.empty();
  if (points) {
    for (const std::string& name : names) {
      const auto *x = values_of(support, name + ".x"), *y = values_of(support, name + ".y");
      if (x == nullptr || y == nullptr || row >= x->size()) continue;
      if ((*values_of(contact, name + ".normal"))[row] > 0) {
        soles.push_back({Point((*x)[row], (*y)[row])});
      }
    }
  }
  std::vector<Point> corners;
  for (const auto& sole : soles) {
    for (const Point& p : sole) {
      if (p.allFinite()) corners.push_back(p);
    }
  }
  const std::string when = fmt::format("at {:.3g} s", contact.t[row]);
  chart.series.push_back(
      {points ? "support polygon " + when + ", feet as points" : "support polygon " + when,
       Kind::area, plane_hull(corners), 5});
  const bool flat =
      std::any_of(soles.begin(), soles.end(), [](const auto& sole) { return sole.size() > 2; });
  for (std::size_t i = 0; flat && i < soles.size(); ++i) {
    chart.series.push_back({i == 0 ? "soles" : "", Kind::area, soles[i], 7});
  }
  std::vector<Point> path;
  const auto *x = values_of(support, "pressure.x"), *y = values_of(support, "pressure.y");
  for (std::size_t k = 0; x != nullptr && y != nullptr && k < x->size(); ++k) {
    path.emplace_back((*x)[k], (*y)[k]);
  }
  const Point last = row < path.size() ? path[row] : Point(std::nan(""), 0);
  chart.series.push_back({"centre of pressure", Kind::line, std::move(path), 1});
  if (!flat) chart.series.push_back({"feet " + when, Kind::dots, corners, 0});
  chart.series.push_back({"centre of pressure " + when, Kind::dots, {last}, 1});
  return chart;
}

}  // namespace

bool has_contact(const LogData& log) {
  return log.find("contact") != nullptr && log.find("support") != nullptr &&
         !contact_names(*log.find("contact")).empty();
}

void add_contact_charts(Figure& figure, const LogData& log, const LogScene* scene) {
  const std::vector<std::string> names = contact_names(*log.find("contact"));
  figure.add(cone_chart(*log.find("contact"), names));
  figure.add(support_chart(log, scene, names));
}

}  // namespace limb::cli
