#pragma once

#include <limits>
#include <string>

#include "limb/math/spatial.hpp"
#include "limb/model/mjcf/read_mjcf_defaults.hpp"

/// Compiler settings of MJCF, for example units of angles and sequences of Euler angles.
namespace limb::mjcf {

struct Compiler {
  enum class InertiaFromGeom { no, yes, automatic };

  double angle_unit;             ///< rad per unit of the file's angles
  std::string eulerseq = "xyz";  ///< lower case: intrinsic (moving axes); upper case: extrinsic
  bool autolimits = true;
  InertiaFromGeom inertiafromgeom = InertiaFromGeom::automatic;
  double inertia_group_min = 0, inertia_group_max = 5;
  double boundmass = 0, boundinertia = 0;
  double settotalmass = -1;  ///< kg; not positive: no scaling
  bool balanceinertia = false;
  bool exactmeshinertia = false;  ///< of MuJoCo before 3.3: meshes are `exact` by default
  bool fitaabb = false;           ///< primitives are fitted to bounding boxes of meshes
  std::string meshdir;
  bool strippath = false;

  Compiler();
  /// Applies the attributes of a <compiler> element; other settings are unchanged.
  void read(const Node& node, Diagnostics& diagnostics);
};

/// Orientation by quat, axisangle, euler, xyaxes or zaxis: from the first level (the element, its
/// class, ...) that has one; identity if none has.
Matrix3<double> orientation(const Attributes& attributes, const Compiler& compiler);
/// `pos` with the orientation.
Pose<double> pose(const Attributes& attributes, const Compiler& compiler);

/// A range of an actuator or tendon if it is active: limited="true", or "auto" with autolimits and
/// a range other than "0 0", which removes that of a class.
std::optional<std::vector<double>> active_range(const Attributes& attributes,
                                                const char* range_name, const char* limited_name,
                                                const Compiler& compiler);

/// The smallest rotation that takes z to the direction of the given vector, which is not zero.
Matrix3<double> rotation_z_to(const Vector3<double>& direction);

}  // namespace limb::mjcf
