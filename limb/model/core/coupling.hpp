#pragma once

#include <vector>

#include "limb/math/scalar.hpp"

namespace limb {

/// Joint coordinates as functions of independent ones: q = G y + q0.
///
/// A mimic joint follows another, a belt drives a joint by an absolute angle, a differential
/// combines two. Only joints with one degree of freedom may be coupled; the coordinates of the
/// others, including quaternions, are unchanged. Without couplings G is the identity and y = q.
template <typename T>
class Coupling {
 public:
  struct Term {
    int y;  ///< index of the independent coordinate (in velocities)
    T ratio;
  };
  /// One joint: its indices in q and v, and its terms.
  struct Row {
    int q = 0, v = 0;    ///< first index in q, v
    int nq = 0, nv = 0;  ///< sizes of the joint
    int yq = -1;         ///< index in y if the joint is independent; else -1
    std::vector<Term> terms;
    T offset = T(0);
  };

  Coupling() = default;
  Coupling(std::vector<Row> rows, int nq, int nv, int ny_q, int ny_v, std::vector<int> yq_of_v);

  bool is_identity() const { return identity_; }
  /// Sizes of the independent coordinates and velocities.
  int ny_q() const { return ny_q_; }
  int ny_v() const { return ny_v_; }
  const std::vector<Row>& rows() const { return rows_; }

  /// q = G y + q0.
  VectorX<T> expand_position(const VectorX<T>& y) const;
  /// v = G dy.
  VectorX<T> expand_velocity(const VectorX<T>& dy) const;
  /// G^T tau: the generalized force on the independent coordinates.
  VectorX<T> reduce_force(const VectorX<T>& tau) const;
  /// The same on plain arrays of the right sizes, without allocation.
  void expand_position(const T* y, T* q) const;
  void expand_velocity(const T* dy, T* v) const;
  void reduce_force(const T* tau, T* force) const;
  /// G, nv x ny_v.
  MatrixX<T> matrix() const;

  template <typename U>
  Coupling<U> cast() const {
    std::vector<typename Coupling<U>::Row> rows;
    for (const Row& row : rows_) {
      typename Coupling<U>::Row other{row.q, row.v, row.nq, row.nv, row.yq, {}, U(row.offset)};
      for (const Term& term : row.terms) other.terms.push_back({term.y, U(term.ratio)});
      rows.push_back(std::move(other));
    }
    return Coupling<U>(std::move(rows), nq_, nv_, ny_q_, ny_v_, yq_of_v_);
  }

 private:
  std::vector<Row> rows_;
  int nq_ = 0, nv_ = 0, ny_q_ = 0, ny_v_ = 0;
  std::vector<int> yq_of_v_;  ///< index in y of each independent velocity (joints with one DoF)
  bool identity_ = true;
};

template <typename T>
Coupling<T>::Coupling(std::vector<Row> rows, int nq, int nv, int ny_q, int ny_v,
                      std::vector<int> yq_of_v)
    : rows_(std::move(rows)),
      nq_(nq),
      nv_(nv),
      ny_q_(ny_q),
      ny_v_(ny_v),
      yq_of_v_(std::move(yq_of_v)) {
  for (const Row& row : rows_) identity_ = identity_ && row.yq >= 0;
}

template <typename T>
void Coupling<T>::expand_position(const T* y, T* q) const {
  for (const Row& row : rows_) {
    if (row.yq >= 0) {
      for (int k = 0; k < row.nq; ++k) q[row.q + k] = y[row.yq + k];
      continue;
    }
    T sum = row.offset;
    for (const Term& term : row.terms) {
      sum += term.ratio * y[yq_of_v_[static_cast<std::size_t>(term.y)]];
    }
    q[row.q] = sum;
  }
}

template <typename T>
VectorX<T> Coupling<T>::expand_position(const VectorX<T>& y) const {
  VectorX<T> q(nq_);
  expand_position(y.data(), q.data());
  return q;
}

template <typename T>
void Coupling<T>::expand_velocity(const T* dy, T* v) const {
  for (const Row& row : rows_) {
    if (row.yq >= 0) {
      for (int k = 0; k < row.nv; ++k) v[row.v + k] = dy[row.terms[static_cast<std::size_t>(k)].y];
      continue;
    }
    T sum = T(0);
    for (const Term& term : row.terms) sum += term.ratio * dy[term.y];
    v[row.v] = sum;
  }
}

template <typename T>
VectorX<T> Coupling<T>::expand_velocity(const VectorX<T>& dy) const {
  VectorX<T> v(nv_);
  expand_velocity(dy.data(), v.data());
  return v;
}

template <typename T>
void Coupling<T>::reduce_force(const T* tau, T* force) const {
  for (int i = 0; i < ny_v_; ++i) force[i] = T(0);
  for (const Row& row : rows_) {
    for (std::size_t k = 0; k < row.terms.size(); ++k) {
      const int v = row.yq >= 0 ? row.v + static_cast<int>(k) : row.v;
      force[row.terms[k].y] += row.terms[k].ratio * tau[v];
    }
  }
}

template <typename T>
VectorX<T> Coupling<T>::reduce_force(const VectorX<T>& tau) const {
  VectorX<T> force(ny_v_);
  reduce_force(tau.data(), force.data());
  return force;
}

template <typename T>
MatrixX<T> Coupling<T>::matrix() const {
  MatrixX<T> G = MatrixX<T>::Constant(nv_, ny_v_, T(0));
  for (const Row& row : rows_) {
    for (std::size_t k = 0; k < row.terms.size(); ++k) {
      const int v = row.yq >= 0 ? row.v + static_cast<int>(k) : row.v;
      G(v, row.terms[k].y) += row.terms[k].ratio;
    }
  }
  return G;
}

}  // namespace limb
