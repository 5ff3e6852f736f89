#pragma once

/// Front header of the module: every public header, and nothing else.
#include "limb/base/check.hpp"
#include "limb/base/copyable_ptr.hpp"
#include "limb/base/diagnostic.hpp"
#include "limb/base/error.hpp"
#include "limb/base/index.hpp"
#include "limb/base/status.hpp"
#include "limb/base/version.hpp"
