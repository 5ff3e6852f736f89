#pragma once

#include "limb/model/convert/convert.hpp"

/// The order in which another library lists the joints of a model.
namespace limb::convert_order {

/// From the model only. @throws Error if the order depends on fixed joints, which a Model does not
/// keep.
std::vector<BodyId> from_model(const ConventionFacts& facts, const Model<double>& model);
/// From the description that the model was built from.
std::vector<BodyId> from_description(const ConventionFacts& facts, const Model<double>& model,
                                     const Description<double>& description);
/// In the order of the names. @throws Error unless they are the names of all joints, each once.
std::vector<BodyId> from_names(const ConventionFacts& facts, const Model<double>& model,
                               const std::vector<std::string>& names);

}  // namespace limb::convert_order
