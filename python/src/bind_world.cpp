#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "python/src/simulation.hpp"

namespace limb::python {
namespace {

WorldOptions options_of(const std::string& friction, const std::string& stops, double static_ratio,
                        double restitution, bool compiled) {
  WorldOptions options;
  options.friction = static_cast<WorldOptions::Friction>(
      choice_of("World", "friction", friction, {"none", "smooth", "exact"}));
  options.stops = static_cast<WorldOptions::Stops>(
      choice_of("World", "stops", stops, {"none", "soft", "hard"}));
  options.curve.static_ratio = static_ratio;
  options.restitution = restitution;
  if (compiled) options.dynamics = WorldOptions::Dynamics::compiled;
  return options;
}

WrenchAxes axes_of(const char* call, const std::string& axes) {
  return static_cast<WrenchAxes>(choice_of(call, "axes", axes, {"frame", "world"}));
}

/// A force computed by a Python function: generalised forces, or a wrench on a frame.
class PythonForce final : public ForceLaw {
 public:
  PythonForce(nb::handle function, Eigen::Index nv, std::optional<WrenchPort> port)
      : call_(function), nv_(nv), port_(port) {}

  void add(ForceInput& now, AppliedLoads& loads) override {
    const nb::gil_scoped_acquire acquired;
    const nb::object given = call_(now.t, now.q, now.v);
    if (given.is_none()) return;
    if (!port_) {
      loads.tau += vector_of("World.add_force", "result of the function", given, nv_);
      return;
    }
    const VectorX<double> F = vector_of("World.add_wrench", "result of the function", given, 6);
    loads.add(*port_, {F.head<3>(), F.tail<3>()});
  }
  int max_wrenches() const override { return port_ ? 1 : 0; }
  void append_ports(std::vector<WrenchPort>& ports) const override {
    if (port_) ports.push_back(*port_);
  }

 private:
  StateCallback call_;
  Eigen::Index nv_;
  std::optional<WrenchPort> port_;
};

/// Checks for signals at every step.
class InterruptLaw final : public ForceLaw {
 public:
  void add(ForceInput&, AppliedLoads&) override {}
  void begin_step(double) override { interrupts_.check(); }

 private:
  Interrupts interrupts_;
};

int visit_world(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<WorldCore>(self)->functions.ptr());
  return 0;
}
int clear_world(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<WorldCore>(self)->functions.clear();
  return 0;
}
PyType_Slot world_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_world)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_world)},
                             {0, nullptr}};

}  // namespace

WorldCore::WorldCore(const Robot& robot, const std::string& friction, const std::string& stops,
                     double static_ratio, double restitution, bool compiled)
    : robot_(robot),
      world(robot.model(), options_of(friction, stops, static_ratio, restitution, compiled)),
      actuators_(ideal_actuators(robot.model())) {
  world.add<InterruptLaw>();
}

void WorldCore::add_spring(const std::string& joint, double stiffness, double rest,
                           double damping) {
  const BusyGuard busy_now("World.add_spring", busy);
  world.add<JointSpring>(model(), joint, JointSpring::Parameters{stiffness, rest, damping});
}

void WorldCore::add_push(const std::string& frame_name, double begin, double end, nb::handle force,
                         nb::handle moment, const std::string& axes) {
  const BusyGuard busy_now("World.add_push", busy);
  WrenchSchedule::Push push;
  push.frame = robot_.frame("World.add_push", frame_name);
  push.begin = begin;
  push.end = end;
  push.F.f = vector_of("World.add_push", "force", force, 3);
  push.F.n = vector_of("World.add_push", "moment", moment, 3);
  push.axes = axes_of("World.add_push", axes);
  world.add<WrenchSchedule>(model(), std::vector{push});
}

void WorldCore::add_disturbance(const std::string& frame_name, double force_deviation,
                                double moment_deviation, double period, std::uint64_t seed,
                                const std::string& axes) {
  const BusyGuard busy_now("World.add_disturbance", busy);
  world.add<RandomWrench>(
      model(),
      RandomWrench::Parameters{robot_.frame("World.add_disturbance", frame_name), force_deviation,
                               moment_deviation, period, axes_of("World.add_disturbance", axes)},
      seed);
}

void WorldCore::add_force(nb::handle function) {
  const BusyGuard busy_now("World.add_force", busy);
  functions.append(function);
  world.add<PythonForce>(function, model().nv(), std::nullopt);
}

void WorldCore::add_wrench(const std::string& frame_name, nb::handle function,
                           const std::string& axes) {
  const BusyGuard busy_now("World.add_wrench", busy);
  const WrenchPort port = {robot_.frame("World.add_wrench", frame_name),
                           axes_of("World.add_wrench", axes)};
  functions.append(function);
  world.add<PythonForce>(function, model().nv(), port);
}

void WorldCore::set_actuator(const std::string& joint, const Actuator& given) {
  const BusyGuard busy_now("World.set_actuator", busy);
  if (simulations > 0) {
    throw Error(
        "World.set_actuator: a simulation of this world exists already; set actuators before");
  }
  const BodyId body = model().find_body(joint);
  const auto& row = model().coupling().rows()[static_cast<std::size_t>(body.value() - 1)];
  if (model().bodies()[static_cast<std::size_t>(body.value())].joint.nv() != 1 || row.yq < 0 ||
      row.terms.size() != 1) {
    fail("World.set_actuator", "joint", "'" + joint + "'",
         "a joint with one independent coordinate");
  }
  Actuator actuator = given;
  actuator.velocity = row.terms[0].y;
  std::vector<Actuator> all = actuators_;
  std::erase_if(all, [&](const Actuator& a) { return a.velocity == actuator.velocity; });
  all.push_back(actuator);
  world.set_actuators(all);
  actuators_ = std::move(all);
}

void bind_world(nb::module_& m) {
  Interrupts::set_main_thread(nb::cast<unsigned long>(
      nb::module_::import_("threading").attr("main_thread")().attr("ident")));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  nb::class_<WorldCore>(m, "World", nb::type_slots(world_slots),
                        "A robot and the forces that act on it.")
      .def(
          nb::init<const Robot&, const std::string&, const std::string&, double, double, bool>(),
          "robot"_a, nb::kw_only(), "friction"_a = "smooth", "stops"_a = "soft",
          "static_ratio"_a = 1.0, "restitution"_a = 0.0, "compiled"_a = true,
          nb::keep_alive<1, 2>(),
          nb::sig("def __init__(self, robot: Robot, *, friction: Friction = 'smooth', stops: Stops "
                  "= 'soft', static_ratio: float = 1.0, restitution: float = 0.0, compiled: bool = "
                  "True) -> None"),
          Doc("compiled: dynamics by machine code compiled for the robot."
              "\n\nArgs:\n    friction: \"none\", \"smooth\" or \"exact\".\n    stops: \"none\", "
              "\"soft\" or \"hard\".\n    static_ratio: Static friction divided by Coulomb "
              "friction.\n    restitution: Of hard stops, 0 to 1.\n    compiled: Whether the "
              "dynamics run as compiled machine code."))
      .def("add_spring", &WorldCore::add_spring, "joint"_a, nb::kw_only(), "stiffness"_a = 0.0,
           "rest"_a = 0.0, "damping"_a = 0.0,
           Doc("Across a joint: stiffness (rest - q) - damping v."
               "\n\nArgs:\n    stiffness: N m/rad or N/m.\n    rest: Coordinate without force, rad "
               "or m.\n    damping: N m s/rad or N s/m."))
      .def("add_push", &WorldCore::add_push, "frame"_a, nb::kw_only(), "begin"_a, "end"_a,
           "force"_a = nb::make_tuple(0, 0, 0), "moment"_a = nb::make_tuple(0, 0, 0),
           "axes"_a = "world",
           nb::sig("def add_push(self, frame: str, *, begin: float, end: float, force: ArrayLike = "
                   "..., moment: ArrayLike = ..., axes: WrenchAxes = 'world') -> None"),
           Doc("A constant wrench at the origin of a frame from begin to end (s, N, N m)."
               "\n\nArgs:\n    begin: s.\n    end: s.\n    force: `(3,)`, N.\n    moment: `(3,)`, "
               "N m.\n    axes: \"frame\" or \"world\"."))
      .def("add_disturbance", &WorldCore::add_disturbance, "frame"_a, nb::kw_only(),
           "force_deviation"_a = 0.0, "moment_deviation"_a = 0.0, "period"_a = 0.1, "seed"_a = 1,
           "axes"_a = "world",
           nb::sig("def add_disturbance(self, frame: str, *, force_deviation: float = 0.0, "
                   "moment_deviation: float = 0.0, period: float = 0.1, seed: int = 1, axes: "
                   "WrenchAxes = 'world') -> None"),
           Doc("A random wrench, drawn again every period."
               "\n\nArgs:\n    force_deviation: Standard deviation of each component of the force, "
               "N.\n    moment_deviation: The same of the moment, N m.\n    period: s.\n    axes: "
               "\"frame\" or \"world\"."))
      .def("add_force", &WorldCore::add_force, "function"_a,
           nb::sig("def add_force(self, function: StateFunction) -> None"),
           Doc("function(t, q, v) -> tau, generalised forces; None: zero."
               "\n\nArgs:\n    function: Called as function(t, q, v)."))
      .def("add_wrench", &WorldCore::add_wrench, "frame"_a, "function"_a, "axes"_a = "world",
           nb::sig("def add_wrench(self, frame: str, function: StateFunction, axes: WrenchAxes = "
                   "'world') -> None"),
           Doc("function(t, q, v) -> force and moment at the origin of the frame, six numbers."
               "\n\nArgs:\n    function: Called as function(t, q, v).\n    axes: \"frame\" or "
               "\"world\"."))
      .def(
          "set_actuator",
          [](WorldCore& w, const std::string& joint, double torque_limit, double gear,
             double stall_torque, double no_load_speed, double time_constant, double delay) {
            w.set_actuator(
                joint, {0, torque_limit, gear, stall_torque, no_load_speed, time_constant, delay});
          },
          "joint"_a, nb::kw_only(), "torque_limit"_a = kInfinity, "gear"_a = 1.0,
          "stall_torque"_a = kInfinity, "no_load_speed"_a = kInfinity, "time_constant"_a = 0.0,
          "delay"_a = 0.0,
          Doc("The motor of a joint, instead of an ideal one. Call it before any Simulation."
              "\n\nArgs:\n    torque_limit: N m or N.\n    gear: Motor angle divided by joint "
              "angle.\n    stall_torque: Torque at zero speed, N m.\n    no_load_speed: Speed at "
              "zero torque, rad/s.\n    time_constant: Lag of the torque, s.\n    delay: Delay of "
              "the command, s."))
      .def(
          "set_contact",
          [](WorldCore& w, const Ground& ground, std::optional<std::vector<ContactShape>> shapes,
             nb::handle feet, double radius, double stiffness, double damping,
             double restitution_speed, double slop, double recovery_speed,
             double max_path_deviation, bool self_contact, double self_friction,
             double self_restitution) {
            w.set_contact(ground, std::move(shapes), feet, radius,
                          {stiffness,
                           damping,
                           restitution_speed,
                           slop,
                           recovery_speed,
                           max_path_deviation,
                           self_contact,
                           {self_friction, self_restitution},
                           {}});
          },
          "ground"_a, "shapes"_a = nb::none(), nb::kw_only(), "feet"_a = nb::none(),
          "radius"_a = 0.0, "stiffness"_a = kInfinity, "damping"_a = 0.0,
          "restitution_speed"_a = 0.02, "slop"_a = 1e-5, "recovery_speed"_a = 1.0,
          "max_path_deviation"_a = 2e-4, "self_contact"_a = false, "self_friction"_a = 0.8,
          "self_restitution"_a = 0.0,
          nb::sig("def set_contact(self, ground: Ground, shapes: Sequence[ContactShape] | None = "
                  "None, *, feet: Sequence[str] | dict[str, float] | None = None, radius: float = "
                  "0.0, stiffness: float = ..., damping: float = 0.0, restitution_speed: float = "
                  "0.02, slop: float = 1e-05, recovery_speed: float = 1.0, max_path_deviation: "
                  "float = 0.0002, self_contact: bool = False, self_friction: float = 0.8, "
                  "self_restitution: float = 0.0) -> None"),
          Doc("Sets the ground and the parts of the robot that can touch it: shapes, and feet, "
              "which "
              "are spheres of a radius (m) at frames; without both all solids of the robot "
              "(contact_shapes). Call it before any Simulation; needs the integrator "
              "semi-implicit-euler. stiffness (N/m per point): infinite: rigid; finite, with "
              "damping "
              "(N s/m): compliant. restitution_speed: m/s below which there is no bounce. slop, "
              "recovery_speed: allowed penetration (m), m/s at which more is corrected. "
              "max_path_deviation: largest deviation (m) of a contact path from a straight line "
              "per "
              "step; longer steps are split. self_contact: also contacts between links."
              "\n\nArgs:\n    ground: The ground.\n    shapes: Solids of the robot; None: feet, or "
              "all solids.\n    feet: Frames that are spheres; a dict gives the radius of each, "
              "m.\n    radius: Radius of feet in a list, m.\n    stiffness: N/m per point; "
              "infinite: rigid.\n    damping: N s/m per point, if compliant.\n    "
              "restitution_speed: Speed below which there is no bounce, m/s.\n    slop: Allowed "
              "penetration, m.\n    recovery_speed: Speed at which more is corrected, m/s.\n    "
              "max_path_deviation: Largest deviation of the path of a contact from a line per "
              "step, m.\n    self_contact: Whether links touch each other.\n    self_friction: "
              "Coulomb coefficient between links.\n    self_restitution: Restitution between "
              "links."));
}

}  // namespace limb::python
