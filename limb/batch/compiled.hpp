#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "limb/batch/form.hpp"
#include "limb/batch/rows.hpp"
#include "limb/codegen/functions.hpp"
#include "limb/codegen/program.hpp"

namespace limb {

struct CompileOptions : FunctionOptions {
  codegen::ProgramOptions program;
  /// automatic: straight-line code, but for derivatives, where a measurement decides for one state
  /// and another one, at the first call, for batches; and but for what has one form only. split is
  /// a form of batches: one state is measured then, too.
  Form form = Form::automatic;
};

/// Functions of one robot, compiled. Each has two forms with one name:
///
/// - for one state, with vectors, as in limb/dynamics: no allocation, no lock (in a recursion the
///   first call of a thread makes its workspace);
/// - for N states, with matrices (N, n) of double or float, all stored by rows or all by columns:
///   SIMD lanes, threads if asked. By rows is the better choice: columns whose length is a multiple
///   of 512 share the same few places of the cache.
///
/// Where no machine code can be made (notice()), one state and double batches are computed by the
/// templates of limb/dynamics, the rest by an interpreter. Results must not overlap
/// arguments; that is checked.
class Compiled {
 public:
  Compiled(const Model<double>& model, const std::vector<Function>& functions,
           const CompileOptions& options);
  ~Compiled();
  Compiled(Compiled&&) noexcept;
  Compiled& operator=(Compiled&&) noexcept;

  bool has(Function function) const;
  /// Whether there is a program: not where the function has the form of a recursion only.
  bool has_program(Function function) const;
  /// @throws Error if it was not compiled, or if it has none.
  const codegen::Program& program(Function function) const;
  /// Which form the function has here, and why. Measures batches if no call has done so yet.
  FormReport form(Function function) const;
  /// Its arguments and results, as they are taken and given.
  const codegen::Signature& shape(Function function) const;
  /// Where the entries of a result belong in its matrix: with CompileOptions::entries nonzeros, or
  /// of crba_packed; else all of them.
  const codegen::Pattern& pattern(Function function, int result = 0) const;
  /// Why there is no machine code; empty if there is.
  const std::string& notice() const;

  // One state. tau, a of size n; matrices n x n, or with Entries::nonzeros one column of entries.
  void rnea(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& a,
            VectorOut<double> tau) const;
  void bias(VectorIn<double>& q, VectorIn<double>& v, VectorOut<double> tau) const;
  void gravity(VectorIn<double>& q, VectorOut<double> tau) const;
  void crba(VectorIn<double>& q, MatrixOut<double> M) const;
  void crba_packed(VectorIn<double>& q, VectorOut<double> M) const;  ///< n (n + 1) / 2
  void aba(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau,
           VectorOut<double> a) const;
  void mass_inverse(VectorIn<double>& q, MatrixOut<double> M_inverse) const;

  // N states: the same names with matrices, results last.
  template <RowsLike Q, RowsLike V, RowsLike A, RowsLike Tau>
  void rnea(const Q& q, const V& v, const A& a, Tau&& tau, const BatchOptions& options = {}) const {
    batch(Function::rnea, options, tau, q, v, a);
  }
  template <RowsLike Q, RowsLike V, RowsLike Tau>
  void bias(const Q& q, const V& v, Tau&& tau, const BatchOptions& options = {}) const {
    batch(Function::bias, options, tau, q, v);
  }
  template <RowsLike Q, RowsLike Tau>
  void gravity(const Q& q, Tau&& tau, const BatchOptions& options = {}) const {
    batch(Function::gravity, options, tau, q);
  }
  /// A row of M holds the n x n entries of one state, or those of pattern().
  template <RowsLike Q, RowsLike M>
  void crba(const Q& q, M&& m, const BatchOptions& options = {}) const {
    batch(Function::crba, options, m, q);
  }
  /// A row of M holds the n (n + 1) / 2 entries of the upper triangle, column by column.
  template <RowsLike Q, RowsLike M>
  void crba_packed(const Q& q, M&& m, const BatchOptions& options = {}) const {
    batch(Function::crba_packed, options, m, q);
  }
  template <RowsLike Q, RowsLike V, RowsLike Tau, RowsLike A>
  void aba(const Q& q, const V& v, const Tau& tau, A&& a, const BatchOptions& options = {}) const {
    batch(Function::aba, options, a, q, v, tau);
  }
  template <RowsLike Q, RowsLike M>
  void mass_inverse(const Q& q, M&& m, const BatchOptions& options = {}) const {
    batch(Function::mass_inverse, options, m, q);
  }

  /// Any function, one state: arrays in the order of the program's inputs and outputs.
  /// @throws Error for a wrong number or size of arrays, or an overlap.
  void run(Function function, std::span<const std::span<const double>> inputs,
           std::span<const std::span<double>> outputs) const;
  /// Any function, N states.
  void run(Function function, std::span<const ConstRows<double>> inputs,
           std::span<const Rows<double>> outputs, const BatchOptions& options = {}) const;
  void run(Function function, std::span<const ConstRows<float>> inputs,
           std::span<const Rows<float>> outputs, const BatchOptions& options = {}) const;

 private:
  template <typename Result, typename... Arguments>
  void batch(Function function, const BatchOptions& options, Result& result,
             const Arguments&... arguments) const {
    using T = typename Result::Scalar;
    const char* call = name(function);
    const ConstRows<T> in[] = {rows_of(call, "an argument", arguments)...};
    const Rows<T> out[] = {mutable_rows_of(call, "the result", result)};
    run(function, std::span<const ConstRows<T>>(in), std::span<const Rows<T>>(out), options);
  }

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Compiles functions of a robot: a few milliseconds.
///
///   const Compiled fast = compile(model, {Function::rnea, Function::aba});
///   fast.rnea(q, v, a, tau);          // one state
///   fast.rnea(Q, V, A, Tau, {.threads = 0});  // N states
///
/// @throws Error if a function needs frames that the options do not name.
inline Compiled compile(const Model<double>& model, const std::vector<Function>& functions,
                        const CompileOptions& options = {}) {
  return {model, functions, options};
}

}  // namespace limb
