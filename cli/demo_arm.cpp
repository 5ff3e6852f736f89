#include "cli/demo_arm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numbers>

#include "cli/chart.hpp"
#include "cli/report_page.hpp"
#include "cli/robot_view.hpp"
#include "cli/table.hpp"
#include "limb/control/control.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/forces/wall_law.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb::cli {
namespace {

using Vector = VectorX<double>;

constexpr double kCircle = 2, kApproach = 3.5, kEnd = 4.5;  // s: ends of circle, approach, run
constexpr double kRadius = 0.08, kLine = 0.2, kWall = 0.1;  // m
constexpr double kStiffness = 300;                          // N/m, impedance control
constexpr double kPeriod = 1e-3;                            // s, control period
constexpr double kWallStiffness = 5e4;                      // N/m

/// Reference of the tool: a circle in the plane x = const, then 0.2 m along y.
class Path {
 public:
  explicit Path(const Pose<double>& X)
      : start_(X),
        turn_({}, {2 * std::numbers::pi, 0, 0}, kCircle),
        line_({}, {kLine, 0, 0}, kApproach - kCircle) {}
  FrameReference at(double t) const {
    FrameReference r;
    r.X_WF = start_;
    if (t < kCircle) {
      const PathPoint s = turn_.at(t);
      const double c = std::cos(s.x), d = std::sin(s.x);
      r.X_WF.p += kRadius * Vector3<double>(0, d, 1 - c);
      r.V.v = kRadius * s.v * Vector3<double>(0, c, d);
      r.A.v = kRadius * (s.a * Vector3<double>(0, c, d) + s.v * s.v * Vector3<double>(0, -d, c));
    } else {
      const PathPoint s = line_.at(t - kCircle);
      r.X_WF.p.y() += s.x;
      r.V.v.y() = s.v;
      r.A.v.y() = s.a;
    }
    return r;
  }

 private:
  Pose<double> start_;
  Quintic turn_, line_;
};

struct Run {
  LogSeries state;
  std::vector<Vector> q, v;  ///< at every control period
  std::vector<double> t, y, reference, force, error;
  double tracking = 0;  ///< m, largest error on the circle
  double peak = 0, steady = 0;
  long saturated = 0, periods = 0;
};

enum class Wall { none, present };

Run run(const Model<double>& model, Wall has_wall, const Path& path, const Vector& q,
        const std::function<StepReport(const ControlInput&, const FrameReference&, Vector&)>& law) {
  const FrameId tool = model.find_frame("tool");
  World world(model);
  WallLaw::Parameters wall;
  wall.frame = tool;
  wall.normal = {0, -1, 0};
  wall.point = path.at(0).X_WF.p + Vector3<double>(0, kWall, 0);
  wall.stiffness = kWallStiffness;
  wall.damping = 200;
  if (has_wall == Wall::present) world.add<WallLaw>(world.model(), wall);
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, kPeriod / 2, kPeriod});
  simulation.set_state(0, q, Vector::Zero(q.size()));
  Run r;
  r.state.topic = "state";
  for (int i = 0; i < q.size(); ++i) r.state.fields.push_back(fmt::format("q.{}", i + 1));
  r.state.values.resize(static_cast<std::size_t>(q.size()));
  Kinematics<double> kinematics(model);
  simulation.set_controller([&](const ControlInput& now, Vector& tau) {
    const FrameReference reference = path.at(now.t);
    const StepReport report = law(now, reference, tau);
    if (!report.ok()) fail_computation("limb demo", "the controller found no solution");
    ++r.periods;
    r.q.push_back(now.q);
    r.v.push_back(now.v);
    r.saturated += report.saturated > 0 ? 1 : 0;
    forward_kinematics(model, now.q, kinematics);
    const Vector3<double> p = frame_pose(model, kinematics, tool).p;
    double force = 0;
    for (const auto& w : now.wrenches) force += w.F_F.f.norm();
    const double error = (p - reference.X_WF.p).norm();
    if (now.t < kCircle) r.tracking = std::max(r.tracking, error);
    r.peak = std::max(r.peak, force);
    r.steady = force;
    if (r.periods % 5 != 1) return;  // 200 per second for the charts
    r.t.push_back(now.t);
    r.y.push_back(1e3 * (p.y() - wall.point.y() + kWall));
    r.reference.push_back(1e3 * (reference.X_WF.p.y() - wall.point.y() + kWall));
    r.force.push_back(force);
    r.error.push_back(1e3 * error);
    r.state.t.push_back(now.t);
    for (int i = 0; i < q.size(); ++i) {
      r.state.values[static_cast<std::size_t>(i)].push_back(now.q[i]);
    }
  });
  simulation.run_until(kEnd);
  return r;
}

/// The motion along the path without a wall.
Run run_free(const Model<double>& model, const Path& path, const Vector& q) {
  OperationalSpaceControl::Setup s;
  s.task.frame = model.find_frame("tool");
  s.frequency = 5;
  s.posture.q = q;
  OperationalSpaceControl control((ControlledRobot(model)), s);
  return run(model, Wall::none, path, q,
             [&](const ControlInput& now, const FrameReference& r, Vector& tau) {
               return control.step(now.q, now.v, r, tau);
             });
}

/// Position control: stiff joints follow that motion.
Run run_position(const Model<double>& model, const Path& path, const Vector& q,
                 const Run& planned) {
  Vector stiffness(7);
  stiffness << 5000, 5000, 3000, 3000, 600, 600, 40;  // N m/rad
  MatrixX<double> M(7, 7);
  Workspace<double> work(model);
  crba(model, work, q, M);
  const MatrixX<double> K = stiffness.asDiagonal();
  JointImpedance control(ControlledRobot(model), {K, modal_damping(M, K, 0.7), {}});
  JointReference reference(model);
  return run(model, Wall::present, path, q,
             [&](const ControlInput& now, const FrameReference&, Vector& tau) {
               const auto last = planned.q.size() - 1;
               const auto i =
                   std::min(static_cast<std::size_t>(std::lround(now.t / kPeriod)), last);
               reference.q = planned.q[i];
               reference.v = planned.v[i];
               reference.a = (planned.v[std::min(i + 1, last)] - planned.v[i]) / kPeriod;
               return control.step(now.q, now.v, reference, tau);
             });
}

Run run_impedance(const Model<double>& model, const Path& path, const Vector& q) {
  CartesianImpedance::Setup s;
  s.task.frame = model.find_frame("tool");
  Vector6<double> k;
  k << Vector3<double>::Constant(kStiffness), Vector3<double>::Constant(30);
  s.stiffness = k.asDiagonal();
  s.damping_ratio = 0.9;
  s.posture.q = q;
  CartesianImpedance control((ControlledRobot(model)), s);
  return run(model, Wall::present, path, q,
             [&](const ControlInput& now, const FrameReference& r, Vector& tau) {
               return control.step(now.q, now.v, r, tau);
             });
}

std::string charts(const Run& a, const Run& b) {
  const std::vector<double> ends = {0, kEnd}, wall(2, 1e3 * kWall);
  Figure figure;
  figure.add({"Tool along y",
              "mm",
              {{"position control", &a.t, &a.y},
               {"impedance control", &b.t, &b.y},
               {"wall", &ends, &wall},
               {"reference", &a.t, &a.reference, true}}});
  figure.add({"Force on the wall",
              "N",
              {{"position control", &a.t, &a.force}, {"impedance control", &b.t, &b.force}}});
  figure.add({"Distance from the reference",
              "mm",
              {{"position control", &a.t, &a.error}, {"impedance control", &b.t, &b.error}}});
  return figure.svg("An arm hits a wall",
                    "Position of the tool, force on the wall and error of position and impedance "
                    "control");
}

}  // namespace

DemoResult demo_arm() {
  const Model<double> model = load_model("builtin:arm7");
  Vector q(7);
  q << 0.2, 0.6, 0.1, -1.4, 0.2, 1.1, 0.3;
  Kinematics<double> k(model);
  forward_kinematics(model, q, k);
  const Path path(frame_pose(model, k, model.find_frame("tool")));
  const Run free = run_free(model, path, q);
  const Run a = run_position(model, path, q, free), b = run_impedance(model, path, q);

  const double depth = kLine - kWall,
               expected = depth * kStiffness * kWallStiffness / (kStiffness + kWallStiffness);
  Table table(
      "A seven-joint arm follows a circle of 80 mm, then hits a wall 100 mm before its goal",
      {"", "position control", "impedance control"});
  const auto add = [&](const char* name, double x, double y, const char* format) {
    table.add({name, fmt::format(fmt::runtime(format), x), fmt::format(fmt::runtime(format), y)});
  };
  add("largest error on the circle, mm", 1e3 * a.tracking, 1e3 * b.tracking, "{:.3f}");
  add("peak force on the wall, N", a.peak, b.peak, "{:.1f}");
  add("force at the end, N", a.steady, b.steady, "{:.1f}");
  add("periods with a motor at its limit", double(a.saturated), double(b.saturated), "{:.0f}");
  DemoResult result;
  result.text = table.text() + fmt::format(
                                   "\nAn impedance of {:g} N/m, {:g} mm short of its goal, exerts "
                                   "{:.1f} N.\n",
                                   kStiffness, 1e3 * depth, expected);
  const auto numbers = [](const Run& r) {
    return nlohmann::json{{"tracking_error", r.tracking},
                          {"peak_force", r.peak},
                          {"end_force", r.steady},
                          {"saturated_periods", r.saturated},
                          {"periods", r.periods}};
  };
  result.numbers = {
      {"position", numbers(a)}, {"impedance", numbers(b)}, {"impedance_force_by_hooke", expected}};
  result.picture = charts(a, b);
  std::string body = fmt::format(
      "<p>The tool of a seven-joint arm follows a circle, then a line of {:g} mm. A wall, unknown "
      "to both controllers, is {:g} mm before its end. Position control (stiff joints with "
      "feed-forward) pushes until its stiffness or its torque limits stop it; impedance control "
      "is a spring of {:g} N/m, and its force follows Hooke's law: {:.1f} N.</p>\n<pre>{}</pre>\n",
      1e3 * kLine, 1e3 * depth, kStiffness, expected, table.text());
  body += result.picture;
  body += "<h2>Position control</h2>\n" +
          RobotView("limb demo", {model, {}, {}}, a.state, 300).animation() +
          "<h2>Impedance control</h2>\n" +
          RobotView("limb demo", {model, {}, {}}, b.state, 300).animation();
  result.page = report_page("An arm hits a wall", body);
  return result;
}

}  // namespace limb::cli
