#include "limb/codegen/cuda/cuda_program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "limb/base/error.hpp"
#include "limb/codegen/cuda/driver.hpp"
#include "limb/codegen/cuda/split_results.hpp"
#include "limb/codegen/testing/back_ends.hpp"
#include "limb/codegen/testing/robot_inputs.hpp"

namespace limb {
namespace {

using codegen::CudaDriver;
using codegen::CudaProgram;
using codegen::Layout;
using codegen::Precision;
using testing::Batch;

/// An array in the memory of the device.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& host)
      : driver_(CudaDriver::require("test")), bytes_(host.size() * sizeof(T)) {
    driver_.check(driver_.cuMemAlloc(&address_, bytes_ + 1), "test", "allocation");
    driver_.check(driver_.cuMemcpyHtoD(address_, host.data(), bytes_), "test", "copy");
  }
  ~DeviceArray() { driver_.cuMemFree(address_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* data() const { return reinterpret_cast<T*>(address_); }
  void read(std::vector<T>& host) const {
    driver_.check(driver_.cuMemcpyDtoH(host.data(), address_, bytes_), "test", "copy");
  }

 private:
  const CudaDriver& driver_;
  std::uint64_t address_ = 0;
  std::size_t bytes_;
};

template <typename T>
Batch<T> run(const CudaProgram& p, const Batch<T>& in, std::int64_t states, Layout layout) {
  const codegen::Trace& trace = p.trace();
  const bool columns = layout == Layout::columns;
  const Batch<T> arguments = columns ? testing::transposed(in, trace.inputs, states) : in;
  Batch<T> out = testing::batch_of(trace.outputs, states, T(77));
  p.prepare(sizeof(T) == 8 ? Precision::f64 : Precision::f32, layout);
  std::vector<std::unique_ptr<DeviceArray<T>>> arrays;
  std::vector<const T*> inputs;
  std::vector<T*> outputs;
  for (const auto& data : arguments.data) {
    arrays.push_back(std::make_unique<DeviceArray<T>>(data));
    inputs.push_back(arrays.back()->data());
  }
  for (const auto& data : out.data) {
    arrays.push_back(std::make_unique<DeviceArray<T>>(data));
    outputs.push_back(arrays.back()->data());
  }
  if (columns) {
    p.run_columns<T>(inputs, outputs, states);
  } else {
    p.run_rows<T>(inputs, outputs, states);
  }
  const CudaDriver& driver = CudaDriver::require("test");
  driver.check(driver.cuStreamSynchronize(nullptr), "test", trace.name);
  for (std::size_t k = 0; k < out.data.size(); ++k) arrays[inputs.size() + k]->read(out.data[k]);
  return columns ? testing::transposed(out, trace.outputs, states, true) : out;
}

/// Both layouts and precisions have the bits of the CPU.
void check(const Model<double>& model, DynamicsFunction function, std::int64_t states) {
  SCOPED_TRACE(to_text(function));
  const codegen::Trace trace =
      codegen::trace(model, function, testing::options_for(model, function));
  const Batch<double> in = testing::random_inputs(model, trace, states, 3);
  const Batch<float> in32 = testing::cast<float>(in);
  const codegen::Program cpu(trace);
  const CudaProgram gpu(trace);
  for (const Layout layout : {Layout::rows, Layout::columns}) {
    EXPECT_EQ(
        testing::difference(run(gpu, in, states, layout), run_rows(cpu, in, states), trace.outputs),
        "");
    EXPECT_EQ(testing::difference(run(gpu, in32, states, layout), run_rows(cpu, in32, states),
                                  trace.outputs),
              "");
  }
}

#define LIMB_NEEDS_GPU() \
  if (const std::string why = codegen::why_no_cuda(); !why.empty()) GTEST_SKIP() << why

TEST(CudaProgram, AllFunctionsHaveTheBitsOfTheCpu) {
  LIMB_NEEDS_GPU();
  for (const char* robot : {"builtin:arm7", "builtin:belt-leg", "builtin:cartpole",
                            "builtin:quadruped", "builtin:humanoid"}) {
    SCOPED_TRACE(robot);
    const Model<double> model = load_model(robot);
    for (int k = 0; k < kFunctionCount; ++k) {
      const auto function = static_cast<DynamicsFunction>(k);
      if (!testing::has_function(model, function)) continue;
      // Derivatives of large robots take seconds to compile, and the CPU computes them slowly.
      const bool is_large = model.nv() > 7 && (function == DynamicsFunction::aba_derivatives ||
                                               function == DynamicsFunction::rnea_derivatives);
      if (is_large && model.nv() > 20) continue;
      check(model, function, is_large ? 500 : 10'000);
    }
  }
}

TEST(CudaProgram, AnyNumberOfStatesIsComputed) {
  LIMB_NEEDS_GPU();
  const Model<double> model = load_model("builtin:arm7");
  for (const std::int64_t states : {0, 1, 31, 33, 129, 1000, 100'003}) {
    check(model, DynamicsFunction::rnea, states);
  }
}

TEST(CudaProgram, ResultsDependNeitherOnTheRunNorOnThePosition) {
  LIMB_NEEDS_GPU();
  const Model<double> model = load_model("builtin:quadruped");
  const codegen::Trace trace = codegen::trace(model, DynamicsFunction::aba);
  const CudaProgram gpu(trace);
  Batch<float> in = testing::cast<float>(testing::random_inputs(model, trace, 5000, 3));
  const Batch<float> first = run(gpu, in, 5000, Layout::rows);
  EXPECT_TRUE(testing::same_bits(first, run(gpu, in, 5000, Layout::rows)));
  // All states moved by one: the last becomes the first.
  for (std::size_t k = 0; k < in.data.size(); ++k) {
    std::rotate(in.data[k].begin(), in.data[k].end() - trace.inputs[k].size(), in.data[k].end());
  }
  Batch<float> moved = run(gpu, in, 5000, Layout::rows);
  std::rotate(moved.data[0].begin(), moved.data[0].begin() + trace.outputs[0].size(),
              moved.data[0].end());
  EXPECT_TRUE(testing::same_bits(first, moved));
}

TEST(CudaProgram, SecondProgramComesFromTheCache) {
  LIMB_NEEDS_GPU();
  const codegen::Trace trace = codegen::trace(load_model("builtin:2r"), DynamicsFunction::bias);
  CudaProgram(trace).prepare(Precision::f32, Layout::rows);
  const CudaProgram second(trace);
  EXPECT_TRUE(second.prepare(Precision::f32, Layout::rows).from_cache);
}

TEST(CudaProgram, WrongCallsAreNamed) {
  LIMB_NEEDS_GPU();
  const codegen::Trace trace = codegen::trace(load_model("builtin:2r"), DynamicsFunction::bias);
  EXPECT_THROW(CudaProgram(trace, 1000), Error);
  const CudaProgram program(trace);
  try {
    program.run_rows<float>({}, {}, 1);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "CudaProgram: bias got 0 arguments and 0 results, expected 2 and 1");
  }
}

// Without a driver there is one clear error. In a process of its own, since the driver is opened
// once.
TEST(CudaProgramDeathTest, WithoutADriverOneErrorSaysSo) {
  const auto try_it = [] {
    ::setenv("LIMB_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
    try {
      const CudaProgram program(codegen::trace(load_model("builtin:2r"), DynamicsFunction::bias));
    } catch (const Error& e) {
      fprintf(stderr, "%s", e.what());
      std::exit(3);
    }
    std::exit(0);
  };
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(try_it(), ::testing::ExitedWithCode(3), "CudaProgram: no NVIDIA driver");
}

// Every result is in exactly one part; small functions are whole.
TEST(SplitResults, PartsHaveEveryResultOnce) {
  const Model<double> model = load_model("builtin:quadruped");
  for (const auto function : {DynamicsFunction::rnea, DynamicsFunction::aba_derivatives}) {
    const codegen::Trace trace = codegen::trace(model, function);
    const codegen::ResultParts split = codegen::split_results(trace, Precision::f32);
    std::vector<int> all;
    for (const auto& part : split.parts) all.insert(all.end(), part.begin(), part.end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(static_cast<int>(all.size()), trace.output_size());
    for (int k = 0; k < trace.output_size(); ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)], k);
    EXPECT_EQ(split.parts.size() == 1, function == DynamicsFunction::rnea);
  }
}

}  // namespace
}  // namespace limb
