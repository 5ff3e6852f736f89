#pragma once

#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"
#include "limb/dynamics/lagrange/christoffel.hpp"

// Symbols as in docs/derivations/christoffel.md; all in world axes about the origin of body 1.
//   x, y, z   joint velocities on one path to the root, x the outermost
//   S, dS     motion of a joint velocity at unit rate, and its time derivative
//   I_x, dI   inertia of the subtree that x moves, and its rate
//   P         momentum of a subtree
//   g[a]      (S_b x S_c) . I S_a, the terms of which the symbols are sums
namespace limb {

template <typename T>
LagrangeScratch<T>::LagrangeScratch(const Model<T>& model)
    : S(static_cast<std::size_t>(model.uncoupled_nv())),
      dS(S.size()),
      dS_dq(S.size() * 6),
      I(model.bodies().size()),
      dI(I.size()),
      P(I.size()),
      V(I.size()),
      bracket(S.size()),
      IS(S.size()),
      previous(S.size()),
      first_of_v(S.size()),
      first_term(1, 0) {
  std::vector<int> last(I.size(), -1);  // outermost velocity on the path of each body
  for (std::size_t i = 1; i < I.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    last[i] = last[static_cast<std::size_t>(body.parent.value())];
    for (int k = 0; k < body.joint.nv(); ++k) {
      const auto x = static_cast<std::size_t>(body.v_start + k);
      previous[x] = last[i];
      first_of_v[x] = body.v_start;
      last[i] = body.v_start + k;
    }
  }
  std::vector<std::vector<std::pair<int, T>>> terms(S.size());
  for (const auto& row : model.coupling().rows()) {
    for (std::size_t k = 0; k < row.terms.size(); ++k) {
      const int v = row.yq >= 0 ? row.v + static_cast<int>(k) : row.v;
      terms[static_cast<std::size_t>(v)].push_back({row.terms[k].y, row.terms[k].ratio});
    }
  }
  for (const auto& terms_of_v : terms) {
    for (const auto& [y, ratio] : terms_of_v) {
      term_y.push_back(y);
      term_ratio.push_back(ratio);
    }
    first_term.push_back(static_cast<int>(term_y.size()));
  }
}

namespace lagrange_detail {

/// A motion given at a body's origin, moved to the common point; o is the origin relative to that
/// point.
template <typename T>
Motion<T> moved(const Motion<T>& S, const Vector3<T>& o) {
  return {small_products::add_cross<T>(S.v, o, S.w), S.w};
}

template <typename T>
Vector3<T> common_point(const Kinematics<T>& k) {
  return k.X_WB.size() > 1 ? k.X_WB[1].p : Vector3<T>::Zero();
}

/// S and the inertias of all bodies about the common point.
template <typename T>
void to_common_point(const Model<T>& model, const Kinematics<T>& k, LagrangeScratch<T>& s) {
  const Vector3<T> r = common_point(k);
  for (std::size_t x = 0; x < s.S.size(); ++x) {
    const Vector3<T> o = k.X_WB[static_cast<std::size_t>(k.body_of_v[x])].p - r;
    s.S[x] = moved(k.S_W[x], o);
  }
  for (std::size_t i = 1; i < s.I.size(); ++i) {
    s.I[i] = model.bodies()[i].inertia.transformed({k.X_WB[i].R, k.X_WB[i].p - r});
  }
}

/// Sums over subtrees in place: all quantities refer to one point, so they simply add up.
template <typename T, typename Quantity>
void sum_subtrees(const Model<T>& model, std::vector<Quantity>& of_body) {
  of_body[0] = {};  // the world's sum is not used; it must not grow from call to call
  for (std::size_t i = of_body.size() - 1; i > 0; --i) {
    const auto p = static_cast<std::size_t>(model.bodies()[i].parent.value());
    of_body[p] = of_body[p] + of_body[i];
  }
}

/// Rate of a body's inertia about a fixed point while it moves with V. The mass is constant; the
/// rate of the first moment is the linear momentum.
template <typename T>
Inertia<T> inertia_rate(const Inertia<T>& I, const Motion<T>& V, const Force<T>& momentum) {
  const Vector3<T>& h = I.first_moment();
  const Matrix3<T> W = skew(V.w);
  const Matrix3<T> turn = W * I.tensor(), shift = V.v * h.transpose();
  return {T(0), momentum.f,
          turn + turn.transpose() + T(2) * V.v.dot(h) * Matrix3<T>::Identity() - shift -
              shift.transpose()};
}

/// Derivatives of the columns of each joint by its own coordinates; zero for most joints.
template <typename T>
void subspace_derivatives(const Model<T>& model, const Kinematics<T>& k, LagrangeScratch<T>& s) {
  const Vector3<T> r = common_point(k);
  for (std::size_t i = 1; i < s.I.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    const int nv = body.joint.nv();
    if (nv == 1) continue;  // dS_dq stays zero: one column does not change along itself
    const Pose<T> X{k.X_WB[i].R, k.X_WB[i].p - r};
    for (int along = 0; along < nv; ++along) {
      T unit[6];
      for (int j = 0; j < 6; ++j) unit[j] = T(j == along ? 1 : 0);
      Motion<T> dS[6];
      body.joint.subspace_rate(k.q.data() + body.q_start, unit, dS);
      for (int j = 0; j < nv; ++j) {
        s.dS_dq[static_cast<std::size_t>((body.v_start + j) * 6 + along)] = X.act(dS[j]);
      }
    }
  }
}

/// Calls sink(i, j, k, value) for every product of coupling ratios from joint velocities a, b, c to
/// generalized velocities: one call with ratio 1 without couplings.
template <typename T, typename Sink>
void for_each_coupled_term(const LagrangeScratch<T>& s, int a, int b, int c, const T& value,
                           const Sink& sink) {
  const auto first = [&](int v) { return s.first_term[static_cast<std::size_t>(v)]; };
  const auto y = [&](int term) { return s.term_y[static_cast<std::size_t>(term)]; };
  const auto ratio = [&](int term) { return s.term_ratio[static_cast<std::size_t>(term)]; };
  for (int i = first(a); i < first(a + 1); ++i) {
    for (int j = first(b); j < first(b + 1); ++j) {
      const T value_ij = value * ratio(i) * ratio(j);
      for (int k = first(c); k < first(c + 1); ++k) {
        sink(y(i), y(j), y(k), value_ij * ratio(k));
      }
    }
  }
}

/// Calls sink(i, j, k, value) with terms whose sum is Gamma_ijk, for all symbols that are not zero
/// by the structure of the tree.
template <typename T, typename Sink>
void visit_symbols(const Model<T>& model, const Kinematics<T>& kinematics, LagrangeScratch<T>& s,
                   const Sink& sink) {
  to_common_point(model, kinematics, s);
  subspace_derivatives(model, kinematics, s);
  sum_subtrees(model, s.I);
  const auto at = [](int v) { return static_cast<std::size_t>(v); };
  for (int x = 0; x < model.uncoupled_nv(); ++x) {
    const Inertia<T>& I_x = s.I[at(kinematics.body_of_v[at(x)])];
    for (int z = x; z >= 0; z = s.previous[at(z)]) {
      s.IS[at(z)] = I_x * s.S[at(z)];
      s.bracket[at(z)] = cross(s.S[at(x)], s.S[at(z)]);
    }
    for (int y = x; y >= 0; y = s.previous[at(y)]) {
      const Force<T> y_on_x = cross(s.S[at(y)], s.IS[at(x)]);
      for (int z = y; z >= 0; z = s.previous[at(z)]) {
        // g[a] = (S_b x S_c) . I S_a for the even orders (a, b, c) of (x, y, z).
        const int v[3] = {x, y, z};
        const T g[3] = {-dot(s.S[at(z)], y_on_x), -dot(s.bracket[at(z)], s.IS[at(y)]),
                        dot(s.bracket[at(y)], s.IS[at(z)])};
        const auto symbol = [&](int a, int j, int k, bool even) {
          const int first_j = s.first_of_v[at(v[j])], first_k = s.first_of_v[at(v[k])];
          // The column of j moves with k if k is in the same joint or nearer to the root.
          const bool k_moves_j = first_k <= first_j;
          const T sign = T(even ? 1 : -1), half = T(0.5);
          T value = half * sign * (g[a] + g[k] - g[j]);
          if (k_moves_j) value -= sign * g[a];
          if (first_j == first_k) {
            value += dot(s.dS_dq[at(v[j] * 6 + v[k] - first_k)], s.IS[at(v[a])]);
          }
          for_each_coupled_term(s, v[a], v[j], v[k], value, sink);
        };
        // Each different order of (x, y, z) once.
        symbol(0, 1, 2, true);
        if (y != z) symbol(0, 2, 1, false);
        if (x != y) {
          symbol(1, 0, 2, false);
          symbol(1, 2, 0, true);
          if (y != z) symbol(2, 0, 1, true);
        }
        if (y != z) {
          symbol(2, 1, 0, false);
        }
      }
    }
  }
}

/// Column of the pair i < j among (1,2), (1,3), ..., (n-1,n).
constexpr int pair_column(int n, int i, int j) {
  return i * n - i * (i + 1) / 2 + j - i - 1;
}

}  // namespace lagrange_detail

template <typename T>
void christoffel(const Model<T>& model, const Kinematics<T>& kinematics,
                 LagrangeScratch<T>& scratch, ChristoffelTensor<T>& gamma) {
  check_order("christoffel", kinematics, Kinematics<T>::Order::position);
  if (gamma.size() != model.nv()) {
    check_size("christoffel", "gamma", gamma.size(), model.nv(), kSizeHint);
  }
  gamma.set_zero();
  lagrange_detail::visit_symbols(
      model, kinematics, scratch,
      [&](int i, int j, int k, const T& value) { gamma(i, j, k) += value; });
}

template <typename T>
void centrifugal_coriolis_split(const Model<T>& model, const Kinematics<T>& kinematics,
                                LagrangeScratch<T>& scratch, MatrixOut<T> squares,
                                MatrixOut<T> products) {
  check_order("centrifugal_coriolis_split", kinematics, Kinematics<T>::Order::position);
  const int n = model.nv();
  check_shape("centrifugal_coriolis_split", "squares", squares.rows(), squares.cols(), n, n);
  check_shape("centrifugal_coriolis_split", "products", products.rows(), products.cols(), n,
              n * (n - 1) / 2);
  squares.setConstant(T(0));
  products.setConstant(T(0));
  lagrange_detail::visit_symbols(
      model, kinematics, scratch, [&](int i, int j, int k, const T& value) {
        if (j == k) {
          squares(i, j) += value;
        } else {
          products(i, lagrange_detail::pair_column(n, std::min(j, k), std::max(j, k))) += value;
        }
      });
}

template <typename T>
void coriolis_matrix(const Model<T>& model, const Kinematics<T>& kinematics, LagrangeScratch<T>& s,
                     MatrixOut<T> C) {
  using namespace lagrange_detail;
  check_order("coriolis_matrix", kinematics, Kinematics<T>::Order::velocity);
  check_shape("coriolis_matrix", "C", C.rows(), C.cols(), model.nv(), model.nv());
  const auto at = [](int v) { return static_cast<std::size_t>(v); };
  const Vector3<T> r = common_point(kinematics);
  to_common_point(model, kinematics, s);
  for (std::size_t i = 1; i < s.I.size(); ++i) {
    const Pose<T> X{kinematics.X_WB[i].R, kinematics.X_WB[i].p - r};
    s.V[i] = X.act(kinematics.V_WB_B[i]);
    s.P[i] = s.I[i] * s.V[i];
    s.dI[i] = inertia_rate(s.I[i], s.V[i], s.P[i]);
  }
  for (std::size_t x = 0; x < s.S.size(); ++x) {
    // The kinematics have dS at the moving origin; here the point is fixed and the arm changes.
    const auto i = at(kinematics.body_of_v[x]);
    const Vector3<T> v_origin =
        small_products::product<T>(kinematics.X_WB[i].R, kinematics.V_WB_B[i].v);
    s.dS[x] = moved(kinematics.dS_W[x], Vector3<T>(kinematics.X_WB[i].p - r));
    s.dS[x].v = small_products::add_cross<T>(s.dS[x].v, v_origin, s.S[x].w);
  }
  sum_subtrees(model, s.I);
  sum_subtrees(model, s.dI);
  sum_subtrees(model, s.P);

  C.setConstant(T(0));
  const auto add = [&](int a, int b, const T& value) {
    for (int i = s.first_term[at(a)]; i < s.first_term[at(a + 1)]; ++i) {
      for (int j = s.first_term[at(b)]; j < s.first_term[at(b + 1)]; ++j) {
        C(s.term_y[at(i)], s.term_y[at(j)]) += value * s.term_ratio[at(i)] * s.term_ratio[at(j)];
      }
    }
  };
  for (int x = 0; x < model.uncoupled_nv(); ++x) {
    // B = (dI + [P]) / 2 is the Coriolis matrix of the subtree; dI is symmetric, [P] S = S x* P
    // skew.
    const auto i = at(kinematics.body_of_v[at(x)]);
    const Motion<T>& S_x = s.S[at(x)];
    const Force<T> IS = s.I[i] * S_x, dIS = s.dI[i] * S_x, PS = cross(S_x, s.P[i]);
    const Force<T> column = s.I[i] * s.dS[at(x)] + T(0.5) * (dIS + PS);
    const Force<T> row = T(0.5) * (dIS - PS);
    add(x, x, dot(S_x, column));
    for (int y = s.previous[at(x)]; y >= 0; y = s.previous[at(y)]) {
      add(y, x, dot(s.S[at(y)], column));
      add(x, y, dot(s.dS[at(y)], IS) + dot(s.S[at(y)], row));
    }
  }
}

}  // namespace limb
