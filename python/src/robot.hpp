#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "limb/dynamics/base_velocity.hpp"
#include "limb/dynamics/constrained.hpp"
#include "limb/dynamics/derivative_workspace.hpp"
#include "limb/dynamics/lagrange.hpp"
#include "limb/dynamics/legged.hpp"
#include "limb/dynamics/momentum.hpp"
#include "limb/dynamics/operational_space.hpp"
#include "limb/dynamics/regressor.hpp"
#include "limb/dynamics/torque_budget.hpp"

/// The robot that Python holds: an immutable model, and room to compute in for whoever asks.
namespace limb::python {

/// Made when first asked for.
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

/// Room for all algorithms, for one thread at a time.
class Work {
 public:
  explicit Work(const Model<double>& model) : model_(model) {}

  Workspace<double>& tree() { return tree_.get(model_); }
  Kinematics<double>& kinematics() { return kinematics_.get(model_); }
  SubtreeScratch<double>& subtree() { return subtree_.get(model_); }
  TorqueBudgetScratch<double>& budget() { return budget_.get(model_); }
  LagrangeScratch<double>& lagrange() { return budget().lagrange; }
  MassFactor<double>& factor() { return factor_.get(model_); }
  DerivativeWorkspace<double>& derivatives() { return derivatives_.get(model_); }
  RegressorScratch<double>& regressor() { return regressor_.get(model_); }
  OperationalSpace<double>& task() { return task_.get(model_, 6); }
  LeggedParts<double>& legged() { return legged_.get(model_); }

  /// Any other room that is made for a model.
  template <typename T>
  T& room() {
    for (const auto& [key, made] : rooms_) {
      if (key == &kKey<T>) return *static_cast<T*>(made.get());
    }
    rooms_.emplace_back(&kKey<T>, std::make_shared<T>(model_));
    return *static_cast<T*>(rooms_.back().second.get());
  }

  /// Numbers of a state on their way to and from other types or orders; grows, never shrinks.
  double* numbers(std::size_t size) {
    if (numbers_.size() < size) numbers_.resize(size);
    return numbers_.data();
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
  Lazy<LeggedParts<double>> legged_;
  std::vector<double> numbers_;
  template <typename T>
  static inline const char kKey = 0;  ///< its address tells types apart
  std::vector<std::pair<const char*, std::shared_ptr<void>>> rooms_;
};

/// Rooms that nobody is in. The one used last is had without a lock.
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

/// Where a robot came from: enough to make it again elsewhere.
struct Origin {
  std::string path;    ///< as given; of a text: its name
  std::string text;    ///< of a recipe, so that its symbols are not lost; else empty
  std::string recipe;  ///< the description, number for number
  std::string base;    ///< described, fixed, free
};

class Robot {
 public:
  Robot(Origin origin, Description<double> description, const JointEffects& effects);

  const Model<double>& model() const { return model_; }
  const Description<double>& description() const { return description_; }
  const Origin& origin() const { return origin_; }
  const JointEffects& effects() const { return effects_; }
  int nq() const { return model_.position_size(); }
  int nv() const { return model_.velocity_size(); }

  /// @throws Error "call: ..." with the nearest known name.
  FrameId frame(const char* call, std::string_view name) const;
  /// The joint that owns a velocity. @throws Error: the mass matrix is singular there.
  [[noreturn]] void fail_singular(const char* call, int velocity) const;

  /// Where the quaternions of q begin, with their joints.
  struct QuaternionPlace {
    int at;
    std::string joint;
  };
  const std::vector<QuaternionPlace>& quaternions() const { return quaternions_; }

  std::unique_ptr<Work> take_work() const {
    return pool_.take([this] { return std::make_unique<Work>(model_); });
  }
  void give_back(std::unique_ptr<Work> work) const { pool_.give_back(std::move(work)); }

 private:
  Origin origin_;
  Description<double> description_;
  Model<double> model_;
  JointEffects effects_;
  std::vector<QuaternionPlace> quaternions_;
  mutable Pool<Work> pool_;
};

Base base_named(const std::string& name);

}  // namespace limb::python
