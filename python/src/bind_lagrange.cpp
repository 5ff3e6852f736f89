#include "limb/dynamics/lagrange/torque_budget.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

nb::object call_coriolis(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                         nb::handle check) {
  const int n = r.nv();
  return map("coriolis_matrix", r, {position(r, q), velocity(r, v)}, Result::matrix(n, n),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               coriolis_matrix(r.model(), kinematics_at(r, w, in, 2), w.lagrange(),
                               Matrix(to[0], n, n));
             });
}

nb::object call_christoffel(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  const int n = r.nv();
  return map("christoffel", r, {position(r, q)}, Result::tensor(n, n, n), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               ChristoffelTensor<double> gamma(n);
               christoffel(r.model(), kinematics_at(r, w, in, 1), w.lagrange(), gamma);
               double* entry = to[0];
               for (int i = 0; i < n; ++i) {
                 for (int j = 0; j < n; ++j) {
                   for (int k = 0; k < n; ++k) *entry++ = gamma(i, j, k);
                 }
               }
             });
}

nb::object call_split(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  const int n = r.nv(), pairs = n * (n - 1) / 2;
  return map("centrifugal_coriolis_split", r, {position(r, q)},
             {Result::matrix(n, n), Result::matrix(n, pairs)}, "VelocitySplit", {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               centrifugal_coriolis_split(r.model(), kinematics_at(r, w, in, 1), w.lagrange(),
                                          Matrix(to[0], n, n), Matrix(to[1], n, pairs));
             });
}

nb::object call_budget(const Robot& r, nb::handle q, nb::handle v, nb::handle a,
                       nb::handle external, nb::handle out, nb::handle check) {
  const int n = r.nv();
  External wrenches("torque_budget", r, external);
  const std::vector<Result> results(9, Result::vector(n));
  const nb::handle type = result_type("TorqueBudget");
  return map({"torque_budget",
              r,
              wrenches.join({position(r, q), velocity(r, v), velocity(r, a, "a")}),
              results,
              {out, check},
              type},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               TorqueBudget<double> budget(r.model());
               torque_budget(r.model(), kinematics_at(r, w, in, 3), w.budget(), wrenches.read(in),
                             budget, r.effects());
               const VectorX<double>* parts[] = {
                   &budget.inertial, &budget.centrifugal, &budget.coriolis,
                   &budget.gravity,  &budget.damping,     &budget.friction,
                   &budget.armature, &budget.external,    &budget.tau};
               for (std::size_t k = 0; k < std::size(parts); ++k) Vector(to[k], n) = *parts[k];
             });
}

}  // namespace

void bind_lagrange(RobotClass& c) {
  const auto none = nb::none();
  c.def("coriolis_matrix", call_coriolis, "q"_a, "v"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, " LIMB_OUT),
        Doc("C(q, v) from the Christoffel symbols: `C v = h - g`, and `dM/dt - 2 C` is\n"
            "skew-symmetric. Rigid bodies only."));
  c.def("christoffel", call_christoffel, "q"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def christoffel(self, q: ArrayLike, *, " LIMB_OUT),
        Doc("Christoffel symbols of the first kind, `(nv, nv, nv)` per state:\n"
            "`C[i, j] = sum_k Gamma[i, j, k] v[k]`."));
  c.def("centrifugal_coriolis_split", call_split, "q"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig(
            "def centrifugal_coriolis_split(self, q: ArrayLike, *, "
            "out: tuple[Array, Array] | None = None, check: bool | None = None) -> VelocitySplit"),
        Doc("`C v = squares @ v**2 + products @ [v1 v2, v1 v3, ..., v2 v3, ...]`."));
  c.def(
      "torque_budget", call_budget, "q"_a, "v"_a, "a"_a, nb::kw_only(), "external"_a = none,
      "out"_a = none, "check"_a = none,
      nb::sig("def torque_budget(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, " LIMB_EXTERNAL
              ", out: tuple[Array, ...] | None = None, check: bool | None = None) -> TorqueBudget"),
      Doc("Inverse dynamics split into its terms."));
}

}  // namespace limb::python
