#pragma once

#include "limb/symbolic/derive/robot.hpp"

/// Converts descriptions with decimals to descriptions whose rotations are exact.
namespace limb::symbolic {

/// Every number as the exact value of its shortest decimal.
Description<Polynomial> exact_numbers(const Description<double>& description);

/// Angles this close (rad) to a multiple of 15 degrees become it: files write 1.5708 or 3.1416 for
/// quarter and half turns.
inline constexpr double kAngleSnap = 1e-5;

/// The multiple of 15 degrees within kAngleSnap of the angle, as a count of 15 degrees, if there is
/// one; with a note if they differ by more than rounding errors (1e-10).
std::optional<int> near_multiple_of_15_degrees(double angle, const std::string& owner,
                                               std::vector<std::string>& notes);
/// The angle, or the multiple of 15 degrees if it is a number that close to one.
Polynomial exact_angle(const Polynomial& angle, const std::string& owner,
                       std::vector<std::string>& notes);
/// Replaces rotations of a description in floating point in the same way.
void snap_rotations(Description<double>& description, std::vector<std::string>& notes);

struct ExactOptions {
  std::shared_ptr<Ring> names;  ///< ring for symbols alpha1, ... of other angles; null: decimals
};

/// Replaces matrices that are not exactly rotations by products of rotations about z, y and x with
/// exact angles, and rotates joint frames so that each joint axis is a coordinate axis.
/// @throws Error if a rotation or an axis has symbols and is not exact.
void make_exact(Description<Polynomial>& description, const ExactOptions& options,
                std::vector<std::string>& notes);

/// Replaces the numbers by symbols: m1, lc1 (lc1x, ...), Ixx1, l1 (l1x, ...), g; zeros stay.
/// The indices are those of the bodies of `model`, which was built from the same description.
void name_parameters(const std::shared_ptr<Ring>& ring, const Model<Polynomial>& model,
                     Description<Polynomial>& description);

}  // namespace limb::symbolic
