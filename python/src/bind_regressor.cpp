#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "limb/dynamics/identify/base_parameters.hpp"
#include "limb/dynamics/identify/log_cholesky_regressor.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

nb::object call_parameters(const Robot& r) {
  const int p = parameter_count(r.model());
  return map("inertial_parameters", r, {}, Result::vector(p), {nb::none()},
             [&](Workspaces&, const double* const*, double* const* to) {
               inertial_parameters(r.model(), Vector(to[0], p));
             });
}

nb::object call_torque(const Robot& r, nb::handle q, nb::handle v, nb::handle a, nb::handle out,
                       nb::handle check) {
  const int p = parameter_count(r.model());
  return map("regressor", r, {position(r, q), velocity(r, v), velocity(r, a, "a")},
             Result::matrix(r.nv(), p), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               torque_regressor(r.model(), kinematics_at(r, w, in, 3), w.regressor(),
                                Matrix(to[0], r.nv(), p));
             });
}

nb::object call_static(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  const int p = parameter_count(r.model());
  return map("static_regressor", r, {position(r, q)}, Result::matrix(r.nv(), p), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               static_regressor(r.model(), kinematics_at(r, w, in, 1), w.regressor(),
                                Matrix(to[0], r.nv(), p));
             });
}

nb::object call_kinetic(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                        nb::handle check) {
  const int p = parameter_count(r.model());
  return map("kinetic_energy_regressor", r, {position(r, q), velocity(r, v)}, Result::vector(p),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               kinetic_energy_regressor(r.model(), kinematics_at(r, w, in, 2), Vector(to[0], p));
             });
}

nb::object call_potential(const Robot& r, nb::handle q, nb::handle out, nb::handle check) {
  const int p = parameter_count(r.model());
  return map("potential_energy_regressor", r, {position(r, q)}, Result::vector(p), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               potential_energy_regressor(r.model(), kinematics_at(r, w, in, 1), Vector(to[0], p));
             });
}

nb::object call_momentum(const Robot& r, nb::handle q, nb::handle v, nb::handle out,
                         nb::handle check) {
  const int p = parameter_count(r.model());
  return map("momentum_regressor", r, {position(r, q), velocity(r, v)}, Result::matrix(6, p),
             {out, check}, [&](Workspaces& w, const double* const* in, double* const* to) {
               momentum_regressor(r.model(), kinematics_at(r, w, in, 2), Jacobian(to[0], 6, p));
             });
}

nb::object call_log_cholesky(const Robot& r) {
  const int p = parameter_count(r.model());
  return map("log_cholesky_parameters", r, {}, Result::vector(p), {nb::none()},
             [&](Workspaces&, const double* const*, double* const* to) {
               log_cholesky_parameters(r.model(), Vector(to[0], p));
             });
}

nb::object call_from_log_cholesky(const Robot& r, nb::handle theta, nb::handle out,
                                  nb::handle check) {
  const int p = parameter_count(r.model());
  return map("parameters_from_log_cholesky", r, {{"theta", theta, p}}, Result::vector(p),
             {out, check}, [&](Workspaces&, const double* const* in, double* const* to) {
               parameters_from_log_cholesky<double>(ConstVector(in[0], p), Vector(to[0], p));
             });
}

nb::object call_by_log_cholesky(const Robot& r, nb::handle theta, nb::handle q, nb::handle v,
                                nb::handle a, nb::handle out, nb::handle check) {
  const int p = parameter_count(r.model());
  return map("regressor_by_log_cholesky", r,
             {position(r, q), velocity(r, v), velocity(r, a, "a"), {"theta", theta, p}},
             Result::matrix(r.nv(), p), {out, check},
             [&](Workspaces& w, const double* const* in, double* const* to) {
               Matrix Y(to[0], r.nv(), p);
               torque_regressor(r.model(), kinematics_at(r, w, in, 3), w.regressor(), Y);
               regressor_by_log_cholesky<double>(ConstVector(in[3], p), Y);
             });
}

nb::object new_array(const MatrixX<double>& M) {
  npy_intp dims[2] = {M.rows(), M.cols()};
  nb::object array = nb::steal(PyArray_SimpleNew(2, dims, NPY_DOUBLE));
  auto* x = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
  Eigen::Map<Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(x, M.rows(), M.cols()) = M;
  return array;
}

nb::object call_base_parameters(const Robot& r, int states, unsigned seed, double tolerance) {
  BaseParameters base;
  {
    const nb::gil_scoped_release released;
    base = base_parameters(r.model(), {.states = states, .seed = seed, .tolerance = tolerance});
  }
  std::vector<std::string> groups;
  for (const auto& group : base.groups) groups.push_back(group.text);
  return result_type("BaseParameters")(groups, new_array(base.K), base.leading,
                                       base.unidentifiable);
}

}  // namespace

void bind_regressor(RobotClass& c) {
  const auto none = nb::none();
  c.def("inertial_parameters", call_parameters, nb::sig("def inertial_parameters(self) -> Array"),
        Doc("Ten numbers per body: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin."));
  c.def(
      "parameter_names", [](const Robot& r) { return parameter_names(r.model()); },
      Doc("Names of the inertial parameters, with the index of the body."));
  c.def("regressor", call_torque, "q"_a, "v"_a, "a"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, " LIMB_OUT),
        Doc("Y with `rnea(q, v, a) = Y @ inertial_parameters()` of the rigid bodies; `(nv, 10 "
            "bodies)`\n"
            "per state."));
  c.def("static_regressor", call_static, "q"_a, nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def static_regressor(self, q: ArrayLike, *, " LIMB_OUT),
        Doc("Y with `gravity(q) = Y p`."));
  c.def("kinetic_energy_regressor", call_kinetic, "q"_a, "v"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def kinetic_energy_regressor(self, q: ArrayLike, v: ArrayLike, *, " LIMB_OUT),
        Doc("y with `kinetic_energy = y p`."));
  c.def("potential_energy_regressor", call_potential, "q"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def potential_energy_regressor(self, q: ArrayLike, *, " LIMB_OUT),
        Doc("y with `potential_energy = y p`."));
  c.def("momentum_regressor", call_momentum, "q"_a, "v"_a, nb::kw_only(), "out"_a = none,
        "check"_a = none,
        nb::sig("def momentum_regressor(self, q: ArrayLike, v: ArrayLike, *, " LIMB_OUT),
        Doc("Y with `spatial_momentum = Y p`."));
  c.def("log_cholesky_parameters", call_log_cholesky,
        nb::sig("def log_cholesky_parameters(self) -> Array"),
        Doc("Ten numbers per body without constraints: every value is physically consistent."));
  c.def("parameters_from_log_cholesky", call_from_log_cholesky, "theta"_a, nb::kw_only(),
        "out"_a = none, "check"_a = none,
        nb::sig("def parameters_from_log_cholesky(self, theta: ArrayLike, *, " LIMB_OUT),
        Doc("Inertial parameters from log-Cholesky parameters."
            "\n\nArgs:\n    theta: Log-Cholesky parameters, ten per body."));
  c.def("regressor_by_log_cholesky", call_by_log_cholesky, "theta"_a, "q"_a, "v"_a, "a"_a,
        nb::kw_only(), "out"_a = none, "check"_a = none,
        nb::sig("def regressor_by_log_cholesky(self, theta: ArrayLike, q: ArrayLike, v: ArrayLike, "
                "a: ArrayLike, *, " LIMB_OUT),
        Doc("Derivatives of `regressor(q, v, a) @ parameters_from_log_cholesky(theta)` by theta."
            "\n\nArgs:\n    theta: Log-Cholesky parameters, ten per body."));
  c.def("base_parameters", call_base_parameters, nb::kw_only(), "states"_a = 0, "seed"_a = 1,
        "tolerance"_a = 1e-9,
        nb::sig("def base_parameters(self, *, states: int = 0, seed: int = 1, tolerance: float = "
                "1e-9) -> BaseParameters"),
        Doc("Base parameters: the combinations of inertial parameters that are identifiable from "
            "torques."
            "\n\nArgs:\n    states: Number of random states whose regressors are stacked.\n    "
            "tolerance: Relative size of a singular value that counts as zero."));
}

}  // namespace limb::python
