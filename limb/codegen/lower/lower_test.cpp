// The number of products, which limits the speed of lanes, must not grow. Counts are those of
// 2026-11-16.
#include "limb/codegen/lower/lower.hpp"

#include <gtest/gtest.h>

#include "limb/codegen/record/function_tracer.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using codegen::Opcode;

int products(const std::string& robot, DynamicsFunction function,
             codegen::Precision precision = codegen::Precision::f64) {
  const codegen::Code code =
      codegen::lower(codegen::trace(load_model(robot), function, {}), {.precision = precision});
  return code.count(Opcode::mul) + code.count(Opcode::fma) + code.count(Opcode::fms) +
         code.count(Opcode::fnma);
}

/// The compiler of limb rounds the numbers of a robot in its own way, and constants that differ by
/// rounding are not shared: clang needs up to 22 products of 4037 more.
int at_most(int n) {
#ifdef __clang__
  return n + (n + 99) / 100;
#else
  return n;
#endif
}

TEST(Lower, NeedsFewProducts) {
  EXPECT_LE(products("builtin:arm7", DynamicsFunction::rnea), at_most(314));
  EXPECT_LE(products("builtin:quadruped", DynamicsFunction::rnea), at_most(735));
  EXPECT_LE(products("builtin:quadruped", DynamicsFunction::rnea, codegen::Precision::f32),
            at_most(651));
  EXPECT_LE(products("builtin:humanoid", DynamicsFunction::rnea), at_most(1837));
  EXPECT_LE(products("builtin:quadruped", DynamicsFunction::crba), at_most(555));
  EXPECT_LE(products("builtin:quadruped", DynamicsFunction::aba), at_most(1334));
  EXPECT_LE(products("builtin:quadruped", DynamicsFunction::rnea_derivatives), at_most(4037));
}

// Instructions by hand: a sum absorbs one product that nothing else uses.
TEST(Lower, CountsOperations) {
  codegen::Tracer tracer("counted");
  const VectorX<Traced> x = tracer.input("x", 4);
  VectorX<Traced> y(5);
  y[0] = x[0] * x[1] + x[2];                           // fma
  y[1] = x[0] * x[2] - x[3];                           // fms
  y[2] = x[3] - x[1] * x[2];                           // fnma
  y[3] = sqrt(abs(x[0])) / x[1];                       // three
  y[4] = select(x[0] < x[1], x[2], Traced(7) * x[3]);  // three
  tracer.output("y", y);
  const codegen::Trace trace = tracer.finish();
  const codegen::Code fused = codegen::lower(trace);
  EXPECT_EQ(fused.count(Opcode::fma), 1);
  EXPECT_EQ(fused.count(Opcode::fms), 1);
  EXPECT_EQ(fused.count(Opcode::fnma), 1);
  EXPECT_EQ(fused.count(Opcode::mul), 1);
  EXPECT_EQ(fused.count(Opcode::select), 1);
  EXPECT_EQ(fused.count(Opcode::input), 4);
  EXPECT_EQ(fused.count(Opcode::store), 5);
  EXPECT_EQ(fused.operation_count(), 9);
  const codegen::Code plain = codegen::lower(trace, {.fuse = false});
  EXPECT_EQ(plain.count(Opcode::mul), 4);
  EXPECT_EQ(plain.count(Opcode::add) + plain.count(Opcode::sub), 3);
  EXPECT_EQ(plain.count(Opcode::fma) + plain.count(Opcode::fms) + plain.count(Opcode::fnma), 0);
  EXPECT_EQ(plain.operation_count(), 12);
}

}  // namespace
}  // namespace limb
