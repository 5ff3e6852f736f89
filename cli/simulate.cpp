#include "cli/simulate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <ostream>

#include "cli/choice.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_document.hpp"
#include "cli/progress.hpp"
#include "cli/robot_options.hpp"
#include "cli/table.hpp"
#include "limb/base/memory.hpp"
#include "limb/base/text_file.hpp"
#include "limb/base/without_call.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/model/recipe/toml.hpp"
#include "limb/sim/scenario/initial_clearance.hpp"
#include "limb/sim/scenario/scenario_contact.hpp"
#include "limb/sim/scenario/scenario_controller.hpp"
#include "limb/sim/scenario/scenario_run.hpp"
#include "limb/sim/scenario/scenario_scene.hpp"
#include "limb/sim/scenario/scenario_variation.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

/// A number, or null if it is not finite.
Json number(double x) {
  return std::isfinite(x) ? Json(x) : Json(nullptr);
}
Json numbers(const VectorX<double>& x) {
  Json list = Json::array();
  for (const double y : x) list.push_back(number(y));
  return list;
}

template <typename Numbers>
std::vector<double> numbers_of(const Numbers& x) {
  return {x.begin(), x.end()};
}

/// Two digits, or "-" for a number that does not exist.
std::string short_number(double x) {
  return std::isnan(x) ? "-" : fmt::format("{:.1e}", x);
}

/// Mean, standard deviation and range of one number over the runs of a batch.
struct Statistics {
  double mean = std::nan(""), deviation = mean, min = mean, max = mean;  ///< NaN without numbers

  explicit Statistics(const std::vector<double>& x) {
    if (x.empty()) return;
    mean = deviation = 0;
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    min = *low;
    max = *high;
    for (const double y : x) mean += y / static_cast<double>(x.size());
    for (const double y : x) deviation += (y - mean) * (y - mean);
    deviation = x.size() > 1 ? std::sqrt(deviation / static_cast<double>(x.size() - 1)) : 0;
  }
  std::vector<double> row() const { return {mean, deviation, min, max}; }
  Json json() const {
    return {{"mean", number(mean)},
            {"deviation", number(deviation)},
            {"min", number(min)},
            {"max", number(max)}};
  }
};

constexpr std::uint64_t kMaxThreads = 1024;

class Simulate final : public Verb {
 public:
  std::string_view name() const override { return "simulate"; }
  std::string_view summary() const override {
    return "simulate a scenario file, or a model without one";
  }
  std::string_view examples() const override {
    return "  limb simulate drop.toml -o drop.mcap              a scenario with a log\n"
           "  limb simulate builtin:arm7 --initial q=random --duration 2 -o run.csv\n"
           "  limb simulate drop.toml --batch 1000 --json       Monte Carlo on all cores\n"
           "  limb simulate drop.toml --vary runs.csv -o logs/  one run and log per row\n";
  }
  std::string_view notes() const override {
    return "A scenario is a .toml file with the key `model` (docs/simulation.md); options "
           "override\n"
           "it. Units are SI and rad. A run that fails keeps its log up to the failure and exits\n"
           "with 2.\n"
           "Integrators: explicit-euler, semi-implicit-euler, runge-kutta-4, implicit-midpoint,\n"
           "dormand-prince, cvode. Controllers: none, pd, gravity, computed-torque, pid,\n"
           "joint-impedance, lqr; only in scenarios: open-loop, cartesian-impedance,\n"
           "operational-space, hybrid-force (docs/control.md), balance, locomotion\n"
           "(docs/whole_body.md).\n";
  }
  void add_options(CLI::App& app) override {
    robot_.add(app);
    add_number(app, "--duration", duration_, "S", "duration, default 5 or that of the scenario",
               NumberRange::positive());
    add_number(app, "--dt", step_, "S", "step, default 0.001; adaptive methods: the longest",
               NumberRange::positive());
    add_choice(app, "--integrator", integrator_, "integrator, default semi-implicit-euler",
               {"explicit-euler", "semi-implicit-euler", "runge-kutta-4", "implicit-midpoint",
                "dormand-prince", "cvode"});
    add_whole_number(app, "--seed", seed_, "seed of all random numbers, default 1", 0);
    add_choice(app, "--controller", controller_,
               "controller that holds the initial pose, default none", controller_names());
    app.add_option("--initial", initial_,
                   "initial state: q=0.1,0.2 or q=random or v=..., or JOINT=Q; repeatable")
        ->allow_extra_args(false)
        ->type_name("NAME=VALUES");
    app.add_option("--keyframe", keyframe_,
                   "initial state and controls: a keyframe of the MJCF file")
        ->type_name("NAME");
    add_choice(app, "--ground", ground_,
               "ground: file (shapes of an MJCF file, default), plane (z = 0) or none",
               {"file", "plane", "none"})
        ->capture_default_str();
    add_number(app, "--clearance", clearance_, "M", "start a free robot this far above the ground",
               NumberRange::not_negative());
    app.add_option("-o,--output", output_, "log, .csv or .mcap; of a batch a folder or a_{}.csv")
        ->type_name("FILE");
    app.add_flag("--budget", budget_, "log the torque budget: inertial, Coriolis, gravity, ...");
    add_whole_number(app, "--batch", batch_,
                     "N runs with different seeds and parameters, one summary", 1);
    app.add_option("--vary", vary_, "batch with one run per row of a .csv or .toml file")
        ->type_name("FILE");
    add_choice(app, "--keep", keep_, "logs of a batch: all (default) or failed", {"all", "failed"})
        ->capture_default_str();
    add_whole_number(app, "--threads", threads_, "threads of a batch, default 0: all cores", 0,
                     kMaxThreads);
    add_number(app, "--max-wall", max_wall_, "S",
               "end the run or batch after this time, exit code 2", NumberRange::positive());
    add_choice(app, "--axes", axes_,
               "axes of the velocities of free joints in the summary: world (default) or body",
               {"world", "body"})
        ->capture_default_str();
    app.add_flag("--json", json_, "the summary as JSON");
  }

  Exit run(std::ostream& out) override {
    if (!vary_.empty() && (ground_ == "plane" || clearance_ || !initial_.empty())) {
      throw Error(
          "limb simulate: --ground plane, --clearance and --initial do not apply to the runs of "
          "--vary: write [ground] and [initial] into a scenario");
    }
    const Scenario scenario = read();
    robot_.report(kCall, scenario.model_path);
    for (const std::string& remark : scenario.remarks) {
      fmt::print(stderr, "{}: {}\n", kCall, remark);
    }
    if (const std::string warning = stiffness_warning(scenario); !warning.empty()) {
      fmt::print(stderr, "{}: warning: {}\n", kCall, warning);
    }
    try {
      return batch_ || !vary_.empty() ? run_many(scenario, out) : run_one(scenario, out);
    } catch (const Error& error) {
      // Errors of the scenario as a whole have no line; add the file.
      const std::string text = error.what();
      if (error.kind() != Error::Kind::bad_input || text.starts_with(kCall)) throw;
      throw Error(fmt::format("{}: {}: {}", kCall, robot_.path(), without_call(text)));
    }
  }

 private:
  static constexpr const char* kCall = "limb simulate";

  Exit run_one(const Scenario& scenario, std::ostream& out) const {
    const auto start = Clock::now();
    if (!output_.empty() && !output_.ends_with(".csv") && !output_.ends_with(".mcap")) {
      fail(kCall, "--output", "'" + output_ + "'", "a name that ends in .csv or .mcap");
    }
    if (!json_) out << setup_text(scenario) << std::flush;
    std::unique_ptr<LogWriter> log;
    if (!output_.empty()) {
      log = open_log(kCall, output_, log_topics(scenario), log_metadata(scenario),
                     log_attachments(scenario));
    }
    Progress progress(scenario.duration, "s simulated");
    const Interrupt interrupt;
    const RunSummary summary = run_scenario(scenario, log.get(), [&](double t) {
      progress.show(t);
      const std::string place = fmt::format("at {:.6g} of {} s", t, to_text(scenario.duration));
      Interrupt::check(kCall, place);
      check_wall(start, place);
    });
    progress.clear();
    const double wall = std::chrono::duration<double>(Clock::now() - start).count();
    if (json_) {
      out << json_document(json_of(scenario, summary, wall));
    } else {
      out << text_of(scenario, summary, axes_ == "world");
    }
    if (!summary.failure.empty()) {
      // The summary up to the failure is printed as well.
      fmt::print(stderr, "{}\n", with_call(summary.failure));
      return Exit::computation_failed;
    }
    return Exit::ok;
  }

  /// Ends a run at a place of it if --max-wall has passed since the start.
  void check_wall(Clock::time_point start, const std::string& place) const {
    if (!max_wall_ || std::chrono::duration<double>(Clock::now() - start).count() <= *max_wall_) {
      return;
    }
    fail_computation(kCall,
                     fmt::format("--max-wall of {} s is over {}", to_text(*max_wall_), place));
  }

  /// Errors of the log and of signals name the call already.
  static std::string with_call(const std::string& failure) {
    return failure.starts_with(kCall) ? failure
                                      : fmt::format("{}: {}", kCall, without_call(failure));
  }

  /// The same without the call.
  static std::string without_any_call(const std::string& failure) {
    return without_call(with_call(failure).substr(std::string_view(kCall).size() + 2));
  }

  static bool is_scenario(const std::string& path) {
    if (!path.ends_with(".toml")) return false;
    return parse_toml(kCall, read_text_file(kCall, path), path).find("model") != nullptr;
  }

  Scenario read() const {
    Scenario s = is_scenario(robot_.path())
                     ? read_scenario(kCall, robot_.path(), robot_.read_options())
                     : scenario_of(robot_.path(), robot_.base(), robot_.read_options());
    s.duration = duration_.value_or(s.duration);
    s.simulation.step = step_.value_or(s.simulation.step);
    if (!integrator_.empty()) s.simulation.method = method_from_text(kCall, integrator_);
    s.seed = seed_.value_or(s.seed);
    if (keyframe_) {
      check_keyframe(s);
      set_keyframe(kCall, *keyframe_, s);
    }
    for (const std::string& text : initial_) {
      set_initial(fmt::format("{}: --initial {}", kCall, text), initial_table(text), s);
    }
    if (ground_ == "none") s.contact.reset();
    if (ground_ == "plane") set_plane(kCall, s);
    // On a plane that its file does not know, a robot starts without overlap.
    const bool placed = ground_ == "plane" && !keyframe_ && has_free_base(s.model);
    if (clearance_ || placed) set_clearance(kCall, clearance_.value_or(0), s);
    if (!controller_.empty()) set_controller_kind(kCall, controller_, s);
    s.log_budget = s.log_budget || budget_;
    s.world.dynamics = WorldOptions::Dynamics::compiled;
    check_times(kCall, s);
    return s;
  }

  void check_keyframe(const Scenario& s) const {
    std::string names;
    for (const StateDescription& key : s.description.scene.keyframes) {
      if (key.name == *keyframe_) return;
      names += (names.empty() ? "" : ", ") + key.name;
    }
    fail(kCall, "--keyframe", "'" + *keyframe_ + "'",
         names.empty() ? "none: the model file has no keyframes" : "one of " + names);
  }

  /// "q=0.1,0.2" as the table [initial] of a scenario; a name other than q and v is that of a
  /// joint.
  static std::string initial_table(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0 || equals + 1 == text.size()) {
      fail(kCall, "--initial", fmt::format("'{}'", text),
           "q=NUMBERS, q=random, v=NUMBERS or JOINT=NUMBERS");
    }
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    const bool state = name == "q" || name == "v";
    const bool many = state || value.find(',') != value.npos;
    const std::string toml = value == "random"                 ? "\"random\""
                             : many && !value.starts_with('[') ? fmt::format("[{}]", value)
                                                               : value;
    return state ? fmt::format("[initial]\n{} = {}\n", name, toml)
                 : fmt::format("[initial]\nq = {{\"{}\" = {}}}\n", name, toml);
  }

  static std::string programs_text(const RunSummary& r) {
    if (r.programs == nullptr) return {};
    const QpStatistics& p = *r.programs;
    std::string text = fmt::format("quadratic programs: {} of {} solved, fallback in {} steps\n",
                                   p.steps + p.predictions - p.unsolved - p.predictions_unsolved,
                                   p.steps + p.predictions, p.fall_backs);
    return text + fmt::format(
                      "largest violation: forces {} N outside their cones, torques {} "
                      "N m over their limits\n",
                      short_number(p.outside_cone), short_number(p.over_limit));
  }
  static Json programs_json(const RunSummary& r) {
    if (r.programs == nullptr) return nullptr;
    const QpStatistics& p = *r.programs;
    return {{"steps", p.steps},
            {"unsolved", p.unsolved},
            {"fell_back", p.fall_backs},
            {"predictions", p.predictions},
            {"predictions_unsolved", p.predictions_unsolved},
            {"max_iterations", p.iterations},
            {"stationarity", p.residuals.stationarity},
            {"primal", p.residuals.primal},
            {"outside_cone", p.outside_cone},
            {"over_limit", p.over_limit}};
  }

  static std::string text_of(const Scenario& s, const RunSummary& r, bool world_axes) {
    std::string text = fmt::format("{}: {} s by {} in {} steps\n", s.model.name(), to_cell(r.t),
                                   to_text(s.simulation.method), r.steps);
    text += fmt::format("energy {} J at the start, {} J at the end\n", to_cell(r.energy_start),
                        to_cell(r.energy_end));
    // J; what rounding moves a robot in equilibrium.
    constexpr double kStill = 1e-9;
    if (r.balance.exchanged < kStill && r.end.kinetic < kStill && r.failure.empty()) {
      text +=
          "nothing moved: the robot starts in equilibrium (--initial q=... sets another state)\n";
    }
    if (s.contact) text += fmt::format("dissipated by contacts {} J\n", to_cell(r.dissipated));
    if (r.unsolved_contacts > 0) {
      text += fmt::format(
          "contacts not solved to their tolerance in {} of {} steps: best impulses found, without "
          "energy gain\n",
          r.unsolved_contacts, r.steps);
    }
    if (std::isfinite(r.target_error)) {
      text += fmt::format("distance to the target {}\n", to_cell(r.target_error));
    }
    if (r.saturated_periods > 0) {
      text += fmt::format("motors at their limits in {} of {} control periods\n",
                          r.saturated_periods, r.control_periods);
    }
    text += programs_text(r);
    text += energy_text(r);
    const auto bodies = free_bodies(s.model, r, world_axes);
    if (!bodies.empty()) {
      Table table(fmt::format("\nFree joints at the end (m, rad; velocities in {} axes)",
                              world_axes ? "world" : "body"),
                  {"", "x", "y", "z", "w"});
      for (const FreeBody& body : bodies) {
        if (body.moves) table.add(body.name + " position", numbers_of(body.position));
        table.add(body.name + " quaternion", numbers_of(body.quaternion));
        if (body.moves) table.add(body.name + " velocity", numbers_of(body.velocity));
        table.add(body.name + " angular velocity", numbers_of(body.angular_velocity));
      }
      text += table.text();
    }
    Table table("\nJoints at the end (rad, m; peak: N m, N)", {"", "q", "v", "peak torque"});
    const auto names = velocity_names(s.model);
    bool any = false;
    for (const auto& row : s.model.coupling().rows()) {
      // Components of a quaternion do not correspond to velocities.
      if (row.yq < 0 || row.nq != row.nv) continue;
      for (std::size_t k = 0; k < row.terms.size(); ++k) {
        const int y = row.terms[k].y;
        any = true;
        table.add({names[static_cast<std::size_t>(y)], to_cell(r.q[row.yq + static_cast<int>(k)]),
                   to_cell(r.v[y]), to_cell(r.peak_torque[y])});
      }
    }
    return any ? text + table.text() : text;
  }

  /// Integrator, step, what is implicit, and contact: before the run, for runs that take long.
  static std::string setup_text(const Scenario& s) {
    std::string text = fmt::format("{}, {} {} s; implicit: {}", to_text(s.simulation.method),
                                   is_adaptive(s.simulation.method) ? "steps up to" : "step",
                                   to_text(s.simulation.step), implicit_text(s));
    if (s.contact) {
      const std::size_t shapes = s.contact->shapes.size();
      text += fmt::format("; {} contact shape{}", shapes, shapes == 1 ? "" : "s");
    }
    return text + "\n";
  }

  /// Energies, and where they went.
  static std::string energy_text(const RunSummary& r) {
    Table table("\nEnergy (J)", {"", "start", "end", "change"});
    const auto row = [&](const char* name, double start, double end) {
      table.add(name, std::vector<double>{start, end, end - start});
    };
    row("kinetic", r.start.kinetic, r.end.kinetic);
    row("potential", r.start.potential, r.end.potential);
    if (r.start.stored != 0 || r.end.stored != 0) row("stored", r.start.stored, r.end.stored);
    for (std::size_t i = 0; i < kEnergyEntries; ++i) {
      if (r.balance.entries[i] == 0) continue;
      table.add({std::string(to_text(static_cast<EnergyEntry>(i))), "", "",
                 to_cell(r.balance.entries[i])});
    }
    table.add({"error of integration", "", "", to_cell(r.balance.closure)});
    return table.text();
  }
  /// limb.results.Energy at the start and at the end.
  static Json energy_json(const RunSummary& r) {
    const auto parts = [](const World::Energy& e) {
      return Json{{"kinetic", number(e.kinetic)},
                  {"potential", number(e.potential)},
                  {"stored", number(e.stored)},
                  {"total", number(e.total())}};
    };
    return {{"start", parts(r.start)}, {"end", parts(r.end)}};
  }
  /// limb.results.EnergyBalance.
  static Json balance_json(const RunSummary& r) {
    Json balance = {{"change", number(r.balance.change())},
                    {"closure", number(r.balance.closure)},
                    {"exchanged", number(r.balance.exchanged)}};
    for (std::size_t i = 0; i < kEnergyEntries; ++i) {
      balance[std::string(to_text(static_cast<EnergyEntry>(i)))] = number(r.balance.entries[i]);
    }
    return balance;
  }

  /// A free or spherical joint at the end of a run.
  struct FreeBody {
    std::string name;
    bool moves = true;  ///< not spherical
    Vector3<double> position, velocity, angular_velocity;
    Vector4<double> quaternion;  ///< x, y, z, w
  };
  /// Velocities of free joints in world axes or those of the body; of spherical joints always the
  /// latter.
  static std::vector<FreeBody> free_bodies(const Model<double>& model, const RunSummary& r,
                                           bool world_axes) {
    std::vector<FreeBody> all;
    const auto& rows = model.coupling().rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Body<double>& body = model.bodies()[i + 1];
      const int offset = quaternion_offset(body.joint.type());
      if (rows[i].yq < 0 || offset < 0) continue;
      const int q = rows[i].yq, v = rows[i].terms[0].y;
      FreeBody free;
      free.name = body.name;
      free.moves = offset == 3;
      free.quaternion = r.q.segment<4>(q + offset);
      free.angular_velocity = r.v.segment<3>(v + offset);
      if (free.moves) {
        free.position = r.q.segment<3>(q);
        free.velocity = r.v.segment<3>(v);
        if (world_axes) {
          const Vector4<double>& x = free.quaternion;
          const Quaternion<double> q_WB = quat_xyzw(x[0], x[1], x[2], x[3]);
          free.velocity = q_WB.rotate(free.velocity);
          free.angular_velocity = q_WB.rotate(free.angular_velocity);
        }
      }
      all.push_back(free);
    }
    return all;
  }
  static Json free_json(const Model<double>& model, const RunSummary& r) {
    Json all = Json::object();
    for (const FreeBody& body : free_bodies(model, r, /*world_axes=*/true)) {
      if (!body.moves) continue;
      all[body.name] = {{"position", numbers(body.position)},
                        {"quaternion", numbers(body.quaternion)},
                        {"velocity_world", numbers(body.velocity)},
                        {"angular_velocity_world", numbers(body.angular_velocity)}};
    }
    return all;
  }

  static Json json_of(const Scenario& s, const RunSummary& r, double wall) {
    return {{"robot", s.model.name()},
            {"t", r.t},
            {"steps", r.steps},
            {"failure", r.failure.empty() ? Json(nullptr) : Json(without_any_call(r.failure))},
            {"integrator", to_text(s.simulation.method)},
            {"step", s.simulation.step},
            {"implicit", implicit_text(s)},
            {"contact_shapes", s.contact ? s.contact->shapes.size() : 0},
            {"q", numbers(r.q)},
            {"v", numbers(r.v)},
            {"free_joints", free_json(s.model, r)},
            {"peak_torque", numbers(r.peak_torque)},
            {"energy_start", r.energy_start},
            {"energy_end", r.energy_end},
            {"largest_energy_change", r.largest_energy_change},
            {"energy", energy_json(r)},
            {"balance", balance_json(r)},
            {"target_error", number(r.target_error)},
            {"dissipated", r.dissipated},
            {"penetration", s.contact ? number(r.penetration) : Json(nullptr)},
            {"unsolved_contacts", s.contact ? Json(r.unsolved_contacts) : Json(nullptr)},
            {"control_periods", r.control_periods},
            {"saturated_periods", r.saturated_periods},
            {"programs", programs_json(r)},
            {"real_time_factor", wall > 0 ? r.t / wall : 0}};
  }

  /// Whether the runs of a batch can differ.
  static bool runs_differ(const Scenario& s) {
    const bool noise = std::any_of(s.sensors.begin(), s.sensors.end(), [](const SensorSetup& x) {
      return feeds_back(x) && (x.errors.noise > 0 || x.errors.bias_walk > 0);
    });
    return s.spread.mass > 0 || s.spread.friction > 0 || s.spread.initial > 0 ||
           !s.disturbances.empty() || (s.measured_feedback && noise);
  }

  std::vector<RunSummary> run_interruptible(const Scenario& scenario, ScenarioBatchOptions options,
                                            Progress& progress) const {
    struct Interrupted {};  // not an Error, which would be the failure of a run
    int finished = 0;
    const Interrupt interrupt;
    try {
      options.progress = [&](int done) {
        finished = done;
        progress.show(done);
        if (Interrupt::signal() != 0) throw Interrupted();
      };
      return run_batch(scenario, options);
    } catch (const Interrupted&) {
      progress.clear();
      fail_computation(kCall,
                       fmt::format("interrupted after {} of {} runs", finished, options.runs));
    }
  }

  /// Options that the rows of --vary would override silently.
  void check_varied(const ScenarioVariation& variation) const {
    const std::pair<const char*, bool> keys[] = {
        {"duration", duration_.has_value()},       {"step", step_.has_value()},
        {"integrator", !integrator_.empty()},      {"seed", seed_.has_value()},
        {"controller.type", !controller_.empty()}, {"keyframe", keyframe_.has_value()}};
    for (const auto& [key, given] : keys) {
      if (!given || !variation.has(key)) continue;
      throw Error(fmt::format("{}: {} varies '{}', which an option sets: leave out one of them",
                              kCall, variation.path, key));
    }
  }

  /// Name of the log of a run, from 1: logs/run_{}.csv -> logs/run_007.csv.
  std::string log_of_run(int index, int runs) const {
    std::string pattern = output_;
    if (pattern.find("{}") == std::string::npos) {
      pattern = (std::filesystem::path(pattern) / "run_{}.mcap").string();
    }
    const std::string digits = std::to_string(runs);
    return pattern.replace(pattern.find("{}"), 2, fmt::format("{:0{}}", index + 1, digits.size()));
  }

  ScenarioBatchOptions batch_options(const ScenarioVariation& variation) const {
    ScenarioBatchOptions options;
    options.call = kCall;
    options.threads = threads_;
    if (!vary_.empty()) options.variation = &variation;
    options.runs = batch_ ? *batch_ : static_cast<int>(variation.rows.size());
    if (keep_ == "failed") options.keep = ScenarioBatchOptions::Keep::failed;
    if (output_.empty()) return options;
    const std::filesystem::path first = log_of_run(0, options.runs);
    std::error_code error;
    if (first.has_parent_path()) std::filesystem::create_directories(first.parent_path(), error);
    if (error) {
      throw Error(fmt::format("{}: cannot write {}: {}", kCall, first.parent_path().string(),
                              error.message()));
    }
    options.log_path = [this, runs = options.runs](int index) { return log_of_run(index, runs); };
    return options;
  }

  /// Results of each run of --vary.
  Json runs_json(const std::vector<RunSummary>& runs) const {
    Json list = Json::array();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const RunSummary& r = runs[i];
      const bool kept = !output_.empty() && (keep_ == "all" || !r.failure.empty());
      list.push_back(
          {{"run", i + 1},
           {"t", r.t},
           {"failure", r.failure.empty() ? Json(nullptr) : Json(without_any_call(r.failure))},
           {"q", numbers(r.q)},
           {"v", numbers(r.v)},
           {"energy", energy_json(r)},
           {"balance", balance_json(r)},
           {"target_error", number(r.target_error)},
           {"log", kept ? Json(log_of_run(static_cast<int>(i), static_cast<int>(runs.size())))
                        : Json(nullptr)}});
    }
    return list;
  }

  Exit run_many(const Scenario& scenario, std::ostream& out) const {
    ScenarioVariation variation;
    if (!vary_.empty()) {
      if (batch_) throw Error("limb simulate: --vary has one run per row, leave out --batch");
      variation = read_variation(kCall, vary_);
      check_varied(variation);
      if (keyframe_) {
        for (auto& row : variation.rows) {
          TomlValue name;
          name.kind = TomlValue::Kind::text;
          name.text = *keyframe_;
          row.cells.insert(row.cells.begin(), {"keyframe", name});
        }
      }
    }
    ScenarioBatchOptions options = batch_options(variation);
    options.check = [this, start = Clock::now()](double t) {
      check_wall(start, fmt::format("at {:.6g} s of this run", t));
    };
    check_memory(kCall, "--batch", std::to_string(options.runs),
                 batch_bytes(scenario, options.runs));
    Progress progress(options.runs, "runs");
    const std::vector<RunSummary> runs = run_interruptible(scenario, options, progress);
    progress.clear();
    std::vector<double> t, error, change;
    std::vector<std::vector<double>> peaks(static_cast<std::size_t>(scenario.v.size()));
    int failed = 0;
    for (const RunSummary& r : runs) {
      if (!r.failure.empty()) {
        ++failed;
        continue;
      }
      change.push_back(r.energy_end - r.energy_start);
      if (std::isfinite(r.target_error)) error.push_back(r.target_error);
      for (std::size_t i = 0; i < peaks.size(); ++i) {
        peaks[i].push_back(r.peak_torque[static_cast<Eigen::Index>(i)]);
      }
    }
    const auto names = velocity_names(scenario.model);
    if (json_) {
      Json torque;
      for (std::size_t i = 0; i < peaks.size(); ++i) torque[names[i]] = Statistics(peaks[i]).json();
      Json result = {{"robot", scenario.model.name()},
                     {"runs", runs.size()},
                     {"failed", failed},
                     {"balance", {{"change", Statistics(change).json()}}},
                     {"peak_torque", torque}};
      if (!error.empty()) result["target_error"] = Statistics(error).json();
      if (!vary_.empty()) result["each"] = runs_json(runs);
      out << json_document(result);
    } else {
      out << fmt::format("{}: {} runs of {} s, {} failed\n", scenario.model.name(), runs.size(),
                         to_cell(scenario.duration), failed);
      if (vary_.empty() && !runs_differ(scenario)) {
        out << "All runs are identical: they differ with [batch] of a scenario, disturbances, or "
               "noise of sensors\nused for feedback, or by the rows of --vary.\n";
      }
      Table table("\nOver the runs", {"", "mean", "deviation", "min", "max"});
      table.add("energy change, J", Statistics(change).row());
      if (!error.empty()) table.add("distance to the target", Statistics(error).row());
      for (std::size_t i = 0; i < peaks.size(); ++i) {
        table.add("peak torque, " + names[i], Statistics(peaks[i]).row());
      }
      out << table.text();
    }
    for (const RunSummary& r : runs) {
      if (r.failure.empty()) continue;
      fmt::print(stderr, "limb simulate: {} of {} runs failed, the first: {}\n", failed,
                 runs.size(), without_any_call(r.failure));
      return Exit::computation_failed;
    }
    return Exit::ok;
  }

  RobotOptions robot_;
  std::optional<double> duration_, step_, clearance_;
  std::optional<std::uint64_t> seed_;
  std::optional<int> batch_;
  int threads_ = 0;
  std::string integrator_, controller_, output_, ground_ = "file", axes_ = "world";
  std::string vary_, keep_ = "all";
  std::optional<std::string> keyframe_;
  std::vector<std::string> initial_;
  std::optional<double> max_wall_;
  bool json_ = false, budget_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_simulate() {
  return std::make_unique<Simulate>();
}

}  // namespace limb::cli
