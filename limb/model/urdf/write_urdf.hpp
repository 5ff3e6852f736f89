#pragma once

#include <string>

#include "limb/model/core/description.hpp"

/// A robot as URDF text. Numbers have the fewest digits that read back as the same number; the
/// same robot always gives the same text. parse_urdf() reads it back, rotations to a few eps,
/// everything else exactly, with the exceptions listed here.
///
/// Extensions of URDF (limb reads them back; the note says what other tools do with them):
///
///   type="spherical" | "universal" | "cylindrical" | "helical" | "translation"
///                               other tools reject these types                  [joint-type-own]
///   <axis xyz pitch="m per rad"/>   helical
///   <axis2 xyz/>                universal: the second axis, at zero first angle
///   <limit dof="i" .../>        one per degree of freedom, for joints with several; a bound that
///                               is not written is unlimited
///   <limit unlimited="lower upper effort velocity"/>
///                               revolute, prismatic, continuous: these bounds are unlimited; for
///                               other tools they are written as 1e9            [limit-unlimited]
///   <dynamics armature="kg m^2"/>   other tools ignore it                      [armature-own]
///   several <mimic>             the joint follows their sum; others use one    [coupling-own]
///
/// Rewritten with the same meaning:
///
///   X_JC                        in URDF a child link's frame is its joint's frame. The link's
///                               frame is moved there: X_JC is prepended to the placements of its
///                               mass, shapes, frames and child joints; for a fixed joint it is
///                               part of the origin                                  [frame-moved]
///   frames                      become a link without mass on a fixed joint NAME_frame
///                                                                              [frame-as-link]
///   a joint on the world        gets a link 'world' if it is not declared
///
/// Lost, each with a warning: loop closures [loop-lost], gravity other than (0, 0, -9.81)
/// [gravity-lost], couplings without a term or a joint [coupling-lost], frames with the name of a
/// link [frame-lost], ellipsoids and planes [geometry-lost], springs [spring-lost], and what a file
/// says about simulations: servos, tendons, keyframes, fixed shapes [scene-lost].
namespace limb {

/// @throws Error if a number is not finite or a matrix is not a rotation.
std::string write_urdf(const Description<double>& robot, Diagnostics& diagnostics);

}  // namespace limb
