#include <nanobind/stl/string_view.h>

#include "limb/dynamics/kinematics/acceleration_split.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

using Name = std::string_view;

nb::object call_pose(const Robot& r, nb::handle q, Name frame, nb::handle out, nb::handle check) {
  const FrameId id = r.frame("frame_pose", frame);
  return map("frame_pose", r, {position(r, q)}, Result::symmetric(4), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               write_pose(frame_pose(r.model(), kinematics_at(r, w, in, 1), id), to[0]);
             });
}

nb::object call_velocity(const Robot& r, nb::handle q, nb::handle v, Name frame, Name axes,
                         nb::handle out, nb::handle check) {
  const FrameId id = r.frame("frame_velocity", frame);
  const FrameAxes in_axes = axes_named("frame_velocity", axes);
  return map("frame_velocity", r, {position(r, q), velocity(r, v)}, Result::vector(6), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               write_spatial(frame_velocity(r.model(), kinematics_at(r, w, in, 2), id, in_axes),
                             to[0]);
             });
}

nb::object call_acceleration(const Robot& r, nb::handle q, nb::handle v, nb::handle a, Name frame,
                             Name axes, Name kind, nb::handle out, nb::handle check) {
  const FrameId id = r.frame("frame_acceleration", frame);
  const FrameAxes in_axes = axes_named("frame_acceleration", axes);
  const AccelerationKind which = kind_named("frame_acceleration", kind);
  return map("frame_acceleration", r, {position(r, q), velocity(r, v), velocity(r, a, "a")},
             Result::vector(6), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               write_spatial(
                   frame_acceleration(r.model(), kinematics_at(r, w, in, 3), id, in_axes, which),
                   to[0]);
             });
}

nb::object call_bias_acceleration(const Robot& r, nb::handle q, nb::handle v, Name frame, Name axes,
                                  Name kind, nb::handle out, nb::handle check) {
  const FrameId id = r.frame("frame_bias_acceleration", frame);
  const FrameAxes in_axes = axes_named("frame_bias_acceleration", axes);
  const AccelerationKind which = kind_named("frame_bias_acceleration", kind);
  return map("frame_bias_acceleration", r, {position(r, q), velocity(r, v)}, Result::vector(6),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               write_spatial(frame_bias_acceleration(r.model(), kinematics_at(r, w, in, 2), id,
                                                     in_axes, which),
                             to[0]);
             });
}

nb::object call_acceleration_split(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                                   Name frame, Name axes, nb::handle out, nb::handle check) {
  const char* name = "frame_acceleration_split";
  const FrameId id = r.frame(name, frame);
  const FrameAxes in_axes = axes_named(name, axes);
  return map(name, r, {position(r, q), velocity(r, v), velocity(r, a, "a")},
             {Result::vector(6), Result::vector(6), Result::vector(6)}, "AccelerationSplit",
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               const auto split = frame_acceleration_split<double>(
                   r.model(), kinematics_at(r, w, in, 1), ConstVector(in[1], r.nv()),
                   ConstVector(in[2], r.nv()), id, in_axes);
               write_spatial(split.tangential, to[0]);
               write_spatial(split.centripetal, to[1]);
               write_spatial(split.coriolis, to[2]);
             });
}

nb::object call_jacobian(const Robot& r, nb::handle q, Name frame, Name axes, nb::handle out,
                         nb::handle check) {
  const FrameId id = r.frame("frame_jacobian", frame);
  const FrameAxes in_axes = axes_named("frame_jacobian", axes);
  return map("frame_jacobian", r, {position(r, q)}, Result::matrix(6, r.nv()), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               frame_jacobian(r.model(), kinematics_at(r, w, in, 1), id, in_axes,
                              Jacobian(to[0], 6, r.nv()));
             });
}

nb::object call_jacobian_rate(const Robot& r, nb::handle q, nb::handle v, Name frame, Name axes,
                              nb::handle out, nb::handle check) {
  const FrameId id = r.frame("frame_jacobian_rate", frame);
  const FrameAxes in_axes = axes_named("frame_jacobian_rate", axes);
  return map("frame_jacobian_rate", r, {position(r, q), velocity(r, v)}, Result::matrix(6, r.nv()),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               frame_jacobian_rate(r.model(), kinematics_at(r, w, in, 2), id, in_axes,
                                   Jacobian(to[0], 6, r.nv()));
             });
}

nb::object call_jacobian_rate_times_v(const Robot& r, nb::handle q, nb::handle v, Name frame,
                                      Name axes, nb::handle out, nb::handle check) {
  const FrameId id = r.frame("frame_jacobian_rate_times_v", frame);
  const FrameAxes in_axes = axes_named("frame_jacobian_rate_times_v", axes);
  return map("frame_jacobian_rate_times_v", r, {position(r, q), velocity(r, v)}, Result::vector(6),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               write_spatial(
                   frame_jacobian_rate_times_v(r.model(), kinematics_at(r, w, in, 2), id, in_axes),
                   to[0]);
             });
}

nb::object call_hessian(const Robot& r, nb::handle q, Name frame, Name axes, nb::handle out,
                        nb::handle check) {
  const FrameId id = r.frame("frame_hessian", frame);
  const FrameAxes in_axes = axes_named("frame_hessian", axes);
  const int n = r.nv();
  return map("frame_hessian", r, {position(r, q)}, Result::tensor(6, n, n), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               KinematicHessian<double> H(r.model());
               frame_hessian(r.model(), kinematics_at(r, w, in, 1), id, in_axes, H);
               double* entry = to[0];
               for (int row = 0; row < 6; ++row) {
                 for (int j = 0; j < n; ++j) {
                   for (int k = 0; k < n; ++k) *entry++ = H(row, j, k);
                 }
               }
             });
}

nb::object call_point_jacobian(const Robot& r, nb::handle q, Name frame, nb::handle point,
                               nb::handle out, nb::handle check) {
  const FrameId id = r.frame("point_jacobian", frame);
  return map("point_jacobian", r, {position(r, q), {"point", point, 3}}, Result::matrix(3, r.nv()),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               const Vector3<double> p_FQ(in[1][0], in[1][1], in[1][2]);
               point_jacobian(r.model(), kinematics_at(r, w, in, 1), id, p_FQ,
                              Eigen::Map<Matrix3X<double>>(to[0], 3, r.nv()));
             });
}

nb::object call_point_rate(const Robot& r, nb::handle q, nb::handle v, Name frame, nb::handle point,
                           nb::handle out, nb::handle check) {
  const FrameId id = r.frame("point_jacobian_rate_times_v", frame);
  return map("point_jacobian_rate_times_v", r,
             {position(r, q), velocity(r, v), {"point", point, 3}}, Result::vector(3), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               const Vector3<double> p_FQ(in[2][0], in[2][1], in[2][2]);
               Eigen::Map<Vector3<double>>{to[0]} =
                   point_jacobian_rate_times_v(r.model(), kinematics_at(r, w, in, 2), id, p_FQ);
             });
}

#define LIMB_AXES "axes: Axes = 'local'"

}  // namespace

void bind_frames(RobotClass& c) {
  const auto none = nb::none();
  c.def("frame_pose", call_pose, "q"_a, "frame"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def frame_pose(self, q: ArrayLike, frame: str, *, " LIMB_OUT),
        Doc("Pose `X_WF` of a frame in the world as a 4 x 4 matrix; `limb.SE3` converts it to a "
            "pose."));
  c.def("frame_velocity", call_velocity, "q"_a, "v"_a, "frame"_a, "axes"_a = "local", nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def frame_velocity(self, q: ArrayLike, v: ArrayLike, frame: str, " LIMB_AXES
                ", *, " LIMB_OUT),
        Doc("Spatial velocity (v, w) of a frame."));
  c.def("frame_acceleration", call_acceleration, "q"_a, "v"_a, "a"_a, "frame"_a, "axes"_a = "local",
        "kind"_a = "spatial", nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def frame_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str,"
                " " LIMB_AXES ", kind: AccelerationKind = 'spatial', *, " LIMB_OUT),
        Doc("Acceleration of a frame, without gravity. \"classical\": of the point; \"spatial\": "
            "the\n"
            "derivative of the spatial velocity. Their linear parts differ by `w x v`."));
  c.def(
      "frame_bias_acceleration", call_bias_acceleration, "q"_a, "v"_a, "frame"_a,
      "axes"_a = "local", "kind"_a = "spatial", nb::kw_only(), "out"_a = none, "check"_a = none,
      nb::sig("def frame_bias_acceleration(self, q: ArrayLike, v: ArrayLike, frame: str, " LIMB_AXES
              ", kind: AccelerationKind = 'spatial', *, " LIMB_OUT),
      Doc("Acceleration of a frame at `a = 0`."));
  c.def("frame_acceleration_split", call_acceleration_split, "q"_a, "v"_a, "a"_a, "frame"_a,
        "axes"_a = "local_world_aligned", nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def frame_acceleration_split(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, "
                "frame: str, axes: Axes = 'local_world_aligned', *, "
                "out: tuple[Array, ...] | None = None, check: bool | None = None) "
                "-> AccelerationSplit"),
        Doc("Acceleration of a frame by its terms: tangential `J a`, centripetal (squares of "
            "velocities)\n"
            "and Coriolis (products of two). Their sum is classical in \"local_world_aligned\", "
            "spatial in\n"
            "the other axes."));
  c.def("frame_jacobian", call_jacobian, "q"_a, "frame"_a, "axes"_a = "local", nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def frame_jacobian(self, q: ArrayLike, frame: str, " LIMB_AXES ", *, " LIMB_OUT),
        Doc("J with `frame_velocity = J v`, `(6, nv)` per state."));
  c.def("frame_jacobian_rate", call_jacobian_rate, "q"_a, "v"_a, "frame"_a, "axes"_a = "local",
        nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def frame_jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str, " LIMB_AXES
                ", *, " LIMB_OUT),
        Doc("dJ/dt along `v`, `(6, nv)` per state."));
  c.def(
      "frame_jacobian_rate_times_v", call_jacobian_rate_times_v, "q"_a, "v"_a, "frame"_a,
      "axes"_a = "local", nb::kw_only(), "out"_a = none, "check"_a = none,
      nb::sig(
          "def frame_jacobian_rate_times_v(self, q: ArrayLike, v: ArrayLike, frame: str, " LIMB_AXES
          ", *, " LIMB_OUT),
      Doc("dJ/dt v, without forming dJ/dt."));
  c.def("frame_hessian", call_hessian, "q"_a, "frame"_a, "axes"_a = "local", nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def frame_hessian(self, q: ArrayLike, frame: str, " LIMB_AXES ", *, " LIMB_OUT),
        Doc("`H[i, j, k]`, the derivative of `J[i, j]` along tangent k of q; `(6, nv, nv)`."));
  c.def(
      "point_jacobian", call_point_jacobian, "q"_a, "frame"_a, "point"_a, nb::kw_only(),
      "out"_a = none, "check"_a = none,
      nb::sig("def point_jacobian(self, q: ArrayLike, frame: str, point: ArrayLike, *, " LIMB_OUT),
      Doc("J of the velocity, in world axes, of a point fixed to the frame at `point` in its "
          "axes;\n"
          "`(3, nv)` per state."));
  c.def("point_jacobian_rate_times_v", call_point_rate, "q"_a, "v"_a, "frame"_a, "point"_a,
        nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def point_jacobian_rate_times_v(self, q: ArrayLike, v: ArrayLike, frame: str, "
                "point: ArrayLike, *, " LIMB_OUT),
        Doc("dJ/dt v of that point: its acceleration at `a = 0`, in world axes."));
}

}  // namespace limb::python
