#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "limb/dynamics/constraints/actuation.hpp"
#include "python/src/arrays.hpp"
#include "python/src/bind.hpp"
#include "python/src/contact_set.hpp"

namespace limb::python {

ContactSet::ContactSet(const Robot& robot, std::vector<Contact<double>> contacts,
                       std::vector<std::string> names)
    : robot_(&robot),
      set_(robot.model(), std::move(contacts), all_loops(robot.model())),
      names_(std::move(names)) {}

void ContactSet::check(const char* call, const Robot& robot) const {
  if (robot_ != &robot) throw Error(std::string(call) + ": contacts were made for another robot");
}

namespace {

std::unique_ptr<ContactSet> make_contacts(const char* call, const Robot& robot,
                                          const std::vector<std::string>& frames,
                                          std::string_view kind, std::string_view axes,
                                          double stiffness, double damping) {
  std::vector<Contact<double>> contacts;
  for (const std::string& name : frames) {
    Contact<double> contact{robot.frame(call, name)};
    if (kind == "surface") {
      contact.kind = ContactKind::surface;
    } else if (kind != "point") {
      fail(call, "kind", "'" + std::string(kind) + "'", "'point' or 'surface'");
    }
    if (axes == "world") {
      contact.axes = ContactAxes::world;
    } else if (axes != "contact") {
      fail(call, "axes", "'" + std::string(axes) + "'", "'world' or 'contact'");
    }
    contact.stabilization = {stiffness, damping};
    contacts.push_back(contact);
  }
  return std::make_unique<ContactSet>(robot, std::move(contacts), frames);
}

nb::object call_forward(const Robot& r, nb::handle q, nb::handle v, nb::handle tau,
                        nb::handle contacts, nb::handle external, nb::handle out,
                        nb::handle check) {
  const char* name = "constrained_forward_dynamics";
  std::unique_ptr<ContactSet> made;
  const ContactSet& set = contacts_of(name, r, contacts, made);
  const int n = r.nv(), rows = set.set().rows();
  External wrenches(name, r, external);
  const Result results[] = {Result::vector(n), Result::vector(rows), Result::number(),
                            Result::number()};
  const nb::handle type = result_type("constrained_motion");
  return map({name,
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, tau, "tau")}),
              results,
              {out, check},
              type},
             [&](Workspaces&, const double* const* in, double* const* to) {
               auto work = set.work();
               const auto report = constrained_forward_dynamics(
                   r.model(), set.set(), *work, ConstVector(in[0], r.nq()), ConstVector(in[1], n),
                   ConstVector(in[2], n), wrenches.read(in), Vector(to[0], n), Vector(to[1], rows),
                   {r.effects()});
               if (!report.ok()) r.fail_singular(name, report.velocity);
               *to[2] = report.rank;
               *to[3] = report.residual;
             });
}

nb::object call_inverse(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                        nb::handle contacts, nb::handle external, nb::handle out,
                        nb::handle check) {
  const char* name = "constrained_inverse_dynamics";
  std::unique_ptr<ContactSet> made;
  const ContactSet& set = contacts_of(name, r, contacts, made);
  const int n = r.nv(), rows = set.set().rows();
  External wrenches(name, r, external);
  const Result results[] = {Result::vector(n), Result::vector(rows), Result::number(),
                            Result::number()};
  const nb::handle type = result_type("constrained_torques");
  return map({name,
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, a, "a")}),
              results,
              {out, check},
              type},
             [&](Workspaces&, const double* const* in, double* const* to) {
               auto work = set.work();
               const auto report = constrained_inverse_dynamics(
                   r.model(), set.set(), *work, ConstVector(in[0], r.nq()), ConstVector(in[1], n),
                   ConstVector(in[2], n), wrenches.read(in), Vector(to[0], n), Vector(to[1], rows),
                   {r.effects()});
               *to[2] = report.rank;
               *to[3] = report.residual;
             });
}

nb::object call_impact(const Robot& r, nb::handle q, nb::handle v, nb::handle contacts,
                       nb::handle restitution, nb::handle out, nb::handle check) {
  std::unique_ptr<ContactSet> made;
  const ContactSet& set = contacts_of("impact", r, contacts, made);
  const int n = r.nv(), rows = set.set().rows();
  const Result results[] = {Result::vector(n), Result::vector(rows), Result::number(),
                            Result::number()};
  const Argument arguments[] = {
      position(r, q), velocity(r, v), {"restitution", restitution, 1, Argument::Kind::number}};
  const nb::handle type = result_type("impact_result");
  return map({"impact", r, arguments, results, {out, check}, type},
             [&](Workspaces&, const double* const* in, double* const* to) {
               auto work = set.work();
               const auto report = impact(r.model(), set.set(), *work, ConstVector(in[0], r.nq()),
                                          ConstVector(in[1], n), ConstVector(in[2], 1),
                                          Vector(to[0], n), Vector(to[1], rows));
               if (!report.ok()) r.fail_singular("impact", report.velocity);
               *to[2] = report.rank;
               *to[3] = report.residual;
             });
}

nb::object call_constraint_jacobian(const Robot& r, nb::handle q, nb::handle v, nb::handle contacts,
                                    nb::handle out, nb::handle check) {
  std::unique_ptr<ContactSet> made;
  const ContactSet& set = contacts_of("constraint_jacobian", r, contacts, made);
  const int n = r.nv(), rows = set.set().rows();
  return map("constraint_jacobian", r, {position(r, q), velocity(r, v)},
             {Result::matrix(rows, n), Result::vector(rows)}, "ConstraintJacobian", {out, check},
             [&](Workspaces&, const double* const* in, double* const* to) {
               auto work = set.work();
               constraint_jacobian(r.model(), set.set(), *work, ConstVector(in[0], r.nq()),
                                   ConstVector(in[1], n), Matrix(to[0], rows, n),
                                   Vector(to[1], rows));
             });
}

nb::object call_base_joint_partition(const Robot& r, nb::handle M, nb::handle h, nb::handle out,
                                     nb::handle check) {
  const int n = r.nv(), b = base_size(r.model()), j = n - b;
  const Result results[] = {Result::matrix(b, b), Result::matrix(b, j), Result::matrix(j, j),
                            Result::vector(b), Result::vector(j)};
  const Argument arguments[] = {{"M", M, n * n, Argument::Kind::matrix, n}, velocity(r, h, "h")};
  const nb::handle type = result_type("BaseJointPartition");
  return map({"base_joint_partition", r, arguments, results, {out, check}, type},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               BaseJointPartition<double>& parts = w.legged();
               // Row-major, which for a symmetric matrix equals column-major.
               base_joint_partition(r.model(), Eigen::Map<const MatrixX<double>>(in[0], n, n),
                                    ConstVector(in[1], n), parts);
               Matrix(to[0], b, b) = parts.M_bb;
               Matrix(to[1], b, j) = parts.M_bj;
               Matrix(to[2], j, j) = parts.M_jj;
               Vector(to[3], b) = parts.h_b;
               Vector(to[4], j) = parts.h_j;
             });
}

nb::object call_selection(const Robot& r) {
  const int m = motor_count(r.model());
  return map("selection_matrix", r, {}, Result::matrix(m, r.nv()), {nb::none()},
             [&](Workspaces&, const double* const*, double* const* to) {
               selection_matrix(r.model(), Matrix(to[0], m, r.nv()));
             });
}

nb::object call_underactuation(const Robot& r, nb::handle q, nb::handle contacts) {
  std::unique_ptr<ContactSet> made;
  const ContactSet& set = contacts_of("underactuation", r, contacts, made);
  Leading leading;
  nb::object back;
  const ArrayIn state = read_array("underactuation", position(r, q), leading, back);
  if (leading.rank > 0 || state.is_float) {
    throw Error("underactuation: q is a batch or float32, expected one state of float64");
  }
  auto work = set.work();
  const auto found = underactuation(r.model(), set.set(), *work,
                                    ConstVector(static_cast<const double*>(state.data), r.nq()));
  const int free = static_cast<int>(found.free_directions.cols());
  const nb::object directions =
      map("underactuation", r, {}, Result::matrix(r.nv(), free), {nb::none()},
          [&](Workspaces&, const double* const*, double* const* to) {
            Matrix(to[0], r.nv(), free) = found.free_directions;
          });
  return result_type("Underactuation")(found.velocities, found.motors, found.rows, found.rank,
                                       found.unactuated, directions);
}

}  // namespace

const ContactSet& contacts_of(const char* call, const Robot& robot, nb::handle given,
                              std::unique_ptr<ContactSet>& made) {
  if (nb::isinstance<ContactSet>(given)) {
    const ContactSet& set = *nb::inst_ptr<ContactSet>(given);
    set.check(call, robot);
    return set;
  }
  std::vector<std::string> frames;
  if (nb::isinstance<nb::str>(given)) {
    frames.push_back(nb::cast<std::string>(given));
  } else if (!given.is_none() && !nb::try_cast(given, frames)) {
    fail(call, "contacts", nb::cast<std::string>(nb::str(given.type().attr("__name__"))),
         "a ContactSet, a frame or a list of frames");
  }
  made = make_contacts(call, robot, frames, "point", "world", 0, 0);
  return *made;
}

void bind_contacts(nb::module_& m, RobotClass& c) {
  const auto none = nb::none();
  nb::class_<ContactSet>(m, "ContactSet",
                         "Frames in contact with the world; made by Robot.contacts.")
      .def_prop_ro("frames", &ContactSet::names, Doc("Names of the frames."))
      .def_prop_ro(
          "rows", [](const ContactSet& s) { return s.set().rows(); },
          Doc("Number of contact force components."))
      .def("__repr__", [](const ContactSet& s) {
        std::string text = "ContactSet(";
        for (const auto& name : s.names()) text += (text.back() == '(' ? "'" : ", '") + name + "'";
        return text + ")";
      });
  c.def(
      "contacts",
      [](const Robot& r, const std::vector<std::string>& frames, std::string_view kind,
         std::string_view axes, double stiffness, double damping) {
        return make_contacts("contacts", r, frames, kind, axes, stiffness, damping);
      },
      "frames"_a, nb::kw_only(), "kind"_a = "point", "axes"_a = "world", "stiffness"_a = 0.0,
      "damping"_a = 0.0, nb::keep_alive<0, 1>(),
      nb::sig("def contacts(self, frames: Sequence[str], *, kind: ContactKind = 'point', "
              "axes: ContactAxes = 'world', stiffness: float = 0.0, damping: float = 0.0) -> "
              "ContactSet"),
      Doc("Frames in contact with the world: only their origins (\"point\", 3 force components "
          "each)\n"
          "or rigidly (\"surface\", force and moment). Forces act on the robot, in axes of the "
          "world "
          "or\n"
          "of the frame (\"contact\"). Stiffness (1/s^2) and damping (1/s) correct the drift of a\n"
          "contact. Loops of the model are always closed. Where a method takes contacts, a list "
          "of\n"
          "frames makes point contacts."
          "\n\nArgs:\n    frames: Names of frames, with the kind of each or of all.\n    "
          "stiffness: Position gain of the stabilisation, 1/s^2.\n    damping: Velocity gain of "
          "the stabilisation, 1/s."));
  c.def(
      "constrained_forward_dynamics", call_forward, "q"_a, "v"_a, "tau"_a, "contacts"_a,
      nb::kw_only(), "external"_a = none, "out"_a = none, "check"_a = none,
      nb::sig("def constrained_forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,"
              " contacts: Contacts, *, " LIMB_EXTERNAL
              ", out: tuple[Array, ...] | None = None, check: bool | None = None) -> "
              "ConstrainedMotion"),
      Doc("Accelerations and contact forces with `M a + h = tau + J^T f` and `J a + dJ/dt v = 0`.\n"
          "With redundant contacts: the forces of least norm."));
  c.def(
      "constrained_inverse_dynamics", call_inverse, "q"_a, "v"_a, "a"_a, "contacts"_a,
      nb::kw_only(), "external"_a = none, "out"_a = none, "check"_a = none,
      nb::sig("def constrained_inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, "
              "contacts: Contacts, *, " LIMB_EXTERNAL
              ", out: tuple[Array, ...] | None = None, check: bool | None = None) -> "
              "ConstrainedTorques"),
      Doc("Torques of the motors, and the contact forces of least norm for the unactuated "
          "directions,\n"
          "for given accelerations. A residual above rounding: the acceleration is not feasible."));
  c.def("impact", call_impact, "q"_a, "v"_a, "contacts"_a, "restitution"_a = 0.0, nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def impact(self, q: ArrayLike, v: ArrayLike, contacts: Contacts, restitution: "
                "ArrayLike = 0.0, *, out: tuple[Array, ...] | None = None, check: bool | None = "
                "None) -> ImpactResult"),
        Doc("Velocities after a simultaneous impact of all contacts, and the impulses."
            "\n\nArgs:\n    restitution: Ratio of the normal speeds after and before the impact, a "
            "number or `(...)`."));
  c.def("constraint_jacobian", call_constraint_jacobian, "q"_a, "v"_a, "contacts"_a, nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def constraint_jacobian(self, q: ArrayLike, v: ArrayLike, contacts: Contacts, *, "
                "out: tuple[Array, Array] | None = None, check: bool | None = None) -> "
                "ConstraintJacobian"),
        Doc("J and `dJ/dt v` of the contacts."));
  c.def(
      "base_joint_partition", call_base_joint_partition, "M"_a, "h"_a, nb::kw_only(),
      "out"_a = none, "check"_a = none,
      nb::sig(
          "def base_joint_partition(self, M: ArrayLike, h: ArrayLike, *, "
          "out: tuple[Array, ...] | None = None, check: bool | None = None) -> BaseJointPartition"),
      Doc("Blocks of M and h for base (b) and joints (j)."
          "\n\nArgs:\n    M: Mass matrix, `(nv, nv)` or `(..., nv, nv)`.\n    h: Bias, `(nv,)` or "
          "`(..., nv)`."));
  c.def("selection_matrix", call_selection, nb::sig("def selection_matrix(self) -> Array"),
        Doc("S with `S v` the velocities of the actuated joints."));
  c.def("underactuation", call_underactuation, "q"_a, "contacts"_a = nb::list(),
        nb::sig("def underactuation(self, q: ArrayLike, contacts: Contacts = []) -> "
                "Underactuation"),
        Doc("Directions that neither motors nor contacts act on at q."));
}

}  // namespace limb::python
