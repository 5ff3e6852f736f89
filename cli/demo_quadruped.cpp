#include "cli/demo_quadruped.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "cli/function_timer.hpp"
#include "cli/interrupt.hpp"
#include "cli/legged_animation.hpp"
#include "cli/legged_charts.hpp"
#include "cli/legged_figure.hpp"
#include "cli/progress.hpp"
#include "cli/report_page.hpp"
#include "cli/walk_plan.hpp"
#include "limb/dynamics/robot/proof.hpp"
#include "limb/legged/legged_summary.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/lint/check.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr double kSettling = 1.0;  // s of the trot before its speed is measured
constexpr double kStanding = 1.0;  // s of standing at the end

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Shows the current activity, if stderr is a terminal.
void show_activity(const std::string& text) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "limb demo: {}\n", text);
}

/// A section of the demo: lines for the terminal, numbers, and a table for the page.
struct Section {
  std::string text, page;
  Json numbers;
  bool ok = true;
};

Section check_section(const QuadrupedDemo& demo) {
  show_activity("checking " + demo.model);
  Diagnostics found;
  const Description<double> robot = parse_robot(demo.model, demo.read, found);
  const Diagnostics rules = check_robot(robot);
  found.insert(found.end(), rules.begin(), rules.end());
  int errors = 0, warnings = 0;
  std::string list;
  for (const Diagnostic& d : found) {
    errors += d.severity == Diagnostic::Severity::error ? 1 : 0;
    warnings += d.severity == Diagnostic::Severity::warning ? 1 : 0;
    if (d.severity != Diagnostic::Severity::note) list += d.text() + "\n";
  }
  Section section;
  section.ok = errors == 0;
  section.text = fmt::format("  check    {} errors, {} warnings in {} links and joints\n", errors,
                             warnings, robot.links.size() + robot.joints.size());
  section.page = "<pre>" + section.text + list + "</pre>\n";
  section.numbers = {{"errors", errors}, {"warnings", warnings}};
  return section;
}

Section prove_section(const Model<double>& model) {
  show_activity("proving that all formulations of its dynamics agree");
  ProofOptions options;
  const std::vector<ProofRow> rows = prove(model, options);
  Section section;
  double largest = 0;
  Table table("", {"statement", "largest difference", "allowed", ""});
  for (const ProofRow& row : rows) {
    section.ok = section.ok && row.holds();
    largest = std::max(largest, row.worst);
    table.add({row.statement, fmt::format("{:.1e}", row.worst),
               fmt::format("{:.0e}", row.tolerance), row.holds() ? "holds" : "FAILS"});
  }
  section.text = fmt::format(
      "  prove    {} statements about the dynamics at {} random states: {}, largest difference "
      "{:.0e}\n",
      rows.size(), options.states, section.ok ? "all hold" : "NOT all hold", largest);
  section.page = "<pre>" + table.text() + "</pre>\n";
  section.numbers = {{"statements", rows.size()},
                     {"states", options.states},
                     {"holds", section.ok},
                     {"largest_difference", largest}};
  return section;
}

Section compile_section(const Model<double>& model) {
  show_activity("compiling the dynamics and measuring times");
  const std::vector<DynamicsFunction> functions = {DynamicsFunction::rnea, DynamicsFunction::crba,
                                                   DynamicsFunction::aba};
  CompileOptions options;
  const auto start = Clock::now();
  const Compiled fast = compile(model, functions, options);
  const double compiling = 1e3 * seconds_since(start);
  CompileOptions templates;
  templates.program.interpret = true;
  const Compiled slow = compile(model, functions, templates);
  constexpr std::int64_t kStates = 4096;
  const FunctionTimer timer(model, 0.04, kStates);
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Table table("", {"ns per state", "templates", "compiled", fmt::format("batch of {}", kStates),
                   fmt::format("{} threads", threads)});
  Section section;
  Json rows = Json::array();
  for (const DynamicsFunction f : functions) {
    const double times[] = {timer.one(slow, f), timer.one(fast, f), timer.batch<double>(fast, f, 1),
                            timer.batch<double>(fast, f, threads)};
    std::vector<std::string> cells = {limb::to_text(f)};
    for (const double t : times) cells.push_back(fmt::format("{:.0f}", t));
    table.add(cells);
    rows.push_back({{"function", limb::to_text(f)},
                    {"template_ns", times[0]},
                    {"compiled_ns", times[1]},
                    {"batch_ns", times[2]},
                    {"threads_ns", times[3]}});
  }
  std::string text = table.text();
  text.erase(0, text.find('\n') + 1);  // the empty title
  section.text = fmt::format(
      "  compile  machine code in {:.1f} ms{}\n{}", compiling,
      fast.why_not_compiled().empty() ? "" : "; not available: " + fast.why_not_compiled(), text);
  section.page = "<pre>" + section.text + "</pre>\n";
  section.numbers = {{"compile_ms", compiling},
                     {"why_not_compiled", fast.why_not_compiled()},
                     {"functions", rows}};
  return section;
}

/// Use of the friction cones by the feet in contact.
struct FrictionUse {
  double high = 0;  ///< 99th percentile of tangential force / friction limit
  double slid = 0;  ///< share of samples at the limit
};
FrictionUse friction_use(const LeggedRun& run) {
  const double weight = run.robot().model.total_mass() * run.robot().model.gravity().norm();
  std::vector<double> shares;
  for (const LeggedStep& s : run.steps()) {
    for (const auto& cone : s.foot_cone) {
      if (cone[0] > 0.05 * weight) shares.push_back(cone[1] / cone[2]);
    }
  }
  if (shares.empty()) return {};
  std::sort(shares.begin(), shares.end());
  const auto n = static_cast<double>(shares.size());
  const auto edge = std::lower_bound(shares.begin(), shares.end(), 0.999);
  return {shares[static_cast<std::size_t>(0.99 * (n - 1))],
          static_cast<double>(shares.end() - edge) / n};
}

Section walk_section(const QuadrupedDemo& demo, const WalkPlan& plan, const LeggedRun& run,
                     double computing) {
  const bool walks = Qp::available();
  const double start = walks ? kTrotStart + kSettling : 1.2;
  const LeggedSummary all = summarize(run, start);
  double torque = 0, max_torque = 0;
  std::string strongest;
  for (const TorqueShare& s : torque_shares(run)) {
    if (s.high > torque) strongest = s.joint;
    torque = std::max(torque, s.high);
    max_torque = std::max(max_torque, s.max);
  }
  // The speed is averaged until the command to stop.
  Vector3<double> mean = Vector3<double>::Zero();
  double count = 0;
  for (const LeggedStep& s : run.steps()) {
    if (s.t < start || s.t > kTrotStart + demo.seconds) continue;
    const Matrix3<double> R = to_matrix(Quaternion<double>::from_xyzw(s.q.segment<4>(3)));
    const Vector3<double> v = R * s.v.head<3>();
    const double yaw = std::atan2(R(1, 0), R(0, 0));
    mean += Vector3<double>(std::cos(yaw) * v.x() + std::sin(yaw) * v.y(),
                            std::cos(yaw) * v.y() - std::sin(yaw) * v.x(), v.z());
    ++count;
  }
  if (count > 0) mean /= count;
  const FrictionUse friction = friction_use(run);
  Section section;
  section.ok = !run.fell();
  std::string& text = section.text;
  text = fmt::format("  walk     Walked {}\n", describe(demo, plan, run.time()));
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("    {:<22}{}\n", name, value);
  };
  add("fell", run.fell() ? fmt::format("YES, at {:.1f} s", run.time()) : "no");
  if (walks && plan.speed != 0) {
    add("true velocity",
        fmt::format("{:.3f} m/s forward, {:+.1f} % of the command; tilt up to {:.1f} deg", mean.x(),
                    100 * (mean.x() / plan.speed - 1), 180 / M_PI * all.largest_tilt));
  }
  add("base estimate",
      fmt::format("error {:.1f} cm after {:.1f} m, yaw {:.1f} deg; velocity {:.3f} m/s rms",
                  100 * all.position_error, all.distance, 180 / M_PI * all.yaw_error,
                  all.velocity_error));
  add("  beyond 3 sigma", fmt::format("{:.2f} % of all components", 100 * all.beyond_three_sigma));
  add("friction used",
      fmt::format("{:.0f} % of the cone (99th percentile); sliding {:.1f} % of the time",
                  100 * friction.high, 100 * friction.slid));
  add("torque used", fmt::format("{:.0f} % of the limit of {} (99th percentile), at most {:.0f} %",
                                 100 * torque, strongest, 100 * max_torque));
  const double period = 1e6 * run.options().controller->locomotion.control_period;
  Table table(
      fmt::format("  Time per control step, us; period {:g} us ({:.1f} s simulated in {:.1f} s)",
                  period, run.time(), computing),
      {"", "mean", "99 %", "99.9 %", "max", "steps"});
  Json times = Json::object();
  for (const PartTimes& p : part_times(run, walks ? kTrotStart : 0)) {
    table.add({p.part, fmt::format("{:.0f}", p.mean), fmt::format("{:.0f}", p.p99),
               fmt::format("{:.0f}", p.p999), fmt::format("{:.0f}", p.max),
               std::to_string(p.steps)});
    times[p.part] = {
        {"mean", p.mean}, {"p99", p.p99}, {"p999", p.p999}, {"max", p.max}, {"steps", p.steps}};
  }
  text += table.text();
  section.numbers = {{"walks", walks},
                     {"fell", run.fell()},
                     {"end", run.time()},
                     {"computing_s", computing},
                     {"command", plan.speed},
                     {"mean_velocity", {mean.x(), mean.y()}},
                     {"distance", all.distance},
                     {"largest_tilt", all.largest_tilt},
                     {"position_error", all.position_error},
                     {"yaw_error", all.yaw_error},
                     {"velocity_error", all.velocity_error},
                     {"tilt_error", all.tilt_error},
                     {"beyond_three_sigma", all.beyond_three_sigma},
                     {"friction_share", friction.high},
                     {"slid_share", friction.slid},
                     {"torque_share", torque},
                     {"max_torque_share", max_torque},
                     {"fell_back", all.fell_back},
                     {"unsolved", all.unsolved},
                     {"step_us", times}};
  return section;
}

std::string page_of(const std::string& robot, const Section& check, const Section& proof,
                    const Section& compiled, const Section& walk, const LeggedRun& run) {
  std::string body = fmt::format("<p>{}</p>\n<pre>{}</pre>\n", robot, walk.text);
  body += "<h2>Walk</h2>\n" + legged_animation(run);
  body +=
      "<p>Blue: the true motion, which the controller does not see. Dashed orange: the base as "
      "estimated from an IMU, joint encoders and the contact forces. Green: the contact forces; "
      "the weight would be as long as the robot is high.</p>\n";
  body += legged_strip(run);
  body += "<h2>Base: truth and estimate</h2>\n" + legged_motion_chart(run);
  body += "<p>Errors of the estimate with their 3-sigma bounds:</p>\n" + legged_error_charts(run);
  body += "<h2>Contact forces in their cones</h2>\n" + legged_contact_chart(run);
  body += "<h2>Torque budget</h2>\n" + legged_torque_chart(run);
  body += "<h2>Time per control step</h2>\n" + legged_time_chart(run);
  body += "<h2>Model check</h2>\n" + check.page;
  body += "<h2>Equations of motion</h2>\n" + proof.page;
  body += "<h2>Computation times</h2>\n" + compiled.page;
  return report_page("A quadruped walking on its own state estimate", body);
}

}  // namespace

DemoResult demo_quadruped(const QuadrupedDemo& demo) {
  const auto start = Clock::now();
  const Section checked = check_section(demo);
  const LeggedRobot robot = read_quadruped(demo);
  const WalkPlan plan = plan_walk(demo, robot);
  const Section proof = prove_section(robot.model);
  const Section compiled = compile_section(robot.model);

  const double end = Qp::available() ? kTrotStart + demo.seconds + kStopping + kStanding : 3;
  show_activity("simulating " + describe(demo, plan, end));
  LeggedRun run(robot, walk_options(demo, plan));
  const auto simulation_start = Clock::now();
  {
    Progress progress(end, "s");
    const Interrupt interrupt;
    for (double t = 0.1; t < end + 0.05; t += 0.1) {
      if (!run.run_until(std::min(t, end))) break;
      progress.show(run.time());
      Interrupt::check("limb demo", fmt::format("at {:.1f} of {:g} s", run.time(), end));
    }
  }
  const Section walk = walk_section(demo, plan, run, seconds_since(simulation_start));

  const std::string name = fmt::format(
      "{}: {:.1f} kg, {} joints, {:.2f} m high, {} degrees of freedom", robot.model.name(),
      robot.model.total_mass(), robot.model.nv() - 6, robot.height(), robot.model.nv());
  std::string remarks;
  if (demo.model != QuadrupedDemo().model) {
    for (const std::string& remark : robot.remarks) remarks += "  " + remark + "\n";
  }
  DemoResult result;
  const std::string heading =
      remarks.empty() ? name : name + "</p>\n<pre>" + html_text(remarks) + "</pre>\n<p>";
  result.page = page_of(heading, checked, proof, compiled, walk, run);
  result.picture = legged_strip(run);
  result.ok = walk.ok;
  const double took = seconds_since(start);
  result.text = name + "\n" + remarks + checked.text + proof.text + compiled.text + walk.text +
                fmt::format("Took {:.1f} s.\n", took);
  result.numbers = {{"robot", robot.model.name()},
                    {"mass", robot.model.total_mass()},
                    {"height", robot.height()},
                    {"feet", robot.feet},
                    {"remarks", robot.remarks},
                    {"seed", demo.seed},
                    {"check", checked.numbers},
                    {"proof", proof.numbers},
                    {"compile", compiled.numbers},
                    {"walk", walk.numbers},
                    {"took_s", took}};
  return result;
}

}  // namespace limb::cli
