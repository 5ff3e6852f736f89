// All back ends on all functions: the same bits in the interpreter, in code for one state, in lanes
// of AVX2 and AVX-512; and the values of the templates that were recorded.
#include <gtest/gtest.h>

#include <filesystem>

#include "limb/codegen/evaluate_impl.hpp"
#include "limb/codegen/testing/run.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/model/builtin.hpp"
#include "limb/model/load.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using codegen::Isa;
using codegen::Program;
using codegen::Trace;
using testing::Batch;

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr Function kByTemplate[] = {
    Function::rnea,      Function::bias,         Function::gravity,     Function::crba,
    Function::aba,       Function::mass_inverse, Function::frame_poses, Function::frame_jacobians,
    Function::centroidal};

/// The last frame of the model; the first and the middle one, too, where they may be dependent.
FunctionOptions options_for(const Model<double>& model, Function function) {
  FunctionOptions options;
  const int n = static_cast<int>(model.frames().size());
  options.frames.push_back(FrameId(n - 1));
  if (function == Function::operational_space) return options;
  for (const int f : {0, n / 2}) options.frames.push_back(FrameId(f));
  return options;
}

/// q on the manifold; everything else between -1 and 1.
Batch<double> random_inputs(const Model<double>& model, const Trace& trace, std::int64_t states,
                            unsigned seed) {
  testing::Random random(seed);
  Batch<double> in = testing::batch_of(trace.inputs, states, 0.0);
  for (std::size_t k = 0; k < trace.inputs.size(); ++k) {
    for (double& x : in.data[k]) x = random.uniform(-1, 1);
    if (trace.inputs[k].name != "q") continue;
    const std::size_t nq = static_cast<std::size_t>(model.position_size());
    for (std::size_t i = 0; i < static_cast<std::size_t>(states); ++i) {
      const VectorX<double> step = 1.5 * testing::random_numbers(random, model.velocity_size());
      const VectorX<double> q =
          testing::integrate_own<double>(model, testing::neutral_own(model), step);
      std::copy(q.begin(), q.end(), in.data[k].begin() + static_cast<std::ptrdiff_t>(i * nq));
    }
  }
  return in;
}

Batch<double> by_template(const Model<double>& model, Function function,
                          const FunctionOptions& options, const Program& p, const Batch<double>& in,
                          std::int64_t states) {
  codegen::EvaluateScratch<double> scratch(model);
  Batch<double> out = testing::batch_of(p.outputs(), states, 0.0);
  for (std::int64_t i = 0; i < states; ++i) {
    codegen::evaluate<double>(model, function, options, scratch, in.pointers(i, p.inputs()).data(),
                              out.pointers(i, p.outputs()).data());
  }
  return out;
}

template <typename T>
Batch<T> cast(const Batch<double>& x) {
  Batch<T> y;
  for (const auto& v : x.data) y.data.emplace_back(v.begin(), v.end());
  return y;
}

void check(const Model<double>& model, Function function, std::int64_t states, unsigned seed) {
  SCOPED_TRACE(name(function));
  const FunctionOptions options = options_for(model, function);
  const Trace trace = codegen::trace(model, function, options);
  const Batch<double> in = random_inputs(model, trace, states, seed);
  const Program slow(trace, {.interpret = true});
  const Batch<double> expected = run_each(slow, in, states);
  const Batch<float> in32 = cast<float>(in);
  const Batch<float> expected32 = run_rows(slow, in32, states);

  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (isa > codegen::detect_isa()) continue;
    SCOPED_TRACE(codegen::name(isa));
    const Program fast(trace, {.most = isa});
    ASSERT_TRUE(fast.is_compiled()) << fast.notice();
    EXPECT_TRUE(same_bits(run_each(fast, in, states), expected)) << "one state";
    EXPECT_TRUE(same_bits(run_rows(fast, in, states), expected)) << "lanes, double";
    EXPECT_TRUE(same_bits(run_rows(fast, in32, states), expected32)) << "lanes, float";
    EXPECT_TRUE(same_bits(run_columns(fast, in, states), expected)) << "columns, double";
    EXPECT_TRUE(same_bits(run_columns(fast, in32, states), expected32)) << "columns, float";
  }

  if (!codegen::is_by_template(function)) return;
  const Batch<double> reference = by_template(model, function, options, slow, in, states);
  // Rounding of another order, amplified by the mass matrix's condition where it is inverted (up to
  // 1e4 for these robots); worst seen 40 eps, and 3e4 eps with an inverse.
  const bool inverts = function == Function::aba || function == Function::mass_inverse;
  for (std::size_t k = 0; k < reference.data.size(); ++k) {
    const double tolerance = (inverts ? 1e6 : 512) * kEps;
    EXPECT_LT(testing::relative(expected.data[k], reference.data[k], states), tolerance);
    // Float loses 29 bits.
    EXPECT_LT(testing::relative(expected32.data[k], reference.data[k], states), tolerance * 0x1p29);
  }
}

void check_all(const std::string& name, const Model<double>& model, std::int64_t states,
               unsigned seed) {
  SCOPED_TRACE(name);
  for (const Function f : kByTemplate) check(model, f, states, seed);
}

TEST(Backends, AgreeOnRandomTreesOfAllJointTypes) {
  for (const testing::Sample& s : testing::samples(4)) check_all(s.name, s.model, 37, 5);
}

TEST(Backends, AgreeOnDerivativesAndTaskInertia) {
  for (const testing::Sample& s : testing::samples(1, 8)) {
    SCOPED_TRACE(s.name);
    // A task that the robot cannot do has no inertia.
    if (s.model.body(BodyId(1)).joint.type() == JointType::free) {
      check(s.model, Function::operational_space, 19, 3);
    }
    check(s.model, Function::rnea_derivatives, 19, 3);
    check(s.model, Function::aba_derivatives, 19, 3);
  }
}

TEST(Backends, AgreeOnEmbeddedRobots) {
  for (const std::string& name : builtin_names()) {
    const Model<double> model = load_model("builtin:" + name);
    check_all(name, model, 100, 11);
  }
}

TEST(Backends, AgreeOnSharedRobots) {
  const std::filesystem::path shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << "no folder of reference robots (LIMB_SHARED)";
  int robots = 0;
  for (const auto& file : std::filesystem::directory_iterator(shared / "robots")) {
    if (file.path().extension() != ".urdf") continue;
    ++robots;
    const Model<double> model = load_model(file.path().string(), Base::free);
    SCOPED_TRACE(file.path().filename());
    check(model, Function::rnea, 100, 17);
    check(model, Function::crba, 20, 17);
    check(model, Function::aba, 100, 17);
  }
  EXPECT_GT(robots, 5);
}

// A thousand states of one robot of each kind.
TEST(Backends, AgreeOnAThousandStates) {
  for (const char* name : {"builtin:arm7", "builtin:quadruped", "builtin:humanoid"}) {
    SCOPED_TRACE(name);
    const Model<double> model = load_model(name);
    check(model, Function::rnea, 1003, 23);
    check(model, Function::aba, 1003, 23);
  }
}

}  // namespace
}  // namespace limb
