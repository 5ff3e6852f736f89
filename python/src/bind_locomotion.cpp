#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/native_controller.hpp"
#include "python/src/options.hpp"
#include "python/src/whole_body_bindings.hpp"

/// Gaits and locomotion of limb.control.
namespace limb::python {
namespace {

/// Velocity commands over time: rows t, forward, left, yaw rate; linear in between, constant
/// outside.
class Schedule {
 public:
  /// Three numbers, or rows of four. @throws Error.
  Schedule(const char* call, nb::handle given) {
    const Dense numbers = read_matrix(call, "command", given);
    if (numbers.cols() == 1 && numbers.rows() == 3) {
      rows_ = Dense::Zero(1, 4);
      rows_.row(0).tail<3>() = numbers.col(0);
    } else {
      rows_ = matrix_of(call, "command", given, -1, 4);
    }
    if (rows_.rows() == 0 || !rows_.allFinite()) {
      fail(call, "command", rows_.rows() == 0 ? "empty" : "not all finite",
           "(forward, left, yaw_rate), or rows (t, forward, left, yaw_rate)");
    }
    for (Eigen::Index i = 1; i < rows_.rows(); ++i) {
      if (rows_(i, 0) > rows_(i - 1, 0)) continue;
      fail(call, "command", "at " + to_text(rows_(i, 0)) + " s after " + to_text(rows_(i - 1, 0)),
           "increasing times");
    }
  }
  VelocityCommand at(double t) const {
    Eigen::Index next = 0;
    while (next < rows_.rows() && rows_(next, 0) <= t) ++next;
    const Eigen::Index last = std::max<Eigen::Index>(next - 1, 0);
    next = std::min(next, rows_.rows() - 1);
    const double length = rows_(next, 0) - rows_(last, 0);
    const double fraction = length > 0 ? (t - rows_(last, 0)) / length : 0;
    const auto interpolate = [&](int column) {
      return rows_(last, column) + fraction * (rows_(next, column) - rows_(last, column));
    };
    return {interpolate(1), interpolate(2), interpolate(3)};
  }

 private:
  Dense rows_;
};

class PyLocomotion {
 public:
  PyLocomotion(const Robot& robot, NamedFeet feet, const Numbers& posture,
               const LocomotionOptions& options)
      : names(std::move(feet.names)),
        robot_(robot),
        feet_(std::move(feet.feet)),
        locomotion_(robot.model(), feet_, posture, options),
        contact_(std::make_unique<bool[]>(names.size())) {}

  const WholeBody& body() const { return locomotion_.whole_body(); }
  const Locomotion& locomotion() const { return locomotion_; }

  void set_gait(const Gait& gait) {
    const std::lock_guard lock(mutex);
    locomotion_.set_gait(gait);
  }

  nb::object step(nb::handle q, nb::handle v, nb::handle contact, nb::handle command) {
    constexpr const char* kCall = "Locomotion.step";
    const Numbers q_now = vector_of(kCall, "q", q, robot_.nq()),
                  v_now = vector_of(kCall, "v", v, robot_.nv());
    const Numbers touches =
        vector_of(kCall, "contact", contact, static_cast<Eigen::Index>(names.size()));
    const Numbers velocity = vector_of(kCall, "command", command, 3);
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < names.size(); ++i) {
      contact_[i] = touches[static_cast<Eigen::Index>(i)] != 0;
    }
    return array_of(Numbers(advance(q_now, v_now, {velocity[0], velocity[1], velocity[2]})));
  }

  NativeController controller(nb::handle command) {
    const auto schedule = std::make_shared<Schedule>("Locomotion.controller", command);
    return {[this, schedule](const World& world) -> Controller {
              check_fits(world, robot_.nq(), robot_.nv());
              if (world.contacts() == nullptr) {
                throw Error(
                    "Simulation.set_controller: this world has no ground to walk on "
                    "(World.set_contact)");
              }
              return [this, schedule, &world](const ControlInput& now, Numbers& tau) {
                const std::lock_guard lock(mutex);
                for (std::size_t i = 0; i < feet_.size(); ++i) {
                  contact_[i] = world.contacts()->touches(world.model(), feet_[i].frame);
                }
                tau = advance(now.q, now.v, schedule->at(now.t));
              };
            },
            locomotion_.options().control_period};
  }

  nb::object report() {
    const std::lock_guard lock(mutex);
    const LocomotionReport& r = locomotion_.report();
    return result_of("LocomotionReport", report_of(r.whole_body), qp_text(r.mpc_status), r.mpc_ran,
                     residuals_of(r.mpc_residuals), r.mpc_iterations, r.kinematics_us, r.plan_us,
                     r.mpc_us, r.whole_body_us, r.total_us);
  }
  std::vector<bool> stands() {
    const std::lock_guard lock(mutex);
    std::vector<bool> all;
    for (int i = 0; i < static_cast<int>(names.size()); ++i) all.push_back(locomotion_.stands(i));
    return all;
  }

  std::vector<std::string> names;
  std::mutex mutex;

 private:
  const Numbers& advance(const Numbers& q, const Numbers& v, const VelocityCommand& command) {
    const Pose<double> X_WB{to_matrix(quat_xyzw(q[3], q[4], q[5], q[6])), q.head<3>()};
    return locomotion_.step({X_WB, Motion<double>::from_vector(v.head<6>())}, q.tail(q.size() - 7),
                            v.tail(v.size() - 6), {contact_.get(), names.size()}, command);
  }

  const Robot& robot_;  ///< kept alive by Python
  std::vector<Foot> feet_;
  Locomotion locomotion_;
  std::unique_ptr<bool[]> contact_;
};

using GaitState = std::tuple<std::string, double, double, std::vector<double>>;

void bind_gait(nb::module_& m) {
  nb::class_<Gait>(m, "Gait",
                   "Stance phases of the feet: each starts at its offset and lasts the fraction "
                   "`duty` of a period.")
      .def(
          "__init__",
          [](Gait* self, double period, double duty, std::vector<double> offsets,
             std::string name) {
            const Gait gait{std::move(name), period, duty, std::move(offsets)};
            gait.check("Gait", static_cast<int>(gait.offsets.size()));
            new (self) Gait(gait);
          },
          "period"_a, "duty"_a, "offsets"_a, "name"_a = "gait",
          Doc("period: s. offsets: touchdown of each foot, as a fraction of the period."
              "\n\nArgs:\n    period: s.\n    duty: Fraction of the period that a foot is in "
              "stance.\n    offsets: Touchdown of each foot, as a fraction of the period."))
      .def_static("stand", &Gait::stand, "feet"_a = 4,
                  Doc("All feet on the ground."
                      "\n\nArgs:\n    feet: Number of feet."))
      .def_static("trot", &Gait::trot, "period"_a = 0.5, "duty"_a = 0.55,
                  Doc("Diagonal pairs of front left, front right, rear left, rear right."
                      "\n\nArgs:\n    period: s.\n    duty: Fraction of the period that a foot is "
                      "in stance."))
      .def_static("walk", &Gait::walk, "period"_a = 1.0, "duty"_a = 0.8,
                  Doc("One foot after the other: rear left, front left, rear right, front right."
                      "\n\nArgs:\n    period: s.\n    duty: Fraction of the period that a foot is "
                      "in stance."))
      .def_ro("name", &Gait::name, Doc("Name of the gait."))
      .def_ro("period", &Gait::period, Doc("s"))
      .def_ro("duty", &Gait::duty, Doc("Fraction of the period that a foot is in stance."))
      .def_ro("offsets", &Gait::offsets,
              Doc("Touchdown of each foot, as a fraction of the period."))
      .def_prop_ro("stance_time", &Gait::stance_time, Doc("s"))
      .def_prop_ro("swing_time", &Gait::swing_time, Doc("s"))
      .def(
          "phase",
          [](const Gait& gait, int foot, double t) {
            if (foot < 0 || foot >= static_cast<int>(gait.offsets.size())) {
              fail("Gait.phase", "foot", std::to_string(foot),
                   "0 to " + std::to_string(gait.offsets.size() - 1));
            }
            const Gait::Phase p = gait.phase(foot, t);
            return result_of("GaitPhase", p.stands, p.progress, p.left);
          },
          "foot"_a, "t"_a, nb::sig("def phase(self, foot: int, t: float) -> GaitPhase"),
          Doc("Phase of a foot, t seconds after the start of the gait."
              "\n\nArgs:\n    foot: Index of the foot."))
      .def("__repr__",
           [](const Gait& g) {
             return "Gait('" + g.name + "', period=" + to_text(g.period) +
                    ", duty=" + to_text(g.duty) + ")";
           })
      .def("__getstate__",
           [](const Gait& g) {
             return GaitState{g.name, g.period, g.duty, g.offsets};
           })
      .def("__setstate__", [](Gait& g, const GaitState& s) {
        new (&g) Gait{std::get<0>(s), std::get<1>(s), std::get<2>(s), std::get<3>(s)};
      });
}

}  // namespace

void bind_locomotion(nb::module_& m) {
  bind_gait(m);
  nb::class_<PyLocomotion> c(m, "Locomotion",
                             "Locomotion by velocity commands: gait, footholds, model predictive "
                             "control of forces, torques. One step per control period.");
  LocomotionOptions defaults;
  const std::string text =
      "posture: a configuration in which the robot stands on level ground. Options: " +
      text_of(options_of(defaults));
  c.def(
       "__init__",
       [](PyLocomotion* self, const Robot& robot, nb::handle feet, nb::handle posture,
          const nb::kwargs& given) {
         LocomotionOptions options;
         set_options("Locomotion", options_of(options), given);
         new (self) PyLocomotion(robot, feet_of("Locomotion", robot, feet),
                                 vector_of("Locomotion", "posture", posture, robot.nq()), options);
       },
       "robot"_a, "feet"_a, "posture"_a, "options"_a, nb::keep_alive<1, 2>(),
       nb::sig("def __init__(self, robot: Robot, feet: Feet, posture: ArrayLike, **options: Any) "
               "-> None"),
       Doc(text.c_str()))
      .def("set_gait", &PyLocomotion::set_gait, "gait"_a,
           Doc("Takes effect at the next step; swing feet land first."
               "\n\nArgs:\n    gait: The gait."))
      .def_prop_ro(
          "gait",
          [](PyLocomotion& self) {
            const std::lock_guard lock(self.mutex);
            return Gait(self.locomotion().gait());
          },
          nb::sig("def gait(self) -> Gait"), Doc("The current gait."))
      .def("step", &PyLocomotion::step, "q"_a, "v"_a, "contact"_a,
           "command"_a = nb::make_tuple(0, 0, 0),
           nb::sig("def step(self, q: ArrayLike, v: ArrayLike, contact: ArrayLike, command: "
                   "ArrayLike = (0, 0, 0)) -> Array"),
           Doc("Torques (nv,), zero for the base. contact: whether each foot is in contact. "
               "command: "
               "forward, left (m/s), yaw rate (rad/s), in the heading frame of the base."
               "\n\nArgs:\n    contact: Whether each foot is in contact.\n    command: Forward, "
               "left, yaw rate, `(3,)`: m/s, rad/s."))
      .def("controller", &PyLocomotion::controller, "command"_a = nb::make_tuple(0, 0, 0),
           nb::keep_alive<0, 1>(),
           nb::sig("def controller(self, command: ArrayLike = (0, 0, 0)) -> NativeController"),
           Doc("For Simulation.set_controller, without Python in the loop. command: as in step, or "
               "rows "
               "(t, forward, left, yaw rate), interpolated linearly."
               "\n\nArgs:\n    command: As in step, or rows (t, forward, left, yaw rate)."))
      .def_prop_ro("report", &PyLocomotion::report, nb::sig("def report(self) -> LocomotionReport"),
                   Doc("Report of the last step."))
      .def_prop_ro("stands", &PyLocomotion::stands, Doc("Whether each foot should be in stance."))
      .def_prop_ro(
          "control_period",
          [](const PyLocomotion& self) { return self.locomotion().options().control_period; },
          Doc("s"));
  bind_getters(c);
  bind_getter(c, "footholds", "(feet, 3): planned footholds of swing feet, m.",
              [](const PyLocomotion& h) {
                Dense rows(static_cast<Eigen::Index>(h.names.size()), 3);
                for (int i = 0; i < rows.rows(); ++i) {
                  rows.row(i) = h.locomotion().foothold_of(i);
                }
                return array_of(rows);
              });
  bind_getter(c, "desired_mass_center", "(3,): desired centre of mass, m.",
              [](const PyLocomotion& h) {
                return array_of(Numbers(h.locomotion().desired_mass_center()));
              });
}

}  // namespace limb::python
