#pragma once

#include <nanobind/stl/string.h>

#include <variant>

#include "limb/control/locomotion/locomotion.hpp"
#include "python/src/eigen_conversion.hpp"

/// C++ options as keyword arguments: a list of names with pointers to their values.
namespace limb::python {

struct Option {
  using List = std::vector<Option>;
  const char* name;
  std::variant<double*, int*, Vector3<double>*, TaskGains*, List> value;
};
using Options = Option::List;

/// Sets the given options. @throws Error for an unknown name, with the list of names, or for an
/// invalid value.
void set_options(const char* call, const Options& options, const nb::dict& given);
/// The current values: "friction=0.6, cone_faces=4, ...".
std::string text_of(const Options& options);

Options options_of(WholeBodyOptions& options);
Options options_of(BalanceOptions& options);
Options options_of(LocomotionOptions& options);

}  // namespace limb::python
