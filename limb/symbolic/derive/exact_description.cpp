#include "limb/symbolic/derive/exact_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "limb/math/euler.hpp"

namespace limb::symbolic {
namespace {

using T = Polynomial;

template <typename Matrix>
bool all_constant(const Matrix& m) {
  for (Eigen::Index i = 0; i < m.size(); ++i) {
    if (!m.data()[i].is_constant()) return false;
  }
  return true;
}

Matrix3<double> to_double(const Matrix3<T>& R) {
  return R.unaryExpr([](const T& x) { return x.constant().to_double(); });
}

/// Converts the angles of a file to exact angles.
class ExactAngles {
 public:
  ExactAngles(const ExactOptions& options, std::vector<std::string>& notes)
      : options_(options), notes_(notes) {}

  /// A multiple of 15 degrees if it is close to one; else a symbol if options.names is set, or the
  /// decimal in radians.
  T operator()(double angle, const std::string& owner) {
    const auto steps = near_multiple_of_15_degrees(angle, owner, notes_);
    if (!steps) return options_.names ? named(angle) : T(angle);
    return ConstantsOf<T>::pi() * ConstantsOf<T>::ratio(*steps, 12);
  }

 private:
  T named(double angle) {
    const double size = std::abs(angle);
    auto [found, fresh] = symbols_.try_emplace(size);
    if (fresh) {
      const std::string name = fmt::format("alpha{}", symbols_.size());
      const SymbolId id = options_.names->add_symbol({name, Symbol::Kind::parameter, size, {}, 0});
      found->second = T::symbol(options_.names, id);
    }
    return angle < 0 ? -found->second : found->second;
  }

  const ExactOptions& options_;
  std::vector<std::string>& notes_;
  std::map<double, T> symbols_;
};

Matrix3<T> rotation_about(int axis, const T& angle) {
  return axis_rotation<T>(axis, cos(angle), sin(angle));
}

/// Rz(yaw) Ry(pitch) Rx(roll)
Matrix3<T> from_rpy(const Vector3<double>& rpy, const std::string& owner, ExactAngles& exact) {
  return rotation_about(2, exact(rpy[2], owner)) * rotation_about(1, exact(rpy[1], owner)) *
         rotation_about(0, exact(rpy[0], owner));
}

/// R if it is exactly a rotation; else the same rotation with exact angles.
Matrix3<T> exact_rotation(const Matrix3<T>& R, const std::optional<Vector3<double>>& rpy,
                          const std::string& owner, ExactAngles& exact) {
  const Matrix3<T> product = R * R.transpose();
  if (product == Matrix3<T>::Identity()) return R;
  if (!all_constant(R)) {
    throw Error(
        fmt::format("symbolic: {}: its matrix is not exactly a rotation, expected "
                    "angles (rpy, axis_angle) instead of quaternions or matrices",
                    owner));
  }
  if (rpy) return from_rpy(*rpy, owner, exact);
  return from_rpy(matrix_to_rpy<double>(to_double(R)).angles, owner, exact);
}

bool is_coordinate_axis(const Vector3<T>& axis) {
  int zeros = 0, ones = 0;
  for (int i = 0; i < 3; ++i) {
    zeros += axis[i].is_zero() ? 1 : 0;
    ones += axis[i] == T(1) || axis[i] == T(-1) ? 1 : 0;
  }
  return zeros == 2 && ones == 1;
}

/// A rotation that maps z to the axis: Rz(a) Ry(b).
Matrix3<T> z_to_axis(const Vector3<T>& axis, const std::string& owner, ExactAngles& exact) {
  if (!all_constant(axis)) {
    throw Error(
        fmt::format("symbolic: {}: the axis has symbols, expected numbers (rotate the "
                    "joint frame instead)",
                    owner));
  }
  const Vector3<double> n = axis.unaryExpr([](const T& x) { return x.constant().to_double(); });
  const double a = std::atan2(n[1], n[0]), b = std::atan2(std::hypot(n[0], n[1]), n[2]);
  return rotation_about(2, exact(a, owner)) * rotation_about(1, exact(b, owner));
}

/// Makes joint axes coordinate axes by rotating the joint frames.
void make_axis_exact(JointDescription<T>& joint, const std::string& owner, ExactAngles& exact) {
  using enum JointType;
  const JointType t = joint.type;
  const bool has_one_axis =
      t == revolute || t == continuous || t == prismatic || t == helical || t == cylindrical;
  if (has_one_axis && !is_coordinate_axis(joint.axis)) {
    const Matrix3<T> A = z_to_axis(joint.axis, owner, exact);
    joint.X_PJ.R = joint.X_PJ.R * A;
    joint.X_JC = Pose<T>{A.transpose(), Vector3<T>::Zero()} * joint.X_JC;
    joint.axis = Vector3<T>::UnitZ();
  }
  if (t != universal) return;
  if (!is_coordinate_axis(joint.axis) || !is_coordinate_axis(joint.axis2)) {
    throw Error(
        fmt::format("symbolic: {}: the axes of a universal joint are not coordinate axes, expected "
                    "coordinate axes (rotate the joint frame instead)",
                    owner));
  }
}

bool is_angular(JointType type) {
  return type == JointType::revolute || type == JointType::continuous;
}

}  // namespace

std::optional<int> near_multiple_of_15_degrees(double angle, const std::string& owner,
                                               std::vector<std::string>& notes) {
  constexpr double kStep = std::numbers::pi / 12, kRounding = 1e-10;
  const double steps = std::round(angle / kStep), off = std::abs(angle - steps * kStep);
  if (off > kAngleSnap) return std::nullopt;
  if (off > kRounding) {
    notes.push_back(fmt::format("{}: the angle {:.6g} rad is taken as {} degrees", owner, angle,
                                15 * static_cast<int>(steps)));
  }
  return static_cast<int>(steps);
}

T exact_angle(const T& angle, const std::string& owner, std::vector<std::string>& notes) {
  if (!angle.is_constant()) return angle;
  const auto steps = near_multiple_of_15_degrees(angle.constant().to_double(), owner, notes);
  return steps ? ConstantsOf<T>::pi() * ConstantsOf<T>::ratio(*steps, 12) : angle;
}

void snap_rotations(Description<double>& description, std::vector<std::string>& notes) {
  const auto snap = [&](Matrix3<double>& R, const std::optional<Vector3<double>>& given,
                        const std::string& owner) {
    Vector3<double> rpy = given ? *given : matrix_to_rpy<double>(R).angles;
    const std::size_t before = notes.size();
    for (double& angle : rpy) {
      if (const auto steps = near_multiple_of_15_degrees(angle, owner, notes)) {
        angle = *steps * (std::numbers::pi / 12);
      }
    }
    if (notes.size() != before) R = rpy_to_matrix(rpy[0], rpy[1], rpy[2]);
  };
  for (auto& joint : description.joints) {
    const std::string owner = fmt::format("joint '{}'", joint.name);
    snap(joint.X_PJ.R, joint.rpy, owner);
    snap(joint.X_JC.R, std::nullopt, owner);
  }
}

Description<T> exact_numbers(const Description<double>& d) {
  Description<T> out;
  out.name = d.name;
  out.file = d.file;
  for (const auto& link : d.links) {
    LinkDescription<T> x{link.name, std::nullopt, {}, link.source};
    if (link.inertial) {
      // The tensor in link axes, where its six numbers need no rotation.
      const auto& I = *link.inertial;
      const Matrix3<double> rotated = rotate_tensor<double>(I.X_LI.R, I.tensor);
      const Matrix3<double> tensor =
          I.X_LI.R.isIdentity(0) ? I.tensor : Matrix3<double>((rotated + rotated.transpose()) / 2);
      InertialDescription<T> inertial;
      inertial.mass = I.mass;
      inertial.X_LI.p = I.X_LI.p.cast<T>();
      inertial.tensor = tensor.cast<T>();
      inertial.source = I.source;
      x.inertial = std::move(inertial);
    }
    out.links.push_back(std::move(x));
  }
  for (const auto& j : d.joints) {
    out.joints.push_back({j.name,
                          j.type,
                          j.parent,
                          j.child,
                          j.X_PJ.cast<T>(),
                          j.rpy,
                          j.X_JC.cast<T>(),
                          j.axis.cast<T>(),
                          j.axis2.cast<T>(),
                          T(j.pitch),
                          {},
                          T(j.damping),
                          T(j.friction),
                          T(j.armature),
                          j.source});
  }
  for (const auto& f : d.frames) out.frames.push_back({f.name, f.link, f.X_LF.cast<T>(), f.source});
  for (const auto& c : d.couplings) {
    CouplingDescription<T> x{c.joint, {}, T(c.offset), c.source};
    for (const auto& term : c.terms) x.terms.push_back({term.joint, T(term.ratio)});
    for (const double power : c.powers) x.powers.push_back(T(power));
    out.couplings.push_back(std::move(x));
  }
  for (const auto& l : d.loops) {
    LoopDescription<T> x;
    x.name = l.name;
    x.link_a = l.link_a;
    x.link_b = l.link_b;
    x.source = l.source;
    out.loops.push_back(std::move(x));
  }
  out.actuators = d.actuators;
  out.gravity = d.gravity.cast<T>();
  return out;
}

void make_exact(Description<T>& description, const ExactOptions& options,
                std::vector<std::string>& notes) {
  ExactAngles exact(options, notes);
  for (auto& joint : description.joints) {
    const std::string owner = fmt::format("joint '{}'", joint.name);
    joint.X_PJ.R = exact_rotation(joint.X_PJ.R, joint.rpy, owner, exact);
    joint.X_JC.R = exact_rotation(joint.X_JC.R, std::nullopt, owner, exact);
    make_axis_exact(joint, owner, exact);
  }
  for (auto& coupling : description.couplings) {
    const auto joint = std::find_if(description.joints.begin(), description.joints.end(),
                                    [&](const auto& j) { return j.name == coupling.joint; });
    if (joint == description.joints.end() || !is_angular(joint->type)) continue;
    coupling.offset =
        exact_angle(coupling.offset, fmt::format("joint '{}'", coupling.joint), notes);
  }
  for (auto& frame : description.frames) {
    frame.X_LF.R =
        exact_rotation(frame.X_LF.R, std::nullopt, fmt::format("frame '{}'", frame.name), exact);
  }
  for (auto& link : description.links) {
    if (!link.inertial) continue;
    auto& I = *link.inertial;
    I.X_LI.R = exact_rotation(I.X_LI.R, std::nullopt, fmt::format("link '{}'", link.name), exact);
  }
}

}  // namespace limb::symbolic
