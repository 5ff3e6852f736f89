#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <optional>

#include "limb/sim/scenario_run.hpp"
#include "limb/sim/simulation.hpp"
#include "python/src/bind.hpp"

/// Simulated worlds as Python holds them. Runs release the lock of the interpreter; what Python
/// gave them (controllers, forces, events) takes it.
namespace limb::python {

/// A new array.
nb::object array_of(const VectorX<double>& values);
nb::object array_of(const std::vector<double>& values, Eigen::Index columns);
/// What NumPy makes a vector of this size of. @throws Error "call: name has shape ...".
VectorX<double> vector_of(const char* call, const char* name, nb::handle value, Eigen::Index size);
/// Of a text that is one of few. @throws Error that lists them.
int choice_of(const char* call, const char* name, const std::string& text,
              std::initializer_list<const char*> names);
/// limb.results.NAME(...)
template <typename... Values>
nb::object result_of(const char* name, Values&&... values) {
  return nb::module_::import_("limb.results").attr(name)(std::forward<Values>(values)...);
}

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

/// One at a time: a world in a run is nobody else's.
class Busy {
 public:
  Busy(const char* call, std::atomic<bool>& busy) : busy_(busy) {
    if (busy.exchange(true)) {
      throw Error(std::string(call) +
                  ": this world is in a run (of another thread, or of the run "
                  "that called here)");
    }
  }
  ~Busy() { busy_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<bool>& busy_;
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

  const Model<double>& model() const { return world.model(); }
  const Robot& robot() const { return robot_; }

 private:
  const Robot& robot_;  ///< kept alive by Python

 public:
  World world;
  nb::list functions;  ///< of Python
  std::atomic<bool> busy = false;
  int simulations = 0;  ///< that were made of it

 private:
  std::vector<Actuator> actuators_;
};

}  // namespace limb::python
