#include "limb/codegen/x64/executable_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "limb/base/error.hpp"

namespace limb::codegen {
namespace {

std::size_t whole_pages(std::size_t size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

[[noreturn]] void refuse(const char* call) {
  throw Error(std::string("ExecutableMemory: the system refuses ") + call + " (" +
              std::strerror(errno) + ")");
}

}  // namespace

ExecutableMemory::ExecutableMemory(std::size_t size) : size_(whole_pages(size)) {
  void* pages = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) refuse("mmap");
  data_ = static_cast<unsigned char*>(pages);
}

void ExecutableMemory::seal(std::size_t used) {
  const std::size_t kept = whole_pages(used);
  if (kept < size_) {
    munmap(data_ + kept, size_ - kept);
    size_ = kept;
  }
  if (mprotect(data_, size_, PROT_READ | PROT_EXEC) != 0) refuse("mprotect(PROT_EXEC)");
}

void ExecutableMemory::release() {
  if (data_ != nullptr) munmap(data_, size_);
  data_ = nullptr;
}

ExecutableMemory::~ExecutableMemory() {
  release();
}

ExecutableMemory::ExecutableMemory(ExecutableMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}

ExecutableMemory& ExecutableMemory::operator=(ExecutableMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  data_ = std::exchange(other.data_, nullptr);
  size_ = other.size_;
  return *this;
}

}  // namespace limb::codegen
