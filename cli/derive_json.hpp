#pragma once

#include <nlohmann/json.hpp>

#include "limb/symbolic/derive/derivation.hpp"
#include "limb/symbolic/derive/recursive_form.hpp"

namespace limb::cli {

/// A derivation as JSON: symbols with their values, and each quantity with its entries as text.
nlohmann::json derivation_json(const symbolic::Derivation& derivation);

/// A recursive form as JSON: nodes with op, a, b, and outputs as indices of nodes.
nlohmann::json recursive_json(const symbolic::RecursiveForm& form);

}  // namespace limb::cli
