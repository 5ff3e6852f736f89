// Closed forms of floating bases have the energies of the numeric models, whose velocities are body
// twists; both routes agree on them.
#include "limb/symbolic/derive/euler_joints.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/dynamics/constraints/operational_space.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/math/euler.hpp"
#include "limb/symbolic/derive/derivation.hpp"
#include "limb/symbolic/testing/closed_forms.hpp"

namespace limb::symbolic {
namespace {

using limb::testing::ClosedForms;
using Vector3d = Eigen::Vector3d;

/// Values of all symbols, with q, qd, qdd set to these numbers.
std::vector<double> values(const Robot& robot, const std::vector<double>& q,
                           const std::vector<double>& v, const std::vector<double>& a) {
  std::vector<double> x = known_values(*robot.ring);
  for (std::size_t i = 0; i < robot.coordinates.size(); ++i) {
    x[robot.coordinates[i].q] = q[i];
    x[robot.coordinates[i].v] = v[i];
    x[robot.coordinates[i].a] = a[i];
  }
  return x;
}

std::string body(const std::string& joint) {
  return R"(name = "body"
[parameters]
m = 1.5
l = 0.4
link = [{name = "trunk", mass = "m", com = [0.1, 0.2, -0.3], inertia = [0.3, 0.4, 0.5]},
        {name = "arm", mass = 0.7, com = ["l", 0, 0.1], inertia = [0.02, 0.03, 0.04]}]
[[joint]]
name = "base"
parent = "world"
child = "trunk"
xyz = [0.2, 0, 0.5]
)" + joint +
         R"(
[[joint]]
name = "shoulder"
type = "revolute"
parent = "trunk"
child = "arm"
xyz = [0, "l", 0.1]
axis = [0, 1, 0]
)";
}

class EulerJoints : public ::testing::Test {
 protected:
  std::string file(const std::string& joint) {
    std::string text = body(joint);
    // The list of links comes before the tables in TOML.
    const std::size_t at = text.find("link = ["), end = text.find("[[joint]]");
    const std::string links = text.substr(at, end - at);
    text.erase(at, end - at);
    text.insert(text.find("[parameters]"), links);
    const std::string path = folder_.file("body.toml");
    std::ofstream(path) << text;
    return path;
  }
  limb::testing::TemporaryFolder folder_;
};

TEST_F(EulerJoints, PlanarBase) {
  const std::string path = file("type = \"planar\"\naxis = [0, 1, 0]\n");
  const ClosedForms f(path);
  ASSERT_EQ(f.robot.coordinates.size(), 4u);
  EXPECT_EQ(f.robot.coordinates[2].joint, "base_angle");
  EXPECT_EQ(f.lagrange.tau, f.newton_euler);
  const Model<double> model = load_model(path);
  const std::vector<double> q = {0.3, -0.2, 0.7, 0.9}, v = {0.4, 1.1, -0.6, 0.5},
                            a = {-0.3, 0.8, 0.2, 1.2};
  const std::vector<double> x = values(f.robot, q, v, a);
  // Velocities of the numeric model: the same displacement rates in the axes of the body.
  const double c = std::cos(q[2]), s = std::sin(q[2]);
  const auto to_body = [&](double vx, double vy) {
    return Eigen::Vector2d(c * vx + s * vy, -s * vx + c * vy);
  };
  const Eigen::Vector2d vb = to_body(v[0], v[1]);
  // d/dt (R^T u) = R^T (du/dt - w x u)
  const Eigen::Vector2d ab = to_body(a[0] + v[2] * v[1], a[1] - v[2] * v[0]);
  const Eigen::Vector4d qn(q[0], q[1], q[2], q[3]), vn(vb[0], vb[1], v[2], v[3]),
      an(ab[0], ab[1], a[2], a[3]);
  Kinematics<double> kinematics(model);
  forward_kinematics(model, qn, vn, kinematics);
  EXPECT_NEAR(evaluate(f.lagrange.K, x), kinetic_energy(model, kinematics), 1e-14);
  EXPECT_NEAR(evaluate(f.lagrange.P, x), potential_energy(model, kinematics), 1e-13);
  Workspace<double> work(model);
  Eigen::VectorXd tau(4);
  rnea(model, work, qn, vn, an, tau);
  // Forces in body axes, rotated to the axes of the displacements. Sums of a dozen terms below 50.
  EXPECT_NEAR(evaluate(f.lagrange.tau[0], x), c * tau[0] - s * tau[1], 1e-13);
  EXPECT_NEAR(evaluate(f.lagrange.tau[1], x), s * tau[0] + c * tau[1], 1e-13);
  EXPECT_NEAR(evaluate(f.lagrange.tau[2], x), tau[2], 1e-13);
  EXPECT_NEAR(evaluate(f.lagrange.tau[3], x), tau[3], 1e-13);
}

TEST_F(EulerJoints, FreeAndSphericalBase) {
  for (const std::string type : {"free", "spherical"}) {
    const std::string path = file("type = \"" + type + "\"\n");
    const ClosedForms f(path);
    const int linear = type == "free" ? 3 : 0;
    ASSERT_EQ(f.robot.coordinates.size(), static_cast<std::size_t>(linear) + 4u);
    EXPECT_EQ(f.lagrange.tau, f.newton_euler) << type;
    EXPECT_EQ(f.robot.coordinates[0].actuated, type != "free");
    ASSERT_EQ(f.robot.notes.size(), 1u);
    EXPECT_NE(f.robot.notes[0].find("yaw, pitch and roll"), std::string::npos);
    const Model<double> model = load_model(path);
    const std::vector<double> all_q = {0.3, -0.2, 0.5, 0.7, -0.4, 0.2, 0.9};
    const std::vector<double> all_v = {0.4, 1.1, -0.6, 0.5, 0.3, -0.8, 0.6};
    const std::vector<double> q(all_q.begin() + 3 - linear, all_q.end()),
        v(all_v.begin() + 3 - linear, all_v.end());
    const std::vector<double> x = values(f.robot, q, v, std::vector<double>(q.size(), 0.0));
    const double yaw = all_q[3], pitch = all_q[4], roll = all_q[5];
    const Eigen::Matrix3d R = rpy_to_matrix(roll, pitch, yaw);
    // The angular velocity in body axes: each rate about its axis.
    const Vector3d w = R.transpose() * Vector3d(0, 0, all_v[3]) +
                       axis_rotation<double>(0, std::cos(roll), std::sin(roll)).transpose() *
                           Vector3d(0, all_v[4], 0) +
                       Vector3d(all_v[5], 0, 0);
    const Eigen::Quaterniond quaternion(R);
    Eigen::VectorXd qn(model.nq()), vn(model.nv());
    if (linear == 3) {
      qn << q[0], q[1], q[2], quaternion.coeffs(), q[6];
      vn << R.transpose() * Vector3d(v[0], v[1], v[2]), w, v[6];
    } else {
      qn << quaternion.coeffs(), q[3];
      vn << w, v[3];
    }
    Kinematics<double> kinematics(model);
    forward_kinematics(model, qn, vn, kinematics);
    EXPECT_NEAR(evaluate(f.lagrange.K, x), kinetic_energy(model, kinematics), 1e-14) << type;
    EXPECT_NEAR(evaluate(f.lagrange.P, x), potential_energy(model, kinematics), 1e-13) << type;
  }
}

TEST(PlanarRobots, ClosedFormsAreTheNumericDynamics) {
  for (const std::string name : {"planar-monopod", "planar-biped", "planar-quadruped"}) {
    const std::string path = "builtin:" + name;
    const Derivation d = derive(load_robot(path));
    const Model<double> model = load_model(path);
    const int n = model.nv();
    std::vector<double> q, v, a;
    for (int i = 0; i < n; ++i) {
      q.push_back(0.3 - 0.11 * i);
      v.push_back(-0.5 + 0.17 * i);
      a.push_back(0.7 - 0.23 * i);
      EXPECT_EQ(d.robot.coordinates[static_cast<std::size_t>(i)].actuated, i >= 3) << name;
    }
    const std::vector<double> x = values(d.robot, q, v, a);
    const Eigen::Map<const Eigen::VectorXd> qn(q.data(), n), vn(v.data(), n), an(a.data(), n);
    Workspace<double> work(model);
    Eigen::VectorXd tau(n);
    Eigen::MatrixXd M(n, n);
    rnea(model, work, qn, vn, an, tau);
    crba(model, work, qn, M);
    for (int i = 0; i < n; ++i) {
      // Dozens of terms of at most 100 N.
      EXPECT_NEAR(evaluate(d.form.tau[i], x), tau[i], 1e-13 * 100) << name << " row " << i;
      for (int j = 0; j < n; ++j) EXPECT_NEAR(evaluate(d.form.M(i, j), x), M(i, j), 1e-14 * 100);
    }
  }
}

// Lambda, mu and rho as polynomials over one denominator, square and wide Jacobians.
TEST(OperationalSpace, AgreesWithTheNumericForces) {
  for (const auto& [path, frame] : std::vector<std::pair<std::string, std::string>>{
           {"builtin:2r", "tool"}, {"builtin:planar-monopod", "foot"}}) {
    DeriveOptions options;
    options.frames = {frame};
    options.quantities = {Quantity::Lambda, Quantity::mu, Quantity::rho};
    Robot robot = load_robot(path);
    const std::vector<int> wanted =
        path == "builtin:2r" ? std::vector<int>{0, 1} : std::vector<int>{0, 2, 4};
    const Derivation d = derive(std::move(robot), options);
    const OperationalSpaceInertia& task = d.lambdas[0];
    ASSERT_EQ(task.rows, wanted) << path;
    const Model<double> model = load_model(path);
    const int n = model.nv(), m = static_cast<int>(wanted.size());
    std::vector<double> q, v, a(static_cast<std::size_t>(n), 0.0);
    for (int i = 0; i < n; ++i) {
      q.push_back(0.4 + 0.25 * i);
      v.push_back(1.1 - 0.6 * i);
    }
    const std::vector<double> x = values(d.robot, q, v, a);
    const Eigen::Map<const Eigen::VectorXd> qn(q.data(), n), vn(v.data(), n);
    Kinematics<double> kinematics(model);
    forward_kinematics(model, qn, vn, kinematics);
    const FrameId id = model.find_frame(frame);
    Matrix6X<double> J(6, n);
    constexpr FrameAxes kAxes = FrameAxes::local_world_aligned;
    frame_jacobian(model, kinematics, id, kAxes, J);
    const Eigen::VectorXd drift =
        frame_jacobian_rate_times_v(model, kinematics, id, kAxes).vector()(wanted);
    Workspace<double> work(model);
    OperationalSpace<double> numbers(model, m);
    ASSERT_TRUE(operational_space(model, work, qn, vn, MatrixX<double>(J(wanted, Eigen::all)),
                                  drift, numbers)
                    .ok());
    ASSERT_EQ(numbers.damped, 0);
    const double over = evaluate(task.denominator, x);
    for (int i = 0; i < m; ++i) {
      // Determinants of condition numbers of about 1000.
      EXPECT_NEAR(evaluate(task.mu[i], x) / over, numbers.mu[i], 1e-10) << path;
      EXPECT_NEAR(evaluate(task.rho[i], x) / over, numbers.rho[i], 1e-10) << path;
      for (int j = 0; j < m; ++j) {
        EXPECT_NEAR(evaluate(task.numerator(i, j), x) / over, numbers.Lambda(i, j), 1e-10);
      }
    }
  }
}

}  // namespace
}  // namespace limb::symbolic
