#pragma once

#include <vector>

#include "limb/codegen/code.hpp"

namespace limb::codegen {

/// Runs a Code instruction by instruction: slow, for any processor and any angle. Gives the bits of
/// the machine code wherever that runs. T is double or float, as the precision of the Code.
template <typename T>
class Interpreter {
 public:
  /// @throws Error unless sines and cosines of the code are calls.
  explicit Interpreter(const Code& code);

  /// One state; arrays as the code's inputs and outputs. Results may lie where arguments lie.
  /// Any number of threads; each has its own scratch, which grows on its first call.
  void run(const T* const* inputs, T* const* outputs) const;

 private:
  struct Step {
    Act act;
    int to, a, b, c;
  };
  std::vector<Step> steps_;
  std::vector<T> constants_;
  struct Result {
    int array, entry, from;
  };
  std::vector<int> input_array_, input_entry_;
  std::vector<Result> results_;
  int slots_ = 0;
};

extern template class Interpreter<double>;
extern template class Interpreter<float>;

}  // namespace limb::codegen
