#pragma once

#include "limb/model/mjcf/read_mjcf_body.hpp"

/// <attach>: another model, or one body of it with all that is below, becomes part of this one.
/// All of its names get a prefix. Actuators, equalities, tendons, excluded contacts and keyframes
/// come with the joints and bodies that they refer to.
namespace limb::mjcf {

struct AttachedModel {
  AttachedModel(std::string text, const std::string& file, ReadOptions read_options,
                Diagnostics& diagnostics, ReadLimits& limits)
      : options(std::move(read_options)),
        document(std::move(text), file, options, diagnostics),
        context(document, options, diagnostics, limits) {}

  ReadOptions options;
  Document document;
  ReadContext context;
  std::string prefix;
  std::string body;    ///< the body that is attached; empty: all bodies of the world
  std::string link;    ///< to which it is attached
  Pose<double> X_LF;   ///< pose of the enclosing frame in that link
  Pose<double> X_WW2;  ///< the world of the attached model in this world
  std::unordered_map<std::string, bool> links;  ///< of the attached part
};

/// Reads the model that the element names; null and a diagnostic if that is not possible.
AttachedModel* read_attached(const Node& node, ReadContext& context);

/// Adds bodies, joints and frames below a link. X_LF: pose of the enclosing frame in the link.
void merge_bodies(AttachedModel& model, const std::string& link, const Pose<double>& X_WL,
                  const Pose<double>& X_LF, ReadContext& context);

/// Adds everything else of all attached models, after the sections of this model.
void merge_sections(ReadContext& context);

}  // namespace limb::mjcf
