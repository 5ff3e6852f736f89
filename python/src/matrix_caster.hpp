#pragma once

#include "python/src/numpy_api.hpp"

/// Small matrices from anything that NumPy converts to an array of the right shape, and to new
/// arrays.
NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <int kRows, int kCols, int kOptions>
struct type_caster<Eigen::Matrix<double, kRows, kCols, kOptions>> {
  using Small = Eigen::Matrix<double, kRows, kCols, kOptions>;
  NB_TYPE_CASTER(Small, io_name("ArrayLike", "Array"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* made = PyArray_FromAny(source.ptr(), PyArray_DescrFromType(NPY_DOUBLE), 0, 0,
                                     NPY_ARRAY_CARRAY_RO, nullptr);
    if (made == nullptr) {
      PyErr_Clear();
      return false;
    }
    const object keep = steal(made);
    auto* x = reinterpret_cast<PyArrayObject*>(made);
    const bool fits = kCols == 1 ? PyArray_NDIM(x) == 1 && PyArray_DIM(x, 0) == kRows
                                 : PyArray_NDIM(x) == 2 && PyArray_DIM(x, 0) == kRows &&
                                       PyArray_DIM(x, 1) == kCols;
    if (!fits) return false;
    const double* entry = static_cast<const double*>(PyArray_DATA(x));
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kCols; ++j) value(i, j) = *entry++;
    }
    return true;
  }

  static handle from_cpp(const Small& m, rv_policy, cleanup_list*) noexcept {
    npy_intp dims[2] = {kRows, kCols};
    PyObject* made = PyArray_SimpleNew(kCols == 1 ? 1 : 2, dims, NPY_DOUBLE);
    if (made == nullptr) return {};
    double* entry = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made)));
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kCols; ++j) *entry++ = m(i, j);
    }
    return made;
  }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
