#pragma once

#include <vector>

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

/// The results of a computation in parts that kernels of their own compute, so that the values of
/// each fit into the registers of a thread.
struct ResultParts {
  std::vector<std::vector<int>> parts;  ///< PtxOptions::results of each
  int level = 4;                        ///< optimization level for the driver's compiler, 0 to 4
};

/// Columns of matrices are dealt to the parts, as few parts as possible; what they share is
/// computed by each of them.
ResultParts split_results(const Trace& trace, Precision precision);

}  // namespace limb::codegen
