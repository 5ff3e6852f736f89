#include "limb/dynamics/aba.hpp"
#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/energy.hpp"
#include "limb/dynamics/rnea.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

nb::object call_rnea(const Robot& r, nb::handle q, nb::handle v, nb::handle a, nb::handle external,
                     nb::handle out) {
  const int n = r.nv();
  if (external.is_none()) {
    return map("rnea", r, {position(r, q), velocity(r, v), velocity(r, a, "a")}, Result::vector(n),
               out, [&](Work& w, const double* const* in, double* const* to) {
                 rnea(r.model(), w.tree(), ConstVector(in[0], r.nq()), ConstVector(in[1], n),
                      ConstVector(in[2], n), Vector(to[0], n), r.effects());
               });
  }
  External wrenches("rnea", r, external);
  const Result result = Result::vector(n);
  return map({"rnea",
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, a, "a")}),
              {&result, 1},
              out,
              {}},
             [&](Work& w, const double* const* in, double* const* to) {
               const auto given = wrenches.read(in);
               rnea(r.model(), w.tree(), ConstVector(in[0], r.nq()), ConstVector(in[1], n),
                    ConstVector(in[2], n), given, Vector(to[0], n), r.effects());
             });
}

nb::object call_aba(const Robot& r, nb::handle q, nb::handle v, nb::handle tau, nb::handle external,
                    nb::handle out) {
  const int n = r.nv();
  External wrenches("aba", r, external);
  const Result result = Result::vector(n);
  return map({"aba",
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, tau, "tau")}),
              {&result, 1},
              out,
              {}},
             [&](Work& w, const double* const* in, double* const* to) {
               const ConstVector q_in(in[0], r.nq()), v_in(in[1], n), tau_in(in[2], n);
               const int singular =
                   wrenches.empty()
                       ? aba(r.model(), w.tree(), q_in, v_in, tau_in, Vector(to[0], n), r.effects())
                       : aba(r.model(), w.tree(), q_in, v_in, tau_in, wrenches.read(in),
                             Vector(to[0], n), r.effects());
               if (singular >= 0) r.fail_singular("aba", singular);
             });
}

nb::object call_bias(const Robot& r, nb::handle q, nb::handle v, nb::handle out) {
  return map("bias", r, {position(r, q), velocity(r, v)}, Result::vector(r.nv()), out,
             [&](Work& w, const double* const* in, double* const* to) {
               bias(r.model(), w.tree(), ConstVector(in[0], r.nq()), ConstVector(in[1], r.nv()),
                    Vector(to[0], r.nv()), r.effects());
             });
}

nb::object call_gravity(const Robot& r, nb::handle q, nb::handle out) {
  return map("gravity", r, {position(r, q)}, Result::vector(r.nv()), out,
             [&](Work& w, const double* const* in, double* const* to) {
               gravity(r.model(), w.tree(), ConstVector(in[0], r.nq()), Vector(to[0], r.nv()));
             });
}

template <const char* const& kName>
nb::object call_crba(const Robot& r, nb::handle q, nb::handle out) {
  return map(kName, r, {position(r, q)}, Result::symmetric(r.nv()), out,
             [&](Work& w, const double* const* in, double* const* to) {
               crba(r.model(), w.tree(), ConstVector(in[0], r.nq()), Matrix(to[0], r.nv(), r.nv()),
                    r.effects());
             });
}
const char* const kCrba = "crba";
const char* const kMassMatrix = "mass_matrix";

nb::object call_mass_inverse(const Robot& r, nb::handle q, nb::handle out) {
  return map("mass_inverse", r, {position(r, q)}, Result::symmetric(r.nv()), out,
             [&](Work& w, const double* const* in, double* const* to) {
               const int singular =
                   mass_inverse(r.model(), w.tree(), ConstVector(in[0], r.nq()), w.factor(),
                                Matrix(to[0], r.nv(), r.nv()), r.effects());
               if (singular >= 0) r.fail_singular("mass_inverse", singular);
             });
}

nb::object call_kinetic_energy(const Robot& r, nb::handle q, nb::handle v, nb::handle out) {
  return map("kinetic_energy", r, {position(r, q), velocity(r, v)}, Result::number(), out,
             [&](Work& w, const double* const* in, double* const* to) {
               *to[0] = kinetic_energy(r.model(), walk(r, w, in, 2), r.effects());
             });
}

nb::object call_potential_energy(const Robot& r, nb::handle q, nb::handle out) {
  return map("potential_energy", r, {position(r, q)}, Result::number(), out,
             [&](Work& w, const double* const* in, double* const* to) {
               *to[0] = potential_energy(r.model(), walk(r, w, in, 1));
             });
}

}  // namespace

void bind_dynamics(RobotClass& c) {
  const auto none = nb::none();
  c.def("rnea", call_rnea, "q"_a, "v"_a, "a"_a, nb::kw_only(), "external"_a = none, "out"_a = none,
        nb::sig("def rnea(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, " LIMB_EXTERNAL
                ", " LIMB_OUT),
        "Inverse dynamics: the torques `tau = M(q) a + h(q, v) - sum J^T F`, by the recursion of\n"
        "Newton and Euler.\n\n"
        "Args:\n"
        "    q: Configuration, `(nq,)` or `(..., nq)`.\n"
        "    v: Velocity, `(nv,)` or `(..., nv)`.\n"
        "    a: Acceleration, `(nv,)` or `(..., nv)`.\n"
        "    external: Wrenches (force, moment) that the environment exerts on frames, at their\n"
        "        origins and in their axes, `{frame: (6,) or (..., 6)}`.\n"
        "    out: Array for the result, C-contiguous.\n\n"
        "Returns:\n"
        "    Torques, `(nv,)` or `(..., nv)`.");
  c.def("aba", call_aba, "q"_a, "v"_a, "tau"_a, nb::kw_only(), "external"_a = none, "out"_a = none,
        nb::sig("def aba(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, " LIMB_EXTERNAL
                ", " LIMB_OUT),
        "Forward dynamics: the accelerations `a = M^-1 (tau - h + sum J^T F)`, by articulated\n"
        "bodies. Loops of the model are closed.\n\n"
        "Raises:\n"
        "    limb.ComputationError: The mass matrix is singular; the text names the joint.");
  c.def("bias", call_bias, "q"_a, "v"_a, nb::kw_only(), "out"_a = none,
        nb::sig("def bias(self, q: ArrayLike, v: ArrayLike, *, " LIMB_OUT),
        "`h(q, v)`: the torques at rest acceleration, gravity included.");
  c.def("gravity", call_gravity, "q"_a, nb::kw_only(), "out"_a = none,
        nb::sig("def gravity(self, q: ArrayLike, *, " LIMB_OUT),
        "`g(q)`: the torques that hold the robot still.");
  c.def("crba", call_crba<kCrba>, "q"_a, nb::kw_only(), "out"_a = none,
        nb::sig("def crba(self, q: ArrayLike, *, " LIMB_OUT),
        "Mass matrix `M(q)`, both triangles, by composite rigid bodies; `(nv, nv)` a state.");
  c.def("mass_matrix", call_crba<kMassMatrix>, "q"_a, nb::kw_only(), "out"_a = none,
        nb::sig("def mass_matrix(self, q: ArrayLike, *, " LIMB_OUT),
        "Mass matrix `M(q)`, both triangles; the same as `crba`.");
  c.def("mass_inverse", call_mass_inverse, "q"_a, nb::kw_only(), "out"_a = none,
        nb::sig("def mass_inverse(self, q: ArrayLike, *, " LIMB_OUT), "`M(q)^-1`, both triangles.");
  c.def("kinetic_energy", call_kinetic_energy, "q"_a, "v"_a, nb::kw_only(), "out"_a = none,
        nb::sig("def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None)"
                " -> float | Array"),
        "Kinetic energy in J; rotors of the drives included unless they are left out.");
  c.def("potential_energy", call_potential_energy, "q"_a, nb::kw_only(), "out"_a = none,
        nb::sig("def potential_energy(self, q: ArrayLike, *, out: Array | None = None)"
                " -> float | Array"),
        "Potential energy in J; zero for a mass at the origin of the world.");
}

}  // namespace limb::python
