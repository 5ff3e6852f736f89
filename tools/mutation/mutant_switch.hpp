// Copied into the mutated tree by tools/mutate.py. Every mutant is compiled in beside the original
// code; the environment variable LIMB_MUTANT selects the one that runs (none by default).
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

namespace limb_mutant {

inline constexpr int capacity = 1 << 14;  // bytes of the file of reached mutants

struct Switch {
  int selected = 0;                  // 0: none; mutants are numbered from 1
  unsigned char* reached = nullptr;  // one byte per mutant, shared by all processes of a test
};

inline Switch read_environment() {
  Switch result;
  if (const char* number = std::getenv("LIMB_MUTANT")) result.selected = std::atoi(number);
  const char* path = std::getenv("LIMB_MUTANTS_REACHED");
  const int file = path ? open(path, O_RDWR) : -1;
  if (file >= 0) {
    void* memory = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) result.reached = static_cast<unsigned char*>(memory);
    close(file);
  }
  return result;
}

inline const Switch state = read_environment();

/// Whether mutant n replaces the original code.
inline bool on(int n) noexcept {
  if (state.reached != nullptr) state.reached[n] = 1;
  return n == state.selected;
}

/// The same inside constexpr functions: never in a constant expression.
constexpr bool on_constexpr(int n) noexcept {
  if (std::is_constant_evaluated()) return false;
  return on(n);
}

}  // namespace limb_mutant
