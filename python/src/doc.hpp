#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>

/// Docstrings with all arguments: an annotation of nanobind's functions, after the arguments.
///
///   c.def("gravity", call_gravity, "q"_a, Doc("Gravity `g(q)`: ..."));
///
/// Arguments that the text does not describe get the description that they have in all functions
/// (doc.cpp); a section "Args:" of the text has the others.
namespace limb::python {

struct Doc {
  const char* text;
  explicit Doc(const char* given) : text(given) {}
};

/// The text with all arguments. The memory is never freed: it belongs to a function of the module.
const char* with_arguments(const char* text, std::span<const char* const> names);

/// Called by nanobind.
template <typename Function>
void func_extra_apply(Function& f, const Doc& doc, std::size_t& index) {
  constexpr std::size_t kMost = 40;
  const char* names[kMost] = {};
  std::size_t count = 0;
  if constexpr (requires { f.args[0].name; }) {
    for (std::size_t i = 0; i < index && count < kMost; ++i) {
      if (f.args[i].name != nullptr) names[count++] = f.args[i].name;
    }
  }
  nanobind::detail::func_extra_apply(f, with_arguments(doc.text, {names, count}), index);
}

}  // namespace limb::python
