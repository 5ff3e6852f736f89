#pragma once

#include "limb/model/model.hpp"

namespace limb {

/// In which axes a wrench at a frame's origin is given.
enum class WrenchAxes { frame, world };

/// A place at which wrenches act.
struct WrenchPort {
  FrameId frame;
  WrenchAxes axes = WrenchAxes::world;
  bool operator==(const WrenchPort&) const = default;
};

}  // namespace limb
