#pragma once

#include "limb/model/convert.hpp"

/// The order in which another library lists the joints of a model.
namespace limb::convert_order {

/// From the model alone. @throws Error if fixed joints, which it does not keep, decide.
std::vector<BodyId> from_model(const ConventionFacts& facts, const Model<double>& model);
/// From the description that the model was built from.
std::vector<BodyId> from_description(const ConventionFacts& facts, const Model<double>& model,
                                     const Description<double>& description);
/// As named. @throws Error unless the names are those of the joints, each once.
std::vector<BodyId> from_names(const ConventionFacts& facts, const Model<double>& model,
                               const std::vector<std::string>& names);

}  // namespace limb::convert_order
