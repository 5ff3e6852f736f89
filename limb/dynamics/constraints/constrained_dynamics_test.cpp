// Contacts and loops on random trees of all joint types, with and without couplings, against the
// whole system of equations solved by dense decompositions.
#include "limb/dynamics/constraints/constrained_dynamics.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
using testing::Sample;

constexpr double kEps = std::numeric_limits<double>::epsilon();
// Residuals of the equations grow with one condition number, of M or of J M^-1 J^T: up to 1e5 for
// random contacts. Differences between two solution methods grow with both.
constexpr double kLaw = 5e5 * kEps;
constexpr double kSolved = 5e7 * kEps;

/// Contacts of all kinds and axes on bodies drawn at random.
std::vector<Contact<double>> random_contacts(const Model<double>& model, unsigned seed, int count) {
  testing::Random random(seed);
  std::vector<Contact<double>> contacts;
  for (int i = 0; i < count; ++i) {
    const int body = 1 + static_cast<int>(random.uniform(0, model.body_count() - 1));
    Contact<double> contact{BodyId(body)};
    contact.kind = i % 2 == 0 ? ContactKind::point : ContactKind::surface;
    contact.X_FC = random.pose<double>(0.3);
    contact.axes = i % 3 == 0 ? ContactAxes::world : ContactAxes::contact;
    contact.A_target = random.motion<double>(0.5);
    contacts.push_back(contact);
  }
  return contacts;
}

/// The rows of contacts from the frame functions of this module.
struct Rows {
  Matrix J;
  Vector drift;
};
Rows rows_of(const Model<double>& model, const std::vector<Contact<double>>& contacts,
             const Vector& q, const Vector& v) {
  Kinematics<double> k(model);
  forward_kinematics(model, q, v, k);
  const int n = model.nv();
  Rows rows{Matrix(0, n), Vector(0)};
  Matrix6X<double> J(6, n);
  for (const Contact<double>& c : contacts) {
    const auto placement = c.frame.resolve("test", model);
    const AnyFrame<double> frame(BodyId(static_cast<int>(placement.body)), placement.X_BF * c.X_FC);
    const FrameAxes axes =
        c.axes == ContactAxes::world ? FrameAxes::local_world_aligned : FrameAxes::local;
    frame_jacobian(model, k, frame, axes, J);
    const Vector6<double> drift =
        frame_bias_acceleration(model, k, frame, axes, AccelerationKind::classical).vector() -
        c.A_target.vector();
    const int count = c.kind == ContactKind::point ? 3 : 6;
    rows.J.conservativeResize(rows.J.rows() + count, n);
    rows.J.bottomRows(count) = J.topRows(count);
    rows.drift.conservativeResize(rows.drift.size() + count);
    rows.drift.tail(count) = drift.head(count);
  }
  return rows;
}

/// A^+ and the rank of a symmetric positive semidefinite matrix.
struct Inverse {
  Matrix A;
  int rank = 0;
};
Inverse pseudo_inverse(const Matrix& A) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(A);
  const double limit = 1e-10 * eigen.eigenvalues().tail(1)[0];
  Inverse inverse{Matrix::Zero(A.rows(), A.cols())};
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    if (eigen.eigenvalues()[i] < limit) continue;
    ++inverse.rank;
    const Vector x = eigen.eigenvectors().col(i);
    inverse.A += x * x.transpose() / eigen.eigenvalues()[i];
  }
  return inverse;
}

TEST(Constrained, RowsAreThoseOfTheFrames) {
  for (const Sample& s : testing::samples(12)) {
    SCOPED_TRACE(s.name);
    const auto contacts = random_contacts(s.model, 3, 5);
    const ConstraintSet<double> set(s.model, contacts);
    ConstraintWorkspace<double> work(s.model, set);
    Matrix J(set.rows(), s.model.nv());
    Vector drift(set.rows());
    constraint_jacobian(s.model, set, work, s.q, s.v, J, drift);
    const Rows expected = rows_of(s.model, contacts, s.q, s.v);
    // A dozen changes of frame; worst seen 10 eps.
    EXPECT_LT(testing::relative(J, expected.J), 64 * kEps);
    EXPECT_LT(testing::relative(drift, expected.drift), 64 * kEps);
  }
}

// Rows of frames that few joints move are dependent: the rank is deficient and targets contradict
// each other. Both solutions are then the least-norm, least-squares force.
TEST(Constrained, AgreesWithTheDenseSystem) {
  int deficient = 0;
  Worst worst_a, worst_f;
  for (const Sample& s : testing::samples(20)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    const auto contacts = random_contacts(s.model, 5, 3);
    const ConstraintSet<double> set(s.model, contacts);
    ConstraintWorkspace<double> work(s.model, set);
    Vector a(n), f(set.rows()), h(n);
    const auto report = constrained_forward_dynamics(s.model, set, work, s.q, s.v, s.tau, a, f);

    Workspace<double> tree(s.model);
    Matrix M(n, n);
    crba(s.model, tree, s.q, M);
    bias(s.model, tree, s.q, s.v, h);
    const Rows rows = rows_of(s.model, contacts, s.q, s.v);
    const Matrix M_inverse = M.ldlt().solve(Matrix::Identity(n, n));
    const Matrix A = rows.J * M_inverse * rows.J.transpose();
    const Inverse A_inverse = pseudo_inverse(A);
    const Vector free = M_inverse * (s.tau - h);
    const Vector f_expected = A_inverse.A * (-rows.drift - rows.J * free);
    const Vector a_expected = free + M_inverse * rows.J.transpose() * f_expected;
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(report.rows, set.rows());
    EXPECT_EQ(report.rank, A_inverse.rank);
    deficient += report.rank < report.rows;
    worst_a.add(testing::relative(a, a_expected));
    worst_f.add(testing::relative(f, f_expected));
    const Vector left = rows.J * a + rows.drift;
    EXPECT_NEAR(report.residual, left.norm(), kLaw * (1 + a.norm()));
    if (report.rank == report.rows) {
      EXPECT_LT(report.residual, kLaw * (1 + a.norm()));
    }
    // The equation of motion with the computed forces.
    const Vector law = M * a + h - s.tau - rows.J.transpose() * f;
    EXPECT_LT(law.norm(), 1e4 * kEps * (M * a).norm() + 1e4 * kEps * h.norm());
  }
  std::printf("worst a %.1e, f %.1e; %d robots with dependent rows\n", worst_a.value(),
              worst_f.value(), deficient);
  EXPECT_GT(deficient, 5);
  EXPECT_LT(worst_a.value(), kSolved);
  EXPECT_LT(worst_f.value(), kSolved);
}

/// Trees and their contacts, at a state where the contacts are at rest: J v = 0.
struct RestingContacts {
  Sample sample;
  std::vector<Contact<double>> contacts;
};
std::vector<RestingContacts> with_resting_contacts(unsigned seeds) {
  std::vector<RestingContacts> all;
  for (Sample& s : testing::samples(seeds)) {
    const auto contacts = random_contacts(s.model, 7, 2);
    const Rows rows = rows_of(s.model, contacts, s.q, s.v);
    const Matrix projector = rows.J.transpose() * pseudo_inverse(rows.J * rows.J.transpose()).A;
    s.v -= projector * (rows.J * s.v);
    all.push_back({std::move(s), contacts});
  }
  return all;
}

TEST(Constrained, ForcesOfRestingContactsDoNoWork) {
  for (const RestingContacts& x : with_resting_contacts(10)) {
    const Sample& s = x.sample;
    SCOPED_TRACE(s.name);
    const ConstraintSet<double> set(s.model, x.contacts);
    ConstraintWorkspace<double> work(s.model, set);
    Vector a(s.v.size()), f(set.rows());
    constrained_forward_dynamics(s.model, set, work, s.q, s.v, s.tau, a, f);
    const Rows rows = rows_of(s.model, x.contacts, s.q, s.v);
    // J v is the rounding error of a projection with condition number 1e3.
    EXPECT_LT(std::abs(f.dot(rows.J * s.v)), 1e5 * kEps * f.norm() * rows.J.norm() * s.v.norm());
  }
}

// Torques for the accelerations of a forward solution: the same motion, possibly other forces.
TEST(ConstrainedInverse, UndoesForward) {
  int without_motor = 0;
  for (const Sample& sample : testing::samples(15)) {
    SCOPED_TRACE(sample.name);
    Sample s = sample;
    const int n = s.model.nv();
    const auto contacts = random_contacts(s.model, 9, 2);
    const ConstraintSet<double> set(s.model, contacts);
    ConstraintWorkspace<double> work(s.model, set);
    for (int i = 0; i < n; ++i) {
      if (!set.has_motor(i)) s.tau[i] = 0;
      without_motor += !set.has_motor(i);
    }
    Vector a(n), f(set.rows()), tau(n), f_inverse(set.rows()), a_again(n);
    constrained_forward_dynamics(s.model, set, work, s.q, s.v, s.tau, a, f);
    const auto report =
        constrained_inverse_dynamics(s.model, set, work, s.q, s.v, a, tau, f_inverse);
    // Size of the terms that cancel on unactuated velocities; worst seen 3e-12.
    const double scale = 1 + a.norm() + f.norm();
    EXPECT_LT(report.residual, kLaw * scale);
    for (int i = 0; i < n; ++i) {
      EXPECT_TRUE(set.has_motor(i) || tau[i] == 0) << i;
    }
    EXPECT_LE(f_inverse.norm(), f.norm() * (1 + kLaw));  // least norm
    Workspace<double> tree(s.model);
    Vector law(n);
    rnea(s.model, tree, s.q, s.v, a, law);
    const Rows rows = rows_of(s.model, contacts, s.q, s.v);
    law -= tau + rows.J.transpose() * f_inverse;
    EXPECT_LT(law.norm(), kLaw * scale);
    constrained_forward_dynamics(s.model, set, work, s.q, s.v, tau, a_again, f);
    EXPECT_LT(testing::relative(a_again, a), kSolved);
  }
  EXPECT_GT(without_motor, 100);
}

// Momentum changes by J^T impulse, contacts rebound, and the kinetic energy lost is that of the
// constrained part of the motion, times 1 - e^2.
TEST(Impact, KeepsItsLawsOnRandomTrees) {
  for (const Sample& s : testing::samples(15)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    const auto contacts = random_contacts(s.model, 11, 2);
    const ConstraintSet<double> set(s.model, contacts);
    ConstraintWorkspace<double> work(s.model, set);
    Vector v_after(n), impulse(set.rows());
    const double e = 0.3;
    const auto report =
        impact(s.model, set, work, s.q, s.v, Vector::Constant(1, e), v_after, impulse);
    Workspace<double> tree(s.model);
    Matrix M(n, n);
    crba(s.model, tree, s.q, M);
    const Rows rows = rows_of(s.model, contacts, s.q, s.v);
    const Vector before = rows.J * s.v;
    const double scale = 1 + impulse.norm();
    EXPECT_LT(report.residual, kLaw * scale);  // J v is always in the range of J
    EXPECT_LT((rows.J * v_after + e * before).norm(), kLaw * scale);
    EXPECT_LT((M * (v_after - s.v) - rows.J.transpose() * impulse).norm(), kLaw * scale);
    const double lost = 0.5 * (s.v.dot(M * s.v) - v_after.dot(M * v_after));
    const Matrix A = rows.J * M.ldlt().solve(Matrix(rows.J.transpose()));
    const double felt = 0.5 * before.dot(pseudo_inverse(A).A * before);
    EXPECT_NEAR(lost, (1 - e * e) * felt, kSolved * (1 + felt));
  }
}

TEST(Constrained, GainsActOnErrorAndVelocity) {
  for (const Sample& s : testing::samples(4)) {
    SCOPED_TRACE(s.name);
    testing::Random random(13);
    auto contacts = random_contacts(s.model, 13, 3);
    for (auto& c : contacts) {
      c.A_target = {};
      c.stabilization = {100, 20};
      c.X_WC_target = random.pose<double>();
    }
    const ConstraintSet<double> set(s.model, contacts);
    ConstraintWorkspace<double> work(s.model, set);
    Matrix J(set.rows(), s.model.nv());
    Vector drift(set.rows());
    constraint_jacobian(s.model, set, work, s.q, s.v, J, drift);
    const Rows rows = rows_of(s.model, contacts, s.q, s.v);
    Kinematics<double> k(s.model);
    forward_kinematics(s.model, s.q, k);
    Vector expected = rows.drift + 20 * rows.J * s.v;
    int row = 0;
    for (const auto& c : contacts) {
      const auto placement = c.frame.resolve("test", s.model);
      const Pose<double> X_WC = k.X_WB[placement.body] * placement.X_BF * c.X_FC;
      const Pose<double>& X_target = c.X_WC_target;
      const Vector3<double> turn = so3::log<double>(X_target.R.transpose() * X_WC.R);
      const bool world = c.axes == ContactAxes::world;
      const Vector3<double> shift = X_WC.p - X_target.p;
      expected.segment<3>(row) +=
          100 * (world ? shift : Vector3<double>(X_WC.R.transpose() * shift));
      if (c.kind == ContactKind::surface) {
        expected.segment<3>(row + 3) += 100 * (world ? Vector3<double>(X_WC.R * turn) : turn);
      }
      row += c.kind == ContactKind::point ? 3 : 6;
    }
    EXPECT_LT(testing::relative(drift, expected), 64 * kEps);
  }
}

TEST(Constrained, ContactsAreActivatedWithoutANewSet) {
  const Sample s = testing::samples(1)[2];
  const auto contacts = random_contacts(s.model, 15, 3);
  ConstraintSet<double> set(s.model, contacts);
  ConstraintWorkspace<double> work(s.model, set);
  EXPECT_EQ(set.max_rows(), 12);
  set.set_active(1, false);
  EXPECT_EQ(set.rows(), 6);
  EXPECT_EQ(set.first_row(1), -1);
  EXPECT_EQ(set.first_row(2), 3);
  const ConstraintSet<double> two(s.model, {contacts[0], contacts[2]});
  ConstraintWorkspace<double> two_work(s.model, two);
  const int n = s.model.nv();
  Vector a(n), f(6), a_two(n), f_two(6);
  constrained_forward_dynamics(s.model, set, work, s.q, s.v, s.tau, a, f);
  constrained_forward_dynamics(s.model, two, two_work, s.q, s.v, s.tau, a_two, f_two);
  EXPECT_EQ(a, a_two);
  EXPECT_EQ(f, f_two);
  for (const int i : {0, 2}) set.set_active(i, false);
  Vector none(0);
  const auto report = constrained_forward_dynamics(s.model, set, work, s.q, s.v, s.tau, a, none);
  EXPECT_EQ(report.rows, 0);
  Workspace<double> tree(s.model);
  rnea(s.model, tree, s.q, s.v, a, a_two);
  EXPECT_LT(testing::relative(a_two, s.tau), 1e4 * kEps);
}

TEST(Constrained, NamesWhatIsWrong) {
  const Model<double> model = load_model("builtin:quadruped");
  const auto set_of = [&](Contact<double> c) { ConstraintSet<double> set(model, {c}); };
  EXPECT_EQ(testing::message([&] { set_of({BodyId(99)}); }),
            "ConstraintSet: body is 99, expected 0 to 13");
  EXPECT_EQ(testing::message([&] { set_of({BodyId(0)}); }),
            "ConstraintSet: frame of contact 0 is fixed to the world, expected a frame that moves");
  Contact<double> soft{BodyId(3)};
  soft.stabilization.stiffness = -1;
  EXPECT_EQ(testing::message([&] { set_of(soft); }),
            "ConstraintSet: stiffness is -1, expected >= 0 and finite");
  EXPECT_EQ(testing::message([&] { ConstraintSet<double>(model, {}, {{2}}); }),
            "ConstraintSet: loop is 2, expected one of the 0 loops of the model");
  ConstraintSet<double> set(model, {{BodyId(3)}});
  EXPECT_EQ(testing::message([&] { set.set_active(1, true); }),
            "ConstraintSet::set_active: i is 1, expected one of the 1 constraints");
  ConstraintWorkspace<double> work(model, set);
  const Vector q = model.neutral(), v = Vector::Zero(18);
  Vector a(18), f(4);
  EXPECT_EQ(
      testing::message([&] { constrained_forward_dynamics(model, set, work, q, v, v, a, f); }),
      "constrained_forward_dynamics: f has 4 entries, expected 3 (one for each active row)");
  EXPECT_EQ(
      testing::message([&] { constrained_inverse_dynamics(model, set, work, q, v, v, a, f); }),
      "constrained_inverse_dynamics: f has 4 entries, expected 3 (one for each active row)");
  EXPECT_EQ(testing::message([&] {
              constrained_inverse_dynamics(model, set, work, q, v, v, a.head(17), f.head(3));
            }).substr(0, 46),
            "constrained_inverse_dynamics: tau has 17 entri");
  EXPECT_EQ(testing::message(
                [&] { impact(model, set, work, q, v, Vector::Constant(1, 1.5), a, f.head(3)); }),
            "impact: restitution[0] is 1.5, expected 0 to 1");
}

}  // namespace
}  // namespace limb
