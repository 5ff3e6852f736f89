#pragma once

#include "limb/dynamics/lagrange.hpp"
#include "limb/symbolic/calculus.hpp"
#include "limb/symbolic/robot.hpp"

/// The equations of motion of a small robot as closed forms:
///
///   tau = M(q) qdd + V(q, qd) + G(q) + D qd,   V = C(q, qd) qd
///
/// derived from the Lagrangian and, independently, by the recursion of Newton and Euler. Both are
/// polynomials with one form each, so that their equality is decided and not judged.
namespace limb::symbolic {

using Vector = VectorX<Polynomial>;
using Matrix = MatrixX<Polynomial>;

/// What one body adds to the energies. Axes of the body unless said otherwise: there the
/// expressions are shortest.
struct LinkForm {
  std::string name;  ///< of the joint that carries it
  Polynomial mass;
  /// The mass centre; none where the first moment is not divisible by the mass
  /// (welded links whose masses are different symbols). The moments are then those of the origin.
  std::optional<Vector3<Polynomial>> center;
  Vector3<Polynomial> first_moment;  ///< m c
  Matrix3<Polynomial> tensor;        ///< about the mass centre, or the origin
  Pose<Polynomial> X_WB;
  Vector3<Polynomial> p;  ///< mass centre, or the body's origin; world axes
  Matrix Jv_B;            ///< 3 x n: the velocity of that point, R_WB^T dp/dq
  Matrix Jw_B;            ///< 3 x n: angular velocity
  Matrix M;               ///< its part of the mass matrix
  Polynomial P;           ///< its potential energy, zero at the world's origin
};

struct ClosedForm {
  std::vector<LinkForm> links;
  Matrix M;
  Polynomial K, P;
  ChristoffelTensor<Polynomial> gamma{0};  ///< first kind, symmetric in the last two
  Matrix C;                                ///< C qd = V, dM/dt - 2 C skew
  Matrix centrifugal;                      ///< n x n: coefficients of qd_i^2
  Matrix coriolis;                         ///< n x n (n - 1) / 2: of qd_1 qd_2, qd_1 qd_3, ...
  Vector V, G, damping, tau;
};

/// From the energies: M from the Jacobians, Christoffel symbols from its derivatives, G = dP/dq.
/// [Spong 2006, Euler-Lagrange equations]
ClosedForm derive_lagrange(const Robot& robot);

/// tau by the rnea of the dynamics room with this scalar.
Vector derive_newton_euler(const Robot& robot);
/// Everything that can be read from such a tau: M are its coefficients of qdd, G is what is left at
/// rest, V what the velocities add; the Christoffel symbols are those of this M. The links, and so
/// the potential energy, come from the positions.
ClosedForm form_of(const Robot& robot, const Vector& tau);

/// A frame's place and how it moves: rows of J are its origin's velocity and its angular velocity,
/// both in world axes.
struct FrameForm {
  std::string name;
  Pose<Polynomial> X_WF;
  Matrix J, Jdot;  ///< 6 x n
};
/// @throws Error with the nearest name if there is no such frame.
FrameForm derive_frame(const Robot& robot, const std::string& frame);

/// Operational-space inertia (J M^-1 J^T)^-1 as numerator / denominator, over the rows of J that
/// are not zero.
struct LambdaForm {
  std::vector<int> rows;  ///< of J: 0 to 5
  Matrix numerator;
  Polynomial denominator;
};
/// @throws Error if these rows are dependent for every q, or too many.
LambdaForm derive_lambda(const Matrix& M, const FrameForm& frame);

/// dx/dq, one column a coordinate; x is in world axes.
Matrix jacobian(const Robot& robot, const Vector3<Polynomial>& x);
/// K = qd^T M qd / 2.
Polynomial kinetic_energy(const Robot& robot, const Matrix& M);

/// Number of terms in all entries.
std::size_t term_count(const Matrix& m);

}  // namespace limb::symbolic
