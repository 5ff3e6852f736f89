// How many products lanes take, which is what they wait for: a recording that takes more is seen
// here. Counts are those of 2026-11-16.
#include <gtest/gtest.h>

#include "limb/codegen/code.hpp"
#include "limb/codegen/functions.hpp"
#include "limb/model/load.hpp"

namespace limb {
namespace {

using codegen::Act;

int products(const std::string& robot, Function function,
             codegen::Precision precision = codegen::Precision::f64) {
  const codegen::Code code =
      codegen::lower(codegen::trace(load_model(robot), function, {}), {.precision = precision});
  return code.count(Act::mul) + code.count(Act::fma) + code.count(Act::fms) + code.count(Act::fnma);
}

TEST(Products, AreFew) {
  EXPECT_LE(products("builtin:arm7", Function::rnea), 314);
  EXPECT_LE(products("builtin:quadruped", Function::rnea), 735);
  EXPECT_LE(products("builtin:quadruped", Function::rnea, codegen::Precision::f32), 651);
  EXPECT_LE(products("builtin:humanoid", Function::rnea), 1837);
  EXPECT_LE(products("builtin:quadruped", Function::crba), 555);
  EXPECT_LE(products("builtin:quadruped", Function::aba), 1334);
  EXPECT_LE(products("builtin:quadruped", Function::rnea_derivatives), 4037);
}

}  // namespace
}  // namespace limb
