#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "limb/batch/rows.hpp"
#include "limb/batch/run_rows.hpp"
#include "limb/batch/strategy.hpp"
#include "limb/codegen/program.hpp"
#include "limb/codegen/record/function_tracer.hpp"

namespace limb {

namespace codegen {
template <typename T>
struct EvaluateScratch;
}

/// One function of a robot with all its strategies. Any number of threads may run it.
class FunctionRunner {
 public:
  /// @param model, options must outlive this. @param tracer of both. @param robot a unique number.
  /// @throws Error if the function does not have the requested strategy.
  FunctionRunner(const Model<double>& model, DynamicsFunction function,
                 const FunctionOptions& options, const codegen::FunctionTracer& tracer,
                 const codegen::ProgramOptions& program, Strategy strategy, std::uint64_t robot);

  DynamicsFunction function() const { return function_; }
  /// Arguments and results with these options.
  const codegen::Signature& shape() const { return shape_; }
  /// The entries of a matrix that each result has.
  const std::vector<codegen::Pattern>& patterns() const { return patterns_; }
  /// Null if only the recursion is available.
  const codegen::Program* program() const { return program_ ? &*program_ : nullptr; }
  /// Measures batches if no call has done so yet.
  StrategyReport report() const;
  /// Whether one state is computed by the templates.
  bool uses_recursion() const { return report_.one_state == Strategy::recursion; }

  /// One state; arrays as in shape(). With the recursion the first call of a thread allocates its
  /// workspace.
  void run_one(const double* const* in, double* const* out) const;

  /// N states. @throws Error "call: ..." for arrays that do not match.
  template <typename T>
  void run_many(std::span<const ConstStateRows<T>> in, std::span<const StateRows<T>> out,
                const BatchOptions& options) const;

 private:
  void recurse(const double* const* in, double* const* out) const;
  void evaluate(const Model<double>& model, codegen::EvaluateScratch<double>& scratch,
                const double* const* in, double* const* out) const;
  template <typename T>
  void recurse_rows(std::span<const ConstStateRows<T>> in, std::span<const StateRows<T>> out,
                    std::int64_t first, std::int64_t count) const;
  bool is_measured() const;
  void measure_one();
  Strategy batch_strategy() const;
  bool uses_split() const;

  const Model<double>& model_;
  const FunctionOptions& options_;
  DynamicsFunction function_;
  std::uint64_t robot_;
  codegen::Signature shape_;
  std::vector<codegen::Pattern> patterns_;
  bool is_whole_ = true;  ///< all results have all entries
  std::optional<codegen::Program> program_;
  Strategy requested_;
  mutable StrategyReport report_;
  mutable std::once_flag batch_measured_;
};

}  // namespace limb
