#include "limb/dynamics/identify/parameter_derivatives.hpp"
#include "limb/dynamics/identify/regressor.hpp"
#include "python/src/bind.hpp"
#include "python/src/contact_set.hpp"

namespace limb::python {
namespace {

nb::object call_constrained(const Robot& r, nb::handle q, nb::handle v, nb::handle tau,
                            nb::handle contacts, nb::handle external, nb::handle out,
                            nb::handle check) {
  const char* name = "constrained_derivatives";
  std::unique_ptr<ContactSet> made;
  const ContactSet& set = contacts_of(name, r, contacts, made);
  const int n = r.nv(), rows = set.set().rows();
  External wrenches(name, r, external);
  const Result by_n = Result::matrix(n, n), by_rows = Result::matrix(rows, n);
  const Result results[] = {
      Result::vector(n), Result::vector(rows), by_n, by_n, by_n, by_rows, by_rows, by_rows};
  return map({name,
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, tau, "tau")}),
              results,
              {out, check},
              result_type("ConstrainedDerivatives")},
             [&](Workspaces&, const double* const* in, double* const* to) {
               auto buffers = set.derivatives();
               ConstrainedDerivatives<double>& d = (*buffers).motion;
               const auto report = constrained_derivatives(
                   r.model(), set.set(), (*buffers).work, ConstVector(in[0], r.nq()),
                   ConstVector(in[1], n), ConstVector(in[2], n), wrenches.read(in), d,
                   {r.effects()});
               if (!report.ok()) r.fail_singular(name, report.velocity);
               Vector(to[0], n) = d.a;
               Vector(to[1], rows) = d.f.head(rows);
               const MatrixX<double>* parts[] = {&d.da_dq, &d.da_dv, &d.da_dtau,
                                                 &d.df_dq, &d.df_dv, &d.df_dtau};
               for (std::size_t k = 0; k < std::size(parts); ++k) {
                 const int height = k < 3 ? n : rows;
                 Matrix(to[k + 2], height, n) = parts[k]->topRows(height);
               }
             });
}

nb::object call_impact(const Robot& r, nb::handle q, nb::handle v, nb::handle contacts,
                       nb::handle restitution, nb::handle out, nb::handle check) {
  const char* name = "impact_derivatives";
  std::unique_ptr<ContactSet> made;
  const ContactSet& set = contacts_of(name, r, contacts, made);
  const int n = r.nv(), rows = set.set().rows();
  const Result by_n = Result::matrix(n, n), by_rows = Result::matrix(rows, n);
  const Result results[] = {Result::vector(n), Result::vector(rows), by_n, by_n, by_rows, by_rows};
  const Argument arguments[] = {
      position(r, q), velocity(r, v), {"restitution", restitution, 1, Argument::Kind::number}};
  return map({name, r, arguments, results, {out, check}, result_type("ImpactDerivatives")},
             [&](Workspaces&, const double* const* in, double* const* to) {
               auto buffers = set.derivatives();
               ImpactDerivatives<double>& d = (*buffers).impact;
               const auto report = impact_derivatives(
                   r.model(), set.set(), (*buffers).work, ConstVector(in[0], r.nq()),
                   ConstVector(in[1], n), ConstVector(in[2], 1), d, {r.effects()});
               if (!report.ok()) r.fail_singular(name, report.velocity);
               Vector(to[0], n) = d.v;
               Vector(to[1], rows) = d.impulse.head(rows);
               Matrix(to[2], n, n) = d.dv_dq;
               Matrix(to[3], n, n) = d.dv_dv;
               Matrix(to[4], rows, n) = d.dimpulse_dq.topRows(rows);
               Matrix(to[5], rows, n) = d.dimpulse_dv.topRows(rows);
             });
}

nb::object call_aba_parameters(const Robot& r, nb::handle q, nb::handle v, nb::handle tau,
                               nb::handle external, nb::handle out, nb::handle check) {
  const char* name = "aba_parameter_derivatives";
  const int n = r.nv(), p = parameter_count(r.model());
  External wrenches(name, r, external);
  const Result result = Result::matrix(n, p);
  return map({name,
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, tau, "tau")}),
              {&result, 1},
              {out, check},
              {}},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               VectorX<double> a(n);
               const FactorReport report = aba_parameter_derivatives(
                   r.model(), w.workspace<ParameterDerivativeWorkspace<double>>(),
                   ConstVector(in[0], r.nq()), ConstVector(in[1], n), ConstVector(in[2], n),
                   wrenches.read(in), a, Matrix(to[0], n, p), r.effects());
               if (!report.ok()) r.fail_singular(name, report.velocity);
             });
}

}  // namespace

void bind_contact_derivatives(RobotClass& c) {
  const auto none = nb::none();
  c.def(
      "constrained_derivatives", call_constrained, "q"_a, "v"_a, "tau"_a, "contacts"_a,
      nb::kw_only(), "external"_a = none, "out"_a = none, "check"_a = none,
      nb::sig("def constrained_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, "
              "contacts: Contacts, *, " LIMB_EXTERNAL
              ", out: tuple[Array, ...] | None = None, check: bool | None = None) -> "
              "ConstrainedDerivatives"),
      Doc("`constrained_forward_dynamics` and its derivatives by tangents of q, by v and by tau."));
  c.def("impact_derivatives", call_impact, "q"_a, "v"_a, "contacts"_a, "restitution"_a = 0.0,
        nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def impact_derivatives(self, q: ArrayLike, v: ArrayLike, contacts: Contacts, "
                "restitution: ArrayLike = 0.0, *, out: tuple[Array, ...] | None = None, check: "
                "bool | None = None) -> "
                "ImpactDerivatives"),
        Doc("`impact` and its derivatives by tangents of q and by the velocities before it."
            "\n\nArgs:\n    restitution: Ratio of the normal speeds after and before the impact, a "
            "number or `(...)`."));
  c.def("aba_parameter_derivatives", call_aba_parameters, "q"_a, "v"_a, "tau"_a, nb::kw_only(),
        "external"_a = none, "out"_a = none, "check"_a = none,
        nb::sig("def aba_parameter_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, "
                "*, " LIMB_EXTERNAL ", " LIMB_OUT),
        Doc("Derivatives of `forward_dynamics` by the inertial parameters; those of "
            "`inverse_dynamics` "
            "are\n"
            "`regressor`."));
}

}  // namespace limb::python
