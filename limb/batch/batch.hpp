#pragma once

/// Front header of the module: every public header, and nothing else.
#include "limb/batch/compiled.hpp"
#include "limb/batch/expand.hpp"
#include "limb/batch/rows.hpp"
#include "limb/batch/run_rows.hpp"
#include "limb/batch/strategy.hpp"
