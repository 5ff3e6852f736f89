#pragma once

#include <cstdint>

#include "python/src/states.hpp"

/// NumPy arrays as rows of numbers, and back.
namespace limb::python {

/// The dimensions before those of one state.
struct Leading {
  static constexpr int kMost = 16;
  int rank = 0;
  npy_intp dims[kMost] = {};
  std::int64_t count = 1;
  const char* whose = nullptr;  ///< the argument that they are of
};

struct ArrayIn {
  const void* data = nullptr;
  std::int64_t stride = 0;  ///< numbers from one state to the next; 0: the same for all
  std::int64_t bytes = 0;
  bool is_float = false;
  bool is_weak = false;  ///< a list or number: follows the others' precision
  nb::object keep;       ///< a copy, where one had to be made
};

struct ArrayOut {
  void* data = nullptr;
  std::int64_t size = 1;  ///< numbers of one state
  std::int64_t bytes = 0;
  nb::object array;  ///< what the caller gets
  nb::object keep;   ///< the memory of an array of another library
};

/// The numbers of an argument that is one state of float64, laid out as wanted; else nullptr. The
/// quick look before all others.
inline const double* plain_state(const Argument& argument) {
  PyObject* object = argument.value.ptr();
  if (!PyArray_CheckExact(object)) return nullptr;
  auto* x = reinterpret_cast<PyArrayObject*>(object);
  constexpr int kWanted = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
  const bool plain = PyArray_NDIM(x) == 1 && PyArray_DIM(x, 0) == argument.size &&
                     PyArray_TYPE(x) == NPY_DOUBLE && (PyArray_FLAGS(x) & kWanted) == kWanted &&
                     PyArray_ISNOTSWAPPED(x);
  return plain ? static_cast<const double*>(PyArray_DATA(x)) : nullptr;
}

/// The argument's numbers, without a copy if it is a C-contiguous array of float64 or float32. Sets
/// the leading dimensions if they were none, and `back` if results shall be of another library.
/// @throws Error "call: q has shape (5,), expected (7,) or (..., 7)".
ArrayIn read_array(const char* call, const Argument& argument, Leading& leading, nb::object& back);

/// A new array, or `out` if it is not None. @throws Error if that does not fit.
ArrayOut make_array(const char* call, const Result& result, const Leading& leading, bool as_float,
                    nb::handle out);

[[noreturn]] void fail_shared(const char* call, const Argument& argument);
/// @throws Error if the result shares memory with an argument: inputs are never changed.
void check_apart(const char* call, std::span<const ArrayIn> in, const ArrayOut& out,
                 std::span<const Argument> arguments);

}  // namespace limb::python
