#include "limb/model/urdf/write_urdf.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/math/euler.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/testing/shared.hpp"
#include "limb/model/urdf/read_urdf.hpp"
#include "limb/model/urdf/urdf_text.hpp"

namespace limb {
namespace {

using testing::Random;

// R goes through a quaternion, three angles and six sines: measured 8.4 eps at most, at the border
// of gimbal lock (kEulerLockEps = 8), 4 elsewhere; 12 is a margin for other compilers.
constexpr double kRotation = 12 * std::numeric_limits<double>::epsilon();

void expect_equal(const Pose<double>& a, const Pose<double>& b, const std::string& what) {
  EXPECT_LE(max_abs(a.R - b.R), kRotation) << what;
  EXPECT_EQ(a.p, b.p) << what;
}

/// One entry per degree of freedom, so that "no limits" has one form.
std::vector<DofLimits<double>> full_limits(const JointDescription<double>& joint) {
  auto limits = joint.limits;
  limits.resize(static_cast<std::size_t>(joint_nv(joint.type)));
  return limits;
}

void expect_equal(const JointDescription<double>& a, const JointDescription<double>& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(to_text(a.type), to_text(b.type)) << a.name;
  EXPECT_EQ(a.parent, b.parent) << a.name;
  EXPECT_EQ(a.child, b.child) << a.name;
  expect_equal(a.X_PJ, b.X_PJ, a.name);
  expect_equal(a.X_JC, b.X_JC, a.name);
  EXPECT_EQ(a.axis, b.axis) << a.name;
  EXPECT_EQ(a.axis2, b.axis2) << a.name;
  EXPECT_EQ(a.pitch, b.pitch) << a.name;
  EXPECT_EQ(a.damping, b.damping) << a.name;
  EXPECT_EQ(a.friction, b.friction) << a.name;
  EXPECT_EQ(a.armature, b.armature) << a.name;
  const auto la = full_limits(a), lb = full_limits(b);
  ASSERT_EQ(la.size(), lb.size());
  for (std::size_t i = 0; i < la.size(); ++i) {
    EXPECT_EQ(la[i].lower, lb[i].lower) << a.name;
    EXPECT_EQ(la[i].upper, lb[i].upper) << a.name;
    EXPECT_EQ(la[i].velocity, lb[i].velocity) << a.name;
    EXPECT_EQ(la[i].effort, lb[i].effort) << a.name;
  }
}

void expect_equal(const LinkDescription<double>& a, const LinkDescription<double>& b) {
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.inertial.has_value(), b.inertial.has_value()) << a.name;
  if (a.inertial) {
    EXPECT_EQ(a.inertial->mass, b.inertial->mass) << a.name;
    EXPECT_EQ(a.inertial->tensor, b.inertial->tensor) << a.name;
    expect_equal(a.inertial->X_LI, b.inertial->X_LI, a.name);
  }
  ASSERT_EQ(a.geometry.size(), b.geometry.size()) << a.name;
  for (std::size_t i = 0; i < a.geometry.size(); ++i) {
    const Geometry &g = a.geometry[i], &h = b.geometry[i];
    EXPECT_EQ(g.shape, h.shape) << a.name;
    EXPECT_EQ(g.role, h.role) << a.name;
    EXPECT_EQ(g.size, h.size) << a.name;
    EXPECT_EQ(g.mesh_uri, h.mesh_uri) << a.name;
    EXPECT_EQ(g.mesh_scale, h.mesh_scale) << a.name;
    expect_equal(g.X_LG, h.X_LG, a.name);
  }
}

void expect_equal(const Description<double>& a, const Description<double>& b) {
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) expect_equal(a.links[i], b.links[i]);
  ASSERT_EQ(a.joints.size(), b.joints.size());
  for (std::size_t i = 0; i < a.joints.size(); ++i) expect_equal(a.joints[i], b.joints[i]);
  ASSERT_EQ(a.couplings.size(), b.couplings.size());
  for (std::size_t i = 0; i < a.couplings.size(); ++i) {
    const auto &c = a.couplings[i], &d = b.couplings[i];
    EXPECT_EQ(c.joint, d.joint);
    EXPECT_EQ(c.offset, d.offset) << c.joint;
    ASSERT_EQ(c.terms.size(), d.terms.size()) << c.joint;
    for (std::size_t k = 0; k < c.terms.size(); ++k) {
      EXPECT_EQ(c.terms[k].joint, d.terms[k].joint) << c.joint;
      EXPECT_EQ(c.terms[k].ratio, d.terms[k].ratio) << c.joint;
    }
  }
  ASSERT_EQ(a.actuators.size(), b.actuators.size());
  for (std::size_t i = 0; i < a.actuators.size(); ++i) {
    EXPECT_EQ(a.actuators[i].joint, b.actuators[i].joint);
    EXPECT_EQ(a.actuators[i].gear, b.actuators[i].gear);
  }
}

Description<double> parse(const std::string& text) {
  Diagnostics found;
  auto robot = parse_urdf(text, "copy.urdf", {}, found);
  EXPECT_FALSE(has_errors(found)) << text;
  return robot;
}

std::string write(const Description<double>& robot) {
  Diagnostics ignored;
  return write_urdf(robot, ignored);
}

/// A chain with each joint type once, arbitrary numbers everywhere, names with special letters.
Description<double> every_type(unsigned seed) {
  Random random(seed);
  Description<double> robot;
  robot.name = "all <\"types\"> & 'more'";
  std::string parent = "base";
  robot.links.push_back({parent, {}, {}, {}});
  for (const JointType type : kJointTypes) {
    JointDescription<double> joint;
    joint.name = "joint " + std::string(to_text(type));
    joint.type = type;
    joint.parent = parent;
    joint.child = "link\n" + std::string(to_text(type));
    joint.X_PJ = random.pose<double>();
    const auto nv = static_cast<std::size_t>(joint_nv(type));
    const bool has_axis = type != JointType::fixed && type != JointType::free &&
                          type != JointType::spherical && type != JointType::translation;
    if (has_axis) joint.axis = random.direction<double>();
    if (type == JointType::universal) joint.axis2 = random.direction<double>();
    if (type == JointType::helical) joint.pitch = random.uniform(-1, 1);
    for (std::size_t i = 0; i < nv; ++i) {
      DofLimits<double> limits;
      // Every subset of the bounds occurs over the seeds.
      if (type != JointType::continuous) {
        if (random.uniform(0, 1) < 0.5) limits.lower = random.uniform(-3, 0);
        if (random.uniform(0, 1) < 0.5) limits.upper = random.uniform(0, 3);
      }
      if (random.uniform(0, 1) < 0.5) limits.effort = random.uniform(0, 100);
      if (random.uniform(0, 1) < 0.5) limits.velocity = random.uniform(0, 10);
      joint.limits.push_back(limits);
    }
    if (nv > 0) {
      joint.damping = random.uniform(0, 1);
      joint.friction = random.uniform(0, 1);
      joint.armature = random.uniform(0, 1);
    }
    LinkDescription<double> link;
    link.name = parent = joint.child;
    InertialDescription<double> inertial;
    inertial.mass = random.uniform(0, 10);
    inertial.X_LI = random.pose<double>();
    const Matrix3<double> R = random.rotation<double>();
    const Matrix3<double> I = R * Vector3<double>(2, 3, 4).asDiagonal() * R.transpose();
    inertial.tensor = I.selfadjointView<Eigen::Upper>();
    link.inertial = inertial;
    using Shape = Geometry::Shape;
    for (const Shape shape :
         {Shape::box, Shape::cylinder, Shape::sphere, Shape::capsule, Shape::mesh}) {
      Geometry geometry;
      geometry.shape = shape;
      geometry.role = shape == Shape::box ? Geometry::Role::visual : Geometry::Role::collision;
      geometry.X_LG = random.pose<double>();
      if (shape == Shape::mesh) {
        geometry.mesh_uri = "package://p/a&b.stl";
        geometry.mesh_scale = random.vector<double>();
      } else {
        geometry.size[0] = random.uniform(0, 1);
        if (shape != Shape::sphere) geometry.size[1] = random.uniform(0, 1);
        if (shape == Shape::box) geometry.size[2] = random.uniform(0, 1);
      }
      link.geometry.push_back(geometry);
    }
    robot.links.push_back(link);
    robot.joints.push_back(joint);
  }
  robot.couplings.push_back({"joint revolute", {{"joint prismatic", 0.1}}, 0.3, {}});
  robot.couplings.push_back(
      {"joint continuous", {{"joint prismatic", -2.5}, {"joint revolute", 1. / 3}}, -0.7, {}});
  robot.actuators = {{"joint revolute", 50.5, {}}, {"joint prismatic", -1, {}}};
  return robot;
}

TEST(WriteUrdf, EveryJointTypeReadsBack) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto robot = every_type(seed);
    expect_equal(parse(write(robot)), robot);
  }
}

TEST(WriteUrdf, SharedRobotsReadBack) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared / "robots")) {
    if (entry.path().extension() != ".urdf") continue;
    SCOPED_TRACE(entry.path());
    const auto robot = read_urdf(entry.path());
    const std::string text = write(robot);
    expect_equal(parse(text), robot);
    EXPECT_EQ(write(robot), text);
    ++count;
  }
  EXPECT_GE(count, 10);
}

TEST(WriteUrdf, WritesTheExpectedText) {
  const std::string text =
      "<?xml version=\"1.0\"?>\n"
      "<robot name=\"r\">\n"
      "  <link name=\"a\">\n"
      "    <inertial>\n"
      "      <origin xyz=\"0 0 0.1\"/>\n"
      "      <mass value=\"2\"/>\n"
      "      <inertia ixx=\"0.1\" ixy=\"0\" ixz=\"0\" iyy=\"0.2\" iyz=\"0\" izz=\"1e-05\"/>\n"
      "    </inertial>\n"
      "  </link>\n"
      "  <link name=\"b\"/>\n"
      "  <link name=\"c\"/>\n"
      "  <joint name=\"k\" type=\"continuous\">\n"
      "    <parent link=\"b\"/>\n"
      "    <child link=\"c\"/>\n"
      "    <axis xyz=\"0 0 1\"/>\n"
      "  </joint>\n"
      "  <joint name=\"j\" type=\"revolute\">\n"
      "    <origin rpy=\"1.57079 -0.3 3.1415926\"/>\n"
      "    <parent link=\"a\"/>\n"
      "    <child link=\"b\"/>\n"
      "    <axis xyz=\"0 0 1\"/>\n"
      "    <limit lower=\"-1\" upper=\"1\" effort=\"3\" velocity=\"4\"/>\n"
      "    <mimic joint=\"k\" multiplier=\"2\" offset=\"0\"/>\n"
      "  </joint>\n"
      "  <transmission name=\"j_transmission\">\n"
      "    <type>transmission_interface/SimpleTransmission</type>\n"
      "    <joint name=\"j\"/>\n"
      "    <actuator name=\"j_motor\">\n"
      "      <mechanicalReduction>50</mechanicalReduction>\n"
      "    </actuator>\n"
      "  </transmission>\n"
      "</robot>\n";
  const auto robot = parse(text);
  EXPECT_EQ(write(robot), text);
  Diagnostics found;
  write_urdf(robot, found);
  EXPECT_TRUE(found.empty());
}

TEST(WriteUrdf, AnglesKeepTheirDigits) {
  Random random(7);
  Worst worst;
  const double turns[] = {0,
                          1.5707963,
                          1.57079,
                          1.570796326794,
                          -1.5708,
                          3.14159,
                          3.14159265359,
                          -0.5,
                          1e-3,
                          std::numbers::pi / 2,
                          std::numbers::pi};
  const auto check = [&](const Matrix3<double>& R) {
    const Vector3<double> rpy = urdf::short_rpy(R);
    worst.add(max_abs(rpy_to_matrix(rpy[0], rpy[1], rpy[2]) - R));
  };
  for (const double roll : turns) {
    for (const double pitch : turns) {
      for (const double yaw : turns) check(rpy_to_matrix(roll, pitch, yaw));
    }
  }
  for (int i = 0; i < 20000; ++i) {
    check(random.rotation<double>());
    // Towards gimbal lock, where two angles are ill-conditioned but their sum is not.
    const double near = std::pow(10.0, random.uniform(-16, -1));
    check(rpy_to_matrix(random.uniform(-3, 3), std::numbers::pi / 2 - near, random.uniform(-3, 3)));
  }
  EXPECT_LE(worst.value(), kRotation);
  EXPECT_EQ(urdf::short_rpy(rpy_to_matrix(1.5707963, 0.0, -0.25)),
            Vector3<double>(1.5707963, 0, -0.25));
  EXPECT_EQ(urdf::short_rpy(rpy_to_matrix(0.0, 0.0, std::numbers::pi / 2)),
            Vector3<double>(0, 0, std::numbers::pi / 2));
}

/// World poses of joint frames, inertial frames and shapes with all joints at zero.
std::map<std::string, Pose<double>> zero_poses(const Description<double>& robot) {
  std::map<std::string, Pose<double>> links, poses;
  for (const auto& joint : robot.joints) {  // parents come first here
    const Pose<double> X_WJ = links[joint.parent] * joint.X_PJ;
    if (joint.type != JointType::fixed) poses["joint " + joint.name] = X_WJ;
    links[joint.child] = X_WJ * joint.X_JC;
  }
  for (const auto& link : robot.links) {
    if (link.inertial) poses["mass " + link.name] = links[link.name] * link.inertial->X_LI;
    for (std::size_t i = 0; i < link.geometry.size(); ++i) {
      poses["shape " + link.name + std::to_string(i)] = links[link.name] * link.geometry[i].X_LG;
    }
  }
  for (const auto& frame : robot.frames)
    poses["frame " + frame.name] = links[frame.link] * frame.X_LF;
  for (const auto& [name, X] : links) {
    if (name.starts_with("tool")) poses["frame " + name] = X;
  }
  return poses;
}

// Axes are fixed in the joint frames, so equal frames and masses at zero mean equal motion.
TEST(WriteUrdf, MovingTheChildFramePreservesTheRobot) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    auto robot = every_type(seed);
    for (auto& joint : robot.joints) joint.X_JC = random.pose<double>();
    robot.frames.push_back({"tool", robot.joints.back().child, random.pose<double>(), {}});
    const auto copy = parse(write(robot));
    EXPECT_TRUE(copy.frames.empty());
    const auto before = zero_poses(robot), after = zero_poses(copy);
    ASSERT_EQ(before.size(), after.size());
    for (const auto& [name, X] : before) {
      ASSERT_EQ(after.count(name), 1u) << name;
      // Products of up to 25 poses, each written with kRotation, in a robot of some 20 m.
      EXPECT_LT(max_abs(after.at(name).R - X.R), 25 * kRotation) << name;
      EXPECT_LT(max_abs(after.at(name).p - X.p), 20 * 25 * kRotation) << name;
    }
  }
}

}  // namespace
}  // namespace limb
