// Machine code reads and writes nothing outside its arrays: each array is adjacent to an
// inaccessible page, before its beginning or after its end.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "limb/codegen/program.hpp"
#include "limb/codegen/record/function_tracer.hpp"
#include "limb/codegen/testing/aligned_rows.hpp"
#include "limb/codegen/testing/run.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using codegen::Isa;
using codegen::Program;

/// An array between two inaccessible pages, adjacent to one of them.
class Guarded {
 public:
  Guarded(std::size_t bytes, bool at_end) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t capacity = (bytes + page - 1) / page * page;
    size_ = capacity + 2 * page;
    base_ = static_cast<unsigned char*>(
        mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(base_ + page, capacity, PROT_READ | PROT_WRITE), 0);
    data_ = base_ + page + (at_end ? capacity - bytes : 0);
  }
  ~Guarded() { munmap(base_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  unsigned char *base_, *data_;
  std::size_t size_;
};

/// All arrays of a call between guards, filled with small numbers.
template <typename T>
struct GuardedCall {
  std::vector<std::unique_ptr<Guarded>> memory;
  std::vector<const T*> in;
  std::vector<T*> out;

  GuardedCall(const Program& p, std::int64_t states, bool at_end) {
    const auto make = [&](const codegen::Array& a) {
      const std::size_t count = static_cast<std::size_t>(a.size() * states);
      memory.push_back(std::make_unique<Guarded>(count * sizeof(T), at_end));
      T* x = memory.back()->as<T>();
      for (std::size_t i = 0; i < count; ++i) x[i] = T(0.01) * T(i % 97);
      return x;
    };
    for (const auto& a : p.inputs()) in.push_back(make(a));
    for (const auto& a : p.outputs()) out.push_back(make(a));
  }
};

template <typename T>
void run_guarded(const Program& p, std::int64_t states, bool at_end) {
  const GuardedCall<T> call(p, states, at_end);
  if constexpr (sizeof(T) == 8) {
    if (states == 1) p.run(call.in.data(), call.out.data());
  }
  p.run_rows(call.in.data(), call.out.data(), states);
  p.run_rows(call.in.data(), call.out.data(), states, {.stream = true});
  p.run_columns(call.in.data(), call.out.data(), states, 0, states);
}

/// States in the middle of columns: the others keep their values.
template <typename T>
void run_part(const Program& p, std::int64_t first, std::int64_t count, bool at_end) {
  const std::int64_t states = 40;
  const GuardedCall<T> call(p, states, at_end);
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    std::fill_n(call.out[k], p.outputs()[k].size() * states, T(77));
  }
  p.run_columns(call.in.data(), call.out.data(), states, first, count);
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    for (int j = 0; j < p.outputs()[k].size(); ++j) {
      for (std::int64_t i = 0; i < states; ++i) {
        const bool outside = i < first || i >= first + count;
        ASSERT_EQ(call.out[k][j * states + i] == T(77), outside) << p.name() << " " << i;
      }
    }
  }
}

// One state, rows and columns, double and float; whole blocks, tails of every length, and less than
// a block.
TEST(GuardPages, NothingOutsideTheArraysIsAccessed) {
  for (const char* robot : {"builtin:arm7", "builtin:2r", "builtin:quadruped"}) {
    const Model<double> model = load_model(robot);
    FunctionOptions options;
    options.frames = {FrameId(static_cast<int>(model.frames().size()) - 1)};
    for (int k = 0; k < kFunctionCount; ++k) {
      const auto f = static_cast<DynamicsFunction>(k);
      // Long code with the same instructions.
      if (model.nv() > 7 && f > DynamicsFunction::aba) continue;
      for (const Isa isa : testing::instruction_sets()) {
        const Program p(codegen::trace(model, f, options), {.max_isa = isa});
        ASSERT_TRUE(p.is_compiled());
        for (const bool at_end : {false, true}) {
          for (std::int64_t states = 1; states <= 33; ++states) {
            run_guarded<double>(p, states, at_end);
            run_guarded<float>(p, states, at_end);
          }
          for (const std::int64_t count : {1, 7, 8, 16, 19}) {
            run_part<double>(p, 5, count, at_end);
            run_part<float>(p, 40 - count, count, at_end);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace limb
