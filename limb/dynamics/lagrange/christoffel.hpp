#pragma once

#include <vector>

#include "limb/dynamics/kinematics/forward_kinematics.hpp"

/// Velocity-dependent terms of the equations of motion in Lagrangian form: Christoffel symbols,
/// Coriolis matrix, and the split into centrifugal (squares) and Coriolis (products) terms.
///
///   tau = M(q) a + C(q, v) v + g(q),   C_ij = sum over k of Gamma_ijk v_k
///
/// Rigid bodies only, without armature (whose force depends on the velocity in free and planar
/// joints alone: turning_armature.hpp). For free, spherical and planar
/// joints, whose velocities are quasi-velocities, the symbols are those of the Levi-Civita
/// connection in the frame of these velocities: see docs/derivations/christoffel.md.
namespace limb {

/// Gamma(i, j, k): Christoffel symbols of the first kind over the n generalized velocities.
///
/// Rates of coordinates: Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, symmetric in j
/// and k. For all velocities: dM_ij/dt = sum over k of (Gamma_ijk + Gamma_jik) v_k.
template <typename T>
class ChristoffelTensor {
 public:
  explicit ChristoffelTensor(int n) : n_(n), values_(static_cast<std::size_t>(n) * n * n, T(0)) {}

  int size() const { return n_; }
  T& operator()(int i, int j, int k) { return values_[index(i, j, k)]; }
  const T& operator()(int i, int j, int k) const { return values_[index(i, j, k)]; }
  void set_zero() { std::fill(values_.begin(), values_.end(), T(0)); }

 private:
  std::size_t index(int i, int j, int k) const {
    const auto n = static_cast<std::size_t>(n_);
    return (static_cast<std::size_t>(i) * n + static_cast<std::size_t>(j)) * n +
           static_cast<std::size_t>(k);
  }

  int n_;
  std::vector<T> values_;
};

/// Scratch; use one per thread. Its contents after a call are unspecified.
template <typename T>
struct LagrangeScratch {
  explicit LagrangeScratch(const Model<T>& model);

  // All in world axes about one point: the origin of body 1.
  std::vector<Motion<T>> S, dS;    ///< of each joint velocity, and its rate
  std::vector<Motion<T>> dS_dq;    ///< of pairs in one joint: column j along velocity k
  std::vector<Inertia<T>> I, dI;   ///< of each body, then of its subtree; and its rate
  std::vector<Force<T>> P;         ///< momentum of each body, then of its subtree
  std::vector<Motion<T>> V;        ///< of each body
  std::vector<Motion<T>> bracket;  ///< S_x x S_z for the joint velocities z on the path of x
  std::vector<Force<T>> IS;        ///< momentum of a subtree that moves with S_z

  // Structure.
  std::vector<int> previous;    ///< of each joint velocity: the next one towards the root, or -1
  std::vector<int> first_of_v;  ///< first velocity of the joint that this one belongs to
  std::vector<int> first_term;  ///< where the terms of each joint velocity start, and the end
  std::vector<int> term_y;      ///< generalized velocity of each term
  std::vector<T> term_ratio;    ///< its factor
};

/// All Christoffel symbols. O(n d^2) for n velocities, d of them between tip and root.
/// @param kinematics  of order position.
template <typename T>
void christoffel(const Model<T>& model, const Kinematics<T>& kinematics,
                 LagrangeScratch<T>& scratch, ChristoffelTensor<T>& gamma);

/// C(q, v) of these symbols without forming them, O(n d): C v = h - g and dM/dt - 2 C is skew.
/// [Echeandia 2021, Coriolis matrix and Christoffel symbols]
/// @param kinematics  of order velocity.
template <typename T>
void coriolis_matrix(const Model<T>& model, const Kinematics<T>& kinematics,
                     LagrangeScratch<T>& scratch, MatrixOut<T> C);

/// C(q, v) v = squares [v_i^2] + products [v_i v_j].
/// @param squares   n x n: centrifugal coefficients.
/// @param products  n x n (n - 1) / 2: Coriolis coefficients, columns (1,2), (1,3), ..., (1,n),
///                  (2,3), ...; each contains both orders of its pair, hence the usual factor 2.
template <typename T>
void centrifugal_coriolis_split(const Model<T>& model, const Kinematics<T>& kinematics,
                                LagrangeScratch<T>& scratch, MatrixOut<T> squares,
                                MatrixOut<T> products);

/// The vector [v_1 v_2, v_1 v_3, ..., v_{n-1} v_n] that `products` multiplies.
template <typename T>
void velocity_products(VectorIn<T>& v, VectorOut<T> pairs) {
  const Eigen::Index n = v.size();
  check_size("velocity_products", "pairs", pairs.size(), n * (n - 1) / 2);
  Eigen::Index column = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = i + 1; j < n; ++j) pairs[column++] = v[i] * v[j];
  }
}

}  // namespace limb
