#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/table.hpp"
#include "limb/codegen/record/function_tracer.hpp"

namespace limb::cli {

/// Rates of the functions of a robot on a GPU: states per second, share of the memory bandwidth
/// that copies reach, registers, and the time until the first result.
struct GpuBench {
  /// @throws Error if there is no GPU, or if the states do not fit into its memory.
  GpuBench(const Model<double>& model, const std::vector<DynamicsFunction>& functions,
           const FunctionOptions& options, std::int64_t states, double seconds);
  Table table;
  nlohmann::json json;
};

}  // namespace limb::cli
