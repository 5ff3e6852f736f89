#pragma once

#include <string_view>

#include "limb/math/inertia.hpp"
#include "limb/math/spatial.hpp"

/// The planar two-link arm of the textbooks: two uniform rods, both joints about z.
namespace limb::cli {

struct Planar2R {
  double length1 = 1.0, length2 = 0.8;  ///< m
  double mass1 = 2.0, mass2 = 1.5;      ///< kg
};

struct Planar2RState {
  Vector2<double> q;   ///< rad; q[0] from the x axis of the world, q[1] from link 1
  Vector2<double> qd;  ///< rad/s
};

/// Computed with the poses, motions and inertias of limb/math. Frames: W world at
/// joint 1, B1 and B2 at the near ends of the links with x along them, E at the tip, axes of B2.
struct Planar2RResult {
  Pose<double> X_WB1, X_WB2, X_WE;
  Motion<double> V_WB1_B1, V_WB2_B2;
  Motion<double> V_WE_E;                ///< at the tip, in axes of E
  Motion<double> V_WE_W;                ///< the same motion about the origin of W, in axes of W
  Vector3<double> v_WE;                 ///< classical velocity of the tip point, in axes of W
  Inertia<double> I_B1, I_B2;           ///< of each link about its frame
  Inertia<double> I_W;                  ///< of both links as one body about the origin of W
  Eigen::Matrix2d mass_matrix;          ///< from the kinetic energies at three pairs of joint rates
  double mass_matrix_11_composite = 0;  ///< S^T I_W S with the composite inertia
  double energy_bodies = 0;             ///< J, sum over the links
  double energy_mass_matrix = 0;        ///< J, qd^T M qd / 2
  Eigen::Matrix2d J_v_WE;               ///< v_WE = J qd, rows x and y
};

/// @throws Error if a length or mass is not positive, a joint value not finite, or a result
/// overflows.
Planar2RResult evaluate(std::string_view call, const Planar2R& arm, const Planar2RState& state);

/// Mass matrix in the closed form of the textbooks, for comparison. M11 contains the inertias of
/// both links about their mass centres, I1 + I2: joint 1 also rotates link 2.
Eigen::Matrix2d closed_form_mass_matrix(const Planar2R& arm, const Planar2RState& state);

/// The set of tip velocities J qd with |qd| = 1 rad/s.
struct Ellipse {
  Vector2<double> half_axes;  ///< m/s, longer first
  double angle;               ///< rad, of the longer one from the x axis
};
Ellipse velocity_ellipse(const Planar2RResult& result);

}  // namespace limb::cli
