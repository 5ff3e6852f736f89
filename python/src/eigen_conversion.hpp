#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "python/src/bind.hpp"

/// Conversion between Eigen and NumPy: vectors and matrices of any size from anything that NumPy
/// converts to an array, and to new arrays.
namespace limb::python {

using Numbers = VectorX<double>;
using Dense = MatrixX<double>;

inline bool is_anything(nb::handle) {
  return true;
}
/// Objects with a type in the stubs: anything that NumPy converts to an array, and an array.
class ArrayLike : public nb::object {
  NB_OBJECT_DEFAULT(ArrayLike, nb::object, "ArrayLike", is_anything)
};
class NewArray : public nb::object {
  NB_OBJECT_DEFAULT(NewArray, nb::object, "Array", is_anything)
};

/// A new array.
NewArray array_of(const Numbers& values);
NewArray array_of(const Dense& values);
/// From rows stored one after the other; columns 0: a one-dimensional array.
NewArray array_of(const std::vector<double>& values, Eigen::Index columns);

/// A vector of this size. @throws Error "call: name has shape (2,), expected (3,)".
Numbers vector_of(const char* call, const char* name, nb::handle value, Eigen::Index size);
/// A matrix of this size; -1: any. @throws Error as vector_of.
Dense matrix_of(const char* call, const char* name, nb::handle value, Eigen::Index rows,
                Eigen::Index cols);

/// Any array of one or two dimensions.
Dense read_matrix(const char* call, const char* name, nb::handle source);
/// A single number is repeated `size` times.
Numbers read_vector(const char* call, const char* name, nb::handle source, int size);
/// A vector is the diagonal of a matrix, a number a multiple of the identity.
Dense read_square(const char* call, const char* name, nb::handle source, int size);

/// Index of the text in the list of names. @throws Error that lists them.
int choice_of(const char* call, const char* name, const std::string& text,
              std::initializer_list<const char*> names);
/// limb.results.NAME(...)
template <typename... Values>
nb::object result_of(const char* name, Values&&... values) {
  return nb::module_::import_("limb.results").attr(name)(std::forward<Values>(values)...);
}

}  // namespace limb::python
