#pragma once

#include <nanobind/nanobind.h>

namespace limb::python {

/// Replaces the message of nanobind for arguments of a wrong type, "incompatible function
/// arguments", by one that names the argument (limb._arguments), in all functions, methods and
/// properties of the module. To be called when everything is bound.
void explain_argument_errors(nanobind::module_& m);

}  // namespace limb::python
