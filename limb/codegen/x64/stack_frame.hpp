#pragma once

namespace limb::codegen {

/// Memory for values on the stack, as offsets in bytes from the lower end of the frame.
struct StackFrame {
  int used = 0;

  /// @returns the offset of `bytes` bytes, aligned to their number.
  int allocate(int bytes) {
    used = (used + bytes - 1) / bytes * bytes;
    used += bytes;
    return used - bytes;
  }
};

}  // namespace limb::codegen
