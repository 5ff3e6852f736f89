#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <thread>

#include "limb/batch/compiled.hpp"
#include "limb/batch/run_rows.hpp"
#include "python/src/arrays.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

/// Layout of a result of a compiled function.
struct Shape {
  Result memory;           ///< as computed
  bool transpose = false;  ///< matrices are computed column by column

  /// As returned: with the last two dimensions swapped if it is transposed.
  Result returned() const {
    Result result = memory;
    const auto last = static_cast<std::size_t>(result.rank - 1);
    if (transpose) std::swap(result.dims[last], result.dims[last - 1]);
    return result;
  }
  int rows() const { return memory.dims[static_cast<std::size_t>(memory.rank - 2)]; }
  int cols() const { return memory.dims[static_cast<std::size_t>(memory.rank - 1)]; }
};

/// Transposes the matrices, rows x cols each, of a result in place.
template <typename T>
void transpose_all(T* data, std::int64_t matrices, int rows, int cols, std::vector<T>& buffer) {
  const std::int64_t size = std::int64_t(rows) * cols;
  if (rows == cols) {
    for (std::int64_t k = 0; k < matrices; ++k, data += size) {
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < r; ++c) std::swap(data[r * cols + c], data[c * cols + r]);
      }
    }
    return;
  }
  buffer.resize(static_cast<std::size_t>(size));
  for (std::int64_t k = 0; k < matrices; ++k, data += size) {
    std::copy(data, data + size, buffer.begin());
    T* to = data;
    for (int c = 0; c < cols; ++c) {
      for (int r = 0; r < rows; ++r) *to++ = buffer[static_cast<std::size_t>(r * cols + c)];
    }
  }
}

/// limb.results.NAME of a function with several results.
const char* result_type_name(DynamicsFunction function) {
  switch (function) {
    case DynamicsFunction::frame_poses:
      return "FramePoses";
    case DynamicsFunction::centroidal:
      return "CentroidalMatrix";
    case DynamicsFunction::operational_space:
      return "CompiledOperationalSpace";
    case DynamicsFunction::rnea_derivatives:
      return "CompiledInverseDerivatives";
    case DynamicsFunction::aba_derivatives:
      return "CompiledForwardDerivatives";
    default:
      return nullptr;
  }
}

struct Core {
  Core(const Robot& r, const std::vector<std::string>& names,
       const std::vector<std::string>& frames, const std::string& axes,
       const std::vector<std::string>& added, const std::vector<std::string>& shifted,
       const std::vector<std::string>& rotated, const std::string& strategy, bool interpret,
       bool nonzeros, const std::string& order)
      : robot(r), by_columns(order_named(order)) {
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

  static bool order_named(const std::string& name) {
    if (name != "C" && name != "F") fail("compile", "order", "'" + name + "'", "'C' or 'F'");
    return name == "F";
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
  bool by_columns;  ///< matrices are returned as they are computed, as views
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
    for (std::size_t k = 0; k < outputs_.size(); ++k) transposes_ |= is_transposed(k);
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

  nb::object call(const nb::args& given, nb::handle out, nb::handle check) const;

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
  nb::object call_plain(const nb::args& given, bool check) const;
  nb::object finished(std::span<nb::object> made) const;
  template <typename T>
  void run(std::span<const ArrayIn> in, std::span<const ArrayOut> out, std::int64_t states) const;
  template <typename T>
  void transpose(const ArrayOut& out, const Shape& shape, std::int64_t first,
                 std::int64_t states) const;
  template <typename T>
  void check_all(std::span<const Argument> arguments, std::span<const ArrayIn> in,
                 const Leading& leading) const;
  /// Whether a result is transposed after it has been computed.
  bool is_transposed(std::size_t k) const { return outputs_[k].transpose && !core_.by_columns; }
  /// Whether a result is returned as a transposed view.
  bool is_view(std::size_t k) const { return outputs_[k].transpose && core_.by_columns; }

  const Core& core_;
  DynamicsFunction function_;
  std::string name_;
  std::vector<codegen::Array> inputs_;
  std::vector<Shape> outputs_;
  std::vector<std::string> output_names_;
  bool transposes_ = false;
};

template <typename T>
void CompiledFunction::transpose(const ArrayOut& out, const Shape& shape, std::int64_t first,
                                 std::int64_t states) const {
  T* data = static_cast<T*>(out.data) + first * out.size;
  const std::int64_t matrices = out.size / (std::int64_t(shape.rows()) * shape.cols());
  constexpr std::int64_t kGrain = 256;
  for_ranges(states, 1, kGrain, thread_count(), [&](std::int64_t begin, std::int64_t count) {
    std::vector<T> buffer;
    transpose_all(data + begin * out.size, count * matrices, shape.rows(), shape.cols(), buffer);
  });
}

template <typename T>
void CompiledFunction::run(std::span<const ArrayIn> in, std::span<const ArrayOut> out,
                           std::int64_t states) const {
  // Results that are transposed are computed in parts that fit into the caches of the cores.
  std::int64_t part = states;
  if (transposes_) {
    std::int64_t bytes = 0;
    for (const ArrayOut& x : out) bytes += x.size * static_cast<std::int64_t>(sizeof(T));
    const int threads = thread_count() > 0
                            ? thread_count()
                            : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    constexpr std::int64_t kBytesPerThread = 1 << 19, kLeast = 512;
    part = std::max(kLeast, kBytesPerThread * threads / bytes);
  }
  std::vector<ConstStateRows<T>> from;
  std::vector<StateRows<T>> to;
  const nb::gil_scoped_release released;
  for (std::int64_t first = 0; first < states || first == 0; first += part) {
    const std::int64_t count = std::min(part, states - first);
    from.clear();
    to.clear();
    for (std::size_t k = 0; k < in.size(); ++k) {
      const std::int64_t size = inputs_[k].size();
      from.push_back({static_cast<const T*>(in[k].data) + first * size, count, size});
    }
    for (const ArrayOut& x : out) {
      to.push_back({static_cast<T*>(x.data) + first * x.size, count, x.size});
    }
    core_.compiled->run(function_, std::span<const ConstStateRows<T>>(from),
                        std::span<const StateRows<T>>(to), {.threads = thread_count()});
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (is_transposed(k)) transpose<T>(out[k], outputs_[k], first, count);
    }
    if (part == 0) break;
  }
}

/// @throws Error for the first number of all states that is not finite.
template <typename T>
void CompiledFunction::check_all(std::span<const Argument> arguments, std::span<const ArrayIn> in,
                                 const Leading& leading) const {
  const std::int64_t states = leading.count();
  std::vector<double> row;
  for (std::size_t k = 0; k < in.size(); ++k) {
    const T* x = static_cast<const T*>(in[k].data);
    const int size = arguments[k].size;
    for (std::int64_t i = 0; i < states; ++i, x += size) {
      row.assign(x, x + size);
      check_finite_state(name_.c_str(), arguments[k], in[k], leading, i, row.data());
    }
  }
}

/// The result, or the named tuple of results.
nb::object CompiledFunction::finished(std::span<nb::object> made) const {
  if (made.size() == 1) return std::move(made[0]);
  return named_tuple(result_type(result_type_name(function_)), made);
}

/// Fast path for one state of plain arrays. Returns an invalid object if the call is not of this
/// kind.
nb::object CompiledFunction::call_plain(const nb::args& given, bool check) const {
  constexpr std::size_t kMaxArrays = 4;
  if (inputs_.size() > kMaxArrays || outputs_.size() > kMaxArrays) return {};
  std::array<std::span<const double>, kMaxArrays> from;
  std::array<std::span<double>, kMaxArrays> to;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const double* x = plain_state({inputs_[k].name.c_str(), given[k], inputs_[k].size()});
    if (x == nullptr) return {};
    if (check && !all_finite(x, inputs_[k].size())) return {};  // the general path reports it
    from[k] = {x, static_cast<std::size_t>(inputs_[k].size())};
  }
  std::array<nb::object, kMaxArrays> made;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const Result result = is_view(k) ? outputs_[k].memory : outputs_[k].returned();
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
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const Shape& shape = outputs_[k];
    if (is_view(k)) made[k] = made[k].attr("swapaxes")(-1, -2);
    if (!is_transposed(k)) continue;
    std::vector<double> buffer;
    const auto matrices = static_cast<std::int64_t>(to[k].size()) / (shape.rows() * shape.cols());
    transpose_all(to[k].data(), matrices, shape.rows(), shape.cols(), buffer);
  }
  return finished({made.data(), outputs_.size()});
}

nb::object CompiledFunction::call(const nb::args& given, nb::handle out, nb::handle check) const {
  if (given.size() != inputs_.size()) {
    std::string names;
    for (const auto& array : inputs_) names += (names.empty() ? "" : ", ") + array.name;
    fail(name_, "the number of arguments", std::to_string(given.size()),
         std::to_string(inputs_.size()) + ": " + names);
  }
  if (out.is_none()) {
    const bool check_one = should_check(name_.c_str(), check, false);
    if (nb::object quick = call_plain(given, check_one); quick.is_valid()) return quick;
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
  const nb::object numpy = nb::module_::import_("numpy");
  std::vector<nb::object> originals;  // whose dimensions messages refer to
  for (std::size_t k = 0; k < in.size(); ++k) {
    set_strides(arguments[k], leading, in[k]);
    const bool repeats = leading.rank > 0 && !in[k].has_all_states();
    if (!repeats && in[k].is_float == as_float) continue;
    nb::object array = in[k].keep.is_valid() ? in[k].keep : nb::borrow(given[k]);
    if (repeats) {
      nb::list shape;
      for (int i = 0; i < leading.rank; ++i) shape.append(leading.dims[i]);
      shape.append(inputs_[k].size());
      array = numpy.attr("broadcast_to")(array, nb::tuple(shape));
    }
    originals.push_back(in[k].keep);
    in[k].keep = numpy.attr("ascontiguousarray")(array, as_float ? "float32" : "float64");
    auto* x = reinterpret_cast<PyArrayObject*>(in[k].keep.ptr());
    in[k].data = PyArray_DATA(x);
    in[k].bytes = PyArray_NBYTES(x);
  }
  if (should_check(name_.c_str(), check, leading.rank > 0)) {
    as_float ? check_all<float>(arguments, in, leading) : check_all<double>(arguments, in, leading);
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
    if (!place.is_none() && is_view(k)) place = place.attr("swapaxes")(-1, -2);
    made.push_back(make_array(name_.c_str(),
                              is_view(k) ? outputs_[k].memory : outputs_[k].returned(), leading,
                              as_float, place));
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
    for (std::size_t k = 0; k < made.size(); ++k) {
      if (is_transposed(k)) transpose<double>(made[k], outputs_[k], 0, 1);
    }
  } else if (as_float) {
    run<float>(in, made, leading.count());
  } else {
    run<double>(in, made, leading.count());
  }
  std::vector<nb::object> results;
  for (std::size_t k = 0; k < made.size(); ++k) {
    nb::object array = std::move(made[k].array);
    if (is_view(k)) array = array.attr("swapaxes")(-1, -2);
    if (back.is_valid() && out.is_none()) array = back(array);
    results.push_back(std::move(array));
  }
  return finished(results);
}

}  // namespace

void bind_compiled(nb::module_& m) {
  m.def(
      "function_names",
      [] {
        std::vector<std::string> names;
        for (int k = 0; k < kFunctionCount; ++k)
          names.emplace_back(limb::to_text(static_cast<DynamicsFunction>(k)));
        return names;
      },
      Doc("Names of the functions that can be compiled."));
  nb::class_<CompiledFunction>(m, "CompiledFunction",
                               "A compiled function of a robot; call it with arrays.")
      .def("__call__", &CompiledFunction::call, "args"_a, nb::kw_only(), "out"_a = nb::none(),
           "check"_a = nb::none(),
           nb::sig("def __call__(self, *args: ArrayLike, out: Array | tuple[Array, ...] | None = "
                   "None, check: bool | None = None) -> Any"),
           Doc("Computes one state or a batch.\n\n"
               "Args:\n"
               "    args: The arrays that `arguments` names, in that order, `(n,)` or `(..., n)`; "
               "the\n"
               "        leading dimensions are broadcast as in NumPy.\n"
               "    out: Array for the result, or a tuple of them for several results.\n"
               "    check: Whether to refuse numbers that are not finite; None: only in single "
               "states.\n\n"
               "Returns:\n"
               "    The result, or a named tuple of the results that `results` names."))
      .def_prop_ro("name", &CompiledFunction::name, Doc("Its name, as in `limb.function_names()`."))
      .def_prop_ro("arguments", &CompiledFunction::arguments,
                   Doc("Names of the arguments, in order."))
      .def_prop_ro("results", &CompiledFunction::results, Doc("Names of the results, in order."))
      .def("pattern", &CompiledFunction::pattern, "result"_a = 0,
           Doc("Rows and columns of the matrix entries that a result contains, in order; with "
               "`nonzeros=True` and for `crba_packed` only the upper triangle of symmetric "
               "matrices."
               "\n\nArgs:\n    result: Index of the result."))
      .def("strategy", &CompiledFunction::strategy,
           Doc("The execution strategy for one state, that for batches (\"straight_line\", "
               "\"recursion\" or \"split\"), and the reason."))
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
                    const std::string&, bool, bool, const std::string&>(),
           "robot"_a, "functions"_a, "frames"_a, "axes"_a, "added"_a, "shifted"_a, "rotated"_a,
           "strategy"_a, "interpret"_a, "nonzeros"_a, "order"_a, nb::keep_alive<1, 2>())
      .def(
          "function",
          [](const Core& core, const std::string& name) { return CompiledFunction(core, name); },
          "name"_a, nb::keep_alive<0, 1>())
      .def_prop_ro("why_not_compiled",
                   [](const Core& core) { return core.compiled->why_not_compiled(); });
}

}  // namespace limb::python
