#pragma once

#include "limb/model/mjcf/read_mjcf_body.hpp"

namespace limb::mjcf {

/// <equality>: connect and weld become loops; joint and tendon become couplings, the
/// former also polynomials.
void read_equality(const Node& section, ReadContext& context);

}  // namespace limb::mjcf
