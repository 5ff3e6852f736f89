#include "cli/estimate_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <numbers>

#include "cli/chart.hpp"
#include "cli/report_page.hpp"

namespace limb::cli {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

std::vector<double> scaled(const std::vector<double>& x, double factor) {
  std::vector<double> y(x);
  for (double& one : y) one *= factor;
  return y;
}

using Values = std::vector<double>;

constexpr double kLane = 26;  // px, of a lane of the time line

/// One lane per foot: contact, slips, refusals (by the gate), and the events of the estimator.
class TimeLine {
 public:
  TimeLine(const EstimateSummary& summary, const std::vector<std::string>& feet)
      : s_(summary), feet_(feet) {}
  double height() const { return 26 + legend_height(kLegend) + lanes() + 54; }
  void draw(Svg& svg, const Svg::Point& corner) const;

 private:
  /// Colours of the legend.
  enum Mark : std::size_t { kContact = 0, kRefused = 4, kSlip = 1, kGap = 5, kWidened = 3 };
  static const std::vector<LegendKey> kLegend;
  double lanes() const { return kLane * static_cast<double>(feet_.size() + 1) + 6; }

  const EstimateSummary& s_;
  const std::vector<std::string>& feet_;
};

const std::vector<LegendKey> TimeLine::kLegend = {
    {"contact", LegendKey::Kind::area, kContact},
    {"refused by the gate", LegendKey::Kind::area, kRefused},
    {"slip, re-anchored", LegendKey::Kind::area, kSlip},
    {"IMU gap", LegendKey::Kind::area, kGap},
    {"bias changed", LegendKey::Kind::area, kWidened}};

void TimeLine::draw(Svg& svg, const Svg::Point& corner) const {
  const EstimateSeries& x = s_.series;
  svg.text(corner + Svg::Point(4, 18), "Feet and events", chart_title());
  draw_legend(svg, corner + Svg::Point(0, 26), kLegend);
  const double top = corner.y() + 26 + legend_height(kLegend);
  const double begin = x.t.front(), end = std::max(x.t.back(), begin + 1e-9);
  ChartRange time{begin, end, true};
  time.widen(0.015);
  // Lanes count downwards; their names replace the numbers of the axis.
  const ChartAxes axes(svg, corner.x(), kChartWidth, top, top + lanes(), time, {0, 1, true}, "t, s",
                       "");
  const auto at = [&](double t) { return axes.at(t, 0).x(); };
  const auto lane = [&](std::size_t i) { return top + 6 + kLane * static_cast<double>(i); };
  const auto name = [&](std::size_t i, const std::string& text) {
    svg.text({axes.left() - 6, lane(i) + 15}, text.substr(0, 9), chart_text("end"));
  };
  const auto mark = [&](double t, std::size_t i, std::size_t color, double width) {
    svg.line({at(t), lane(i)}, {at(t), lane(i) + kLane - 8},
             fmt::format("stroke=\"{}\" stroke-width=\"{}\"", line_color(color), width));
  };
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    name(i, feet_[i]);
    for (std::size_t k = 0; k < x.t.size();) {
      std::size_t last = k;
      while (last < x.t.size() && x.contact[i][last] == x.contact[i][k]) ++last;
      if (x.contact[i][k] > 0) {
        const double to = last < x.t.size() ? x.t[last] : end;
        svg.rectangle({at(x.t[k]), lane(i)}, std::max(0.5, at(to) - at(x.t[k])), kLane - 8,
                      fmt::format("fill=\"{}\" fill-opacity=\"0.5\"", line_color(kContact)));
      }
      k = last;
    }
    // Innovations beyond the gate; at most one mark per pixel.
    double marked = -1;
    for (std::size_t k = 0; k < x.t.size(); ++k) {
      if (!(x.nis[i][k] > s_.gate) || at(x.t[k]) - marked < 1) continue;
      marked = at(x.t[k]);
      mark(x.t[k], i, kRefused, 1);
    }
  }
  name(feet_.size(), "events");
  for (const auto& event : s_.events) {
    if (event.t < begin || event.t > end) continue;
    const bool of_foot = event.foot >= 0 && event.kind == EstimatorEvent::slip;
    const bool of_bias =
        event.kind == EstimatorEvent::biases_widened || event.kind == EstimatorEvent::bias_step;
    const std::size_t color = event.kind == EstimatorEvent::imu_gap ? kGap
                              : of_bias                             ? kWidened
                                                                    : kSlip;
    mark(event.t, of_foot ? static_cast<std::size_t>(event.foot) : feet_.size(), color, 2);
  }
}

}  // namespace

std::string estimate_charts(const EstimateSummary& s, const std::vector<std::string>& feet) {
  const EstimateSeries& x = s.series;
  std::deque<Values> own;  // curves that are not in the summary
  const auto keep = [&](Values values) {
    own.push_back(std::move(values));
    return &own.back();
  };
  Figure figure;
  PlaneChart map{"Map: path of the base", "x, m", "y, m", {}, 300};
  const auto path = [](const Values& a, const Values& b) {
    std::vector<Svg::Point> points;
    for (std::size_t k = 0; k < a.size(); ++k) points.emplace_back(a[k], b[k]);
    return points;
  };
  map.series.push_back({s.smoothed ? "smoothed" : "estimate", PlaneChart::Kind::line,
                        path(x.value[0], x.value[1]), 0});
  if (s.has_truth) {
    map.series.push_back({"truth", PlaneChart::Kind::line, path(x.truth[0], x.truth[1]), 0, true});
  }
  figure.add(std::move(map));
  const TimeLine time_line(s, feet);
  figure.add(time_line.height(),
             [&](Svg& svg, const Svg::Point& corner) { time_line.draw(svg, corner); });
  const char* parts[] = {"position", "rotation", "velocity"};
  const char* units[] = {"m", "deg", "m/s"};
  const char* axes[3][3] = {{"x", "y", "z"}, {"about x", "about y", "about z"}, {"x", "y", "z"}};
  const char* angles[] = {"Roll", "Pitch", "Yaw"};
  const char* titles[] = {"Position", "", "Velocity"};
  for (std::size_t part = 0; part < 3; ++part) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = 3 * part + k;
      const double factor = part == 1 ? 1 / kDegree : 1;
      // Errors with their band about zero, or the estimate with its own.
      const Values middle = scaled(s.has_truth ? x.error[i] : x.value[i], factor);
      Values low(middle.size()), high(middle.size());
      for (std::size_t row = 0; row < middle.size(); ++row) {
        const double center = s.has_truth ? 0 : middle[row], width = 3 * factor * x.sigma[i][row];
        low[row] = center - width;
        high[row] = center + width;
      }
      const std::string title = s.has_truth
                                    ? fmt::format("Error of {} {}", parts[part], axes[part][k])
                                : part == 1 ? std::string(angles[k])
                                            : fmt::format("{} {}", titles[part], axes[part][k]);
      Chart chart{title,
                  units[part],
                  {{s.has_truth  ? "error"
                    : s.smoothed ? "smoothed"
                                 : "estimate",
                    &x.t, keep(middle)}}};
      chart.bands = {{"3 sigma", &x.t, keep(std::move(low)), keep(std::move(high))}};
      chart.height = 120;
      figure.add(std::move(chart));
    }
  }
  for (std::size_t part = 0; part < 2; ++part) {
    const double factor = part == 0 ? 1 / kDegree : 1;
    Chart chart{
        part == 0 ? "Gyroscope bias" : "Accelerometer bias", part == 0 ? "deg/s" : "m/s^2", {}};
    for (std::size_t k = 0; k < 3; ++k) {
      const Values values = scaled(x.bias[3 * part + k], factor);
      Values low = values, high = values;
      for (std::size_t row = 0; row < x.t.size(); ++row) {
        low[row] -= 3 * factor * x.bias_sigma[3 * part + k][row];
        high[row] += 3 * factor * x.bias_sigma[3 * part + k][row];
      }
      const std::string axis(1, "xyz"[k]);
      chart.lines.push_back({axis, &x.t, keep(values)});
      chart.bands.push_back(
          {axis + ", 3 sigma", &x.t, keep(std::move(low)), keep(std::move(high)), k});
    }
    figure.add(std::move(chart));
  }
  if (s.has_truth) {
    Chart chart{
        "NEES of position, rotation, velocity (9 expected)", "1", {{"NEES", &x.t, &x.nees}}};
    chart.bands = {{"95 %", &x.t, keep(Values(x.t.size(), s.nees_band.low)),
                    keep(Values(x.t.size(), s.nees_band.high))}};
    figure.add(std::move(chart));
  }
  Chart nis{"NIS of feet (3 expected)", "1", {}};
  for (std::size_t i = 0; i < feet.size(); ++i) nis.lines.push_back({feet[i], &x.t, &x.nis[i]});
  figure.add(std::move(nis));
  return figure.svg("State estimation",
                    "Map, feet, errors with bands, biases and consistency over time");
}

std::string verdict_text(const EstimateSummary& s) {
  switch (s.verdict.verdict) {
    case Verdict::consistent:
      return "consistent";
    case Verdict::overconfident:
      return fmt::format("overconfident: {} (worst at {:.2f} s)", s.verdict.reason, s.verdict.t);
    case Verdict::lost:
      return fmt::format("lost at {:.2f} s: {}", s.verdict.t, s.verdict.reason);
  }
  return "";
}

std::vector<std::pair<std::string, std::string>> estimate_rows(
    const EstimateSummary& s, const std::vector<std::string>& feet) {
  std::vector<std::pair<std::string, std::string>> rows;
  rows.emplace_back("estimate from", fmt::format("{:.3f} s, for {:.3f} s", s.ready_at, s.seconds));
  if (s.smoothed) rows.emplace_back("smoothed", "yes: each estimate uses the whole log");
  rows.emplace_back("distance over ground", fmt::format("{:.3f} m", s.distance));
  if (s.has_truth) {
    const auto components = [](const Vector3<double>& v, double factor, const char* unit) {
      return fmt::format("{:.4f}  {:.4f}  {:.4f} {}", factor * v.x(), factor * v.y(),
                         factor * v.z(), unit);
    };
    if (s.smoothed) {
      rows.emplace_back("smoothed position, rms",
                        fmt::format("{:.4f} m; of the filter {:.4f} m", s.rms_position.norm(),
                                    s.filter_rms_position));
    }
    rows.emplace_back("position error, rms", components(s.rms_position, 1, "m"));
    rows.emplace_back("rotation error, rms", components(s.rms_rotation, 1 / kDegree, "deg"));
    rows.emplace_back("velocity error, rms", components(s.rms_velocity, 1, "m/s"));
    rows.emplace_back("position drift",
                      s.distance > 0.1
                          ? fmt::format("{:.4f} m, {:.3f} % of the distance", s.end_position,
                                        100 * s.end_position / s.distance)
                          : fmt::format("{:.4f} m", s.end_position));
    rows.emplace_back("height drift, yaw drift",
                      fmt::format("{:.4f} m, {:.3f} deg", s.end_height, s.end_yaw / kDegree));
    rows.emplace_back("NEES, mean", fmt::format("{:.2f} (9 expected)", s.nees));
  }
  rows.emplace_back("NIS, mean per row", std::isfinite(s.nis)
                                             ? fmt::format("{:.3f} (1 expected)", s.nis)
                                             : "- (no update by a foot)");
  for (const auto& [name, count] : s.diagnostics.counts()) {
    if (count == 0) continue;
    std::string words = name;
    for (char& c : words) c = c == '_' ? ' ' : c;
    rows.emplace_back(words, std::to_string(count));
  }
  for (std::size_t i = 0; i < s.feet.size(); ++i) {
    const FootStatistics& foot = s.feet[i];
    rows.emplace_back(feet[i],
                      foot.measured == 0
                          ? "never in contact"
                          : fmt::format("used {} of {}, NIS per row {:.2f}, slips {}, refused at "
                                        "most {:.2f} s",
                                        foot.used, foot.measured, foot.nis_per_row(), foot.slips,
                                        foot.longest_refusal));
  }
  rows.emplace_back("verdict", verdict_text(s));
  return rows;
}

namespace {

std::string event_size(const BaseEstimator::Event& event) {
  switch (event.kind) {
    case EstimatorEvent::imu_gap:
    case EstimatorEvent::imu_lost:
    case EstimatorEvent::clock_set_back:
      return fmt::format("{:.0f} ms", 1e3 * event.size);
    case EstimatorEvent::slip:
    case EstimatorEvent::reanchored:
    case EstimatorEvent::height_widened:
      return fmt::format("{:.1f} mm", 1e3 * event.size);
    case EstimatorEvent::velocity_reset:
      return fmt::format("{:.2f} m/s", event.size);
    case EstimatorEvent::biases_widened:
      return fmt::format("normalized mean square {:.0f}, 3 expected", event.size);
    case EstimatorEvent::bias_step:
      return fmt::format("{:.2g} rad/s", event.size);
    case EstimatorEvent::feet_recovered:
    case EstimatorEvent::fix_recovered:
    case EstimatorEvent::rest_recovered:
      return "";
  }
  return "";
}

}  // namespace

std::string estimate_page(const EstimateSummary& s, const std::vector<std::string>& feet,
                          const std::string& title, const std::string& facts) {
  std::string table;
  for (const auto& [name, value] : estimate_rows(s, feet)) {
    table += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_text(name), html_text(value));
  }
  // What happened and what was refused, with the reason.
  std::string events;
  constexpr std::size_t kMostRows = 100;
  for (std::size_t i = 0; i < std::min(s.events.size(), kMostRows); ++i) {
    const auto& event = s.events[i];
    events += fmt::format(
        "<tr><td style=\"white-space: nowrap\">{:.3f} s</td><td>{}{}</td><td>{}</td></tr>\n",
        event.t, to_text(event.kind),
        event.foot >= 0 ? " of " + html_text(feet[static_cast<std::size_t>(event.foot)])
                        : std::string(),
        event_size(event));
  }
  if (s.events.size() > kMostRows) {
    events += fmt::format("<tr><td></td><td>and {} more</td><td></td></tr>\n",
                          s.events.size() - kMostRows);
  }
  if (!events.empty()) events = "<h2>Events</h2>\n<table>\n" + events + "</table>\n";
  return report_page(html_text(title),
                     fmt::format("<p>{}</p>\n<h2>Summary</h2>\n<table>\n{}</table>\n{}"
                                 "<h2>Charts</h2>\n{}",
                                 html_text(facts), table, events, estimate_charts(s, feet)));
}

}  // namespace limb::cli
