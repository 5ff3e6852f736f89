#include "limb/codegen/cuda/emit_ptx.hpp"

#include <gtest/gtest.h>

#include "limb/codegen/lower/lower.hpp"
#include "limb/codegen/lower/register_order.hpp"
#include "limb/codegen/testing/back_ends.hpp"
#include "limb/codegen/testing/ptx_machine.hpp"
#include "limb/codegen/testing/random_graph.hpp"
#include "limb/codegen/testing/robot_inputs.hpp"

namespace limb {
namespace {

using codegen::Layout;
using codegen::Precision;
using testing::Batch;

template <typename T>
constexpr Precision kPrecision = sizeof(T) == 8 ? Precision::f64 : Precision::f32;

/// Runs a kernel on the CPU; results that it does not compute keep the number 77.
template <typename T>
Batch<T> simulate(const codegen::Trace& trace, const Batch<T>& in, std::int64_t states,
                  codegen::PtxOptions options) {
  options.precision = kPrecision<T>;
  const bool columns = options.layout == Layout::columns;
  Batch<T> arguments = columns ? testing::transposed(in, trace.inputs, states) : in;
  Batch<T> out = testing::batch_of(trace.outputs, states, T(77));
  std::vector<void*> arrays;
  std::vector<std::size_t> bytes;
  for (Batch<T>* batch : {&arguments, &out}) {
    for (auto& data : batch->data) {
      arrays.push_back(data.data());
      bytes.push_back(data.size() * sizeof(T));
    }
  }
  testing::PtxMachine machine(codegen::emit_ptx(trace, "kernel", options));
  machine.run(arrays, bytes, static_cast<std::uint64_t>(states));
  return columns ? testing::transposed(out, trace.outputs, states, true) : out;
}

/// Both layouts and precisions against the interpreter, to the last bit.
void check(const codegen::Trace& trace, const Batch<double>& in, std::int64_t states) {
  const testing::Interpreted expected = testing::interpreted(trace, in, states);
  for (const Layout layout : {Layout::rows, Layout::columns}) {
    SCOPED_TRACE(trace.name + (layout == Layout::rows ? ", rows" : ", columns"));
    const codegen::PtxOptions options{.layout = layout};
    EXPECT_EQ(
        testing::difference(simulate(trace, in, states, options), expected.f64, trace.outputs), "");
    EXPECT_EQ(testing::difference(simulate(trace, testing::cast<float>(in), states, options),
                                  expected.f32, trace.outputs),
              "");
  }
}

TEST(EmitPtx, AllFunctionsHaveTheBitsOfTheInterpreter) {
  for (const char* robot : {"builtin:2r", "builtin:arm7", "builtin:belt-leg", "builtin:cartpole"}) {
    SCOPED_TRACE(robot);
    const Model<double> model = load_model(robot);
    for (int k = 0; k < kFunctionCount; ++k) {
      const auto function = static_cast<DynamicsFunction>(k);
      if (!testing::has_function(model, function)) continue;
      const codegen::Trace trace =
          codegen::trace(model, function, testing::options_for(model, function));
      check(trace, testing::random_inputs(model, trace, 37, 3), 37);
    }
  }
}

TEST(EmitPtx, FloatingBaseHasTheBitsOfTheInterpreter) {
  const Model<double> model = load_model("builtin:quadruped");
  for (const auto function : {DynamicsFunction::rnea, DynamicsFunction::crba, DynamicsFunction::aba,
                              DynamicsFunction::rnea_derivatives}) {
    const codegen::Trace trace = codegen::trace(model, function);
    check(trace, testing::random_inputs(model, trace, 33, 5), 33);
  }
}

// A warp that is full, one state more, one less, several blocks, none.
TEST(EmitPtx, AnyNumberOfStatesIsComputed) {
  const Model<double> model = load_model("builtin:arm7");
  for (const auto function : {DynamicsFunction::rnea, DynamicsFunction::mass_inverse}) {
    const codegen::Trace trace = codegen::trace(model, function);
    for (const std::int64_t states : {0, 1, 31, 32, 64, 127, 129, 300}) {
      check(trace, testing::random_inputs(model, trace, states, 7), states);
    }
  }
}

TEST(EmitPtx, RandomGraphsHaveTheBitsOfTheInterpreter) {
  std::mt19937 engine(11);
  for (int k = 0; k < 40; ++k) {
    std::vector<unsigned char> data(600);
    for (unsigned char& byte : data) byte = static_cast<unsigned char>(engine());
    testing::Bytes bytes(data);
    const codegen::Trace trace = testing::random_graph(bytes);
    Batch<double> in = testing::batch_of(trace.inputs, 3, 0.0);
    // Angles out of range are NaN here and computed there, so numbers stay small.
    std::uniform_real_distribution<double> uniform(-2, 2);
    for (auto& array : in.data) {
      for (double& x : array) x = uniform(engine);
    }
    const testing::Interpreted expected = testing::interpreted(trace, in, 3);
    for (const Layout layout : {Layout::rows, Layout::columns}) {
      const Batch<double> found = simulate(trace, in, 3, {.layout = layout});
      for (std::size_t a = 0; a < found.data.size(); ++a) {
        for (std::size_t i = 0; i < found.data[a].size(); ++i) {
          const double x = found.data[a][i], y = expected.f64.data[a][i];
          // NaN is allowed where an intermediate angle is out of range.
          if (std::isnan(x)) continue;
          EXPECT_EQ(std::memcmp(&x, &y, sizeof x), 0) << x << " " << y;
        }
      }
    }
  }
}

TEST(EmitPtx, AnAngleOutOfRangeMakesOnlyItsStateNaN) {
  const Model<double> model = load_model("builtin:arm7");
  const codegen::Trace trace = codegen::trace(model, DynamicsFunction::gravity);
  Batch<double> in = testing::random_inputs(model, trace, 40, 1);
  const testing::Interpreted expected = testing::interpreted(trace, in, 40);
  in.data[0][7 * 2 + 1] = 1e9;
  in.data[0][7 * 35 + 3] = std::numeric_limits<double>::quiet_NaN();
  in.data[0][7 * 36 + 3] = std::numeric_limits<double>::infinity();
  const Batch<double> found = simulate(trace, in, 40, {});
  for (std::size_t i = 0; i < 40; ++i) {
    const bool bad = i == 2 || i == 35 || i == 36;
    EXPECT_EQ(std::isnan(found.data[0][7 * i + 1]), bad) << i;
    if (bad) continue;
    EXPECT_EQ(found.data[0][7 * i + 1], expected.f64.data[0][7 * i + 1]);
  }
}

// The parts of a large function, each in a kernel of its own.
TEST(EmitPtx, ResultsMayBeSplitBetweenKernels) {
  const Model<double> model = load_model("builtin:arm7");
  const codegen::Trace trace = codegen::trace(model, DynamicsFunction::aba_derivatives);
  const Batch<double> in = testing::random_inputs(model, trace, 34, 9);
  const testing::Interpreted expected = testing::interpreted(trace, in, 34);
  for (const Layout layout : {Layout::rows, Layout::columns}) {
    codegen::PtxOptions options{.layout = layout};
    // Columns 2 and 3 of da_dq, one entry of da_dtau.
    for (int i = 14; i < 28; ++i) options.results.push_back(i);
    options.results.push_back(98 + 48);
    const Batch<double> found = simulate(trace, in, 34, options);
    for (std::size_t s = 0; s < 34; ++s) {
      for (std::size_t k = 0; k < 49; ++k) {
        const std::size_t i = 49 * s + k;
        EXPECT_EQ(found.data[0][i], k >= 14 && k < 28 ? expected.f64.data[0][i] : 77);
        EXPECT_EQ(found.data[1][i], 77);
        EXPECT_EQ(found.data[2][i], k == 48 ? expected.f64.data[2][i] : 77);
      }
    }
  }
}

TEST(EmitPtx, WrongOptionsAreNamed) {
  const codegen::Trace trace = codegen::trace(load_model("builtin:2r"), DynamicsFunction::gravity);
  const auto message = [&](const codegen::PtxOptions& options) -> std::string {
    try {
      codegen::emit_ptx(trace, "kernel", options);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message({.threads = 100}), "emit_ptx: threads is 100, expected a multiple of 32");
  EXPECT_EQ(message({.results = {2}}), "with_results: a result is 2, expected 0 to 1");
}

// The order of instructions keeps the results (tested above) and needs no more registers.
TEST(RegisterOrder, NeedsNoMoreRegistersThanTheRecording) {
  const Model<double> model = load_model("builtin:quadruped");
  for (const auto function : {DynamicsFunction::crba, DynamicsFunction::rnea_derivatives}) {
    const codegen::Code code = codegen::lower(codegen::trace(model, function));
    const codegen::Code ordered = codegen::with_few_registers(code);
    EXPECT_EQ(ordered.operation_count(), code.operation_count());
    EXPECT_LE(codegen::largest_live(ordered), codegen::largest_live(code));
  }
}

TEST(RegisterOrder, LiveValuesOfASum) {
  // (x0 + x1) + (x2 + x3): two sums and one argument, or one sum and two arguments.
  codegen::Tracer tracer("sum");
  const VectorX<Traced> x = tracer.input("x", 4);
  tracer.output("y", VectorX<Traced>::Constant(1, (x[0] + x[1]) + (x[2] + x[3])));
  const codegen::Code code = codegen::lower(tracer.finish());
  EXPECT_EQ(codegen::largest_live(codegen::with_few_registers(code)), 3);
}

}  // namespace
}  // namespace limb
