#pragma once

#include <limits>
#include <string>

#include "limb/math/spatial.hpp"
#include "limb/model/read_mjcf_defaults.hpp"

/// Compiler settings of MJCF and what they decide: units of angles, orders of Euler angles.
namespace limb::mjcf {

struct Compiler {
  enum class InertiaFromGeom { no, yes, automatic };

  double angle_unit;             ///< rad in one unit of the file's angles
  std::string eulerseq = "xyz";  ///< lower case: about axes that turn along; upper case: fixed
  bool autolimits = true;
  InertiaFromGeom inertiafromgeom = InertiaFromGeom::automatic;
  double inertia_group_min = 0, inertia_group_max = 5;
  double boundmass = 0, boundinertia = 0;
  double settotalmass = -1;  ///< kg; not positive: as it is
  bool balanceinertia = false;
  std::string meshdir;
  bool strippath = false;

  Compiler();
  /// Takes over what a <compiler> element says; the others keep what they were.
  void read(const Node& node, Diagnostics& diagnostics);
};

/// Orientation by quat, axisangle, euler, xyaxes or zaxis: that of the nearest level (the element,
/// its class, ...) that gives one; identity if none does.
Matrix3<double> orientation(const Attributes& attributes, const Compiler& compiler);
/// `pos` with the orientation.
Pose<double> pose(const Attributes& attributes, const Compiler& compiler);

/// The least turn that takes z to the direction of the given vector, which is not zero.
Matrix3<double> turn_z_to(const Vector3<double>& direction);

}  // namespace limb::mjcf
