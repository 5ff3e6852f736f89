#pragma once

#include <cstdint>

#include "python/src/states.hpp"

/// Conversion of NumPy arrays to rows of numbers, and back.
namespace limb::python {

/// The batch dimensions, which precede those of one state.
struct Leading {
  static constexpr int kMaxRank = 16;
  int rank = 0;
  npy_intp dims[kMaxRank] = {};
  std::int64_t count = 1;
  const char* argument = nullptr;  ///< the argument that they were taken from
};

struct ArrayIn {
  const void* data = nullptr;
  std::int64_t stride = 0;  ///< from one state to the next; 0: the same state for all
  std::int64_t bytes = 0;
  bool is_float = false;
  bool is_weak = false;  ///< a list or number: takes the precision of the others
  nb::object keep;       ///< the copy, if one was needed
};

struct ArrayOut {
  void* data = nullptr;
  std::int64_t size = 1;  ///< entries per state
  std::int64_t bytes = 0;
  nb::object array;  ///< returned to the caller
  nb::object keep;   ///< the memory of an array of another library
};

/// Data of an argument that is one contiguous state of float64; otherwise nullptr. The fast path,
/// tried first.
inline const double* plain_state(const Argument& argument) {
  PyObject* object = argument.value.ptr();
  if (!PyArray_CheckExact(object)) return nullptr;
  auto* x = reinterpret_cast<PyArrayObject*>(object);
  constexpr int kRequired = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
  const bool plain = PyArray_NDIM(x) == 1 && PyArray_DIM(x, 0) == argument.size &&
                     PyArray_TYPE(x) == NPY_DOUBLE && (PyArray_FLAGS(x) & kRequired) == kRequired &&
                     PyArray_ISNOTSWAPPED(x);
  return plain ? static_cast<const double*>(PyArray_DATA(x)) : nullptr;
}

/// Reads an argument, without a copy if it is a C-contiguous array of float64 or float32. Sets the
/// batch dimensions if they are not set yet, and `back` if the array is from another library: it
/// converts results to that library.
/// @throws Error "call: q has shape (5,), expected (7,) or (..., 7)".
ArrayIn read_array(const char* call, const Argument& argument, Leading& leading, nb::object& back);

/// A new array, or `out` if it is not None. @throws Error if `out` has the wrong shape or type.
ArrayOut make_array(const char* call, const Result& result, const Leading& leading, bool as_float,
                    nb::handle out);

[[noreturn]] void fail_shared(const char* call, const Argument& argument);
/// @throws Error if the result shares memory with an argument: inputs are never modified.
void check_no_overlap(const char* call, std::span<const ArrayIn> in, const ArrayOut& out,
                      std::span<const Argument> arguments);

}  // namespace limb::python
