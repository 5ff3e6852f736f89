#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "limb/dynamics/constraints/jacobian_rows.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "python/src/bind.hpp"
#include "python/src/contact_set.hpp"

namespace limb::python {
namespace {

/// The workspace of a task with some number of rows; one exists at a time.
class TaskWorkspace {
 public:
  explicit TaskWorkspace(const Model<double>& model) : model_(model) {}
  OperationalSpace<double>& of(int rows) {
    if (!space_ || space_->Lambda.rows() != rows) {
      space_ = std::make_unique<OperationalSpace<double>>(model_, rows);
    }
    return *space_;
  }

 private:
  const Model<double>& model_;
  std::unique_ptr<OperationalSpace<double>> space_;
};

nb::object call_task(const Robot& r, nb::handle q, nb::handle v, std::string_view frame,
                     std::string_view axes, const std::vector<std::string>& row_names,
                     nb::handle contacts, double threshold, nb::handle out, nb::handle check) {
  const char* name = "operational_space";
  const std::vector<int> rows = jacobian_rows(name, row_names);
  const int m = static_cast<int>(rows.size());
  const FrameId id = r.frame(name, frame);
  const FrameAxes in_axes = axes_named(name, axes);
  std::unique_ptr<ContactSet> made;
  const ContactSet* set = nullptr;
  if (!contacts.is_none() || !r.model().loops().empty()) {
    set = &contacts_of(name, r, contacts, made);
  }
  const int n = r.nv();
  const OperationalOptions options{r.effects(), threshold};
  const Result results[] = {Result::symmetric(m), Result::matrix(n, m), Result::matrix(n, n),
                            Result::vector(m),    Result::vector(m),    Result::number(),
                            Result::number()};
  const Argument arguments[] = {position(r, q), velocity(r, v)};
  const nb::handle type = result_type("operational_space");
  return map({name, r, arguments, results, {out, check}, type}, [&](Workspaces& w,
                                                                    const double* const* in,
                                                                    double* const* to) {
    const auto& k = kinematics_at(r, w, in, 2);
    Matrix6X<double> all(6, n);
    frame_jacobian(r.model(), k, id, in_axes, all);
    const Vector6<double> rate = frame_jacobian_rate_times_v(r.model(), k, id, in_axes).vector();
    const MatrixX<double> J = all(rows, Eigen::all);
    const VectorX<double> dJ_v = rate(rows);
    OperationalSpace<double>& task = w.workspace<TaskWorkspace>().of(m);
    const ConstVector q_in(in[0], r.nq()), v_in(in[1], n);
    FactorReport report;
    if (set != nullptr) {
      auto work = set->work();
      report = operational_space(r.model(), set->set(), *work, q_in, v_in, J, dJ_v, task, options);
    } else {
      report = operational_space(r.model(), w.tree(), q_in, v_in, J, dJ_v, task, options);
    }
    if (!report.ok()) r.fail_singular(name, report.velocity);
    Matrix(to[0], m, m) = task.Lambda;
    Matrix(to[1], n, m) = task.J_bar;
    Matrix(to[2], n, n) = task.N;
    Vector(to[3], m) = task.mu;
    Vector(to[4], m) = task.rho;
    *to[5] = task.smallest_singular_value;
    *to[6] = task.damped;
  });
}

}  // namespace

void bind_operational_space(RobotClass& c) {
  const auto none = nb::none();
  c.def(
      "operational_space", call_task, "q"_a, "v"_a, "frame"_a, "axes"_a = "local", nb::kw_only(),
      "rows"_a = std::vector<std::string>(), "contacts"_a = none, "threshold"_a = 1e-3,
      "out"_a = none, "check"_a = none,
      nb::sig(
          "def operational_space(self, q: ArrayLike, v: ArrayLike, frame: str, "
          "axes: Axes = 'local', *, rows: Sequence[str] = (), contacts: Contacts | None = None, "
          "threshold: float = 1e-3, out: tuple[Array, ...] | None = None, "
          "check: bool | None = None) -> OperationalSpace"),
      Doc("Dynamics of a frame: `F = Lambda d2x/dt2 + mu + rho`,\n"
          "`tau = J^T F + N^T tau_0`. Directions whose singular value is below `threshold` times\n"
          "the largest are damped; `damped` counts them.\n\nArgs:\n    rows: Rows of the Jacobian "
          "(vx "
          "vy vz wx wy wz) in this order; none: all six.\n    threshold: Smallest singular value "
          "below "
          "which directions are damped."));
}

}  // namespace limb::python
