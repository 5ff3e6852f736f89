#pragma once

#include <functional>
#include <string>

namespace limb {

/// How a function runs: as straight-line machine code, by recursion over the tree of joints (the
/// templates of limb/dynamics), or split: straight-line code, then loops over products of matrices
/// (only batches of aba_derivatives).
enum class Strategy { automatic, straight_line, recursion, split };

const char* to_text(Strategy strategy);

/// Which strategy is used, and why. Times in ns per state, 0 where nothing was measured.
struct StrategyReport {
  Strategy one_state = Strategy::straight_line, batch = Strategy::straight_line;
  double straight_line_ns = 0, recursion_ns = 0;                                  ///< one state
  double batch_straight_line_ns = 0, batch_recursion_ns = 0, batch_split_ns = 0;  ///< many, double
  std::string reason;  ///< "measured", "requested", "no recursion", or why others cannot run
};

/// Time of a call in ns, the fastest of several; takes about a millisecond in all.
double fastest_ns(const std::function<void()>& call);

}  // namespace limb
