// Any bytes as a computation, or as the seed of a random robot: every back end gives the same bits
// as the interpreter.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "limb/codegen/record/function_tracer.hpp"
#include "limb/codegen/testing/back_ends.hpp"
#include "limb/codegen/testing/random_graph.hpp"
#include "limb/dynamics/testing/sample.hpp"

namespace {

using namespace limb;

/// A function of a random tree of all joint types.
codegen::Trace random_robot(testing::Bytes& bytes) {
  testing::RandomTreeOptions options;
  options.joints = 1 + static_cast<int>(bytes.next(12));
  options.with_couplings = bytes.next(2) == 1;
  const unsigned seed = static_cast<unsigned>(bytes.next(256) * 256 + bytes.next(256));
  const Base base = bytes.next(2) == 1 ? Base::free : Base::fixed;
  Description<double> robot = testing::random_tree(seed, options);
  const double friction = bytes.next(2) == 1 ? 0.1 : 0;
  for (auto& joint : robot.joints) joint.friction = friction;
  const Model<double> model = build_model(robot, base);
  FunctionOptions function;
  function.frames = {FrameId(static_cast<int>(model.frames().size()) - 1)};
  function.axes = static_cast<FrameAxes>(bytes.next(3));
  return codegen::trace(model, static_cast<DynamicsFunction>(bytes.next(kFunctionCount)), function);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  testing::Bytes bytes({data, size});
  const bool robot = bytes.next(8) == 0;
  codegen::Trace trace;
  try {
    trace = robot ? random_robot(bytes) : testing::random_graph(bytes);
  } catch (const Error&) {
    return 0;  // no mass centre if no moving body has mass
  }
  const auto states = static_cast<std::int64_t>(1 + bytes.next(20));
  const testing::Batch<double> in = testing::random_numbers(bytes, trace, states);
  const std::string text =
      testing::disagreement(trace, in, states, testing::interpreted(trace, in, states));
  if (text.empty()) return 0;
  std::fprintf(stderr, "program_fuzz: %s\n", text.c_str());
  std::abort();
}
