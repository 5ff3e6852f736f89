#pragma once

#include <cstdint>

#include "limb/sim/contact/ground.hpp"

namespace limb {

/// A field of square blocks, each with a random height, uniform within +-height; level at 0 at the
/// start and around the field.
struct BlockField {
  double size = 0.25;             ///< m, edge of a block
  double height = 0.02;           ///< m
  double begin = 0.4;             ///< m, x of the first row; the field lies along +x
  double length = 12, width = 3;  ///< m
};

/// @throws Error for sizes that are not positive, or more than 100 000 blocks.
Ground block_ground(const BlockField& field, std::uint64_t seed,
                    const ContactSurface& surface = {});

/// m: height of the ground at (x, y), for half spaces that face upwards, axis-aligned boxes and
/// height fields.
double ground_height(const Ground& ground, double x, double y);

}  // namespace limb
