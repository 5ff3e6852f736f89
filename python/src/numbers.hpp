#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "python/src/bind.hpp"

/// Vectors and matrices of any size from what NumPy makes arrays of, and to new arrays.
namespace limb::python {

using Numbers = VectorX<double>;
using Dense = MatrixX<double>;

inline bool is_anything(nb::handle) {
  return true;
}
/// Objects whose type is known to the stubs: what NumPy makes an array of, and an array.
class ArrayLike : public nb::object {
  NB_OBJECT_DEFAULT(ArrayLike, nb::object, "ArrayLike", is_anything)
};
class NewArray : public nb::object {
  NB_OBJECT_DEFAULT(NewArray, nb::object, "Array", is_anything)
};

/// A new array.
NewArray array_of(const Numbers& values);
NewArray array_of(const Dense& values);
/// Of rows one after the other; columns 0: one dimension.
NewArray array_of(const std::vector<double>& values, Eigen::Index columns);

/// A vector of this size. @throws Error "call: name has shape (2,), expected (3,)".
Numbers vector_of(const char* call, const char* name, nb::handle value, Eigen::Index size);
/// A matrix of this size; -1: any. @throws Error as vector_of.
Dense matrix_of(const char* call, const char* name, nb::handle value, Eigen::Index rows,
                Eigen::Index cols);

/// Any array of one or two dimensions.
Dense read_matrix(const char* call, const char* name, nb::handle source);
/// One number stands for `size` of them.
Numbers read_vector(const char* call, const char* name, nb::handle source, int size);
/// A vector is the diagonal of a matrix, a number a multiple of the identity.
Dense read_square(const char* call, const char* name, nb::handle source, int size);

/// Of a text that is one of few. @throws Error that lists them.
int choice_of(const char* call, const char* name, const std::string& text,
              std::initializer_list<const char*> names);
/// limb.results.NAME(...)
template <typename... Values>
nb::object result_of(const char* name, Values&&... values) {
  return nb::module_::import_("limb.results").attr(name)(std::forward<Values>(values)...);
}

}  // namespace limb::python
