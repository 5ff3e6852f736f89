// Base parameters of random trees, and of robots with known groups.
#include "limb/dynamics/identify/base_parameters.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::message;
using testing::relative;
using testing::Sample;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();

// The groups reproduce the torques.
TEST(BaseParameters, GroupsGiveTheTorques) {
  for (const char* name : {"builtin:2r", "builtin:arm6", "builtin:arm7", "builtin:quadruped"}) {
    SCOPED_TRACE(name);
    const Model<double> model = load_model(name);
    const BaseParameters base = base_parameters(model);
    const Sample s = testing::sample_of(name, model, 3);
    const int n = model.nv(), count = parameter_count(model);
    Vector p(count), tau(n);
    inertial_parameters(model, p);
    Kinematics<double> k(model);
    forward_kinematics(model, s.q, s.v, s.a, k);
    RegressorScratch<double> scratch(model);
    Workspace<double> work(model);
    Matrix Y(n, count);
    torque_regressor(model, k, scratch, Y);
    rnea(model, work, s.q, s.v, s.a, tau, JointEffects::none());
    const Vector groups = base.K * p;
    Vector found = Vector::Zero(n);
    for (std::size_t i = 0; i < base.leading.size(); ++i) {
      found += Y.col(base.leading[i]) * groups[static_cast<Eigen::Index>(i)];
    }
    // Through a QR decomposition of hundreds of rows; worst seen 2e4 eps.
    EXPECT_LT(relative(found, tau), 1e6 * kEps);
    EXPECT_GT(base.smallest_kept, 1e3 * base.largest_dropped);
  }
}

// As many groups as the regressor at other states has independent columns, on trees of all joint
// types, free and coupled; and the torques follow from the groups.
TEST(BaseParameters, AreAsManyAsTheRank) {
  for (const Sample& s : testing::samples(2, 5)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv(), count = parameter_count(s.model);
    const BaseParameters base = base_parameters(s.model);
    Matrix stacked(60 * n, count), Y(n, count);
    Kinematics<double> k(s.model);
    RegressorScratch<double> scratch(s.model);
    for (int i = 0; i < 60; ++i) {
      const Sample other = testing::sample_of("", s.model, 100 + static_cast<unsigned>(i));
      forward_kinematics(s.model, other.q, other.v, other.a, k);
      torque_regressor(s.model, k, scratch, Y);
      stacked.middleRows(i * n, n) = Y;
    }
    Eigen::ColPivHouseholderQR<Matrix> decomposition(stacked);
    decomposition.setThreshold(1e-9);
    EXPECT_EQ(static_cast<Eigen::Index>(base.groups.size()), decomposition.rank());
    Vector p(count);
    inertial_parameters(s.model, p);
    const Vector groups = base.K * p;
    Vector found = Vector::Zero(stacked.rows());
    for (std::size_t i = 0; i < base.leading.size(); ++i) {
      found += stacked.col(base.leading[i]) * groups[static_cast<Eigen::Index>(i)];
    }
    EXPECT_LT(relative(found, stacked * p), 1e6 * kEps);
    EXPECT_GT(base.smallest_kept, 1e3 * base.largest_dropped);
  }
}

// On a floating base each revolute joint adds seven: of its ten parameters, the mass, the first
// moment along the axis and one second moment combine with the parent's [Khalil 2004, minimum
// parameters].
TEST(BaseParameters, QuadrupedHasTenPlusSevenPerRevoluteJoint) {
  const BaseParameters base = base_parameters(load_model("builtin:quadruped"));
  EXPECT_EQ(base.groups.size(), 10u + 12u * 7u);
  EXPECT_TRUE(base.unidentifiable.empty());
}

TEST(BaseParameters, NamedByLinks) {
  const Model<double> model = load_model("builtin:2r");
  const BaseParameters base = base_parameters(model, {.names = ParameterNames::links});
  const std::string first = model.body(BodyId(1)).link, second = model.body(BodyId(2)).link;
  EXPECT_EQ(base.groups[0].text, "mcx(" + first + ") + m(" + second + ")");
  EXPECT_EQ(parameter_names(model, ParameterNames::links)[10], "m(" + second + ")");
}

// Planar 2R: of the 20 parameters only Izz, mcx, mcy of each link matter in the plane, and the
// second link's mass combines with those of the first.
TEST(BaseParameters, PlanarTwoLinkArm) {
  const Model<double> model = load_model("builtin:2r");
  const BaseParameters base = base_parameters(model);
  std::vector<std::string> texts;
  for (const ParameterGroup& group : base.groups) texts.push_back(group.text);
  // l1 = 1, so that the factors l1 and l1^2 of the second mass are 1.
  const std::vector<std::string> expected = {"mcx_1 + m_2", "mcy_1", "Izz_1 + m_2",
                                             "mcx_2",       "mcy_2", "Izz_2"};
  EXPECT_EQ(texts, expected);
  EXPECT_EQ(base.unidentifiable.size(), 13u);
  EXPECT_EQ(parameter_names(model)[9], "Izz_1");
}

// A free body: all ten parameters are identifiable, since all six force components are measured.
TEST(BaseParameters, FreeBodyHasTen) {
  const Model<double> model =
      build_model(testing::random_tree(1, {.joints = 0, .root = JointType::free}), Base::free);
  const BaseParameters base = base_parameters(model);
  EXPECT_EQ(base.groups.size(), 10u);
}

TEST(BaseParameters, BadInput) {
  const Model<double> model = load_model("builtin:2r");
  EXPECT_EQ(message([&] { base_parameters(model, {.states = -1}); }),
            "base_parameters: states is -1, expected at least 0");
  EXPECT_EQ(message([&] { base_parameters(model, {.tolerance = 2}); }),
            "base_parameters: tolerance is 2, expected between 0 and 1");
}

}  // namespace
}  // namespace limb
