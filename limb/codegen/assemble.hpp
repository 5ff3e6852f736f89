#pragma once

#include <cstdint>
#include <optional>

#include "limb/codegen/executable_memory.hpp"
#include "limb/codegen/split.hpp"
#include "limb/codegen/x64_target.hpp"

namespace limb::codegen {

/// A Code as machine code of this process.
class MachineCode {
 public:
  /// @throws Error if the system gives no memory that may run, or if the code calls the C library.
  /// @param code lowered for the target: precision; sines by fours for one state, else not.
  /// @param split of which the code is the first step, for lanes alone; or null.
  MachineCode(const Code& code, const Target& target, const Split* split = nullptr);

  const Target& target() const { return target_; }
  /// Bytes of instructions, of constants, and of the stack that a call takes.
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
  /// Blocks of as many states as the target has lanes. Arrays by rows, one state a row; or by
  /// columns, one entry a column of `states` numbers, pointers at the first state of the blocks.
  /// @param stream rows of results go past the caches, where the arrays' alignment allows it.
  /// @returns how many blocks were done: all, or those before one whose sines were out of range.
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
