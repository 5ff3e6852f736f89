#include "limb/model/lint/repair.hpp"

#include <map>
#include <tuple>

#include "limb/base/check.hpp"
#include "limb/math/euler.hpp"
#include "limb/model/lint/check.hpp"

namespace limb {
namespace {

using FieldKey = std::tuple<bool, std::size_t, FileEdit::Field, std::size_t>;

FieldKey field_key(const FileEdit& edit) {
  return {edit.of_link(), edit.index, edit.field, edit.dof};
}

/// Each round can reveal at most one more finding of a link: mass, centre, unit, point, sign,
/// consistency.
constexpr int kMaxRounds = 8;

Vector3<double> vector(const std::vector<double>& v) {
  return {v.at(0), v.at(1), v.at(2)};
}

}  // namespace

std::vector<FileEdit> propose_edits(const Description<double>& robot, const MeshBoxes& meshes) {
  std::vector<FileEdit> edits;
  std::map<FieldKey, bool> taken;
  for (LintFinding& finding : find_values(robot, meshes)) {
    for (FileEdit& edit : finding.edits) {
      if (edit.before != edit.after && taken.emplace(field_key(edit), true).second) {
        edits.push_back(std::move(edit));
      }
    }
  }
  return edits;
}

void apply_edits(Description<double>& robot, const std::vector<FileEdit>& edits) {
  for (const FileEdit& edit : edits) {
    const std::size_t count = edit.of_link() ? robot.links.size() : robot.joints.size();
    if (edit.index >= count) {
      fail("apply_edits", edit.of_link() ? "link index" : "joint index", std::to_string(edit.index),
           "less than " + std::to_string(count));
    }
    if (edit.of_link()) {
      auto& inertial = robot.links[edit.index].inertial;
      if (!inertial) fail("apply_edits", "link '" + edit.owner + "'", "massless", "an inertial");
      if (edit.field == FileEdit::Field::mass) inertial->mass = edit.after.at(0);
      if (edit.field == FileEdit::Field::com) inertial->X_LI.p = vector(edit.after);
      if (edit.field == FileEdit::Field::tensor) inertial->tensor = tensor_from(edit.after);
      continue;
    }
    auto& joint = robot.joints[edit.index];
    if (edit.field == FileEdit::Field::axis) joint.axis = vector(edit.after);
    if (edit.field == FileEdit::Field::axis2) joint.axis2 = vector(edit.after);
    if (edit.field == FileEdit::Field::rpy) {
      joint.rpy = vector(edit.after);
      joint.X_PJ.R = rpy_to_matrix(edit.after[0], edit.after[1], edit.after[2]);
    }
    if (edit.field == FileEdit::Field::limits) {
      if (edit.dof >= joint.limits.size()) {
        fail("apply_edits", "limit index", std::to_string(edit.dof),
             "less than " + std::to_string(joint.limits.size()));
      }
      joint.limits[edit.dof].lower = edit.after.at(0);
      joint.limits[edit.dof].upper = edit.after.at(1);
    }
  }
}

RepairedRobot repair_robot(const Description<double>& robot, const MeshBoxes& meshes) {
  RepairedRobot result;
  result.robot = robot;
  std::map<FieldKey, std::size_t> index;
  for (int round = 0; round < kMaxRounds; ++round) {
    const std::vector<FileEdit> edits = propose_edits(result.robot, meshes);
    if (edits.empty()) break;
    apply_edits(result.robot, edits);
    for (const FileEdit& edit : edits) {
      const auto [known, fresh] = index.emplace(field_key(edit), result.edits.size());
      if (fresh) {
        result.edits.push_back(edit);
      } else {
        FileEdit& first = result.edits[known->second];
        first.after = edit.after;
        first.rule += ", " + edit.rule;
      }
    }
  }
  result.remaining = check_robot(result.robot, meshes);
  return result;
}

}  // namespace limb
