#pragma once

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

/// The largest number of values that are alive at once: computed and needed later. Constants do not
/// count.
int largest_live(const Code& code);

/// Only the instructions that these results need, counted over all entries of all arrays. Rounding
/// does not change: what is fused was chosen for the whole code.
/// @throws Error for a result that the code does not have.
Code with_results(const Code& code, const std::vector<int>& results);

/// The order of the stores of with_few_registers().
enum class StoreOrder {
  any,
  arrays,  ///< the entries of each array in order, or all in reverse order
};

/// The same instructions in an order with few values alive at once, for processors with many
/// threads and few registers each: each result is computed from its operands when it is stored, one
/// result after the other. Several orders of the results are tried, with StoreOrder::any also that
/// of `code`; the best is returned.
Code with_few_registers(const Code& code, StoreOrder order = StoreOrder::any);

}  // namespace limb::codegen
