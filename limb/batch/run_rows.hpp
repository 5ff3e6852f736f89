#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "limb/batch/rows.hpp"
#include "limb/codegen/program.hpp"

namespace limb {

/// Calls part(first, count) for ranges that make up [0, states), on one or several threads. All
/// ranges but the last are multiples of `step`, and none is shorter unless it is the only one.
void for_ranges(std::int64_t states, std::int64_t step, std::int64_t grain, int threads,
                const std::function<void(std::int64_t first, std::int64_t count)>& part);

/// @throws Error for a negative number of threads or grain.
void check_options(const std::string& call, const BatchOptions& options);

/// Whether results of this size are better written by streaming stores: more than three eighths of
/// the largest cache.
bool should_stream(std::int64_t bytes);

/// @throws Error "call: ..." unless the arrays match the signature and hold equally many states,
/// and no result overlaps an argument or another result. @returns the number of states.
template <typename T>
std::int64_t check_rows(const std::string& call, const std::vector<codegen::Array>& arguments,
                        const std::vector<codegen::Array>& results,
                        std::span<const ConstStateRows<T>> inputs,
                        std::span<const StateRows<T>> outputs);

/// Runs a program on N states, arrays in the order of its inputs and outputs: any recorded
/// function, user-defined ones included. SIMD lanes, threads on request; the first call for a
/// precision and a layout makes its machine code. @throws Error as check_rows.
///
///   const ConstStateRows<double> in[] = {{X.data(), X.rows(), X.cols()}};
///   const StateRows<double> out[] = {{F.data(), F.rows(), F.cols()}};
///   run_rows<double>(program, in, out, {.threads = 0});
///
/// @param split in two steps, if the program has them.
template <typename T>
void run_rows(const codegen::Program& program, std::span<const ConstStateRows<T>> inputs,
              std::span<const StateRows<T>> outputs, const BatchOptions& options = {},
              bool split = false);

}  // namespace limb
