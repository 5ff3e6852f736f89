#include <fmt/format.h>

#include <limits>
#include <numbers>
#include <unordered_set>

#include "limb/math/check.hpp"
#include "limb/model/lint/check.hpp"

namespace limb {
namespace {

using Severity = Diagnostic::Severity;

bool has_axis(JointType type) {
  switch (type) {
    case JointType::revolute:
    case JointType::continuous:
    case JointType::prismatic:
    case JointType::helical:
    case JointType::cylindrical:
    case JointType::universal:
    case JointType::planar:
      return true;
    case JointType::fixed:
    case JointType::translation:
    case JointType::spherical:
    case JointType::free:
      return false;
  }
  return false;
}

/// Whether coordinate `dof` of the joint is an angle.
bool is_angle(JointType type, std::size_t dof) {
  switch (type) {
    case JointType::revolute:
    case JointType::continuous:
    case JointType::helical:
    case JointType::universal:
      return true;
    case JointType::cylindrical:
      return dof == 1;
    case JointType::planar:
      return dof == 2;
    default:
      return false;
  }
}

/// The quarter turn that an angle with 5 to 15 digits approximates; else the angle. Angles near 0
/// are not rounded.
double nearest_quarter_turn(double angle) {
  constexpr double quarter = std::numbers::pi / 2, kNear = 1e-4;
  const double turns = std::round(angle / quarter), exact = turns * quarter;
  const double off = std::abs(angle - exact);
  const double rounding = 2 * std::numeric_limits<double>::epsilon() * std::abs(exact);
  return turns != 0 && off <= kNear && off > rounding ? exact : angle;
}

/// Too large for radians (30 rad are almost five turns), at most two turns in degrees, and round in
/// degrees: two signs. Fewer turns are common for motors without stops.
bool are_degrees(double lower, double upper) {
  const auto is_round = [](double x) {
    return std::abs(2 * x - std::round(2 * x)) < 1e-9;  // written with at most one digit, .0 or .5
  };
  const double largest = std::max(std::abs(lower), std::abs(upper));
  return largest >= 30 && largest <= 720 && is_round(lower) && is_round(upper);
}

class Checker {
 public:
  Checker(const Description<double>& robot, LintFindings& findings)
      : robot_(robot), findings_(findings) {
    for (const auto& coupling : robot.couplings) coupled_.insert(coupling.joint);
  }

  void run() {
    for (std::size_t j = 0; j < robot_.joints.size(); ++j) {
      const auto& joint = robot_.joints[j];
      if (has_axis(joint.type)) check_axis(j, FileEdit::Field::axis, joint.axis);
      if (joint.type == JointType::universal) check_axis(j, FileEdit::Field::axis2, joint.axis2);
      check_losses(j);
      if (joint.rpy) check_turns(j, *joint.rpy);
      if (joint.type == JointType::fixed) continue;
      for (std::size_t dof = 0; dof < joint.limits.size(); ++dof) check_limits(j, dof);
    }
  }

 private:
  void add(Severity severity, std::string rule, std::size_t joint, const std::string& message,
           std::string reason, std::string fix, std::vector<FileEdit> edits = {}) {
    const auto& j = robot_.joints[joint];
    findings_.push_back(
        {{severity, std::move(rule), j.source, fmt::format("joint '{}': {}", j.name, message),
          std::move(reason), std::move(fix)},
         std::move(edits)});
  }

  void check_axis(std::size_t joint, FileEdit::Field which, const Vector3<double>& axis) {
    const double length = axis.stableNorm();
    if (length == 0) {
      add(Severity::error, "axis-zero", joint,
          fmt::format("{} is {}, which has no direction", to_text(which), to_text(axis)),
          "the direction of motion is not defined", "write a unit vector, for example 0 0 1");
      return;
    }
    // An axis with eight digits passes.
    if (std::abs(length - 1) <= 1e-7) return;
    const Vector3<double> unit = axis.stableNormalized();
    add(Severity::warning, "axis-not-unit", joint,
        fmt::format("{} {} has length {:.6g}, expected 1", to_text(which), to_text(axis), length),
        "tools that do not normalise it scale the motion and the torque by its length",
        fmt::format("{} = {}", to_text(which), to_text(unit)),
        {edit_axis("axis-not-unit", robot_, joint, which, unit)});
  }

  void check_turns(std::size_t joint, const Vector3<double>& rpy) {
    const Vector3<double> exact = rpy.unaryExpr(&nearest_quarter_turn);
    if (exact == rpy) return;
    add(Severity::note, "quarter-turn", joint,
        fmt::format("rpy {} is {:.1e} rad from quarter turns", to_text(rpy),
                    (exact - rpy).cwiseAbs().maxCoeff()),
        "zeros of the model become small numbers, which costs computing time and symmetry",
        fmt::format("rpy = {}", to_text(exact)), {edit_rpy("quarter-turn", robot_, joint, exact)});
  }

  void check_losses(std::size_t joint) {
    const auto& j = robot_.joints[joint];
    const auto refuse = [&](const char* what, double value) {
      if (value >= 0) return;
      add(Severity::error, "loss-negative", joint,
          fmt::format("{} is {}, expected >= 0", what, to_text(value)),
          "the joint would create energy", fmt::format("{} = {}", what, to_text(-value)));
    };
    refuse("damping", j.damping);
    refuse("friction", j.friction);
    refuse("armature", j.armature);
  }

  void check_limits(std::size_t joint, std::size_t dof) {
    const auto& j = robot_.joints[joint];
    const auto& limits = j.limits[dof];
    if (limits.lower && limits.upper) check_range(joint, dof, *limits.lower, *limits.upper);
    // Exporters write only zeros for a joint without limits: one finding, not three.
    if (limits.lower == 0.0 && limits.upper == 0.0 && limits.effort.value_or(0) == 0 &&
        limits.velocity.value_or(0) == 0) {
      return;
    }
    check_capacity(joint, "effort", limits.effort);
    check_capacity(joint, "velocity", limits.velocity);
  }

  void check_range(std::size_t joint, std::size_t dof, double lower, double upper) {
    const auto& j = robot_.joints[joint];
    if (is_angle(j.type, dof) && are_degrees(lower, upper)) {
      const double degree = std::numbers::pi / 180;
      const double low = lower * degree, high = upper * degree;
      add(Severity::warning, "limit-degrees", joint,
          fmt::format("limits {} to {} are more than a turn; they look like degrees",
                      to_text(lower), to_text(upper)),
          "angles are in radians, so the joint is effectively unlimited",
          fmt::format("lower = {}, upper = {}", to_text(low), to_text(high)),
          {edit_limits("limit-degrees", robot_, joint, dof, low, high)});
      return;
    }
    if (lower > upper) {
      add(Severity::error, "limit-swapped", joint,
          fmt::format("lower limit {} is above the upper limit {}", to_text(lower), to_text(upper)),
          "no position is allowed",
          fmt::format("lower = {}, upper = {}", to_text(upper), to_text(lower)),
          {edit_limits("limit-swapped", robot_, joint, dof, upper, lower)});
    } else if (lower == upper && j.type != JointType::continuous) {
      add(Severity::warning, "limit-empty", joint,
          fmt::format("lower and upper limit are both {}", to_text(lower)), "the joint cannot move",
          "write its range, or make the joint fixed");
    }
  }

  void check_capacity(std::size_t joint, std::string_view what,
                      const std::optional<double>& value) {
    if (!value || *value > 0) return;
    const auto& j = robot_.joints[joint];
    const std::string rule = fmt::format("{}-{}", what, *value < 0 ? "negative" : "zero");
    if (*value < 0) {
      add(Severity::error, rule, joint, fmt::format("{} limit is {}", what, to_text(*value)),
          "a limit is a magnitude", fmt::format("{} = {}", what, to_text(-*value)));
    } else if (!coupled_.contains(j.name)) {  // a follower needs no motor
      add(Severity::warning, rule, joint, fmt::format("{} limit is 0", what),
          "a controller that respects it cannot move the joint",
          fmt::format("write the limit of the motor, or leave {} out if it has none", what));
    }
  }

  const Description<double>& robot_;
  LintFindings& findings_;
  std::unordered_set<std::string> coupled_;
};

}  // namespace

void find_joints(const Description<double>& robot, LintFindings& findings) {
  Checker(robot, findings).run();
}

}  // namespace limb
