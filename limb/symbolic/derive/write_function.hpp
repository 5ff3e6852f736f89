#pragma once

#include "limb/symbolic/derive/derivation.hpp"

/// Closed forms as functions in C or Python that use only sine and cosine.
namespace limb::symbolic {

enum class Language { c, python };

/// One function that computes M, V, G and tau from parameters, q, qd, qdd. Parameters are in order
/// of creation; their values in the file are given as defaults.
std::string write_function(const Derivation& derivation, Language language);

/// The parameters that such a function takes: symbols of the ring that occur in the results.
std::vector<SymbolId> function_parameters(const Derivation& derivation);

/// A valid identifier made from any text: letters, digits and _.
std::string identifier(const std::string& text);

}  // namespace limb::symbolic
