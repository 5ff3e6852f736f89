#pragma once

#include "limb/symbolic/robot.hpp"

/// From descriptions in decimals to descriptions in which rotations are exactly rotations.
namespace limb::symbolic {

/// Every number as its shortest decimal.
Description<Polynomial> exact_numbers(const Description<double>& description);

struct ExactOptions {
  double snap = 1e-10;          ///< angles this close (rad) to a multiple of 15 degrees are one
  std::shared_ptr<Ring> names;  ///< where other angles become symbols alpha1, ...; none: decimals
};

/// Replaces rotations that are none as exact matrices by products of turns about z, y and x by
/// exact angles, and turns joint frames so that each axis is a coordinate axis.
/// @throws Error where a rotation or an axis has symbols and is not exact.
void make_exact(Description<Polynomial>& description, const ExactOptions& options,
                std::vector<std::string>& notes);

/// Replaces the numbers by symbols: m1, c1 (c1x, ...), Ixx1, l1 (l1x, ...), g; zeros stay.
/// Numbers are those of the bodies of `model`, which was built from the same description.
void name_parameters(const std::shared_ptr<Ring>& ring, const Model<Polynomial>& model,
                     Description<Polynomial>& description);

}  // namespace limb::symbolic
