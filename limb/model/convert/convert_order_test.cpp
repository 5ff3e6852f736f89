// The order of joints in the other library, values computed by hand, and errors.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "limb/math/testing/max_abs.hpp"
#include "limb/model/convert/convert_drake.hpp"
#include "limb/model/convert/convert_mujoco.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/convert/convert_rbdl.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
using Vector = VectorX<double>;
using Names = std::vector<std::string>;

Description<double> robot(const std::vector<JointDescription<double>>& joints) {
  Description<double> d;
  d.joints = joints;
  d.links.push_back({"base", {}, {}, {}});
  for (const auto& joint : joints) d.links.push_back({joint.child, {}, {}, {}});
  return d;
}

JointDescription<double> joint(const std::string& name, JointType type, const std::string& parent,
                               const std::string& child) {
  JointDescription<double> j;
  j.name = name;
  j.type = type;
  j.parent = parent;
  j.child = child;
  j.axis = Vector3<double>::UnitZ();
  return j;
}

Names names(const Convention& convention) {
  Names result;
  for (const auto& joint : convention.joints()) result.push_back(joint.name);
  return result;
}

/// Two arms and a welded bracket with a third arm: file order z, a, k; the name of the bracket's
/// joint decides the alphabetical position of k.
Description<double> three_arms(const std::string& bracket) {
  return robot({joint("z", JointType::revolute, "base", "arm1"),
                joint("z2", JointType::revolute, "arm1", "hand1"),
                joint("a", JointType::revolute, "base", "arm2"),
                joint(bracket, JointType::fixed, "base", "bracket"),
                joint("k", JointType::revolute, "bracket", "arm3")});
}

TEST(ConvertOrder, FileOrderIsTheOrderOfLimb) {
  const auto d = three_arms("m_bracket");
  EXPECT_EQ(names(MujocoConvention(build_model(d))), (Names{"z", "z2", "a", "k"}));
  EXPECT_EQ(names(DrakeConvention(build_model(d), d)), (Names{"z", "z2", "a", "k"}));
}

TEST(ConvertOrder, FixedJointsAffectAlphabeticalOrder) {
  auto d = three_arms("m_bracket");
  EXPECT_EQ(names(PinocchioConvention(build_model(d), d)), (Names{"a", "k", "z", "z2"}));
  EXPECT_EQ(names(RbdlConvention(build_model(d), d)), (Names{"a", "k", "z", "z2"}));
  d = three_arms("zz_bracket");
  EXPECT_EQ(names(PinocchioConvention(build_model(d), d)), (Names{"a", "z", "z2", "k"}));
}

TEST(ConvertOrder, AnAddedFreeBaseComesFirst) {
  const auto d = three_arms("m_bracket");
  EXPECT_EQ(names(PinocchioConvention(build_model(d, Base::free), d)),
            (Names{"root_joint", "a", "k", "z", "z2"}));
}

TEST(ConvertOrder, TheModelIsSufficientWithoutWelds) {
  auto d = three_arms("m_bracket");
  d.joints.resize(3);
  d.links.resize(4);
  const auto model = build_model(d);
  EXPECT_EQ(names(PinocchioConvention(model)), (Names{"a", "z", "z2"}));
  EXPECT_EQ(names(PinocchioConvention(model)), names(PinocchioConvention(model, d)));
}

template <typename F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ConvertOrder, TheModelIsInsufficientIfWeldsDecide) {
  const auto model = build_model(three_arms("m_bracket"));
  EXPECT_EQ(error_of([&] { PinocchioConvention{model}; }),
            "PinocchioConvention: Pinocchio's order of the joints on body 'universe' depends on "
            "the names of the fixed joints between its 2 links, which the model does not keep "
            "(give the description too, or the names of the joints in order)");
}

TEST(ConvertOrder, GivenNamesSetTheOrder) {
  const auto model = build_model(three_arms("m_bracket"));
  const Names order = {"k", "a", "z2", "z"};
  EXPECT_EQ(names(PinocchioConvention(model, order)), order);
  EXPECT_EQ(error_of([&] {
              PinocchioConvention(model, Names{"k", "a"});
            }),
            "PinocchioConvention: joint_names has 2 entries, expected 4 (one name per moving "
            "joint, without fixed joints)");
  EXPECT_EQ(error_of([&] {
              PinocchioConvention(model, Names{"k", "a", "z", "k"});
            }),
            "PinocchioConvention: joint_names has 'k' twice, expected each joint once");
  EXPECT_EQ(error_of([&] {
              PinocchioConvention(model, Names{"k", "a", "z", "z3"});
            }),
            "Model::find_body: no joint is named 'z3' (closest: 'z')");
}

TEST(ConvertOrder, AnotherDescriptionIsRejected) {
  const auto model = build_model(three_arms("m_bracket"));
  auto d = three_arms("m_bracket");
  d.joints[0].name = "y";
  EXPECT_EQ(error_of([&] { PinocchioConvention(model, d); }),
            "PinocchioConvention: the description lacks joint 'z' of the model, expected the one "
            "that the model was built from");
  d.joints[0].name = "z";
  d.joints[0].parent = "elsewhere";
  EXPECT_EQ(error_of([&] { PinocchioConvention(model, d); }),
            "PinocchioConvention: the description connects 2 of the model's 4 joints to its root, "
            "expected the description that the model was built from");
}

/// Free base rotated by 90 degrees about z, a ball joint by 180 degrees about x, a planar and a
/// continuous joint by 90 degrees.
struct ByHand {
  Description<double> description;
  Model<double> model;
  Vector q{16}, v{14};

  ByHand() {
    description = robot({joint("ball", JointType::spherical, "base", "b"),
                         joint("puck", JointType::planar, "b", "p"),
                         joint("axle", JointType::continuous, "p", "w"),
                         joint("slide", JointType::prismatic, "w", "s")});
    model = build_model(description, Base::free);
    const double half = std::sqrt(0.5), quarter = std::numbers::pi / 2;
    q << 1, 2, 3, 0, 0, half, half,  // free: position, quaternion x y z w
        1, 0, 0, 0,                  // ball
        4, 5, quarter,               // planar
        quarter,                     // axle
        0.5;                         // slide
    v << 10, 0, 0, 0, 20, 0, 1, 2, 3, 7, 0, 8, 9, 0.25;
  }
};

void expect_near(const Vector& found, std::initializer_list<double> expected) {
  ASSERT_EQ(found.size(), static_cast<Eigen::Index>(expected.size()));
  const Vector e = Eigen::Map<const Vector>(expected.begin(), found.size());
  // Cosines of right angles and one rotation of the numbers by them.
  EXPECT_LT(max_abs(found - e), 4 * kEps * max_abs(e))
      << "found " << found.transpose() << "\nexpected " << e.transpose();
}

const double kHalf = std::sqrt(0.5), kPi = std::numbers::pi;

TEST(ConvertByHand, Pinocchio) {
  const ByHand r;
  const PinocchioConvention c(r.model);
  expect_near(c.q_to(r.q), {1, 2, 3, 0, 0, kHalf, kHalf, 1, 0, 0, 0, 4, 5, 0, 1, 0, 1, 0.5});
  EXPECT_EQ(c.v_to(r.q, r.v), r.v);
  EXPECT_EQ(c.a_to(r.q, r.v, r.v), r.v);
}

TEST(ConvertByHand, Mujoco) {
  const ByHand r;
  const MujocoConvention c(r.model);
  expect_near(c.q_to(r.q), {1, 2, 3, kHalf, 0, 0, kHalf, 0, 1, 0, 0, 4, 5, kPi / 2, kPi / 2, 0.5});
  expect_near(c.v_to(r.q, r.v), {0, 10, 0, 0, 20, 0, 1, 2, 3, 0, 7, 8, 9, 0.25});
  expect_near(c.a_to(r.q, r.v, Vector::Zero(14)), {0, 0, -200, 0, 0, 0, 0, 0, 0, -56, 0, 0, 0, 0});
}

// The free joint's coordinates are those of the body in the world, for any placement.
TEST(ConvertByHand, MujocoFreeJointsAreInTheWorldFrame) {
  auto d = robot({joint("float", JointType::free, kWorldLink, "base")});
  d.links.pop_back();
  d.joints[0].X_PJ = {axis_rotation(2, kPi / 2), {10, 0, 0}};
  const MujocoConvention c(build_model(d));
  Vector q(7), v(6);
  q << 1, 0, 0, 0, 0, 0, 1;
  v << 1, 0, 0, 1, 0, 0;
  expect_near(c.q_to(q), {10, 1, 0, kHalf, 0, 0, kHalf});
  expect_near(c.v_to(q, v), {0, 1, 0, 1, 0, 0});
}

TEST(ConvertByHand, Drake) {
  const ByHand r;
  const DrakeConvention c(r.model);
  expect_near(c.q_to(r.q), {kHalf, 0, 0, kHalf, 1, 2, 3, kPi, 0, 0, 4, 5, kPi / 2, kPi / 2, 0.5});
  expect_near(c.v_to(r.q, r.v), {-20, 0, 0, 0, 10, 0, 1, -2, -3, 0, 7, 8, 9, 0.25});
  expect_near(c.a_to(r.q, r.v, Vector::Zero(14)), {0, 0, 0, 0, 0, -200, 0, 0, 0, -56, 0, 0, 0, 0});
}

TEST(ConvertByHand, Rbdl) {
  const ByHand r;
  const RbdlConvention c(r.model);
  expect_near(c.q_to(r.q), {1, 2, 3, 0, 0, kHalf, 1, 0, 0, 4, 5, kPi / 2, kPi / 2, 0.5, kHalf, 0});
  expect_near(c.v_to(r.q, r.v), {0, 10, 0, 0, 20, 0, 1, 2, 3, 0, 7, 8, 9, 0.25});
  EXPECT_EQ(c.joints()[0].nq, 6);
  EXPECT_EQ(c.joints()[0].w, 14);
  EXPECT_EQ(c.joints()[1].w, 15);
  EXPECT_EQ(c.joints()[2].w, -1);
}

TEST(ConvertByHand, ErrorsNameTheCall) {
  const ByHand r;
  const PinocchioConvention c(r.model);
  EXPECT_EQ(error_of([&] { c.q_to(Vector::Zero(15)); }),
            "PinocchioConvention::q_to: q has 15 entries, expected 16 (q is in limb's convention)");
  EXPECT_EQ(error_of([&] { c.q_from(r.q); }),
            "PinocchioConvention::q_from: q_other has 16 entries, expected 18 (q_other is in the "
            "convention of Pinocchio)");
  EXPECT_EQ(error_of([&] { c.v_to(r.q, Vector::Zero(13)); }),
            "PinocchioConvention::v_to: v has 13 entries, expected 14");
  EXPECT_EQ(error_of([&] { c.q_to(Vector::Zero(16)); }),
            "PinocchioConvention::q_to: quaternion in q is [0, 0, 0, 0] of length 0, expected "
            "length 1 (a zero vector has no direction)");
  Vector q = c.q_to(r.q);
  q[16] = 2;
  EXPECT_EQ(error_of([&] { c.q_from(q); }),
            "PinocchioConvention::q_from: (cos, sin) of joint 'axle' is [6.123233995736766e-17, 2] "
            "of length 2, expected length 1 (normalise it first)");
  q[16] = 1;
  q[7] = 3;
  EXPECT_EQ(error_of([&] { c.q_from(q); }),
            "PinocchioConvention::q_from: quaternion of joint 'ball' is [3, 0, 0, 0] of length 3, "
            "expected length 1 (normalise it first)");
  EXPECT_EQ(error_of([&] { c.mass_matrix_to(r.q, MatrixX<double>::Zero(14, 13)); }),
            "PinocchioConvention::mass_matrix_to: M is 14 x 13, expected 14 x 14");
  EXPECT_EQ(error_of([&] { c.jacobian_rows_to(MatrixX<double>::Zero(3, 14)); }),
            "PinocchioConvention::jacobian_rows_to: a column of J has 3 entries, expected 6");
}

TEST(ConvertByHand, JointsThatMujocoLacksAreRejected) {
  auto d = robot({joint("screw", JointType::helical, "base", "nut")});
  EXPECT_EQ(error_of([&] { MujocoConvention{build_model(d)}; }),
            "MujocoConvention: joint 'screw' is helical, a type that MuJoCo does not have (the "
            "closest is a slide and a hinge coupled by a constraint)");
  d = robot({joint("hinge", JointType::revolute, "base", "arm"),
             joint("fly", JointType::free, "arm", "drone")});
  EXPECT_EQ(error_of([&] { MujocoConvention{build_model(d)}; }),
            "MujocoConvention: joint 'fly' is free and its parent is 'hinge', but MuJoCo has free "
            "joints only on the world");
  EXPECT_NO_THROW(DrakeConvention{build_model(d)});
}

}  // namespace
}  // namespace limb
