#pragma once

#include "limb/math/noise_source.hpp"
