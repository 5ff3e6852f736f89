#include "limb/codegen/x64/target.hpp"

namespace limb::codegen {

const char* to_text(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return "AVX2";
    case Isa::avx512:
      return "AVX-512";
    default:
      return "none";
  }
}

#if defined(__x86_64__)
Isa detect_isa() {
  // __builtin_cpu_supports checks the processor, and that the system saves the registers.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::none;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return wide ? Isa::avx512 : Isa::avx2;
}
#else
Isa detect_isa() {
  return Isa::none;
}
#endif

}  // namespace limb::codegen
