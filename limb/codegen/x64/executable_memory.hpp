#pragma once

#include <cstddef>

namespace limb::codegen {

/// Pages that are first writable, then executable, never both.
class ExecutableMemory {
 public:
  /// Writable. @throws Error if the system refuses.
  explicit ExecutableMemory(std::size_t size);
  ~ExecutableMemory();
  ExecutableMemory(ExecutableMemory&& other) noexcept;
  ExecutableMemory& operator=(ExecutableMemory&& other) noexcept;

  unsigned char* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Makes the memory executable and no longer writable; frees what lies beyond `used`.
  /// @throws Error if the system refuses.
  void seal(std::size_t used);

 private:
  void release();
  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace limb::codegen
