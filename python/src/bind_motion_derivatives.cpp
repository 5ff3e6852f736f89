#include <nanobind/stl/string_view.h>

#include "limb/dynamics/derivatives/centroidal_derivatives.hpp"
#include "limb/dynamics/derivatives/frame_derivatives.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

using Point = Eigen::Map<Matrix3X<double>>;

nb::object call_frame_velocity(const Robot& r, nb::handle q, nb::handle v, std::string_view frame,
                               std::string_view axes, nb::handle out, nb::handle check) {
  const char* name = "frame_velocity_derivatives";
  const FrameId id = r.frame(name, frame);
  const FrameAxes in_axes = axes_named(name, axes);
  const int n = r.nv();
  return map(name, r, {position(r, q), velocity(r, v)},
             {Result::matrix(6, n), Result::matrix(6, n)}, "VelocityDerivatives", {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               frame_velocity_derivatives(r.model(), kinematics_at(r, w, in, 2), id, in_axes,
                                          Jacobian(to[0], 6, n), Jacobian(to[1], 6, n));
             });
}

nb::object call_frame_acceleration(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                                   std::string_view frame, std::string_view axes,
                                   std::string_view kind, nb::handle out, nb::handle check) {
  const char* name = "frame_acceleration_derivatives";
  const FrameId id = r.frame(name, frame);
  const FrameAxes in_axes = axes_named(name, axes);
  const AccelerationKind which = kind_named(name, kind);
  const int n = r.nv();
  const Result part = Result::matrix(6, n);
  return map(name, r, {position(r, q), velocity(r, v), velocity(r, a, "a")}, {part, part, part},
             "AccelerationDerivatives", {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               frame_acceleration_derivatives(r.model(), kinematics_at(r, w, in, 3), id, in_axes,
                                              which, Jacobian(to[0], 6, n), Jacobian(to[1], 6, n),
                                              Jacobian(to[2], 6, n));
             });
}

nb::object call_com_velocity(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                             nb::handle check) {
  const int n = r.nv();
  return map("center_of_mass_velocity_derivatives", r, {position(r, q), velocity(r, v)},
             {Result::matrix(3, n), Result::matrix(3, n)}, "VelocityDerivatives", {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               center_of_mass_velocity_derivatives(r.model(), kinematics_at(r, w, in, 2),
                                                   w.subtree(), Point(to[0], 3, n),
                                                   Point(to[1], 3, n));
             });
}

nb::object call_com_acceleration(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                                 nb::handle out, nb::handle check) {
  const int n = r.nv();
  const Result part = Result::matrix(3, n);
  return map("center_of_mass_acceleration_derivatives", r,
             {position(r, q), velocity(r, v), velocity(r, a, "a")}, {part, part, part},
             "AccelerationDerivatives", {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               center_of_mass_acceleration_derivatives(r.model(), kinematics_at(r, w, in, 3),
                                                       w.subtree(), Point(to[0], 3, n),
                                                       Point(to[1], 3, n), Point(to[2], 3, n));
             });
}

nb::object call_momentum(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                         nb::handle check) {
  const int n = r.nv();
  return map("centroidal_momentum_derivatives", r, {position(r, q), velocity(r, v)},
             {Result::matrix(6, n), Result::matrix(6, n)}, "MomentumDerivatives", {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               centroidal_momentum_derivatives(r.model(), kinematics_at(r, w, in, 2), w.subtree(),
                                               Jacobian(to[0], 6, n), Jacobian(to[1], 6, n));
             });
}

nb::object call_momentum_rate(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                              nb::handle out, nb::handle check) {
  const int n = r.nv();
  const Result part = Result::matrix(6, n);
  return map("centroidal_momentum_rate_derivatives", r,
             {position(r, q), velocity(r, v), velocity(r, a, "a")}, {part, part, part},
             "MomentumRateDerivatives", {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               centroidal_momentum_rate_derivatives(r.model(), kinematics_at(r, w, in, 3),
                                                    w.subtree(), Jacobian(to[0], 6, n),
                                                    Jacobian(to[1], 6, n), Jacobian(to[2], 6, n));
             });
}

#define LIMB_VELOCITY_DERIVATIVES \
  "out: tuple[Array, Array] | None = None, check: bool | None = None) -> VelocityDerivatives"
#define LIMB_ACCELERATION_DERIVATIVES \
  "out: tuple[Array, ...] | None = None, check: bool | None = None) -> AccelerationDerivatives"

}  // namespace

void bind_motion_derivatives(RobotClass& c) {
  const auto none = nb::none();
  c.def("frame_velocity_derivatives", call_frame_velocity, "q"_a, "v"_a, "frame"_a,
        "axes"_a = "local", nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def frame_velocity_derivatives(self, q: ArrayLike, v: ArrayLike, frame: str, "
                "axes: Axes = 'local', *, " LIMB_VELOCITY_DERIVATIVES),
        Doc("Derivatives of `frame_velocity` by tangents of q and by v (the Jacobian); `(6, nv)` "
            "each."));
  c.def("frame_acceleration_derivatives", call_frame_acceleration, "q"_a, "v"_a, "a"_a, "frame"_a,
        "axes"_a = "local", "kind"_a = "spatial", nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def frame_acceleration_derivatives(self, q: ArrayLike, v: ArrayLike, "
                "a: ArrayLike, frame: str, axes: Axes = 'local', kind: AccelerationKind = "
                "'spatial', *, " LIMB_ACCELERATION_DERIVATIVES),
        Doc("Derivatives of `frame_acceleration` by tangents of q, by v and by a (the Jacobian)."));
  c.def("center_of_mass_velocity_derivatives", call_com_velocity, "q"_a, "v"_a, nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def center_of_mass_velocity_derivatives(self, q: ArrayLike, v: ArrayLike, "
                "*, " LIMB_VELOCITY_DERIVATIVES),
        Doc("Derivatives of `center_of_mass_velocity` by tangents of q and by v; `(3, nv)` each."));
  c.def("center_of_mass_acceleration_derivatives", call_com_acceleration, "q"_a, "v"_a, "a"_a,
        nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def center_of_mass_acceleration_derivatives(self, q: ArrayLike, v: ArrayLike, "
                "a: ArrayLike, *, " LIMB_ACCELERATION_DERIVATIVES),
        Doc("Derivatives of `center_of_mass_acceleration` by tangents of q, by v and by a."));
  c.def("centroidal_momentum_derivatives", call_momentum, "q"_a, "v"_a, nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def centroidal_momentum_derivatives(self, q: ArrayLike, v: ArrayLike, "
                "*, out: tuple[Array, Array] | None = None, check: bool | None = None) -> "
                "MomentumDerivatives"),
        Doc("Derivatives of `centroidal_momentum` by tangents of q and by v; `(6, nv)` each."));
  c.def("centroidal_momentum_rate_derivatives", call_momentum_rate, "q"_a, "v"_a, "a"_a,
        nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig(
            "def centroidal_momentum_rate_derivatives(self, q: ArrayLike, v: ArrayLike, "
            "a: ArrayLike, *, out: tuple[Array, ...] | None = None, check: bool | None = None) -> "
            "MomentumRateDerivatives"),
        Doc("Derivatives of `centroidal_momentum_rate` by tangents of q, by v and by a."));
}

}  // namespace limb::python
