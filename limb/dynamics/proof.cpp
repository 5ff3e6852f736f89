#include "limb/dynamics/proof.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "limb/dynamics/aba.hpp"
#include "limb/dynamics/base_velocity.hpp"
#include "limb/dynamics/constrained.hpp"
#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/energy.hpp"
#include "limb/dynamics/jacobian.hpp"
#include "limb/dynamics/lagrange.hpp"
#include "limb/dynamics/manifold.hpp"
#include "limb/dynamics/momentum.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/dynamics/textbook/craig.hpp"
#include "limb/dynamics/textbook/featherstone.hpp"
#include "limb/dynamics/textbook/lagrange.hpp"
#include "limb/dynamics/textbook/modern_robotics.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr JointEffects kRigid = JointEffects::none();
// The fast algorithms take angles within 1e-10 of a quarter turn as one (CanonicalOptions::snap),
// the books do not: files that write 1.57079632679 differ by some 1e-10.
constexpr double kSnap = 1e-9;
// The same through the inverse of a mass matrix with a condition of up to about 1e6.
constexpr double kInverse = 1e-8;
// Differences of fourth order over kStep: kStep^4 and eps / kStep, with room for fast motions.
constexpr double kDifference = 1e-7;
constexpr double kStep = 1e-3;

class Prover {
 public:
  Prover(const Model<double>& model, const ProofOptions& options)
      : model_(model),
        options_(options),
        n_(model.velocity_size()),
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
    q_ = Vector(model_.position_size());
    for (int i = 0; i < options_.states; ++i) {
      random(model_, engine, q_);
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
    // Not max(): a NaN must stay and fail.
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
    compare("Newton-Euler = M a + C v + g", kSnap, M_ * a_ + C_ * v_ + g, tau_);
    compare("Newton-Euler = Lagrange from the Jacobians of mass centres", kSnap,
            textbook::lagrange::mass_matrix<double>(model_, q_) * a_ + C_ * v_ +
                textbook::lagrange::gravity<double>(model_, q_),
            tau_);
    compare("Newton-Euler = the book's: six-dimensional (Featherstone)", kSnap,
            textbook::featherstone::rnea<double>(model_, q_, v_, a_), tau_);
    compare("Newton-Euler = the book's: twists and screws (Modern Robotics)", kSnap,
            textbook::modern_robotics::inverse_dynamics<double>(model_, q_, v_, a_), tau_);
    compare("Newton-Euler = the book's: outward, inward (Craig)", kSnap,
            textbook::craig::inverse_dynamics<double>(model_, q_, v_, a_), tau_);
  }

  void identities() {
    Vector a(n_);
    const int singular = aba(model_, work_, q_, v_, tau_, a, kRigid);
    if (singular >= 0) {
      fail_computation("prove", "the mass matrix is singular: nothing opposes velocity " +
                                    std::to_string(singular));
    }
    compare("forward dynamics undoes inverse dynamics", kInverse, a, a_);
    const double kinetic = kinetic_energy(model_, kinematics_, kRigid);
    compare("kinetic energy = v M v / 2", kSnap, Matrix::Constant(1, 1, v_.dot(M_ * v_) / 2),
            Matrix::Constant(1, 1, kinetic));
  }

  /// Accelerations of the robot with its loops closed; what is left over is their forces, and a
  /// force of a loop does no work on motions that keep it closed.
  void loops() {
    if (model_.loops().empty()) return;
    const ConstraintSet<double> set(model_, {}, all_loops(model_));
    ConstraintWorkspace<double> rows(model_, set);
    Workspace<double> closed(model_);
    Vector a(n_), drift(set.rows()), rest(n_);
    Matrix J(set.rows(), n_);
    if (aba(model_, closed, q_, v_, tau_, a, kRigid) >= 0) return;
    constraint_jacobian(model_, set, rows, q_, v_, J, drift);
    // A random state is none of a closed robot: rows may ask for more than any acceleration gives.
    const Vector reachable = J * J.completeOrthogonalDecomposition().solve(-drift);
    compare("forward dynamics keeps loops closed", kInverse, J * a, reachable);
    rnea(model_, work_, q_, v_, a, rest, kRigid);
    rest -= tau_;
    const Vector force = J.transpose().completeOrthogonalDecomposition().solve(rest);
    compare("closed loops: only their own forces act besides", kInverse, J.transpose() * force,
            rest);
  }

  /// Nothing holds a robot in the air: its mass centre falls, its spin stays.
  void flight() {
    int roots = 0;
    for (const Body<double>& body : model_.bodies()) roots += body.parent == BodyId(0) ? 1 : 0;
    if (!has_floating_base(model_) || roots > 1) return;
    Vector a(n_);
    const Vector none = Vector::Zero(n_);
    if (aba(model_, work_, q_, v_, none, a, kRigid) >= 0) return;
    Kinematics<double> falling(model_);
    forward_kinematics(model_, q_, v_, a, falling);
    const Force<double> rate = centroidal_momentum_rate(model_, falling);
    const Force<double> weight{model_.total_mass() * model_.gravity(), Vector3<double>::Zero()};
    compare("free flight: momentum changes by the weight alone", kInverse, rate.vector(),
            weight.vector());
  }

  /// The state after time t on a path that begins with q, v, a.
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
  /// df/dt along that path, of fourth order.
  template <typename F>
  Matrix rate_of(const F& f) const {
    return (8 * (f(kStep) - f(-kStep)) - (f(2 * kStep) - f(-2 * kStep))) / (12 * kStep);
  }

  void rates() {
    Kinematics<double> k(model_);
    Workspace<double> work(model_, Loops::open);
    const Matrix power = Matrix::Constant(1, 1, tau_.dot(v_));
    compare("rate of energy = power of the torques (difference quotient)", kDifference,
            rate_of([&](double t) -> Matrix {
              const Moved m = move(t);
              forward_kinematics(model_, m.q, m.v, k);
              return Matrix::Constant(
                  1, 1, kinetic_energy(model_, k, kRigid) + potential_energy(model_, k));
            }),
            power);
    compare("dM/dt - 2 C is skew (difference quotient)", kDifference, C_ + C_.transpose(),
            rate_of([&](double t) -> Matrix {
              Matrix M(n_, n_);
              crba(model_, work, move(t).q, M, kRigid);
              return M;
            }));
    if (model_.frames().empty()) return;
    const FrameId tip(static_cast<int>(model_.frames().size()) - 1);
    Matrix6X<double> dJ(6, n_);
    frame_jacobian_rate(model_, kinematics_, tip, FrameAxes::local_world_aligned, dJ);
    compare("rate of a Jacobian (difference quotient)", kDifference, dJ,
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
