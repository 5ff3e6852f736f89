#pragma once

#include "limb/model/mjcf/read_mjcf_body.hpp"

namespace limb::mjcf {

/// <tendon>: fixed tendons, which are linear combinations of joint coordinates. A spatial tendon
/// that exerts a force by itself is an error.
void read_tendons(const Node& section, ReadContext& context);

}  // namespace limb::mjcf
