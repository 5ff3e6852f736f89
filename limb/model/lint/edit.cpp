#include "limb/model/lint/edit.hpp"

#include <fmt/format.h>

#include <array>

#include "limb/math/check.hpp"

namespace limb {
namespace {

std::vector<double> numbers(const Vector3<double>& v) {
  return {v.x(), v.y(), v.z()};
}

/// To 14 digits, more than any file has: 1e-6 / 1000 is written 1e-09, and zero has no sign.
std::vector<double> rounded(std::vector<double> values) {
  for (double& value : values) value = std::stod(fmt::format("{:.14g}", value)) + 0.0;
  return values;
}

FileEdit of_inertial(std::string rule, const Description<double>& robot, std::size_t link,
                     FileEdit::Field field) {
  const auto& l = robot.links.at(link);
  FileEdit edit;
  edit.rule = std::move(rule);
  edit.source = l.inertial.value().source;
  edit.field = field;
  edit.index = link;
  edit.owner = l.name;
  return edit;
}

}  // namespace

const char* to_text(FileEdit::Field field) {
  constexpr std::array kNames = {"mass", "com", "tensor", "axis", "axis2", "limits", "rpy"};
  return kNames[static_cast<std::size_t>(field)];
}

std::string FileEdit::text() const {
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

FileEdit edit_mass(std::string rule, const Description<double>& robot, std::size_t link,
                   double mass) {
  FileEdit edit = of_inertial(std::move(rule), robot, link, FileEdit::Field::mass);
  edit.before = {robot.links[link].inertial->mass};
  edit.after = rounded({mass});
  return edit;
}

FileEdit edit_com(std::string rule, const Description<double>& robot, std::size_t link,
                  const Vector3<double>& com) {
  FileEdit edit = of_inertial(std::move(rule), robot, link, FileEdit::Field::com);
  edit.before = numbers(robot.links[link].inertial->X_LI.p);
  edit.after = rounded(numbers(com));
  return edit;
}

FileEdit edit_tensor(std::string rule, const Description<double>& robot, std::size_t link,
                     const Matrix3<double>& tensor) {
  FileEdit edit = of_inertial(std::move(rule), robot, link, FileEdit::Field::tensor);
  edit.before = tensor_entries(robot.links[link].inertial->tensor);
  edit.after = written_entries(tensor);
  return edit;
}

namespace {

FileEdit edit_joint(std::string rule, const Description<double>& robot, std::size_t joint,
                    FileEdit::Field which, const Vector3<double>& before,
                    const Vector3<double>& after) {
  const auto& j = robot.joints.at(joint);
  FileEdit edit;
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

FileEdit edit_axis(std::string rule, const Description<double>& robot, std::size_t joint,
                   FileEdit::Field which, const Vector3<double>& axis) {
  const auto& j = robot.joints.at(joint);
  return edit_joint(std::move(rule), robot, joint, which,
                    which == FileEdit::Field::axis ? j.axis : j.axis2, axis);
}

FileEdit edit_rpy(std::string rule, const Description<double>& robot, std::size_t joint,
                  const Vector3<double>& rpy) {
  return edit_joint(std::move(rule), robot, joint, FileEdit::Field::rpy,
                    robot.joints.at(joint).rpy.value(), rpy);
}

FileEdit edit_limits(std::string rule, const Description<double>& robot, std::size_t joint,
                     std::size_t dof, double lower, double upper) {
  const auto& j = robot.joints.at(joint);
  const auto& limits = j.limits.at(dof);
  FileEdit edit;
  edit.rule = std::move(rule);
  edit.source = j.source;
  edit.field = FileEdit::Field::limits;
  edit.index = joint;
  edit.dof = dof;
  edit.owner = j.name;
  edit.before = {limits.lower.value(), limits.upper.value()};
  edit.after = {lower, upper};
  return edit;
}

}  // namespace limb
