#pragma once

#include <functional>

#include "limb/dynamics/lagrange/christoffel.hpp"
#include "limb/symbolic/algebra/calculus.hpp"
#include "limb/symbolic/derive/robot.hpp"

/// The equations of motion of a small robot as closed forms:
///
///   tau = M(q) qdd + V(q, qd) + G(q) + D qd,   V = C(q, qd) qd
///
/// derived from the Lagrangian and, independently, by the Newton-Euler recursion. Both results are
/// polynomials in canonical form, so their equality is decided exactly.
namespace limb::symbolic {

using Vector = VectorX<Polynomial>;
using Matrix = MatrixX<Polynomial>;

/// The contribution of one body to the energies, in body axes unless stated otherwise: there the
/// expressions are shortest.
struct LinkForm {
  std::string name;  ///< of its joint
  Polynomial mass;
  /// The mass centre; empty if the first moment is not divisible by the mass (welded links whose
  /// masses are different symbols). The inertia is then about the origin.
  std::optional<Vector3<Polynomial>> center;
  Vector3<Polynomial> first_moment;  ///< m c
  Matrix3<Polynomial> tensor;        ///< inertia about the mass centre, or the origin
  Pose<Polynomial> X_WB;
  Vector3<Polynomial> p;  ///< mass centre, or body origin; world axes
  Matrix Jv_B;            ///< 3 x n: velocity of that point, R_WB^T dp/dq
  Matrix Jw_B;            ///< 3 x n: angular velocity
  Matrix M;               ///< its contribution to the mass matrix
  Polynomial P;           ///< its potential energy, zero at the world origin
};

/// Coulomb friction of one joint, size * sign(velocity): not a polynomial, so it is kept beside
/// tau.
struct CoulombFriction {
  std::string joint;
  Polynomial velocity;  ///< of the joint, linear in qd
  Vector size;          ///< on each coordinate: friction of the joint times its coupling ratio
};

struct ClosedForm {
  std::vector<LinkForm> links;
  Matrix M;
  Polynomial K, P;
  ChristoffelTensor<Polynomial> gamma{0};  ///< first kind, symmetric in the last two indices
  Matrix C;                                ///< C qd = V, dM/dt - 2 C skew
  Matrix centrifugal;                      ///< n x n: coefficients of qd_i^2
  Matrix coriolis;  ///< n x n (n - 1) / 2: coefficients of qd_1 qd_2, qd_1 qd_3, ...
  Vector V, G, damping, tau;
  std::vector<CoulombFriction> friction;  ///< not contained in tau
};

/// Positions, masses and potential energies of all links; Jacobians and contributions to M if
/// `inertia`.
std::vector<LinkForm> derive_links(const Robot& robot, bool inertia);

/// The parts of a closed form that are computed; the others stay empty. Positions, P, G and damping
/// always are. tau is the sum of these parts.
struct ClosedFormParts {
  bool inertia = true;   ///< M, K and the Jacobians of the links
  bool velocity = true;  ///< Christoffel symbols and all that is made of them; needs inertia
  bool all() const { return inertia && velocity; }
};
/// Called after each part; may throw.
using ClosedFormStage = std::function<void(const ClosedForm&)>;

/// From the energies: M from the Jacobians, Christoffel symbols from its derivatives, G = dP/dq.
/// [Spong 2006, Euler-Lagrange equations]
ClosedForm derive_lagrange(const Robot& robot, const ClosedFormParts& parts = {},
                           const ClosedFormStage& stage = {});

/// tau by rnea() of the dynamics module with this scalar; without accelerations and velocities if
/// those parts are not requested.
Vector derive_newton_euler(const Robot& robot, const ClosedFormParts& parts = {});
/// The closed form that belongs to such a tau: M has the coefficients of qdd, G is tau at rest, V
/// is the remaining dependence on velocities; the Christoffel symbols are those of this M. The
/// links, and with them the potential energy, come from the positions.
ClosedForm closed_form_from_torques(const Robot& robot, const Vector& tau,
                                    const ClosedFormParts& parts = {},
                                    const ClosedFormStage& stage = {});

/// Pose and Jacobian of a frame: the rows of J give the velocity of its origin and its angular
/// velocity, both in world axes.
struct FrameForm {
  std::string name;
  Pose<Polynomial> X_WF;
  Matrix J, Jdot;  ///< 6 x n
};
/// @throws Error with the nearest name if there is no such frame.
FrameForm derive_frame(const Robot& robot, const std::string& frame);

/// dx/dq, one column per coordinate; x is in world axes.
Matrix jacobian(const Robot& robot, const Vector3<Polynomial>& x);
/// K = qd^T M qd / 2.
Polynomial kinetic_energy(const Robot& robot, const Matrix& M);

/// Total number of terms of all entries.
std::size_t term_count(const Matrix& m);

}  // namespace limb::symbolic
