#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "limb/batch/compiled.hpp"
#include "python/src/arrays.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

/// Layout of a result of a compiled function.
struct Shape {
  Result memory;           ///< as stored
  bool transpose = false;  ///< matrices are stored column by column
};

struct Core {
  Core(const Robot& r, const std::vector<std::string>& names,
       const std::vector<std::string>& frames, const std::string& axes,
       const std::vector<std::string>& added, const std::vector<std::string>& shifted,
       const std::vector<std::string>& rotated, const std::string& strategy, bool interpret,
       bool nonzeros)
      : robot(r) {
    options.effects = r.effects();
    options.axes = axes_named("compile", axes);
    options.program.interpret = interpret;
    options.entries = nonzeros ? MatrixEntries::nonzeros : MatrixEntries::all;
    for (const std::string& frame : frames) options.frames.push_back(r.frame("compile", frame));
    const auto bodies = [&](const std::vector<std::string>& joints) {
      std::vector<BodyId> ids;
      for (const std::string& joint : joints) ids.push_back(r.model().find_body(joint));
      return ids;
    };
    options.added_inertias = bodies(added);
    options.shifted_joints = bodies(shifted);
    options.rotated_joints = bodies(rotated);
    options.strategy = strategy_named(strategy);
    frame_count = static_cast<int>(frames.size());
    std::vector<DynamicsFunction> functions;
    for (const std::string& name : names) functions.push_back(dynamics_function_named(name));
    const nb::gil_scoped_release released;
    compiled = std::make_unique<Compiled>(r.model(), functions, options);
  }

  static Strategy strategy_named(const std::string& name) {
    for (const Strategy strategy :
         {Strategy::automatic, Strategy::straight_line, Strategy::recursion, Strategy::split}) {
      if (name == limb::to_text(strategy)) return strategy;
    }
    fail("compile", "strategy", "'" + name + "'",
         "'automatic', 'straight_line', 'recursion' or 'split'");
  }

  const Robot& robot;
  CompileOptions options;
  int frame_count = 0;
  std::unique_ptr<Compiled> compiled;
};

class CompiledFunction {
 public:
  CompiledFunction(const Core& core, const std::string& name)
      : core_(core), function_(dynamics_function_named(name)), name_(name) {
    const codegen::Signature& shape = core.compiled->shape(function_);
    inputs_ = shape.inputs;
    for (const codegen::Array& array : shape.outputs) {
      outputs_.push_back(shape_of(array));
      output_names_.push_back(array.name);
    }
  }

  const std::string& name() const { return name_; }
  std::vector<std::string> arguments() const {
    std::vector<std::string> names;
    for (const auto& array : inputs_) names.push_back(array.name);
    return names;
  }
  const std::vector<std::string>& results() const { return output_names_; }
  /// The strategy for one state, the strategy for batches, and the reason.
  std::tuple<std::string, std::string, std::string> strategy() const {
    const StrategyReport report = core_.compiled->strategy(function_);
    return {limb::to_text(report.one_state), limb::to_text(report.batch), report.reason};
  }

  /// Rows and columns of the matrix entries that a result contains.
  std::tuple<std::vector<int>, std::vector<int>> pattern(int result) const {
    const codegen::Pattern& p = core_.compiled->pattern(function_, result);
    return {p.row, p.col};
  }

  nb::object call(const nb::args& given, nb::handle out) const;

 private:
  Shape shape_of(const codegen::Array& array) const {
    const int k = core_.frame_count;
    if (function_ == DynamicsFunction::frame_poses && array.name == "R") {
      return {Result::tensor(k, 3, 3), true};
    }
    if (function_ == DynamicsFunction::frame_poses && array.name == "p") {
      return {{{k, 3}, 2, Result::Order::rows}, false};
    }
    if (function_ == DynamicsFunction::frame_jacobians &&
        core_.options.entries == MatrixEntries::all) {
      return {Result::tensor(k, core_.robot.nv(), 6), true};
    }
    if (array.cols == 1) return {Result::vector(array.rows), false};
    return {{{array.cols, array.rows}, 2, Result::Order::rows}, !array.symmetric};
  }
  nb::object call_plain(const nb::args& given) const;
  template <typename T>
  void run(std::span<const ArrayIn> in, std::span<const ArrayOut> out, std::int64_t states) const;

  const Core& core_;
  DynamicsFunction function_;
  std::string name_;
  std::vector<codegen::Array> inputs_;
  std::vector<Shape> outputs_;
  std::vector<std::string> output_names_;
};

template <typename T>
void CompiledFunction::run(std::span<const ArrayIn> in, std::span<const ArrayOut> out,
                           std::int64_t states) const {
  std::vector<ConstStateRows<T>> from;
  std::vector<StateRows<T>> to;
  for (std::size_t k = 0; k < in.size(); ++k) {
    from.push_back({static_cast<const T*>(in[k].data), states, inputs_[k].size()});
  }
  for (const ArrayOut& x : out) to.push_back({static_cast<T*>(x.data), states, x.size});
  const nb::gil_scoped_release released;
  core_.compiled->run(function_, std::span<const ConstStateRows<T>>(from),
                      std::span<const StateRows<T>>(to), {.threads = thread_count()});
}

/// One state repeated for the whole batch, in the given precision.
nb::object repeat_state(const ArrayIn& x, int size, const Leading& leading, int type) {
  const nb::object numpy = nb::module_::import_("numpy");
  npy_intp dims[1] = {size};
  const nb::object view = nb::steal(PyArray_SimpleNewFromData(
      1, dims, x.is_float ? NPY_FLOAT : NPY_DOUBLE, const_cast<void*>(x.data)));
  const nb::object many = numpy.attr("broadcast_to")(view, nb::make_tuple(leading.count, size));
  return numpy.attr("ascontiguousarray")(many, type == NPY_FLOAT ? "float32" : "float64");
}

/// Fast path for one state of plain arrays. Returns an invalid object if the call is not of this
/// kind.
nb::object CompiledFunction::call_plain(const nb::args& given) const {
  constexpr std::size_t kMaxArrays = 4;
  if (inputs_.size() > kMaxArrays || outputs_.size() > kMaxArrays) return {};
  std::array<std::span<const double>, kMaxArrays> from;
  std::array<std::span<double>, kMaxArrays> to;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const double* x = plain_state({inputs_[k].name.c_str(), given[k], inputs_[k].size()});
    if (x == nullptr) return {};
    from[k] = {x, static_cast<std::size_t>(inputs_[k].size())};
  }
  std::array<nb::object, kMaxArrays> made;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const Result& result = outputs_[k].memory;
    npy_intp dims[3] = {};
    for (int i = 0; i < result.rank; ++i) dims[i] = result.dims[static_cast<std::size_t>(i)];
    PyObject* array = PyArray_SimpleNew(result.rank, dims, NPY_DOUBLE);
    if (array == nullptr) throw nb::python_error();
    made[k] = nb::steal(array);
    to[k] = {static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array))),
             static_cast<std::size_t>(result.size())};
  }
  core_.compiled->run(function_, std::span(from).first(inputs_.size()),
                      std::span(to).first(outputs_.size()));
  nb::list results;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (outputs_[k].transpose) made[k] = made[k].attr("swapaxes")(-1, -2);
    if (outputs_.size() == 1) return made[k];
    results.append(made[k]);
  }
  return nb::tuple(results);
}

nb::object CompiledFunction::call(const nb::args& given, nb::handle out) const {
  if (given.size() != inputs_.size()) {
    std::string names;
    for (const auto& array : inputs_) names += (names.empty() ? "" : ", ") + array.name;
    fail(name_, "the number of arguments", std::to_string(given.size()),
         std::to_string(inputs_.size()) + ": " + names);
  }
  if (out.is_none()) {
    if (nb::object quick = call_plain(given); quick.is_valid()) return quick;
  }
  Leading leading;
  nb::object back;
  std::vector<ArrayIn> in;
  std::vector<Argument> arguments;
  int doubles = 0, floats = 0;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    arguments.push_back({inputs_[k].name.c_str(), given[k], inputs_[k].size()});
    in.push_back(read_array(name_.c_str(), arguments[k], leading, back));
    if (in[k].is_float) {
      ++floats;
    } else if (!in[k].is_weak) {
      ++doubles;
    }
  }
  const bool as_float = floats > 0 && doubles == 0;
  const int type = as_float ? NPY_FLOAT : NPY_DOUBLE;
  for (std::size_t k = 0; k < in.size(); ++k) {
    const bool single = leading.rank > 0 && in[k].stride == 0;
    if (!single && in[k].is_float == as_float) continue;
    const nb::object numpy = nb::module_::import_("numpy");
    if (single) {
      in[k].keep = repeat_state(in[k], inputs_[k].size(), leading, type);
    } else {
      in[k].keep =
          numpy.attr("ascontiguousarray")(in[k].keep.is_valid() ? in[k].keep : nb::object(given[k]),
                                          as_float ? "float32" : "float64");
    }
    in[k].data = PyArray_DATA(reinterpret_cast<PyArrayObject*>(in[k].keep.ptr()));
    in[k].bytes = PyArray_NBYTES(reinterpret_cast<PyArrayObject*>(in[k].keep.ptr()));
  }
  std::vector<ArrayOut> made;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    nb::object place = nb::borrow(out);
    if (!out.is_none() && outputs_.size() > 1) {
      if (!nb::isinstance<nb::tuple>(out) || nb::len(out) != outputs_.size()) {
        fail(name_, "out", nb::cast<std::string>(nb::str(out.type().attr("__name__"))),
             "a tuple of " + std::to_string(outputs_.size()) + " arrays");
      }
      place = nb::borrow(PyTuple_GetItem(out.ptr(), static_cast<Py_ssize_t>(k)));
    }
    if (!place.is_none() && outputs_[k].transpose) place = place.attr("swapaxes")(-1, -2);
    made.push_back(make_array(name_.c_str(), outputs_[k].memory, leading, as_float, place));
    check_no_overlap(name_.c_str(), in, made[k], arguments);
  }
  if (leading.rank == 0 && !as_float) {
    std::vector<std::span<const double>> from;
    std::vector<std::span<double>> to;
    for (std::size_t k = 0; k < in.size(); ++k) {
      from.emplace_back(static_cast<const double*>(in[k].data),
                        static_cast<std::size_t>(inputs_[k].size()));
    }
    for (const ArrayOut& x : made) {
      to.emplace_back(static_cast<double*>(x.data), static_cast<std::size_t>(x.size));
    }
    core_.compiled->run(function_, std::span<const std::span<const double>>(from),
                        std::span<const std::span<double>>(to));
  } else if (as_float) {
    run<float>(in, made, leading.count);
  } else {
    run<double>(in, made, leading.count);
  }
  nb::list results;
  for (std::size_t k = 0; k < made.size(); ++k) {
    nb::object array = std::move(made[k].array);
    if (outputs_[k].transpose) array = array.attr("swapaxes")(-1, -2);
    if (back.is_valid() && out.is_none()) array = back(array);
    if (made.size() == 1) return array;
    results.append(array);
  }
  return nb::tuple(results);
}

}  // namespace

void bind_compiled(nb::module_& m) {
  m.def("function_names", [] {
    std::vector<std::string> names;
    for (int k = 0; k < kFunctionCount; ++k)
      names.emplace_back(limb::to_text(static_cast<DynamicsFunction>(k)));
    return names;
  });
  nb::class_<CompiledFunction>(m, "CompiledFunction",
                               "A compiled function of a robot; call it with arrays.")
      .def("__call__", &CompiledFunction::call, "args"_a, nb::kw_only(), "out"_a = nb::none(),
           nb::sig("def __call__(self, *args: ArrayLike, out: Array | tuple[Array, ...] | None = "
                   "None) -> Any"))
      .def_prop_ro("name", &CompiledFunction::name)
      .def_prop_ro("arguments", &CompiledFunction::arguments, "Names of the arguments, in order.")
      .def_prop_ro("results", &CompiledFunction::results, "Names of the results, in order.")
      .def("pattern", &CompiledFunction::pattern, "result"_a = 0,
           "Rows and columns of the matrix entries that a result contains, in order; with "
           "`nonzeros=True` and for `crba_packed` only the upper triangle of symmetric matrices.")
      .def("strategy", &CompiledFunction::strategy,
           "The execution strategy for one state, that for batches (\"straight_line\", "
           "\"recursion\" or \"split\"), and the reason.")
      .def("__repr__", [](const CompiledFunction& f) {
        std::string text = "<compiled " + f.name() + "(";
        for (const auto& argument : f.arguments()) {
          text += (text.back() == '(' ? "" : ", ") + argument;
        }
        text += ") ->";
        for (const auto& r : f.results()) text += " " + r;
        return text + ">";
      });
  nb::class_<Core>(m, "CompiledCore")
      .def(nb::init<const Robot&, const std::vector<std::string>&, const std::vector<std::string>&,
                    const std::string&, const std::vector<std::string>&,
                    const std::vector<std::string>&, const std::vector<std::string>&,
                    const std::string&, bool, bool>(),
           "robot"_a, "functions"_a, "frames"_a, "axes"_a, "added"_a, "shifted"_a, "rotated"_a,
           "strategy"_a, "interpret"_a, "nonzeros"_a, nb::keep_alive<1, 2>())
      .def(
          "function",
          [](const Core& core, const std::string& name) { return CompiledFunction(core, name); },
          "name"_a, nb::keep_alive<0, 1>())
      .def_prop_ro("why_not_compiled",
                   [](const Core& core) { return core.compiled->why_not_compiled(); });
}

}  // namespace limb::python
