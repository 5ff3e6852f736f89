#include "limb/dynamics/aba_derivatives.hpp"
#include "limb/dynamics/rnea_derivatives.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

nb::object call_rnea_derivatives(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                                 nb::handle external, nb::handle out) {
  const int n = r.nv();
  External wrenches("rnea_derivatives", r, external);
  const Result results[] = {Result::matrix(n, n), Result::matrix(n, n), Result::symmetric(n)};
  const nb::handle type = result_type("InverseDerivatives");
  return map(
      {"rnea_derivatives", r, wrenches.join({position(r, q), velocity(r, v), velocity(r, a, "a")}),
       results, out, type},
      [&](Work& w, const double* const* in, double* const* to) {
        const ConstVector q_in(in[0], r.nq()), v_in(in[1], n), a_in(in[2], n);
        Matrix dq(to[0], n, n), dv(to[1], n, n), da(to[2], n, n);
        if (wrenches.empty()) {
          rnea_derivatives(r.model(), w.derivatives(), q_in, v_in, a_in, dq, dv, da, r.effects());
        } else {
          rnea_derivatives(r.model(), w.derivatives(), q_in, v_in, a_in, wrenches.read(in), dq, dv,
                           da, r.effects());
        }
      });
}

nb::object call_aba_derivatives(const Robot& r, nb::handle q, nb::handle v, nb::handle tau,
                                nb::handle external, nb::handle out) {
  const int n = r.nv();
  External wrenches("aba_derivatives", r, external);
  const Result results[] = {Result::vector(n), Result::matrix(n, n), Result::matrix(n, n),
                            Result::symmetric(n)};
  const nb::handle type = result_type("ForwardDerivatives");
  return map({"aba_derivatives", r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, tau, "tau")}), results,
              out, type},
             [&](Work& w, const double* const* in, double* const* to) {
               const ConstVector q_in(in[0], r.nq()), v_in(in[1], n), tau_in(in[2], n);
               Vector a(to[0], n);
               Matrix dq(to[1], n, n), dv(to[2], n, n), dtau(to[3], n, n);
               const int singular =
                   wrenches.empty()
                       ? aba_derivatives(r.model(), w.derivatives(), q_in, v_in, tau_in, a, dq, dv,
                                         dtau, r.effects())
                       : aba_derivatives(r.model(), w.derivatives(), q_in, v_in, tau_in,
                                         wrenches.read(in), a, dq, dv, dtau, r.effects());
               if (singular >= 0) r.fail_singular("aba_derivatives", singular);
             });
}

}  // namespace

void bind_derivatives(RobotClass& c) {
  const auto none = nb::none();
  c.def("rnea_derivatives", call_rnea_derivatives, "q"_a, "v"_a, "a"_a, nb::kw_only(),
        "external"_a = none, "out"_a = none,
        nb::sig(
            "def rnea_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, " LIMB_EXTERNAL
            ", out: tuple[Array, ...] | None = None) -> InverseDerivatives"),
        "Derivatives of `rnea`: by tangents of q, by v, and by a (the mass matrix); `(nv, nv)`\n"
        "each. Column k of dq is the derivative along `integrate(q, e e_k)`.");
  c.def(
      "aba_derivatives", call_aba_derivatives, "q"_a, "v"_a, "tau"_a, nb::kw_only(),
      "external"_a = none, "out"_a = none,
      nb::sig(
          "def aba_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, " LIMB_EXTERNAL
          ", out: tuple[Array, ...] | None = None) -> ForwardDerivatives"),
      "`aba` and its derivatives: by tangents of q, by v, and by tau (the inverse of the mass\n"
      "matrix).");
}

}  // namespace limb::python
