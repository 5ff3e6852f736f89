// Loading robots with symbolic parameters, rejected robots, and frames.
#include "limb/symbolic/derive/robot.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/symbolic/derive/derivation.hpp"
#include "limb/symbolic/derive/recursive_form.hpp"
#include "limb/symbolic/derive/templates.hpp"
#include "limb/symbolic/testing/closed_forms.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;
using limb::testing::ClosedForms;
using limb::testing::message;

std::string temporary_file(const std::string& name, const std::string& text) {
  static const limb::testing::TemporaryFolder folder;
  const std::string path = folder.file(name);
  std::ofstream(path) << text;
  return path;
}

const char* kArm = R"(<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.25"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0.1 0 0.2" rpy="0 0 1.5707963267948966"/><mass value="1.5"/>
    <inertia ixx="0.05" iyy="0.06" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"><inertial><mass value="0.3"/>
    <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin rpy="1.5708 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 0.5" rpy="0.35 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.2" friction="0.1"/></joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0 0 0.4"/></joint>
</robot>)";

TEST(LoadRobot, NumbersOfAFileStayExact) {
  const ClosedForms f(temporary_file("arm.urdf", kArm));
  EXPECT_EQ(f.robot.coordinates[1].joint, "elbow");
  EXPECT_TRUE(f.robot.coordinates[1].is_angle);
  EXPECT_EQ(f.lagrange.tau, f.newton_euler);
  // Elbow: Iyy of the lower link rotated by 90 degrees about z, its parallel-axis term, and the
  // tool.
  EXPECT_EQ(f.lagrange.M(1, 1), P(0.05) + P(1.5) * P(0.05) + P(0.3) * P(0.16));
  ASSERT_EQ(f.robot.notes.size(), 2u);
  EXPECT_EQ(f.robot.notes[0], "joint 'shoulder': the angle 1.5708 rad is taken as 90 degrees");
  EXPECT_EQ(f.robot.notes[1],
            "joint 'elbow': Coulomb friction is not a polynomial; pages and functions add it to "
            "tau as the sign of a velocity");
}

TEST(LoadRobot, NumbersBecomeSymbols) {
  RobotOptions options;
  options.parameters = Parameters::symbols;
  const ClosedForms f(temporary_file("arm.urdf", kArm), options);
  EXPECT_EQ(f.lagrange.tau, f.newton_euler);
  // Lower link: mass centre off the axis in two directions; the tool is welded to it as m2b.
  const P c = f["lc2x"] * f["lc2x"] + f["lc2z"] * f["lc2z"];
  EXPECT_EQ(f.lagrange.M(1, 1), f["m2"] * c + f["Iyy2"] + f["m2b"] * f["l2"] * f["l2"]);
  EXPECT_EQ(f.lagrange.damping[1], f["b2"] * f["qd2"]);
  // 0.35 rad becomes a symbol; 1.5708 becomes a quarter turn, with a note.
  EXPECT_EQ(f.robot.ring->symbol(*f.robot.ring->find_symbol("alpha1")).value, 0.35);
  EXPECT_FALSE(f.robot.ring->find_symbol("alpha2"));
  EXPECT_EQ(f.robot.notes[0], "joint 'shoulder': the angle 1.5708 rad is taken as 90 degrees");
}

// The option `base` counts, not the free joint of the file.
TEST(LoadRobot, AFixedBaseHasAClosedForm) {
  RobotOptions fixed;
  fixed.base = Base::fixed;
  const Robot robot = load_robot("builtin:quadruped", fixed);
  ASSERT_EQ(robot.coordinates.size(), 12u);
  const Vector tau = derive_newton_euler(robot);
  EXPECT_EQ(derive_lagrange(robot).tau, tau);
  // Four legs that do not move each other.
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = 0; j < 12; ++j) {
      const bool same_leg = i / 3 == j / 3;
      const Polynomial& row = tau[static_cast<Eigen::Index>(i)];
      EXPECT_TRUE(same_leg || !depends_on(row, robot.coordinates[j].a)) << i << ", " << j;
    }
  }
}

// Welded links whose masses are different symbols have no mass centre that is a polynomial.
TEST(LoadRobot, WeldedMassesNeedNoDivision) {
  RobotOptions options;
  options.parameters = Parameters::symbols;
  const ClosedForms f(temporary_file("arm.urdf", kArm), options);
  EXPECT_TRUE(f.lagrange.links[0].center.has_value());
  EXPECT_FALSE(f.lagrange.links[1].center.has_value());
}

TEST(LoadRobot, AllParameterOptionsAgree) {
  for (const char* robot : {"2r", "rr", "craig-rp", "belt-leg", "cartpole"}) {
    const std::string path = std::string("builtin:") + robot;
    RobotOptions numbers, symbols;
    numbers.parameters = Parameters::numbers;
    symbols.parameters = Parameters::symbols;
    const ClosedForms named(path), plain(path, numbers), all(path, symbols);
    for (const ClosedForms* f : {&named, &plain, &all}) {
      ASSERT_EQ(f->lagrange.tau, f->newton_euler) << robot;
      std::vector<double> x = known_values(*f->robot.ring);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(x[i])) x[i] = 0;  // accelerations, unused ones
      }
      std::vector<double> y = known_values(*named.robot.ring);
      for (std::size_t i = 0; i < f->robot.coordinates.size(); ++i) {
        const auto set = [&](const Robot& r, std::vector<double>& v) {
          v[r.coordinates[i].q] = 0.3 + 0.2 * static_cast<double>(i);
          v[r.coordinates[i].v] = 0.5 - 0.7 * static_cast<double>(i);
          v[r.coordinates[i].a] = 0.1 + static_cast<double>(i);
        };
        set(f->robot, x);
        set(named.robot, y);
      }
      for (Eigen::Index i = 0; i < f->lagrange.tau.size(); ++i) {
        // A few dozen terms of at most 50.
        EXPECT_NEAR(evaluate(f->lagrange.tau[i], x), evaluate(named.lagrange.tau[i], y), 1e-13 * 50)
            << robot;
      }
    }
  }
}

// 1.5708 is a quarter turn in every format of files and with all kinds of parameters.
TEST(LoadRobot, RoundedQuarterTurnsAreQuarterTurns) {
  const std::string urdf = R"(<robot name="quarter"><link name="base"/>
    <link name="a"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
      <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="continuous"><parent link="base"/><child link="a"/>
      <origin rpy="1.5708 0 0"/><axis xyz="0 0 1"/></joint></robot>)";
  const std::string mjcf = R"(<mujoco model="quarter"><compiler angle="radian"/><worldbody>
    <body name="a" euler="1.5708 0 0"><joint name="j" axis="0 0 1"/>
      <inertial pos="0.5 0 0" mass="2" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>)";
  const std::string joint = R"(name = "quarter"
link = [{name = "a", mass = 2, com = [0.5, 0, 0]}]
[[joint]]
name = "j"
type = "continuous"
parent = "world"
child = "a"
axis = [0, 0, 1]
)";
  const std::string dh = R"(name = "quarter"
base = {rpy = [1.5708, 0, 0]}
[[modified_dh]]
type = "revolute"
alpha = -3.1416
theta = 3.14159
mass = 2
com = [0.5, 0, 0]
)";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"quarter.urdf", urdf},
      {"quarter.xml", mjcf},
      {"rpy.toml", joint + "rpy = [1.5708, 0, 0]\n"},
      {"axis_angle.toml", joint + "axis_angle = {axis = [1, 0, 0], angle = 1.5708}\n"},
      {"dh.toml", dh}};
  for (const auto& [name, text] : files) {
    const std::string path = temporary_file(name, text);
    for (const Parameters parameters :
         {Parameters::named, Parameters::numbers, Parameters::symbols}) {
      RobotOptions options;
      options.parameters = parameters;
      const ClosedForms f(path, options);
      // The joint axis is horizontal, so G has one term: a cosine of q1.
      EXPECT_EQ(f.lagrange.G[0].size(), 1u) << name << ": " << f.lagrange.G[0];
      ASSERT_FALSE(f.robot.notes.empty()) << name;
      EXPECT_NE(f.robot.notes[0].find("rad is taken as"), std::string::npos) << f.robot.notes[0];
      const Derivation d = derive(load_robot(path, options));
      for (const Language language : {Language::c, Language::python}) {
        EXPECT_NE(write_function(d, language).find("1.5708 rad is taken as 90 degrees"),
                  std::string::npos);
      }
      RecursiveOptions recursive;
      recursive.robot = options;
      const RecursiveForm form = derive_recursive(path, recursive);
      EXPECT_NE(to_text(form).find("1.5708 rad is taken as 90 degrees"), std::string::npos) << name;
      const std::string lines = to_text(form).substr(to_text(form).rfind("degrees."));
      EXPECT_EQ(lines.find("e-"), std::string::npos) << lines;  // no rounded zeros
    }
  }
  // A millionth of a degree is rounding; a thousandth of a radian is an angle of its own.
  const Robot other = load_robot(temporary_file("other.toml", joint + "rpy = [1.5718, 0, 0]\n"));
  EXPECT_TRUE(other.notes.empty());
}

// Decimal quaternions are not exactly rotations: they are replaced by rotations with exact angles.
TEST(LoadRobot, RotationsAreExact) {
  const std::string text = R"(name = "turned"
link = [{name = "a", mass = 1, com = [0.1, 0.2, 0.3], inertia = [0.1, 0.2, 0.3]},
        {name = "b", mass = 1, com = [0.1, 0.2, 0.3], inertia = [0.1, 0.2, 0.3]}]
[[joint]]
name = "one"
type = "revolute"
parent = "world"
child = "a"
quat = [0.1825741858350554, 0.3651483716701107, 0.5477225575051661, 0.7302967433402215]
axis = [0, 0.6, 0.8]
[[joint]]
name = "two"
type = "prismatic"
parent = "a"
child = "b"
axis = [0.5773502691896258, 0.5773502691896258, 0.5773502691896258]
)";
  const ClosedForms f(temporary_file("turned.toml", text));
  EXPECT_EQ(f.lagrange.tau, f.newton_euler);
  const Matrix3<P>& R = f.lagrange.links[1].X_WB.R;
  EXPECT_EQ(Matrix3<P>(R * R.transpose()), Matrix3<P>::Identity());
  EXPECT_EQ(f.lagrange.M(1, 1), P(1));
}

TEST(LoadRobot, RejectsRobotsWithoutClosedForm) {
  const auto robot = [](const std::string& joint) {
    return "name = \"r\"\nlink = [{name = \"a\", mass = 1, inertia = [1, 1, 1]}, {name = \"b\", "
           "mass = 1, "
           "inertia = [1, 1, 1]}]\n[[joint]]\nname = \"j\"\nparent = \"world\"\nchild = \"a\"\n" +
           joint +
           "\n[[joint]]\nname = \"k\"\ntype = \"revolute\"\nparent = \"a\"\nchild = \"b\"\naxis = "
           "[0, 0, 1]\n";
  };
  const auto text = [&](const std::string& joint) {
    return message([&] { load_robot(temporary_file("rejected.toml", robot(joint))); });
  };
  EXPECT_EQ(text("type = \"free\"\ndamping = 1"),
            "symbolic: joint 'j' is free and has armature, damping or friction: it has no closed "
            "form (use the recursive form)");
  const std::string turning = "type = \"revolute\"\naxis = [0, 0, 1]";
  const std::string loop =
      "[[loop]]\nname = \"rod\"\nkind = \"connect\"\nlink_a = \"a\"\nlink_b = \"b\"\n";
  EXPECT_EQ(
      message([&] { load_robot(temporary_file("loop.toml", robot(turning) + loop)); }),
      "symbolic: loop 'rod' connects 'a' and 'b': closed forms exist only for open chains and "
      "trees");
  const std::string two =
      robot(turning) + "[[coupling]]\njoint = \"k\"\nmimic = \"j\"\npowers = [1]\n";
  EXPECT_EQ(message([&] { load_robot(temporary_file("polynomial.toml", two)); }),
            "symbolic: joint 'k' follows a polynomial of another joint: closed forms exist only "
            "for linear couplings");
  EXPECT_EQ(message([&] { derive_recursive(temporary_file("polynomial.toml", two), {}); }),
            "symbolic: joint 'k' follows a polynomial of another joint: recursive forms exist only "
            "for linear couplings");
  const std::string undefined =
      temporary_file("undefined.toml",
                     "name = \"r\"\n[[standard_dh]]\ntype = \"revolute\"\na = \"l1\"\nmass = 1\n");
  EXPECT_EQ(
      message([&] { load_robot(undefined); }),
      "load: " + undefined +
          ":4: [[standard_dh]] row 1: a = 'l1' column 1: unknown symbol 'l1' (add l1 = ... to "
          "[parameters])");
  const std::string taken =
      temporary_file("taken.toml",
                     "name = \"r\"\n[parameters]\nq1 = 1\n[[standard_dh]]\ntype = "
                     "\"revolute\"\na = \"q1\"\nmass = 1\n");
  EXPECT_EQ(message([&] { load_robot(taken); }),
            "symbolic: " + taken +
                ": parameter 'q1' has the name of a coordinate, expected another name");
  EXPECT_EQ(message([&] { load_robot("builtin:quadruped"); }),
            "symbolic: joint 'base' is free and the robot has 12 other joints, expected at most 3: "
            "its closed form is too long (use the recursive form)");
  EXPECT_EQ(message([&] {
              load_robot(temporary_file(
                  "still.toml", "name = \"r\"\n[[standard_dh]]\ntype = \"fixed\"\nmass = 1\n"));
            }),
            "symbolic: robot 'r' has no movable joint");
}

TEST(Frames, JacobiansAreDerivativesOfPositions) {
  for (const auto& [robot, frame] : std::vector<std::pair<std::string, std::string>>{
           {"builtin:2r", "tool"}, {"builtin:belt-leg", "foot"}, {"builtin:arm6", "wrist2_link"}}) {
    const Robot r = load_robot(robot);
    const FrameForm form = derive_frame(r, frame);
    const Matrix Jv = form.J.topRows(3);
    EXPECT_EQ(Jv, jacobian(r, form.X_WF.p)) << robot;
    // The Jacobian rate by the recursion of the dynamics module.
    Kinematics<P> kinematics(r.model);
    const RingScope scope(r.ring);
    forward_kinematics(r.model, r.q(), r.v(), kinematics);
    Matrix6X<P> dJ = Matrix6X<P>::Constant(6, r.model.nv(), P(0));
    frame_jacobian_rate(r.model, kinematics, r.model.find_frame(frame),
                        FrameAxes::local_world_aligned, dJ);
    EXPECT_EQ(Matrix(dJ), form.Jdot) << robot;
  }
  EXPECT_EQ(message([] { derive_frame(load_robot("builtin:2r"), "tol"); }),
            "Model::find_frame: no frame is named 'tol' (closest: 'tool')");
}

TEST(OperationalSpaceInertia, InvertsItsInverse) {
  // Square Jacobian: J^T Lambda J = M as polynomials, with the denominator on the other side.
  const ClosedForms f("builtin:2r");
  const OperationalSpaceInertia lambda =
      derive_operational_space_inertia(f.lagrange.M, derive_frame(f.robot, "tool"));
  EXPECT_EQ(lambda.rows, (std::vector<int>{0, 1}));
  const Matrix J = derive_frame(f.robot, "tool").J.topRows(2);
  const Matrix LJ = lambda.numerator.lazyProduct(J);
  EXPECT_EQ(Matrix(J.transpose().lazyProduct(LJ)), Matrix(lambda.denominator * f.lagrange.M));
  EXPECT_EQ(to_text(lambda.denominator), "1 - cos(2*q2)");

  // Three joints and two rows, in numbers: Lambda J M^-1 J^T = 1.
  const std::string text = R"(name = "3r"
gravity = [0, -9.81, 0]
tool = {}
[parameters]
m = 1.5
l = 0.5
[[standard_dh]]
type = "revolute"
a = "l"
mass = "m"
[[standard_dh]]
type = "revolute"
a = "l"
mass = "m"
[[standard_dh]]
type = "revolute"
a = "l"
mass = "m"
inertia = [0, 0, 0.1]
)";
  const ClosedForms three(temporary_file("3r.toml", text));
  FrameForm tool = derive_frame(three.robot, "tool");
  for (Eigen::Index j = 0; j < 3; ++j) tool.J(5, j) = 0;  // position only
  const OperationalSpaceInertia wide = derive_operational_space_inertia(three.lagrange.M, tool);
  EXPECT_EQ(wide.rows, (std::vector<int>{0, 1}));
  std::vector<double> x = known_values(*three.robot.ring);
  for (std::size_t i = 0; i < 3; ++i)
    x[three.robot.coordinates[i].q] = 0.3 + 0.4 * static_cast<double>(i);
  const auto numbers = [&](const Matrix& m) {
    return Eigen::MatrixXd(m.unaryExpr([&](const P& e) { return evaluate(e, x); }));
  };
  const Eigen::MatrixXd Jn = numbers(tool.J.topRows(2));
  const Eigen::MatrixXd inverse = Jn * numbers(three.lagrange.M).inverse() * Jn.transpose();
  const Eigen::MatrixXd L = numbers(wide.numerator) / evaluate(wide.denominator, x);
  // A condition number of a few hundred, and sums of several terms.
  EXPECT_LT((L * inverse - Eigen::MatrixXd::Identity(2, 2)).norm(), 1e-11);
}

TEST(OperationalSpaceInertia, ReportsWhereItDoesNotExist) {
  // A frame that only rotates about one axis has one row; a fixed frame has none.
  const Robot r = load_robot("builtin:2r");
  const ClosedForm form = derive_lagrange(r);
  FrameForm still = derive_frame(r, "tool");
  for (P& x : still.J.reshaped()) x = 0;
  EXPECT_EQ(message([&] { derive_operational_space_inertia(form.M, still); }),
            "derive_operational_space_inertia: frame 'tool' does not move [computation failed]");
  FrameForm twice = derive_frame(r, "tool");
  twice.J.row(1) = twice.J.row(0);
  EXPECT_EQ(message([&] { derive_operational_space_inertia(form.M, twice); }),
            "derive_operational_space_inertia: the rows of the Jacobian of frame 'tool' are "
            "dependent at every q, so "
            "Lambda does not exist [computation failed]");
}

TEST(Derive, NewtonEulerOnlyGivesTheSameForms) {
  DeriveOptions newton;
  newton.method = DerivationMethod::newton_euler;
  const Derivation d = derive(load_robot("builtin:rr"), newton);
  const ClosedForm other = derive_lagrange(d.robot);
  EXPECT_EQ(d.form.M, other.M);
  EXPECT_EQ(d.form.C, other.C);
  EXPECT_EQ(d.form.coriolis, other.coriolis);
  EXPECT_EQ(d.form.V, other.V);
  EXPECT_EQ(d.form.G, other.G);
  EXPECT_EQ(d.form.K, other.K);
  EXPECT_EQ(d.form.P, other.P);
}

TEST(Derive, ReportsErrors) {
  EXPECT_EQ(message([] { quantity_from_text("christofel"); }),
            "derive: quantity 'christofel' is not one of: M C B christoffel V G K P tau J Jdot "
            "Lambda mu rho "
            "(closest: 'christoffel')");
  DeriveOptions options;
  options.quantities = {Quantity::J};
  EXPECT_EQ(message([&] { derive(load_robot("builtin:2r"), options); }),
            "derive: J needs a frame, expected its name (--frames)");
}

}  // namespace
}  // namespace limb::symbolic
