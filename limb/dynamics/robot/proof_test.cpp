#include "limb/dynamics/robot/proof.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

TEST(Prove, HoldsForEveryEmbeddedRobot) {
  for (const std::string name : {"pendulum", "cartpole", "2r", "rp", "craig-rp", "belt-leg", "arm6",
                                 "arm7", "quadruped", "humanoid"}) {
    for (const ProofRow& row :
         prove(load_model("builtin:" + name), {.states = 3, .progress = {}})) {
      EXPECT_TRUE(row.holds()) << name << ": " << row.statement << " " << row.worst;
    }
  }
}

TEST(Prove, HoldsForAllJointTypesAndCouplings) {
  for (const testing::Sample& s : testing::samples(4)) {
    const auto rows = prove(s.model, {.states = 2, .progress = {}});
    EXPECT_GE(rows.size(), 10u);
    for (const ProofRow& row : rows) {
      EXPECT_TRUE(row.holds()) << s.name << ": " << row.statement << " " << row.worst;
    }
  }
}

TEST(Prove, SaysWhatIsWrongWithItsOptions) {
  const Model<double> model = load_model("builtin:2r");
  EXPECT_EQ(testing::message([&] { prove(model, {.states = 0, .progress = {}}); }),
            "prove: states is 0, expected at least 1");
}

TEST(ProofRow, NotANumberDoesNotHold) {
  EXPECT_FALSE((ProofRow{"x", std::numeric_limits<double>::quiet_NaN(), 1}.holds()));
  EXPECT_FALSE((ProofRow{"x", 2, 1}.holds()));
  EXPECT_TRUE((ProofRow{"x", 1, 1}.holds()));
}

}  // namespace
}  // namespace limb
