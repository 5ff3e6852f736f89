#include <gtest/gtest.h>

#include "limb/math/inertia_consistency.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/mirror_names.hpp"

namespace limb {
namespace {

using Texts = std::vector<std::string>;

TEST(MirrorNames, RecognisesTheUsualNamesOfTheLeftSide) {
  const auto paired = [](const std::string& left, const std::string& right) {
    const Texts names = {left, right};
    return mirror_pairs(names).size() == 1;
  };
  for (const auto& [left, right] :
       std::vector<std::pair<std::string, std::string>>{{"left_arm", "right_arm"},
                                                        {"LeftFoot", "RightFoot"},
                                                        {"panda_leftfinger", "panda_rightfinger"},
                                                        {"l_hip", "r_hip"},
                                                        {"hip_l", "hip_r"},
                                                        {"arm_l_3", "arm_r_3"},
                                                        {"LF_HIP", "RF_HIP"},
                                                        {"FL_hip", "FR_hip"},
                                                        {"RL_calf", "RR_calf"},
                                                        {"lh_foot", "rh_foot"},
                                                        {"LShoulder", "RShoulder"},
                                                        {"armL", "armR"},
                                                        {"hind_left_1", "hind_right_1"}}) {
    EXPECT_TRUE(paired(left, right)) << left;
  }
  // Letters inside a word do not name a side, and another leg is not a mirror image.
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
           {"link", "rink"}, {"LEG", "REG"}, {"LF_HIP", "LH_HIP"}, {"all", "alr"}, {"L", "L"}}) {
    EXPECT_FALSE(paired(a, b)) << a;
  }
}

/// A trunk with two legs, the right one the mirror image of the left one but with random link
/// frames: the rules must not depend on the frames.
Description<double> biped(unsigned seed) {
  testing::Random random(seed);
  Description<double> robot;
  robot.links.resize(3);
  robot.links[0].name = "trunk";
  robot.links[1].name = "left_leg";
  robot.links[2].name = "right_leg";
  robot.joints.resize(2);
  const Vector3<double> p_TL(0.1, 0.2, -0.3), axis_T = random.direction<double>();
  const Vector3<double> com_T = p_TL + random.vector<double>(0.1);
  const Matrix3<double> R = random.rotation<double>();
  const Matrix3<double> I_T =
      rotate_tensor<double>(R, Vector3<double>(0.02, 0.03, 0.04).asDiagonal());
  const Matrix3<double> M = Vector3<double>(1, -1, 1).asDiagonal();
  for (const int side : {0, 1}) {
    const Pose<double> X_TL{random.rotation<double>(), side == 0 ? p_TL : M * p_TL};
    auto& joint = robot.joints[static_cast<std::size_t>(side)];
    joint.name = side == 0 ? "left_hip" : "right_hip";
    joint.type = JointType::revolute;
    joint.parent = "trunk";
    joint.child = robot.links[static_cast<std::size_t>(side) + 1].name;
    joint.X_PJ = X_TL;
    // The right axis is opposite to the mirrored sense: its limits are swapped and negated.
    joint.axis = X_TL.R.transpose() * (side == 0 ? axis_T : M * axis_T);
    DofLimits<double> limits;
    limits.lower = side == 0 ? -0.5 : -1.5;
    limits.upper = side == 0 ? 1.5 : 0.5;
    joint.limits = {limits};
    InertialDescription<double> inertial;
    inertial.mass = 2;
    inertial.X_LI = {random.rotation<double>(),
                     X_TL.inverse() * (side == 0 ? com_T : Vector3<double>(M * com_T))};
    const Matrix3<double> mirrored = M * I_T * M;
    inertial.tensor =
        rotate_tensor<double>((X_TL.R * inertial.X_LI.R).transpose(), side == 0 ? I_T : mirrored);
    robot.links[static_cast<std::size_t>(side) + 1].inertial = inertial;
  }
  return robot;
}

Texts rules(const Description<double>& robot) {
  LintFindings findings;
  find_asymmetry(robot, link_tree(robot), findings);
  Texts all;
  for (const auto& finding : findings) all.push_back(finding.diagnostic.rule);
  return all;
}

TEST(Symmetry, RotatedFramesAreNotAsymmetric) {
  for (unsigned seed = 1; seed <= 50; ++seed) EXPECT_EQ(rules(biped(seed)), Texts{}) << seed;
}

TEST(Symmetry, EachDifferenceHasItsRule) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto right = biped(seed);
    auto robot = right;
    robot.links[2].inertial->mass = 2.1;
    EXPECT_EQ(rules(robot), Texts{"asymmetry-mass"}) << seed;
    robot = right;
    robot.links[2].inertial->X_LI.p.x() += 0.02;
    EXPECT_EQ(rules(robot), Texts{"asymmetry-com"}) << seed;
    robot = right;
    robot.links[2].inertial->tensor *= 1.3;
    EXPECT_EQ(rules(robot), Texts{"asymmetry-inertia"}) << seed;
    robot = right;
    robot.joints[1].limits[0].lower = -1;
    EXPECT_EQ(rules(robot), Texts{"asymmetry-limits"}) << seed;
    robot = right;
    robot.joints[1].type = JointType::continuous;
    EXPECT_EQ(rules(robot), Texts{"asymmetry-joint"}) << seed;
    robot = right;
    // Perpendicular to the axis: along it the origin is arbitrary.
    const Vector3<double> axis = robot.joints[1].X_PJ.R * robot.joints[1].axis;
    robot.joints[1].X_PJ.p += 0.02 * axis.unitOrthogonal();
    EXPECT_EQ(rules(robot), Texts{"asymmetry-placement"}) << seed;
    robot = right;
    robot.joints[1].axis = robot.joints[1].axis.unitOrthogonal();
    EXPECT_EQ(rules(robot), Texts{"asymmetry-axis"}) << seed;
  }
}

TEST(Symmetry, CopiedProductsOfMirroredPartsAreWrong) {
  Description<double> robot = biped(1);
  for (const std::size_t side : {0u, 1u}) {
    robot.joints[side].X_PJ.R.setIdentity();
    robot.joints[side].axis = Vector3<double>::UnitY();
    robot.joints[side].limits.clear();
    auto& inertial = *robot.links[side + 1].inertial;
    inertial.X_LI = {Matrix3<double>::Identity(), {0.01, side == 0 ? 0.03 : -0.03, -0.1}};
    inertial.tensor = tensor_from({0.02, 0.021, 0.005, 0.001, 0.0005, -0.002});
  }
  EXPECT_EQ(rules(robot), Texts{"products-mirrored"});
  // Equal numbers mean the same part on both sides.
  robot.links[2].inertial->X_LI = robot.links[1].inertial->X_LI;
  EXPECT_EQ(rules(robot), Texts{"asymmetry-copied"});
}

}  // namespace
}  // namespace limb
