#pragma once

#include <functional>
#include <span>

#include "limb/batch/rows.hpp"
#include "limb/codegen/program.hpp"

namespace limb {

/// Calls part(first, count) for ranges that make up [0, states), on one thread or on several. All
/// ranges but the last are multiples of `step`, and none but a lone one is shorter than `step`.
void for_ranges(std::int64_t states, std::int64_t step, std::int64_t grain, int threads,
                const std::function<void(std::int64_t first, std::int64_t count)>& part);

/// @throws Error "call: ..." unless arrays match the program's and hold equally many states, and no
/// result overlaps an argument or another result. @returns how many states.
template <typename T>
std::int64_t check_rows(const codegen::Program& program, std::span<const ConstRows<T>> inputs,
                        std::span<const Rows<T>> outputs);

}  // namespace limb
