#pragma once

// NumPy's own interface: an array is known by one comparison, where the buffer protocol or DLPack
// would cost more than the dynamics of an arm. module.cpp imports it; all others share its table.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#define NPY_NO_DEPRECATED_API NPY_1_19_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL limb_numpy_api
#ifndef LIMB_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

namespace nb = nanobind;
using namespace nb::literals;
