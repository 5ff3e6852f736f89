#include "limb/dynamics/derivatives/second_derivatives.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

nb::object call_gradient(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                         nb::handle multipliers, nb::handle external, nb::handle out,
                         nb::handle check) {
  const int n = r.nv();
  External wrenches("rnea_gradient", r, external);
  const Result results[] = {Result::vector(n), Result::vector(n), Result::vector(n)};
  return map({"rnea_gradient",
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, a, "a"),
                             velocity(r, multipliers, "multipliers")}),
              results,
              {out, check},
              result_type("Gradient")},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               rnea_gradient(r.model(), w.workspace<GradientWorkspace<double>>(),
                             ConstVector(in[0], r.nq()), ConstVector(in[1], n),
                             ConstVector(in[2], n), wrenches.read(in), ConstVector(in[3], n),
                             Vector(to[0], n), Vector(to[1], n), Vector(to[2], n), r.effects());
             });
}

nb::object call_rnea_hessian(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                             nb::handle multipliers, nb::handle external, nb::handle out,
                             nb::handle check) {
  const int n = r.nv();
  External wrenches("rnea_hessian", r, external);
  const std::vector<Result> results(4, Result::matrix(n, n));
  return map({"rnea_hessian",
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, a, "a"),
                             velocity(r, multipliers, "multipliers")}),
              results,
              {out, check},
              result_type("HessianBlocks")},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               rnea_hessian(r.model(), w.workspace<SecondDerivativeWorkspace<double>>(),
                            ConstVector(in[0], r.nq()), ConstVector(in[1], n),
                            ConstVector(in[2], n), wrenches.read(in), ConstVector(in[3], n),
                            Matrix(to[0], n, n), Matrix(to[1], n, n), Matrix(to[2], n, n),
                            Matrix(to[3], n, n), r.effects());
             });
}

nb::object call_aba_hessian(const Robot& r, nb::handle q, nb::handle v, nb::handle tau,
                            nb::handle multipliers, nb::handle external, nb::handle out,
                            nb::handle check) {
  const int n = r.nv();
  External wrenches("aba_hessian", r, external);
  const std::vector<Result> results(4, Result::matrix(n, n));
  return map({"aba_hessian",
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, tau, "tau"),
                             velocity(r, multipliers, "multipliers")}),
              results,
              {out, check},
              result_type("HessianBlocks")},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               const FactorReport report = aba_hessian(
                   r.model(), w.workspace<SecondDerivativeWorkspace<double>>(),
                   ConstVector(in[0], r.nq()), ConstVector(in[1], n), ConstVector(in[2], n),
                   wrenches.read(in), ConstVector(in[3], n), Matrix(to[0], n, n),
                   Matrix(to[1], n, n), Matrix(to[2], n, n), Matrix(to[3], n, n), r.effects());
               if (!report.ok()) r.fail_singular("aba_hessian", report.velocity);
             });
}

/// Entry (i, j, k) is the derivative along direction k.
void write_tensor(const SecondDerivative<double>& x, double* to) {
  for (int i = 0; i < x.size(); ++i) {
    for (int j = 0; j < x.size(); ++j) {
      for (int k = 0; k < x.size(); ++k) *to++ = x(i, j, k);
    }
  }
}
void write_tensors(const SecondDerivatives<double>& x, double* const* to) {
  write_tensor(x.qq, to[0]);
  write_tensor(x.vq, to[1]);
  write_tensor(x.vv, to[2]);
  write_tensor(x.uq, to[3]);
}

nb::object call_rnea_second(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                            nb::handle out, nb::handle check) {
  const int n = r.nv();
  const Result part = Result::tensor(n, n, n);
  return map("rnea_second_derivatives", r, {position(r, q), velocity(r, v), velocity(r, a, "a")},
             {part, part, part, part}, "SecondDerivatives", {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               SecondDerivatives<double> x(n);
               rnea_second_derivatives(r.model(), w.workspace<SecondDerivativeWorkspace<double>>(),
                                       ConstVector(in[0], r.nq()), ConstVector(in[1], n),
                                       ConstVector(in[2], n), x, r.effects());
               write_tensors(x, to);
             });
}

nb::object call_aba_second(const Robot& r, nb::handle q, nb::handle v, nb::handle tau,
                           nb::handle out, nb::handle check) {
  const int n = r.nv();
  const Result part = Result::tensor(n, n, n);
  return map("aba_second_derivatives", r, {position(r, q), velocity(r, v), velocity(r, tau, "tau")},
             {part, part, part, part}, "SecondDerivatives", {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               SecondDerivatives<double> x(n);
               const FactorReport report = aba_second_derivatives(
                   r.model(), w.workspace<SecondDerivativeWorkspace<double>>(),
                   ConstVector(in[0], r.nq()), ConstVector(in[1], n), ConstVector(in[2], n), x,
                   r.effects());
               if (!report.ok()) r.fail_singular("aba_second_derivatives", report.velocity);
               write_tensors(x, to);
             });
}

}  // namespace

void bind_second_derivatives(RobotClass& c) {
  const auto none = nb::none();
  c.def("rnea_gradient", call_gradient, "q"_a, "v"_a, "a"_a, "multipliers"_a, nb::kw_only(),
        "external"_a = none, "out"_a = none, "check"_a = none,
        nb::sig("def rnea_gradient(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, multipliers: "
                "ArrayLike, *, " LIMB_EXTERNAL
                ", out: tuple[Array, ...] | None = None, check: bool | None = None) -> Gradient"),
        Doc("Gradient of `multipliers . rnea(q, v, a)` by tangents of q, by v and by a, in O(n)."
            "\n\nArgs:\n    multipliers: Weights of the torques or accelerations, `(nv,)` or "
            "`(..., nv)`."));
  c.def("rnea_hessian", call_rnea_hessian, "q"_a, "v"_a, "a"_a, "multipliers"_a, nb::kw_only(),
        "external"_a = none, "out"_a = none, "check"_a = none,
        nb::sig(
            "def rnea_hessian(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, multipliers: "
            "ArrayLike, *, " LIMB_EXTERNAL
            ", out: tuple[Array, ...] | None = None, check: bool | None = None) -> HessianBlocks"),
        Doc("Blocks of the Hessian of `multipliers . rnea(integrate(q, x), v, a)` by x at 0, v and "
            "a\n"
            "(u); the other blocks are zero."
            "\n\nArgs:\n    multipliers: Weights of the torques or accelerations, `(nv,)` or "
            "`(..., nv)`."));
  c.def("aba_hessian", call_aba_hessian, "q"_a, "v"_a, "tau"_a, "multipliers"_a, nb::kw_only(),
        "external"_a = none, "out"_a = none, "check"_a = none,
        nb::sig(
            "def aba_hessian(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, multipliers: "
            "ArrayLike, *, " LIMB_EXTERNAL
            ", out: tuple[Array, ...] | None = None, check: bool | None = None) -> HessianBlocks"),
        Doc("The same for `multipliers . aba(integrate(q, x), v, tau)`; u is tau."
            "\n\nArgs:\n    multipliers: Weights of the torques or accelerations, `(nv,)` or "
            "`(..., nv)`."));
  c.def(
      "rnea_second_derivatives", call_rnea_second, "q"_a, "v"_a, "a"_a, nb::kw_only(),
      "out"_a = none, "check"_a = none,
      nb::sig(
          "def rnea_second_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, "
          "out: tuple[Array, ...] | None = None, check: bool | None = None) -> SecondDerivatives"),
      Doc("All second derivatives of `rnea`: `xy[i, j, k]` is the derivative along direction k of "
          "y\n"
          "of entry (i, j) of the first derivative by x. For small robots."));
  c.def(
      "aba_second_derivatives", call_aba_second, "q"_a, "v"_a, "tau"_a, nb::kw_only(),
      "out"_a = none, "check"_a = none,
      nb::sig(
          "def aba_second_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, "
          "out: tuple[Array, ...] | None = None, check: bool | None = None) -> SecondDerivatives"),
      Doc("The same for `aba`; u is tau."));
}

}  // namespace limb::python
