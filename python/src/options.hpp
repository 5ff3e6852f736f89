#pragma once

#include <nanobind/stl/string.h>

#include <variant>

#include "limb/control/locomotion.hpp"
#include "python/src/numbers.hpp"

/// Options of C++ as keyword arguments, each once: its name, and where it stands.
namespace limb::python {

struct Option {
  using List = std::vector<Option>;
  const char* name;
  std::variant<double*, int*, Vector3<double>*, TaskGains*, List> place;
};
using Options = Option::List;

/// Writes what is given. @throws Error for a name that is none, with all that are, or a value that
/// is none.
void set_options(const char* call, const Options& options, const nb::dict& given);
/// "friction=0.6, cone_faces=4, ..." as they stand.
std::string text_of(const Options& options);

Options options_of(WholeBodyOptions& options);
Options options_of(BalanceOptions& options);
Options options_of(LocomotionOptions& options);

}  // namespace limb::python
