#pragma once

#include <nlohmann/json.hpp>

#include "limb/symbolic/derivation.hpp"
#include "limb/symbolic/recursive_form.hpp"

namespace limb::cli {

/// A derivation for machines: symbols with their values, and each quantity as texts of its entries.
nlohmann::json derivation_json(const symbolic::Derivation& derivation);

/// Its nodes as [op, a, b] and its outputs as indices of nodes.
nlohmann::json recursive_json(const symbolic::RecursiveForm& form);

}  // namespace limb::cli
