#pragma once

#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/textbook/lagrange.hpp"
#include "limb/model/recipe/read_recipe.hpp"
#include "limb/symbolic/algebra/scalar.hpp"

/// Templates of the model and dynamics modules that this module instantiates for Polynomial.
namespace limb {

extern template Model<symbolic::Polynomial> build_model(const Description<symbolic::Polynomial>&,
                                                        Base);
extern template Description<symbolic::Polynomial> parse_recipe(
    std::string, const std::string&, const ReadOptions&, Diagnostics&,
    const RecipeParameter<symbolic::Polynomial>&, const RecipeAngle<symbolic::Polynomial>&);

}  // namespace limb
