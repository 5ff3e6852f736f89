#pragma once

#include "limb/symbolic/derive/robot.hpp"

/// Converts descriptions with decimals to descriptions whose rotations are exact.
namespace limb::symbolic {

/// Every number as the exact value of its shortest decimal.
Description<Polynomial> exact_numbers(const Description<double>& description);

struct ExactOptions {
  double snap = 1e-10;          ///< angles this close (rad) to a multiple of 15 degrees become it
  std::shared_ptr<Ring> names;  ///< ring for symbols alpha1, ... of other angles; null: decimals
};

/// Replaces matrices that are not exactly rotations by products of rotations about z, y and x with
/// exact angles, and rotates joint frames so that each joint axis is a coordinate axis.
/// @throws Error if a rotation or an axis has symbols and is not exact.
void make_exact(Description<Polynomial>& description, const ExactOptions& options,
                std::vector<std::string>& notes);

/// Replaces the numbers by symbols: m1, c1 (c1x, ...), Ixx1, l1 (l1x, ...), g; zeros stay.
/// The indices are those of the bodies of `model`, which was built from the same description.
void name_parameters(const std::shared_ptr<Ring>& ring, const Model<Polynomial>& model,
                     Description<Polynomial>& description);

}  // namespace limb::symbolic
