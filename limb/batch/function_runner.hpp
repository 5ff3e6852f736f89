#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "limb/batch/form.hpp"
#include "limb/batch/rows.hpp"
#include "limb/batch/run_rows.hpp"
#include "limb/codegen/functions.hpp"
#include "limb/codegen/program.hpp"

namespace limb {

namespace codegen {
template <typename T>
struct EvaluateScratch;
}

/// One function of a robot in all of its forms. Any number of threads may run it.
class FunctionRunner {
 public:
  /// @param model, options must outlive this. @param tracer of both. @param robot a number that no
  /// other robot has.
  /// @throws Error if the form that was asked for cannot be.
  FunctionRunner(const Model<double>& model, Function function, const FunctionOptions& options,
                 const codegen::FunctionTracer& tracer, const codegen::ProgramOptions& program,
                 Form form, std::uint64_t robot);

  Function function() const { return function_; }
  /// Arguments and results, as options ask for them.
  const codegen::Signature& shape() const { return shape_; }
  /// What each result holds of a matrix.
  const std::vector<codegen::Pattern>& patterns() const { return patterns_; }
  /// Null where only the recursion was made.
  const codegen::Program* program() const { return program_ ? &*program_ : nullptr; }
  /// Measures batches if no call has done so yet.
  FormReport report() const;
  /// Whether one state is computed by the templates.
  bool recurses() const { return form_.one_state == Form::recursion; }

  /// One state; arrays as in shape(). In recursion the first call of a thread makes its workspace.
  void one(const double* const* in, double* const* out) const;

  /// N states. @throws Error "call: ..." for arrays that do not fit.
  template <typename T>
  void rows(std::span<const ConstRows<T>> in, std::span<const Rows<T>> out,
            const BatchOptions& options) const;

 private:
  void recurse(const double* const* in, double* const* out) const;
  void evaluate(const Model<double>& model, codegen::EvaluateScratch<double>& scratch,
                const double* const* in, double* const* out) const;
  template <typename T>
  void recurse_rows(std::span<const ConstRows<T>> in, std::span<const Rows<T>> out,
                    std::int64_t first, std::int64_t count) const;
  bool is_measured() const;
  void measure_one();
  Form batch_form() const;
  bool splits() const;

  const Model<double>& model_;
  const FunctionOptions& options_;
  Function function_;
  std::uint64_t robot_;
  codegen::Signature shape_;
  std::vector<codegen::Pattern> patterns_;
  bool is_whole_ = true;  ///< all results hold all entries
  std::optional<codegen::Program> program_;
  Form asked_;
  mutable FormReport form_;
  mutable std::once_flag batch_measured_;
};

}  // namespace limb
