#pragma once

#include "limb/codegen/evaluate_impl.hpp"

namespace limb::codegen {

/// What derivatives of forward dynamics are products of, recorded.
struct Factors {
  MatrixX<Traced> dtau_dq, dtau_dv, M_inverse;
  kernel::PackedFactor<Traced> F;
};
Factors record_factors(const Model<Traced>& model, const std::vector<VectorX<Traced>>& arguments,
                       const FunctionOptions& options);

template <typename Run>
auto FunctionTracer::with_arguments(Tracer& tracer, const Signature& shape, const Run& run) const {
  std::vector<VectorX<Traced>> in;
  std::vector<const Traced*> parameters;
  for (const Array& x : shape.inputs) {
    const MatrixX<Traced> entries = tracer.input(x.name, x.rows, x.cols);
    in.push_back(Eigen::Map<const VectorX<Traced>>(entries.data(), x.size()));
  }
  const std::size_t own = in.size() - static_cast<std::size_t>(shape.parameters);
  for (std::size_t k = own; k < in.size(); ++k) parameters.push_back(in[k].data());
  if (parameters.empty()) return run(traced_, in);
  const Model<Traced> changed = with_parameters(traced_, options_, parameters.data());
  in.resize(own);
  return run(changed, in);
}

}  // namespace limb::codegen
