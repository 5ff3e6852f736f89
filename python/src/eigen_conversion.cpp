#include "python/src/eigen_conversion.hpp"

#include <algorithm>

namespace limb::python {
namespace {

using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A row-major array of any rank.
struct Array {
  nb::object keep;
  PyArrayObject* x;

  int rank() const { return PyArray_NDIM(x); }
  Eigen::Index dim(int i) const { return PyArray_DIM(x, i); }
  const double* data() const { return static_cast<const double*>(PyArray_DATA(x)); }
  std::string shape() const {
    std::string text = "(";
    for (int i = 0; i < rank(); ++i) {
      text += std::to_string(dim(i)) + (i + 1 < rank() ? ", " : "");
    }
    return text + (rank() == 1 ? ",)" : ")");
  }
};

/// @throws nb::python_error with NumPy's message.
Array array_from(nb::handle value, int max_rank) {
  PyObject* made = PyArray_FromAny(value.ptr(), PyArray_DescrFromType(NPY_DOUBLE), 0, max_rank,
                                   NPY_ARRAY_CARRAY_RO, nullptr);
  if (made == nullptr) throw nb::python_error();
  return {nb::steal(made), reinterpret_cast<PyArrayObject*>(made)};
}

double* new_array(int rank, npy_intp* dims, NewArray& array) {
  PyObject* made = PyArray_SimpleNew(rank, dims, NPY_DOUBLE);
  if (made == nullptr) throw nb::python_error();
  array = nb::steal<NewArray>(made);
  return static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made)));
}

[[noreturn]] void fail_shape(const char* call, const char* name, const Array& found,
                             const std::string& expected) {
  throw Error(std::string(call) + ": " + name + " has shape " + found.shape() + ", expected " +
              expected);
}

}  // namespace

NewArray array_of(const Numbers& values) {
  npy_intp size = values.size();
  NewArray array;
  std::copy(values.begin(), values.end(), new_array(1, &size, array));
  return array;
}

NewArray array_of(const Dense& values) {
  npy_intp dims[2] = {values.rows(), values.cols()};
  NewArray array;
  double* to = new_array(2, dims, array);
  Eigen::Map<ByRows>(to, values.rows(), values.cols()) = values;
  return array;
}

NewArray array_of(const std::vector<double>& values, Eigen::Index columns) {
  npy_intp dims[2] = {static_cast<npy_intp>(values.size()), columns};
  if (columns > 0) dims[0] /= columns;
  NewArray array;
  std::copy(values.begin(), values.end(), new_array(columns > 0 ? 2 : 1, dims, array));
  return array;
}

Numbers vector_of(const char* call, const char* name, nb::handle value, Eigen::Index size) {
  const Array found = array_from(value, 0);
  if (found.rank() != 1 || found.dim(0) != size) {
    fail_shape(call, name, found, "(" + std::to_string(size) + ",)");
  }
  return Eigen::Map<const Numbers>(found.data(), size);
}

Dense matrix_of(const char* call, const char* name, nb::handle value, Eigen::Index rows,
                Eigen::Index cols) {
  const Array found = array_from(value, 0);
  const auto fits = [](Eigen::Index size, Eigen::Index expected) {
    return expected < 0 || size == expected;
  };
  if (found.rank() != 2 || !fits(found.dim(0), rows) || !fits(found.dim(1), cols)) {
    const auto text = [](Eigen::Index n) { return n < 0 ? std::string("n") : std::to_string(n); };
    fail_shape(call, name, found, "(" + text(rows) + ", " + (cols < 0 ? "m" : text(cols)) + ")");
  }
  return Eigen::Map<const ByRows>(found.data(), found.dim(0), found.dim(1));
}

Dense read_matrix(const char* call, const char* name, nb::handle source) {
  try {
    const Array found = array_from(source, 2);
    return Eigen::Map<const ByRows>(found.data(), found.rank() > 0 ? found.dim(0) : 1,
                                    found.rank() > 1 ? found.dim(1) : 1);
  } catch (nb::python_error&) {
    fail(call, name, nb::cast<std::string>(nb::repr(source)), "an array of numbers");
  }
}

Numbers read_vector(const char* call, const char* name, nb::handle source, int size) {
  const Dense m = read_matrix(call, name, source);
  if (m.size() == 1 && size != 1) return Numbers::Constant(size, m(0, 0));
  if (m.cols() != 1) check_shape(call, name, m.rows(), m.cols(), size, 1);
  check_size(call, name, m.rows(), size);
  return m.col(0);
}

Dense read_square(const char* call, const char* name, nb::handle source, int size) {
  const Dense m = read_matrix(call, name, source);
  if (m.rows() == size && m.cols() == size) return m;
  return read_vector(call, name, source, size).asDiagonal();
}

int choice_of(const char* call, const char* name, const std::string& text,
              std::initializer_list<const char*> names) {
  const auto* found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  std::string all;
  for (const char* each : names) all += std::string(all.empty() ? "'" : ", '") + each + "'";
  fail(call, name, "'" + text + "'", "one of " + all);
}

}  // namespace limb::python
