#pragma once

#include <gtest/gtest.h>

#include "limb/base/testing/left_out.hpp"
#include "limb/codegen/testing/run.hpp"

/// Rows of results at given alignments, for tests.
namespace limb::testing {

/// Instruction sets that machine code can be made for here.
inline std::vector<codegen::Isa> instruction_sets() {
  std::vector<codegen::Isa> all;
  for (const codegen::Isa isa : {codegen::Isa::avx2, codegen::Isa::avx512}) {
    if (isa <= codegen::detect_isa() && codegen::why_no_machine_code().empty()) {
      all.push_back(isa);
    } else {
      leave_out("this machine cannot run code for " + std::string(to_text(isa)));
    }
  }
  return all;
}

/// Runs rows into arrays that begin `offset` numbers after the start of a cache line, and checks
/// that nothing beside them is written.
template <typename T>
Batch<T> aligned_rows(const codegen::Program& p, const Batch<T>& in, std::int64_t states,
                      const codegen::LanesOptions& options, std::size_t offset = 0) {
  constexpr std::size_t kLine = 64 / sizeof(T);
  Batch<T> buffers, out;
  std::vector<T*> to;
  for (const codegen::Array& a : p.outputs()) {
    const std::size_t size = static_cast<std::size_t>(states * a.size());
    std::vector<T>& buffer = buffers.data.emplace_back(size + 4 * kLine, T(7));
    const std::size_t past = reinterpret_cast<std::uintptr_t>(buffer.data()) / sizeof(T) % kLine;
    to.push_back(buffer.data() + 2 * kLine - past + offset);
  }
  p.run_rows(in.pointers(0, p.inputs()).data(), to.data(), states, options);
  for (std::size_t k = 0; k < to.size(); ++k) {
    const std::int64_t size = states * p.outputs()[k].size();
    out.data.emplace_back(to[k], to[k] + size);
    for (std::int64_t i = 1; i <= 8; ++i) {
      EXPECT_EQ(to[k][-i], T(7));
      EXPECT_EQ(to[k][size + i - 1], T(7));
    }
  }
  return out;
}

}  // namespace limb::testing
