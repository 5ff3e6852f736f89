#include "python/src/states.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "limb/base/check.hpp"
#include "limb/batch/run_rows.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "python/src/arrays.hpp"

namespace limb::python {
namespace {

constexpr std::size_t kMaxArrays = 24, kFewArrays = 4;
/// States per task of a thread: from 20 microseconds to some milliseconds of work.
constexpr std::int64_t kGrain = 128;

std::atomic<int> threads{0};

/// Workspaces from the robot's pool, returned by the destructor.
class Borrowed {
 public:
  explicit Borrowed(const Robot& robot) : robot_(robot), work_(robot.take_workspaces()) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() { robot_.give_back(std::move(work_)); }
  Workspaces& operator*() { return *work_; }

 private:
  const Robot& robot_;
  std::unique_ptr<Workspaces> work_;
};

[[noreturn]] void fail_quaternion(const Call& call, const Argument& argument,
                                  const Robot::QuaternionPlace& place, double norm,
                                  const std::string& row) {
  const auto entry = [&](int k) {
    return std::string(argument.name) + "[" + row + std::to_string(k) + "]";
  };
  fail(call.name,
       "norm of the quaternion " + entry(place.at) + " to " + entry(place.at + 3) + " of joint '" +
           place.joint + "'",
       to_text(norm), "1 within " + to_text(kQuaternionTolerance), "robot.normalize makes it unit");
}

/// @throws Error. @param state  index in the batch, or -1 for a single state.
void check_quaternions(const Call& call, const Argument& argument, const double* q,
                       std::int64_t state) {
  for (const auto& place : call.robot.quaternions()) {
    const double* x = q + place.at;
    const double norm = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    if (std::abs(norm - 1) <= kQuaternionTolerance) continue;
    fail_quaternion(call, argument, place, norm, state < 0 ? "" : std::to_string(state) + ", ");
  }
}

struct States {
  const Call& call;
  StateFunction body;
  const void* function;
  std::span<ArrayIn> in;
  std::span<ArrayOut> out;
  Leading leading;
  bool as_float = false;
  bool plain = true;  ///< all arrays are double and no result needs to be transposed

  /// One state, in place or through the buffer of the workspaces.
  void run(Workspaces& work, std::int64_t i) const {
    const double* from[kMaxArrays];
    double* to[kMaxArrays];
    const auto inputs = call.arguments.size(), outputs = call.results.size();
    if (plain) {
      for (std::size_t k = 0; k < inputs; ++k) {
        from[k] = static_cast<const double*>(in[k].data) + i * in[k].stride;
      }
      for (std::size_t k = 0; k < outputs; ++k) {
        to[k] = static_cast<double*>(out[k].data) + i * out[k].size;
      }
    } else {
      use_buffer(work, i, from, to);
    }
    if (!call.robot.quaternions().empty()) {
      for (std::size_t k = 0; k < inputs; ++k) {
        if (call.arguments[k].kind == Argument::Kind::position) {
          check_quaternions(call, call.arguments[k], from[k], leading.rank == 0 ? -1 : i);
        }
      }
    }
    body(function, work, from, to);
    if (!plain) store(i, to);
  }

  void use_buffer(Workspaces& work, std::int64_t i, const double** from, double** to) const {
    std::size_t size = 0;
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
      size += static_cast<std::size_t>(std::max(1, call.arguments[k].size));
    }
    for (std::size_t k = 0; k < call.results.size(); ++k) {
      size += static_cast<std::size_t>(out[k].size);
    }
    double* buffer = work.buffer(size);
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
      const std::int64_t n = std::max(1, call.arguments[k].size);
      if (in[k].is_float) {
        const float* x = static_cast<const float*>(in[k].data) + i * in[k].stride;
        std::copy(x, x + n, buffer);
        from[k] = buffer;
        buffer += n;
      } else {
        from[k] = static_cast<const double*>(in[k].data) + i * in[k].stride;
      }
    }
    for (std::size_t k = 0; k < call.results.size(); ++k) {
      to[k] = buffer;
      buffer += out[k].size;
    }
  }

  template <typename T>
  static void write(const Result& result, const double* x, T* y) {
    const int size = result.size();
    if (result.order == Result::Order::rows) {
      std::copy(x, x + size, y);
      return;
    }
    const int rows = result.dims[0], cols = result.dims[1];
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) *y++ = static_cast<T>(x[c * rows + r]);
    }
  }
  void store(std::int64_t i, double* const* to) const {
    for (std::size_t k = 0; k < call.results.size(); ++k) {
      const std::int64_t at = i * out[k].size;
      if (as_float) {
        write(call.results[k], to[k], static_cast<float*>(out[k].data) + at);
      } else {
        write(call.results[k], to[k], static_cast<double*>(out[k].data) + at);
      }
    }
  }

  void run_all() const {
    if (leading.rank == 0) {
      Borrowed work(call.robot);
      run(*work, 0);
      return;
    }
    const nb::gil_scoped_release released;
    for_ranges(leading.count, 1, kGrain, threads.load(),
               [this](std::int64_t first, std::int64_t count) {
                 Borrowed work(call.robot);
                 for (std::int64_t i = first; i < first + count; ++i) run(*work, i);
               });
  }
};

}  // namespace

int thread_count() {
  return threads.load();
}
void set_thread_count(int count) {
  if (count < 0) fail("set_threads", "threads", std::to_string(count), "0 or more");
  threads.store(count);
}

nb::handle result_type(const char* name) {
  // Names are string literals: few, and always the same pointer. Never freed.
  static std::vector<std::pair<const char*, PyObject*>> known;
  for (const auto& [text, type] : known) {
    if (text == name) return type;
  }
  const nb::object type = nb::module_::import_("limb.results").attr(name);
  known.emplace_back(name, type.inc_ref().ptr());
  return type;
}

namespace {

/// Fast path for one state of plain arrays and one result. Returns an invalid object if the call is
/// not of this kind.
nb::object map_plain(const Call& call, StateFunction body, const void* function) {
  const std::size_t inputs = call.arguments.size();
  if (call.results.size() != 1 || inputs > kFewArrays) return {};
  const Result& result = call.results[0];
  if (result.rank == 0) return {};
  const double* from[kFewArrays];
  for (std::size_t k = 0; k < inputs; ++k) {
    const Argument& argument = call.arguments[k];
    if (argument.kind > Argument::Kind::position) return {};
    from[k] = plain_state(argument);
    if (from[k] == nullptr) return {};
    if (argument.kind == Argument::Kind::position) {
      check_quaternions(call, argument, from[k], -1);
    }
  }
  ArrayOut out = make_array(call.name, result, {}, false, call.out);
  double* to = static_cast<double*>(out.data);
  if (!call.out.is_none()) {
    for (std::size_t k = 0; k < inputs; ++k) {
      if (from[k] < to + out.size && to < from[k] + call.arguments[k].size) {
        fail_shared(call.name, call.arguments[k]);
      }
    }
  }
  Borrowed work(call.robot);
  if (result.order == Result::Order::rows) {
    body(function, *work, from, &to);
  } else {
    double* buffer = (*work).buffer(static_cast<std::size_t>(result.size()));
    body(function, *work, from, &buffer);
    States::write(result, buffer, to);
  }
  return std::move(out.array);
}

}  // namespace

nb::object map_states(const Call& call, StateFunction body, const void* function) {
  if (nb::object quick = map_plain(call, body, function); quick.is_valid()) return quick;
  const std::size_t inputs = call.arguments.size(), outputs = call.results.size();
  if (inputs > kMaxArrays) {
    fail(call.name, "external", std::to_string(inputs) + " arrays", "20 frames at most");
  }
  // A few arrays fit on the stack.
  ArrayIn few_in[kFewArrays];
  ArrayOut few_out[kFewArrays];
  std::vector<ArrayIn> many_in(inputs > kFewArrays ? inputs : 0);
  std::vector<ArrayOut> many_out(outputs > kFewArrays ? outputs : 0);
  States s{.call = call,
           .body = body,
           .function = function,
           .in = {many_in.empty() ? few_in : many_in.data(), inputs},
           .out = {many_out.empty() ? few_out : many_out.data(), outputs},
           .leading = {}};

  // Arguments: the result is float only if all of them are.
  int doubles = 0, floats = 0;
  nb::object back;  // converts results to the array library of the arguments
  for (std::size_t k = 0; k < inputs; ++k) {
    s.in[k] = read_array(call.name, call.arguments[k], s.leading, back);
    if (s.in[k].is_float) {
      ++floats;
    } else if (!s.in[k].is_weak) {
      ++doubles;
    }
  }
  s.as_float = floats > 0 && doubles == 0;
  s.plain = floats == 0;

  // Results.
  for (std::size_t k = 0; k < outputs; ++k) {
    nb::handle given = call.out;
    if (outputs > 1 && !given.is_none()) {
      if (!nb::isinstance<nb::tuple>(given) || nb::len(given) != outputs) {
        fail(call.name, "out", nb::cast<std::string>(nb::str(given.type().attr("__name__"))),
             "a tuple of " + std::to_string(outputs) + " arrays");
      }
      given = PyTuple_GetItem(given.ptr(), static_cast<Py_ssize_t>(k));
    }
    s.out[k] = make_array(call.name, call.results[k], s.leading, s.as_float, given);
    check_no_overlap(call.name, s.in, s.out[k], call.arguments);
    if (call.results[k].order == Result::Order::columns) s.plain = false;
  }

  s.run_all();

  const bool bare = s.leading.rank == 0 && call.out.is_none();
  const auto finished = [&](std::size_t k) {
    nb::object array = std::move(s.out[k].array);
    if (bare && call.results[k].rank == 0 && !back.is_valid())
      return nb::object(array[nb::tuple()]);
    return back.is_valid() && call.out.is_none() ? back(array) : array;
  };
  if (outputs == 1) return finished(0);
  nb::list parts;
  for (std::size_t k = 0; k < outputs; ++k) parts.append(finished(k));
  return call.type(*parts);
}

External::External(const char* call, const Robot& robot, nb::handle given) {
  if (given.is_none()) return;
  if (!nb::isinstance<nb::dict>(given)) {
    fail(call, "external", nb::cast<std::string>(nb::str(given.type().attr("__name__"))),
         "a dict {frame: wrench}");
  }
  for (const auto& [key, value] : nb::borrow<nb::dict>(given)) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    frames_.push_back(robot.frame(call, name));
    names_.push_back("external['" + name + "']");
    values_.push_back(nb::borrow(value));
  }
}

std::span<const Argument> External::join(std::initializer_list<Argument> own) {
  own_ = own.size();
  arguments_.assign(own);
  for (std::size_t k = 0; k < frames_.size(); ++k) {
    arguments_.push_back({names_[k].c_str(), values_[k], 6});
  }
  return arguments_;
}

std::vector<FrameWrench<double>> External::read(const double* const* in) const {
  std::vector<FrameWrench<double>> wrenches;
  wrenches.reserve(frames_.size());
  for (std::size_t k = 0; k < frames_.size(); ++k) {
    const double* x = in[own_ + k];
    wrenches.push_back({frames_[k], {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}});
  }
  return wrenches;
}

FrameAxes axes_named(const char* call, std::string_view name) {
  if (name == "local") return FrameAxes::local;
  if (name == "world") return FrameAxes::world;
  if (name == "local_world_aligned") return FrameAxes::local_world_aligned;
  fail(call, "axes", "'" + std::string(name) + "'", "'local', 'local_world_aligned' or 'world'");
}

AccelerationKind kind_named(const char* call, std::string_view name) {
  if (name == "spatial") return AccelerationKind::spatial;
  if (name == "classical") return AccelerationKind::classical;
  fail(call, "kind", "'" + std::string(name) + "'", "'spatial' or 'classical'");
}

}  // namespace limb::python
