#include "limb/model/convert/convert.hpp"

#include <algorithm>

#include "limb/model/convert/convert_joint.hpp"
#include "limb/model/convert/convert_order.hpp"

namespace limb {

using convert_joint::Block;

Convention::Convention(const ConventionFacts& facts, const Model<double>& model) : facts_(facts) {
  build_layout(model, convert_order::from_model(facts, model));
}

Convention::Convention(const ConventionFacts& facts, const Model<double>& model,
                       const Description<double>& description)
    : facts_(facts) {
  build_layout(model, convert_order::from_description(facts, model, description));
}

Convention::Convention(const ConventionFacts& facts, const Model<double>& model,
                       const std::vector<std::string>& joint_names)
    : facts_(facts) {
  build_layout(model, convert_order::from_names(facts, model, joint_names));
}

void Convention::build_layout(const Model<double>& model, const std::vector<BodyId>& order) {
  limb_nq_ = model.uncoupled_nq();
  const bool w_at_end = facts_.quaternion == QuaternionOrder::w_at_end;
  for (const BodyId id : order) {
    const Body<double>& body = model.body(id);
    const JointType type = body.joint.type();
    const auto refuse = [&](const std::string& what) {
      throw Error(std::string(facts_.call) + ": joint '" + body.name + "' is " + what);
    };
    if (type == JointType::helical && !facts_.has_helical) {
      refuse("helical, a type that " + std::string(facts_.library) +
             " does not have (the closest is a slide and a hinge coupled by a constraint)");
    }
    if (type == JointType::free && facts_.free_reference == FreeJointReference::world &&
        body.parent != BodyId(0)) {
      refuse("free and its parent is '" + model.body(body.parent).name + "', but " +
             std::string(facts_.library) + " has free joints only on the world");
    }
    const bool split = w_at_end && convert_joint::has_quaternion(facts_, type);
    const int size = convert_joint::size_of_q(facts_, type) - (split ? 1 : 0);
    layouts_.push_back({body.name, id, nq_, size, nv_, body.joint.nv(), split ? 0 : -1});
    limb_joints_.push_back({body.joint, body.X_PJ, body.q_start, body.v_start});
    nq_ += size;
    nv_ += body.joint.nv();
  }
  for (JointLayout& layout : layouts_) {
    if (layout.w >= 0) layout.w = nq_++;
  }
}

std::string Convention::qualified_name(std::string_view function) const {
  return std::string(facts_.call) + "::" + std::string(function);
}

void Convention::check_limb_q(std::string_view call, const VectorX<double>& q) const {
  check_size(call, "q", q.size(), limb_nq_, "q is in limb's convention");
  check_finite(call, "q", q);
  for (const LimbJoint& joint : limb_joints_) {
    const JointType type = joint.joint.type();
    if (type != JointType::spherical && type != JointType::free) continue;
    check_unit(call, "quaternion in q", q.segment<4>(joint.q_start + joint.joint.nq() - 4));
  }
}

VectorX<double> Convention::q_to(const VectorX<double>& q) const {
  check_limb_q(qualified_name("q_to"), q);
  VectorX<double> other(nq_);
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const JointLayout& to = layouts_[i];
    const LimbJoint& from = limb_joints_[i];
    convert_joint::write_q(facts_, from.joint, from.X_PJ, q.data() + from.q_start,
                           other.data() + to.q_start, other.data() + std::max(to.w, 0));
  }
  return other;
}

VectorX<double> Convention::q_from(const VectorX<double>& q_other) const {
  const std::string call = qualified_name("q_from");
  check_size(call, "q_other", q_other.size(), nq_,
             "q_other is in the convention of " + std::string(facts_.library));
  check_finite(call, "q_other", q_other);
  VectorX<double> q(limb_nq_);
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const JointLayout& from = layouts_[i];
    const LimbJoint& to = limb_joints_[i];
    const JointType type = to.joint.type();
    if ((type == JointType::continuous && facts_.continuous == AngleCoordinates::cos_sin) ||
        (type == JointType::planar && facts_.planar_angle == AngleCoordinates::cos_sin)) {
      check_unit(call, "(cos, sin) of joint '" + from.name + "'",
                 q_other.segment<2>(from.q_start + from.nq - 2));
    }
    convert_joint::read_q(facts_, to.joint, to.X_PJ, q_other.data() + from.q_start,
                          q_other.data() + std::max(from.w, 0), q.data() + to.q_start);
    if (convert_joint::has_quaternion(facts_, type)) {
      check_unit(call, "quaternion of joint '" + from.name + "'",
                 q.segment<4>(to.q_start + to.joint.nq() - 4));
    }
  }
  return q;
}

MatrixX<double> Convention::map_rows(const VectorX<double>& q, const MatrixX<double>& x,
                                     Direction direction) const {
  MatrixX<double> y(x.rows(), x.cols());
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const LimbJoint& limb = limb_joints_[i];
    const int n = layouts_[i].nv, other = layouts_[i].v_start;
    const Block P =
        convert_joint::velocity_block(facts_, limb.joint, limb.X_PJ, q.data() + limb.q_start);
    if (direction == Direction::to) {
      y.middleRows(other, n) = P * x.middleRows(limb.v_start, n);
    } else {
      y.middleRows(limb.v_start, n) = P.transpose() * x.middleRows(other, n);
    }
  }
  return y;
}

VectorX<double> Convention::bias(const VectorX<double>& q, const VectorX<double>& v) const {
  VectorX<double> b(nv_);
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const LimbJoint& limb = limb_joints_[i];
    b.segment(layouts_[i].v_start, layouts_[i].nv) = convert_joint::bias(
        facts_, limb.joint, limb.X_PJ, q.data() + limb.q_start, v.data() + limb.v_start);
  }
  return b;
}

VectorX<double> Convention::v_to(const VectorX<double>& q, const VectorX<double>& v) const {
  check_limb_q(qualified_name("v_to"), q);
  check_size(qualified_name("v_to"), "v", v.size(), nv_);
  return map_rows(q, v, Direction::to);
}

VectorX<double> Convention::v_from(const VectorX<double>& q, const VectorX<double>& v_other) const {
  check_limb_q(qualified_name("v_from"), q);
  check_size(qualified_name("v_from"), "v_other", v_other.size(), nv_);
  return map_rows(q, v_other, Direction::from);
}

VectorX<double> Convention::a_to(const VectorX<double>& q, const VectorX<double>& v,
                                 const VectorX<double>& a) const {
  check_limb_q(qualified_name("a_to"), q);
  check_size(qualified_name("a_to"), "v", v.size(), nv_);
  check_size(qualified_name("a_to"), "a", a.size(), nv_);
  return map_rows(q, a, Direction::to) + bias(q, v);
}

VectorX<double> Convention::a_from(const VectorX<double>& q, const VectorX<double>& v,
                                   const VectorX<double>& a_other) const {
  check_limb_q(qualified_name("a_from"), q);
  check_size(qualified_name("a_from"), "v", v.size(), nv_);
  check_size(qualified_name("a_from"), "a_other", a_other.size(), nv_);
  return map_rows(q, a_other - bias(q, v), Direction::from);
}

VectorX<double> Convention::tau_to(const VectorX<double>& q, const VectorX<double>& tau) const {
  check_limb_q(qualified_name("tau_to"), q);
  check_size(qualified_name("tau_to"), "tau", tau.size(), nv_);
  return map_rows(q, tau, Direction::to);
}

VectorX<double> Convention::tau_from(const VectorX<double>& q,
                                     const VectorX<double>& tau_other) const {
  check_limb_q(qualified_name("tau_from"), q);
  check_size(qualified_name("tau_from"), "tau_other", tau_other.size(), nv_);
  return map_rows(q, tau_other, Direction::from);
}

MatrixX<double> Convention::velocity_matrix(const VectorX<double>& q) const {
  check_limb_q(qualified_name("velocity_matrix"), q);
  return map_rows(q, MatrixX<double>::Identity(nv_, nv_), Direction::to);
}

namespace {

void check_shape(const std::string& call, const char* argument, const MatrixX<double>& m, int rows,
                 int columns) {
  if (m.rows() == rows && m.cols() == columns) return;
  const auto shape = [](std::ptrdiff_t r, std::ptrdiff_t c) {
    return std::to_string(r) + " x " + std::to_string(c);
  };
  fail(call, argument, shape(m.rows(), m.cols()), shape(rows, columns));
}

}  // namespace

MatrixX<double> Convention::mass_matrix_to(const VectorX<double>& q,
                                           const MatrixX<double>& M) const {
  check_limb_q(qualified_name("mass_matrix_to"), q);
  check_shape(qualified_name("mass_matrix_to"), "M", M, nv_, nv_);
  const MatrixX<double> PM = map_rows(q, M, Direction::to);
  return map_rows(q, PM.transpose(), Direction::to).transpose();
}

MatrixX<double> Convention::mass_matrix_from(const VectorX<double>& q,
                                             const MatrixX<double>& M_other) const {
  check_limb_q(qualified_name("mass_matrix_from"), q);
  check_shape(qualified_name("mass_matrix_from"), "M_other", M_other, nv_, nv_);
  const MatrixX<double> PM = map_rows(q, M_other, Direction::from);
  return map_rows(q, PM.transpose(), Direction::from).transpose();
}

MatrixX<double> Convention::jacobian_to(const VectorX<double>& q, const MatrixX<double>& J) const {
  check_limb_q(qualified_name("jacobian_to"), q);
  check_shape(qualified_name("jacobian_to"), "J", J, 6, nv_);
  return map_rows(q, jacobian_rows_to(J).transpose(), Direction::to).transpose();
}

MatrixX<double> Convention::jacobian_from(const VectorX<double>& q,
                                          const MatrixX<double>& J_other) const {
  check_limb_q(qualified_name("jacobian_from"), q);
  check_shape(qualified_name("jacobian_from"), "J_other", J_other, 6, nv_);
  return map_rows(q, jacobian_rows_from(J_other).transpose(), Direction::from).transpose();
}

MatrixX<double> Convention::jacobian_rows_to(const MatrixX<double>& J) const {
  check_size(qualified_name("jacobian_rows_to"), "a column of J", J.rows(), 6);
  if (facts_.spatial_order == SpatialOrder::linear_first) return J;
  MatrixX<double> other(6, J.cols());
  other << J.bottomRows<3>(), J.topRows<3>();
  return other;
}

MatrixX<double> Convention::jacobian_rows_from(const MatrixX<double>& J_other) const {
  check_size(qualified_name("jacobian_rows_from"), "a column of J_other", J_other.rows(), 6);
  return jacobian_rows_to(J_other);  // swapping the halves is an involution
}

Vector6<double> Convention::reordered(const Vector6<double>& x) const {
  if (facts_.spatial_order == SpatialOrder::linear_first) return x;
  return stack<double>(x.tail<3>(), x.head<3>());
}

Vector6<double> Convention::motion_to(const Motion<double>& V) const {
  return reordered(V.vector());
}

Motion<double> Convention::motion_from(const Vector6<double>& V_other) const {
  return Motion<double>::from_vector(reordered(V_other));
}

Vector6<double> Convention::wrench_to(const Force<double>& F) const {
  return reordered(F.vector());
}

Force<double> Convention::wrench_from(const Vector6<double>& F_other) const {
  return Force<double>::from_vector(reordered(F_other));
}

}  // namespace limb
