#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "limb/sim/scenario_run.hpp"
#include "limb/sim/simulation.hpp"
#include "python/src/numbers.hpp"

/// Simulated worlds as Python holds them. Runs release the lock of the interpreter; what Python
/// gave them (controllers, forces, events) takes it.
namespace limb::python {

/// Lets Python see signals now and then, so that Ctrl-C ends a run.
class Interrupts {
 public:
  /// Python handles signals in its main thread alone: nothing to do in any other.
  /// @throws nb::python_error (KeyboardInterrupt).
  void check() {
    if (!in_main_thread()) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kPeriod) return;
    last_ = now;
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  /// Work of many threads: it runs while the caller's thread looks for signals, and none of the
  /// work's threads takes the lock. @param work  ends soon after `ends` has become true.
  /// @throws nb::python_error (KeyboardInterrupt), or what the work throws.
  template <typename Work>
  static auto run_beside(Work work, std::atomic<bool>& ends) {
    auto result = std::async(std::launch::async, work);
    Interrupts interrupts;
    try {
      while (result.wait_for(kPeriod) != std::future_status::ready) interrupts.check();
    } catch (...) {
      ends = true;
      result.wait();
      throw;
    }
    return result.get();
  }
  /// Read when the module is imported.
  static void set_main_thread(unsigned long id) { main_thread_ = id; }

 private:
  static constexpr std::chrono::milliseconds kPeriod{50};
  static bool in_main_thread() { return PyThread_get_thread_ident() == main_thread_; }

  static inline unsigned long main_thread_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Who has a world: nobody, or a thread.
using Owner = std::atomic<std::thread::id>;

/// One at a time: a world in a run is nobody else's.
class Busy {
 public:
  Busy(const char* call, Owner& owner) : owner_(owner) {
    std::thread::id nobody;
    if (!owner.compare_exchange_strong(nobody, std::this_thread::get_id())) fail_busy(call);
  }
  ~Busy() { owner_ = std::thread::id(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  /// What a function that a run calls may read, too. To be called with Python's lock.
  static void check_reading(const char* call, const Owner& owner) {
    const std::thread::id now = owner;
    if (now != std::thread::id() && now != std::this_thread::get_id()) fail_busy(call);
  }

 private:
  [[noreturn]] static void fail_busy(const char* call) {
    throw Error(std::string(call) +
                ": this world is in a run (of another thread, or of the run "
                "that called here)");
  }
  Owner& owner_;
};

/// A function of (t, q, v) that Python gave, called from a run. Held by the list of its owner, so
/// that Python's collector sees it.
class StateCall {
 public:
  explicit StateCall(nb::handle function) : function_(function) {}
  /// To be called with the lock.
  nb::object operator()(double t, const VectorX<double>& q, const VectorX<double>& v) const {
    return function_(t, array_of(q), array_of(v));
  }

 private:
  nb::handle function_;
};

class WorldCore {
 public:
  WorldCore(const Robot& robot, const std::string& friction, const std::string& stops,
            double static_ratio, double restitution, bool compiled);

  void add_spring(const std::string& joint, double stiffness, double rest, double damping);
  void add_push(const std::string& frame, double begin, double end, nb::handle force,
                nb::handle moment, const std::string& axes);
  void add_disturbance(const std::string& frame, double force_deviation, double moment_deviation,
                       double period, std::uint64_t seed, const std::string& axes);
  void add_force(nb::handle function);
  void add_wrench(const std::string& frame, nb::handle function, const std::string& axes);
  void set_actuator(const std::string& joint, const Actuator& actuator);
  /// @param shapes  and feet none: all solids of the robot. @param feet  names, or names to radii.
  void set_contact(const Ground& ground, std::optional<std::vector<ContactShape>> shapes,
                   nb::handle feet, double radius, const ContactParameters& parameters);

  const Model<double>& model() const { return world.model(); }
  const Robot& robot() const { return robot_; }

 private:
  const Robot& robot_;  ///< kept alive by Python

 public:
  World world;
  nb::list functions;  ///< of Python
  Owner busy = std::thread::id();
  int simulations = 0;  ///< that were made of it

 private:
  std::vector<Actuator> actuators_;
};

}  // namespace limb::python
