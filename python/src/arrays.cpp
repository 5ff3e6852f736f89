#include "python/src/arrays.hpp"

#include <algorithm>
#include <cmath>

#include "limb/base/check.hpp"
#include "limb/dynamics/arguments.hpp"

namespace limb::python {
namespace {

PyArrayObject* array_of(nb::handle x) {
  return reinterpret_cast<PyArrayObject*>(x.ptr());
}

/// str(x)
std::string python_str(const nb::object& x) {
  return nb::cast<std::string>(nb::steal(PyObject_Str(x.ptr())));
}

std::string full_type_name(nb::handle x) {
  const nb::handle type = x.type();
  const std::string module = python_str(type.attr("__module__"));
  const std::string name = python_str(type.attr("__name__"));
  return module == "builtins" ? name : module + "." + name;
}

/// "(7,)", "(5, 7)", "()".
std::string shape_text(const std::vector<std::string>& parts) {
  std::string text = "(";
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : ", ") + parts[i];
  return text + (parts.size() == 1 && parts[0] != "..." ? ",)" : ")");
}
std::string shape_text(const npy_intp* dims, int rank) {
  std::vector<std::string> parts;
  for (int i = 0; i < rank; ++i) parts.push_back(std::to_string(dims[i]));
  return shape_text(parts);
}

/// Rank and dimensions of one state of an argument.
int state_dims(const Argument& argument, npy_intp* dims) {
  switch (argument.kind) {
    case Argument::Kind::number:
      return 0;
    case Argument::Kind::matrix:
      dims[0] = argument.rows;
      dims[1] = argument.size / argument.rows;
      return 2;
    default:
      dims[0] = argument.size;
      return 1;
  }
}

[[noreturn]] void fail_shape(const char* call, const Argument& argument, PyArrayObject* x,
                             const Leading& leading) {
  npy_intp dims[2] = {};
  const int rank = state_dims(argument, dims);
  std::vector<std::string> batch;
  std::string hint;
  if (leading.rank == 0) {
    batch.push_back("...");
    if (argument.kind == Argument::Kind::position) hint = kSizeHint;
  } else {
    for (int i = 0; i < leading.rank; ++i) batch.push_back(std::to_string(leading.dims[i]));
    hint = "batch dimensions broadcast with those of " + std::string(leading.argument);
  }
  for (int i = 0; i < rank; ++i) batch.push_back(std::to_string(dims[i]));
  throw Error(std::string(call) + ": " + argument.name + " has shape " +
              shape_text(PyArray_DIMS(x), PyArray_NDIM(x)) + ", expected " +
              shape_text(dims, rank) + " or " + shape_text(batch) +
              (hint.empty() ? "" : " (" + hint + ")"));
}

/// Broadcasts the dimensions of a batch with those of another argument; false if they do not fit.
bool broadcast(const npy_intp* dims, int rank, const char* argument, Leading& leading) {
  if (leading.argument == nullptr) leading.argument = argument;
  Leading merged = leading;
  merged.rank = std::max(rank, leading.rank);
  for (int i = 1; i <= merged.rank; ++i) {  // from the last dimension
    const npy_intp a = i <= leading.rank ? leading.dims[leading.rank - i] : 1;
    const npy_intp b = i <= rank ? dims[rank - i] : 1;
    if (a != b && a != 1 && b != 1) return false;
    merged.dims[merged.rank - i] = a == 1 ? b : a;
  }
  leading = merged;
  return true;
}

bool is_direct(PyArrayObject* x) {
  const int type = PyArray_TYPE(x);
  return (type == NPY_DOUBLE || type == NPY_FLOAT) && PyArray_IS_C_CONTIGUOUS(x) &&
         PyArray_ISALIGNED(x) && PyArray_ISNOTSWAPPED(x);
}

/// Converts an array of another library, or numbers in lists.
nb::object imported(const char* call, const Argument& argument, nb::object& back, bool& weak) {
  const nb::handle x = argument.value;
  if (nb::hasattr(x, "__dlpack__")) {
    const nb::object pair =
        nb::module_::import_("limb._arrays").attr("to_host")(call, argument.name, x);
    if (!back.is_valid() && !pair[1].is_none()) back = pair[1];
    return pair[0];
  }
  weak = true;
  return nb::borrow(x);
}

nb::object converted(const char* call, const Argument& argument, nb::handle x) {
  const bool is_array = PyArray_Check(x.ptr());
  const int type = is_array && PyArray_TYPE(array_of(x)) == NPY_FLOAT ? NPY_FLOAT : NPY_DOUBLE;
  PyArray_Descr* descr = PyArray_DescrFromType(type);
  PyObject* made = PyArray_FromAny(x.ptr(), descr, 0, 0, NPY_ARRAY_CARRAY_RO, nullptr);
  if (made != nullptr) return nb::steal(made);
  PyErr_Clear();
  const std::string found =
      is_array ? "an array of " + python_str(x.attr("dtype")) : "a " + full_type_name(x);
  fail(call, argument.name, found, "numbers that fit into float64");
}

}  // namespace

ArrayIn read_array(const char* call, const Argument& argument, Leading& leading, nb::object& back) {
  ArrayIn in;
  nb::handle value = argument.value;
  if (!PyArray_Check(value.ptr())) {
    in.keep = imported(call, argument, back, in.is_weak);
    value = in.keep;
  }
  if (!PyArray_Check(value.ptr()) || !is_direct(array_of(value))) {
    in.keep = converted(call, argument, value);
    value = in.keep;
  }
  PyArrayObject* x = array_of(value);
  const int rank = PyArray_NDIM(x);
  const npy_intp* dims = PyArray_DIMS(x);
  npy_intp expected[2] = {};
  const int own = state_dims(argument, expected);
  const int before = rank - own;
  bool fits = before >= 0 && before <= Leading::kMaxRank;
  for (int i = 0; fits && i < own; ++i) fits = dims[before + i] == expected[i];
  if (!fits) fail_shape(call, argument, x, before > 0 ? Leading{} : leading);
  if (before > 0 && !broadcast(dims, before, argument.name, leading)) {
    fail_shape(call, argument, x, leading);
  }
  in.rank = before;
  in.dims = dims;
  in.data = PyArray_DATA(x);
  in.bytes = PyArray_NBYTES(x);
  in.is_float = PyArray_TYPE(x) == NPY_FLOAT;
  return in;
}

void set_strides(const Argument& argument, const Leading& leading, ArrayIn& in) {
  const std::int64_t size = argument.kind == Argument::Kind::number ? 1 : argument.size;
  const int missing = leading.rank - in.rank;
  if (missing == 0 && std::equal(in.dims, in.dims + in.rank, leading.dims)) {
    in.stride = in.rank > 0 ? size : 0;
    return;
  }
  if (std::all_of(in.dims, in.dims + in.rank, [](npy_intp n) { return n == 1; })) return;
  in.strides.assign(static_cast<std::size_t>(leading.rank), 0);
  std::int64_t step = size;
  for (int i = in.rank - 1; i >= 0; --i) {
    if (in.dims[i] != 1) in.strides[static_cast<std::size_t>(missing + i)] = step;
    step *= in.dims[i];
  }
}

bool should_check(const char* call, nb::handle check, bool is_batch) {
  if (check.is_none()) return !is_batch;
  if (check.ptr() == Py_True) return true;
  if (check.ptr() == Py_False) return false;
  fail(call, "check", nb::cast<std::string>(nb::repr(check)),
       "True, False, or None: only single states are checked");
}

std::string entry_text(const Argument& argument, const ArrayIn& in, const Leading& leading,
                       std::int64_t state, int k) {
  std::vector<std::int64_t> index;
  for (int i = leading.rank - 1; i >= 0; --i) {
    const int at = i - (leading.rank - in.rank);
    if (at >= 0) index.insert(index.begin(), in.dims[at] == 1 ? 0 : state % leading.dims[i]);
    state /= leading.dims[i];
  }
  if (argument.kind == Argument::Kind::matrix) {
    const int cols = argument.size / argument.rows;
    index.insert(index.end(), {k / cols, k % cols});
  } else if (argument.kind != Argument::Kind::number) {
    index.push_back(k);
  }
  std::string text;
  for (const std::int64_t i : index) text += (text.empty() ? "" : ", ") + std::to_string(i);
  return argument.name + (text.empty() ? "" : "[" + text + "]");
}

void check_finite_state(const char* call, const Argument& argument, const ArrayIn& in,
                        const Leading& leading, std::int64_t state, const double* numbers) {
  const int size = argument.kind == Argument::Kind::number ? 1 : argument.size;
  if (all_finite(numbers, size)) return;
  int k = 0;
  while (std::isfinite(numbers[k])) ++k;
  fail(call, entry_text(argument, in, leading, state, k), to_text(numbers[k]), "a finite number");
}

ArrayOut make_array(const char* call, const Result& result, const Leading& leading, bool as_float,
                    nb::handle out) {
  npy_intp dims[Leading::kMaxRank + 3];
  int rank = leading.rank;
  std::copy(leading.dims, leading.dims + rank, dims);
  for (int i = 0; i < result.rank; ++i) dims[rank++] = result.dims[static_cast<std::size_t>(i)];
  const int type = as_float ? NPY_FLOAT : NPY_DOUBLE;
  ArrayOut made;
  made.size = result.size();
  if (out.is_none()) {
    PyObject* array = PyArray_SimpleNew(rank, dims, type);
    if (array == nullptr) throw nb::python_error();
    made.array = nb::steal(array);
  } else {
    made.array = nb::borrow(out);
    if (!PyArray_Check(out.ptr())) {
      if (!nb::hasattr(out, "__dlpack__")) {
        fail(call, "out", "a " + full_type_name(out), "a NumPy array, or one with DLPack support");
      }
      made.keep = nb::module_::import_("limb._arrays").attr("to_fill")(call, out);
      out = made.keep;
    }
    PyArrayObject* x = array_of(out);
    if (PyArray_NDIM(x) != rank || !std::equal(dims, dims + rank, PyArray_DIMS(x))) {
      throw Error(std::string(call) + ": out has shape " +
                  shape_text(PyArray_DIMS(x), PyArray_NDIM(x)) + ", expected " +
                  shape_text(dims, rank));
    }
    if (PyArray_TYPE(x) != type || !is_direct(x)) {
      fail(call, "out",
           python_str(out.attr("dtype")) + (PyArray_IS_C_CONTIGUOUS(x) ? "" : ", not C-contiguous"),
           std::string(as_float ? "float32" : "float64") + ", C-contiguous");
    }
    if (!PyArray_ISWRITEABLE(x)) fail(call, "out", "read-only", "a writable array");
  }
  PyArrayObject* memory = array_of(made.keep.is_valid() ? made.keep : made.array);
  made.data = PyArray_DATA(memory);
  made.bytes = PyArray_NBYTES(memory);
  return made;
}

void fail_shared(const char* call, const Argument& argument) {
  throw Error(std::string(call) + ": out shares memory with " + argument.name);
}

void check_no_overlap(const char* call, std::span<const ArrayIn> in, const ArrayOut& out,
                      std::span<const Argument> arguments) {
  const char* first = static_cast<const char*>(out.data);
  for (std::size_t k = 0; k < in.size(); ++k) {
    const char* data = static_cast<const char*>(in[k].data);
    if (data < first + out.bytes && first < data + in[k].bytes) {
      fail_shared(call, arguments[k]);
    }
  }
}

}  // namespace limb::python
