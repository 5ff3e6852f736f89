#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "limb/control/control.hpp"
#include "limb/sim/world/controllers.hpp"
#include "python/src/control_arguments.hpp"
#include "python/src/native_controller.hpp"

/// Joint controllers, LQR and paths of limb.control.
namespace limb::python {
namespace {

struct PyJointPath {
  JointPath path;
  JointReference sample;
};

/// A joint controller with its reference.
template <typename Law>
struct JointLaw {
  Law law;
  JointReference reference;
  double period = 0;  ///< s, of laws with an integral term
  int saturated = 0;
  std::mutex mutex = {};

  NewArray step(const ArrayLike& q, const ArrayLike& v, const ArrayLike& q_ref,
                const ArrayLike& v_ref, const ArrayLike& a_ref) {
    const std::lock_guard lock(mutex);
    const int n = static_cast<int>(reference.v.size()), nq = static_cast<int>(reference.q.size());
    const Numbers q_now = read_vector("step", "q", q, nq), v_now = read_vector("step", "v", v, n);
    reference.q = read_vector("step", "q_ref", q_ref, nq);
    reference.v = v_ref.is_none() ? Numbers::Zero(n) : read_vector("step", "v_ref", v_ref, n);
    reference.a = a_ref.is_none() ? Numbers::Zero(n) : read_vector("step", "a_ref", a_ref, n);
    Numbers tau(n);
    const StepReport report = law.step(q_now, v_now, reference, tau);
    return array_of(finish("step", report, tau, saturated));
  }

  /// Holds a configuration or follows a path.
  NativeController controller(nb::handle given) {
    std::optional<JointPath> path;
    JointReference now = reference;
    const int nq = static_cast<int>(now.q.size()), nv = static_cast<int>(now.v.size());
    now.v.setZero();
    now.a.setZero();
    if (nb::isinstance<PyJointPath>(given)) {
      path = nb::cast<PyJointPath&>(given).path;
      path->sample(0, now);
      check_size("controller", "path", now.q.size(), nq);
    } else {
      now.q = read_vector("controller", "reference", given, nq);
    }
    return {[this, path, now, nq, nv](const World& world) -> Controller {
              check_fits(world, nq, nv);
              return [this, path, at = now](const ControlInput& input, Numbers& tau) mutable {
                const std::lock_guard lock(mutex);
                if (path) path->sample(input.t, at);
                const StepReport report = law.step(input.q, input.v, at, tau);
                saturated = report.saturated;
                record_step(input.t, report, nullptr);
              };
            },
            period};
  }
};

template <typename Law>
auto bind_joint(nb::module_& m, const char* name, const char* text) {
  using Bound = JointLaw<Law>;
  nb::class_<Bound> c(m, name, text);
  c.def(
      "step", &Bound::step, "q"_a, "v"_a, "q_ref"_a, "v_ref"_a = nb::none(), "a_ref"_a = nb::none(),
      nb::sig(
          "def step(self, q: ArrayLike, v: ArrayLike, q_ref: ArrayLike, v_ref: ArrayLike | None = "
          "None, a_ref: ArrayLike | None = None) -> Array"),
      Doc("Torques for a measured state and a reference."));
  c.def("controller", &Bound::controller, "reference"_a, nb::keep_alive<0, 1>(),
        nb::sig("def controller(self, reference: ArrayLike | JointPath) -> NativeController"),
        Doc("For Simulation.set_controller, without Python in the loop: holds a configuration, or "
            "follows a path from t = 0 on."));
  c.def_ro("saturated", &Bound::saturated,
           Doc("Number of motors at their limit in the last step."));
  return c;
}

JointPid::AntiWindup anti_windup_named(const std::string& name) {
  if (name == "none") return JointPid::AntiWindup::none;
  if (name == "conditional") return JointPid::AntiWindup::conditional;
  if (name == "back-calculation") return JointPid::AntiWindup::back_calculation;
  fail("JointPid", "anti_windup", "'" + name + "'", "one of conditional, back-calculation, none");
}

struct LqrLaw {
  Lqr law;
  int nq, nv;
  int saturated = 0;
  std::mutex mutex = {};

  NewArray step(const ArrayLike& q, const ArrayLike& v) {
    const std::lock_guard lock(mutex);
    Numbers tau(nv);
    const StepReport report =
        law.step(read_vector("step", "q", q, nq), read_vector("step", "v", v, nv), tau);
    return array_of(finish("step", report, tau, saturated));
  }
  NativeController controller() {
    return {[this](const World& world) -> Controller {
      check_fits(world, nq, nv);
      return [this](const ControlInput& input, Numbers& tau) {
        const std::lock_guard lock(mutex);
        const StepReport report = law.step(input.q, input.v, tau);
        saturated = report.saturated;
        record_step(input.t, report, nullptr);
      };
    }};
  }
};

void bind_joints(nb::module_& m) {
  const auto none = nb::none();
  bind_joint<JointPd>(m, "JointPd", "PD control of joints, optionally with gravity compensation.")
      .def(
          "__init__",
          [](JointLaw<JointPd>* self, const Robot& r, const ArrayLike& kp, const ArrayLike& kd,
             bool gravity, const ArrayLike& limits) {
            JointGains gains{read_vector("JointPd", "kp", kp, r.nv()),
                             read_vector("JointPd", "kd", kd, r.nv())};
            new (self) JointLaw<JointPd>{
                JointPd(robot_of(r, limits), std::move(gains),
                        gravity ? JointPd::Compensation::gravity : JointPd::Compensation::none),
                JointReference(r.model())};
          },
          "robot"_a, "kp"_a, "kd"_a, nb::kw_only(), "gravity"_a = true, "limits"_a = none,
          Doc("Constructs the controller.\n\nArgs:\n    robot: The robot.\n    kp: Position gain: "
              "a number, `(nv,)` or a matrix, N m/rad.\n    kd: Velocity gain, N m s/rad.\n    "
              "gravity: Whether gravity is compensated."));
  bind_joint<ComputedTorque>(
      m, "ComputedTorque",
      "Computed torque control by inverse dynamics: joint errors are decoupled.")
      .def(
          "__init__",
          [](JointLaw<ComputedTorque>* self, const Robot& r, double frequency, double damping_ratio,
             const ArrayLike& limits) {
            new (self) JointLaw<ComputedTorque>{
                ComputedTorque(robot_of(r, limits),
                               acceleration_gains(r.model(), frequency, damping_ratio),
                               r.effects()),
                JointReference(r.model())};
          },
          "robot"_a, "frequency"_a = 2.0, "damping_ratio"_a = 1.0, nb::kw_only(), "limits"_a = none,
          Doc("Constructs the controller.\n\nArgs:\n    robot: The robot.\n    frequency: Natural "
              "frequency of the error, Hz.\n    damping_ratio: Of the error; 1: critical."));
  bind_joint<JointImpedance>(m, "JointImpedance",
                             "Joint impedance: springs and dampers, without inertia shaping.")
      .def(
          "__init__",
          [](JointLaw<JointImpedance>* self, const Robot& r, const ArrayLike& stiffness,
             const ArrayLike& damping, const ArrayLike& limits) {
            JointImpedance::Setup s{read_square("JointImpedance", "stiffness", stiffness, r.nv()),
                                    read_square("JointImpedance", "damping", damping, r.nv()),
                                    r.effects()};
            new (self) JointLaw<JointImpedance>{JointImpedance(robot_of(r, limits), std::move(s)),
                                                JointReference(r.model())};
          },
          "robot"_a, "stiffness"_a, "damping"_a, nb::kw_only(), "limits"_a = none,
          Doc("Constructs the controller.\n\nArgs:\n    robot: The robot.\n    stiffness: A "
              "number, `(nv,)` or a matrix, N m/rad.\n    damping: A number, `(nv,)` or a matrix, "
              "N m s/rad; None: critical."));
  bind_joint<JointPid>(m, "JointPid", "PID control of joints with anti-windup.")
      .def(
          "__init__",
          [](JointLaw<JointPid>* self, const Robot& r, const ArrayLike& kp, const ArrayLike& kd,
             const ArrayLike& ki, double period, const std::string& anti_windup, bool gravity,
             const ArrayLike& limits) {
            JointPid::Setup s;
            s.gains = {read_vector("JointPid", "kp", kp, r.nv()),
                       read_vector("JointPid", "kd", kd, r.nv())};
            s.ki = read_vector("JointPid", "ki", ki, r.nv());
            s.period = period;
            s.anti_windup = anti_windup_named(anti_windup);
            s.compensation = gravity ? JointPd::Compensation::gravity : JointPd::Compensation::none;
            new (self) JointLaw<JointPid>{JointPid(robot_of(r, limits), std::move(s)),
                                          JointReference(r.model()), period};
          },
          "robot"_a, "kp"_a, "kd"_a, "ki"_a, nb::kw_only(), "period"_a = 1e-3,
          "anti_windup"_a = "conditional", "gravity"_a = false, "limits"_a = none,
          Doc("Constructs the controller.\n\nArgs:\n    robot: The robot.\n    kp: Position gain: "
              "a number, `(nv,)` or a matrix, N m/rad.\n    kd: Velocity gain, N m s/rad.\n    ki: "
              "Integral gain, N m/(rad s).\n    period: Time between steps, s.\n    anti_windup: "
              "\"none\", \"conditional\" (the integral stops at a torque limit) or "
              "\"back-calculation\".\n    gravity: Whether gravity is compensated."))
      .def(
          "reset", [](JointLaw<JointPid>& self) { self.law.reset(); },
          Doc("Sets the integrals to zero."))
      .def_prop_ro(
          "integral", [](JointLaw<JointPid>& self) { return array_of(self.law.integral()); },
          Doc("Integral of the error."));
}

nb::tuple solution_tuple(const RiccatiSolution& s) {
  return nb::make_tuple(array_of(s.X), array_of(s.K));
}

void bind_lqr(nb::module_& m) {
  m.def(
      "linearize",
      [](const Robot& r, const ArrayLike& q) {
        const LinearizedRobot s = linearize(r.model(), read_vector("linearize", "q", q, r.nq()));
        return nb::make_tuple(array_of(s.A), array_of(s.B), array_of(s.tau));
      },
      "robot"_a, "q"_a,
      nb::sig("def linearize(robot: Robot, q: ArrayLike) -> tuple[Array, Array, Array]"),
      Doc("A, B and the equilibrium torques of a robot at rest in q: x = (dq, v), dx/dt = A x + B "
          "u."));
  m.def(
      "solve_riccati",
      [](const ArrayLike& A, const ArrayLike& B, const ArrayLike& Q, const ArrayLike& R) {
        const auto read = [](const char* name, const ArrayLike& x) {
          return read_matrix("solve_riccati", name, x);
        };
        return solution_tuple(
            solve_riccati(read("A", A), read("B", B), read("Q", Q), read("R", R)));
      },
      "A"_a, "B"_a, "Q"_a, "R"_a,
      nb::sig("def solve_riccati(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike) -> "
              "tuple[Array, Array]"),
      Doc("X and K of the continuous algebraic Riccati equation."
          "\n\nArgs:\n    A: `(n, n)`.\n    B: `(n, m)`.\n    Q: Weight of the state, `(n, n)`.\n  "
          "  R: Weight of the input, `(m, m)`."));
  m.def(
      "solve_discrete_riccati",
      [](const ArrayLike& A, const ArrayLike& B, const ArrayLike& Q, const ArrayLike& R) {
        const auto read = [](const char* name, const ArrayLike& x) {
          return read_matrix("solve_discrete_riccati", name, x);
        };
        return solution_tuple(
            solve_discrete_riccati(read("A", A), read("B", B), read("Q", Q), read("R", R)));
      },
      "A"_a, "B"_a, "Q"_a, "R"_a,
      nb::sig("def solve_discrete_riccati(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike) "
              "-> tuple[Array, Array]"),
      Doc("X and K of the discrete algebraic Riccati equation."
          "\n\nArgs:\n    A: `(n, n)`.\n    B: `(n, m)`.\n    Q: Weight of the state, `(n, n)`.\n  "
          "  R: Weight of the input, `(m, m)`."));
  nb::class_<LqrLaw>(m, "Lqr", "Linear quadratic regulator about an equilibrium.")
      .def(
          "__init__",
          [](LqrLaw* self, const Robot& r, const ArrayLike& q, const ArrayLike& Q,
             const ArrayLike& R, double period, const ArrayLike& limits) {
            Lqr::Setup s;
            s.q = read_vector("Lqr", "q", q, r.nq());
            s.Q = read_square("Lqr", "Q", Q, 2 * r.nv());
            s.R = read_square("Lqr", "R", R, motor_count(r.model()));
            s.period = period;
            new (self) LqrLaw{Lqr(robot_of(r, limits), s), r.nq(), r.nv()};
          },
          "robot"_a, "q"_a, "Q"_a, "R"_a, nb::kw_only(), "period"_a = 0.0, "limits"_a = nb::none(),
          Doc("Constructs the regulator.\n\nArgs:\n    robot: The robot.\n    q: The equilibrium, "
              "`(nq,)`.\n    Q: Weight of the state: a number, a diagonal or a matrix.\n    R: "
              "Weight of the torques.\n    period: Time between steps, s; 0: continuous."))
      .def("step", &LqrLaw::step, "q"_a, "v"_a,
           nb::sig("def step(self, q: ArrayLike, v: ArrayLike) -> Array"),
           Doc("Torques for a measured state."))
      .def("controller", &LqrLaw::controller, nb::keep_alive<0, 1>(),
           Doc("For Simulation.set_controller, without Python in the loop."))
      .def_prop_ro(
          "K", [](LqrLaw& self) { return array_of(self.law.solution().K); }, Doc("Gain."))
      .def_prop_ro(
          "X", [](LqrLaw& self) { return array_of(self.law.solution().X); },
          Doc("Solution of the Riccati equation."))
      .def_ro("saturated", &LqrLaw::saturated,
              Doc("Number of motors at their limit in the last step."));
}

}  // namespace

void bind_control(nb::module_& m) {
  bind_joints(m);
  bind_lqr(m);
  nb::class_<PyJointPath>(m, "JointPath",
                          "Minimum-jerk joint path from rest to rest through configurations.")
      .def(
          "__init__",
          [](PyJointPath* self, const Robot& r, const std::vector<ArrayLike>& waypoints,
             const std::vector<double>& durations) {
            std::vector<Numbers> q;
            for (const auto& w : waypoints) {
              q.push_back(read_vector("JointPath", "waypoint", w, r.nq()));
            }
            new (self) PyJointPath{JointPath(r.model(), std::move(q), durations),
                                   JointReference(r.model())};
          },
          "robot"_a, "waypoints"_a, "durations"_a,
          Doc("Constructs the path.\n\nArgs:\n    robot: The robot.\n    waypoints: "
              "Configurations, `(nq,)` each.\n    durations: Times between them, s."))
      .def_prop_ro(
          "duration", [](const PyJointPath& self) { return self.path.duration(); }, Doc("s."))
      .def(
          "sample",
          [](PyJointPath& self, double t) {
            self.path.sample(t, self.sample);
            return nb::make_tuple(array_of(self.sample.q), array_of(self.sample.v),
                                  array_of(self.sample.a));
          },
          "t"_a, nb::sig("def sample(self, t: float) -> tuple[Array, Array, Array]"),
          Doc("q, v and a at the time t."));
}

}  // namespace limb::python
