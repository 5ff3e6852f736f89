#pragma once

/// Front header of the module: every public header, and nothing else.
#include "limb/codegen/c/emit_c.hpp"
#include "limb/codegen/cuda/cuda_program.hpp"
#include "limb/codegen/cuda/driver.hpp"
#include "limb/codegen/program.hpp"
#include "limb/codegen/record/differentiate.hpp"
#include "limb/codegen/record/function_tracer.hpp"
#include "limb/codegen/record/functions.hpp"
#include "limb/codegen/record/graph.hpp"
#include "limb/codegen/record/jacobian.hpp"
#include "limb/codegen/record/trace.hpp"
#include "limb/codegen/x64/listing.hpp"
