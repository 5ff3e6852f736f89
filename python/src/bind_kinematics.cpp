#include <nanobind/stl/string_view.h>

#include "limb/dynamics/kinematics/manifold.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

nb::object call_integrate(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                          nb::handle check) {
  return map("integrate", r, {position(r, q), velocity(r, v)}, Result::vector(r.nq()), {out, check},
             [&](Workspaces&, const double* const* in, double* const* to) {
               integrate(r.model(), ConstVector(in[0], r.nq()), ConstVector(in[1], r.nv()),
                         Vector(to[0], r.nq()));
             });
}

nb::object call_difference(const Robot& r, nb::handle q0, nb::handle q1, nb::handle out,
                           nb::handle check) {
  return map("difference", r, {position(r, q0, "q0"), position(r, q1, "q1")},
             Result::vector(r.nv()), {out, check},
             [&](Workspaces&, const double* const* in, double* const* to) {
               difference(r.model(), ConstVector(in[0], r.nq()), ConstVector(in[1], r.nq()),
                          Vector(to[0], r.nv()));
             });
}

nb::object call_interpolate(const Robot& r, nb::handle q0, nb::handle q1, nb::handle t,
                            nb::handle out, nb::handle check) {
  return map("interpolate", r,
             {position(r, q0, "q0"), position(r, q1, "q1"), {"t", t, 1, Argument::Kind::number}},
             Result::vector(r.nq()), {out, check},
             [&](Workspaces&, const double* const* in, double* const* to) {
               interpolate(r.model(), ConstVector(in[0], r.nq()), ConstVector(in[1], r.nq()),
                           *in[2], Vector(to[0], r.nq()));
             });
}

nb::object call_distance(const Robot& r, nb::handle q0, nb::handle q1, nb::handle out,
                         nb::handle check) {
  return map("distance", r, {position(r, q0, "q0"), position(r, q1, "q1")}, Result::number(),
             {out, check}, [&](Workspaces&, const double* const* in, double* const* to) {
               *to[0] = distance(r.model(), ConstVector(in[0], r.nq()), ConstVector(in[1], r.nq()));
             });
}

/// The quaternions of q need not be unit.
nb::object call_normalize(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  return map("normalize", r, {{"q", q, r.nq()}}, Result::vector(r.nq()), {out, check},
             [&](Workspaces&, const double* const* in, double* const* to) {
               Vector moved(to[0], r.nq());
               moved = ConstVector(in[0], r.nq());
               normalize(r.model(), moved);
             });
}

nb::object call_integrate_jacobians(const Robot& r, nb::handle v, nb::handle out,
                                    nb::handle check) {
  const int n = r.nv();
  return map("integrate_jacobians", r, {velocity(r, v)},
             {Result::matrix(n, n), Result::matrix(n, n)}, "IntegrateJacobians", {out, check},
             [&](Workspaces&, const double* const* in, double* const* to) {
               integrate_jacobians(r.model(), ConstVector(in[0], n), Matrix(to[0], n, n),
                                   Matrix(to[1], n, n));
             });
}

nb::object call_difference_jacobians(const Robot& r, nb::handle q0, nb::handle q1, nb::handle out,
                                     nb::handle check) {
  const int n = r.nv();
  return map("difference_jacobians", r, {position(r, q0, "q0"), position(r, q1, "q1")},
             {Result::matrix(n, n), Result::matrix(n, n)}, "DifferenceJacobians", {out, check},
             [&](Workspaces&, const double* const* in, double* const* to) {
               difference_jacobians(r.model(), ConstVector(in[0], r.nq()),
                                    ConstVector(in[1], r.nq()), Matrix(to[0], n, n),
                                    Matrix(to[1], n, n));
             });
}

nb::object call_neutral(const Robot& r) {
  return map("neutral", r, {}, Result::vector(r.nq()), {nb::none()},
             [&](Workspaces&, const double* const*, double* const* to) {
               neutral(r.model(), Vector(to[0], r.nq()));
             });
}

nb::object call_random(const Robot& r, std::uint64_t seed, nb::handle states) {
  std::mt19937_64 engine(seed);
  if (states.is_none()) {
    return map("random_configuration", r, {}, Result::vector(r.nq()), {nb::none()},
               [&](Workspaces&, const double* const*, double* const* to) {
                 random_configuration(r.model(), engine, Vector(to[0], r.nq()));
               });
  }
  npy_intp dims[2] = {nb::cast<npy_intp>(states), r.nq()};
  if (dims[0] < 0) fail("random_configuration", "states", std::to_string(dims[0]), "0 or more");
  nb::object array = nb::steal(PyArray_SimpleNew(2, dims, NPY_DOUBLE));
  auto* x = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
  for (npy_intp i = 0; i < dims[0]; ++i) {
    random_configuration(r.model(), engine, Vector(x + i * r.nq(), r.nq()));
  }
  return array;
}

nb::object call_forward_kinematics(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  const int bodies = r.model().body_count();
  return map("forward_kinematics", r, {position(r, q)}, Result::tensor(bodies, 4, 4), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               const auto& k = kinematics_at(r, w, in, 1);
               for (int i = 0; i < bodies; ++i) {
                 write_pose(k.X_WB[static_cast<std::size_t>(i)], to[0] + 16 * i);
               }
             });
}

}  // namespace

void bind_kinematics(RobotClass& c) {
  const auto none = nb::none();
  c.def("integrate", call_integrate, "q"_a, "v"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def integrate(self, q: ArrayLike, v: ArrayLike, *, " LIMB_OUT),
        Doc("`q` moved with velocity `v` for unit time: `q exp(v)` for quaternions, poses and "
            "planar\n"
            "poses, `q + v` for other coordinates."));
  c.def("difference", call_difference, "q0"_a, "q1"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def difference(self, q0: ArrayLike, q1: ArrayLike, *, " LIMB_OUT),
        Doc("The velocity that moves `q0` to `q1` in unit time; the shorter rotation for "
            "quaternions."));
  c.def("interpolate", call_interpolate, "q0"_a, "q1"_a, "t"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def interpolate(self, q0: ArrayLike, q1: ArrayLike, t: ArrayLike, *, " LIMB_OUT),
        Doc("Interpolation at constant velocity from `q0` (t = 0) to `q1` (t = 1)."));
  c.def("distance", call_distance, "q0"_a, "q1"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def distance(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None, "
                "check: bool | None = None)"
                " -> float | Array"),
        Doc("Norm of `difference(q0, q1)`; radians and metres have equal weight."));
  c.def("normalize", call_normalize, "q"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def normalize(self, q: ArrayLike, *, " LIMB_OUT),
        Doc("`q` with normalised quaternions."));
  c.def("integrate_jacobians", call_integrate_jacobians, "v"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def integrate_jacobians(self, v: ArrayLike, *, out: tuple[Array, Array] | None = "
                "None, check: bool | None = None) -> IntegrateJacobians"),
        Doc("`integrate(q, v)` changes by `J_q dq + J_v dv`, in tangent spaces."));
  c.def("difference_jacobians", call_difference_jacobians, "q0"_a, "q1"_a, nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def difference_jacobians(self, q0: ArrayLike, q1: ArrayLike, *, "
                "out: tuple[Array, Array] | None = None, check: bool | None = None) -> "
                "DifferenceJacobians"),
        Doc("`difference(q0, q1)` changes by `J_q0 dq0 + J_q1 dq1`."));
  c.def("neutral", call_neutral, nb::sig("def neutral(self) -> Array"),
        Doc("Every joint at the origin of its coordinates."));
  c.def(
      "random_configuration", call_random, "seed"_a = 0, "states"_a = none,
      nb::sig("def random_configuration(self, seed: int = 0, states: int | None = None) -> Array"),
      Doc("Configurations uniform inside the limits (without limits: -pi..pi, -1..1 m): one, or\n"
          "`(states, nq)`. The same seed gives the same numbers."
          "\n\nArgs:\n    states: Number of configurations, `(states, nq)`; None: one, `(nq,)`."));
  c.def(
      "forward_kinematics", call_forward_kinematics, "q"_a, nb::kw_only(), "out"_a = none,
      "check"_a = none, nb::sig("def forward_kinematics(self, q: ArrayLike, *, " LIMB_OUT),
      Doc("Poses of all bodies in the world as 4 x 4 matrices, `(bodies, 4, 4)` per state; body 0\n"
          "is the world, body i is the child of joint i - 1 of `joints`."));
}

}  // namespace limb::python
