#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/derivatives/rnea_derivatives.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

// As in bind_dynamics.cpp, each function has two names.
const char* const kInverse = "inverse_dynamics_derivatives";
const char* const kRnea = "rnea_derivatives";
const char* const kForward = "forward_dynamics_derivatives";
const char* const kAba = "aba_derivatives";

template <const char* const& kName>
nb::object call_inverse(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                        nb::handle external, nb::handle out, nb::handle check) {
  const int n = r.nv();
  External wrenches(kName, r, external);
  const Result results[] = {Result::matrix(n, n), Result::matrix(n, n), Result::symmetric(n)};
  const nb::handle type = result_type("InverseDerivatives");
  return map({kName,
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, a, "a")}),
              results,
              {out, check},
              type},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               const ConstVector q_in(in[0], r.nq()), v_in(in[1], n), a_in(in[2], n);
               Matrix dtau_dq(to[0], n, n), dtau_dv(to[1], n, n), dtau_da(to[2], n, n);
               if (wrenches.empty()) {
                 rnea_derivatives(r.model(), w.derivatives(), q_in, v_in, a_in, dtau_dq, dtau_dv,
                                  dtau_da, r.effects());
               } else {
                 rnea_derivatives(r.model(), w.derivatives(), q_in, v_in, a_in, wrenches.read(in),
                                  dtau_dq, dtau_dv, dtau_da, r.effects());
               }
             });
}

template <const char* const& kName>
nb::object call_forward(const Robot& r, nb::handle q, nb::handle v, nb::handle tau,
                        nb::handle external, nb::handle out, nb::handle check) {
  const int n = r.nv();
  External wrenches(kName, r, external);
  const Result results[] = {Result::vector(n), Result::matrix(n, n), Result::matrix(n, n),
                            Result::symmetric(n)};
  const nb::handle type = result_type("ForwardDerivatives");
  return map({kName,
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, tau, "tau")}),
              results,
              {out, check},
              type},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               const ConstVector q_in(in[0], r.nq()), v_in(in[1], n), tau_in(in[2], n);
               Vector a(to[0], n);
               Matrix da_dq(to[1], n, n), da_dv(to[2], n, n), da_dtau(to[3], n, n);
               const FactorReport report =
                   wrenches.empty()
                       ? aba_derivatives(r.model(), w.derivatives(), q_in, v_in, tau_in, a, da_dq,
                                         da_dv, da_dtau, r.effects())
                       : aba_derivatives(r.model(), w.derivatives(), q_in, v_in, tau_in,
                                         wrenches.read(in), a, da_dq, da_dv, da_dtau, r.effects());
               if (!report.ok()) r.fail_singular(kName, report.velocity);
             });
}

}  // namespace

void bind_derivatives(RobotClass& c) {
  const auto none = nb::none();
  c.def(
      "inverse_dynamics_derivatives", call_inverse<kInverse>, "q"_a, "v"_a, "a"_a, nb::kw_only(),
      "external"_a = none, "out"_a = none, "check"_a = none,
      nb::sig("def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, "
              "*, " LIMB_EXTERNAL ", out: tuple[Array, ...] | None = None, check: bool | None = "
              "None) -> InverseDerivatives"),
      Doc("Derivatives of `inverse_dynamics` by tangents of q, by v, and by a (the mass matrix);\n"
          "`(nv, nv)` each. Column k of dtau_dq is the derivative along `integrate(q, e e_k)`."));
  c.def("rnea_derivatives", call_inverse<kRnea>, "q"_a, "v"_a, "a"_a, nb::kw_only(),
        "external"_a = none, "out"_a = none, "check"_a = none,
        nb::sig(
            "def rnea_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, " LIMB_EXTERNAL
            ", out: tuple[Array, ...] | None = None, check: bool | None = None) -> "
            "InverseDerivatives"),
        Doc("Alias of `inverse_dynamics_derivatives`."));
  c.def("forward_dynamics_derivatives", call_forward<kForward>, "q"_a, "v"_a, "tau"_a,
        nb::kw_only(), "external"_a = none, "out"_a = none, "check"_a = none,
        nb::sig("def forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, tau: "
                "ArrayLike, *, " LIMB_EXTERNAL ", out: tuple[Array, ...] | None = None, check: "
                "bool | None = None) -> ForwardDerivatives"),
        Doc("`forward_dynamics` and its derivatives by tangents of q, by v, and by tau (the "
            "inverse of\n"
            "the mass matrix)."));
  c.def(
      "aba_derivatives", call_forward<kAba>, "q"_a, "v"_a, "tau"_a, nb::kw_only(),
      "external"_a = none, "out"_a = none, "check"_a = none,
      nb::sig(
          "def aba_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, " LIMB_EXTERNAL
          ", out: tuple[Array, ...] | None = None, check: bool | None = None) -> "
          "ForwardDerivatives"),
      Doc("Alias of `forward_dynamics_derivatives`."));
}

}  // namespace limb::python
