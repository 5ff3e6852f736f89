#include "limb/model/edit.hpp"

#include <fmt/format.h>

#include <array>

#include "limb/math/check.hpp"

namespace limb {
namespace {

std::vector<double> numbers(const Vector3<double>& v) {
  return {v.x(), v.y(), v.z()};
}

/// To 14 digits, far finer than any file: 1e-6 / 1000 is written 1e-09, and no zero has a sign.
std::vector<double> rounded(std::vector<double> values) {
  for (double& value : values) value = std::stod(fmt::format("{:.14g}", value)) + 0.0;
  return values;
}

Edit of_inertial(std::string rule, const Description<double>& robot, std::size_t link,
                 Edit::Field field) {
  const auto& l = robot.links.at(link);
  Edit edit;
  edit.rule = std::move(rule);
  edit.source = l.inertial.value().source;
  edit.field = field;
  edit.index = link;
  edit.owner = l.name;
  return edit;
}

}  // namespace

const char* to_text(Edit::Field field) {
  constexpr std::array kNames = {"mass", "com", "tensor", "axis", "axis2", "limits", "rpy"};
  return kNames[static_cast<std::size_t>(field)];
}

std::string Edit::text() const {
  std::string change;
  if (field == Field::tensor) {
    constexpr std::array kEntries = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    for (std::size_t i = 0; i < kEntries.size(); ++i) {
      if (before[i] == after[i]) continue;
      change += fmt::format("{}{} {} -> {}", change.empty() ? "" : ", ", kEntries[i],
                            limb::to_text(before[i]), limb::to_text(after[i]));
    }
  } else {
    const auto shown = [](const std::vector<double>& v) {
      return v.size() == 1 ? limb::to_text(v[0]) : limb::to_text(std::span<const double>(v));
    };
    change = fmt::format("{} {} -> {}", limb::to_text(field), shown(before), shown(after));
  }
  const std::string where = source.text();
  return fmt::format("{}{}{} '{}': {} [{}]", where, where.empty() ? "" : ": ",
                     of_link() ? "link" : "joint", owner, change, rule);
}

std::vector<double> tensor_entries(const Matrix3<double>& I) {
  return {I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)};
}

std::vector<double> written_entries(const Matrix3<double>& tensor) {
  std::vector<double> entries = rounded(tensor_entries(tensor));
  const double least = 1e-14 * tensor.cwiseAbs().maxCoeff();
  for (double& entry : entries) entry = std::abs(entry) < least ? 0.0 : entry;
  return entries;
}

Matrix3<double> tensor_from(const std::vector<double>& e) {
  return tensor_from_entries<double>(e.at(0), e.at(1), e.at(2), e.at(3), e.at(4), e.at(5));
}

Edit edit_mass(std::string rule, const Description<double>& robot, std::size_t link, double mass) {
  Edit edit = of_inertial(std::move(rule), robot, link, Edit::Field::mass);
  edit.before = {robot.links[link].inertial->mass};
  edit.after = rounded({mass});
  return edit;
}

Edit edit_com(std::string rule, const Description<double>& robot, std::size_t link,
              const Vector3<double>& com) {
  Edit edit = of_inertial(std::move(rule), robot, link, Edit::Field::com);
  edit.before = numbers(robot.links[link].inertial->X_LI.p);
  edit.after = rounded(numbers(com));
  return edit;
}

Edit edit_tensor(std::string rule, const Description<double>& robot, std::size_t link,
                 const Matrix3<double>& tensor) {
  Edit edit = of_inertial(std::move(rule), robot, link, Edit::Field::tensor);
  edit.before = tensor_entries(robot.links[link].inertial->tensor);
  edit.after = written_entries(tensor);
  return edit;
}

namespace {

Edit edit_joint(std::string rule, const Description<double>& robot, std::size_t joint,
                Edit::Field which, const Vector3<double>& before, const Vector3<double>& after) {
  const auto& j = robot.joints.at(joint);
  Edit edit;
  edit.rule = std::move(rule);
  edit.source = j.source;
  edit.field = which;
  edit.index = joint;
  edit.owner = j.name;
  edit.before = numbers(before);
  edit.after = numbers(after);
  return edit;
}

}  // namespace

Edit edit_axis(std::string rule, const Description<double>& robot, std::size_t joint,
               Edit::Field which, const Vector3<double>& axis) {
  const auto& j = robot.joints.at(joint);
  return edit_joint(std::move(rule), robot, joint, which,
                    which == Edit::Field::axis ? j.axis : j.axis2, axis);
}

Edit edit_rpy(std::string rule, const Description<double>& robot, std::size_t joint,
              const Vector3<double>& rpy) {
  return edit_joint(std::move(rule), robot, joint, Edit::Field::rpy,
                    robot.joints.at(joint).rpy.value(), rpy);
}

Edit edit_limits(std::string rule, const Description<double>& robot, std::size_t joint,
                 std::size_t dof, double lower, double upper) {
  const auto& j = robot.joints.at(joint);
  const auto& limits = j.limits.at(dof);
  Edit edit;
  edit.rule = std::move(rule);
  edit.source = j.source;
  edit.field = Edit::Field::limits;
  edit.index = joint;
  edit.dof = dof;
  edit.owner = j.name;
  edit.before = {limits.lower.value(), limits.upper.value()};
  edit.after = {lower, upper};
  return edit;
}

}  // namespace limb
