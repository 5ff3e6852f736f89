#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "limb/legged/legged_run.hpp"
#include "limb/legged/legged_summary.hpp"
#include "python/src/options.hpp"
#include "python/src/simulation.hpp"
#include "python/src/whole_body_bindings.hpp"

/// Bindings of limb.legged: legged robots that walk on their own state estimate.
namespace limb::python {
namespace {

using Rows = std::vector<double>;
using V3 = Vector3<double>;

template <typename Vector>
void append(const Vector& x, Rows& to) {
  to.insert(to.end(), x.begin(), x.end());
}
void append(const std::vector<V3>& all, Rows& to) {
  for (const V3& x : all) append(x, to);
}

Options options_of(LeggedNoise& o) {
  return {{"gyro", &o.imu.gyro},           {"accel", &o.imu.accel},
          {"gyro_walk", &o.imu.gyro_walk}, {"accel_walk", &o.imu.accel_walk},
          {"gyro_bias", &o.gyro_bias},     {"accel_bias", &o.accel_bias},
          {"encoder", &o.encoder},         {"encoder_rate", &o.encoder_rate},
          {"foot_force", &o.foot_force}};
}

/// From a sequence of (begin, gait, command).
std::vector<LeggedPhase> plan_of(const nb::sequence& given) {
  std::vector<LeggedPhase> plan;
  for (nb::handle each : given) {
    double begin = 0;
    Gait* gait = nullptr;
    if (nb::len(each) != 3 || !nb::try_cast(each[0], begin) || !nb::try_cast(each[1], gait) ||
        gait == nullptr) {
      fail("LeggedRun", "plan", nb::cast<std::string>(nb::repr(each)),
           "(begin, gait, (forward, left, yaw_rate))");
    }
    const Numbers command = vector_of("LeggedRun", "command of the plan", each[2], 3);
    plan.push_back({begin, *gait, {command[0], command[1], command[2]}});
  }
  return plan;
}

/// From a sequence of (begin, impulse) or (begin, impulse, duration).
std::vector<LeggedPush> pushes_of(const nb::sequence& given) {
  std::vector<LeggedPush> pushes;
  for (nb::handle each : given) {
    LeggedPush push;
    const std::size_t size = nb::len(each);
    if (size < 2 || size > 3 || !nb::try_cast(each[0], push.begin) ||
        (size == 3 && !nb::try_cast(each[2], push.duration))) {
      fail("LeggedRun", "pushes", nb::cast<std::string>(nb::repr(each)),
           "(begin, impulse) or (begin, impulse, duration)");
    }
    push.impulse = vector_of("LeggedRun", "impulse of a push", each[1], 3);
    pushes.push_back(push);
  }
  return pushes;
}

LeggedRobot robot_with_feet(const Robot& robot, std::vector<std::string> feet,
                            const nb::dict& joints, const std::string& imu) {
  std::vector<std::pair<std::string, double>> positions;
  for (const auto& [name, value] : joints) {
    positions.emplace_back(nb::cast<std::string>(name), nb::cast<double>(value));
  }
  LeggedRobot made = make_legged_robot(robot.model(), std::move(feet), positions);
  if (!imu.empty()) robot.frame("LeggedRobot", imu);
  made.imu = imu;
  return made;
}

class PyLeggedRun {
 public:
  PyLeggedRun(const LeggedRobot& robot, LeggedRunOptions options)
      : nq_(robot.model.nq()),
        nv_(robot.model.nv()),
        feet_(static_cast<Eigen::Index>(robot.feet.size())),
        run_(robot, std::move(options)) {}

  bool run(double t_end) {
    const BusyGuard busy("LeggedRun.run", owner_);
    check_finite("LeggedRun.run", "t_end", t_end);
    const nb::gil_scoped_release released;
    Interrupts interrupts;
    constexpr double kPiece = 0.05;  // s of simulated time between checks for signals
    while (!run_.fell() && run_.time() + kPiece < t_end) {
      run_.run_until(run_.time() + kPiece);
      interrupts.check();
    }
    return run_.run_until(t_end);
  }

  double t() const { return checked_run("LeggedRun.t").time(); }
  bool fell() const { return checked_run("LeggedRun.fell").fell(); }

  nb::object summary(double begin) const {
    const LeggedSummary r = summarize(checked_run("LeggedRun.summary"), begin);
    return result_of("LeggedSummary", r.begin, r.end, r.fell, array_of(Numbers(r.mean_velocity)),
                     r.distance, r.largest_tilt, r.position_error, r.yaw_error, r.velocity_error,
                     r.tilt_error, r.beyond_three_sigma, r.steps, r.fell_back, r.unsolved);
  }

  nb::dict record() const {
    const LeggedRun& run = checked_run("LeggedRun.record");
    nb::dict all;
    const auto column = [&](auto&& number) {
      Rows rows;
      for (const LeggedStep& s : run.steps()) rows.push_back(static_cast<double>(number(s)));
      return array_of(rows, 0);
    };
    const auto rows = [&](Eigen::Index columns, auto&& vector) {
      Rows rows;
      for (const LeggedStep& s : run.steps()) append(vector(s), rows);
      return array_of(rows, columns);
    };
    const auto of_feet = [&](auto&& vectors) {
      return rows(3 * feet_, vectors).attr("reshape")(-1, feet_, 3);
    };
    const auto as_bool = [](nb::object numbers) { return numbers.attr("astype")("bool"); };
    all["t"] = column([](const LeggedStep& s) { return s.t; });
    all["q"] = rows(nq_, [](const LeggedStep& s) { return s.q; });
    all["v"] = rows(nv_, [](const LeggedStep& s) { return s.v; });
    all["tau"] = rows(nv_, [](const LeggedStep& s) { return s.tau; });
    all["command"] = rows(3, [](const LeggedStep& s) {
      return V3(s.command.forward, s.command.left, s.command.yaw_rate);
    });
    all["foot_position"] = of_feet([](const LeggedStep& s) { return s.foot_position; });
    all["foot_force"] = of_feet([](const LeggedStep& s) { return s.foot_force; });
    all["foot_cone"] = of_feet([](const LeggedStep& s) { return s.foot_cone; });
    all["stands"] = as_bool(rows(feet_, [](const LeggedStep& s) { return s.stands; }));
    all["walks"] =
        as_bool(column([](const LeggedStep& s) { return s.mode == LeggedController::Mode::walk; }));
    all["fell_back"] = as_bool(column([](const LeggedStep& s) { return s.whole_body.fell_back; }));
    all["total_us"] = column([](const LeggedStep& s) { return s.times.total; });
    all["readings"] = readings(run, rows);
    all["estimate"] = estimates(column, rows, as_bool);
    return all;
  }

 private:
  const LeggedRun& checked_run(const char* call) const {
    BusyGuard::check_readable(call, owner_);
    return run_;
  }

  /// Sensor readings.
  nb::dict readings(const LeggedRun& run, const auto& rows) const {
    nb::dict all;
    all["joint_q"] = rows(nq_ - 7, [](const LeggedStep& s) { return s.readings.joint_q; });
    all["joint_v"] = rows(nv_ - 6, [](const LeggedStep& s) { return s.readings.joint_v; });
    all["foot_force"] = rows(feet_, [](const LeggedStep& s) { return s.readings.foot_force; });
    Rows t, gyro, accel;
    for (const LeggedStep& s : run.steps()) {
      for (const StampedImu& imu : s.imu) {
        t.push_back(imu.t);
        append(imu.sample.gyro, gyro);
        append(imu.sample.accel, accel);
      }
    }
    all["imu_t"] = array_of(t, 0);
    all["gyro"] = array_of(gyro, 3);
    all["accel"] = array_of(accel, 3);
    return all;
  }

  /// Estimates; NaN before the filter is initialised.
  static nb::dict estimates(const auto& column, const auto& rows, const auto& as_bool) {
    const auto or_nan = [](const LeggedStep& s, const auto& value) {
      Numbers x = value;
      if (!s.estimated) x.setConstant(std::numeric_limits<double>::quiet_NaN());
      return x;
    };
    nb::dict all;
    all["ready"] = as_bool(column([](const LeggedStep& s) { return s.estimated; }));
    all["p"] = rows(3, [&](const LeggedStep& s) { return or_nan(s, s.X_WB.p); });
    all["quaternion"] = rows(
        4, [&](const LeggedStep& s) { return or_nan(s, quaternion_from_matrix(s.X_WB.R).xyzw()); });
    all["v"] = rows(3, [&](const LeggedStep& s) { return or_nan(s, s.v_WB); });
    all["deviation"] = rows(9, [&](const LeggedStep& s) { return or_nan(s, s.deviation); });
    return all;
  }

  Eigen::Index nq_, nv_, feet_;
  LeggedRun run_;
  Owner owner_ = std::thread::id();
};

void bind_robots(nb::module_& m) {
  nb::class_<LeggedRobot>(m, "LeggedRobot",
                          "A robot with a floating base, its foot frames, and a standing posture.")
      .def(
          "__init__",
          [](LeggedRobot* self, const Robot& robot, std::vector<std::string> feet,
             const nb::dict& joints, const std::string& imu) {
            new (self) LeggedRobot(robot_with_feet(robot, std::move(feet), joints, imu));
          },
          "robot"_a, "feet"_a, "joints"_a = nb::dict(), nb::kw_only(), "imu"_a = "",
          nb::sig("def __init__(self, robot: Robot, feet: Sequence[str], joints: dict[str, float] "
                  "= {}, *, imu: str = '') -> None"),
          Doc("feet: front left, front right, rear left, rear right, or left, right. joints: "
              "positions "
              "by name; others are neutral. imu: frame of the IMU; '': the base."
              "\n\nArgs:\n    feet: Frames of the feet.\n    joints: Positions of joints by name, "
              "rad.\n    imu: Frame of the IMU; empty: the base."))
      .def_ro("feet", &LeggedRobot::feet, Doc("Names of the foot frames."))
      .def_ro("imu", &LeggedRobot::imu, Doc("Frame of the IMU."))
      .def_prop_ro(
          "q", [](const LeggedRobot& r) { return array_of(r.q); },
          Doc("Standing configuration: feet at z = 0, base upright."))
      .def_prop_ro("height", &LeggedRobot::height, Doc("Height of the base above the feet, m."));
  m.def(
      "load_quadruped",
      [](const std::string& path, double crouch) { return load_quadruped(path, crouch); }, "path"_a,
      "crouch"_a = 0.3,
      Doc("A quadruped with three or more joints per leg from any robot file; its feet are frames "
          "with "
          "\"foot\" in their names, or else the ends of the shapes of its legs. crouch: fraction "
          "by "
          "which the legs are shorter than straight."
          "\n\nArgs:\n    path: The robot file.\n    crouch: Fraction by which the legs are "
          "shorter than straight."));
  m.def(
      "block_ground",
      [](std::uint64_t seed, double size, double height, double begin, double length, double width,
         double friction, double restitution) {
        return block_ground({size, height, begin, length, width}, seed, {friction, restitution});
      },
      "seed"_a = 1, nb::kw_only(), "size"_a = 0.25, "height"_a = 0.02, "begin"_a = 0.4,
      "length"_a = 12.0, "width"_a = 3.0, "friction"_a = 0.8, "restitution"_a = 0.0,
      Doc("Adjacent square blocks along +x, with random heights within +-height, m."
          "\n\nArgs:\n    size: Edge of a block, m.\n    height: Largest height, m.\n    begin: x "
          "of the first block, m.\n    length: Along x, m.\n    width: Along y, m.\n    friction: "
          "Coulomb coefficient.\n    restitution: Ratio of the normal speeds after and before an "
          "impact, 0 to 1."));
  m.def("ground_height", &ground_height, "ground"_a, "x"_a, "y"_a,
        Doc("Largest height of the ground at (x, y), m."
            "\n\nArgs:\n    ground: The ground.\n    x: m.\n    y: m."));
}

}  // namespace

void bind_legged(nb::module_& m) {
  bind_robots(m);
  LeggedNoise noise;
  const std::string text =
      "plan: (begin, gait, (forward, left, yaw_rate)) in order of time; before the first the robot "
      "stands. acceleration: rate limit of the commands, m/s^2. pushes: (begin, impulse in N s"
      "[, duration]). noise: of the sensors: " +
      text_of(options_of(noise)) +
      ". joint_offset: largest initial deviation of joints from the posture, rad. step: s, of "
      "simulation and IMU. locomotion: options of limb.control.Locomotion.";
  nb::class_<PyLeggedRun>(m, "LeggedRun",
                          "A simulated legged robot that walks on its own state estimate: sensors, "
                          "estimator and locomotion in one loop, without Python.")
      .def(
          "__init__",
          [](PyLeggedRun* self, const LeggedRobot& robot, const Ground* ground,
             const nb::sequence& plan, const nb::sequence& pushes, double acceleration,
             const nb::dict& noise, std::uint64_t seed, double joint_offset, double step,
             double foot_radius, const nb::dict& locomotion) {
            LeggedRunOptions o;
            if (ground != nullptr) o.ground = *ground;
            o.plan = plan_of(plan);
            o.pushes = pushes_of(pushes);
            o.acceleration = acceleration;
            set_options("LeggedRun", options_of(o.noise), noise);
            o.seed = seed;
            o.joint_offset = joint_offset;
            o.step = step;
            o.foot_radius = foot_radius;
            o.controller = make_controller_options(robot);
            set_options("LeggedRun", options_of(o.controller->locomotion), locomotion);
            new (self) PyLeggedRun(robot, std::move(o));
          },
          "robot"_a, nb::kw_only(), "ground"_a = nb::none(), "plan"_a = nb::make_tuple(),
          "pushes"_a = nb::make_tuple(), "acceleration"_a = 1.0, "noise"_a = nb::dict(),
          "seed"_a = 1, "joint_offset"_a = 0.02, "step"_a = 1e-3, "foot_radius"_a = 0.0,
          "locomotion"_a = nb::dict(),
          nb::sig(
              "def __init__(self, robot: LeggedRobot, *, ground: Ground | None = None, plan: "
              "Sequence[tuple[float, Gait, ArrayLike]] = (), pushes: Sequence[tuple[float, "
              "ArrayLike] | tuple[float, ArrayLike, float]] = (), acceleration: float = 1.0, "
              "noise: dict[str, float] = {}, seed: int = 1, joint_offset: float = 0.02, step: "
              "float = 0.001, foot_radius: float = 0.0, locomotion: dict[str, Any] = {}) -> None"),
          Doc(text.c_str()))
      .def("run", &PyLeggedRun::run, "t_end"_a,
           Doc("Runs to this time, or until the robot falls, without the GIL. Returns whether the "
               "robot "
               "has not fallen. Ctrl-C ends it."
               "\n\nArgs:\n    t_end: s."))
      .def_prop_ro("t", &PyLeggedRun::t, Doc("s"))
      .def_prop_ro(
          "fell", &PyLeggedRun::fell,
          Doc("Whether the base is tilted by more than 45 degrees or below half of its height."))
      .def(
          "record", &PyLeggedRun::record, nb::sig("def record(self) -> dict[str, Any]"),
          Doc("All control steps so far as arrays. True values: t, q, v, foot_position, foot_force "
              "(steps, feet, 3), foot_cone (normal force, tangential force, largest tangential "
              "force "
              "that friction allows). Controller: tau, command, stands, walks, fell_back, "
              "total_us. "
              "readings: joint_q, joint_v, foot_force, imu_t, gyro, accel. estimate: ready, p, "
              "quaternion, v, deviation (of p, rotation, v)."))
      .def("summary", &PyLeggedRun::summary, "begin"_a = 0.0,
           nb::sig("def summary(self, begin: float = 0.0) -> LeggedSummary"),
           Doc("Summary of the run from the time begin on."
               "\n\nArgs:\n    begin: s."));
}

}  // namespace limb::python
