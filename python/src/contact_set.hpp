#pragma once

#include "limb/dynamics/constraints/constrained_derivatives.hpp"
#include "python/src/states.hpp"

namespace limb::python {

/// Contacts of a robot and the loops of its model, with a pool of workspaces for threads.
class ContactSet {
 public:
  ContactSet(const Robot& robot, std::vector<Contact<double>> contacts,
             std::vector<std::string> names);

  const ConstraintSet<double>& set() const { return set_; }
  const std::vector<std::string>& names() const { return names_; }
  /// @throws Error unless this was made for that robot.
  void check(const char* call, const Robot& robot) const;

  /// A workspace from the pool, returned by the destructor.
  template <typename T>
  class Borrowed {
   public:
    explicit Borrowed(const ContactSet& owner, Pool<T>& pool)
        : pool_(pool),
          workspace_(
              pool.take([&] { return std::make_unique<T>(owner.robot_->model(), owner.set_); })) {}
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() { pool_.give_back(std::move(workspace_)); }
    T& operator*() { return *workspace_; }

   private:
    Pool<T>& pool_;
    std::unique_ptr<T> workspace_;
  };
  /// For the dynamics, and for their derivatives including the results.
  auto work() const { return Borrowed<ConstraintWorkspace<double>>(*this, pool_); }
  struct DerivativeBuffers {
    DerivativeBuffers(const Model<double>& model, const ConstraintSet<double>& set)
        : work(model, set), motion(model, set), impact(model, set) {}
    ConstrainedDerivativeWorkspace<double> work;
    ConstrainedDerivatives<double> motion;
    ImpactDerivatives<double> impact;
  };
  auto derivatives() const { return Borrowed<DerivativeBuffers>(*this, derivative_pool_); }

 private:
  const Robot* robot_;
  ConstraintSet<double> set_;
  std::vector<std::string> names_;
  mutable Pool<ConstraintWorkspace<double>> pool_;
  mutable Pool<DerivativeBuffers> derivative_pool_;
};

/// The given ContactSet, or one made from a frame name or a sequence of names.
/// @throws Error if it is something else.
const ContactSet& contacts_of(const char* call, const Robot& robot, nb::handle given,
                              std::unique_ptr<ContactSet>& made);

}  // namespace limb::python
