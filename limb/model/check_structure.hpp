#pragma once

#include "limb/model/description.hpp"

namespace limb {

template <typename T>
void check_structure(const Description<T>&, Diagnostics&) {}

}  // namespace limb
