#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "limb/sim/integrate/cvode.hpp"
#include "python/src/simulation_core.hpp"

namespace limb::python {
namespace {

int visit_simulation(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<SimulationCore>(self)->visit(visit, arg) : 0;
}
int clear_simulation(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<SimulationCore>(self)->clear();
  return 0;
}
PyType_Slot simulation_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_simulation)},
                                  {Py_tp_clear, reinterpret_cast<void*>(clear_simulation)},
                                  {0, nullptr}};
void bind_contact_results(nb::class_<SimulationCore>& c) {
  c.def("contact_points", &SimulationCore::points,
        nb::sig("def contact_points(self) -> ContactPoints"),
        Doc("Contact points and near-contacts of the last step. Functions called by a run may call "
            "this "
            "and the following methods."))
      .def("contact_report", &SimulationCore::report,
           nb::sig("def contact_report(self) -> ContactReport"),
           Doc("Residuals of the contact laws after the last step."))
      .def("touches", &SimulationCore::touches, "frame"_a,
           Doc("Whether a foot or link has a contact force."))
      .def("contact_force", &SimulationCore::contact_force, "frame"_a,
           nb::sig("def contact_force(self, frame: str) -> Array"),
           Doc("Contact wrench on a foot or link, mean over the last step: force, and moment about "
               "the "
               "origin of the frame, in world axes: N, N m."))
      .def("center_of_pressure", &SimulationCore::center_of_pressure,
           nb::sig("def center_of_pressure(self) -> Array"), Doc("NaN without contact."))
      .def_prop_ro("contact_dissipated", &SimulationCore::dissipated,
                   Doc("Energy dissipated by contacts since the state was set, J."));
}
}  // namespace

void bind_simulation(nb::module_& m) {
  m.def("has_cvode", &Cvode::is_available, Doc("Whether the integrator cvode is available."));
  nb::class_<NativeController>(m, "NativeController",
                               "A controller of limb.control for Simulation.set_controller.");
  nb::class_<SimulationCore> c(m, "Simulation", nb::type_slots(simulation_slots),
                               "Simulation of a world: controller, motors, integrator, sensors.");
  bind_contact_results(c);
  c.def(nb::init<nb::handle, const std::string&, double, double, double>(), "world"_a,
        nb::kw_only(), "integrator"_a = "semi-implicit-euler", "step"_a = 1e-3,
        "control_period"_a = 0.0, "tolerance"_a = 1e-9,
        nb::sig("def __init__(self, world: World, *, integrator: Integrator = "
                "'semi-implicit-euler', step: float = 0.001, control_period: float = 0.0, "
                "tolerance: float = 1e-09) -> None"),
        Doc("Starts at rest in the neutral configuration. step: s; for adaptive methods the "
            "largest. "
            "control_period: s; 0: every step."
            "\n\nArgs:\n    world: The world.\n    integrator: Integration method.\n    step: s; "
            "for adaptive methods the longest.\n    control_period: s; 0: every step.\n    "
            "tolerance: Of adaptive methods, absolute and relative."))
      .def("set_state", &SimulationCore::set_state, "q"_a, "v"_a = nb::none(), "t"_a = 0.0,
           nb::sig("def set_state(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) "
                   "-> None"),
           Doc("v = None: at rest."))
      .def("set_controller", &SimulationCore::set_controller, "function"_a.none(),
           nb::sig("def set_controller(self, function: StateFunction | NativeController | None) -> "
                   "None"),
           Doc("Torques of the motors, evaluated once per control period: function(t, q, v) -> "
               "tau, nv "
               "numbers, zero for unactuated joints; or a controller of limb.control "
               "(.controller(...)), which runs without Python. None: zero torques."
               "\n\nArgs:\n    function: Called as function(t, q, v), or a NativeController, or "
               "None."))
      .def("set_events", &SimulationCore::set_events, "events"_a,
           nb::sig("def set_events(self, events: Sequence[tuple[Callable[[float, Array, Array], "
                   "float], str]]) -> None"),
           Doc("Ends a run where a function(t, q, v) crosses zero ('rising', 'falling' or 'both')."
               "\n\nArgs:\n    events: Pairs of a function(t, q, v) and a direction."))
      .def("add_sensor", &SimulationCore::add_sensor, "name"_a, "type"_a, nb::kw_only(),
           "frame"_a = nb::none(), "joints"_a = std::vector<std::string>(), "noise"_a = 0.0,
           "bias"_a = 0.0, "bias_walk"_a = 0.0, "resolution"_a = 0.0,
           "range"_a = std::numeric_limits<double>::infinity(), "rate"_a = 0.0, "delay"_a = 0.0,
           "seed"_a = 1,
           nb::sig("def add_sensor(self, name: str, type: SensorType, *, frame: str | None = None, "
                   "joints: Sequence[str] = ..., noise: float = 0.0, bias: float = 0.0, bias_walk: "
                   "float = 0.0, resolution: float = 0.0, range: float = ..., rate: float = 0.0, "
                   "delay: float = 0.0, seed: int = 1) -> None"),
           Doc("rate: Hz; 0: every control period. Other values in the unit of the sensor, and s."
               "\n\nArgs:\n    type: Quantity that is measured.\n    frame: Frame of the sensor; "
               "None for joint sensors.\n    joints: Joints of joint sensors; empty: all.\n    "
               "noise: Standard deviation of the noise.\n    bias: Constant error.\n    bias_walk: "
               "Random walk of the bias, per square root of s.\n    resolution: Smallest step of a "
               "reading; 0: none.\n    range: Largest absolute reading.\n    rate: Hz; 0: every "
               "control period.\n    delay: s."))
      .def("reading", &SimulationCore::reading, "name"_a,
           nb::sig("def reading(self, name: str) -> Array"),
           Doc("The newest reading of a sensor; NaN before the first."))
      .def("channels", &SimulationCore::channels, "name"_a,
           Doc("Names of the channels of a sensor."))
      .def("run", &SimulationCore::run, "t_end"_a,
           Doc("Runs to t_end, without the GIL, or to the first event, whose index is returned. "
               "Ctrl-C ends it; so does an exception in a controller, force or event. The state is "
               "then "
               "that of the last completed step."
               "\n\nArgs:\n    t_end: s."))
      .def(
          "record", &SimulationCore::record, "t_end"_a, "period"_a = 0.01,
          nb::sig("def record(self, t_end: float, period: float = 0.01) -> dict[str, Any]"),
          Doc("Like run(); returns arrays with one row per period: t, q, v, command, motor, energy "
              "(kinetic, potential, stored, total), momentum (linear, angular about the centre of "
              "mass); work: entry of balance() -> J since the state was set; sensors: name -> t, "
              "values; event: as run(); contact, if there is a ground: "
              "force "
              "(name -> N, world axes), touching, center_of_pressure, dissipated (J since the "
              "start), "
              "and penetration, residual, complementarity, cone: the largest since the previous "
              "row, "
              "sampled at the start of each control period."
              "\n\nArgs:\n    t_end: s.\n    period: Time between rows, s."))
      .def_prop_ro("t", &SimulationCore::t, Doc("Time, s."))
      .def_prop_ro("q", &SimulationCore::q, nb::sig("def q(self) -> Array"), Doc("Configuration."))
      .def_prop_ro("v", &SimulationCore::v, nb::sig("def v(self) -> Array"), Doc("Velocity."))
      .def_prop_ro("steps", &SimulationCore::steps, Doc("Number of steps so far."))
      .def("acceleration", &SimulationCore::acceleration,
           nb::sig("def acceleration(self) -> Array"),
           Doc("Acceleration in the present state, `(nv,)`."))
      .def("motor_torque", &SimulationCore::motor_torque,
           nb::sig("def motor_torque(self) -> Array"),
           Doc("Torques of the motors in the present state, `(nv,)`."))
      .def("energy", &SimulationCore::energy, nb::sig("def energy(self) -> Energy"),
           Doc("Energy in the present state."))
      .def("balance", &SimulationCore::balance, nb::sig("def balance(self) -> EnergyBalance"),
           Doc("Where the energy went since the state was set, and the error of integration."))
      .def("momentum", &SimulationCore::momentum, nb::sig("def momentum(self) -> Array"),
           Doc("Linear, and angular about the centre of mass, in world axes."));
}

}  // namespace limb::python
