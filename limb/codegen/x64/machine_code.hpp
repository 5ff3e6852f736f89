#pragma once

#include <cstdint>
#include <optional>

#include "limb/codegen/record/split.hpp"
#include "limb/codegen/x64/executable_memory.hpp"
#include "limb/codegen/x64/target.hpp"

namespace limb::codegen {

/// Machine code of a Code in this process.
class MachineCode {
 public:
  /// @throws Error if the system does not allow executable memory, or the code calls the C library.
  /// @param code lowered with the precision of the target; by_fours only for one state.
  /// @param split the computation whose first step is the code, only for lanes; or null.
  MachineCode(const Code& code, const Target& target, const Split* split = nullptr);

  const Target& target() const { return target_; }
  /// Bytes of instructions, of constants, and of the stack frame of a call.
  std::size_t code_bytes() const { return code_bytes_; }
  std::size_t constant_bytes() const { return constant_bytes_; }
  std::size_t stack_bytes() const { return stack_bytes_; }
  int instructions() const { return instructions_; }
  int spills() const { return spills_; }
  const unsigned char* begin() const { return memory_->data() + start_; }

  /// One state: arrays as the code's inputs and outputs, which must not overlap.
  /// @returns whether the sines were in range; if not, nothing was written.
  bool run_one(const double* const* inputs, double* const* outputs) const {
    return reinterpret_cast<std::int64_t (*)(const double* const*, double* const*)>(entry_)(
               inputs, outputs) == 0;
  }
  /// Blocks of as many states as the target has lanes. Arrays by rows, one state per row; or by
  /// columns, one column of `states` numbers per entry, with pointers to the first state of the
  /// blocks. @param stream write rows of results by non-temporal stores, if the arrays are aligned.
  /// @returns the number of finished blocks: all, or those before one with angles out of range.
  std::int64_t run_blocks(const void* const* inputs, void* const* outputs, std::int64_t blocks,
                          std::int64_t states, bool stream = false) const;

 private:
  Target target_;
  std::size_t start_ = 0;
  std::optional<ExecutableMemory> memory_;
  void* entry_ = nullptr;
  std::size_t code_bytes_ = 0, constant_bytes_ = 0, stack_bytes_ = 0;
  int instructions_ = 0, spills_ = 0, outputs_ = 0;
};

}  // namespace limb::codegen
