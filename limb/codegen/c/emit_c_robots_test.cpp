// Generated C of every robot against the interpreter: one state and batches, double and float.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "limb/codegen/testing/back_ends.hpp"
#include "limb/codegen/testing/c_folder.hpp"
#include "limb/codegen/testing/robot_inputs.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using codegen::Precision;
using codegen::Trace;
using testing::Batch;

/// A generated function with any number of arrays, for one state or for `states`.
void call(void* f, const std::vector<void*>& p) {
  using P = void*;
  switch (p.size()) {
    case 2:
      return reinterpret_cast<void (*)(P, P)>(f)(p[0], p[1]);
    case 3:
      return reinterpret_cast<void (*)(P, P, P)>(f)(p[0], p[1], p[2]);
    case 4:
      return reinterpret_cast<void (*)(P, P, P, P)>(f)(p[0], p[1], p[2], p[3]);
    case 5:
      return reinterpret_cast<void (*)(P, P, P, P, P)>(f)(p[0], p[1], p[2], p[3], p[4]);
    case 6:
      return reinterpret_cast<void (*)(P, P, P, P, P, P)>(f)(p[0], p[1], p[2], p[3], p[4], p[5]);
    case 7:
      return reinterpret_cast<void (*)(P, P, P, P, P, P, P)>(f)(p[0], p[1], p[2], p[3], p[4], p[5],
                                                                p[6]);
    default:
      FAIL() << p.size() << " arrays";
  }
}

template <typename T>
std::vector<void*> pointers(const Trace& trace, Batch<T>& in, Batch<T>& out, std::int64_t state) {
  std::vector<void*> p;
  for (T* x : in.pointers(state, trace.inputs)) p.push_back(x);
  for (T* x : out.pointers(state, trace.outputs)) p.push_back(x);
  return p;
}

/// One shared object with all functions of a robot.
template <typename T>
void check(const Model<double>& model, const std::vector<DynamicsFunction>& functions,
           std::int64_t states) {
  constexpr Precision kPrecision = sizeof(T) == 8 ? Precision::f64 : Precision::f32;
  std::vector<Trace> traces;
  for (const DynamicsFunction f : functions) {
    traces.push_back(codegen::trace(model, f, testing::options_for(model, f)));
  }
  codegen::CPackageOptions package_options;
  package_options.precision = kPrecision;
  package_options.simd = true;
  const testing::CFolder folder(codegen::make_c_package(traces, package_options));
  // Without optimization the compiler is fast and keeps each instruction as written.
  ASSERT_EQ(folder.run("cc -std=c99 -O0 -march=native -ffp-contract=off -fPIC -shared limb.c "
                       "limb_simd.c -o limb.so -lm"),
            0)
      << folder.log();
  void* library = dlopen((folder.path() / "limb.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  for (std::size_t k = 0; k < traces.size(); ++k) {
    SCOPED_TRACE(to_text(functions[k]));
    const Trace& trace = traces[k];
    const Batch<double> wide = testing::random_inputs(model, trace, states, 29);
    const testing::Interpreted reference = testing::interpreted(trace, wide, states);
    Batch<T> in = testing::cast<T>(wide), out = testing::batch_of(trace.outputs, states, T(7)),
             rows = out;
    void* one = dlsym(library, ("limb_" + trace.name).c_str());
    void* batch = dlsym(library, ("limb_" + trace.name + "_rows").c_str());
    ASSERT_TRUE(one != nullptr && batch != nullptr);
    for (std::int64_t i = 0; i < states; ++i) call(one, pointers(trace, in, out, i));
    std::vector<void*> p = pointers(trace, in, rows, 0);
    p.insert(p.begin(), reinterpret_cast<void*>(states));
    call(batch, p);
    // Other sines and other rounding of products, amplified by the condition of the mass matrix
    // where it is inverted (1e4 to 1e5 for these robots).
    const bool inverts = functions[k] == DynamicsFunction::aba ||
                         functions[k] == DynamicsFunction::mass_inverse ||
                         functions[k] == DynamicsFunction::aba_derivatives;
    // The task inertia of a nearly stretched arm is ill-conditioned; worst seen 1e8.
    const double tolerance = (functions[k] == DynamicsFunction::operational_space ? 1e10
                              : inverts                                           ? 1e6
                                                                                  : 1024) *
                             double(std::numeric_limits<T>::epsilon());
    for (std::size_t a = 0; a < out.data.size(); ++a) {
      EXPECT_LT(testing::relative(out.data[a], reference.f64.data[a], states), tolerance);
      EXPECT_LT(testing::relative(rows.data[a], reference.f64.data[a], states), tolerance);
    }
  }
  dlclose(library);
}

void check_robot(const std::string& robot, const Model<double>& model) {
  SCOPED_TRACE(robot);
  std::vector<DynamicsFunction> functions;
  for (int k = 0; k < kFunctionCount; ++k) {
    const auto f = static_cast<DynamicsFunction>(k);
    // Compiling thousands of lines is slow: only for smaller robots.
    const bool is_long = (f >= DynamicsFunction::operational_space && model.nv() > 7) ||
                         (f == DynamicsFunction::mass_inverse && model.nv() > 18);
    if (testing::has_function(model, f) && !is_long) functions.push_back(f);
  }
  check<double>(model, functions, 1003);
  check<float>(model, {DynamicsFunction::rnea}, 1003);
}

TEST(EmitCRobots, EmbeddedRobots) {
  for (const std::string& name : builtin_names()) check_robot(name, load_model("builtin:" + name));
}

TEST(EmitCRobots, RandomTreesOfAllJointTypes) {
  for (const testing::Sample& s : testing::samples(1, 11)) {
    if (s.name.ends_with("coupled")) check_robot(s.name, s.model);
  }
}

TEST(EmitCRobots, ReferenceRobots) {
  const std::filesystem::path shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  int checked = 0;
  for (const auto& [name, model] : testing::shared_robots(shared)) {
    if (name.find("fixed base") != std::string::npos) continue;  // the code is a subset
    check_robot(name, model);
    ++checked;
  }
  EXPECT_GT(checked, 10);
}

}  // namespace
}  // namespace limb
