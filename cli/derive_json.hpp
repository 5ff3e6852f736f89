#pragma once

#include <nlohmann/json.hpp>

#include "limb/symbolic/derivation.hpp"

namespace limb::cli {

/// A derivation for machines: symbols with their values, and each quantity as texts of its entries.
nlohmann::json derivation_json(const symbolic::Derivation& derivation);

}  // namespace limb::cli
