#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "limb/sim/scenario/scenario_run.hpp"
#include "limb/sim/world/simulation.hpp"
#include "python/src/eigen_conversion.hpp"

/// Simulated worlds of the Python package. Runs release the GIL; Python functions in a run
/// (controllers, forces, events) acquire it.
namespace limb::python {

/// Lets Python handle signals periodically, so that Ctrl-C ends a run.
class Interrupts {
 public:
  /// Does nothing outside the main thread, the only one in which Python handles signals.
  /// @throws nb::python_error (KeyboardInterrupt).
  void check() {
    if (!in_main_thread()) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kPeriod) return;
    last_ = now;
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  /// Runs a task of many threads while the calling thread checks for signals; the threads of the
  /// task do not acquire the GIL. @param task  returns soon after `stop` has become true.
  /// @throws nb::python_error (KeyboardInterrupt), or what the task throws.
  template <typename Task>
  static auto run_interruptible(Task task, std::atomic<bool>& stop) {
    auto result = std::async(std::launch::async, task);
    Interrupts interrupts;
    try {
      while (result.wait_for(kPeriod) != std::future_status::ready) interrupts.check();
    } catch (...) {
      stop = true;
      result.wait();
      throw;
    }
    return result.get();
  }
  /// Called when the module is imported.
  static void set_main_thread(unsigned long id) { main_thread_ = id; }

 private:
  static constexpr std::chrono::milliseconds kPeriod{50};
  static bool in_main_thread() { return PyThread_get_thread_ident() == main_thread_; }

  static inline unsigned long main_thread_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// limb.results.EnergyBalance, of one run.
inline nb::object balance_of(const EnergyBalance& b) {
  nb::list values;
  values.append(b.change());
  for (const double entry : b.entries) values.append(entry);
  values.append(b.closure);
  values.append(b.exchanged);
  return nb::module_::import_("limb.results").attr("EnergyBalance")(*values);
}

/// The thread that uses a world, if any.
using Owner = std::atomic<std::thread::id>;

/// Exclusive use of a world by one thread, for the lifetime of the guard.
class BusyGuard {
 public:
  BusyGuard(const char* call, Owner& owner) : owner_(owner) {
    std::thread::id nobody;
    if (!owner.compare_exchange_strong(nobody, std::this_thread::get_id())) fail_busy(call);
  }
  ~BusyGuard() { owner_ = std::thread::id(); }
  BusyGuard(const BusyGuard&) = delete;
  BusyGuard& operator=(const BusyGuard&) = delete;

  /// For results that a function called by a run may read as well. Needs the GIL.
  static void check_readable(const char* call, const Owner& owner) {
    const std::thread::id now = owner;
    if (now != std::thread::id() && now != std::this_thread::get_id()) fail_busy(call);
  }

 private:
  [[noreturn]] static void fail_busy(const char* call) {
    throw Error(std::string(call) +
                ": this world is in a run (in another thread, or in the run "
                "that made this call)");
  }
  Owner& owner_;
};

/// A Python function of (t, q, v), called from a run. Its owner keeps a reference in a list that
/// Python's garbage collector visits.
class StateCallback {
 public:
  explicit StateCallback(nb::handle function) : function_(function) {}
  /// Needs the GIL.
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
  /// Without shapes and feet: all solids of the robot. @param feet  names, or a dict of radii by
  /// name.
  void set_contact(const Ground& ground, std::optional<std::vector<ContactShape>> shapes,
                   nb::handle feet, double radius, const ContactParameters& parameters);

  const Model<double>& model() const { return world.model(); }
  const Robot& robot() const { return robot_; }

 private:
  const Robot& robot_;  ///< kept alive by Python

 public:
  World world;
  nb::list functions;  ///< Python functions that forces call
  Owner busy = std::thread::id();
  int simulations = 0;  ///< number of simulations of this world

 private:
  std::vector<Actuator> actuators_;
};

}  // namespace limb::python
