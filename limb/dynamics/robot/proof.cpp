#include "limb/dynamics/robot/proof.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "limb/dynamics/constraints/constrained_dynamics.hpp"
#include "limb/dynamics/kinematics/base_velocity.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/lagrange/christoffel.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/textbook/craig.hpp"
#include "limb/dynamics/textbook/featherstone.hpp"
#include "limb/dynamics/textbook/lagrange.hpp"
#include "limb/dynamics/textbook/modern_robotics.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr JointEffects kRigid = JointEffects::none();
// Sums over the bodies in different orders; at most 69 eps for all reference robots and random
// trees of 20 joints, with a margin for larger robots.
constexpr double kRounding = 4096 * std::numeric_limits<double>::epsilon();
// Through the inverse of a mass matrix with a condition number of up to about 1e6: 45 eps each.
constexpr double kInverse = 1e-8;
// Differences of fourth order over kStep: kStep^4 and eps / kStep, with a margin for fast motions.
constexpr double kDifference = 1e-7;
constexpr double kStep = 1e-3;

class Prover {
 public:
  Prover(const Model<double>& model, const ProofOptions& options)
      : model_(model),
        options_(options),
        n_(model.nv()),
        work_(model, Loops::open),
        kinematics_(model),
        lagrange_(model) {}

  std::vector<ProofRow> run() {
    if (options_.states < 1) fail("prove", "states", std::to_string(options_.states), "at least 1");
    std::mt19937_64 engine(options_.seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto numbers = [&] {
      Vector x(n_);
      for (double& y : x) y = uniform(engine);
      return x;
    };
    q_ = Vector(model_.nq());
    for (int i = 0; i < options_.states; ++i) {
      random_configuration(model_, engine, q_);
      v_ = numbers();
      a_ = numbers();
      formulations();
      identities();
      loops();
      flight();
      rates();
      if (options_.progress) options_.progress(i + 1);
    }
    return std::move(rows_);
  }

 private:
  void compare(const std::string& statement, double tolerance, const Matrix& found,
               const Matrix& expected) {
    const auto same = [&](const ProofRow& row) { return row.statement == statement; };
    auto row = std::find_if(rows_.begin(), rows_.end(), same);
    if (row == rows_.end()) row = rows_.insert(rows_.end(), {statement, 0, tolerance});
    const double error = (found - expected).norm() / (1 + expected.norm());
    // Not max(): a NaN must be kept and fail.
    if (!(error <= row->worst)) row->worst = error;
  }

  void formulations() {
    forward_kinematics(model_, q_, v_, a_, kinematics_);
    tau_ = Vector(n_);
    M_ = C_ = Matrix(n_, n_);
    Vector g(n_);
    rnea(model_, work_, q_, v_, a_, tau_, kRigid);
    crba(model_, work_, q_, M_, kRigid);
    gravity(model_, work_, q_, g);
    coriolis_matrix(model_, kinematics_, lagrange_, C_);
    compare("Newton-Euler = M a + C v + g", kRounding, M_ * a_ + C_ * v_ + g, tau_);
    compare("Newton-Euler = Lagrange with mass-centre Jacobians", kRounding,
            textbook::lagrange::mass_matrix<double>(model_, q_) * a_ + C_ * v_ +
                textbook::lagrange::gravity<double>(model_, q_),
            tau_);
    compare("Newton-Euler = spatial vectors (Featherstone)", kRounding,
            textbook::featherstone::rnea<double>(model_, q_, v_, a_), tau_);
    compare("Newton-Euler = twists and screws (Modern Robotics)", kRounding,
            textbook::modern_robotics::inverse_dynamics<double>(model_, q_, v_, a_), tau_);
    compare("Newton-Euler = iterative, three-vectors (Craig)", kRounding,
            textbook::craig::inverse_dynamics<double>(model_, q_, v_, a_), tau_);
  }

  void identities() {
    Vector a(n_);
    const FactorReport report = aba(model_, work_, q_, v_, tau_, a, kRigid);
    if (!report.ok()) {
      fail_computation("prove", "the mass matrix is singular: no inertia opposes velocity " +
                                    std::to_string(report.velocity));
    }
    compare("forward dynamics undoes inverse dynamics", kInverse, a, a_);
    const double kinetic = kinetic_energy(model_, kinematics_, kRigid);
    compare("kinetic energy = v M v / 2", kRounding, Matrix::Constant(1, 1, v_.dot(M_ * v_) / 2),
            Matrix::Constant(1, 1, kinetic));
  }

  /// Accelerations with closed loops: they satisfy the constraints, and the remaining generalized
  /// force is J^T f.
  void loops() {
    if (model_.loops().empty()) return;
    const ConstraintSet<double> set(model_, {}, all_loops(model_));
    ConstraintWorkspace<double> rows(model_, set);
    Workspace<double> closed(model_);
    Vector a(n_), drift(set.rows()), rest(n_);
    Matrix J(set.rows(), n_);
    if (!aba(model_, closed, q_, v_, tau_, a, kRigid).ok()) return;
    constraint_jacobian(model_, set, rows, q_, v_, J, drift);
    // A random state violates the loops: the rows may be inconsistent.
    const Vector reachable = J * J.completeOrthogonalDecomposition().solve(-drift);
    compare("forward dynamics keeps loops closed", kInverse, J * a, reachable);
    rnea(model_, work_, q_, v_, a, rest, kRigid);
    rest -= tau_;
    const Vector force = J.transpose().completeOrthogonalDecomposition().solve(rest);
    compare("closed loops: the only additional forces are J^T f", kInverse, J.transpose() * force,
            rest);
  }

  /// Free flight without torques: only gravity changes the centroidal momentum.
  void flight() {
    int roots = 0;
    for (const Body<double>& body : model_.bodies()) roots += body.parent == BodyId(0) ? 1 : 0;
    if (!has_floating_base(model_) || roots > 1) return;
    Vector a(n_);
    const Vector none = Vector::Zero(n_);
    if (!aba(model_, work_, q_, v_, none, a, kRigid).ok()) return;
    Kinematics<double> falling(model_);
    forward_kinematics(model_, q_, v_, a, falling);
    const Force<double> rate = centroidal_momentum_rate(model_, falling);
    const Force<double> weight{model_.total_mass() * model_.gravity(), Vector3<double>::Zero()};
    compare("free flight: only the weight changes the momentum", kInverse, rate.vector(),
            weight.vector());
  }

  /// The state after time t on a path that starts with q, v, a.
  struct Moved {
    Vector q, v;
  };
  Moved move(double t) const {
    const Vector s = t * v_ + t * t / 2 * a_;
    Moved moved{Vector(q_.size()), Vector(n_)};
    integrate(model_, q_, s, moved.q);
    Matrix J_q(n_, n_), J_s(n_, n_);
    integrate_jacobians(model_, s, J_q, J_s);
    moved.v = J_s * (v_ + t * a_);
    return moved;
  }
  /// df/dt along that path, by differences of fourth order.
  template <typename F>
  Matrix rate_of(const F& f) const {
    return (8 * (f(kStep) - f(-kStep)) - (f(2 * kStep) - f(-2 * kStep))) / (12 * kStep);
  }

  void rates() {
    Kinematics<double> k(model_);
    Workspace<double> work(model_, Loops::open);
    const Matrix power = Matrix::Constant(1, 1, tau_.dot(v_));
    compare("rate of energy = power of the torques (finite differences)", kDifference,
            rate_of([&](double t) -> Matrix {
              const Moved m = move(t);
              forward_kinematics(model_, m.q, m.v, k);
              return Matrix::Constant(
                  1, 1, kinetic_energy(model_, k, kRigid) + potential_energy(model_, k));
            }),
            power);
    compare("dM/dt - 2 C is skew (finite differences)", kDifference, C_ + C_.transpose(),
            rate_of([&](double t) -> Matrix {
              Matrix M(n_, n_);
              crba(model_, work, move(t).q, M, kRigid);
              return M;
            }));
    if (model_.frames().empty()) return;
    const FrameId tip(static_cast<int>(model_.frames().size()) - 1);
    Matrix6X<double> dJ(6, n_);
    frame_jacobian_rate(model_, kinematics_, tip, FrameAxes::local_world_aligned, dJ);
    compare("rate of a Jacobian (finite differences)", kDifference, dJ,
            rate_of([&](double t) -> Matrix {
              Matrix6X<double> J(6, n_);
              forward_kinematics(model_, move(t).q, k);
              frame_jacobian(model_, k, tip, FrameAxes::local_world_aligned, J);
              return J;
            }));
  }

  const Model<double>& model_;
  const ProofOptions& options_;
  const int n_;
  Workspace<double> work_;
  Kinematics<double> kinematics_;
  LagrangeScratch<double> lagrange_;
  Vector q_, v_, a_, tau_;
  Matrix M_, C_;
  std::vector<ProofRow> rows_;
};

}  // namespace

std::vector<ProofRow> prove(const Model<double>& model, const ProofOptions& options) {
  return Prover(model, options).run();
}

}  // namespace limb
