#pragma once

#include <vector>

#include "limb/codegen/record/functions.hpp"
#include "limb/codegen/record/split.hpp"
#include "limb/codegen/record/trace.hpp"
#include "limb/model/core/model.hpp"

namespace limb {
namespace codegen {

/// Records several functions of one robot; the robot is prepared once.
class FunctionTracer {
 public:
  /// @param model must outlive this.
  FunctionTracer(const Model<double>& model, const FunctionOptions& options);
  /// The function as a graph, with the robot's numbers as constants.
  /// @throws Error if the function cannot be recorded, see why_not_straight().
  Trace trace(DynamicsFunction function) const;
  /// The same in two steps. @throws Error unless can_split(function).
  /// @param patterns those of trace(), if only nonzero entries are computed.
  Split split(DynamicsFunction function, const std::vector<Pattern>& patterns = {}) const;

 private:
  /// Calls run(robot, arguments) with the arguments as inputs of the tracer, and the robot changed
  /// by the parameters among them.
  template <typename Run>
  auto with_arguments(Tracer& tracer, const Signature& shape, const Run& run) const;

  const Model<double>& model_;
  FunctionOptions options_;
  Model<Traced> traced_;
};

/// One function of a robot: FunctionTracer(model, options).trace(function).
Trace trace(const Model<double>& model, DynamicsFunction function,
            const FunctionOptions& options = {});

/// Records a function of a robot whose numbers are themselves recorded, inside the recording of a
/// Tracer: masses, lengths and placements may be any expression of its inputs. Start from
/// model.cast<Traced>(), which keeps the canonical form, and change it by Model's with_...();
/// arguments and results as in signature(), without parameters (those of the options are not used).
std::vector<MatrixX<Traced>> record(const Model<Traced>& model, DynamicsFunction function,
                                    const std::vector<VectorX<Traced>>& arguments,
                                    const FunctionOptions& options = {});

}  // namespace codegen

// Compiled once, in function_tracer.cpp.
extern template class Model<Traced>;
extern template Model<Traced> Model<double>::cast<Traced>() const;

}  // namespace limb
