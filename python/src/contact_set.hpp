#pragma once

#include "limb/dynamics/constrained.hpp"
#include "python/src/states.hpp"

namespace limb::python {

/// Contacts of a robot and the loops of its model, with room to compute for any thread.
class ContactSet {
 public:
  ContactSet(const Robot& robot, std::vector<Contact<double>> contacts,
             std::vector<std::string> names);

  const ConstraintSet<double>& set() const { return set_; }
  const std::vector<std::string>& names() const { return names_; }
  /// @throws Error unless this was made for that robot.
  void check(const char* call, const Robot& robot) const;

  /// A room that goes back by itself.
  class Borrowed {
   public:
    explicit Borrowed(const ContactSet& owner);
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed();
    ConstraintWorkspace<double>& operator*() { return *work_; }

   private:
    const ContactSet& owner_;
    std::unique_ptr<ConstraintWorkspace<double>> work_;
  };

 private:
  const Robot* robot_;
  ConstraintSet<double> set_;
  std::vector<std::string> names_;
  mutable Pool<ConstraintWorkspace<double>> pool_;
};

/// A ContactSet as it is, or one made of a frame's name or a sequence of names.
/// @throws Error if it is something else.
const ContactSet& contacts_of(const char* call, const Robot& robot, nb::handle given,
                              std::unique_ptr<ContactSet>& made);

}  // namespace limb::python
