#pragma once

#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/jacobian.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/dynamics/textbook/lagrange.hpp"
#include "limb/model/read_recipe.hpp"
#include "limb/symbolic/scalar.hpp"

/// The templates of the rooms below, instantiated for closed forms in the .cpp files of this room.
namespace limb {

extern template Model<symbolic::Polynomial> build_model(const Description<symbolic::Polynomial>&,
                                                        Base);
extern template Description<symbolic::Polynomial> parse_recipe(
    std::string, const std::string&, const ReadOptions&, Diagnostics&,
    const RecipeParameter<symbolic::Polynomial>&);

}  // namespace limb
