#include <nanobind/operators.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "limb/math/euler_rates.hpp"
#include "limb/math/inertia_consistency.hpp"
#include "limb/math/inertia_mesh.hpp"
#include "limb/math/se3.hpp"
#include "python/src/arrays.hpp"
#include "python/src/bind.hpp"
#include "python/src/matrix_caster.hpp"

namespace limb::python {
namespace {

using V3 = Vector3<double>;
using V4 = Vector4<double>;
using V6 = Vector6<double>;
using M3 = Matrix3<double>;
using Quat = Quaternion<double>;
using X = Pose<double>;
using I6 = Inertia<double>;

/// A rotation type for Python; the C++ library uses plain matrices.
struct Rotation {
  M3 R = M3::Identity();
};

Motion<double> motion(const V6& x) {
  return {x.head<3>(), x.tail<3>()};
}
Force<double> force(const V6& x) {
  return {x.head<3>(), x.tail<3>()};
}

template <typename T>
std::string text_of(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

/// A NamedTuple of limb.results.
template <typename... Values>
nb::object result_of(const char* type, const Values&... values) {
  nb::object parts[] = {nb::cast(values)...};
  return named_tuple(result_type(type), parts);
}

nb::object euler_result(const EulerAngles<double>& found) {
  return result_of("EulerLock", found.angles, found.lock.distance, found.lock.measure,
                   bool(found.lock.locked), found.lock.lost_direction);
}

/// Whether the axes of an angular velocity are those of the body.
bool in_body_axes(const char* call, const std::string& axes) {
  if (axes != "world" && axes != "body") {
    fail(call, "axes", "'" + axes + "'", "'world' or 'body'");
  }
  return axes == "body";
}

#define LIMB_SEQUENCE \
  "\n\nArgs:\n    sequence: Three axes, such as \"ZYX\" (moving axes) or \"xyz\" (fixed axes)."

void bind_quaternion(nb::module_& m) {
  nb::class_<Quat>(m, "Quaternion",
                   "Hamilton quaternion, made by from_xyzw or from_wxyz; in memory x y z w. As an\n"
                   "orientation it is that of B in A: `p_A = q p_B q^-1`.")
      .def(nb::init<>(), Doc("The identity."))
      .def_static(
          "from_xyzw", [](const V4& x) { return Quat::from_xyzw(x); }, "xyzw"_a,
          Doc("From four numbers, x y z w.\n\nArgs:\n    xyzw: `(4,)`."))
      .def_static(
          "from_wxyz", [](const V4& x) { return Quat::from_wxyz(x); }, "wxyz"_a,
          Doc("From four numbers, w x y z.\n\nArgs:\n    wxyz: `(4,)`."))
      .def_static(
          "from_matrix",
          [](const M3& R) {
            check_rotation<double>("Quaternion.from_matrix", "R", R);
            return quaternion_from_matrix<double>(R);
          },
          "R"_a, Doc("Of a rotation matrix.\n\nArgs:\n    R: `(3, 3)`."))
      .def_static(
          "from_axis_angle", &quaternion_from_axis_angle<double>, "axis"_a, "angle"_a,
          Doc("Rotation about an axis.\n\nArgs:\n    axis: Unit vector, `(3,)`.\n    angle: rad."))
      .def_static(
          "from_euler",
          [](const std::string& sequence, const V3& angles) {
            return euler_to_quaternion<double>(EulerSequence(sequence), angles);
          },
          "sequence"_a, "angles"_a,
          Doc("Of Euler angles.\n\nArgs:\n    sequence: Three axes, such as \"ZYX\" (moving axes) "
              "or "
              "\"xyz\" (fixed axes).\n    angles: `(3,)`, rad."))
      .def_static("exp", &quaternion_exp<double>, "w"_a,
                  Doc("Quaternion of a rotation vector."
                      "\n\nArgs:\n    w: Rotation vector, `(3,)`, rad."))
      .def("log", &quaternion_log<double>, Doc("Rotation vector, of length at most pi."))
      .def(
          "xyzw", [](const Quat& q) { return V4(q.xyzw()); }, Doc("Four numbers, x y z w."))
      .def(
          "wxyz", [](const Quat& q) { return q.wxyz(); }, Doc("Four numbers, w x y z."))
      .def(
          "matrix", [](const Quat& q) { return to_matrix(q); },
          Doc("The rotation matrix, `(3, 3)`."))
      .def("norm", &Quat::norm, Doc("Its norm, 1 for a rotation."))
      .def("normalized", &Quat::normalized, Doc("The quaternion divided by its norm."))
      .def("conjugate", &Quat::conjugate, Doc("The quaternion with the opposite vector part."))
      .def("inverse", &Quat::inverse, Doc("The inverse; the conjugate of a unit quaternion."))
      .def("rotate", &Quat::rotate, "p"_a,
           Doc("The rotated vector.\n\nArgs:\n    p: Vector, `(3,)`."))
      .def(
          "slerp", [](const Quat& a, const Quat& b, double t) { return slerp(a, b, t); }, "other"_a,
          "t"_a,
          Doc("Interpolation at constant angular velocity along the shorter arc."
              "\n\nArgs:\n    other: The quaternion at t = 1.\n    t: From 0 to 1."))
      .def(
          "squad_control",
          [](const Quat& q, const Quat& before, const Quat& after) {
            check_unit("squad_control", "q", q.xyzw());
            check_unit("squad_control", "before", before.xyzw());
            check_unit("squad_control", "after", after.xyzw());
            return squad_control(before, q, after);
          },
          "before"_a, "after"_a,
          Doc("Control point of `squad` at this key orientation, from its neighbours.\n\nArgs:\n   "
              " "
              "before: The key orientation before this one.\n    after: The one after it."))
      .def(
          "squad",
          [](const Quat& q, const Quat& other, const Quat& control, const Quat& other_control,
             double t) { return squad(q, other, control, other_control, t); },
          "other"_a, "control"_a, "other_control"_a, "t"_a,
          Doc("Smooth interpolation through key orientations: the angular velocity is continuous "
              "from "
              "one\npair to the next.\n\nArgs:\n    other: The key orientation at t = 1.\n    "
              "control: "
              "Control point of this one, from `squad_control`.\n    other_control: That of "
              "`other`.\n    t: From 0 to 1."))
      .def(
          "dot", [](const Quat& a, const Quat& b) { return dot(a, b); }, "other"_a,
          Doc("Product of the four components: the cosine of half the angle between two "
              "rotations.\n\nArgs:\n    other: Another quaternion."))
      .def(
          "aligned", [](const Quat& a, const Quat& b) { return align_sign(b, a); }, "other"_a,
          Doc("This quaternion or its negative, the same rotation, whichever is nearer to "
              "another.\n\nArgs:\n    other: The other quaternion."))
      .def(
          "axis_angle",
          [](const Quat& q) {
            const AxisAngle<double> found = to_axis_angle(q);
            return result_of("AxisAngle", found.axis, found.angle);
          },
          nb::sig("def axis_angle(self) -> AxisAngle"),
          Doc("Axis, a unit vector, and angle from 0 to pi of the rotation."))
      .def(
          "euler",
          [](const Quat& q, const std::string& sequence) {
            return euler_from_quaternion<double>(EulerSequence(sequence), q).angles;
          },
          "sequence"_a, Doc("Euler angles, `(3,)`, rad." LIMB_SEQUENCE))
      .def(
          "euler_lock",
          [](const Quat& q, const std::string& sequence) {
            return euler_result(euler_from_quaternion<double>(EulerSequence(sequence), q));
          },
          "sequence"_a, nb::sig("def euler_lock(self, sequence: str) -> EulerLock"),
          Doc("Euler angles, their distance from gimbal lock and the direction that is lost "
              "there." LIMB_SEQUENCE))
      .def(
          "left_product_matrix", [](const Quat& q) { return left_product_matrix(q); },
          Doc("L with `(self * p).xyzw() = L p.xyzw()`, `(4, 4)`."))
      .def(
          "right_product_matrix", [](const Quat& q) { return right_product_matrix(q); },
          Doc("R with `(p * self).xyzw() = R p.xyzw()`, `(4, 4)`."))
      .def(
          "rate", [](const Quat& q, const V3& w) { return quaternion_rate<double>(q, w); }, "w"_a,
          Doc("dq/dt for the angular velocity w in body axes."
              "\n\nArgs:\n    w: Angular velocity in body axes, `(3,)`, rad/s."))
      .def(
          "angular_velocity",
          [](const Quat& q, const Quat& dq) { return angular_velocity<double>(q, dq); }, "rate"_a,
          Doc("Angular velocity in body axes of a rate dq/dt.\n\nArgs:\n    rate: The rate, a "
              "`Quaternion`."))
      .def(
          "__mul__", [](const Quat& a, const Quat& b) { return a * b; }, nb::is_operator())
      .def(
          "__matmul__", [](const Quat& a, const Quat& b) { return a * b; }, nb::is_operator())
      .def(
          "__mul__", [](const Quat& a, double b) { return a * b; }, nb::is_operator())
      .def(
          "__rmul__", [](const Quat& a, double b) { return b * a; }, nb::is_operator())
      .def(
          "__truediv__", [](const Quat& a, double b) { return a / b; }, nb::is_operator())
      .def(
          "__add__", [](const Quat& a, const Quat& b) { return a + b; }, nb::is_operator())
      .def(
          "__sub__", [](const Quat& a, const Quat& b) { return a - b; }, nb::is_operator())
      .def("__neg__", [](const Quat& a) { return -a; })
      .def("__getstate__",
           [](const Quat& q) { return std::make_tuple(q.x(), q.y(), q.z(), q.w()); })
      .def("__setstate__",
           [](Quat& q, const std::tuple<double, double, double, double>& s) {
             const auto [x, y, z, w] = s;
             new (&q) Quat(quat_xyzw(x, y, z, w));
           })
      .def("__repr__", [](const Quat& q) { return text_of(q); });
}

void bind_so3(nb::module_& m) {
  nb::class_<Rotation>(m, "SO3", "A rotation `R_AB`: `p_A = R p_B`.")
      .def(
          "__init__",
          [](Rotation* self, const M3& R) {
            check_rotation<double>("SO3", "R", R);
            new (self) Rotation{R};
          },
          "R"_a = M3(M3::Identity()),
          Doc("From a matrix.\n\nArgs:\n    R: Rotation matrix, `(3, 3)`."))
      .def_static(
          "exp", [](const V3& w) { return Rotation{so3::exp<double>(w)}; }, "w"_a,
          Doc("Rotation of a rotation vector.\n\nArgs:\n    w: Rotation vector, `(3,)`, rad."))
      .def_static(
          "from_rpy", [](double r, double p, double y) { return Rotation{rpy_to_matrix(r, p, y)}; },
          "roll"_a, "pitch"_a, "yaw"_a,
          Doc("Roll, pitch and yaw about fixed axes x, y, z.\n\nArgs:\n    roll: rad.\n    pitch: "
              "rad.\n    yaw: rad."))
      .def_static(
          "from_euler",
          [](const std::string& sequence, const V3& angles) {
            return Rotation{euler_to_matrix<double>(EulerSequence(sequence), angles)};
          },
          "sequence"_a, "angles"_a,
          Doc("Uppercase letters: rotations about moving axes; lowercase: about fixed axes."
              "\n\nArgs:\n    sequence: Three axes, such as \"ZYX\" or \"xyz\".\n    angles: "
              "`(3,)`, rad."))
      .def_static(
          "nearest", [](const M3& A) { return Rotation{nearest_rotation<double>(A)}; }, "A"_a,
          Doc("The nearest rotation to any matrix."
              "\n\nArgs:\n    A: `(3, 3)`."))
      .def_static(
          "is_rotation", [](const M3& R) { return is_rotation<double>(R); }, "R"_a,
          Doc("Whether a matrix is a rotation: orthonormal with determinant 1, to rounding."
              "\n\nArgs:\n    R: `(3, 3)`."))
      .def_static(
          "euler_sequences",
          [] {
            std::vector<std::string> names;
            for (const EulerSequence& one : kEulerSequences) names.push_back(to_text(one));
            return names;
          },
          Doc("The names of all 24 Euler sequences: uppercase about moving axes, lowercase about "
              "fixed axes."))
      .def_static(
          "euler_rate_matrix",
          [](const std::string& sequence, const V3& angles, const std::string& axes) {
            const EulerSequence s(sequence);
            return in_body_axes("euler_rate_matrix", axes)
                       ? euler_rate_matrix_body<double>(s, angles)
                       : euler_rate_matrix<double>(s, angles);
          },
          "sequence"_a, "angles"_a, "axes"_a = "world",
          Doc("E with `w = E rates`: angular velocity from the rates of Euler angles, `(3, 3)`. "
              "Its "
              "determinant is\nzero at gimbal lock.\n\nArgs:\n    sequence: Three axes, such as "
              "\"ZYX\" or \"xyz\".\n    angles: `(3,)`, rad.\n    axes: Of the angular velocity: "
              "\"world\" or \"body\"."))
      .def_static(
          "euler_rate_inverse",
          [](const std::string& sequence, const V3& angles, const std::string& axes) {
            const EulerSequence s(sequence);
            return in_body_axes("euler_rate_inverse", axes)
                       ? euler_rate_inverse_body<double>(s, angles)
                       : euler_rate_inverse<double>(s, angles);
          },
          "sequence"_a, "angles"_a, "axes"_a = "world",
          Doc("K with `rates = K w`: rates of Euler angles from the angular velocity, `(3, 3)`."
              "\n\nArgs:\n    sequence: Three axes, such as \"ZYX\" or \"xyz\".\n    angles: "
              "`(3,)`, rad.\n    axes: Of the angular velocity: \"world\" or \"body\"."
              "\n\nRaises:\n    ComputationError: At gimbal lock, with the distance."))
      .def_static(
          "skew", [](const V3& w) { return skew<double>(w); }, "w"_a,
          Doc("The matrix of the cross product w x.\n\nArgs:\n    w: Vector, `(3,)`."))
      .def_static(
          "left_jacobian", [](const V3& w) { return so3::left_jacobian<double>(w); }, "w"_a,
          Doc("The left Jacobian of the exponential.\n\nArgs:\n    w: Rotation vector, `(3,)`, "
              "rad."))
      .def_static(
          "right_jacobian", [](const V3& w) { return so3::right_jacobian<double>(w); }, "w"_a,
          Doc("The right Jacobian of the exponential.\n\nArgs:\n    w: Rotation vector, `(3,)`, "
              "rad."))
      .def_static(
          "left_jacobian_inverse",
          [](const V3& w) { return so3::left_jacobian_inverse<double>(w); }, "w"_a,
          Doc("Inverse of the left Jacobian of the exponential.\n\nArgs:\n    w: Rotation vector, "
              "`(3,)`, rad."))
      .def_static(
          "right_jacobian_inverse",
          [](const V3& w) { return so3::right_jacobian_inverse<double>(w); }, "w"_a,
          Doc("Inverse of the right Jacobian of the exponential.\n\nArgs:\n    w: Rotation vector, "
              "`(3,)`, rad."))
      .def(
          "euler",
          [](const Rotation& r, const std::string& sequence) {
            return euler_from_matrix<double>(EulerSequence(sequence), r.R).angles;
          },
          "sequence"_a,
          Doc("Euler angles, `(3,)`, rad.\n\nArgs:\n    sequence: Three axes, such as \"ZYX\" or "
              "\"xyz\"."))
      .def(
          "euler_lock",
          [](const Rotation& r, const std::string& sequence) {
            return euler_result(euler_from_matrix<double>(EulerSequence(sequence), r.R));
          },
          "sequence"_a, nb::sig("def euler_lock(self, sequence: str) -> EulerLock"),
          Doc("Euler angles, their distance from gimbal lock and the direction that is lost "
              "there." LIMB_SEQUENCE))
      .def(
          "log", [](const Rotation& r) { return so3::log<double>(r.R); },
          Doc("Rotation vector, of length at most pi."))
      .def(
          "matrix", [](const Rotation& r) { return r.R; }, Doc("The rotation matrix, `(3, 3)`."))
      .def(
          "quaternion", [](const Rotation& r) { return quaternion_from_matrix<double>(r.R); },
          Doc("The same as a `Quaternion`."))
      .def(
          "inverse", [](const Rotation& r) { return Rotation{r.R.transpose()}; },
          Doc("The inverse rotation."))
      .def(
          "interpolate",
          [](const Rotation& a, const Rotation& b, double t) {
            return Rotation{so3::interpolate<double>(a.R, b.R, t)};
          },
          "other"_a, "t"_a,
          Doc("Interpolation along the shorter arc.\n\nArgs:\n    other: The rotation at t = 1.\n  "
              "  t: From 0 to 1."))
      .def(
          "__mul__", [](const Rotation& a, const Rotation& b) { return Rotation{a.R * b.R}; },
          nb::is_operator())
      .def(
          "__matmul__", [](const Rotation& a, const Rotation& b) { return Rotation{a.R * b.R}; },
          nb::is_operator())
      .def(
          "__mul__", [](const Rotation& a, const V3& p) { return V3(a.R * p); }, nb::is_operator())
      .def("__getstate__", [](const Rotation& r) { return std::make_tuple(r.R); })
      .def("__setstate__",
           [](Rotation& r, const std::tuple<M3>& s) { new (&r) Rotation{std::get<0>(s)}; })
      .def("__repr__", [](const Rotation& r) {
        return "SO3([" + text_of(r.R.row(0)) + "; " + text_of(r.R.row(1)) + "; " +
               text_of(r.R.row(2)) + "])";
      });
}

void bind_se3(nb::module_& m) {
  nb::class_<X>(m, "SE3", "A pose `X_AB` of B in A: `p_A = R p_B + p`.")
      .def(nb::init<>(), Doc("The identity."))
      .def(
          "__init__", [](X* self, const Matrix4<double>& T) { new (self) X(X::from_matrix(T)); },
          "matrix"_a, Doc("A pose.\n\nArgs:\n    matrix: Homogeneous matrix, `(4, 4)`."))
      .def(
          "__init__",
          [](X* self, const M3& R, const V3& p) {
            check_rotation<double>("SE3", "R", R);
            new (self) X{R, p};
          },
          "R"_a, "p"_a,
          Doc("A pose.\n\nArgs:\n    R: Rotation matrix, `(3, 3)`.\n    p: Position, `(3,)`, m."))
      .def(
          "__init__",
          [](X* self, const Quat& q, const V3& p) {
            check_unit("SE3", "q", q.xyzw());
            new (self) X(X::from_quaternion(q, p));
          },
          "q"_a, "p"_a, Doc("A pose.\n\nArgs:\n    p: Position, `(3,)`, m.\n    q: Orientation."))
      .def_static(
          "exp", [](const V6& V) { return se3::exp<double>(motion(V)); }, "V"_a,
          Doc("Pose of a twist (v, w)."
              "\n\nArgs:\n    V: Twist times time, `(6,)`, linear before angular."))
      .def(
          "log", [](const X& x) { return V6(se3::log<double>(x).vector()); },
          Doc("Twist times time, `(6,)`, linear before angular."))
      .def_prop_ro(
          "R", [](const X& x) { return x.R; }, Doc("Rotation matrix, `(3, 3)`."))
      .def_prop_ro(
          "p", [](const X& x) { return x.p; }, Doc("Position, `(3,)`, m."))
      .def(
          "matrix", [](const X& x) { return x.matrix(); }, Doc("Homogeneous matrix, `(4, 4)`."))
      .def(
          "quaternion", [](const X& x) { return quaternion_from_matrix<double>(x.R); },
          Doc("Orientation as a `Quaternion`."))
      .def("inverse", &X::inverse, Doc("The inverse pose."))
      .def("adjoint", &X::adjoint, Doc("Ad with `V_A = Ad V_B`, (linear, angular)."))
      .def("dual_adjoint", &X::dual_adjoint, Doc("Ad* of wrenches: `F_A = Ad* F_B`."))
      .def(
          "act_motion", [](const X& x, const V6& V) { return V6(x.act(motion(V)).vector()); },
          "V"_a,
          Doc("Twist in the axes of A about its origin, from that of B.\n\nArgs:\n    V: Twist in "
              "B, `(6,)`."))
      .def(
          "act_force", [](const X& x, const V6& F) { return V6(x.act(force(F)).vector()); }, "F"_a,
          Doc("Wrench in the axes of A about its origin, from that of B.\n\nArgs:\n    F: Wrench "
              "in B, `(6,)`."))
      .def(
          "interpolate",
          [](const X& a, const X& b, double t) { return se3::interpolate<double>(a, b, t); },
          "other"_a, "t"_a,
          Doc("Interpolation with a constant twist.\n\nArgs:\n    other: The pose at t = 1.\n    "
              "t: From 0 to 1."))
      .def_static(
          "ad", [](const V6& V) { return ad<double>(motion(V)); }, "V"_a,
          Doc("Matrix of the Lie bracket of twists: `ad(V) U = [V, U]`, `(6, 6)`.\n\nArgs:\n    V: "
              "Twist, `(6,)`, linear before angular."))
      .def_static(
          "ad_dual", [](const V6& V) { return ad_dual<double>(motion(V)); }, "V"_a,
          Doc("Matrix of the rate of a wrench or momentum that moves with the twist V: "
              "`-ad(V)^T`, `(6, 6)`.\n\nArgs:\n    V: Twist, `(6,)`, linear before angular."))
      .def_static(
          "left_jacobian", [](const V6& V) { return se3::left_jacobian<double>(motion(V)); }, "V"_a,
          Doc("The left Jacobian of the exponential.\n\nArgs:\n    V: Twist times time, `(6,)`, "
              "linear before angular."))
      .def_static(
          "right_jacobian", [](const V6& V) { return se3::right_jacobian<double>(motion(V)); },
          "V"_a,
          Doc("The right Jacobian of the exponential.\n\nArgs:\n    V: Twist times time, `(6,)`, "
              "linear before angular."))
      .def(
          "__mul__", [](const X& a, const X& b) { return a * b; }, nb::is_operator())
      .def(
          "__matmul__", [](const X& a, const X& b) { return a * b; }, nb::is_operator())
      .def(
          "__mul__", [](const X& a, const V3& p) { return V3(a * p); }, nb::is_operator())
      .def("__getstate__", [](const X& x) { return std::make_tuple(x.R, x.p); })
      .def("__setstate__",
           [](X& x, const std::tuple<M3, V3>& s) {
             new (&x) X{std::get<0>(s), std::get<1>(s)};
           })
      .def("__repr__", [](const X& x) {
        return "SE3(R = [" + text_of(x.R.row(0)) + "; " + text_of(x.R.row(1)) + "; " +
               text_of(x.R.row(2)) + "], p = [" + text_of(x.p.transpose()) + "])";
      });
}

using Amount = std::optional<double>;

/// Calls `make` with a Mass or a Density.
template <typename Make>
I6 of_amount(const char* call, const Amount& mass, const Amount& density, const Make& make) {
  if (mass.has_value() == density.has_value()) {
    fail(call, "mass, density", mass ? "both given" : "neither given", "one of them");
  }
  return mass ? make(Mass<double>{*mass}) : make(Density<double>{*density});
}

#define LIMB_AMOUNT "\n    mass: kg.\n    density: kg/m^3, instead of the mass."

void bind_solids(nb::class_<I6>& c) {
  const auto none = nb::none();
  c.def_static(
       "box",
       [](const V3& size, const Amount& mass, const Amount& density) {
         return of_amount("Inertia.box", mass, density,
                          [&](const auto& amount) { return box_inertia(amount, size); });
       },
       "size"_a, nb::kw_only(), "mass"_a = none, "density"_a = none,
       Doc("Box about its centre.\n\nArgs:\n    size: Edges along x, y, z, `(3,)`, m." LIMB_AMOUNT))
      .def_static(
          "cylinder",
          [](double radius, double length, const Amount& mass, const Amount& density) {
            return of_amount("Inertia.cylinder", mass, density, [&](const auto& amount) {
              return cylinder_inertia(amount, radius, length);
            });
          },
          "radius"_a, "length"_a, nb::kw_only(), "mass"_a = none, "density"_a = none,
          Doc("Solid cylinder along z about its centre.\n\nArgs:\n    radius: m.\n    length: "
              "m." LIMB_AMOUNT))
      .def_static(
          "hollow_cylinder",
          [](double inner, double outer, double length, const Amount& mass, const Amount& density) {
            return of_amount("Inertia.hollow_cylinder", mass, density, [&](const auto& amount) {
              return hollow_cylinder_inertia(amount, inner, outer, length);
            });
          },
          "inner_radius"_a, "outer_radius"_a, "length"_a, nb::kw_only(), "mass"_a = none,
          "density"_a = none,
          Doc("Tube along z about its centre: `m (r1^2 + r2^2) / 2` about z.\n\nArgs:\n    "
              "inner_radius: m.\n    outer_radius: m.\n    length: m." LIMB_AMOUNT))
      .def_static(
          "sphere",
          [](double radius, const Amount& mass, const Amount& density) {
            return of_amount("Inertia.sphere", mass, density,
                             [&](const auto& amount) { return sphere_inertia(amount, radius); });
          },
          "radius"_a, nb::kw_only(), "mass"_a = none, "density"_a = none,
          Doc("Solid ball about its centre.\n\nArgs:\n    radius: m." LIMB_AMOUNT))
      .def_static(
          "hollow_sphere",
          [](double inner, double outer, const Amount& mass, const Amount& density) {
            return of_amount("Inertia.hollow_sphere", mass, density, [&](const auto& amount) {
              return hollow_sphere_inertia(amount, inner, outer);
            });
          },
          "inner_radius"_a, "outer_radius"_a, nb::kw_only(), "mass"_a = none, "density"_a = none,
          Doc("Ball with a concentric cavity about its centre.\n\nArgs:\n    inner_radius: m.\n    "
              "outer_radius: m." LIMB_AMOUNT))
      .def_static(
          "spherical_shell",
          [](double radius, double mass) {
            return spherical_shell_inertia(Mass<double>{mass}, radius);
          },
          "radius"_a, nb::kw_only(), "mass"_a,
          Doc("Spherical shell without thickness about its centre.\n\nArgs:\n    radius: m.\n    "
              "mass: kg."))
      .def_static(
          "ellipsoid",
          [](const V3& half_axes, const Amount& mass, const Amount& density) {
            return of_amount("Inertia.ellipsoid", mass, density, [&](const auto& amount) {
              return ellipsoid_inertia(amount, half_axes);
            });
          },
          "half_axes"_a, nb::kw_only(), "mass"_a = none, "density"_a = none,
          Doc("Solid ellipsoid about its centre.\n\nArgs:\n    half_axes: Along x, y, z, `(3,)`, "
              "m." LIMB_AMOUNT))
      .def_static(
          "capsule",
          [](double radius, double length, const Amount& mass, const Amount& density) {
            return of_amount("Inertia.capsule", mass, density, [&](const auto& amount) {
              return capsule_inertia(amount, radius, length);
            });
          },
          "radius"_a, "length"_a, nb::kw_only(), "mass"_a = none, "density"_a = none,
          Doc("Cylinder along z with a hemisphere on each end, about its centre.\n\nArgs:\n    "
              "radius: m.\n    length: Of the cylinder, m." LIMB_AMOUNT))
      .def_static(
          "cone",
          [](double radius, double height, const Amount& mass, const Amount& density) {
            return of_amount("Inertia.cone", mass, density, [&](const auto& amount) {
              return cone_inertia(amount, radius, height);
            });
          },
          "radius"_a, "height"_a, nb::kw_only(), "mass"_a = none, "density"_a = none,
          Doc("Cone about the centre of its base, with the apex on the z axis.\n\nArgs:\n    "
              "radius: Of the base, m.\n    height: m." LIMB_AMOUNT))
      .def_static(
          "from_mesh",
          [](const std::vector<V3>& vertices, const std::vector<std::array<int, 3>>& triangles,
             const Amount& mass, const Amount& density) {
            return of_amount("Inertia.from_mesh", mass, density, [&](const auto& amount) {
              return inertia_from_mesh<double>(vertices, triangles, amount).inertia;
            });
          },
          "vertices"_a, "triangles"_a, nb::kw_only(), "mass"_a = none, "density"_a = none,
          Doc("The solid inside a closed mesh, in the axes of its vertices.\n\nArgs:\n    "
              "vertices: "
              "`(n, 3)`, m.\n    triangles: Three indices of vertices each, counter-clockwise seen "
              "from outside, `(k, 3)`." LIMB_AMOUNT));
}

/// Functions of tensors.
void bind_tensors(nb::class_<I6>& c) {
  c.def_static(
       "tensor_from_entries",
       [](double xx, double yy, double zz, double xy, double xz, double yz) {
         return tensor_from_entries<double>(xx, yy, zz, xy, xz, yz);
       },
       "Ixx"_a, "Iyy"_a, "Izz"_a, "Ixy"_a, "Ixz"_a, "Iyz"_a,
       Doc("Tensor with these entries, `(3, 3)`: the convention of URDF, in which Ixy is "
           "-int(xy) dm.\n\nArgs:\n    Ixx: kg m^2.\n    Iyy: kg m^2.\n    Izz: kg m^2.\n    Ixy: "
           "Entry of the matrix.\n    Ixz: Entry of the matrix.\n    Iyz: Entry of the matrix."))
      .def_static(
          "tensor_from_products",
          [](double xx, double yy, double zz, double xy, double xz, double yz) {
            return tensor_from_products<double>(xx, yy, zz, xy, xz, yz);
          },
          "Ixx"_a, "Iyy"_a, "Izz"_a, "int_xy"_a, "int_xz"_a, "int_yz"_a,
          Doc("Tensor with these products of inertia, `(3, 3)`: the convention of Craig, in which "
              "the entries\nbeside the diagonal are the negative integrals.\n\nArgs:\n    Ixx: kg "
              "m^2.\n    Iyy: kg m^2.\n    Izz: kg m^2.\n    int_xy: +int(xy) dm, kg m^2.\n    "
              "int_xz: +int(xz) dm.\n    int_yz: +int(yz) dm."))
      .def_static(
          "parallel_axis_from_com",
          [](const M3& tensor, double mass, const V3& d) {
            check_symmetric("parallel_axis_from_com", "tensor", tensor);
            return parallel_axis_from_com<double>(tensor, mass, d);
          },
          "tensor"_a, "mass"_a, "d"_a,
          Doc("Tensor about a point from that about the centre of mass, `(3, 3)`.\n\nArgs:\n    "
              "tensor: About the centre of mass, `(3, 3)`.\n    mass: kg.\n    d: Vector between "
              "the "
              "two points, `(3,)`, m."))
      .def_static(
          "parallel_axis_to_com",
          [](const M3& tensor, double mass, const V3& d) {
            check_symmetric("parallel_axis_to_com", "tensor", tensor);
            return parallel_axis_to_com<double>(tensor, mass, d);
          },
          "tensor"_a, "mass"_a, "d"_a,
          Doc("Tensor about the centre of mass from that about a point, `(3, 3)`.\n\nArgs:\n    "
              "tensor: About the point, `(3, 3)`.\n    mass: kg.\n    d: Vector between the two "
              "points, `(3,)`, m."))
      .def_static(
          "principal_axes_of",
          [](const M3& tensor) {
            const PrincipalAxes<double> found = principal_axes<double>(tensor);
            return result_of("PrincipalAxes", found.moments, found.R);
          },
          "tensor"_a, nb::sig("def principal_axes_of(tensor: ArrayLike) -> PrincipalAxes"),
          Doc("Principal moments and axes of a tensor.\n\nArgs:\n    tensor: Symmetric, `(3, "
              "3)`."));
}

void bind_inertia(nb::module_& m) {
  nb::class_<I6> c(
      m, "Inertia",
      "Spatial inertia of a rigid body about the origin and in the axes of a frame. Off-diagonal\n"
      "entries of a tensor are -int(xy) dm, as in URDF.");
  bind_solids(c);
  bind_tensors(c);
  c.def(nb::init<>(), Doc("Zero."))
      .def_static("from_com", &I6::from_com, "mass"_a, "com"_a, "tensor"_a,
                  Doc("With the tensor about the centre of mass."
                      "\n\nArgs:\n    mass: kg.\n    com: Centre of mass, `(3,)`, m.\n    tensor: "
                      "Inertia tensor, `(3, 3)`, kg m^2."))
      .def_static("from_origin", &I6::from_origin, "mass"_a, "com"_a, "tensor"_a,
                  Doc("With the tensor about the frame's origin."
                      "\n\nArgs:\n    mass: kg.\n    com: Centre of mass, `(3,)`, m.\n    tensor: "
                      "Inertia tensor, `(3, 3)`, kg m^2."))
      .def_static("point_mass", &I6::point_mass, "mass"_a, "position"_a,
                  Doc("Of a point mass.\n\nArgs:\n    mass: kg.\n    position: `(3,)`, m."))
      .def_static(
          "from_point_masses",
          [](const std::vector<double>& masses, const std::vector<V3>& positions) {
            if (masses.size() != positions.size()) {
              fail("Inertia.from_point_masses", "positions",
                   std::to_string(positions.size()) + " points",
                   "one per mass, " + std::to_string(masses.size()));
            }
            std::vector<PointMass<double>> points;
            for (std::size_t i = 0; i < masses.size(); ++i) {
              points.push_back({masses[i], positions[i]});
            }
            return I6::from_point_masses(points);
          },
          "masses"_a, "positions"_a,
          Doc("Of several point masses.\n\nArgs:\n    masses: `(n,)`, kg.\n    positions: `(n, "
              "3)`, "
              "m."))
      .def_prop_ro("mass", &I6::mass, Doc("kg."))
      .def_prop_ro("com", &I6::com, Doc("Centre of mass, `(3,)`, m."))
      .def_prop_ro("first_moment", &I6::first_moment,
                   Doc("Mass times centre of mass, `(3,)`, kg m."))
      .def_prop_ro(
          "tensor", [](const I6& x) { return x.tensor(); }, Doc("About the origin."))
      .def_prop_ro("tensor_about_com", &I6::tensor_about_com,
                   Doc("Inertia tensor about the centre of mass, `(3, 3)`, kg m^2."))
      .def("matrix", &I6::matrix, Doc("6 x 6, (linear, angular)."))
      .def("tensor_about", &I6::tensor_about, "point"_a,
           Doc("Inertia tensor about any point, `(3, 3)`, kg m^2.\n\nArgs:\n    point: `(3,)`, m."))
      .def(
          "principal_axes",
          [](const I6& x) {
            const PrincipalAxes<double> found = principal_axes<double>(x.tensor_about_com());
            return result_of("PrincipalAxes", found.moments, found.R);
          },
          nb::sig("def principal_axes(self) -> PrincipalAxes"),
          Doc("Principal moments about the centre of mass, and their axes."))
      .def(
          "violations", [](const I6& x) { return inertia_report(x).violations; },
          Doc("Why no rigid body with volume can have this inertia; empty if one can. The limiting "
              "cases\npoint mass, rod and plate are violations."))
      .def(
          "kinetic_energy", [](const I6& x, const V6& V) { return kinetic_energy(x, motion(V)); },
          "V"_a, Doc("Of a twist, J.\n\nArgs:\n    V: Twist, `(6,)`."))
      .def("transformed", &I6::transformed, "X_AB"_a,
           Doc("The inertia of the same body about the origin and in the axes of A."
               "\n\nArgs:\n    X_AB: Pose of this frame B in A, an `SE3`."))
      .def(
          "momentum", [](const I6& x, const V6& V) { return V6((x * motion(V)).vector()); }, "V"_a,
          Doc("Momentum of a twist, `(6,)`: linear, angular about the origin.\n\nArgs:\n    V: "
              "Twist, `(6,)`."))
      .def(
          "__add__", [](const I6& a, const I6& b) { return a + b; }, nb::is_operator())
      .def(
          "__sub__", [](const I6& a, const I6& b) { return a - b; }, nb::is_operator())
      .def("__getstate__",
           [](const I6& x) {
             return std::make_tuple(x.mass(), V3(x.first_moment()), M3(x.tensor()));
           })
      .def("__setstate__",
           [](I6& x, const std::tuple<double, V3, M3>& s) {
             new (&x) I6(std::get<0>(s), std::get<1>(s), std::get<2>(s));
           })
      .def("__repr__", [](const I6& x) { return text_of(x); });
}

}  // namespace

void bind_math(nb::module_& m) {
  bind_quaternion(m);
  bind_so3(m);
  bind_se3(m);
  bind_inertia(m);
}

}  // namespace limb::python
