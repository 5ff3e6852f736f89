#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

// Each function has two names (see bind_dynamics); errors start with the name that was called.
const char* const kInverseDynamics = "inverse_dynamics";
const char* const kRnea = "rnea";
const char* const kForwardDynamics = "forward_dynamics";
const char* const kAba = "aba";
const char* const kMassMatrix = "mass_matrix";
const char* const kCrba = "crba";

template <const char* const& kName>
nb::object call_inverse_dynamics(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                                 nb::handle external, nb::handle out, nb::handle check) {
  const int n = r.nv();
  if (external.is_none()) {
    return map(kName, r, {position(r, q), velocity(r, v), velocity(r, a, "a")}, Result::vector(n),
               {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
                 rnea(r.model(), w.tree(), ConstVector(in[0], r.nq()), ConstVector(in[1], n),
                      ConstVector(in[2], n), Vector(to[0], n), r.effects());
               });
  }
  External wrenches(kName, r, external);
  const Result result = Result::vector(n);
  return map({kName,
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, a, "a")}),
              {&result, 1},
              {out, check},
              {}},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               const auto given = wrenches.read(in);
               rnea(r.model(), w.tree(), ConstVector(in[0], r.nq()), ConstVector(in[1], n),
                    ConstVector(in[2], n), given, Vector(to[0], n), r.effects());
             });
}

template <const char* const& kName>
nb::object call_forward_dynamics(const Robot& r, nb::handle q, nb::handle v, nb::handle tau,
                                 nb::handle external, nb::handle out, nb::handle check) {
  const int n = r.nv();
  External wrenches(kName, r, external);
  const Result result = Result::vector(n);
  return map({kName,
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, tau, "tau")}),
              {&result, 1},
              {out, check},
              {}},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               const ConstVector q_in(in[0], r.nq()), v_in(in[1], n), tau_in(in[2], n);
               const FactorReport report =
                   wrenches.empty()
                       ? aba(r.model(), w.tree(), q_in, v_in, tau_in, Vector(to[0], n), r.effects())
                       : aba(r.model(), w.tree(), q_in, v_in, tau_in, wrenches.read(in),
                             Vector(to[0], n), r.effects());
               if (!report.ok()) r.fail_singular(kName, report.velocity);
             });
}

nb::object call_bias(const Robot& r, nb::handle q, nb::handle v, nb::handle out, nb::handle check) {
  return map("bias", r, {position(r, q), velocity(r, v)}, Result::vector(r.nv()), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               bias(r.model(), w.tree(), ConstVector(in[0], r.nq()), ConstVector(in[1], r.nv()),
                    Vector(to[0], r.nv()), r.effects());
             });
}

nb::object call_gravity(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  return map("gravity", r, {position(r, q)}, Result::vector(r.nv()), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               gravity(r.model(), w.tree(), ConstVector(in[0], r.nq()), Vector(to[0], r.nv()));
             });
}

template <const char* const& kName>
nb::object call_mass_matrix(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  return map(kName, r, {position(r, q)}, Result::symmetric(r.nv()), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               crba(r.model(), w.tree(), ConstVector(in[0], r.nq()), Matrix(to[0], r.nv(), r.nv()),
                    r.effects());
             });
}
nb::object call_mass_inverse(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  return map("mass_inverse", r, {position(r, q)}, Result::symmetric(r.nv()), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               const FactorReport report =
                   mass_inverse(r.model(), w.tree(), ConstVector(in[0], r.nq()), w.factor(),
                                Matrix(to[0], r.nv(), r.nv()), r.effects());
               if (!report.ok()) r.fail_singular("mass_inverse", report.velocity);
             });
}

nb::object call_kinetic_energy(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                               nb::handle check) {
  return map("kinetic_energy", r, {position(r, q), velocity(r, v)}, Result::number(), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               *to[0] = kinetic_energy(r.model(), kinematics_at(r, w, in, 2), r.effects());
             });
}

nb::object call_potential_energy(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  return map("potential_energy", r, {position(r, q)}, Result::number(), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               *to[0] = potential_energy(r.model(), kinematics_at(r, w, in, 1));
             });
}

}  // namespace

void bind_dynamics(RobotClass& c) {
  const auto none = nb::none();
  c.def(
      "inverse_dynamics", call_inverse_dynamics<kInverseDynamics>, "q"_a, "v"_a, "a"_a,
      nb::kw_only(), "external"_a = none, "out"_a = none, "check"_a = none,
      nb::sig(
          "def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, " LIMB_EXTERNAL
          ", " LIMB_OUT),
      Doc("Inverse dynamics: the torques `tau = M(q) a + h(q, v) - sum J^T F`, by the recursive\n"
          "Newton-Euler algorithm.\n\n"
          "Args:\n"
          "    q: Configuration, `(nq,)` or `(..., nq)`.\n"
          "    v: Velocity, `(nv,)` or `(..., nv)`.\n"
          "    a: Acceleration, `(nv,)` or `(..., nv)`.\n"
          "    external: Wrenches (force, moment) that the environment exerts on frames, at their\n"
          "        origins and in their axes, `{frame: (6,) or (..., 6)}`.\n"
          "    out: Array for the result, C-contiguous.\n\n"
          "Returns:\n"
          "    Torques, `(nv,)` or `(..., nv)`."));
  c.def("rnea", call_inverse_dynamics<kRnea>, "q"_a, "v"_a, "a"_a, nb::kw_only(),
        "external"_a = none, "out"_a = none, "check"_a = none,
        nb::sig("def rnea(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, " LIMB_EXTERNAL
                ", " LIMB_OUT),
        Doc("Alias of `inverse_dynamics`."));
  c.def(
      "forward_dynamics", call_forward_dynamics<kForwardDynamics>, "q"_a, "v"_a, "tau"_a,
      nb::kw_only(), "external"_a = none, "out"_a = none, "check"_a = none,
      nb::sig(
          "def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, " LIMB_EXTERNAL
          ", " LIMB_OUT),
      Doc("Forward dynamics: the accelerations `a = M^-1 (tau - h + sum J^T F)`, by the "
          "articulated\n"
          "body algorithm. Loops of the model are closed.\n\n"
          "Raises:\n"
          "    limb.ComputationError: The mass matrix is singular; the message names the joint."));
  c.def("aba", call_forward_dynamics<kAba>, "q"_a, "v"_a, "tau"_a, nb::kw_only(),
        "external"_a = none, "out"_a = none, "check"_a = none,
        nb::sig("def aba(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, " LIMB_EXTERNAL
                ", " LIMB_OUT),
        Doc("Alias of `forward_dynamics`."));
  c.def("bias", call_bias, "q"_a, "v"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def bias(self, q: ArrayLike, v: ArrayLike, *, " LIMB_OUT),
        Doc("Bias `h(q, v)`: the torques at zero acceleration, gravity included."));
  c.def("gravity", call_gravity, "q"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def gravity(self, q: ArrayLike, *, " LIMB_OUT),
        Doc("Gravity `g(q)`: the torques that hold the robot at rest."));
  c.def("mass_matrix", call_mass_matrix<kMassMatrix>, "q"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none, nb::sig("def mass_matrix(self, q: ArrayLike, *, " LIMB_OUT),
        Doc("Mass matrix `M(q)`, both triangles, by the composite rigid body algorithm; `(nv, nv)` "
            "per\n"
            "state."));
  c.def("crba", call_mass_matrix<kCrba>, "q"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def crba(self, q: ArrayLike, *, " LIMB_OUT), Doc("Alias of `mass_matrix`."));
  c.def("mass_inverse", call_mass_inverse, "q"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def mass_inverse(self, q: ArrayLike, *, " LIMB_OUT),
        Doc("Inverse of the mass matrix, `M(q)^-1`, both triangles."));
  c.def("kinetic_energy", call_kinetic_energy, "q"_a, "v"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None, "
                "check: bool | None = None)"
                " -> float | Array"),
        Doc("Kinetic energy in J, including the rotors of the drives unless loaded with "
            "armature=False."));
  c.def("potential_energy", call_potential_energy, "q"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def potential_energy(self, q: ArrayLike, *, out: Array | None = None, check: bool "
                "| None = None)"
                " -> float | Array"),
        Doc("Potential energy in J; zero for a mass at the origin of the world."));
}

}  // namespace limb::python
