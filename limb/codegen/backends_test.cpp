// All back ends on all functions: the same bits in the interpreter, in code for one state, and in
// lanes of AVX2 and AVX-512; and the values of the recorded templates.
#include <gtest/gtest.h>

#include "limb/base/testing/left_out.hpp"
#include "limb/codegen/testing/check_back_ends.hpp"
#include "limb/model/core/builtin.hpp"

namespace limb {
namespace {

TEST(Backends, AgreeOnRandomTreesOfAllJointTypes) {
  for (const testing::Sample& s : testing::samples(testing::kSanitized ? 1 : 4)) {
    SCOPED_TRACE(s.name);
    for (int k = 0; codegen::is_by_template(static_cast<DynamicsFunction>(k)); ++k) {
      testing::check_back_ends(s.model, static_cast<DynamicsFunction>(k), 37, 5);
    }
  }
}

TEST(Backends, AgreeOnAThousandStatesOfAllJointTypes) {
  for (const testing::Sample& s : testing::samples(1, testing::kSanitized ? 3 : 11)) {
    testing::check_all_functions(s.name, s.model, 3);
  }
}

TEST(Backends, AgreeOnEmbeddedRobots) {
  int compared = 0;
  for (const std::string& name : builtin_names()) {
    const Model<double> model = load_model("builtin:" + name);
    // Larger robots have longer code with the same instructions.
    if (testing::kSanitized && model.nv() > 7) {
      testing::leave_out("sanitizer build: robots of more than 7 degrees of freedom");
      continue;
    }
    testing::check_all_functions(name, model, 11);
    ++compared;
  }
  // Without humanoid and quadruped.
  EXPECT_EQ(compared, static_cast<int>(builtin_names().size()) - (testing::kSanitized ? 2 : 0));
}

}  // namespace
}  // namespace limb
