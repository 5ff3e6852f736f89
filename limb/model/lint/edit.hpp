#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "limb/base/diagnostic.hpp"
#include "limb/model/core/description.hpp"

namespace limb {

/// One change of the numbers of a robot description, small enough to be written into its file.
struct FileEdit {
  enum class Field {
    mass,    ///< link: 1 number
    com,     ///< link: x y z of the mass centre
    tensor,  ///< link: ixx iyy izz ixy ixz iyz, about the mass centre, in the file's axes
    axis,    ///< joint: x y z
    axis2,   ///< joint: x y z
    limits,  ///< joint: lower upper of one degree of freedom
    rpy,     ///< joint: roll pitch yaw of its frame in the parent link
  };

  std::string rule;       ///< of the finding that it repairs
  SourceLocation source;  ///< of the inertial or the joint
  Field field = Field::mass;
  std::size_t index = 0;  ///< of the link or the joint in the Description
  std::size_t dof = 0;    ///< limits: which degree of freedom
  std::string owner;      ///< name of the link or the joint
  std::vector<double> before, after;

  [[nodiscard]] bool of_link() const {
    return field == Field::mass || field == Field::com || field == Field::tensor;
  }
  /// "arm.urdf:12: link 'tip': mass 1500 -> 1.5 [mass-units]"; only the changed tensor entries.
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] const char* to_text(FileEdit::Field field);

/// A diagnostic of the linter and, if a repair is safe, its edits.
struct LintFinding {
  Diagnostic diagnostic;
  std::vector<FileEdit> edits;
};

using LintFindings = std::vector<LintFinding>;

/// The six entries ixx iyy izz ixy ixz iyz, and the matrix with these entries.
std::vector<double> tensor_entries(const Matrix3<double>& tensor);
Matrix3<double> tensor_from(const std::vector<double>& entries);
/// The entries as an edit writes them: 14 digits, and 0 for entries that are rounding errors.
std::vector<double> written_entries(const Matrix3<double>& tensor);

FileEdit edit_mass(std::string rule, const Description<double>& robot, std::size_t link,
                   double mass);
FileEdit edit_com(std::string rule, const Description<double>& robot, std::size_t link,
                  const Vector3<double>& com);
FileEdit edit_tensor(std::string rule, const Description<double>& robot, std::size_t link,
                     const Matrix3<double>& tensor);
FileEdit edit_axis(std::string rule, const Description<double>& robot, std::size_t joint,
                   FileEdit::Field which, const Vector3<double>& axis);
/// The joint must have rpy.
FileEdit edit_rpy(std::string rule, const Description<double>& robot, std::size_t joint,
                  const Vector3<double>& rpy);
/// The degree of freedom must have both limits.
FileEdit edit_limits(std::string rule, const Description<double>& robot, std::size_t joint,
                     std::size_t dof, double lower, double upper);

}  // namespace limb
