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

constexpr std::size_t kMaxArrays = 24, kFewArrays = 4, kManyResults = 9;
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
                                  const ArrayIn& in, const Leading& leading, std::int64_t state) {
  const auto entry = [&](int k) { return entry_text(argument, in, leading, state, k); };
  fail(call.name,
       "norm of the quaternion " + entry(place.at) + " to " + entry(place.at + 3) + " of joint '" +
           place.joint + "'",
       to_text(norm), "1 within " + to_text(kQuaternionTolerance), "robot.normalize makes it unit");
}

/// The first quaternion of a configuration that is not unit, or nullptr.
const Robot::QuaternionPlace* find_non_unit(const Robot& robot, const double* q, double& norm) {
  for (const auto& place : robot.quaternions()) {
    const double* x = q + place.at;
    norm = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    if (!(std::abs(norm - 1) <= kQuaternionTolerance)) return &place;
  }
  return nullptr;
}

struct States {
  const Call& call;
  StateFunction body;
  const void* function;
  std::span<ArrayIn> in;
  std::span<ArrayOut> out;
  Leading leading;
  bool as_float = false;
  bool plain = true;   ///< all arrays are double and no result needs to be transposed
  bool check = false;  ///< that numbers are finite

  /// One state, in place or through the buffer of the workspaces.
  void run(Workspaces& work, std::int64_t i) const {
    const double* from[kMaxArrays];
    double* to[kMaxArrays];
    const auto inputs = call.arguments.size(), outputs = call.results.size();
    if (plain) {
      for (std::size_t k = 0; k < inputs; ++k) {
        from[k] = static_cast<const double*>(in[k].data) + in[k].offset(i, leading);
      }
      for (std::size_t k = 0; k < outputs; ++k) {
        to[k] = static_cast<double*>(out[k].data) + i * out[k].size;
      }
    } else {
      use_buffer(work, i, from, to);
    }
    if (check) {
      for (std::size_t k = 0; k < inputs; ++k) {
        check_finite_state(call.name, call.arguments[k], in[k], leading, i, from[k]);
      }
    }
    if (!call.robot.quaternions().empty()) {
      for (std::size_t k = 0; k < inputs; ++k) {
        if (call.arguments[k].kind != Argument::Kind::position) continue;
        double norm = 1;
        if (const auto* place = find_non_unit(call.robot, from[k], norm)) {
          fail_quaternion(call, call.arguments[k], *place, norm, in[k], leading, i);
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
        const float* x = static_cast<const float*>(in[k].data) + in[k].offset(i, leading);
        std::copy(x, x + n, buffer);
        from[k] = buffer;
        buffer += n;
      } else {
        from[k] = static_cast<const double*>(in[k].data) + in[k].offset(i, leading);
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
    for_ranges(leading.count(), 1, kGrain, threads.load(),
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

/// A new array of doubles for a result of one state.
nb::object new_array(const Result& result, double*& data) {
  npy_intp dims[3] = {result.dims[0], result.dims[1], result.dims[2]};
  PyObject* array = PyArray_SimpleNew(result.rank, dims, NPY_DOUBLE);
  if (array == nullptr) throw nb::python_error();
  data = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array)));
  return nb::steal(array);
}

/// numpy.float64(value)
nb::object new_number(double value) {
  static PyArray_Descr* const type = PyArray_DescrFromType(NPY_DOUBLE);
  return nb::steal(PyArray_Scalar(&value, type, nullptr));
}

/// Fast path for one state of plain arrays. Returns an invalid object if the call is not of this
/// kind; the general path then reports what is wrong, if anything is.
nb::object map_plain(const Call& call, StateFunction body, const void* function) {
  const std::size_t inputs = call.arguments.size(), outputs = call.results.size();
  const nb::handle given_out = call.output.out;
  if (inputs > kFewArrays || outputs > kManyResults) return {};
  if (!given_out.is_none() && (outputs != 1 || call.results[0].rank == 0)) return {};
  const bool check = should_check(call.name, call.output.check, false);
  const double* from[kFewArrays];
  for (std::size_t k = 0; k < inputs; ++k) {
    const Argument& argument = call.arguments[k];
    if (argument.kind > Argument::Kind::position) return {};
    from[k] = plain_state(argument);
    if (from[k] == nullptr) return {};
    double norm = 1;
    if (check && !all_finite(from[k], argument.size)) return {};
    if (argument.kind == Argument::Kind::position && find_non_unit(call.robot, from[k], norm)) {
      return {};
    }
  }
  std::array<nb::object, kManyResults> made;
  double *arrays[kManyResults], *to[kManyResults], numbers[kManyResults];
  std::size_t size = 0;  // of the buffer for results that are transposed
  for (std::size_t k = 0; k < outputs; ++k) {
    const Result& result = call.results[k];
    if (result.rank == 0) {
      arrays[k] = &numbers[k];
    } else if (given_out.is_none()) {
      made[k] = new_array(result, arrays[k]);
    } else {
      ArrayOut out = make_array(call.name, result, {}, false, given_out);
      arrays[k] = static_cast<double*>(out.data);
      for (std::size_t i = 0; i < inputs; ++i) {
        if (from[i] < arrays[k] + out.size && arrays[k] < from[i] + call.arguments[i].size) {
          fail_shared(call.name, call.arguments[i]);
        }
      }
      made[k] = std::move(out.array);
    }
    if (result.order == Result::Order::columns) size += static_cast<std::size_t>(result.size());
  }
  Borrowed work(call.robot);
  double* buffer = size > 0 ? (*work).buffer(size) : nullptr;
  for (std::size_t k = 0; k < outputs; ++k) {
    const bool direct = call.results[k].order == Result::Order::rows;
    to[k] = direct ? arrays[k] : buffer;
    if (!direct) buffer += call.results[k].size();
  }
  body(function, *work, from, to);
  for (std::size_t k = 0; k < outputs; ++k) {
    if (to[k] != arrays[k]) States::write(call.results[k], to[k], arrays[k]);
    if (call.results[k].rank == 0) made[k] = new_number(numbers[k]);
  }
  return outputs == 1 ? std::move(made[0]) : named_tuple(call.type, {made.data(), outputs});
}

}  // namespace

nb::object named_tuple(nb::handle type, std::span<nb::object> values) {
  const nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (std::size_t k = 0; k < values.size(); ++k) {
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(k), values[k].release().ptr());
  }
  // A NamedTuple is a tuple with names for its items: made directly, without its __new__ in Python.
  if (PyType_Check(type.ptr()) &&
      PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), &PyTuple_Type)) {
    const nb::object arguments = nb::steal(PyTuple_Pack(1, tuple.ptr()));
    PyObject* named =
        PyTuple_Type.tp_new(reinterpret_cast<PyTypeObject*>(type.ptr()), arguments.ptr(), nullptr);
    if (named == nullptr) throw nb::python_error();
    return nb::steal(named);
  }
  PyObject* made = PyObject_CallObject(type.ptr(), tuple.ptr());
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

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
  for (std::size_t k = 0; k < inputs; ++k) set_strides(call.arguments[k], s.leading, s.in[k]);
  s.as_float = floats > 0 && doubles == 0;
  s.plain = floats == 0;
  s.check = should_check(call.name, call.output.check, s.leading.rank > 0);

  // Results.
  for (std::size_t k = 0; k < outputs; ++k) {
    nb::handle given = call.output.out;
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

  const bool bare = s.leading.rank == 0 && call.output.out.is_none();
  const auto finished = [&](std::size_t k) {
    nb::object array = std::move(s.out[k].array);
    if (bare && call.results[k].rank == 0 && !back.is_valid())
      return nb::object(array[nb::tuple()]);
    return back.is_valid() && call.output.out.is_none() ? back(array) : array;
  };
  if (outputs == 1) return finished(0);
  std::vector<nb::object> parts;
  for (std::size_t k = 0; k < outputs; ++k) parts.push_back(finished(k));
  return named_tuple(call.type, parts);
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
