#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "limb/batch/rows.hpp"
#include "limb/codegen/program.hpp"

namespace limb {

/// Calls part(first, count) for ranges that make up [0, states), on one thread or on several. All
/// ranges but the last are multiples of `step`, and none but a lone one is shorter than `step`.
void for_ranges(std::int64_t states, std::int64_t step, std::int64_t grain, int threads,
                const std::function<void(std::int64_t first, std::int64_t count)>& part);

/// @throws Error for a negative number of threads or grain.
void check_options(const std::string& call, const BatchOptions& options);

/// Whether so many bytes of results are better written past the caches: more than three eighths of
/// the largest one.
bool are_streamed(std::int64_t bytes);

/// @throws Error "call: ..." unless arrays match those named and hold equally many states, and no
/// result overlaps an argument or another result. @returns how many states.
template <typename T>
std::int64_t check_rows(const std::string& call, const std::vector<codegen::Array>& arguments,
                        const std::vector<codegen::Array>& results,
                        std::span<const ConstRows<T>> inputs, std::span<const Rows<T>> outputs);

/// A program on N states, arrays in the order of its inputs and outputs: any recorded function,
/// your own as well. SIMD lanes, threads if asked; the first call for a precision and a layout
/// makes its machine code. @throws Error as check_rows.
///
///   const ConstRows<double> in[] = {{X.data(), X.rows(), X.cols()}};
///   const Rows<double> out[] = {{F.data(), F.rows(), F.cols()}};
///   run_rows<double>(program, in, out, {.threads = 0});
///
/// @param split in two steps, where the program has them.
template <typename T>
void run_rows(const codegen::Program& program, std::span<const ConstRows<T>> inputs,
              std::span<const Rows<T>> outputs, const BatchOptions& options = {},
              bool split = false);

}  // namespace limb
