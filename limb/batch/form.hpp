#pragma once

#include <functional>
#include <string>

namespace limb {

/// How a function runs: as one straight line of machine code, by loops over the tree of joints (the
/// templates of limb/dynamics), or split: a straight line, then loops over products of matrices
/// (aba_derivatives, batches alone).
enum class Form { automatic, straight_line, recursion, split };

const char* name(Form form);

/// Which form serves, and why. Times in ns a state, 0 where nothing was measured.
struct FormReport {
  Form one_state = Form::straight_line, batch = Form::straight_line;
  double straight_line_ns = 0, recursion_ns = 0;                                  ///< one state
  double batch_straight_line_ns = 0, batch_recursion_ns = 0, batch_split_ns = 0;  ///< many, double
  std::string reason;  ///< "measured", "asked for", "no recursion" or what stands in the way
};

/// Nanoseconds of a call, the fastest of some: about a millisecond in all.
double fastest_ns(const std::function<void()>& call);

}  // namespace limb
