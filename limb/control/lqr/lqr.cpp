#include "limb/control/lqr/lqr.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <unsupported/Eigen/MatrixFunctions>

#include "limb/dynamics/constraints/actuated.hpp"
#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/rnea.hpp"

namespace limb {
namespace {

using Matrix = MatrixX<double>;
using Vector = VectorX<double>;

/// Relative to the largest gravity torque or the weight of the robot.
constexpr double kEquilibrium = 1e-9;

/// The joint with the largest component in a direction of the state space.
std::string dominant_joint(const Model<double>& model, const Eigen::VectorXcd& direction) {
  const int n = model.nv();
  int most = 0;
  const auto size = [&](int i) { return std::abs(direction[i]) + std::abs(direction[n + i]); };
  for (int i = 1; i < n; ++i) {
    if (size(i) > size(most)) most = i;
  }
  return velocity_text(model, most);
}

}  // namespace

LinearizedRobot linearize(const Model<double>& model, VectorIn<double>& q,
                          const JointEffects& effects) {
  constexpr const char* kCall = "linearize";
  check_configuration(kCall, "q", model, q);
  const int n = model.nv();
  LinearizedRobot s;
  s.q = q;
  s.tau = Vector::Zero(n);
  Workspace<double> work(model, Loops::open);
  gravity(model, work, q, s.tau);
  const double scale =
      std::max(s.tau.cwiseAbs().maxCoeff(), model.total_mass() * model.gravity().norm());
  for (int i = 0; i < n; ++i) {
    if (is_actuated(model, i)) {
      s.motors.push_back(i);
    } else if (std::abs(s.tau[i]) > kEquilibrium * scale) {
      fail_computation(
          kCall,
          fmt::format("q is not an equilibrium: {} has no motor and would need a torque of {}",
                      velocity_text(model, i), to_text(s.tau[i])));
    } else {
      s.tau[i] = 0;
    }
  }
  DerivativeWorkspace<double> derivatives(model);
  Vector a(n);
  const Vector v = Vector::Zero(n);
  Matrix da_dq(n, n), da_dv(n, n), da_dtau(n, n);
  const FactorReport report =
      aba_derivatives(model, derivatives, q, v, s.tau, a, da_dq, da_dv, da_dtau, effects);
  if (!report.ok()) {
    fail_computation(kCall, fmt::format("the mass matrix is singular: no inertia opposes {}",
                                        velocity_text(model, report.velocity)));
  }
  s.A = Matrix::Zero(2 * n, 2 * n);
  s.A.topRightCorner(n, n).setIdentity();
  s.A.bottomLeftCorner(n, n) = da_dq;
  s.A.bottomRightCorner(n, n) = da_dv;
  s.B = Matrix::Zero(2 * n, static_cast<Eigen::Index>(s.motors.size()));
  for (std::size_t i = 0; i < s.motors.size(); ++i) {
    s.B.col(static_cast<Eigen::Index>(i)).tail(n) = da_dtau.col(s.motors[i]);
  }
  return s;
}

SampledSystem sample_and_hold(MatrixIn<double>& A, MatrixIn<double>& B, MatrixIn<double>& Q,
                              MatrixIn<double>& R, double period) {
  constexpr const char* kCall = "sample_and_hold";
  const Eigen::Index n = A.rows(), m = B.cols(), all = n + m;
  check_shape(kCall, "A", A.rows(), A.cols(), n, n);
  check_shape(kCall, "B", B.rows(), B.cols(), n, m);
  check_shape(kCall, "Q", Q.rows(), Q.cols(), n, n);
  check_shape(kCall, "R", R.rows(), R.cols(), m, m);
  check_positive(kCall, "period", period);
  // z = (x, u) with u' = 0; exp of [-F^T W; 0 F] contains exp(F h) and the integral of the cost.
  Matrix F = Matrix::Zero(all, all), W = Matrix::Zero(all, all);
  F.topLeftCorner(n, n) = A;
  F.topRightCorner(n, m) = B;
  W.topLeftCorner(n, n) = Q;
  W.bottomRightCorner(m, m) = R;
  Matrix both = Matrix::Zero(2 * all, 2 * all);
  both.topLeftCorner(all, all) = -period * F.transpose();
  both.topRightCorner(all, all) = period * W;
  both.bottomRightCorner(all, all) = period * F;
  const Matrix exponential = both.exp();
  const Matrix step = exponential.bottomRightCorner(all, all);
  Matrix cost = step.transpose() * exponential.topRightCorner(all, all);
  cost = ((cost + cost.transpose()) / 2).eval();
  return {step.topLeftCorner(n, n), step.topRightCorner(n, m), cost.topLeftCorner(n, n),
          cost.topRightCorner(n, m), cost.bottomRightCorner(m, m)};
}

Lqr::Lqr(ControlledRobot robot, const Setup& setup)
    : robot_(std::move(robot)),
      system_(linearize(robot_.model(), setup.q, setup.effects)),
      x_(Vector::Zero(2 * robot_.size())),
      shift_(Vector::Zero(robot_.size())),
      zero_(shift_) {
  constexpr const char* kCall = "Lqr";
  robot_.check_tree(kCall);
  const Eigen::Index n = x_.size(), m = system_.B.cols();
  check_shape(kCall, "Q", setup.Q.rows(), setup.Q.cols(), n, n);
  check_shape(kCall, "R", setup.R.rows(), setup.R.cols(), m, m);
  check_not_negative(kCall, "period", setup.period);
  if (const auto mode = find_uncontrollable_mode(system_.A, system_.B, TimeDomain::continuous)) {
    fail_computation(
        kCall,
        fmt::format("no motor controls a mode of {} with eigenvalue {:.4g}, which does not "
                    "decay: the robot is not stabilisable here",
                    dominant_joint(robot_.model(), mode->direction), mode->eigenvalue.real()));
  }
  if (setup.period == 0) {
    solution_ = solve_riccati(system_.A, system_.B, setup.Q, setup.R);
    return;
  }
  // The cross term of the cost is absorbed by the feedback: u = w - R^-1 S^T x.
  const SampledSystem s = sample_and_hold(system_.A, system_.B, setup.Q, setup.R, setup.period);
  const Matrix cross = s.R.ldlt().solve(s.S.transpose());
  Matrix Q = s.Q - s.S * cross;
  Q = ((Q + Q.transpose()) / 2).eval();
  solution_ = solve_discrete_riccati(s.A - s.B * cross, s.B, Q, s.R);
  solution_.K += cross;
}

StepReport Lqr::step(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& q_ref,
                     VectorIn<double>& v_ref, VectorOut<double> tau) noexcept {
  const Model<double>& model = robot_.model();
  const int n = robot_.size();
  if (!robot_.fits(q, v, tau) || !robot_.fits(q_ref, v_ref, tau)) {
    return MotorLimits::reject(Status::wrong_size, tau);
  }
  difference(model, system_.q, q, x_.head(n));
  difference(model, system_.q, q_ref, shift_);
  x_.head(n) -= shift_;
  x_.tail(n) = v - v_ref;
  tau = system_.tau;
  for (std::size_t i = 0; i < system_.motors.size(); ++i) {
    tau[system_.motors[i]] -= solution_.K.row(static_cast<Eigen::Index>(i)).dot(x_);
  }
  return robot_.limits().finish(tau);
}

StepReport Lqr::step(VectorIn<double>& q, VectorIn<double>& v, VectorOut<double> tau) noexcept {
  if (!robot_.fits(q, v, tau)) {
    return MotorLimits::reject(Status::wrong_size, tau);
  }
  return step(q, v, system_.q, zero_, tau);
}

double Lqr::cost_to_go(VectorIn<double>& q, VectorIn<double>& v) noexcept {
  const int n = robot_.size();
  if (q.size() != system_.q.size() || v.size() != n) return std::nan("");
  difference(robot_.model(), system_.q, q, x_.head(n));
  x_.tail(n) = v;
  double sum = 0;
  for (Eigen::Index i = 0; i < x_.size(); ++i) sum += x_[i] * solution_.X.col(i).dot(x_);
  return sum;
}

}  // namespace limb
