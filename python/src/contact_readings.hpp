#pragma once

#include "limb/sim/contact/contacts.hpp"
#include "python/src/numbers.hpp"

/// What contacts of a run tell Python.
namespace limb::python {

/// Of the last step.
nb::object contact_points(const Contacts& contacts);
nb::object contact_report(const ContactReport& report);

/// Contacts over a recording: a row for each of its rows.
class ContactRecord {
 public:
  explicit ContactRecord(const Contacts& contacts);

  /// A control period begins: the worst of a row's steps count. Without Python's lock.
  void see(const Contacts& contacts);
  void add_row(const Contacts& contacts);
  nb::dict arrays() const;

 private:
  std::vector<std::string> names_;  ///< of shapes, each once
  std::vector<int> name_of_;        ///< of each shape
  Matrix3X<double> force_;          ///< on each name, now
  ContactReport worst_;
  std::vector<double> touching_, penetration_, residual_, complementarity_, cone_, dissipated_,
      pressure_;
  std::vector<std::vector<double>> forces_;
  bool converged_ = true;
};

}  // namespace limb::python
