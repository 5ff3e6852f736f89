#pragma once

#include <string>

#include "limb/model/description.hpp"

/// A robot as URDF text. Numbers have the fewest digits that read back as the same number; the
/// same robot always gives the same text. parse_urdf() of it gives the robot back, rotations to a
/// few eps, everything else exactly, except for what is listed here.
///
/// Beyond plain URDF (limb reads it back; the note says what other tools do with it):
///
///   type="spherical" | "universal" | "cylindrical" | "helical" | "translation"
///                               others refuse these types                       [joint-type-own]
///   <axis xyz pitch="m per rad"/>   helical
///   <axis2 xyz/>                universal: the second axis, after the first turn
///   <limit dof="i" .../>        one a degree of freedom, for joints with several; a bound that is
///                               not written is none
///   <limit unlimited="lower upper effort velocity"/>
///                               revolute, prismatic, continuous: these bounds are none; for other
///                               tools they stand there as 1e9                  [limit-unlimited]
///   <dynamics armature="kg m^2"/>   others ignore it                           [armature-own]
///   several <mimic>             the joint follows their sum; others take one   [coupling-own]
///
/// Rewritten with the same meaning:
///
///   X_JC                        in URDF a child link's frame is its joint's frame. The link's
///                               frame is moved there: X_JC goes in front of the placements of its
///                               mass, shapes, frames and child joints; of a fixed joint it goes
///                               into the origin                                     [frame-moved]
///   frames                      become a link without mass on a fixed joint NAME_frame
///                                                                              [frame-as-link]
///   a joint on the world        gets a link 'world' where there is none
///
/// Lost, each with a warning: loop closures [loop-lost], gravity other than (0, 0, -9.81)
/// [gravity-lost], couplings without a term or a joint [coupling-lost], frames named as a link
/// [frame-lost], ellipsoids and planes [geometry-lost].
namespace limb {

/// @throws Error if a number is not finite or a rotation is none.
std::string write_urdf(const Description<double>& robot, Diagnostics& diagnostics);

}  // namespace limb
