#pragma once

#include <limits>
#include <string>

#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/model/core/joint_impl.hpp"

namespace limb {
namespace manifold_detail {

/// Calls use(body, q_start, v_start) for every independent joint, with the indices of its first
/// coordinate and velocity.
template <typename T, typename Use>
void for_each_independent_joint(const Model<T>& model, const Use& use) {
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].yq >= 0) use(model.bodies()[i + 1], rows[i].yq, rows[i].terms[0].y);
  }
}

template <typename T>
void check_square(const char* call, const char* argument, const Model<T>& model,
                  const MatrixOut<T>& J) {
  const int n = model.nv();
  if (J.rows() == n && J.cols() == n) return;
  const auto size = [](Eigen::Index rows, Eigen::Index cols) {
    return std::to_string(rows) + " x " + std::to_string(cols);
  };
  fail(call, argument, size(J.rows(), J.cols()), size(n, n));
}

/// Copies a column-major nv x nv matrix into the diagonal block that starts at `start`.
template <typename T>
void write_block(const T* block, int nv, int start, MatrixOut<T>& J) {
  for (int c = 0; c < nv; ++c) {
    for (int r = 0; r < nv; ++r) J(start + r, start + c) = block[r + c * nv];
  }
}

template <Real T>
double lower_limit(const Body<T>& body, int j) {
  const auto& limit = body.limits[static_cast<std::size_t>(j)].lower;
  return limit ? double(*limit) : -std::numeric_limits<double>::infinity();
}
template <Real T>
double upper_limit(const Body<T>& body, int j) {
  const auto& limit = body.limits[static_cast<std::size_t>(j)].upper;
  return limit ? double(*limit) : std::numeric_limits<double>::infinity();
}

/// Narrows the limits of the independent coordinate y so that each follower of only y stays inside
/// its limits.
template <Real T>
void narrow_by_followers(const Model<T>& model, int y, double& lower, double& upper) {
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    if (row.yq >= 0 || row.terms.size() != 1 || row.terms[0].y != y) continue;
    const double ratio = double(row.terms[0].ratio), offset = double(row.offset);
    if (ratio == 0) continue;
    const Body<T>& follower = model.bodies()[i + 1];
    const double a = (lower_limit(follower, 0) - offset) / ratio;
    const double b = (upper_limit(follower, 0) - offset) / ratio;
    lower = std::max(lower, std::min(a, b));
    upper = std::min(upper, std::max(a, b));
  }
}

/// Whether the followers of several leaders are inside their limits; followers of one leader are,
/// to rounding, by narrow_by_followers.
template <Real T>
bool followers_are_inside(const Model<T>& model, const VectorOut<T>& q,
                          const std::vector<int>& yq) {
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    if (row.yq >= 0 || row.terms.size() < 2) continue;
    T sum = row.offset;
    for (const auto& term : row.terms) sum += term.ratio * q[yq[static_cast<std::size_t>(term.y)]];
    const Body<T>& body = model.bodies()[i + 1];
    if (!(lower_limit(body, 0) <= double(sum) && double(sum) <= upper_limit(body, 0))) return false;
  }
  return true;
}

}  // namespace manifold_detail

template <typename T>
void integrate(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorOut<T> q_moved) {
  check_position("integrate", "q", model, q);
  check_velocity("integrate", "v", model, v);
  check_position("integrate", "q_moved", model, q_moved);
  manifold_detail::for_each_independent_joint(model, [&](const Body<T>& body, int at_q, int at_v) {
    body.joint.integrate(q.data() + at_q, v.data() + at_v, q_moved.data() + at_q);
  });
}

template <typename T>
void difference(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1, VectorOut<T> v) {
  check_position("difference", "q0", model, q0);
  check_position("difference", "q1", model, q1);
  check_velocity("difference", "v", model, v);
  manifold_detail::for_each_independent_joint(model, [&](const Body<T>& body, int at_q, int at_v) {
    body.joint.difference(q0.data() + at_q, q1.data() + at_q, v.data() + at_v);
  });
}

template <typename T>
void interpolate(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1,
                 const std::type_identity_t<T>& t, VectorOut<T> q) {
  check_position("interpolate", "q0", model, q0);
  check_position("interpolate", "q1", model, q1);
  check_position("interpolate", "q", model, q);
  if constexpr (Real<T>) check_finite("interpolate", "t", double(t));
  manifold_detail::for_each_independent_joint(model, [&](const Body<T>& body, int at_q, int) {
    T step[6];
    body.joint.difference(q0.data() + at_q, q1.data() + at_q, step);
    for (int j = 0; j < body.joint.nv(); ++j) step[j] = step[j] * t;
    body.joint.integrate(q0.data() + at_q, step, q.data() + at_q);
  });
}

template <typename T>
T distance(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1) {
  using std::sqrt;
  check_position("distance", "q0", model, q0);
  check_position("distance", "q1", model, q1);
  T sum = T(0);
  manifold_detail::for_each_independent_joint(model, [&](const Body<T>& body, int at_q, int) {
    T step[6];
    body.joint.difference(q0.data() + at_q, q1.data() + at_q, step);
    for (int j = 0; j < body.joint.nv(); ++j) sum += step[j] * step[j];
  });
  return sqrt(sum);
}

template <typename T>
void normalize(const Model<T>& model, VectorOut<T> q) {
  check_position("normalize", "q", model, q);
  manifold_detail::for_each_independent_joint(
      model, [&](const Body<T>& body, int at_q, int) { body.joint.normalize(q.data() + at_q); });
}

template <typename T>
void neutral(const Model<T>& model, VectorOut<T> q) {
  check_position("neutral", "q", model, q);
  manifold_detail::for_each_independent_joint(
      model, [&](const Body<T>& body, int at_q, int) { body.joint.neutral(q.data() + at_q); });
}

template <Real T>
void random_configuration(const Model<T>& model, std::mt19937_64& engine, VectorOut<T> q) {
  using namespace manifold_detail;
  check_position("random_configuration", "q", model, q);
  std::vector<int> yq(static_cast<std::size_t>(model.nv()));
  constexpr int kDraws = 1000;
  for (int draw = 0; draw < kDraws; ++draw) {
    for_each_independent_joint(model, [&](const Body<T>& body, int at_q, int at_v) {
      double lower[6], upper[6];
      for (int j = 0; j < body.joint.nv(); ++j) {
        yq[static_cast<std::size_t>(at_v + j)] = at_q + j;
        lower[j] = lower_limit(body, j);
        upper[j] = upper_limit(body, j);
        narrow_by_followers(model, at_v + j, lower[j], upper[j]);
        if (upper[j] < lower[j]) {
          fail_computation(
              "random_configuration",
              "joint '" + body.name + "' has no position within the limits of its followers");
        }
      }
      body.joint.random_configuration(engine, lower, upper, q.data() + at_q);
    });
    if (followers_are_inside<T>(model, q, yq)) return;
  }
  fail_computation("random_configuration",
                   "no state inside the limits of all followers in 1000 draws");
}

template <typename T>
void integrate_jacobians(const Model<T>& model, VectorIn<T>& v, MatrixOut<T> J_q,
                         MatrixOut<T> J_v) {
  using namespace manifold_detail;
  check_velocity("integrate_jacobians", "v", model, v);
  check_square<T>("integrate_jacobians", "J_q", model, J_q);
  check_square<T>("integrate_jacobians", "J_v", model, J_v);
  J_q.setConstant(T(0));
  J_v.setConstant(T(0));
  for_each_independent_joint(model, [&](const Body<T>& body, int, int at_v) {
    T by_q[36], by_v[36];
    body.joint.integrate_jacobians(v.data() + at_v, by_q, by_v);
    write_block<T>(by_q, body.joint.nv(), at_v, J_q);
    write_block<T>(by_v, body.joint.nv(), at_v, J_v);
  });
}

template <typename T>
void difference_jacobians(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1,
                          MatrixOut<T> J_q0, MatrixOut<T> J_q1) {
  using namespace manifold_detail;
  check_position("difference_jacobians", "q0", model, q0);
  check_position("difference_jacobians", "q1", model, q1);
  check_square<T>("difference_jacobians", "J_q0", model, J_q0);
  check_square<T>("difference_jacobians", "J_q1", model, J_q1);
  J_q0.setConstant(T(0));
  J_q1.setConstant(T(0));
  for_each_independent_joint(model, [&](const Body<T>& body, int at_q, int at_v) {
    T step[6], by_q0[36], by_q1[36];
    body.joint.difference(q0.data() + at_q, q1.data() + at_q, step);
    body.joint.difference_jacobians(step, by_q0, by_q1);
    write_block<T>(by_q0, body.joint.nv(), at_v, J_q0);
    write_block<T>(by_q1, body.joint.nv(), at_v, J_q1);
  });
}

}  // namespace limb
