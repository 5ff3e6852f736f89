#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <mutex>
#include <optional>

#include "limb/control/task/hybrid_force_control.hpp"
#include "limb/control/task/task_control.hpp"
#include "limb/sim/world/controllers.hpp"
#include "python/src/control_arguments.hpp"
#include "python/src/matrix_caster.hpp"
#include "python/src/native_controller.hpp"

/// Frame controllers of limb.control.
namespace limb::python {
namespace {

using M4 = Matrix4<double>;
using V6 = Vector6<double>;

Pose<double> pose_of(const M4& X) {
  return Pose<double>::from_matrix(X);
}
Motion<double> motion_of(const std::optional<V6>& x) {
  return x ? Motion<double>{x->head<3>(), x->tail<3>()}
           : Motion<double>{Vector3<double>::Zero(), Vector3<double>::Zero()};
}

std::array<bool, 6> rows_of(const char* call, const std::vector<std::string>& names) {
  constexpr const char* kNames[] = {"x", "y", "z", "rx", "ry", "rz"};
  std::array<bool, 6> rows{};
  for (const std::string& name : names) {
    const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
    if (found == std::end(kNames)) {
      fail(call, "rows", "'" + name + "'", "some of x, y, z, rx, ry, rz");
    }
    rows[static_cast<std::size_t>(found - kNames)] = true;
  }
  return rows;
}

FrameTaskSetup task_of(const char* call, const Robot& r, const std::string& frame,
                       const std::vector<std::string>& rows, double threshold) {
  FrameTaskSetup task;
  task.frame = r.frame(call, frame);
  if (!rows.empty()) task.rows = rows_of(call, rows);
  task.threshold = threshold;
  task.effects = r.effects();
  return task;
}
PostureOptions posture_of(const char* call, const Robot& r, const ArrayLike& q) {
  PostureOptions posture;
  if (!q.is_none()) posture.q = read_vector(call, "posture", q, r.nq());
  return posture;
}

/// A frame controller.
template <typename Law>
struct FrameLaw {
  Law law;
  int nq, nv;
  int saturated = 0;
  std::mutex mutex = {};

  NewArray step(const ArrayLike& q, const ArrayLike& v, const M4& X_ref,
                const std::optional<V6>& V_ref, const std::optional<V6>& A_ref) {
    const std::lock_guard lock(mutex);
    const FrameReference reference{pose_of(X_ref), motion_of(V_ref), motion_of(A_ref)};
    Numbers tau(nv);
    const StepReport report =
        law.step(read_vector("step", "q", q, nq), read_vector("step", "v", v, nv), reference, tau);
    return array_of(finish("step", report, tau, saturated));
  }
  NativeController controller(const M4& X_ref) {
    const FrameReference reference{pose_of(X_ref), motion_of({}), motion_of({})};
    return {[this, reference](const World& world) -> Controller {
      check_fits(world, nq, nv);
      return [this, reference](const ControlInput& input, Numbers& tau) {
        const std::lock_guard lock(mutex);
        const StepReport report = law.step(input.q, input.v, reference, tau);
        saturated = report.saturated;
        record_step(input.t, report, nullptr);
      };
    }};
  }
};

struct HybridLaw {
  HybridForceControl law;
  FrameId frame;
  double period;  ///< s
  int nq, nv;
  int saturated = 0;
  std::mutex mutex = {};

  NewArray step(const ArrayLike& q, const ArrayLike& v, const M4& X_ref, const V6& f_ref,
                const V6& f_measured, const std::optional<V6>& V_ref,
                const std::optional<V6>& A_ref) {
    const std::lock_guard lock(mutex);
    const FrameReference reference{pose_of(X_ref), motion_of(V_ref), motion_of(A_ref)};
    Numbers tau(nv);
    const StepReport report =
        law.step(read_vector("step", "q", q, nq), read_vector("step", "v", v, nv), reference, f_ref,
                 {f_measured.head<3>(), f_measured.tail<3>()}, tau);
    return array_of(finish("step", report, tau, saturated));
  }
  /// Measures the sum of all wrenches on its frame.
  NativeController controller(const M4& X_ref, const V6& f_ref) {
    const FrameReference reference{pose_of(X_ref), motion_of({}), motion_of({})};
    return {[this, reference, f_ref](const World& world) -> Controller {
              check_fits(world, nq, nv);
              return [this, reference, f_ref](const ControlInput& input, Numbers& tau) {
                const std::lock_guard lock(mutex);
                Force<double> measured{Vector3<double>::Zero(), Vector3<double>::Zero()};
                for (const FrameWrench<double>& w : input.wrenches) {
                  if (w.frame != frame) continue;
                  measured.f += w.F_F.f;
                  measured.n += w.F_F.n;
                }
                const StepReport report =
                    law.step(input.q, input.v, reference, f_ref, measured, tau);
                saturated = report.saturated;
                record_step(input.t, report, nullptr);
              };
            },
            period};
  }
};

template <typename Law>
auto bind_frame(nb::module_& m, const char* name, const char* text) {
  using Bound = FrameLaw<Law>;
  nb::class_<Bound> c(m, name, text);
  c.def("step", &Bound::step, "q"_a, "v"_a, "X_ref"_a, "V_ref"_a = nb::none(),
        "A_ref"_a = nb::none(),
        Doc("Torques for a measured state; pose (4, 4), velocity and acceleration of the frame in "
            "world axes."));
  c.def("controller", &Bound::controller, "X_ref"_a, nb::keep_alive<0, 1>(),
        Doc("For Simulation.set_controller, without Python in the loop: holds a pose."));
  c.def_ro("saturated", &Bound::saturated,
           Doc("Number of motors at their limit in the last step."));
  c.def_prop_ro(
      "Lambda", [](Bound& self) { return array_of(self.law.task().space.Lambda); },
      Doc("Task-space inertia in the last step."));
  return c;
}

}  // namespace

void bind_frame_control(nb::module_& m) {
  const auto none = nb::none();
  const std::vector<std::string> all;
  bind_frame<OperationalSpaceControl>(m, "OperationalSpaceControl",
                                      "Operational space control: decoupled motion of a frame.")
      .def(
          "__init__",
          [](FrameLaw<OperationalSpaceControl>* self, const Robot& r, const std::string& frame,
             double frequency, double damping_ratio, const std::vector<std::string>& rows,
             const ArrayLike& posture, double threshold, const ArrayLike& limits) {
            constexpr const char* kCall = "OperationalSpaceControl";
            OperationalSpaceControl::Setup s;
            s.task = task_of(kCall, r, frame, rows, threshold);
            s.frequency = frequency;
            s.damping_ratio = damping_ratio;
            s.posture = posture_of(kCall, r, posture);
            new (self) FrameLaw<OperationalSpaceControl>{
                OperationalSpaceControl(robot_of(r, limits), s), r.nq(), r.nv()};
          },
          "robot"_a, "frame"_a, "frequency"_a = 2.0, "damping_ratio"_a = 1.0, nb::kw_only(),
          "rows"_a = all, "posture"_a = none, "threshold"_a = 0.02, "limits"_a = none,
          Doc("Constructs the controller.\n\nArgs:\n    robot: The robot.\n    frequency: Natural "
              "frequency of the error, Hz.\n    damping_ratio: Of the error; 1: critical.\n    "
              "rows: Directions that are controlled, of \"x\", \"y\", \"z\", \"rx\", \"ry\", "
              "\"rz\"; empty: all.\n    posture: Configuration to stay close to in the null space, "
              "`(nq,)`; None: none.\n    threshold: Smallest singular value below which directions "
              "are damped."));
  bind_frame<CartesianImpedance>(
      m, "CartesianImpedance",
      "Cartesian impedance: a spring and damper between a frame and its reference.")
      .def(
          "__init__",
          [](FrameLaw<CartesianImpedance>* self, const Robot& r, const std::string& frame,
             const ArrayLike& stiffness, const ArrayLike& damping, double damping_ratio,
             const std::vector<std::string>& rows, const ArrayLike& posture, double threshold,
             const ArrayLike& limits) {
            constexpr const char* kCall = "CartesianImpedance";
            CartesianImpedance::Setup s;
            s.task = task_of(kCall, r, frame, rows, threshold);
            s.stiffness = read_square(kCall, "stiffness", stiffness, s.task.row_count());
            if (!damping.is_none()) {
              s.damping = read_square(kCall, "damping", damping, s.task.row_count());
            }
            s.damping_ratio = damping_ratio;
            s.posture = posture_of(kCall, r, posture);
            new (self) FrameLaw<CartesianImpedance>{
                CartesianImpedance(robot_of(r, limits), std::move(s)), r.nq(), r.nv()};
          },
          "robot"_a, "frame"_a, "stiffness"_a, "damping"_a = none, nb::kw_only(),
          "damping_ratio"_a = 0.7, "rows"_a = all, "posture"_a = none, "threshold"_a = 0.02,
          "limits"_a = none,
          Doc("Constructs the controller.\n\nArgs:\n    robot: The robot.\n    stiffness: Six "
              "numbers or a matrix, N/m and N m/rad.\n    damping: Six numbers or a matrix; None: "
              "from damping_ratio.\n    damping_ratio: Used without damping.\n    rows: Directions "
              "that are controlled, of \"x\", \"y\", \"z\", \"rx\", \"ry\", \"rz\"; empty: all.\n  "
              "  posture: Configuration to stay close to in the null space, `(nq,)`; None: none.\n "
              "   threshold: Smallest singular value below which directions are damped."));
  nb::class_<HybridLaw>(
      m, "HybridForceControl",
      "Force control along some directions of a frame, motion control along the others.")
      .def(
          "__init__",
          [](HybridLaw* self, const Robot& r, const std::string& frame,
             const std::vector<std::string>& force_rows, double frequency, double damping_ratio,
             double force_kp, double force_ki, double force_kd, double period,
             const ArrayLike& posture, double threshold, const ArrayLike& limits) {
            constexpr const char* kCall = "HybridForceControl";
            HybridForceControl::Setup s;
            s.task = task_of(kCall, r, frame, {}, threshold);
            s.force_rows = rows_of(kCall, force_rows);
            for (std::size_t i = 0; i < 6; ++i) s.task.rows[i] = !s.force_rows[i];
            s.frequency = frequency;
            s.damping_ratio = damping_ratio;
            s.force_kp = force_kp;
            s.force_ki = force_ki;
            s.force_kd = force_kd;
            s.period = period;
            s.posture = posture_of(kCall, r, posture);
            new (self) HybridLaw{HybridForceControl(robot_of(r, limits), s), s.task.frame, period,
                                 r.nq(), r.nv()};
          },
          "robot"_a, "frame"_a, "force_rows"_a, nb::kw_only(), "frequency"_a = 2.0,
          "damping_ratio"_a = 1.0, "force_kp"_a = 0.5, "force_ki"_a = 20.0, "force_kd"_a = 50.0,
          "period"_a = 1e-3, "posture"_a = none, "threshold"_a = 0.02, "limits"_a = none,
          Doc("Constructs the controller.\n\nArgs:\n    robot: The robot.\n    force_rows: "
              "Directions in which the force is controlled, as rows of OperationalSpaceControl.\n  "
              "  frequency: Natural frequency of the error, Hz.\n    damping_ratio: Of the error; "
              "1: critical.\n    force_kp: Proportional gain of the force.\n    force_ki: Integral "
              "gain of the force, 1/s.\n    force_kd: Damping of the motion in these directions.\n "
              "   period: Time between steps, s.\n    posture: Configuration to stay close to in "
              "the null space, `(nq,)`; None: none.\n    threshold: Smallest singular value below "
              "which directions are damped."))
      .def("step", &HybridLaw::step, "q"_a, "v"_a, "X_ref"_a, "f_ref"_a, "f_measured"_a,
           "V_ref"_a = none, "A_ref"_a = none,
           Doc("Torques. f_ref: wrench that the frame should exert, in world axes; f_measured: "
               "wrench "
               "of\n"
               "the environment on the frame, in frame axes."
               "\n\nArgs:\n    f_ref: Reference of the wrench, `(6,)`.\n    f_measured: Measured "
               "wrench, `(6,)`."))
      .def("controller", &HybridLaw::controller, "X_ref"_a, "f_ref"_a, nb::keep_alive<0, 1>(),
           Doc("For Simulation.set_controller, without Python in the loop: holds a pose and a "
               "force, "
               "and measures the sum of all wrenches of the world on the frame."
               "\n\nArgs:\n    f_ref: Reference of the wrench, `(6,)`."))
      .def(
          "reset", [](HybridLaw& self) { self.law.reset(); }, Doc("Sets the integrals to zero."))
      .def_ro("saturated", &HybridLaw::saturated,
              Doc("Number of motors at their limit in the last step."));
}

}  // namespace limb::python
