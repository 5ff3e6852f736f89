// Optimality of the whole-body torques, verified independently of the program and the solver: the
// problem over accelerations, torques and forces is written again here, and multipliers are found
// by sign-constrained least squares. Also the fall-back for contradicting contacts.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <random>

#include "limb/base/testing/worst.hpp"
#include "limb/control/testing/legged_robots.hpp"
#include "limb/control/whole_body/whole_body.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/math/testing/max_abs.hpp"

namespace limb {
namespace {

using testing::LeggedRobot;
using Matrix = MatrixX<double>;
using Vector = VectorX<double>;

class WholeBodyOptimality : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
};

/// min |G u + d| with u_i >= 0 for i >= free. [Lawson 1974, NNLS]
double signed_least_squares(const Matrix& G, const Vector& d, Eigen::Index free) {
  std::vector<bool> used(static_cast<std::size_t>(G.cols()));
  for (Eigen::Index i = 0; i < free; ++i) used[static_cast<std::size_t>(i)] = true;
  Vector u = Vector::Zero(G.cols());
  const auto solve = [&] {
    std::vector<Eigen::Index> columns;
    for (Eigen::Index i = 0; i < G.cols(); ++i) {
      if (used[static_cast<std::size_t>(i)]) columns.push_back(i);
    }
    Vector all = Vector::Zero(G.cols());
    if (columns.empty()) return all;
    const Matrix part = G(Eigen::all, columns);
    const Vector found = part.completeOrthogonalDecomposition().solve(-d);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      all[columns[k]] = found[static_cast<Eigen::Index>(k)];
    }
    return all;
  };
  u = solve();
  for (int step = 0; step < 200; ++step) {
    const Vector gradient = -G.transpose() * (G * u + d);
    Eigen::Index best = -1;
    for (Eigen::Index i = free; i < G.cols(); ++i) {
      if (used[static_cast<std::size_t>(i)] || gradient[i] < 1e-12) continue;
      if (best < 0 || gradient[i] > gradient[best]) best = i;
    }
    if (best < 0) break;
    used[static_cast<std::size_t>(best)] = true;
    Vector next = solve();
    for (int inner = 0; inner < 200 && (next.tail(G.cols() - free).array() < 0).any(); ++inner) {
      Least share;
      for (Eigen::Index i = free; i < G.cols(); ++i) {
        if (next[i] < 0) share.add(u[i] / (u[i] - next[i]));
      }
      u += share.value() * (next - u);
      for (Eigen::Index i = free; i < G.cols(); ++i) {
        if (next[i] < 0 && u[i] < 1e-12) used[static_cast<std::size_t>(i)] = false;
      }
      next = solve();
    }
    u = next;
  }
  return max_abs(G * u + d);
}

/// The problem over z = (a, tau, f / weight), point feet, from the functions of limb/dynamics.
struct Problem {
  Matrix H, E, C;
  Vector g, e, upper;  ///< E z = e, C z <= upper
};

Problem write_problem(const LeggedRobot& robot, const Vector& q, const Vector& v,
                      const WholeBodyTargets& targets, const WholeBodyOptions& o) {
  const Model<double>& model = robot.model;
  const int n = model.nv(), m = n - 6, p = static_cast<int>(robot.feet.size());
  const int size = n + m + 3 * p;
  const double weight = 9.81 * model.total_mass();
  Workspace<double> work(model);
  Kinematics<double> k(model);
  forward_kinematics(model, q, v, k);
  Matrix M(n, n);
  Vector h(n);
  crba(model, work, q, M);
  bias(model, work, q, v, h, JointEffects{true, true, false});
  Problem w{Matrix::Zero(size, size), Matrix::Zero(n + 3 * p, size), {},
            Vector::Zero(size),       Vector::Zero(n + 3 * p),       {}};
  const auto task = [&](double share, const Matrix& J, const Vector3<double>& target) {
    w.H.topLeftCorner(n, n) += share * J.transpose() * J;
    w.g.head(n) -= share * J.transpose() * target;
  };
  constexpr auto kAxes = FrameAxes::local_world_aligned;
  SubtreeScratch<double> scratch(model);
  Matrix3X<double> J_com(3, n);
  center_of_mass_jacobian(model, k, scratch, J_com);
  task(o.mass_center_weight, J_com,
       targets.mass_center - center_of_mass_jacobian_rate_times_v(model, k, scratch));
  Matrix6X<double> J(6, n);
  frame_jacobian(model, k, BodyId(1), kAxes, J);
  task(o.turn_weight, J.bottomRows<3>(),
       targets.turn - frame_jacobian_rate_times_v(model, k, BodyId(1), kAxes).w);
  for (int i = 6; i < n; ++i) {
    w.H(i, i) += o.posture_weight;
    w.g[i] -= o.posture_weight * targets.posture[i];
  }
  w.H.diagonal().head<6>().array() += 1e-3 * o.posture_weight;

  // Dynamics with torques as unknowns, divided by the weight.
  w.E.topLeftCorner(n, n) = M / weight;
  w.e.head(n) = -h / weight;
  for (int i = 0; i < m; ++i) w.E(6 + i, n + i) = -1 / weight;
  std::vector<Vector> rows;
  std::vector<double> bounds;
  const auto at_most = [&](int column, const Vector& row, double bound) {
    Vector full = Vector::Zero(size);
    full.segment(column, row.size()) = row;
    rows.push_back(full);
    bounds.push_back(bound);
  };
  for (int f = 0; f < p; ++f) {
    const int column = n + m + 3 * f;
    const FrameId frame = robot.feet[static_cast<std::size_t>(f)].frame;
    const auto& foot = targets.feet[static_cast<std::size_t>(f)];
    frame_jacobian(model, k, frame, kAxes, J);
    const Vector3<double> rate = frame_jacobian_rate_times_v(model, k, frame, kAxes).v;
    w.H.diagonal().segment<3>(column).array() += o.force_weight;
    if (!foot.stands) {
      task(o.swing_weight, J.topRows<3>(), foot.acceleration.v - rate);
      w.E.block<3, 3>(n + 3 * f, column).setIdentity();
      continue;
    }
    w.E.block(0, column, n, 3) = -J.topRows<3>().transpose();
    const Vector3<double> speed = frame_velocity(model, k, frame, kAxes).v;
    w.E.block(n + 3 * f, 0, 3, n) = J.topRows<3>();
    w.e.segment<3>(n + 3 * f) =
        -rate - std::min(o.contact_damping, o.contact_brake / speed.norm()) * speed;
    for (const double sign : {1.0, -1.0}) {  // the pyramid of four faces inside the cone
      const double slope = o.friction / std::sqrt(2.0);
      at_most(column, Vector3<double>(sign, 0, -slope), 0);
      at_most(column, Vector3<double>(0, sign, -slope), 0);
    }
    at_most(column, Vector3<double>(0, 0, -1), 0);
    at_most(column, Vector3<double>(0, 0, 1), 4);
  }
  for (int i = 0; i < m; ++i) {
    const auto& limits = model.body(BodyId(i + 2)).limits[0];
    const double effort = o.effort_share * *limits.effort;
    at_most(n + i, Vector::Ones(1) / weight, effort / weight);
    at_most(n + i, -Vector::Ones(1) / weight, effort / weight);
    const double r = o.limit_rate, x = q[7 + i], s = v[6 + i];
    at_most(6 + i, Vector::Ones(1),
            std::min(r * (*limits.velocity - s), r * r * (*limits.upper - x) - 2 * r * s));
    at_most(6 + i, -Vector::Ones(1),
            std::min(r * (*limits.velocity + s), r * r * (x - *limits.lower) + 2 * r * s));
  }
  w.C.resize(static_cast<Eigen::Index>(rows.size()), size);
  w.upper.resize(static_cast<Eigen::Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    w.C.row(static_cast<Eigen::Index>(i)) = rows[i];
    w.upper[static_cast<Eigen::Index>(i)] = bounds[i];
  }
  return w;
}

TEST_F(WholeBodyOptimality, MultipliersExist) {
  const LeggedRobot robot = testing::quadruped();
  const int n = robot.model.nv();
  const double weight = 9.81 * robot.model.total_mass();
  std::mt19937_64 engine(41);
  std::uniform_real_distribution<double> unit(-1, 1);
  WholeBodyOptions options;
  options.effort_share = 0.2;  // so that torque limits are active, too
  WholeBody body(robot.model, robot.feet, options);
  Least refuted;
  Worst gradient, violation;
  long bound = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Vector q = robot.q, dq(n), v(n);
    for (double& x : dq) x = 0.1 * unit(engine);
    for (double& x : v) x = 0.3 * unit(engine);
    integrate(robot.model, robot.q, dq, q);
    WholeBodyTargets targets = body.targets();
    for (double& x : targets.mass_center) x = 8 * unit(engine);
    for (double& x : targets.turn) x = 10 * unit(engine);
    for (double& x : targets.posture) x = 10 * unit(engine);
    for (auto& foot : targets.feet) {
      foot.stands = unit(engine) > -0.5;
      foot.acceleration.v = {unit(engine), unit(engine), unit(engine)};
    }
    body.update(q, v);
    body.solve(targets);
    ASSERT_EQ(body.report().status, Status::ok) << trial;
    const Problem w = write_problem(robot, q, v, targets, options);
    Vector z(w.g.size());
    z << body.acceleration(), body.torque().tail(n - 6), body.forces().reshaped() / weight;

    violation.add(max_abs(w.E * z - w.e));
    const Vector slack = w.upper - w.C * z;
    violation.add(-slack.minCoeff<Eigen::PropagateNaN>());
    std::vector<Eigen::Index> active;
    for (Eigen::Index i = 0; i < slack.size(); ++i) {
      if (slack[i] < 1e-4) active.push_back(i);
    }
    bound += static_cast<long>(active.size());
    Matrix G(w.g.size(), w.E.rows() + static_cast<Eigen::Index>(active.size()));
    G << w.E.transpose(), w.C(active, Eigen::all).transpose();
    gradient.add(signed_least_squares(G, w.H * z + w.g, w.E.rows()));
    // Negative control: for another target the point is not optimal.
    Vector other = w.g;
    for (double& x : other.head(n)) x += unit(engine);
    refuted.add(signed_least_squares(G, w.H * z + other, w.E.rows()));
  }
  std::printf("60 programs, %ld active bounds: gradient residual %.1e, constraint violation %.1e\n",
              bound, gradient.value(), violation.value());
  EXPECT_GT(bound, 100);
  // The tolerance of the solver, 1e-6, in other coordinates.
  EXPECT_LT(gradient.value(), 1e-5);
  EXPECT_GT(refuted.value(), 1e-3);
  EXPECT_LT(violation.value(), 1e-5);
}

// Two contact points of one rotating link: no rigid-body motion stops both. It is reported, and the
// torques of the fall-back are within limits and follow the state without jumps.
TEST_F(WholeBodyOptimality, ContradictingContactsFallBackSafely) {
  const LeggedRobot robot = testing::quadruped();
  const int n = robot.model.nv();
  std::vector<Foot> feet = robot.feet;
  feet.push_back({robot.feet[0].frame, {{0, 0, 0.1}}});  // up the calf
  WholeBody body(robot.model, feet);
  Vector v = Vector::Zero(n);
  v[8] = 3;  // the knee
  body.update(robot.q, v);
  Vector before = body.solve(body.targets());
  EXPECT_EQ(body.report().status, Status::primal_infeasible);
  EXPECT_TRUE(body.report().fell_back);

  const double h = 1e-3;
  Vector q = robot.q;
  Worst largest;
  for (int step = 0; step < 100; ++step) {
    // Joints oscillate, so that springs and dampers of the fall-back act.
    for (int i = 6; i < n; ++i) v[i] = (i == 8 ? 3 : 1) * std::cos(20 * h * step + i);
    integrate(robot.model, q, Vector(h * v), q);
    body.update(q, v);
    const Vector tau = body.solve(body.targets());
    ASSERT_TRUE(body.report().fell_back) << step;
    ASSERT_TRUE(tau.allFinite());
    for (int i = 6; i < n; ++i) {
      const double effort = *robot.model.body(BodyId(i - 4)).limits[0].effort;
      ASSERT_LE(std::abs(tau[i]), effort);
      if (step > 0) largest.add(std::abs(tau[i] - before[i]) / effort);
    }
    before = tau;
  }
  std::printf("fall-back: torques change by at most %.4f of their limits in 1 ms\n",
              largest.value());
  // Springs of 0.3 and dampers of 0.02 efforts at 3 rad/s and 60 rad/s^2: 0.002 per step.
  EXPECT_LT(largest.value(), 0.01);
}

// At rest both support the weight: the torques of the program and the fall-back are close.
TEST_F(WholeBodyOptimality, AtRestTheFallBackIsNearTheProgram) {
  for (const LeggedRobot& robot : {testing::quadruped(), testing::humanoid()}) {
    const int n = robot.model.nv();
    WholeBody body(robot.model, robot.feet);
    body.update(robot.q, Vector::Zero(n));
    const Vector program = body.solve(body.targets());
    WholeBodyTargets none = body.targets();
    none.turn.x() = std::nan("");
    const Vector held = body.solve(none);
    EXPECT_TRUE(body.report().fell_back);
    Worst jump;
    for (int i = 6; i < n; ++i) {
      const double effort = *robot.model.body(BodyId(i - 4)).limits[0].effort;
      jump.add(std::abs(held[i] - program[i]) / effort);
    }
    std::printf("%s: at rest the fall-back differs by %.4f of a limit\n",
                robot.model.name().c_str(), jump.value());
    EXPECT_LT(jump.value(), 0.05);
  }
}

}  // namespace
}  // namespace limb
