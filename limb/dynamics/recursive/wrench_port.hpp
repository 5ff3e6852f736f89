#pragma once

#include "limb/model/core/model.hpp"

namespace limb {

/// The axes in which a wrench at the origin of a frame is given.
enum class WrenchAxes { frame, world };

/// A frame at which an external wrench acts, and the axes of that wrench.
struct WrenchPort {
  FrameId frame;
  WrenchAxes axes = WrenchAxes::world;
  bool operator==(const WrenchPort&) const = default;
};

}  // namespace limb
