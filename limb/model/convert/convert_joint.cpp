#include "limb/model/convert/convert_joint.hpp"

#include <algorithm>
#include <cmath>

#include "limb/math/euler.hpp"

namespace limb::convert_joint {
namespace {

constexpr EulerSequence kRollPitchYaw("xyz");

Quaternion<double> quaternion_at(const double* q) {
  return quat_xyzw(q[0], q[1], q[2], q[3]);
}

void write_xyzw(const Quaternion<double>& x, double* q) {
  std::copy_n(x.data(), 4, q);
}

void write_quaternion(QuaternionOrder order, const Quaternion<double>& x, double* other,
                      double* w) {
  switch (order) {
    case QuaternionOrder::xyzw:
      write_xyzw(x, other);
      break;
    case QuaternionOrder::wxyz:
      other[0] = x.w();
      std::copy_n(x.data(), 3, other + 1);
      break;
    case QuaternionOrder::w_at_end:
      std::copy_n(x.data(), 3, other);
      *w = x.w();
      break;
  }
}

Quaternion<double> read_quaternion(QuaternionOrder order, const double* other, const double* w) {
  switch (order) {
    case QuaternionOrder::wxyz:
      return quat_wxyz(other[0], other[1], other[2], other[3]);
    case QuaternionOrder::w_at_end:
      return quat_xyzw(other[0], other[1], other[2], *w);
    default:
      return quaternion_at(other);
  }
}

/// Number of orientation coordinates that are stored at the joint.
int quaternion_width(QuaternionOrder order) {
  return order == QuaternionOrder::w_at_end ? 3 : 4;
}

/// The pose that the free joint's coordinates refer to in the other library.
Pose<double> free_reference_pose(const ConventionFacts& facts, const Pose<double>& X_PJ) {
  return facts.free_reference == FreeJointReference::world ? X_PJ : Pose<double>();
}

/// (linear, angular) in the order of the other library's free velocity.
Vector6<double> free_order(const ConventionFacts& facts, const Motion<double>& V) {
  return facts.free_velocity_order == SpatialOrder::linear_first ? V.vector() : stack(V.w, V.v);
}

Motion<double> motion_at(const double* v) {
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

bool rotates_planar_velocity(const ConventionFacts& facts, JointType type) {
  return type == JointType::planar && facts.planar_velocity == VelocityAxes::parent;
}

}  // namespace

bool has_quaternion(const ConventionFacts& facts, JointType type) {
  return type == JointType::free ||
         (type == JointType::spherical && facts.spherical == SphericalCoordinates::quaternion);
}

int size_of_q(const ConventionFacts& facts, JointType type) {
  const auto extra = [](AngleCoordinates coordinates) {
    return coordinates == AngleCoordinates::cos_sin ? 1 : 0;
  };
  switch (type) {
    case JointType::continuous:
      return 1 + extra(facts.continuous);
    case JointType::planar:
      return 3 + extra(facts.planar_angle);
    case JointType::spherical:
      return facts.spherical == SphericalCoordinates::quaternion ? 4 : 3;
    default:
      return joint_nq(type);
  }
}

void write_q(const ConventionFacts& facts, const Joint<double>& joint, const Pose<double>& X_PJ,
             const double* q, double* other, double* w) {
  const auto write_angle = [](AngleCoordinates coordinates, double angle, double* at) {
    at[0] = coordinates == AngleCoordinates::angle ? angle : std::cos(angle);
    if (coordinates == AngleCoordinates::cos_sin) at[1] = std::sin(angle);
  };
  switch (joint.type()) {
    case JointType::continuous:
      write_angle(facts.continuous, q[0], other);
      break;
    case JointType::planar:
      std::copy_n(q, 2, other);
      write_angle(facts.planar_angle, q[2], other + 2);
      break;
    case JointType::spherical:
      if (facts.spherical == SphericalCoordinates::roll_pitch_yaw) {
        const auto rpy = euler_from_quaternion(kRollPitchYaw, quaternion_at(q)).angles;
        std::copy_n(rpy.data(), 3, other);
      } else {
        write_quaternion(facts.quaternion, quaternion_at(q), other, w);
      }
      break;
    case JointType::free: {
      const Pose<double> X = free_reference_pose(facts, X_PJ);
      const Vector3<double> p = X * Vector3<double>(q[0], q[1], q[2]);
      const bool position_first = facts.free_position == SpatialOrder::linear_first;
      double* orientation = position_first ? other + 3 : other;
      std::copy_n(p.data(), 3, position_first ? other : other + quaternion_width(facts.quaternion));
      write_quaternion(facts.quaternion, quaternion_from_matrix(X.R) * quaternion_at(q + 3),
                       orientation, w);
      break;
    }
    default:
      std::copy_n(q, joint.nq(), other);
  }
}

void read_q(const ConventionFacts& facts, const Joint<double>& joint, const Pose<double>& X_PJ,
            const double* other, const double* w, double* q) {
  const auto read_angle = [](AngleCoordinates coordinates, const double* at) {
    return coordinates == AngleCoordinates::angle ? at[0] : std::atan2(at[1], at[0]);
  };
  switch (joint.type()) {
    case JointType::continuous:
      q[0] = read_angle(facts.continuous, other);
      break;
    case JointType::planar:
      std::copy_n(other, 2, q);
      q[2] = read_angle(facts.planar_angle, other + 2);
      break;
    case JointType::spherical:
      if (facts.spherical == SphericalCoordinates::roll_pitch_yaw) {
        const Vector3<double> rpy(other[0], other[1], other[2]);
        write_xyzw(euler_to_quaternion(kRollPitchYaw, rpy), q);
      } else {
        write_xyzw(read_quaternion(facts.quaternion, other, w), q);
      }
      break;
    case JointType::free: {
      const Pose<double> X = free_reference_pose(facts, X_PJ);
      const bool position_first = facts.free_position == SpatialOrder::linear_first;
      const double* p = position_first ? other : other + quaternion_width(facts.quaternion);
      const double* orientation = position_first ? other + 3 : other;
      const Vector3<double> p_JB = X.inverse() * Vector3<double>(p[0], p[1], p[2]);
      std::copy_n(p_JB.data(), 3, q);
      // The conjugate, not the quaternion of the transpose, which may have the opposite sign.
      const Quaternion<double> back = quaternion_from_matrix(X.R).conjugate();
      write_xyzw(back * read_quaternion(facts.quaternion, orientation, w), q + 3);
      break;
    }
    default:
      std::copy_n(other, joint.nq(), q);
  }
}

Block velocity_block(const ConventionFacts& facts, const Joint<double>& joint,
                     const Pose<double>& X_PJ, const double* q) {
  const int nv = joint.nv();
  Block P = Block::Identity(nv, nv);
  if (rotates_planar_velocity(facts, joint.type())) {
    P.topLeftCorner<2, 2>() << std::cos(q[2]), -std::sin(q[2]), std::sin(q[2]), std::cos(q[2]);
  } else if (joint.type() == JointType::spherical &&
             facts.spherical_velocity == VelocityAxes::parent) {
    P = joint.pose(q).R;
  } else if (joint.type() == JointType::free) {
    const Pose<double> X = free_reference_pose(facts, X_PJ) * joint.pose(q);
    for (int i = 0; i < 6; ++i) {
      const auto unit = Motion<double>::from_vector(Vector6<double>::Unit(i));
      P.col(i) = free_order(
          facts, convert_velocity(X, unit, BaseVelocityConvention::body, facts.free_velocity));
    }
  }
  return P;
}

Column bias(const ConventionFacts& facts, const Joint<double>& joint, const Pose<double>& X_PJ,
            const double* q, const double* v) {
  Column b = Column::Zero(joint.nv());
  if (rotates_planar_velocity(facts, joint.type())) {
    // d/dt (R v) = R (w x v), in the plane.
    const double c = std::cos(q[2]), s = std::sin(q[2]), x = -v[2] * v[1], y = v[2] * v[0];
    b[0] = c * x - s * y;
    b[1] = s * x + c * y;
  } else if (joint.type() == JointType::free) {
    const Pose<double> X = free_reference_pose(facts, X_PJ) * joint.pose(q);
    b = free_order(facts, convert_acceleration(X, motion_at(v), Motion<double>(),
                                               BaseVelocityConvention::body, facts.free_velocity));
  }
  return b;
}

}  // namespace limb::convert_joint
