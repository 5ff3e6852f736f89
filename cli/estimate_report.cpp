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

/// Charts one below the other.
class ChartColumn {
 public:
  explicit ChartColumn(const std::vector<double>& t) : t_(t) {}
  void add(const std::string& title,
           const std::vector<std::pair<std::string, std::vector<double>>>& lines) {
    charts_.push_back({title, lines});
  }
  std::string svg() const {
    const double height = kChart * static_cast<double>(charts_.size());
    Svg svg(kWidth, height, "State estimation", "Errors, bands, biases and consistency over time");
    svg.rectangle({0, 0}, kWidth, height, "fill=\"#fff\"");
    for (std::size_t i = 0; i < charts_.size(); ++i) {
      std::vector<ChartLine> lines;
      for (const auto& [name, values] : charts_[i].lines) lines.push_back({name, &t_, &values});
      draw_chart(svg, {0, kChart * static_cast<double>(i)}, kWidth, kChart, charts_[i].title,
                 lines);
    }
    return svg.finish();
  }

 private:
  struct Chart {
    std::string title;
    std::vector<std::pair<std::string, std::vector<double>>> lines;
  };
  const std::vector<double>& t_;
  std::vector<Chart> charts_;
};

}  // namespace

std::string estimate_charts(const EstimateSummary& s, const std::vector<std::string>& feet) {
  const EstimateSeries& x = s.series;
  ChartColumn page(x.t);
  const char* parts[] = {"position", "rotation", "velocity"};
  const char* units[] = {"m", "deg", "m/s"};
  const char* axes[3][3] = {{"x", "y", "z"}, {"about x", "about y", "about z"}, {"x", "y", "z"}};
  const char* angles[] = {"roll", "pitch", "yaw"};
  if (s.has_truth) {
    page.add("Path, truth and estimate, m", {{"x, truth", x.truth[0]},
                                             {"x", x.value[0]},
                                             {"y, truth", x.truth[1]},
                                             {"y", x.value[1]},
                                             {"z, truth", x.truth[2]},
                                             {"z", x.value[2]}});
  }
  for (std::size_t part = 0; part < 3; ++part) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = 3 * part + k;
      const double factor = part == 1 ? 1 / kDegree : 1;
      const auto band = scaled(x.sigma[i], 3 * factor);
      if (s.has_truth) {
        page.add(fmt::format("Error of {} {}, {}", parts[part], axes[part][k], units[part]),
                 {{"error", scaled(x.error[i], factor)},
                  {"+3 sigma", band},
                  {"-3 sigma", scaled(band, -1)}});
      } else {
        auto upper = scaled(x.value[i], factor), lower = upper;
        for (std::size_t row = 0; row < upper.size(); ++row) {
          upper[row] += band[row];
          lower[row] -= band[row];
        }
        page.add(
            fmt::format("{} {}, {}", part == 1 ? "" : parts[part],
                        part == 1 ? angles[k] : axes[part][k], units[part]),
            {{"estimate", scaled(x.value[i], factor)}, {"+3 sigma", upper}, {"-3 sigma", lower}});
      }
    }
  }
  page.add("Gyroscope bias, deg/s", {{"x", scaled(x.bias[0], 1 / kDegree)},
                                     {"y", scaled(x.bias[1], 1 / kDegree)},
                                     {"z", scaled(x.bias[2], 1 / kDegree)}});
  page.add("Accelerometer bias, m/s^2", {{"x", x.bias[3]}, {"y", x.bias[4]}, {"z", x.bias[5]}});
  if (s.has_truth) {
    const std::size_t n = x.t.size();
    page.add("NEES of position, rotation, velocity (9 expected)",
             {{"NEES", x.nees},
              {"95 %, low", std::vector<double>(n, s.nees_band.low)},
              {"95 %, high", std::vector<double>(n, s.nees_band.high)}});
  }
  std::vector<std::pair<std::string, std::vector<double>>> nis, contact;
  for (std::size_t i = 0; i < feet.size(); ++i) {
    nis.emplace_back(feet[i], x.nis[i]);
    // Contacts of the feet are stacked.
    auto level = x.contact[i];
    for (double& y : level) y = 0.8 * y + static_cast<double>(feet.size() - 1 - i);
    contact.emplace_back(feet[i], std::move(level));
  }
  page.add("NIS of feet (3 expected)", nis);
  page.add("Contacts", contact);
  return page.svg();
}

std::vector<std::pair<std::string, std::string>> estimate_rows(const EstimateSummary& s) {
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
  return rows;
}

std::string estimate_page(const EstimateSummary& s, const std::vector<std::string>& feet,
                          const std::string& title, const std::string& facts) {
  std::string table;
  for (const auto& [name, value] : estimate_rows(s)) {
    table += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(name), escaped(value));
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<style>body{{font-family:Helvetica,Arial,sans-serif;max-width:900px;margin:2em auto;"
      "color:#222}}table{{border-collapse:collapse}}td{{padding:2px 14px;text-align:right;"
      "border-bottom:1px solid #ddd}}td:first-child{{text-align:left}}</style></head><body>\n"
      "<h1>{0}</h1>\n<p>{1}</p>\n<h2>Summary</h2>\n<table>\n{2}</table>\n<h2>Charts</h2>\n{3}"
      "</body></html>\n",
      escaped(title), escaped(facts), table, estimate_charts(s, feet));
}

}  // namespace limb::cli
