#pragma once

#include "limb/dynamics/textbook/modern_robotics.hpp"
#include "limb/model/core/joint_impl.hpp"

// Symbols: T poses as 4 x 4 matrices, V = (w, v) twists, F = (m, f) wrenches, in the link's frame.
// The book puts link frames at mass centres, where G is block diagonal. Here they are limb's body
// frames and G has off-diagonal blocks, so that no division by a mass is needed; every equation of
// the recursion is the same.
namespace limb::textbook::modern_robotics {
namespace detail {

/// exp([S] theta) for a unit screw S: a rotation with |w| = 1, or a pure translation.
template <typename T>
Matrix4<T> exp_screw(const Vector6<T>& S, const T& theta, bool rotates) {
  using std::cos;
  using std::sin;
  const Vector3<T> w = S.template head<3>(), v = S.template tail<3>();
  Matrix4<T> X = Matrix4<T>::Identity();
  if (!rotates) {
    X.template topRightCorner<3, 1>() = v * theta;
    return X;
  }
  const Matrix3<T> W = skew(w), W2 = W * W;
  const T s = sin(theta), c1 = T(1) - cos(theta);
  X.template topLeftCorner<3, 3>() = Matrix3<T>::Identity() + s * W + c1 * W2;
  X.template topRightCorner<3, 1>() = v * theta + W * v * c1 + W2 * v * (theta - s);
  return X;
}

template <typename T>
Matrix4<T> inverse(const Matrix4<T>& X) {
  return Pose<T>{X.template topLeftCorner<3, 3>(), X.template topRightCorner<3, 1>()}
      .inverse()
      .matrix();
}

/// Ad_T = [R 0; [p] R R]
template <typename T>
Matrix6<T> Ad(const Matrix4<T>& X) {
  const Matrix3<T> R = X.template topLeftCorner<3, 3>();
  const Vector3<T> p = X.template topRightCorner<3, 1>();
  return blocks<T>(R, Matrix3<T>::Zero(), skew(p) * R, R);
}

/// ad_V = [[w] 0; [v] [w]]
template <typename T>
Matrix6<T> ad(const Vector6<T>& V) {
  const Vector3<T> w = V.template head<3>(), v = V.template tail<3>();
  return blocks<T>(skew(w), Matrix3<T>::Zero(), skew(v), skew(w));
}

/// The joint's screw axes in the joint frame, in the order in which they move.
template <typename T>
std::vector<Vector6<T>> screws(const Joint<T>& joint) {
  const Vector3<T> zero = Vector3<T>::Zero();
  const auto rotation = [&](const Vector3<T>& axis) { return stack<T>(axis, zero); };
  const auto translation = [&](const Vector3<T>& axis) { return stack<T>(zero, axis); };
  switch (joint.type()) {
    case JointType::prismatic:
      return {translation(joint.axis())};
    case JointType::helical:
      return {stack<T>(joint.axis(), joint.axis() * joint.pitch())};
    case JointType::cylindrical:
      return {translation(joint.axis()), rotation(joint.axis())};
    case JointType::universal:
      return {rotation(joint.axis()), rotation(joint.axis2())};
    case JointType::translation:
      return {translation(Vector3<T>::UnitX()), translation(Vector3<T>::UnitY()),
              translation(Vector3<T>::UnitZ())};
    default:
      return {rotation(joint.axis())};
  }
}

/// Whether the velocities of this joint are not rates of its coordinates.
inline bool has_quasi_velocities(JointType type) {
  return type == JointType::planar || type == JointType::spherical || type == JointType::free;
}

/// Whether the k-th screw of this joint is a rotation, not a translation.
inline bool is_rotational(JointType type, int k) {
  return type != JointType::prismatic && type != JointType::translation &&
         !(type == JointType::cylindrical && k == 0);
}

/// Displacement from home in the link frame: exp([A] q), or the pose of a joint with
/// quasi-velocities.
template <typename T>
Matrix4<T> displacement(const Model<T>& model, const ScrewLink<T>& link, const VectorX<T>& q) {
  const Body<T>& body = model.bodies()[static_cast<std::size_t>(link.body)];
  if (!link.is_screw) return body.joint.pose(q.data() + link.q).matrix();
  return exp_screw<T>(link.A.col(0), q[link.q],
                      is_rotational(body.joint.type(), link.q - body.q_start));
}

}  // namespace detail

template <typename T>
std::vector<ScrewLink<T>> screw_links(const Model<T>& model) {
  std::vector<ScrewLink<T>> links;
  std::vector<int> last_of_body = {-1};
  const auto add = [&](ScrewLink<T> link) {
    link.M_space = link.M;
    if (link.parent >= 0) {
      link.M_space = links[static_cast<std::size_t>(link.parent)].M_space * link.M;
    }
    link.S = detail::Ad(link.M_space).lazyProduct(link.A);
    links.push_back(std::move(link));
  };
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    ScrewLink<T> link;
    link.parent = last_of_body[static_cast<std::size_t>(body.parent.value())];
    link.body = static_cast<int>(i);
    link.q = body.q_start;
    link.v = body.v_start;
    link.is_screw = !detail::has_quasi_velocities(body.joint.type());
    link.M = body.X_PJ.matrix();
    if (link.is_screw) {
      const auto screws = detail::screws(body.joint);
      for (std::size_t k = 0; k + 1 < screws.size(); ++k) {
        link.A = screws[k];
        add(link);
        link.parent = static_cast<int>(links.size()) - 1;
        ++link.q;
        ++link.v;
        link.M = Matrix4<T>::Identity();
      }
      link.A = screws.back();
    } else {
      VectorX<T> home(body.joint.nq());
      body.joint.neutral(home.data());
      Motion<T> S[6];
      body.joint.subspace(home.data(), S);
      link.A.resize(6, body.joint.nv());
      for (int k = 0; k < body.joint.nv(); ++k) link.A.col(k) = stack<T>(S[k].w, S[k].v);
    }
    const Matrix3<T> h = skew(body.inertia.first_moment());
    link.G = blocks<T>(body.inertia.tensor(), h, -h, body.inertia.mass() * Matrix3<T>::Identity());
    add(link);
    last_of_body.push_back(static_cast<int>(links.size()) - 1);
  }
  return links;
}

template <typename T>
std::vector<Pose<T>> forward_kinematics(const Model<T>& model, VectorIn<T>& q) {
  check_position("modern_robotics::forward_kinematics", "q", model, q);
  const VectorX<T> q_joint = model.coupling().expand_position(VectorX<T>(q));
  const auto links = screw_links(model);
  std::vector<Matrix4<T>> E(links.size());  // the product of exponentials, without M
  std::vector<Pose<T>> X_WB(model.bodies().size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const ScrewLink<T>& link = links[i];
    const Body<T>& body = model.bodies()[static_cast<std::size_t>(link.body)];
    if (link.is_screw) {
      const bool rotates = detail::is_rotational(body.joint.type(), link.q - body.q_start);
      E[i] = detail::exp_screw<T>(link.S.col(0), q_joint[link.q], rotates);
    } else {
      E[i] =
          link.M_space * detail::displacement(model, link, q_joint) * detail::inverse(link.M_space);
    }
    if (link.parent >= 0) E[i] = (E[static_cast<std::size_t>(link.parent)] * E[i]).eval();
    const Matrix4<T> X = E[i] * link.M_space;
    X_WB[static_cast<std::size_t>(link.body)] = {X.template topLeftCorner<3, 3>(),
                                                 X.template topRightCorner<3, 1>()};
  }
  return X_WB;
}

template <typename T>
VectorX<T> inverse_dynamics(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                            WrenchesIn<T> external) {
  check_position("modern_robotics::inverse_dynamics", "q", model, q);
  check_velocity("modern_robotics::inverse_dynamics", "v", model, v);
  check_velocity("modern_robotics::inverse_dynamics", "a", model, a);
  const Coupling<T>& coupling = model.coupling();
  const VectorX<T> q_joint = coupling.expand_position(VectorX<T>(q));
  const VectorX<T> v_joint = coupling.expand_velocity(VectorX<T>(v));
  const VectorX<T> a_joint = coupling.expand_velocity(VectorX<T>(a));
  const auto links = screw_links(model);
  const std::size_t n = links.size();
  std::vector<Force<T>> F_ext(model.bodies().size());
  add_external("modern_robotics::inverse_dynamics", model, external, F_ext);

  // Forward pass: T_{i,i-1} = exp(-[A] q) M^-1, twists and their rates.
  const Vector6<T> Vdot_0 = stack<T>(Vector3<T>::Zero(), -model.gravity());
  std::vector<Matrix6<T>> Ad_T(n);
  std::vector<Vector6<T>> V(n), Vdot(n), F(n);
  for (std::size_t i = 0; i < n; ++i) {
    const ScrewLink<T>& link = links[i];
    const Eigen::Index columns = link.A.cols();
    const Matrix4<T> home_to_now = detail::displacement(model, link, q_joint);
    Ad_T[i] = detail::Ad<T>(detail::inverse<T>(link.M * home_to_now));
    const Vector6<T> A_qd = link.A.lazyProduct(v_joint.segment(link.v, columns));
    const Vector6<T> A_qdd = link.A.lazyProduct(a_joint.segment(link.v, columns));
    const bool root = link.parent < 0;
    const std::size_t p = root ? 0 : static_cast<std::size_t>(link.parent);
    V[i] = A_qd;
    if (!root) V[i] += Ad_T[i] * V[p];
    Vdot[i] = Ad_T[i] * (root ? Vdot_0 : Vdot[p]) + detail::ad(V[i]) * A_qd + A_qdd;
    F[i] = link.G * Vdot[i] - detail::ad(V[i]).transpose() * (link.G * V[i]);
    const bool is_last_of_body = i + 1 == n || links[i + 1].body != link.body;
    if (is_last_of_body) {
      const Force<T>& F_i = F_ext[static_cast<std::size_t>(link.body)];
      F[i] -= stack<T>(F_i.n, F_i.f);
    }
  }
  // Backward pass: tau = A^T F, and F is passed to the parent.
  VectorX<T> tau(model.uncoupled_nv());
  for (std::size_t i = n; i-- > 0;) {
    const ScrewLink<T>& link = links[i];
    tau.segment(link.v, link.A.cols()) = link.A.transpose().lazyProduct(F[i]);
    if (link.parent >= 0) {
      F[static_cast<std::size_t>(link.parent)] += Ad_T[i].transpose() * F[i];
    }
  }
  return coupling.reduce_force(tau);
}

}  // namespace limb::textbook::modern_robotics
