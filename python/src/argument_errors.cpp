#include "python/src/argument_errors.hpp"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace nb = nanobind;

namespace limb::python {
namespace {

/// The functions by which nanobind calls its functions, by number of arguments and their kind. Each
/// is called by an instance of explained_call, without a search.
constexpr std::size_t kMaxCalls = 12;
std::array<vectorcallfunc, kMaxCalls> nanobind_calls{};

/// Replaces the current error if it is nanobind's about the arguments.
void explain(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names) {
  nb::python_error error;  // takes the current error
  nb::object text = nb::str(error.value());
  const char* found = PyUnicode_AsUTF8(text.ptr());
  if (found == nullptr) PyErr_Clear();
  if (found == nullptr || std::strstr(found, "(): incompatible function arguments") == nullptr) {
    error.restore();
    return;
  }
  try {
    nb::list values;
    nb::dict named;
    // The high bits are flags, of Python and of nanobind.
    const std::size_t count = nargsf & 0xffffffffu;
    for (std::size_t i = 0; i < count; ++i) values.append(nb::handle(args[i]));
    const Py_ssize_t n = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < n; ++i) {
      named[nb::handle(PyTuple_GET_ITEM(names, i))] =
          nb::handle(args[count + static_cast<std::size_t>(i)]);
    }
    const nb::object message =
        nb::module_::import_("limb._arguments").attr("explain")(nb::handle(self), values, named);
    PyErr_SetObject(PyExc_TypeError, message.ptr());
  } catch (nb::python_error&) {
    error.restore();  // the message of nanobind
  }
}

template <std::size_t kIndex>
PyObject* explained_call(PyObject* self, PyObject* const* args, std::size_t nargsf,
                         PyObject* names) {
  PyObject* result = nanobind_calls[kIndex](self, args, nargsf, names);
  if (result == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    explain(self, args, nargsf, names);
  }
  return result;
}

template <std::size_t... kIndices>
constexpr std::array<vectorcallfunc, kMaxCalls> make_calls(std::index_sequence<kIndices...>) {
  return {explained_call<kIndices>...};
}
constexpr auto explained_calls = make_calls(std::make_index_sequence<kMaxCalls>());

bool is_function(nb::handle object) {
  const std::string_view type = Py_TYPE(object.ptr())->tp_name;
  return type.ends_with("nb_func") || type.ends_with("nb_method");
}

/// Inserts the explanation into one function.
void insert(nb::handle function) {
  const Py_ssize_t offset = Py_TYPE(function.ptr())->tp_vectorcall_offset;
  if (offset <= 0) return;
  auto* call = reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function.ptr()) + offset);
  for (std::size_t i = 0; i < kMaxCalls; ++i) {
    if (*call == explained_calls[i]) return;  // bound under two names
    if (nanobind_calls[i] != nullptr && nanobind_calls[i] != *call) continue;
    nanobind_calls[i] = *call;
    *call = explained_calls[i];
    return;
  }
}

void insert_in(nb::handle owner) {
  const nb::object values = nb::list(owner.attr("__dict__").attr("values")());
  for (nb::handle value : values) {
    if (is_function(value)) {
      insert(value);
    } else if (PyType_Check(value.ptr()) && nb::type_check(value)) {
      insert_in(value);
    } else if (nb::hasattr(value, "fset")) {
      for (const char* part : {"fget", "fset"}) {
        const nb::object accessor = value.attr(part);
        if (is_function(accessor)) insert(accessor);
      }
    }
  }
}

}  // namespace

void explain_argument_errors(nb::module_& m) {
  insert_in(m);
}

}  // namespace limb::python
