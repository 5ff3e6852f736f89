// Any bytes as MJCF: a Description, diagnostics, or an Error; never a crash, a hang or an endless
// allocation. Includes and meshes are those of files/.
#include <cmath>
#include <string>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/model/mjcf/read_mjcf.hpp"

namespace {

using limb::fuzz::require;

/// Guarantees of the reader for any input: finite numbers and rotations, and parents that are links
/// or the world.
void check(const limb::Description<double>& description) {
  for (const auto& joint : description.joints) {
    require(joint.X_PJ.R.allFinite() && joint.X_PJ.p.allFinite());
    require(joint.X_JC.R.allFinite() && joint.X_JC.p.allFinite());
    require(limb::is_rotation<double>(joint.X_PJ.R, 1e-9));
    require(joint.axis.allFinite());
    require(std::isfinite(joint.stiffness) && std::isfinite(joint.damping));
    require(!joint.name.empty() && !joint.parent.empty() && !joint.child.empty());
  }
  for (const auto& link : description.links) {
    require(!link.name.empty());
    if (!link.inertial) continue;
    require(link.inertial->tensor.allFinite() && link.inertial->X_LI.p.allFinite());
  }
  for (const auto& frame : description.frames) require(frame.X_LF.p.allFinite());
  for (const auto& loop : description.loops) {
    require(loop.X_AL.p.allFinite() && loop.X_BL.p.allFinite());
  }
  for (const auto& field : description.scene.height_fields) {
    require(field.heights.allFinite() && field.half.minCoeff() > 0);
    require(field.heights.rows() >= 2 && field.heights.cols() >= 2);
  }
  require(description.joints.size() == description.links.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  limb::Diagnostics diagnostics;
  limb::ReadOptions options;
  if (size % 2 == 1) options.missing_meshes = limb::MissingMeshes::box;
  try {
    check(limb::parse_mjcf(std::string(limb::fuzz::as_text(data, size)),
                           LIMB_FUZZ_FILES "/fuzz.xml", options, diagnostics));
  } catch (const limb::Error&) {  // not well-formed XML
  }
  for (const auto& diagnostic : diagnostics) {
    require(!diagnostic.rule.empty() && !diagnostic.message.empty());
  }
  return 0;
}
