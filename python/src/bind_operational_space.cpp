#include <nanobind/stl/string_view.h>

#include "limb/dynamics/kinematics/jacobian.hpp"
#include "python/src/bind.hpp"
#include "python/src/contact_set.hpp"

namespace limb::python {
namespace {

nb::object call_task(const Robot& r, nb::handle q, nb::handle v, std::string_view frame,
                     std::string_view axes, nb::handle contacts, double threshold, nb::handle out) {
  const char* name = "operational_space";
  const FrameId id = r.frame(name, frame);
  const FrameAxes in_axes = axes_named(name, axes);
  std::unique_ptr<ContactSet> made;
  const ContactSet* set = nullptr;
  if (!contacts.is_none() || !r.model().loops().empty()) {
    set = &contacts_of(name, r, contacts, made);
  }
  const int n = r.nv();
  const OperationalOptions options{r.effects(), threshold};
  const Result results[] = {Result::symmetric(6), Result::matrix(n, 6), Result::matrix(n, n),
                            Result::vector(6),    Result::vector(6),    Result::number(),
                            Result::number()};
  const Argument arguments[] = {position(r, q), velocity(r, v)};
  const nb::handle type = result_type("operational_space");
  return map({name, r, arguments, results, out, type}, [&](Workspaces& w, const double* const* in,
                                                           double* const* to) {
    const auto& k = kinematics_at(r, w, in, 2);
    Matrix6X<double> J(6, n);
    frame_jacobian(r.model(), k, id, in_axes, J);
    const Vector6<double> dJ_v = frame_jacobian_rate_times_v(r.model(), k, id, in_axes).vector();
    OperationalSpace<double>& task = w.task();
    const ConstVector q_in(in[0], r.nq()), v_in(in[1], n);
    FactorReport report;
    if (set != nullptr) {
      auto work = set->work();
      report = operational_space(r.model(), set->set(), *work, q_in, v_in, J, dJ_v, task, options);
    } else {
      report = operational_space(r.model(), w.tree(), q_in, v_in, J, dJ_v, task, options);
    }
    if (!report.ok()) r.fail_singular(name, report.velocity);
    Matrix(to[0], 6, 6) = task.Lambda;
    Matrix(to[1], n, 6) = task.J_bar;
    Matrix(to[2], n, n) = task.N;
    Vector(to[3], 6) = task.mu;
    Vector(to[4], 6) = task.rho;
    *to[5] = task.smallest_singular_value;
    *to[6] = task.damped;
  });
}

}  // namespace

void bind_operational_space(RobotClass& c) {
  const auto none = nb::none();
  c.def("operational_space", call_task, "q"_a, "v"_a, "frame"_a, "axes"_a = "local", nb::kw_only(),
        "contacts"_a = none, "threshold"_a = 1e-3, "out"_a = none,
        nb::sig("def operational_space(self, q: ArrayLike, v: ArrayLike, frame: str, "
                "axes: Axes = 'local', *, contacts: Contacts | None = None, threshold: float = "
                "1e-3, out: tuple[Array, ...] | None = None) -> OperationalSpace"),
        "Dynamics of a frame: `F = Lambda d2x/dt2 + mu + rho`,\n"
        "`tau = J^T F + N^T tau_0`. Directions whose singular value is below `threshold` times\n"
        "the largest are damped; `damped` counts them.");
}

}  // namespace limb::python
