#include "cli/estimate_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "cli/chart.hpp"

namespace limb::cli {
namespace {

constexpr double kWidth = 860, kChart = 190;
constexpr double kDegree = std::numbers::pi / 180;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return result;
}

std::vector<double> scaled(const std::vector<double>& x, double factor) {
  std::vector<double> y(x);
  for (double& one : y) one *= factor;
  return y;
}

using Values = std::vector<double>;

/// Pictures one below the other.
class PictureColumn {
 public:
  explicit PictureColumn(double height)
      : svg_(kWidth, height, "State estimation",
             "Map, feet, errors with bands, biases and consistency over time") {
    svg_.rectangle({0, 0}, kWidth, height, "fill=\"#fff\"");
  }
  /// The corner of the next picture of this height.
  Svg::Point next(double height) {
    const Svg::Point corner(0, y_);
    y_ += height;
    return corner;
  }
  Svg& svg() { return svg_; }

 private:
  Svg svg_;
  double y_ = 0;
};

/// Axes of a time line: the same margins as those of a chart.
constexpr double kLeft = 62, kRight = 150, kTop = 26, kBottom = 24, kLane = 20;

/// One lane per foot: contact, slips, refusals (by the gate), and the events of the estimator.
void draw_time_line(Svg& svg, const Svg::Point& corner, double height, const EstimateSummary& s,
                    const std::vector<std::string>& feet) {
  const EstimateSeries& x = s.series;
  const double x0 = corner.x() + kLeft, x1 = corner.x() + kWidth - kRight;
  const double begin = x.t.front(), end = std::max(x.t.back(), begin + 1e-9);
  const auto at = [&](double t) { return x0 + (t - begin) / (end - begin) * (x1 - x0); };
  svg.text({corner.x() + 4, corner.y() + 16}, "Feet and events",
           "font-size=\"13\" font-weight=\"bold\"");
  const double y1 = corner.y() + kTop, y0 = corner.y() + height - kBottom;
  svg.rectangle({x0, y1}, x1 - x0, y0 - y1, "fill=\"#fff\" stroke=\"#999\"");
  for (std::size_t i = 0; i < feet.size(); ++i) {
    const double y = y1 + 4 + kLane * static_cast<double>(i);
    svg.text({x0 - 5, y + 11}, feet[i].substr(0, 10), "font-size=\"10\" text-anchor=\"end\"");
    for (std::size_t k = 0; k < x.t.size();) {
      std::size_t last = k;
      while (last < x.t.size() && x.contact[i][last] == x.contact[i][k]) ++last;
      if (x.contact[i][k] > 0) {
        const double to = last < x.t.size() ? x.t[last] : end;
        svg.rectangle({at(x.t[k]), y}, std::max(0.5, at(to) - at(x.t[k])), kLane - 8,
                      fmt::format("fill=\"{}\" fill-opacity=\"0.5\"", line_color(0)));
      }
      k = last;
    }
    // Innovations beyond the gate; at most one mark per pixel.
    double marked = -1;
    for (std::size_t k = 0; k < x.t.size(); ++k) {
      if (!(x.nis[i][k] > s.gate) || at(x.t[k]) - marked < 1) continue;
      marked = at(x.t[k]);
      svg.line({marked, y}, {marked, y + kLane - 8}, fmt::format("stroke=\"{}\"", line_color(4)));
    }
  }
  const double y = y1 + 4 + kLane * static_cast<double>(feet.size());
  svg.text({x0 - 5, y + 11}, "events", "font-size=\"10\" text-anchor=\"end\"");
  for (const auto& event : s.events) {
    if (event.t < begin || event.t > end) continue;
    const bool of_foot = event.foot >= 0 && event.kind == EstimatorEvent::slip;
    const double lane = of_foot ? y1 + 4 + kLane * static_cast<double>(event.foot) : y;
    const std::size_t color = of_foot                                        ? 1
                              : event.kind == EstimatorEvent::imu_gap        ? 5
                              : event.kind == EstimatorEvent::biases_widened ? 3
                                                                             : 1;
    svg.line({at(event.t), lane}, {at(event.t), lane + kLane - 8},
             fmt::format("stroke=\"{}\" stroke-width=\"2\"", line_color(color)));
  }
  const std::pair<const char*, std::size_t> legend[] = {{"contact", 0},
                                                        {"refused", 4},
                                                        {"slip, re-anchored", 1},
                                                        {"IMU gap", 5},
                                                        {"biases widened", 3}};
  double key = y1 + 8;
  for (const auto& [name, color] : legend) {
    svg.rectangle({x1 + 8, key - 4}, 14, 8, fmt::format("fill=\"{}\"", line_color(color)));
    svg.text({x1 + 26, key + 4}, name, "font-size=\"10\"");
    key += 13;
  }
  svg.text({x0, y0 + 14}, fmt::format("{:.4g}", begin), "font-size=\"10\"");
  svg.text({x1, y0 + 14}, fmt::format("{:.4g}", end), "font-size=\"10\" text-anchor=\"end\"");
  svg.text({x1 + 20, y0 + 14}, "t, s", "font-size=\"10\"");
}

}  // namespace

std::string estimate_charts(const EstimateSummary& s, const std::vector<std::string>& feet) {
  const EstimateSeries& x = s.series;
  constexpr double kMap = 380;
  const double lanes = kTop + kBottom + 8 + kLane * static_cast<double>(feet.size() + 1);
  const double line_height = std::max(lanes, 130.0);
  const int charts = 9 + 2 + (s.has_truth ? 1 : 0) + 1;
  PictureColumn page(kMap + line_height + kChart * charts);
  std::vector<PlaneCurve> path;
  if (s.has_truth) path.push_back({"truth", &x.truth[0], &x.truth[1]});
  path.push_back({"estimate", &x.value[0], &x.value[1]});
  draw_plane(page.svg(), page.next(kMap), kWidth, kMap, "Map: path of the base, y over x, m", path);
  draw_time_line(page.svg(), page.next(line_height), line_height, s, feet);
  const auto chart = [&](const std::string& title, const std::vector<ChartLine>& lines,
                         const std::vector<ChartBand>& bands = {}) {
    draw_chart(page.svg(), page.next(kChart), kWidth, kChart, title, lines, bands);
  };
  const char* parts[] = {"position", "rotation", "velocity"};
  const char* units[] = {"m", "deg", "m/s"};
  const char* axes[3][3] = {{"x", "y", "z"}, {"about x", "about y", "about z"}, {"x", "y", "z"}};
  const char* angles[] = {"roll", "pitch", "yaw"};
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
      const std::string title =
          s.has_truth ? fmt::format("Error of {} {}, {}", parts[part], axes[part][k], units[part])
          : part == 1 ? fmt::format("{}, {}", angles[k], units[part])
                      : fmt::format("{} {}, {}", parts[part], axes[part][k], units[part]);
      chart(title, {{s.has_truth ? "error" : "estimate", &x.t, &middle}},
            {{"3 sigma", &x.t, &low, &high}});
    }
  }
  for (std::size_t part = 0; part < 2; ++part) {
    const double factor = part == 0 ? 1 / kDegree : 1;
    std::vector<Values> values, low, high;
    for (std::size_t k = 3 * part; k < 3 * part + 3; ++k) {
      values.push_back(scaled(x.bias[k], factor));
      low.push_back(values.back());
      high.push_back(values.back());
      for (std::size_t row = 0; row < x.t.size(); ++row) {
        low.back()[row] -= 3 * factor * x.bias_sigma[k][row];
        high.back()[row] += 3 * factor * x.bias_sigma[k][row];
      }
    }
    std::vector<ChartLine> lines;
    std::vector<ChartBand> bands;
    for (std::size_t k = 0; k < 3; ++k) {
      lines.push_back({std::string(1, "xyz"[k]), &x.t, &values[k]});
      bands.push_back({"", &x.t, &low[k], &high[k]});
    }
    chart(part == 0 ? "Gyroscope bias, deg/s" : "Accelerometer bias, m/s^2", lines, bands);
  }
  if (s.has_truth) {
    const Values low(x.t.size(), s.nees_band.low), high(x.t.size(), s.nees_band.high);
    chart("NEES of position, rotation, velocity (9 expected)", {{"NEES", &x.t, &x.nees}},
          {{"95 %", &x.t, &low, &high}});
  }
  std::vector<ChartLine> nis;
  for (std::size_t i = 0; i < feet.size(); ++i) nis.push_back({feet[i], &x.t, &x.nis[i]});
  chart("NIS of feet (3 expected)", nis);
  return page.svg().finish();
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
  rows.emplace_back("distance over ground", fmt::format("{:.3f} m", s.distance));
  if (s.has_truth) {
    const auto components = [](const Vector3<double>& v, double factor, const char* unit) {
      return fmt::format("{:.4f}  {:.4f}  {:.4f} {}", factor * v.x(), factor * v.y(),
                         factor * v.z(), unit);
    };
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
    table += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(name), escaped(value));
  }
  // What happened and what was refused, with the reason.
  std::string events;
  constexpr std::size_t kMostRows = 100;
  for (std::size_t i = 0; i < std::min(s.events.size(), kMostRows); ++i) {
    const auto& event = s.events[i];
    events += fmt::format(
        "<tr><td>{:.3f} s</td><td>{}{}</td><td>{}</td></tr>\n", event.t, to_text(event.kind),
        event.foot >= 0 ? " of " + escaped(feet[static_cast<std::size_t>(event.foot)])
                        : std::string(),
        event_size(event));
  }
  if (s.events.size() > kMostRows) {
    events += fmt::format("<tr><td></td><td>and {} more</td><td></td></tr>\n",
                          s.events.size() - kMostRows);
  }
  if (!events.empty()) events = "<h2>Events</h2>\n<table>\n" + events + "</table>\n";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<style>body{{font-family:Helvetica,Arial,sans-serif;max-width:900px;margin:2em auto;"
      "color:#222}}table{{border-collapse:collapse}}td{{padding:2px 14px;text-align:right;"
      "border-bottom:1px solid #ddd}}td:first-child{{text-align:left}}</style></head><body>\n"
      "<h1>{0}</h1>\n<p>{1}</p>\n<h2>Summary</h2>\n<table>\n{2}</table>\n{4}<h2>Charts</h2>\n{3}"
      "</body></html>\n",
      escaped(title), escaped(facts), table, estimate_charts(s, feet), events);
}

}  // namespace limb::cli
