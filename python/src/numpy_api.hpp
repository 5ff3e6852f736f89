#pragma once

// The C API of NumPy: one comparison recognises an array, while the buffer protocol or DLPack would
// cost more than the dynamics of an arm. module.cpp imports it; all other files share its table.
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
