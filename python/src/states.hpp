#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

#include "python/src/doc.hpp"
#include "python/src/numpy_api.hpp"
#include "python/src/robot.hpp"

/// How all functions take NumPy arrays, one state (n,) or many (..., n), float64 or float32, and
/// return arrays of the same kind.
namespace limb::python {

/// An argument of a method: `size` numbers per state.
struct Argument {
  enum class Kind {
    vector,    ///< (size,) or (..., size)
    position,  ///< the same, with unit quaternions
    number,    ///< () or (...)
    matrix,    ///< (rows, size / rows) or (..., rows, size / rows); row-major
  };
  const char* name;
  nb::handle value;
  int size;
  Kind kind = Kind::vector;
  int rows = 0;
};

/// A result of a method, for one state.
struct Result {
  enum class Order {
    rows,     ///< row-major as in NumPy; also for vectors and symmetric matrices
    columns,  ///< a matrix computed column-major, as in Eigen
  };
  std::array<int, 3> dims{};
  int rank = 0;
  Order order = Order::rows;

  static Result number() { return {}; }
  static Result vector(int n) { return {{n}, 1, Order::rows}; }
  static Result symmetric(int n) { return {{n, n}, 2, Order::rows}; }
  /// Computed column-major, as in Eigen.
  static Result matrix(int rows, int cols) { return {{rows, cols}, 2, Order::columns}; }
  static Result tensor(int a, int b, int c) { return {{a, b, c}, 3, Order::rows}; }

  int size() const {
    int product = 1;
    for (int i = 0; i < rank; ++i) product *= dims[static_cast<std::size_t>(i)];
    return product;
  }
};

/// Arguments of one state in, results of one state out, all double.
using StateFunction = void (*)(const void* function, Workspaces& work, const double* const* in,
                               double* const* out);

/// Arguments that all methods have.
struct Output {
  nb::handle out;              ///< None, an array, or a tuple of them
  nb::handle check = Py_None;  ///< whether to refuse numbers that are not finite (should_check)
};

/// A call before its arrays are read.
struct Call {
  const char* name;
  const Robot& robot;
  std::span<const Argument> arguments;
  std::span<const Result> results;
  Output output;
  nb::handle type;  ///< NamedTuple for several results
};

/// Checks the arguments, computes every state (batches in parallel, without the GIL) and returns
/// the results.
nb::object map_states(const Call& call, StateFunction body, const void* function);

template <typename Function>
nb::object map(const Call& call, const Function& function) {
  return map_states(
      call,
      [](const void* f, Workspaces& work, const double* const* in, double* const* out) {
        (*static_cast<const Function*>(f))(work, in, out);
      },
      &function);
}

/// An attribute of limb.results, looked up once.
nb::handle result_type(const char* name);

/// One result.
template <typename Function>
nb::object map(const char* name, const Robot& robot, std::initializer_list<Argument> arguments,
               const Result& result, const Output& output, const Function& function) {
  return map({name, robot, {arguments.begin(), arguments.size()}, {&result, 1}, output, {}},
             function);
}
/// Several results, in a NamedTuple of limb.results.
template <typename Function>
nb::object map(const char* name, const Robot& robot, std::initializer_list<Argument> arguments,
               std::initializer_list<Result> results, const char* type, const Output& output,
               const Function& function) {
  return map({name,
              robot,
              {arguments.begin(), arguments.size()},
              {results.begin(), results.size()},
              output,
              result_type(type)},
             function);
}

/// Arguments of the robot's sizes: q; v, a and tau.
inline Argument position(const Robot& robot, nb::handle q, const char* name = "q") {
  return {name, q, robot.nq(), Argument::Kind::position};
}
inline Argument velocity(const Robot& robot, nb::handle v, const char* name = "v") {
  return {name, v, robot.nv()};
}

using ConstVector = Eigen::Map<const VectorX<double>>;
using Vector = Eigen::Map<VectorX<double>>;
using Matrix = Eigen::Map<MatrixX<double>>;
using Jacobian = Eigen::Map<Matrix6X<double>>;

/// Wrenches on frames, {name: (6,) or (..., 6)}: arguments after those of the method.
class External {
 public:
  External(const char* call, const Robot& robot, nb::handle given);
  bool empty() const { return frames_.empty(); }
  /// The arguments of the method followed by the wrenches.
  std::span<const Argument> join(std::initializer_list<Argument> own);
  /// The wrenches of one state, from the arguments of this state.
  std::vector<FrameWrench<double>> read(const double* const* in) const;

 private:
  std::size_t own_ = 0;
  std::vector<FrameId> frames_;
  std::vector<std::string> names_;
  std::vector<nb::object> values_;
  std::vector<Argument> arguments_;
};

FrameAxes axes_named(const char* call, std::string_view name);
AccelerationKind kind_named(const char* call, std::string_view name);

/// Number of threads for batches; 0: all cores.
int thread_count();
void set_thread_count(int threads);

}  // namespace limb::python
