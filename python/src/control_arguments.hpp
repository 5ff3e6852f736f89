#pragma once

#include <algorithm>
#include <string>

#include "limb/control/controlled_robot.hpp"
#include "python/src/bind.hpp"

/// How controllers take arrays and give them back.
namespace limb::python {

void bind_control(nb::module_& m);
void bind_frame_control(nb::module_& m);

using Dense = MatrixX<double>;
using Numbers = VectorX<double>;

/// Any array of one or two dimensions; one number stands for `size` of them where that is given.
inline Dense read_matrix(const char* call, const char* name, nb::handle source) {
  PyObject* made = PyArray_FromAny(source.ptr(), PyArray_DescrFromType(NPY_DOUBLE), 0, 2,
                                   NPY_ARRAY_CARRAY_RO, nullptr);
  if (made == nullptr) {
    PyErr_Clear();
    fail(call, name, nb::cast<std::string>(nb::repr(source)), "an array of numbers");
  }
  const nb::object keep = nb::steal(made);
  auto* x = reinterpret_cast<PyArrayObject*>(made);
  const int rank = PyArray_NDIM(x);
  const Eigen::Index rows = rank > 0 ? PyArray_DIM(x, 0) : 1,
                     cols = rank > 1 ? PyArray_DIM(x, 1) : 1;
  using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const ByRows>(static_cast<const double*>(PyArray_DATA(x)), rows, cols);
}
inline Numbers read_vector(const char* call, const char* name, nb::handle source, int size) {
  const Dense m = read_matrix(call, name, source);
  if (m.size() == 1 && size != 1) return Numbers::Constant(size, m(0, 0));
  if (m.cols() != 1) check_shape(call, name, m.rows(), m.cols(), size, 1);
  check_size(call, name, m.rows(), size);
  return m.col(0);
}
/// A vector is the diagonal of a matrix, a number a multiple of the identity.
inline Dense read_square(const char* call, const char* name, nb::handle source, int size) {
  const Dense m = read_matrix(call, name, source);
  if (m.rows() == size && m.cols() == size) return m;
  return read_vector(call, name, source, size).asDiagonal();
}

inline nb::object array_of(const Numbers& x) {
  npy_intp size = x.size();
  PyObject* made = PyArray_SimpleNew(1, &size, NPY_DOUBLE);
  if (made == nullptr) throw nb::python_error();
  std::copy(x.begin(), x.end(),
            static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made))));
  return nb::steal(made);
}
inline nb::object array_of(const Dense& m) {
  npy_intp dims[2] = {m.rows(), m.cols()};
  PyObject* made = PyArray_SimpleNew(2, dims, NPY_DOUBLE);
  if (made == nullptr) throw nb::python_error();
  double* entry = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made)));
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    for (Eigen::Index j = 0; j < m.cols(); ++j) *entry++ = m(i, j);
  }
  return nb::steal(made);
}

inline ControlledRobot robot_of(const Robot& r, nb::handle limits) {
  if (limits.is_none()) return ControlledRobot(r.model());
  return {r.model(), MotorLimits(r.model(), read_vector("limits", "limits", limits, r.nv()))};
}

inline Numbers finish(const char* call, const StepReport& report, const Numbers& tau,
                      int& saturated) {
  using Problem = StepReport::Problem;
  if (report.problem == Problem::singular) fail_computation(call, "the mass matrix is singular");
  if (report.problem == Problem::not_finite) {
    throw Error(std::string(call) + ": a measurement or reference is no finite number");
  }
  if (report.problem == Problem::wrong_size) {
    throw Error(std::string(call) + ": a vector has not the robot's size");
  }
  saturated = report.saturated;
  return tau;
}

}  // namespace limb::python
