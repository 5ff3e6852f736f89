#include "cli/plot.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>

#include "cli/chart.hpp"
#include "cli/choice.hpp"
#include "cli/contact_charts.hpp"
#include "cli/ellipsoid_charts.hpp"
#include "cli/json_document.hpp"
#include "cli/log_charts.hpp"
#include "cli/log_file.hpp"
#include "cli/png.hpp"
#include "cli/report_page.hpp"
#include "cli/robot_view.hpp"
#include "limb/base/text_file.hpp"
#include "limb/base/without_call.hpp"
#include "limb/model/core/load.hpp"

namespace limb::cli {
namespace {

class Plot final : public Verb {
 public:
  std::string_view name() const override { return "plot"; }
  std::string_view summary() const override {
    return "charts or a report from a log, of limb or of other programs";
  }
  std::string_view examples() const override {
    return "  limb plot run.mcap -o run.html                      report: charts, torques, "
           "animation\n"
           "  limb plot run.csv --model builtin:arm7 -o run.svg   one picture; also .png\n"
           "  limb plot run.mcap --only state.q,contact -o run.svg   some of the charts\n"
           "  limb plot run.mcap --ellipsoids tool -o ellipsoids.svg   inertia and "
           "manipulability\n";
  }
  std::string_view notes() const override {
    return "The HTML file is self-contained. An MCAP log names its model and units; a CSV log "
           "needs\n"
           "--model for the motion and for the units of joints. A few values far outside of all "
           "others,\n"
           "such as impacts, do not set the scale: they are noted at the edge of the chart. Some "
           "charts\n"
           "appear only on request: --only energy.work, --only contact.NAME.fx.\n"
           "PNG needs rsvg-convert (Debian: librsvg2-bin).\n";
  }
  void add_options(CLI::App& app) override {
    app.add_option("LOG", log_, "log: .csv or .mcap")->required();
    app.add_option("-o,--output", output_, "picture or report: .svg, .png or .html")
        ->required()
        ->type_name("FILE");
    add_names(app, "--only", only_, "only these charts: state.q, energy.total");
    app.add_option("--ellipsoids", ellipsoids_,
                   "velocity and inertia ellipsoids of a frame along the motion, instead of the "
                   "charts")
        ->type_name("FRAME");
    app.add_option("--model", model_, "robot of the log, default the one named in the log")
        ->type_name("MODEL");
    app.add_option("--root", roots_, "folder for package:// and relative paths; repeatable")
        ->type_name("FOLDER");
    add_choice(app, "--base", base_, "base: described, fixed or free, default the one of the log",
               {"described", "fixed", "free"});
    add_choice(app, "--view", view_,
               "view of the motion: side, front or top, default side for robots that walk",
               {"side", "front", "top"});
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
    const std::optional<LogScene> scene = find_scene(log, notice);
    std::optional<RobotView> view;
    if (scene) {
      view.emplace(kCall, *scene, *log.find("state"), 400,
                   RobotView::direction_from_text(kCall, view_));
    }
    if (!ellipsoids_.empty() && !scene) {
      throw Error(fmt::format("{}: --ellipsoids needs the robot: {}", kCall, notice));
    }
    const std::string svg = picture(log, scene ? &*scene : nullptr, view ? &*view : nullptr);
    write_text_file(
        kCall, output_,
        html  ? page(log, svg, view ? &*view : nullptr, scene ? &scene->model : nullptr, notice)
        : png ? png_of_svg(kCall, svg, 2)
              : svg);
    const LogSeries& first = log.series[0];
    if (json_) {
      out << json_document(nlohmann::json({{"output", output_},
                                           {"topics", log.series.size()},
                                           {"rows", first.t.size()},
                                           {"t_start", first.t.front()},
                                           {"t_end", first.t.back()},
                                           {"skipped", log.skipped},
                                           {"notice", notice}}));
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

  /// Empty, and the reason in `notice`, if the motion cannot be shown.
  std::optional<LogScene> find_scene(const LogData& log, std::string& notice) const {
    const LogSeries* state = log.find("state");
    const std::string model = model_.empty() ? metadata(log, "model") : model_;
    const std::string base = base_.empty() ? metadata(log, "base") : base_;
    if (state == nullptr || model.empty()) {
      notice = "without the motion: the log does not name its robot (--model)";
      return std::nullopt;
    }
    const Base kind = base == "free" ? Base::free : base == "fixed" ? Base::fixed : Base::described;
    try {
      ReadOptions options;
      options.roots.assign(roots_.begin(), roots_.end());
      options.missing_meshes = MissingMeshes::ignore;  // a figure needs no masses
      options.unsupported = Unsupported::ignore;
      LogScene scene = read_scene(log, model, kind, options);
      RobotView(kCall, scene, *state, 1);  // another robot is an error
      return scene;
    } catch (const Error& error) {
      if (!model_.empty()) throw;  // --model was given
      notice = fmt::format("without the motion: {}", without_call(error.what()));
      return std::nullopt;
    }
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

  std::string picture(const LogData& log, const LogScene* scene, const RobotView* view) const {
    Figure figure;
    if (!ellipsoids_.empty()) {
      add_ellipsoid_charts(figure, kCall, scene->model, *log.find("state"), ellipsoids_);
      return figure.svg("Ellipsoids along a motion",
                        "Velocity and inertia ellipsoids of a frame, and their axes over time");
    }
    if (view != nullptr) {
      figure.add(view->height() + 12,
                 [view](Svg& svg, const Svg::Point& corner) { view->draw(svg, corner); });
    }
    if (has_contact(log)) add_contact_charts(figure, log, scene);
    const LogCharts charts(log, scene != nullptr ? &scene->model : nullptr);
    charts.add_to(figure, only_);
    return figure.svg("Log of a simulation",
                      "Pictures of the motion, and charts of the logged numbers over time");
  }

  /// Peak, root mean square, and work of each motor.
  static std::string torque_table(const LogData& log, const Model<double>* model) {
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
      if (std::none_of(tau.begin(), tau.end(), [](double x) { return std::abs(x) > 0; })) continue;
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
          "<tr><td>{}</td><td>{}</td><td>{:.4g}</td><td>{:.4g}</td><td>{:.4g}</td></tr>\n",
          html_text(joint), field_unit(*torque, i, model), peak,
          std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, count))), work);
    }
    if (rows.empty()) return {};
    return "<table><tr><th>motor</th><th>unit</th><th>peak</th><th>root mean square</th>"
           "<th>work, J</th></tr>\n" +
           rows + "</table>\n";
  }

  std::string page(const LogData& log, const std::string& svg, const RobotView* view,
                   const Model<double>* model, const std::string& notice) const {
    std::string facts;
    for (const auto& [key, value] : log.metadata) {
      if (key == "contact") continue;  // the geometry
      facts += fmt::format("{}{} {}", facts.empty() ? "" : "; ", html_text(key), html_text(value));
    }
    std::string body = fmt::format("<p>{}</p>\n", facts);
    if (view != nullptr) body += "<h2>Motion</h2>\n" + view->animation();
    if (!notice.empty()) body += fmt::format("<p>{}</p>\n", html_text(notice));
    const std::string torques = torque_table(log, model);
    if (!torques.empty()) body += "<h2>Motors</h2>\n" + torques;
    return report_page(html_text(log_.substr(log_.find_last_of('/') + 1)),
                       body + "<h2>Charts</h2>\n" + svg);
  }

  std::string log_, output_, model_, base_, view_, ellipsoids_;
  std::vector<std::string> only_, roots_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_plot() {
  return std::make_unique<Plot>();
}

}  // namespace limb::cli
