#pragma once

#include <span>

#include "limb/dynamics/arguments.hpp"

namespace limb {

/// A wrench that the environment exerts on a frame: at the frame's origin, in the frame's axes.
template <typename T>
struct FrameWrench {
  FrameId frame;
  Force<T> F_F;
};

template <typename T>
using WrenchesIn = std::type_identity_t<std::span<const FrameWrench<T>>>;

/// Adds each wrench to the one of its body: F_B[i] is about the origin and in the axes of body i.
/// Wrenches on the world are added to body 0. No allocation.
/// @throws Error if a frame is not in the model or F_B does not have one entry per body.
template <typename T>
void add_external(const char* call, const Model<T>& model, WrenchesIn<T> external,
                  std::type_identity_t<std::span<Force<T>>> F_B) {
  if (F_B.size() != model.bodies().size()) {
    check_size(call, "F_B", static_cast<std::ptrdiff_t>(F_B.size()), model.body_count());
  }
  const int frames = static_cast<int>(model.frames().size());
  for (std::size_t k = 0; k < external.size(); ++k) {
    const int id = external[k].frame.value();
    if (id < 0 || id >= frames) {
      fail(call, "frame of external wrench " + std::to_string(k), std::to_string(id),
           "one of the " + std::to_string(frames) + " frames of the model");
    }
    const Frame<T>& frame = model.frame(external[k].frame);
    F_B[static_cast<std::size_t>(frame.body.value())] += frame.X_BF.act(external[k].F_F);
  }
}

}  // namespace limb
