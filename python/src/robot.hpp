#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "limb/dynamics/constraints/actuation.hpp"
#include "limb/dynamics/constraints/constrained_dynamics.hpp"
#include "limb/dynamics/constraints/operational_space.hpp"
#include "limb/dynamics/derivatives/derivative_workspace.hpp"
#include "limb/dynamics/identify/regressor.hpp"
#include "limb/dynamics/kinematics/base_velocity.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/lagrange/christoffel.hpp"
#include "limb/dynamics/lagrange/torque_budget.hpp"

/// The robot of the Python package: an immutable model and a pool of workspaces, one per thread.
namespace limb::python {

/// Constructed at first use.
template <typename T>
class Lazy {
 public:
  template <typename... Arguments>
  T& get(Arguments&&... arguments) {
    if (!value_) value_ = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;
};

/// The workspaces of all algorithms, for one thread at a time.
class Workspaces {
 public:
  explicit Workspaces(const Model<double>& model) : model_(model) {}

  Workspace<double>& tree() { return tree_.get(model_); }
  Kinematics<double>& kinematics() { return kinematics_.get(model_); }
  SubtreeScratch<double>& subtree() { return subtree_.get(model_); }
  TorqueBudgetScratch<double>& budget() { return budget_.get(model_); }
  LagrangeScratch<double>& lagrange() { return budget().lagrange; }
  MassFactor<double>& factor() { return factor_.get(model_); }
  DerivativeWorkspace<double>& derivatives() { return derivatives_.get(model_); }
  RegressorScratch<double>& regressor() { return regressor_.get(model_); }
  OperationalSpace<double>& task() { return task_.get(model_, 6); }
  BaseJointPartition<double>& legged() { return legged_.get(model_); }

  /// Any other workspace that is constructed from a model.
  template <typename T>
  T& workspace() {
    for (const auto& [key, made] : others_) {
      if (key == &kKey<T>) return *static_cast<T*>(made.get());
    }
    others_.emplace_back(&kKey<T>, std::make_shared<T>(model_));
    return *static_cast<T*>(others_.back().second.get());
  }

  /// Buffer for one state whose type or storage order is converted; grows, never shrinks.
  double* buffer(std::size_t size) {
    if (buffer_.size() < size) buffer_.resize(size);
    return buffer_.data();
  }

 private:
  const Model<double>& model_;
  Lazy<Workspace<double>> tree_;
  Lazy<Kinematics<double>> kinematics_;
  Lazy<SubtreeScratch<double>> subtree_;
  Lazy<TorqueBudgetScratch<double>> budget_;
  Lazy<MassFactor<double>> factor_;
  Lazy<DerivativeWorkspace<double>> derivatives_;
  Lazy<RegressorScratch<double>> regressor_;
  Lazy<OperationalSpace<double>> task_;
  Lazy<BaseJointPartition<double>> legged_;
  std::vector<double> buffer_;
  template <typename T>
  static inline const char kKey = 0;  ///< its address identifies the type
  std::vector<std::pair<const char*, std::shared_ptr<void>>> others_;
};

/// Objects that are not in use. The one returned last is taken without a lock.
template <typename T>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { delete last_.load(); }

  template <typename Make>
  std::unique_ptr<T> take(const Make& make) {
    if (T* last = last_.exchange(nullptr, std::memory_order_acq_rel)) {
      return std::unique_ptr<T>(last);
    }
    {
      const std::lock_guard lock(mutex_);
      if (!others_.empty()) {
        auto one = std::move(others_.back());
        others_.pop_back();
        return one;
      }
    }
    return make();
  }
  void give_back(std::unique_ptr<T> one) {
    T* before = last_.exchange(one.release(), std::memory_order_acq_rel);
    if (before == nullptr) return;
    const std::lock_guard lock(mutex_);
    others_.emplace_back(before);
  }

 private:
  std::atomic<T*> last_ = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> others_;
};

/// Where a robot came from: enough to rebuild it in another process.
struct Origin {
  std::string path;    ///< as given; the name if it was read from text
  std::string text;    ///< of a recipe, to keep its symbols; otherwise empty
  std::string recipe;  ///< the description with exact numbers
  std::string base;    ///< described, fixed, free
};

/// All that a robot is made of.
struct RobotParts {
  Origin origin;
  Description<double> description;
  JointEffects effects;
};

class Robot {
 public:
  Robot(Origin origin, Description<double> description, const JointEffects& effects);

  const Model<double>& model() const { return model_; }
  const Description<double>& description() const { return description_; }
  const Origin& origin() const { return origin_; }
  const JointEffects& effects() const { return effects_; }
  int nq() const { return model_.nq(); }
  int nv() const { return model_.nv(); }

  /// @throws Error "call: ..." with the nearest known name.
  FrameId frame(const char* call, std::string_view name) const;
  /// @throws Error: the mass matrix is singular at the joint that owns this velocity.
  [[noreturn]] void fail_singular(const char* call, int velocity) const;

  /// Index of the first entry of a quaternion in q, and its joint.
  struct QuaternionPlace {
    int at;
    std::string joint;
  };
  const std::vector<QuaternionPlace>& quaternions() const { return quaternions_; }

  std::unique_ptr<Workspaces> take_workspaces() const {
    return pool_.take([this] { return std::make_unique<Workspaces>(model_); });
  }
  void give_back(std::unique_ptr<Workspaces> work) const { pool_.give_back(std::move(work)); }

 private:
  Origin origin_;
  Description<double> description_;
  Model<double> model_;
  JointEffects effects_;
  std::vector<QuaternionPlace> quaternions_;
  mutable Pool<Workspaces> pool_;
};

Base base_named(const std::string& name);

}  // namespace limb::python
