#include "limb/base/without_call.hpp"

#include <gtest/gtest.h>

namespace limb {
namespace {

TEST(WithoutCall, FunctionsAtTheStartAreRemoved) {
  EXPECT_EQ(without_call("load: a.urdf: no such file"), "a.urdf: no such file");
  EXPECT_EQ(without_call("make_controller: kp is -1"), "kp is -1");
  EXPECT_EQ(without_call("Model::integrate: q has 3 entries"), "q has 3 entries");
  EXPECT_EQ(without_call("so3::exp: w is nan"), "w is nan");
  // Only the first: a file may have the name "arm".
  EXPECT_EQ(without_call("load: arm: no such file"), "arm: no such file");
}

TEST(WithoutCall, OtherStartsAreKept) {
  for (const char* text :
       {"a.urdf:3: no link", "link 'a': mass is 0", "limb info: a.urdf", "rk4: after t = 1 s",
        "explicit-euler: after t = 1 s", "builtin:2r: no such robot", ": ", "", "q is 1"}) {
    EXPECT_EQ(without_call(text), text);
  }
}

}  // namespace
}  // namespace limb
