#pragma once

#include <bit>
#include <cstdint>

#include "python/src/states.hpp"

/// Conversion of NumPy arrays to rows of numbers, and back.
namespace limb::python {

/// The batch dimensions, which precede those of one state: those of all arguments, broadcast as in
/// NumPy.
struct Leading {
  static constexpr int kMaxRank = 16;
  int rank = 0;
  npy_intp dims[kMaxRank] = {};
  const char* argument = nullptr;  ///< the first argument with batch dimensions

  std::int64_t count() const {
    std::int64_t product = 1;
    for (int i = 0; i < rank; ++i) product *= dims[i];
    return product;
  }
};

struct ArrayIn {
  const void* data = nullptr;
  std::int64_t bytes = 0;
  bool is_float = false;
  bool is_weak = false;            ///< a list or number: takes the precision of the others
  int rank = 0;                    ///< of its own batch dimensions
  const npy_intp* dims = nullptr;  ///< they
  nb::object keep;                 ///< the copy, if one was needed

  // Set by set_strides(), when the batch dimensions of all arguments are known.
  std::int64_t stride = 0;  ///< from one state to the next; 0: the same state for all
  /// Along each dimension of the batch, if the array has some of them but not all.
  std::vector<std::int64_t> strides;

  bool has_all_states() const { return strides.empty() && stride > 0; }
  /// Numbers from the start to a state of the batch.
  std::int64_t offset(std::int64_t state, const Leading& leading) const {
    if (strides.empty()) return state * stride;
    std::int64_t at = 0;
    for (int i = leading.rank - 1; i >= 0; --i) {
      at += state % leading.dims[i] * strides[static_cast<std::size_t>(i)];
      state /= leading.dims[i];
    }
    return at;
  }
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

/// Reads an argument, without a copy if it is a C-contiguous array of float64 or float32.
/// Broadcasts the batch dimensions with those of the argument, and sets `back` if the array is from
/// another library: it converts results to that library.
/// @throws Error "call: q has shape (5,), expected (7,) or (..., 7)".
ArrayIn read_array(const char* call, const Argument& argument, Leading& leading, nb::object& back);
/// Sets the strides of an argument in a batch whose dimensions are final.
void set_strides(const Argument& argument, const Leading& leading, ArrayIn& in);

/// Whether the numbers are checked to be finite: `check` is None (only single states are), True or
/// False. @throws Error for anything else.
bool should_check(const char* call, nb::handle check, bool is_batch);
/// @throws Error "call: v[2, 3] is nan, expected a finite number" for the state of the batch.
void check_finite_state(const char* call, const Argument& argument, const ArrayIn& in,
                        const Leading& leading, std::int64_t state, const double* numbers);
/// "q[2, 3]": number k of a state in the argument as given by the caller.
std::string entry_text(const Argument& argument, const ArrayIn& in, const Leading& leading,
                       std::int64_t state, int k);

/// Whether all numbers are finite. Tests the bits: exact and without a chain of additions.
inline bool all_finite(const double* x, int size) {
  constexpr std::uint64_t kExponent = 0x7ff0'0000'0000'0000;
  bool finite = true;
  for (int i = 0; i < size; ++i) {
    finite &= (std::bit_cast<std::uint64_t>(x[i]) & kExponent) != kExponent;
  }
  return finite;
}

/// A new array, or `out` if it is not None. @throws Error if `out` has the wrong shape or type.
ArrayOut make_array(const char* call, const Result& result, const Leading& leading, bool as_float,
                    nb::handle out);

/// The named tuple of several results, whose references it takes. @param type  a NamedTuple, or a
/// function that makes one.
nb::object named_tuple(nb::handle type, std::span<nb::object> values);

[[noreturn]] void fail_shared(const char* call, const Argument& argument);
/// @throws Error if the result shares memory with an argument: inputs are never modified.
void check_no_overlap(const char* call, std::span<const ArrayIn> in, const ArrayOut& out,
                      std::span<const Argument> arguments);

}  // namespace limb::python
