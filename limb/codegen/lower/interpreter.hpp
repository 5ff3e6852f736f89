#pragma once

#include <vector>

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

/// Runs a Code instruction by instruction: slow, for any processor and any angle, with the same
/// bits as machine code. T is double or float, as the precision of the Code.
template <typename T>
class Interpreter {
 public:
  /// @throws Error unless sines and cosines of the code are calls.
  explicit Interpreter(const Code& code);

  /// One state; arrays as the code's inputs and outputs. Results may overlap arguments. Any
  /// number of threads; each has a scratch buffer, which grows on its first call.
  void run(const T* const* inputs, T* const* outputs) const;

 private:
  struct Step {
    Opcode opcode;
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
