#include <nanobind/stl/string_view.h>

#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

void write3(const Vector3<double>& x, double* to) {
  Eigen::Map<Vector3<double>>{to} = x;
}

nb::object call_com(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  return map("center_of_mass", r, {position(r, q)}, Result::vector(3), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               write3(center_of_mass(r.model(), kinematics_at(r, w, in, 1)), to[0]);
             });
}
nb::object call_com_velocity(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                             nb::handle check) {
  return map("center_of_mass_velocity", r, {position(r, q), velocity(r, v)}, Result::vector(3),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               write3(center_of_mass_velocity(r.model(), kinematics_at(r, w, in, 2)), to[0]);
             });
}
nb::object call_com_acceleration(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                                 nb::handle out, nb::handle check) {
  return map("center_of_mass_acceleration", r,
             {position(r, q), velocity(r, v), velocity(r, a, "a")}, Result::vector(3), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               write3(center_of_mass_acceleration(r.model(), kinematics_at(r, w, in, 3)), to[0]);
             });
}
nb::object call_com_jacobian(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  return map("center_of_mass_jacobian", r, {position(r, q)}, Result::matrix(3, r.nv()),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               center_of_mass_jacobian(r.model(), kinematics_at(r, w, in, 1), w.subtree(),
                                       Eigen::Map<Matrix3X<double>>(to[0], 3, r.nv()));
             });
}
nb::object call_com_rate(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                         nb::handle check) {
  return map("center_of_mass_jacobian_rate_times_v", r, {position(r, q), velocity(r, v)},
             Result::vector(3), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               write3(center_of_mass_jacobian_rate_times_v(r.model(), kinematics_at(r, w, in, 2),
                                                           w.subtree()),
                      to[0]);
             });
}
nb::object call_spatial_momentum(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                                 nb::handle check) {
  return map("spatial_momentum", r, {position(r, q), velocity(r, v)}, Result::vector(6),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               write_spatial(spatial_momentum(r.model(), kinematics_at(r, w, in, 2)), to[0]);
             });
}
nb::object call_momentum(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                         nb::handle check) {
  return map("centroidal_momentum", r, {position(r, q), velocity(r, v)}, Result::vector(6),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               write_spatial(centroidal_momentum(r.model(), kinematics_at(r, w, in, 2)), to[0]);
             });
}
nb::object call_momentum_rate(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                              nb::handle out, nb::handle check) {
  return map("centroidal_momentum_rate", r, {position(r, q), velocity(r, v), velocity(r, a, "a")},
             Result::vector(6), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               write_spatial(centroidal_momentum_rate(r.model(), kinematics_at(r, w, in, 3)),
                             to[0]);
             });
}
nb::object call_matrix(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  return map("centroidal_matrix", r, {position(r, q)}, Result::matrix(6, r.nv()), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               centroidal_matrix(r.model(), kinematics_at(r, w, in, 1), w.subtree(),
                                 Jacobian(to[0], 6, r.nv()));
             });
}
nb::object call_matrix_rate(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                            nb::handle check) {
  return map("centroidal_matrix_rate", r, {position(r, q), velocity(r, v)},
             Result::matrix(6, r.nv()), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               centroidal_matrix_rate(r.model(), kinematics_at(r, w, in, 2), w.subtree(),
                                      Jacobian(to[0], 6, r.nv()));
             });
}

BaseVelocityConvention convention_named(const char* call, std::string_view name) {
  if (name == "body") return BaseVelocityConvention::body;
  if (name == "mixed") return BaseVelocityConvention::mixed;
  if (name == "mujoco") return BaseVelocityConvention::mujoco;
  if (name == "world") return BaseVelocityConvention::world;
  fail(call, "convention", "'" + std::string(name) + "'", "'body', 'mixed', 'mujoco' or 'world'");
}

nb::object call_base_velocity(const Robot& r, nb::handle q, nb::handle v,
                              std::string_view convention, nb::handle out, nb::handle check) {
  const BaseVelocityConvention which = convention_named("base_velocity", convention);
  return map("base_velocity", r, {position(r, q), velocity(r, v)}, Result::vector(6), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               write_spatial(base_velocity(r.model(), kinematics_at(r, w, in, 2), which), to[0]);
             });
}
nb::object call_base_acceleration(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                                  std::string_view convention, nb::handle out, nb::handle check) {
  const BaseVelocityConvention which = convention_named("base_acceleration", convention);
  return map("base_acceleration", r, {position(r, q), velocity(r, v), velocity(r, a, "a")},
             Result::vector(6), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               write_spatial(base_acceleration(r.model(), kinematics_at(r, w, in, 3), which),
                             to[0]);
             });
}

}  // namespace

void bind_momentum(RobotClass& c) {
  const auto none = nb::none();
  c.def("center_of_mass", call_com, "q"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def center_of_mass(self, q: ArrayLike, *, " LIMB_OUT),
        Doc("Centre of mass in the world, `(3,)` per state. Links welded to the world do not "
            "count."));
  c.def("center_of_mass_velocity", call_com_velocity, "q"_a, "v"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def center_of_mass_velocity(self, q: ArrayLike, v: ArrayLike, *, " LIMB_OUT),
        Doc("Velocity of the centre of mass, in world axes."));
  c.def("center_of_mass_acceleration", call_com_acceleration, "q"_a, "v"_a, "a"_a, nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def center_of_mass_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, "
                "*, " LIMB_OUT),
        Doc("Acceleration of the centre of mass, without gravity."));
  c.def("center_of_mass_jacobian", call_com_jacobian, "q"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none, nb::sig("def center_of_mass_jacobian(self, q: ArrayLike, *, " LIMB_OUT),
        Doc("J with `center_of_mass_velocity = J v`, `(3, nv)` per state."));
  c.def("center_of_mass_jacobian_rate_times_v", call_com_rate, "q"_a, "v"_a, nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def center_of_mass_jacobian_rate_times_v(self, q: ArrayLike, v: ArrayLike, "
                "*, " LIMB_OUT),
        Doc("dJ/dt v: the acceleration of the centre of mass at `a = 0`."));
  c.def("spatial_momentum", call_spatial_momentum, "q"_a, "v"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def spatial_momentum(self, q: ArrayLike, v: ArrayLike, *, " LIMB_OUT),
        Doc("Momentum (linear, angular) about the world origin, in world axes."));
  c.def("centroidal_momentum", call_momentum, "q"_a, "v"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def centroidal_momentum(self, q: ArrayLike, v: ArrayLike, *, " LIMB_OUT),
        Doc("Momentum (linear, angular) about the centre of mass, in world axes."));
  c.def("centroidal_momentum_rate", call_momentum_rate, "q"_a, "v"_a, "a"_a, nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def centroidal_momentum_rate(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, "
                "*, " LIMB_OUT),
        Doc("Time derivative of `centroidal_momentum`."));
  c.def("centroidal_matrix", call_matrix, "q"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def centroidal_matrix(self, q: ArrayLike, *, " LIMB_OUT),
        Doc("Centroidal momentum matrix A: `centroidal_momentum = A v`, `(6, nv)` per state."));
  c.def("centroidal_matrix_rate", call_matrix_rate, "q"_a, "v"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def centroidal_matrix_rate(self, q: ArrayLike, v: ArrayLike, *, " LIMB_OUT),
        Doc("dA/dt along `v`."));
  c.def("base_velocity", call_base_velocity, "q"_a, "v"_a, "convention"_a, nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def base_velocity(self, q: ArrayLike, v: ArrayLike, convention: "
                "BaseVelocityConvention, *, " LIMB_OUT),
        Doc("Velocity (linear, angular) of the floating base. `convention`:\n"
            "\"body\": of the base origin, in body axes; as v[:6].\n"
            "\"mixed\": of the base origin, in world axes; as in iDynTree and Drake.\n"
            "\"mujoco\": of the base origin, linear in world axes, angular in body axes.\n"
            "\"world\": of the point of the base at the world origin, in world axes."
            "\n\nArgs:\n    convention: \"body\" (twist in base axes), \"mixed\" (origin of the "
            "base, world axes), \"mujoco\" (linear in world, angular in base axes) or \"world\" "
            "(twist in world axes)."));
  c.def("base_acceleration", call_base_acceleration, "q"_a, "v"_a, "a"_a, "convention"_a,
        nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def base_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, "
                "convention: BaseVelocityConvention, *, " LIMB_OUT),
        Doc("Time derivative of `base_velocity` in the same convention."
            "\n\nArgs:\n    convention: \"body\" (twist in base axes), \"mixed\" (origin of the "
            "base, world axes), \"mujoco\" (linear in world, angular in base axes) or \"world\" "
            "(twist in world axes)."));
}

}  // namespace limb::python
