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

TEST(Lower, NeedsFewProducts) {
  EXPECT_LE(products("builtin:arm7", DynamicsFunction::rnea), 314);
  EXPECT_LE(products("builtin:quadruped", DynamicsFunction::rnea), 735);
  EXPECT_LE(products("builtin:quadruped", DynamicsFunction::rnea, codegen::Precision::f32), 651);
  EXPECT_LE(products("builtin:humanoid", DynamicsFunction::rnea), 1837);
  EXPECT_LE(products("builtin:quadruped", DynamicsFunction::crba), 555);
  EXPECT_LE(products("builtin:quadruped", DynamicsFunction::aba), 1334);
  EXPECT_LE(products("builtin:quadruped", DynamicsFunction::rnea_derivatives), 4037);
}

}  // namespace
}  // namespace limb
