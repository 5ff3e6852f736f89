#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "limb/base/testing/sanitized.hpp"

/// Counts the calls of malloc in a test program: operator new and Eigen both call it. To be
/// included by one file of the program. Sanitizers replace malloc; with them nothing is counted.
namespace limb::testing {

#if defined(__GLIBC__) && !LIMB_SANITIZED
#define LIMB_COUNTS_ALLOCATIONS 1
#else
#define LIMB_COUNTS_ALLOCATIONS 0
#endif

inline constexpr bool kCountsAllocations = LIMB_COUNTS_ALLOCATIONS;
inline std::atomic<long> allocation_count{0};

/// The number of allocations that the call makes.
template <typename Call>
long allocations(const Call& call) {
  const long before = allocation_count.load();
  call();
  return allocation_count.load() - before;
}

}  // namespace limb::testing

#if LIMB_COUNTS_ALLOCATIONS
extern "C" void* __libc_malloc(std::size_t);               // NOLINT: declared by glibc
extern "C" void* __libc_calloc(std::size_t, std::size_t);  // NOLINT
extern "C" void* __libc_realloc(void*, std::size_t);       // NOLINT

extern "C" void* malloc(std::size_t size) {
  ++limb::testing::allocation_count;
  return __libc_malloc(size);
}
extern "C" void* calloc(std::size_t count, std::size_t size) {
  ++limb::testing::allocation_count;
  return __libc_calloc(count, size);
}
extern "C" void* realloc(void* memory, std::size_t size) {
  ++limb::testing::allocation_count;
  return __libc_realloc(memory, size);
}
#endif
