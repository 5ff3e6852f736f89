#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/native_controller.hpp"
#include "python/src/options.hpp"
#include "python/src/whole_body_bindings.hpp"

/// Whole-body control and balance of limb.control.
namespace limb::python {

NamedFeet feet_of(const char* call, const Robot& robot, nb::handle given) {
  if (nb::isinstance<nb::str>(given)) fail(call, "feet", "a string", "a sequence of names");
  const bool points = nb::isinstance<nb::dict>(given);
  NamedFeet result;
  for (nb::handle each : given) {
    const std::string name = nb::cast<std::string>(each);
    Foot foot{robot.frame(call, name)};
    if (points) {
      const Dense rows = matrix_of(call, "points of a foot", given[each], -1, 3);
      foot.points.clear();
      for (const auto& row : rows.rowwise()) foot.points.emplace_back(row.transpose());
    }
    result.names.push_back(name);
    result.feet.push_back(std::move(foot));
  }
  return result;
}

nb::object residuals_of(const QpResiduals& r) {
  return result_of("QpResiduals", r.stationarity, r.primal, r.dual, r.complementarity);
}

std::string qp_text(Status status) {
  return status == Status::ok ? "solved" : std::string(to_text(status));
}

nb::object report_of(const WholeBodyReport& r) {
  return result_of("WholeBodyReport", qp_text(r.status), r.fell_back, r.iterations,
                   residuals_of(r.residuals), r.outside_cone, r.over_limit, r.setup_us, r.solve_us);
}

namespace {

using V3 = Vector3<double>;
using M3 = Matrix3<double>;

V3 vector_attribute(const char* call, nb::handle object, const char* name) {
  return vector_of(call, name, object.attr(name), 3);
}

/// limb.targets.NAME(...)
template <typename... Values>
nb::object target_of(const char* name, Values&&... values) {
  return nb::module_::import_("limb.targets").attr(name)(std::forward<Values>(values)...);
}

class PyWholeBody {
 public:
  PyWholeBody(const Robot& robot, NamedFeet feet, const WholeBodyOptions& options)
      : names(std::move(feet.names)), robot_(robot), body_(robot.model(), feet.feet, options) {}

  const WholeBody& body() const { return body_; }

  void update(nb::handle q, nb::handle v) {
    const std::lock_guard lock(mutex);
    const Numbers q_now = vector_of("WholeBody.update", "q", q, robot_.nq());
    body_.update(q_now, vector_of("WholeBody.update", "v", v, robot_.nv()));
    updated_ = true;
  }

  nb::object targets() const {
    const auto n = static_cast<Eigen::Index>(names.size());
    nb::list stands;
    for (Eigen::Index i = 0; i < n; ++i) stands.append(true);
    Dense normals = Dense::Zero(n, 3);
    normals.col(2).setOnes();
    const Numbers zero = Numbers::Zero(3), still = Numbers::Zero(robot_.nv());
    const Dense forces = Dense::Zero(n, 3), swing = Dense::Zero(n, 6);
    return target_of("WholeBodyTargets", stands, array_of(normals), array_of(forces),
                     array_of(swing), array_of(zero), array_of(zero), array_of(still));
  }

  nb::object solve(nb::handle given) {
    const WholeBodyTargets targets = read(given);
    const std::lock_guard lock(mutex);
    if (!updated_) throw Error("WholeBody.solve: there is no state yet (call update)");
    return array_of(Numbers(body_.solve(targets)));
  }

  nb::object report() {
    const std::lock_guard lock(mutex);
    return report_of(body_.report());
  }

  std::vector<std::string> names;
  std::mutex mutex;

 private:
  WholeBodyTargets read(nb::handle given) const {
    constexpr const char* kCall = "WholeBody.solve";
    const auto n = static_cast<Eigen::Index>(names.size());
    WholeBodyTargets targets = body_.targets();
    const Numbers stands = vector_of(kCall, "stands", given.attr("stands"), n);
    const Dense normals = matrix_of(kCall, "normals", given.attr("normals"), n, 3),
                forces = matrix_of(kCall, "forces", given.attr("forces"), n, 3),
                swing = matrix_of(kCall, "swing", given.attr("swing"), n, 6);
    for (Eigen::Index i = 0; i < n; ++i) {
      WholeBodyTargets::FootTarget& foot = targets.feet[static_cast<std::size_t>(i)];
      const double length = normals.row(i).norm();
      if (!(std::abs(length - 1) < 1e-6)) {
        fail(kCall, "normals", "of length " + to_text(length), "unit vectors");
      }
      foot.stands = stands[i] != 0;
      foot.normal = normals.row(i);
      foot.force = forces.row(i);
      foot.acceleration = {swing.row(i).head<3>(), swing.row(i).tail<3>()};
    }
    targets.mass_center = vector_attribute(kCall, given, "mass_center");
    targets.turn = vector_attribute(kCall, given, "turn");
    targets.posture = vector_of(kCall, "posture", given.attr("posture"), robot_.nv());
    return targets;
  }

  const Robot& robot_;  ///< kept alive by Python
  WholeBody body_;
  bool updated_ = false;
};

class PyBalance {
 public:
  PyBalance(const Robot& robot, NamedFeet feet, const BalanceOptions& options)
      : names(std::move(feet.names)), robot_(robot), balance_(robot.model(), feet.feet, options) {}

  const WholeBody& body() const { return balance_.whole_body(); }

  nb::object reference_at(nb::handle q) {
    const std::lock_guard lock(mutex);
    const Balance::Reference r =
        balance_.reference_at(vector_of("Balance.reference_at", "q", q, robot_.nq()));
    const Numbers zero = Numbers::Zero(3);
    return target_of("BalanceReference", array_of(Numbers(r.mass_center)), array_of(zero),
                     array_of(zero), array_of(Dense(r.R_WB)), array_of(r.posture));
  }

  nb::object step(nb::handle q, nb::handle v, nb::handle reference) {
    const Balance::Reference target = read("Balance.step", reference);
    const std::lock_guard lock(mutex);
    return array_of(Numbers(balance_.step(vector_of("Balance.step", "q", q, robot_.nq()),
                                          vector_of("Balance.step", "v", v, robot_.nv()), target)));
  }

  NativeController controller(nb::handle reference) {
    return {
        [this, target = read("Balance.controller", reference)](const World& world) -> Controller {
          check_fits(world, robot_.nq(), robot_.nv());
          return [this, target](const ControlInput& now, Numbers& tau) {
            const std::lock_guard lock(mutex);
            tau = balance_.step(now.q, now.v, target);
          };
        }};
  }

  nb::object report() {
    const std::lock_guard lock(mutex);
    return report_of(balance_.whole_body().report());
  }

  std::vector<std::string> names;
  std::mutex mutex;

 private:
  Balance::Reference read(const char* call, nb::handle given) const {
    Balance::Reference r;
    r.mass_center = vector_attribute(call, given, "mass_center");
    r.mass_center_velocity = vector_attribute(call, given, "mass_center_velocity");
    r.mass_center_acceleration = vector_attribute(call, given, "mass_center_acceleration");
    r.R_WB = matrix_of(call, "R", given.attr("R"), 3, 3);
    if (!((r.R_WB * r.R_WB.transpose() - M3::Identity()).norm() < 1e-6)) {
      fail(call, "R", "not a rotation", "a rotation matrix of the base");
    }
    r.posture = vector_of(call, "posture", given.attr("posture"), robot_.nq());
    return r;
  }

  const Robot& robot_;  ///< kept alive by Python
  Balance balance_;
};

/// robot, feet, **options
template <typename Bound, typename Settings>
void bind_init(nb::class_<Bound>& c, const char* call) {
  Settings defaults;
  const std::string text =
      "feet: frames with one point each, or soles: name -> points (n, 3) in frame axes. "
      "Options: " +
      text_of(options_of(defaults));
  c.def(
      "__init__",
      [call](Bound* self, const Robot& robot, nb::handle feet, const nb::kwargs& given) {
        Settings settings;
        set_options(call, options_of(settings), given);
        new (self) Bound(robot, feet_of(call, robot, feet), settings);
      },
      "robot"_a, "feet"_a, "options"_a, nb::keep_alive<1, 2>(),
      nb::sig("def __init__(self, robot: Robot, feet: Feet, **options: Any) -> None"),
      Doc(text.c_str()));
}

}  // namespace

void bind_whole_body(nb::module_& m) {
  m.def("has_qp", &Qp::available,
        Doc("Whether limb was built with a QP solver, which WholeBody, Balance and Locomotion "
            "need."));
  nb::class_<PyWholeBody> body(
      m, "WholeBody",
      "Torques of a legged robot for target accelerations: one quadratic program per step over "
      "accelerations and contact forces.");
  bind_init<PyWholeBody, WholeBodyOptions>(body, "WholeBody");
  body.def("update", &PyWholeBody::update, "q"_a, "v"_a,
           nb::sig("def update(self, q: ArrayLike, v: ArrayLike) -> None"), Doc("Sets the state."))
      .def("targets", &PyWholeBody::targets, nb::sig("def targets(self) -> WholeBodyTargets"),
           Doc("New targets: all feet in stance, zero accelerations."))
      .def("solve", &PyWholeBody::solve, "targets"_a,
           nb::sig("def solve(self, targets: WholeBodyTargets) -> Array"),
           Doc("Torques (nv,) at the state of the last update, zero for unactuated joints. If the "
               "program "
               "has no solution, those of a fall-back (see report)."
               "\n\nArgs:\n    targets: Targets, see WholeBodyTargets."))
      .def_prop_ro("report", &PyWholeBody::report, nb::sig("def report(self) -> WholeBodyReport"),
                   Doc("Report of the last solve."));
  bind_getters(body);
  bind_getter(body, "mass_matrix", "(nv, nv), at the last state.",
              [](const PyWholeBody& h) { return array_of(Dense(h.body().mass_matrix())); });

  nb::class_<PyBalance> balance(
      m, "Balance",
      "Balance on all feet: tracks references of the centre of mass, the base orientation and the "
      "posture.");
  bind_init<PyBalance, BalanceOptions>(balance, "Balance");
  balance
      .def("reference_at", &PyBalance::reference_at, "q"_a,
           nb::sig("def reference_at(self, q: ArrayLike) -> BalanceReference"),
           Doc("The reference that holds q."))
      .def("step", &PyBalance::step, "q"_a, "v"_a, "reference"_a,
           nb::sig("def step(self, q: ArrayLike, v: ArrayLike, reference: BalanceReference) -> "
                   "Array"),
           Doc("Torques (nv,), zero for unactuated joints."
               "\n\nArgs:\n    reference: See BalanceReference."))
      .def("controller", &PyBalance::controller, "reference"_a, nb::keep_alive<0, 1>(),
           nb::sig("def controller(self, reference: BalanceReference) -> NativeController"),
           Doc("For Simulation.set_controller, without Python in the loop."
               "\n\nArgs:\n    reference: See BalanceReference."))
      .def_prop_ro("report", &PyBalance::report, nb::sig("def report(self) -> WholeBodyReport"),
                   Doc("Report of the last step."));
  bind_getters(balance);
}

}  // namespace limb::python
