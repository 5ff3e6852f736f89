#include "cli/plot.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "cli/chart.hpp"
#include "cli/contact_chart.hpp"
#include "cli/log_file.hpp"
#include "cli/png.hpp"
#include "cli/stick_figure.hpp"
#include "limb/base/text_file.hpp"
#include "limb/base/without_call.hpp"
#include "limb/model/core/load.hpp"

namespace limb::cli {
namespace {

constexpr double kWidth = 860, kChart = 210, kMotion = 330, kContact = 330;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return result;
}

/// The lines of one chart.
struct ChartData {
  std::string title;
  std::vector<ChartLine> lines;
};

class Plot final : public Verb {
 public:
  std::string_view name() const override { return "plot"; }
  std::string_view summary() const override {
    return "charts or a report from a log of limb simulate";
  }
  std::string_view examples() const override {
    return "  limb plot run.mcap -o run.html                    report: charts, torques, "
           "animation\n"
           "  limb plot run.csv --model builtin:arm7 -o run.svg   one picture; also .png\n";
  }
  std::string_view notes() const override {
    return "The HTML file is self-contained. An MCAP log names its model; a CSV log needs --model\n"
           "for the motion. PNG needs rsvg-convert (Debian: librsvg2-bin).\n";
  }
  void add_options(CLI::App& app) override {
    app.add_option("LOG", log_, "log: .csv or .mcap")->required();
    app.add_option("-o,--output", output_, "picture or report: .svg, .png or .html")
        ->required()
        ->type_name("FILE");
    add_names(app, "--only", only_, "only these charts: state.q, energy.total");
    app.add_option("--model", model_, "robot of the log, default the one named in the log")
        ->type_name("MODEL");
    app.add_option("--root", roots_, "folder for package:// and relative paths; repeatable")
        ->type_name("FOLDER");
    app.add_option("--base", base_, "base: described, fixed or free, default the one of the log")
        ->check(CLI::IsMember({"described", "fixed", "free"}).description(""))
        ->type_name("KIND");
    app.add_flag("--json", json_, "machine-readable output");
  }

  Exit run(std::ostream& out) override {
    const bool html = output_.ends_with(".html"), png = output_.ends_with(".png");
    if (!html && !png && !output_.ends_with(".svg")) {
      fail(kCall, "--output", "'" + output_ + "'", "a name that ends in .svg, .png or .html");
    }
    const LogData log = read_log(kCall, log_);
    if (!log.skipped.empty()) {
      fmt::print(stderr, "limb plot: topics that cannot be read: {}\n",
                 fmt::join(log.skipped, ", "));
    }
    check_only(log);
    std::string notice;
    const std::unique_ptr<StickFigure> figure = read_figure(log, notice);
    const std::string svg = picture(log, figure.get());
    write_text_file(kCall, output_,
                    html  ? page(log, svg, figure.get(), notice)
                    : png ? png_of_svg(kCall, svg, 2)
                          : svg);
    const LogSeries& first = log.series[0];
    if (json_) {
      out << nlohmann::json({{"output", output_},
                             {"topics", log.series.size()},
                             {"rows", first.t.size()},
                             {"t_start", first.t.front()},
                             {"t_end", first.t.back()},
                             {"skipped", log.skipped},
                             {"notice", notice}})
                 .dump(2)
          << "\n";
      return Exit::ok;
    }
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

  /// Null, and the reason in `notice`, if the motion cannot be shown.
  std::unique_ptr<StickFigure> read_figure(const LogData& log, std::string& notice) const {
    const LogSeries* state = log.find("state");
    const std::string model = model_.empty() ? metadata(log, "model") : model_;
    const std::string base = base_.empty() ? metadata(log, "base") : base_;
    if (state == nullptr || model.empty()) {
      notice = "without the motion: the log does not name its robot (--model)";
      return nullptr;
    }
    const Base kind = base == "free" ? Base::free : base == "fixed" ? Base::fixed : Base::described;
    try {
      ReadOptions options;
      options.roots.assign(roots_.begin(), roots_.end());
      options.missing_meshes = MissingMeshes::ignore;  // a figure needs no masses
      options.unsupported = Unsupported::ignore;
      return std::make_unique<StickFigure>(kCall, load_model(model, kind, options), *state, 400);
    } catch (const Error& error) {
      if (!model_.empty()) throw;  // --model was given
      notice = fmt::format("without the motion: {}", without_call(error.what()));
      return nullptr;
    }
  }

  /// Whether a name equals `prefix` or is below it: "state.q.elbow" is below "state.q".
  static bool is_below(const std::string& name, const std::string& prefix) {
    return name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == '.');
  }

  void check_only(const LogData& log) const {
    for (const std::string& requested : only_) {
      const auto matches = [&](const LogSeries& series) {
        return std::any_of(series.fields.begin(), series.fields.end(),
                           [&](const std::string& field) {
                             return is_below(series.topic + "." + field, requested);
                           });
      };
      if (std::any_of(log.series.begin(), log.series.end(), matches)) continue;
      std::string topics;
      for (const LogSeries& series : log.series) {
        topics += (topics.empty() ? "" : ", ") + series.topic;
      }
      fail(kCall, "--only", "'" + requested + "'", "a name in the log, whose topics are " + topics);
    }
  }

  /// Units of the topics that limb simulate writes, for chart titles.
  static std::string unit_of(const std::string& title) {
    if (title == "state q") return ", rad or m";
    if (title == "state v") return ", rad/s or m/s";
    if (title.starts_with("torque ")) return ", N m or N";
    if (title.starts_with("mass_center ")) return ", m";
    if (title.starts_with("desired_force ")) return ", N";
    if (title == "effort") return ": torque / motor limit";
    if (title == "program violation") return ": N outside friction cones, N m over limits";
    if (title == "program residual") return ", relative to the weight";
    if (title == "momentum linear") return ", N s";
    if (title == "momentum angular") return " about the mass centre, N m s";
    return title == "energy" || title == "energy work" ? ", J" : "";
  }

  /// The requested charts, one per group of a topic.
  std::vector<ChartData> charts_of(const LogData& log) const {
    std::vector<ChartData> charts;
    for (const LogSeries& series : log.series) {
      for (std::size_t i = 0; i < series.fields.size(); ++i) {
        const std::string& field = series.fields[i];
        // The many lines of the energy ledger are a chart only on request.
        const bool work = series.topic == "energy" && field.starts_with("work.");
        const bool shown =
            (only_.empty() && !work) ||
            std::any_of(only_.begin(), only_.end(), [&](const std::string& requested) {
              return is_below(series.topic + "." + field, requested) &&
                     (!work || requested.starts_with("energy.work"));
            });
        if (!shown) continue;
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
    const double motion = figure != nullptr ? kMotion : 0;
    const double strip = motion + (has_contact(log) ? kContact : 0);
    Svg svg(kWidth, strip + kChart * static_cast<double>(charts.size()), "Log of a simulation",
            "Stick figures of the motion, and charts of the logged numbers over time");
    svg.rectangle({0, 0}, kWidth, strip + kChart * static_cast<double>(charts.size()),
                  "fill=\"#fff\"");
    if (figure != nullptr)
      figure->draw_snapshots(svg, {0, 0}, kWidth, kMotion, "Motion, later poses darker");
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
      std::size_t count = 0;
      const auto& tau = torque->values[i];
      for (std::size_t k = 0; k < tau.size(); ++k) {
        if (!std::isfinite(tau[k])) continue;  // an empty cell
        peak = std::max(peak, std::abs(tau[k]));
        squares += tau[k] * tau[k];
        ++count;
        if (v == state->fields.end() || k == 0) continue;
        const auto& speed = state->values[static_cast<std::size_t>(v - state->fields.begin())];
        const double part =
            (tau[k] * speed[k] + tau[k - 1] * speed[k - 1]) / 2 * (torque->t[k] - torque->t[k - 1]);
        if (std::isfinite(part)) work += part;
      }
      rows += fmt::format(
          "<tr><td>{}</td><td>{:.4g}</td><td>{:.4g}</td><td>{:.4g}</td></tr>\n", escaped(joint),
          peak, std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, count))), work);
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
  std::vector<std::string> only_, roots_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_plot() {
  return std::make_unique<Plot>();
}

}  // namespace limb::cli
