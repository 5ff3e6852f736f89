#pragma once

#include "limb/sim/contact/contacts.hpp"
#include "python/src/eigen_conversion.hpp"

/// Contact results of a simulation, as Python objects.
namespace limb::python {

/// Contact points and residuals of the last step.
nb::object contact_points(const Contacts& contacts);
nb::object contact_report(const ContactReport& report);

/// Contact results of a recording: one row per row of the recording.
class ContactRecord {
 public:
  explicit ContactRecord(const Contacts& contacts);

  /// Called at the start of each control period; a row has the largest residuals since the row
  /// before. Needs no GIL.
  void update(const Contacts& contacts);
  void add_row(const Contacts& contacts);
  nb::dict arrays() const;

 private:
  std::vector<std::string> names_;  ///< unique names of shapes
  std::vector<int> name_of_;        ///< index in names_ of each shape
  Matrix3X<double> force_;          ///< current force on each name
  ContactReport worst_;
  std::vector<double> touching_, penetration_, residual_, complementarity_, cone_, dissipated_,
      pressure_;
  std::vector<std::vector<double>> forces_;
  bool converged_ = true;
};

}  // namespace limb::python
