// According to RBDL's documentation its free joint is a translation followed by a ball joint, and a
// planar joint is two slides and a hinge. A robot with these chains must move identically.
#include "limb/model/convert/convert_rbdl.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "limb/model/testing/random_tree.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
using Vector = VectorX<double>;

/// A free base, a planar joint and a spherical joint in series.
Description<double> compact(unsigned seed) {
  testing::RandomTreeOptions options;
  options.joints = 2;
  options.types = {JointType::spherical, JointType::planar};
  options.root = JointType::free;
  auto d = testing::random_tree(seed, options);
  d.joints[1].type = JointType::planar;
  d.joints[1].parent = d.joints[0].child;
  d.joints[2].type = JointType::spherical;
  d.joints[2].parent = d.joints[1].child;
  return d;
}

/// Each joint replaced by a chain of others on massless links; only the first keeps the placement.
Description<double> expanded(const Description<double>& d) {
  Description<double> result;
  result.links = d.links;
  const auto add_chain = [&](const JointDescription<double>& joint,
                             const std::vector<std::pair<JointType, Vector3<double>>>& parts) {
    JointDescription<double> part = joint;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool last = i + 1 == parts.size();
      part.type = parts[i].first;
      part.axis = parts[i].second;
      part.name += '+';
      part.child = last ? joint.child : part.name;
      if (!last) result.links.push_back({part.child, {}, {}, {}});
      result.joints.push_back(part);
      part.parent = part.child;
      part.X_PJ = Pose<double>();
    }
  };
  const Vector3<double> any = Vector3<double>::UnitZ();
  const Vector3<double> normal = d.joints[1].axis;
  const Matrix3<double> plane = Joint<double>::planar(normal).plane();
  add_chain(d.joints[0], {{JointType::translation, any}, {JointType::spherical, any}});
  add_chain(d.joints[1], {{JointType::prismatic, plane.col(0)},
                          {JointType::prismatic, plane.col(1)},
                          {JointType::revolute, normal}});
  add_chain(d.joints[2], {{JointType::spherical, any}});
  return result;
}

TEST(ConvertRbdl, FreeAndPlanarJointsAreChainsOfSimplerOnes) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto d = compact(seed);
    const auto model = build_model(d), chain = build_model(expanded(d));
    const RbdlConvention convention(model, d);
    ASSERT_EQ(convention.nv(), 12);
    ASSERT_EQ(chain.nv(), 12);

    testing::Random random(seed);
    std::mt19937_64 engine(seed);
    Vector v(12), a(12);
    for (double& x : v) x = random.uniform(-1, 1);
    for (double& x : a) x = random.uniform(-1, 1);
    const Vector q = model.random_configuration(engine), q_rbdl = convention.q_to(q);

    // RBDL: p, x y z | x y angle | x y z | w w. In limb each w follows its x y z.
    Vector q_chain(14);
    q_chain << q_rbdl.head(6), q_rbdl[12], q_rbdl.segment(6, 6), q_rbdl[13];
    const Vector v_chain = convention.v_to(q, v), a_chain = convention.a_to(q, v, a);

    const auto motion = testing::tree_motion(model, q, v, a);
    const auto same = testing::tree_motion(chain, q_chain, v_chain, a_chain);
    for (std::size_t i = 1; i < motion.size(); ++i) {
      const auto& body = model.bodies()[i];
      const std::size_t j =
          static_cast<std::size_t>(chain.frame(chain.find_frame(body.link)).body.value());
      // Some ten products of rotations by vectors of length up to 3 along three joints.
      const double tolerance = 64 * kEps;
      EXPECT_LT((motion[i].X_WB.matrix() - same[j].X_WB.matrix()).norm(), tolerance);
      EXPECT_LT((motion[i].V_WB_B - same[j].V_WB_B).vector().norm(), tolerance);
      EXPECT_LT((motion[i].A_WB_B - same[j].A_WB_B).vector().norm(), tolerance);
    }
    const Vector tau = convention.tau_to(q, testing::inverse_dynamics(model, q, v, a));
    const Vector expected = testing::inverse_dynamics(chain, q_chain, v_chain, a_chain);
    EXPECT_LT((tau - expected).norm(), 64 * kEps * expected.norm());
  }
}

}  // namespace
}  // namespace limb
