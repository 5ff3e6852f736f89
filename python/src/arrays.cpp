#include "python/src/arrays.hpp"

#include <algorithm>

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
    hint = "as many states as " + std::string(leading.argument) + " has";
  }
  for (int i = 0; i < rank; ++i) batch.push_back(std::to_string(dims[i]));
  throw Error(std::string(call) + ": " + argument.name + " has shape " +
              shape_text(PyArray_DIMS(x), PyArray_NDIM(x)) + ", expected " +
              shape_text(dims, rank) + " or " + shape_text(batch) +
              (hint.empty() ? "" : " (" + hint + ")"));
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
  if (before > 0) {
    if (leading.rank == 0) {
      leading.rank = before;
      leading.argument = argument.name;
      for (int i = 0; i < before; ++i) {
        leading.dims[i] = dims[i];
        leading.count *= dims[i];
      }
    } else if (before != leading.rank || !std::equal(dims, dims + before, leading.dims)) {
      fail_shape(call, argument, x, leading);
    }
    in.stride = argument.kind == Argument::Kind::number ? 1 : argument.size;
  }
  in.data = PyArray_DATA(x);
  in.bytes = PyArray_NBYTES(x);
  in.is_float = PyArray_TYPE(x) == NPY_FLOAT;
  return in;
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
