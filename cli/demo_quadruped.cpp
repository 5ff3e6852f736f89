#include "cli/demo_quadruped.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "cli/function_timer.hpp"
#include "cli/legged_charts.hpp"
#include "cli/legged_figure.hpp"
#include "cli/progress.hpp"
#include "cli/report_page.hpp"
#include "limb/dynamics/proof.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/model/check.hpp"
#include "limb/model/load.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr double kBegin = 1.5;    // s of standing before the trot
constexpr double kSettled = 1.0;  // s of it until its speed counts
constexpr double kSlow = 1.0;     // s of trotting on the spot after it: feet catch up
constexpr double kEnd = 1.0;      // s of standing at last

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What is being done, for who waits at a terminal.
void say(const std::string& text) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "limb demo: {}\n", text);
}

void check_range(const char* option, double value, double low, double high) {
  if (value >= low && value <= high) return;
  throw Error(
      fmt::format("limb demo: {} is {:g}, expected {:g} to {:g}", option, value, low, high));
}

/// A part of the demo: lines for the screen, numbers, and a table for the page.
struct Part {
  std::string text, page;
  Json numbers;
  bool ok = true;
};

Part check_part(const QuadrupedDemo& demo) {
  say("checking " + demo.model);
  Diagnostics found;
  const Description<double> robot = parse_robot(demo.model, {}, found);
  const Diagnostics rules = check(robot);
  found.insert(found.end(), rules.begin(), rules.end());
  int errors = 0, warnings = 0;
  std::string list;
  for (const Diagnostic& d : found) {
    errors += d.severity == Diagnostic::Severity::error ? 1 : 0;
    warnings += d.severity == Diagnostic::Severity::warning ? 1 : 0;
    if (d.severity != Diagnostic::Severity::note) list += d.text() + "\n";
  }
  Part part;
  part.ok = errors == 0;
  part.text = fmt::format("  check    {} errors, {} warnings in {} links and joints\n", errors,
                          warnings, robot.links.size() + robot.joints.size());
  part.page = "<pre>" + part.text + list + "</pre>\n";
  part.numbers = {{"errors", errors}, {"warnings", warnings}};
  return part;
}

Part prove_part(const Model<double>& model) {
  say("proving that every formulation of its dynamics gives the same");
  ProofOptions options;
  const std::vector<ProofRow> rows = prove(model, options);
  Part part;
  double largest = 0;
  Table table("", {"statement", "largest difference", "allowed", ""});
  for (const ProofRow& row : rows) {
    part.ok = part.ok && row.holds();
    largest = std::max(largest, row.worst);
    table.add({row.statement, fmt::format("{:.1e}", row.worst),
               fmt::format("{:.0e}", row.tolerance), row.holds() ? "holds" : "FAILS"});
  }
  part.text = fmt::format(
      "  prove    {} statements about its dynamics on {} random states: {}, largest difference "
      "{:.0e}\n",
      rows.size(), options.states, part.ok ? "all hold" : "NOT all hold", largest);
  part.page = "<pre>" + table.text() + "</pre>\n";
  part.numbers = {{"statements", rows.size()},
                  {"states", options.states},
                  {"hold", part.ok},
                  {"largest_difference", largest}};
  return part;
}

Part compile_part(const Model<double>& model) {
  say("compiling it and measuring speeds");
  const std::vector<Function> functions = {Function::rnea, Function::crba, Function::aba};
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
  Table table("", {"ns a state", "templates", "compiled", fmt::format("batch of {}", kStates),
                   fmt::format("{} threads", threads)});
  Part part;
  Json rows = Json::array();
  for (const Function f : functions) {
    const double times[] = {timer.one(slow, f), timer.one(fast, f), timer.batch<double>(fast, f, 1),
                            timer.batch<double>(fast, f, threads)};
    std::vector<std::string> cells = {limb::name(f)};
    for (const double t : times) cells.push_back(fmt::format("{:.0f}", t));
    table.add(cells);
    rows.push_back({{"function", limb::name(f)},
                    {"template_ns", times[0]},
                    {"compiled_ns", times[1]},
                    {"batch_ns", times[2]},
                    {"threads_ns", times[3]}});
  }
  std::string text = table.text();
  text.erase(0, text.find('\n') + 1);  // the empty title
  part.text = fmt::format("  compile  machine code in {:.1f} ms{}\n{}", compiling,
                          fast.notice().empty() ? "" : "; none here: " + fast.notice(), text);
  part.page = "<pre>" + part.text + "</pre>\n";
  part.numbers = {{"compile_ms", compiling}, {"notice", fast.notice()}, {"functions", rows}};
  return part;
}

LeggedRunOptions walk_options(const QuadrupedDemo& demo) {
  LeggedRunOptions options;
  options.seed = demo.seed;
  const double end = kBegin + demo.seconds;
  options.plan = {{kBegin, Gait::trot(), {demo.speed, 0, 0}},
                  {end, Gait::trot(), {}},
                  {end + kSlow, Gait::stand(4), {}}};
  if (demo.push != 0) options.pushes = {{kBegin + demo.seconds / 2, {0, demo.push, 0}}};
  if (!demo.flat) {
    BlockField field;
    field.length = std::max(2.0, std::abs(demo.speed) * demo.seconds + 2);
    if (demo.speed < 0) field.begin = -field.length - 0.4;
    options.ground = block_ground(field, demo.seed);
  }
  return options;
}

std::string describe(const QuadrupedDemo& demo, double seconds) {
  const std::string ground = demo.flat ? "on level ground" : "over blocks of +-2 cm";
  if (!Qp::available()) {
    return fmt::format(
        "{:g} s, stands by its joints: limb was built without a solver of quadratic programs",
        seconds);
  }
  return fmt::format("{:g} s: stands, trots at {:g} m/s {}{}, stands", seconds, demo.speed, ground,
                     demo.push != 0 ? fmt::format(", is pushed by {:g} N s", demo.push) : "");
}

/// How the forces of feet that press lie in their cones.
struct FrictionUse {
  double high = 0;  ///< share of the cone, which 99 % are below
  double slid = 0;  ///< share of them at its edge
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

Part walk_part(const QuadrupedDemo& demo, const LeggedRun& run, double computing) {
  const bool walks = Qp::available();
  const double begin = walks ? kBegin + kSettled : 1.2;
  const LeggedSummary all = summarize(run, begin);
  double torque = 0, most_torque = 0;
  std::string strongest;
  for (const TorqueShare& s : torque_shares(run)) {
    if (s.high > torque) strongest = s.joint;
    torque = std::max(torque, s.high);
    most_torque = std::max(most_torque, s.most);
  }
  // Speed counts until it is told to stand.
  Vector3<double> mean = Vector3<double>::Zero();
  double count = 0;
  for (const LeggedStep& s : run.steps()) {
    if (s.t < begin || s.t > kBegin + demo.seconds) continue;
    const Matrix3<double> R = to_matrix(Quaternion<double>::from_xyzw(s.q.segment<4>(3)));
    const Vector3<double> v = R * s.v.head<3>();
    const double yaw = std::atan2(R(1, 0), R(0, 0));
    mean += Vector3<double>(std::cos(yaw) * v.x() + std::sin(yaw) * v.y(),
                            std::cos(yaw) * v.y() - std::sin(yaw) * v.x(), v.z());
    ++count;
  }
  if (count > 0) mean /= count;
  const FrictionUse friction = friction_use(run);
  Part part;
  part.ok = !run.fell();
  std::string& text = part.text;
  text = fmt::format("  walk     {}\n", describe(demo, run.time()));
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("    {:<22}{}\n", name, value);
  };
  add("fell", run.fell() ? fmt::format("YES, at {:.1f} s", run.time()) : "no");
  if (walks && demo.speed != 0) {
    add("true velocity",
        fmt::format("{:.3f} m/s forward, {:+.1f} % of the command; tilt up to {:.1f} deg", mean.x(),
                    100 * (mean.x() / demo.speed - 1), 180 / M_PI * all.largest_tilt));
  }
  add("estimate of the base",
      fmt::format("{:.1f} cm off after {:.1f} m, yaw {:.1f} deg; velocity {:.3f} m/s rms",
                  100 * all.position_error, all.distance, 180 / M_PI * all.yaw_error,
                  all.velocity_error));
  add("  beyond 3 sigma", fmt::format("{:.2f} % of all components", 100 * all.beyond_three_sigma));
  add("friction used",
      fmt::format("{:.0f} % of the cone in 99 % of the steps; feet slid in {:.1f} %",
                  100 * friction.high, 100 * friction.slid));
  add("torque used",
      fmt::format("{:.0f} % of a joint's limit in 99 % of the steps ({}), {:.0f} % at most",
                  100 * torque, strongest, 100 * most_torque));
  const double period = 1e6 * run.options().controller->locomotion.control_period;
  Table table(fmt::format("  Control step, us; every {:g} us ({:.1f} s simulated in {:.1f} s)",
                          period, run.time(), computing),
              {"", "mean", "99 %", "99.9 %", "most", "steps"});
  Json times = Json::object();
  for (const PartTimes& p : part_times(run, walks ? kBegin : 0)) {
    table.add({p.part, fmt::format("{:.0f}", p.mean), fmt::format("{:.0f}", p.p99),
               fmt::format("{:.0f}", p.p999), fmt::format("{:.0f}", p.most),
               std::to_string(p.steps)});
    times[p.part] = {
        {"mean", p.mean}, {"p99", p.p99}, {"p999", p.p999}, {"most", p.most}, {"steps", p.steps}};
  }
  text += table.text();
  part.numbers = {{"walks", walks},
                  {"fell", run.fell()},
                  {"seconds", run.time()},
                  {"computing_s", computing},
                  {"command", demo.speed},
                  {"velocity", {mean.x(), mean.y()}},
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
                  {"most_torque_share", most_torque},
                  {"fell_back", all.fell_back},
                  {"unsolved", all.unsolved},
                  {"step_us", times}};
  return part;
}

std::string page_of(const std::string& robot, const Part& check, const Part& proof,
                    const Part& compiled, const Part& walk, const LeggedRun& run) {
  std::string body = fmt::format("<p>{}</p>\n<pre>{}</pre>\n", robot, walk.text);
  body += "<h2>The walk</h2>\n" + legged_animation(run);
  body +=
      "<p>Blue: the truth, which the controller does not see. Orange dashes: where its estimator "
      "has "
      "the base, from an IMU, joint encoders and the forces at its feet. Green: the forces of the "
      "ground; the weight would be as long as the robot is high.</p>\n";
  body += legged_strip(run);
  body += "<h2>Base: truth and estimate</h2>\n" + legged_motion_chart(run);
  body += "<p>What the estimate is off by, inside three of the deviations that it claims:</p>\n" +
          legged_error_charts(run);
  body += "<h2>Contact forces in their cones</h2>\n" + legged_contact_chart(run);
  body += "<h2>Torque budget</h2>\n" + legged_torque_chart(run);
  body += "<h2>Time of a control step</h2>\n" + legged_time_chart(run);
  body += "<h2>The robot's file</h2>\n" + check.page;
  body += "<h2>Its equations of motion</h2>\n" + proof.page;
  body += "<h2>Their speed here</h2>\n" + compiled.page;
  return report_page("A quadruped on its own estimate", body);
}

}  // namespace

DemoResult demo_quadruped(const QuadrupedDemo& demo) {
  check_range("--seconds", demo.seconds, 1, 120);
  check_range("--speed", demo.speed, -0.8, 0.8);
  check_range("--push", demo.push, -20, 20);
  const auto start = Clock::now();
  const Part checked = check_part(demo);
  const LeggedRobot robot = load_quadruped(demo.model);
  const Part proof = prove_part(robot.model);
  const Part compiled = compile_part(robot.model);

  const double end = Qp::available() ? kBegin + demo.seconds + kSlow + kEnd : 3;
  say("simulating " + describe(demo, end));
  LeggedRun run(robot, walk_options(demo));
  const auto begun = Clock::now();
  {
    Progress progress(end, "s");
    for (double t = 0.1; t < end + 0.05; t += 0.1) {
      if (!run.run_until(std::min(t, end))) break;
      progress.show(run.time());
    }
  }
  const Part walk = walk_part(demo, run, seconds_since(begun));

  const std::string name =
      fmt::format("{}: {:.1f} kg, {} joints, {:.2f} m high, {} degrees of freedom",
                  robot.model.name(), robot.model.total_mass(), robot.model.velocity_size() - 6,
                  robot.height(), robot.model.velocity_size());
  DemoResult result;
  result.page = page_of(name, checked, proof, compiled, walk, run);
  result.picture = legged_strip(run);
  result.ok = checked.ok && proof.ok && walk.ok;
  const double took = seconds_since(start);
  result.text = name + "\n" + checked.text + proof.text + compiled.text + walk.text +
                fmt::format("Took {:.1f} s.\n", took);
  result.numbers = {{"robot", robot.model.name()},
                    {"seed", demo.seed},
                    {"check", checked.numbers},
                    {"proof", proof.numbers},
                    {"compile", compiled.numbers},
                    {"walk", walk.numbers},
                    {"took_s", took}};
  return result;
}

}  // namespace limb::cli
