#include "cli/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "cli/chart.hpp"
#include "cli/contact_chart.hpp"
#include "cli/log_file.hpp"
#include "cli/png.hpp"
#include "cli/stick_figure.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/load.hpp"

namespace limb::cli {
namespace {

constexpr double kWidth = 860, kChart = 210, kStrip = 330, kContact = 330;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return result;
}

/// Lines that stand in one chart.
struct ChartData {
  std::string title;
  std::vector<ChartLine> lines;
};

class Plot final : public Verb {
 public:
  std::string_view name() const override { return "plot"; }
  std::string_view summary() const override {
    return "a log of limb simulate as pictures, or as a report with the motion";
  }
  std::string_view examples() const override {
    return "  limb plot run.mcap -o run.html                    report: charts, torques, "
           "animation\n"
           "  limb plot run.csv --model builtin:arm7 -o run.svg   one picture; .png too\n";
  }
  std::string_view notes() const override {
    return "The HTML file is whole and opens without a network. An MCAP log knows its model; a "
           "CSV\n"
           "log needs --model for the motion. PNG is drawn by rsvg-convert (Debian: "
           "librsvg2-bin).\n";
  }
  void add_options(CLI::App& app) override {
    app.add_option("LOG", log_, "log: .csv or .mcap")->required();
    app.add_option("-o,--output", output_, "picture or report: .svg, .png or .html")
        ->required()
        ->type_name("FILE");
    app.add_option("--only", only_, "charts of these alone: state.q, energy.total; may be repeated")
        ->type_name("NAME");
    app.add_option("--model", model_, "robot of the log; default: what the log says")
        ->type_name("MODEL");
    app.add_option("--base", base_, "root: described, fixed, free; default: what the log says")
        ->check(CLI::IsMember({"described", "fixed", "free"}))
        ->type_name("KIND");
  }

  Exit run(std::ostream& out) override {
    const bool html = output_.ends_with(".html"), png = output_.ends_with(".png");
    if (!html && !png && !output_.ends_with(".svg")) {
      fail(kCall, "--output", "'" + output_ + "'", "a name that ends in .svg, .png or .html");
    }
    const LogData log = read_log(kCall, log_);
    check_only(log);
    std::string notice;
    const std::unique_ptr<StickFigure> figure = read_figure(log, notice);
    const std::string svg = picture(log, figure.get());
    write_text_file(kCall, output_,
                    html  ? page(log, svg, figure.get(), notice)
                    : png ? png_of_svg(kCall, svg, 2)
                          : svg);
    const LogSeries& first = log.series[0];
    out << fmt::format("{}: {} rows of {} topics, {} s to {} s{}\n", output_, first.t.size(),
                       log.series.size(), first.t.front(), first.t.back(),
                       notice.empty() ? "" : "; " + notice);
    return Exit::ok;
  }

 private:
  static constexpr const char* kCall = "limb plot";

  static std::string metadata(const LogData& log, const char* key) {
    const auto found = log.metadata.find(key);
    return found == log.metadata.end() ? "" : found->second;
  }

  /// Null, and the reason, where the motion cannot be shown.
  std::unique_ptr<StickFigure> read_figure(const LogData& log, std::string& notice) const {
    const LogSeries* state = log.find("state");
    const std::string model = model_.empty() ? metadata(log, "model") : model_;
    const std::string base = base_.empty() ? metadata(log, "base") : base_;
    if (state == nullptr || model.empty()) {
      notice = "without the motion: the log does not say which robot it is of (--model)";
      return nullptr;
    }
    const Base kind = base == "free" ? Base::free : base == "fixed" ? Base::fixed : Base::described;
    try {
      return std::make_unique<StickFigure>(kCall, load_model(model, kind), *state, 400);
    } catch (const Error& error) {
      if (!model_.empty()) throw;  // asked for
      notice = fmt::format("without the motion: {}", error.what());
      return nullptr;
    }
  }

  /// Whether a name is what was asked for, or lies inside it: "state.q" has "state.q.elbow".
  static bool lies_in(const std::string& name, const std::string& asked) {
    return name.starts_with(asked) && (name.size() == asked.size() || name[asked.size()] == '.');
  }

  void check_only(const LogData& log) const {
    for (const std::string& asked : only_) {
      const auto holds = [&](const LogSeries& series) {
        return std::any_of(
            series.fields.begin(), series.fields.end(),
            [&](const std::string& field) { return lies_in(series.topic + "." + field, asked); });
      };
      if (std::any_of(log.series.begin(), log.series.end(), holds)) continue;
      std::string topics;
      for (const LogSeries& series : log.series) {
        topics += (topics.empty() ? "" : ", ") + series.topic;
      }
      fail(kCall, "--only", "'" + asked + "'", "a name of the log, whose topics are " + topics);
    }
  }

  /// What the charts of limb's own topics are measured in; sensors say it by their names.
  static std::string unit_of(const std::string& title) {
    if (title == "state q") return ", rad or m";
    if (title == "state v") return ", rad/s or m/s";
    if (title.starts_with("torque ")) return ", N m or N";
    if (title.starts_with("mass_center ")) return ", m";
    if (title.starts_with("wanted ")) return ": force that is wanted, N";
    if (title == "effort") return ": torque, share of what its motor can";
    if (title == "program beyond") return ": N outside cones, N m over limits";
    if (title == "program residual") return ", weights of the robot";
    if (title == "momentum linear") return ", N s";
    if (title == "momentum angular") return " about the mass centre, N m s";
    return title == "energy" ? ", J" : "";
  }

  /// A chart for each group of a topic, of what is wanted.
  std::vector<ChartData> charts_of(const LogData& log) const {
    std::vector<ChartData> charts;
    for (const LogSeries& series : log.series) {
      for (std::size_t i = 0; i < series.fields.size(); ++i) {
        const std::string& field = series.fields[i];
        const bool wanted =
            only_.empty() || std::any_of(only_.begin(), only_.end(), [&](const std::string& asked) {
              return lies_in(series.topic + "." + field, asked);
            });
        if (!wanted) continue;
        const std::size_t dot = field.find('.');
        std::string title = series.topic;
        if (dot != std::string::npos) title = series.topic + " " + field.substr(0, dot);
        if (charts.empty() || charts.back().title != title) charts.push_back({title, {}});
        charts.back().lines.push_back({dot == std::string::npos ? field : field.substr(dot + 1),
                                       &series.t, &series.values[i]});
      }
    }
    return charts;
  }

  std::string picture(const LogData& log, const StickFigure* figure) const {
    const std::vector<ChartData> charts = charts_of(log);
    const double motion = figure != nullptr ? kStrip : 0;
    const double strip = motion + (has_contact(log) ? kContact : 0);
    Svg svg(kWidth, strip + kChart * static_cast<double>(charts.size()), "Log of a simulation",
            "Charts of all logged numbers over time, below the motion as sticks");
    svg.rectangle({0, 0}, kWidth, strip + kChart * static_cast<double>(charts.size()),
                  "fill=\"#fff\"");
    if (figure != nullptr)
      figure->draw_strip(svg, {0, 0}, kWidth, kStrip, "Motion, the later the darker");
    if (has_contact(log)) draw_contact(svg, {0, motion}, kWidth, kContact, log);
    for (std::size_t i = 0; i < charts.size(); ++i) {
      draw_chart(svg, {0, strip + kChart * static_cast<double>(i)}, kWidth, kChart,
                 charts[i].title + unit_of(charts[i].title), charts[i].lines);
    }
    return svg.finish();
  }

  /// Peak, root mean square, and work of each motor.
  static std::string torque_table(const LogData& log) {
    const LogSeries* torque = log.find("torque");
    const LogSeries* state = log.find("state");
    if (torque == nullptr || state == nullptr || torque->t.size() != state->t.size()) return {};
    std::string rows;
    for (std::size_t i = 0; i < torque->fields.size(); ++i) {
      if (!torque->fields[i].starts_with("motor.")) continue;
      const std::string joint = torque->fields[i].substr(6);
      const auto v = std::find(state->fields.begin(), state->fields.end(), "v." + joint);
      double peak = 0, squares = 0, work = 0;
      const auto& tau = torque->values[i];
      for (std::size_t k = 0; k < tau.size(); ++k) {
        peak = std::max(peak, std::abs(tau[k]));
        squares += tau[k] * tau[k];
        if (v == state->fields.end() || k == 0) continue;
        const auto& speed = state->values[static_cast<std::size_t>(v - state->fields.begin())];
        work +=
            (tau[k] * speed[k] + tau[k - 1] * speed[k - 1]) / 2 * (torque->t[k] - torque->t[k - 1]);
      }
      rows += fmt::format(
          "<tr><td>{}</td><td>{:.4g}</td><td>{:.4g}</td><td>{:.4g}</td></tr>\n", escaped(joint),
          peak, std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, tau.size()))),
          work);
    }
    return "<table><tr><th>motor</th><th>peak, N m or N</th><th>root mean square</th>"
           "<th>work, J</th></tr>\n" +
           rows + "</table>\n";
  }

  std::string page(const LogData& log, const std::string& svg, const StickFigure* figure,
                   const std::string& notice) const {
    std::string facts;
    for (const auto& [key, value] : log.metadata) {
      facts += fmt::format("{}{} {}", facts.empty() ? "" : "; ", escaped(key), escaped(value));
    }
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
        "<style>body{{font-family:Helvetica,Arial,sans-serif;max-width:900px;margin:2em auto;"
        "color:#222}}table{{border-collapse:collapse}}td,th{{padding:2px "
        "14px;text-align:right;border-bottom:1px solid #ddd}}"
        "td:first-child{{text-align:left}}canvas{{border:1px solid #ccc}}</style></head><body>\n"
        "<h1>{0}</h1>\n<p>{1}</p>\n",
        escaped(log_.substr(log_.find_last_of('/') + 1)), facts);
    if (figure != nullptr) text += "<h2>Motion</h2>\n" + figure->animation();
    if (!notice.empty()) text += fmt::format("<p>{}</p>\n", escaped(notice));
    const std::string torques = torque_table(log);
    if (!torques.empty()) text += "<h2>Motors</h2>\n" + torques;
    return text + "<h2>Charts</h2>\n" + svg + "</body></html>\n";
  }

  std::string log_, output_, model_, base_;
  std::vector<std::string> only_;
};

}  // namespace

std::unique_ptr<Verb> make_plot() {
  return std::make_unique<Plot>();
}

}  // namespace limb::cli
