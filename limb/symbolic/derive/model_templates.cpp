#include "limb/model/canonical/canonical_impl.hpp"
#include "limb/model/core/build_model_impl.hpp"
#include "limb/model/lint/check_structure_impl.hpp"
#include "limb/model/recipe/read_recipe_impl.hpp"
#include "limb/symbolic/derive/templates.hpp"

namespace limb {

using symbolic::Polynomial;

// Only these members: integrate and difference of quaternions have no closed form.
template Pose<Polynomial> Joint<Polynomial>::pose(const Polynomial*) const;
template void Joint<Polynomial>::subspace(const Polynomial*, Motion<Polynomial>*) const;
template BodyId Model<Polynomial>::find_body(std::string_view) const;
template FrameId Model<Polynomial>::find_frame(std::string_view) const;
template const Canonical<Polynomial>& Model<Polynomial>::canonical() const;
template Model<Polynomial> build_model(const Description<Polynomial>&, Base);
template Description<Polynomial> parse_recipe(std::string, const std::string&, const ReadOptions&,
                                              Diagnostics&, const RecipeParameter<Polynomial>&,
                                              const RecipeAngle<Polynomial>&);

}  // namespace limb
