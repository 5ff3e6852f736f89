#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "limb/batch/rows.hpp"
#include "limb/batch/strategy.hpp"
#include "limb/codegen/program.hpp"
#include "limb/codegen/record/functions.hpp"

namespace limb {

struct CompileOptions : FunctionOptions {
  codegen::ProgramOptions program;
  /// automatic: straight-line code, except for derivatives, where one measurement decides for one
  /// state and another, at the first call, for batches; and except for functions that have only one
  /// strategy. split applies to batches only: one state is then measured, too.
  Strategy strategy = Strategy::automatic;
};

/// Compiled functions of one robot. Each has two overloads:
///
/// - for one state, with vectors, as in limb/dynamics: no allocation, no lock (with the recursion
///   the first call of a thread allocates its workspace);
/// - for N states, with matrices (N, n) of double or float, all stored by rows or all by columns:
///   SIMD lanes, threads on request. Rows are the better choice: columns whose length is a
///   multiple of 512 map to the same few cache sets.
///
/// Where machine code is not available (why_not_compiled()), one state and double batches are
/// computed by the templates of limb/dynamics, the rest by an interpreter. Results must not overlap
/// arguments; this is checked.
class Compiled {
 public:
  Compiled(const Model<double>& model, const std::vector<DynamicsFunction>& functions,
           const CompileOptions& options);
  ~Compiled();
  Compiled(Compiled&&) noexcept;
  Compiled& operator=(Compiled&&) noexcept;

  bool has(DynamicsFunction function) const;
  /// Whether there is a program: not for functions that only run as a recursion.
  bool has_program(DynamicsFunction function) const;
  /// @throws Error if the function was not compiled, or has no program.
  const codegen::Program& program(DynamicsFunction function) const;
  /// Which strategy the function uses, and why. Measures batches if no call has done so yet.
  StrategyReport strategy(DynamicsFunction function) const;
  /// Its arguments and results.
  const codegen::Signature& shape(DynamicsFunction function) const;
  /// Rows and columns of the entries of a result in its matrix: the nonzeros with
  /// CompileOptions::entries nonzeros or for crba_packed; otherwise all entries.
  const codegen::Pattern& pattern(DynamicsFunction function, int result = 0) const;
  /// Why there is no machine code; empty if there is.
  const std::string& why_not_compiled() const;

  // One state. tau, a of size n; matrices as DynamicsFunction describes them, or with
  // MatrixEntries::nonzeros one column of entries. Matrices must have no gaps between their
  // columns.
  void inverse_dynamics(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& a,
                        VectorOut<double> tau) const;
  void bias(VectorIn<double>& q, VectorIn<double>& v, VectorOut<double> tau) const;
  void gravity(VectorIn<double>& q, VectorOut<double> tau) const;
  void mass_matrix(VectorIn<double>& q, MatrixOut<double> M) const;
  void crba_packed(VectorIn<double>& q, VectorOut<double> M) const;  ///< n (n + 1) / 2
  void forward_dynamics(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau,
                        VectorOut<double> a) const;
  void mass_inverse(VectorIn<double>& q, MatrixOut<double> M_inverse) const;
  void frame_poses(VectorIn<double>& q, MatrixOut<double> R, MatrixOut<double> p) const;
  void frame_jacobians(VectorIn<double>& q, MatrixOut<double> J) const;
  void centroidal(VectorIn<double>& q, MatrixOut<double> A_G, VectorOut<double> com) const;
  void operational_space(VectorIn<double>& q, MatrixOut<double> Lambda,
                         MatrixOut<double> J_bar) const;
  void inverse_dynamics_derivatives(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& a,
                                    MatrixOut<double> dtau_dq, MatrixOut<double> dtau_dv) const;
  void forward_dynamics_derivatives(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau,
                                    MatrixOut<double> da_dq, MatrixOut<double> da_dv,
                                    MatrixOut<double> da_dtau) const;

  // N states: the same names with matrices, results last. A row of a result has the entries of one
  // state, column by column, or those of pattern().
  template <RowsLike Q, RowsLike V, RowsLike A, RowsLike Tau>
  void inverse_dynamics(const Q& q, const V& v, const A& a, Tau&& tau,
                        const BatchOptions& options = {}) const {
    batch(DynamicsFunction::rnea, options, std::tie(q, v, a), tau);
  }
  template <RowsLike Q, RowsLike V, RowsLike Tau>
  void bias(const Q& q, const V& v, Tau&& tau, const BatchOptions& options = {}) const {
    batch(DynamicsFunction::bias, options, std::tie(q, v), tau);
  }
  template <RowsLike Q, RowsLike Tau>
  void gravity(const Q& q, Tau&& tau, const BatchOptions& options = {}) const {
    batch(DynamicsFunction::gravity, options, std::tie(q), tau);
  }
  template <RowsLike Q, RowsLike M>
  void mass_matrix(const Q& q, M&& m, const BatchOptions& options = {}) const {
    batch(DynamicsFunction::crba, options, std::tie(q), m);
  }
  /// A row of M has the n (n + 1) / 2 entries of the upper triangle, column by column.
  template <RowsLike Q, RowsLike M>
  void crba_packed(const Q& q, M&& m, const BatchOptions& options = {}) const {
    batch(DynamicsFunction::crba_packed, options, std::tie(q), m);
  }
  template <RowsLike Q, RowsLike V, RowsLike Tau, RowsLike A>
  void forward_dynamics(const Q& q, const V& v, const Tau& tau, A&& a,
                        const BatchOptions& options = {}) const {
    batch(DynamicsFunction::aba, options, std::tie(q, v, tau), a);
  }
  template <RowsLike Q, RowsLike M>
  void mass_inverse(const Q& q, M&& m, const BatchOptions& options = {}) const {
    batch(DynamicsFunction::mass_inverse, options, std::tie(q), m);
  }
  template <RowsLike Q, RowsLike R, RowsLike P>
  void frame_poses(const Q& q, R&& r, P&& p, const BatchOptions& options = {}) const {
    batch(DynamicsFunction::frame_poses, options, std::tie(q), r, p);
  }
  template <RowsLike Q, RowsLike J>
  void frame_jacobians(const Q& q, J&& j, const BatchOptions& options = {}) const {
    batch(DynamicsFunction::frame_jacobians, options, std::tie(q), j);
  }
  template <RowsLike Q, RowsLike A, RowsLike P>
  void centroidal(const Q& q, A&& A_G, P&& com, const BatchOptions& options = {}) const {
    batch(DynamicsFunction::centroidal, options, std::tie(q), A_G, com);
  }
  template <RowsLike Q, RowsLike L, RowsLike J>
  void operational_space(const Q& q, L&& Lambda, J&& J_bar,
                         const BatchOptions& options = {}) const {
    batch(DynamicsFunction::operational_space, options, std::tie(q), Lambda, J_bar);
  }
  template <RowsLike Q, RowsLike V, RowsLike A, RowsLike Dq, RowsLike Dv>
  void inverse_dynamics_derivatives(const Q& q, const V& v, const A& a, Dq&& dtau_dq, Dv&& dtau_dv,
                                    const BatchOptions& options = {}) const {
    batch(DynamicsFunction::rnea_derivatives, options, std::tie(q, v, a), dtau_dq, dtau_dv);
  }
  template <RowsLike Q, RowsLike V, RowsLike Tau, RowsLike Dq, RowsLike Dv, RowsLike Dtau>
  void forward_dynamics_derivatives(const Q& q, const V& v, const Tau& tau, Dq&& da_dq, Dv&& da_dv,
                                    Dtau&& da_dtau, const BatchOptions& options = {}) const {
    batch(DynamicsFunction::aba_derivatives, options, std::tie(q, v, tau), da_dq, da_dv, da_dtau);
  }

  // Aliases, one state and N states: rnea of inverse_dynamics, aba of forward_dynamics, crba of
  // mass_matrix, and those of the derivatives.
  void rnea(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& a,
            VectorOut<double> tau) const {
    inverse_dynamics(q, v, a, tau);
  }
  void aba(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau,
           VectorOut<double> a) const {
    forward_dynamics(q, v, tau, a);
  }
  void crba(VectorIn<double>& q, MatrixOut<double> M) const { mass_matrix(q, M); }
  void rnea_derivatives(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& a,
                        MatrixOut<double> dtau_dq, MatrixOut<double> dtau_dv) const {
    inverse_dynamics_derivatives(q, v, a, dtau_dq, dtau_dv);
  }
  void aba_derivatives(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau,
                       MatrixOut<double> da_dq, MatrixOut<double> da_dv,
                       MatrixOut<double> da_dtau) const {
    forward_dynamics_derivatives(q, v, tau, da_dq, da_dv, da_dtau);
  }
  template <RowsLike Q, RowsLike V, RowsLike A, RowsLike Tau>
  void rnea(const Q& q, const V& v, const A& a, Tau&& tau, const BatchOptions& options = {}) const {
    inverse_dynamics(q, v, a, tau, options);
  }
  template <RowsLike Q, RowsLike V, RowsLike Tau, RowsLike A>
  void aba(const Q& q, const V& v, const Tau& tau, A&& a, const BatchOptions& options = {}) const {
    forward_dynamics(q, v, tau, a, options);
  }
  template <RowsLike Q, RowsLike M>
  void crba(const Q& q, M&& m, const BatchOptions& options = {}) const {
    mass_matrix(q, m, options);
  }
  template <RowsLike Q, RowsLike V, RowsLike A, RowsLike Dq, RowsLike Dv>
  void rnea_derivatives(const Q& q, const V& v, const A& a, Dq&& dtau_dq, Dv&& dtau_dv,
                        const BatchOptions& options = {}) const {
    inverse_dynamics_derivatives(q, v, a, dtau_dq, dtau_dv, options);
  }
  template <RowsLike Q, RowsLike V, RowsLike Tau, RowsLike Dq, RowsLike Dv, RowsLike Dtau>
  void aba_derivatives(const Q& q, const V& v, const Tau& tau, Dq&& da_dq, Dv&& da_dv,
                       Dtau&& da_dtau, const BatchOptions& options = {}) const {
    forward_dynamics_derivatives(q, v, tau, da_dq, da_dv, da_dtau, options);
  }

  /// Any function, one state: arrays in the order of the program's inputs and outputs.
  /// @throws Error for a wrong number or size of arrays, or an overlap.
  void run(DynamicsFunction function, std::span<const std::span<const double>> inputs,
           std::span<const std::span<double>> outputs) const;
  /// Any function, N states.
  void run(DynamicsFunction function, std::span<const ConstStateRows<double>> inputs,
           std::span<const StateRows<double>> outputs, const BatchOptions& options = {}) const;
  void run(DynamicsFunction function, std::span<const ConstStateRows<float>> inputs,
           std::span<const StateRows<float>> outputs, const BatchOptions& options = {}) const;

 private:
  template <typename... Arguments, typename First, typename... Results>
  void batch(DynamicsFunction function, const BatchOptions& options,
             const std::tuple<const Arguments&...>& arguments, First& first,
             Results&... others) const {
    using T = typename First::Scalar;
    const char* call = to_text(function);
    const auto in = std::apply(
        [&](const auto&... x) {
          return std::array{ConstStateRows<T>(rows_of(call, "an argument", x))...};
        },
        arguments);
    const std::array out{StateRows<T>(mutable_rows_of(call, "the result", first)),
                         StateRows<T>(mutable_rows_of(call, "a result", others))...};
    run(function, std::span<const ConstStateRows<T>>(in), std::span<const StateRows<T>>(out),
        options);
  }

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Compiles functions of a robot: a few milliseconds.
///
///   const Compiled fast = compile(model, {DynamicsFunction::rnea, DynamicsFunction::aba});
///   fast.rnea(q, v, a, tau);          // one state
///   fast.rnea(Q, V, A, Tau, {.threads = 0});  // N states
///
/// @throws Error if a function needs frames that the options do not name.
inline Compiled compile(const Model<double>& model, const std::vector<DynamicsFunction>& functions,
                        const CompileOptions& options = {}) {
  return {model, functions, options};
}

}  // namespace limb
