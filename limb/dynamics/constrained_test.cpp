// Contacts and loops on random trees of all joint types, coupled and not, against the whole system
// of equations solved by dense decompositions.
#include "limb/dynamics/constrained.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/jacobian.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/load.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
using testing::Sample;

constexpr double kEps = std::numeric_limits<double>::epsilon();

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
    contact.A_wanted = random.motion<double>(0.5);
    contacts.push_back(contact);
  }
  return contacts;
}

/// The rows of contacts from the room's own frame functions.
struct Rows {
  Matrix J;
  Vector drift;
};
Rows rows_of(const Model<double>& model, const std::vector<Contact<double>>& contacts,
             const Vector& q, const Vector& v) {
  Kinematics<double> k(model);
  forward_kinematics(model, q, v, k);
  const int n = model.velocity_size();
  Rows rows{Matrix(0, n), Vector(0)};
  Matrix6X<double> J(6, n);
  for (const Contact<double>& c : contacts) {
    const auto place = c.frame.on("test", model);
    const AnyFrame<double> frame(BodyId(static_cast<int>(place.body)), place.X_BF * c.X_FC);
    const FrameAxes axes =
        c.axes == ContactAxes::world ? FrameAxes::local_world_aligned : FrameAxes::local;
    frame_jacobian(model, k, frame, axes, J);
    const Vector6<double> drift =
        frame_bias_acceleration(model, k, frame, axes, AccelerationKind::classical).vector() -
        c.A_wanted.vector();
    const int count = c.kind == ContactKind::point ? 3 : 6;
    rows.J.conservativeResize(rows.J.rows() + count, n);
    rows.J.bottomRows(count) = J.topRows(count);
    rows.drift.conservativeResize(rows.drift.size() + count);
    rows.drift.tail(count) = drift.head(count);
  }
  return rows;
}

/// A^+ and the rank of a symmetric matrix that is not negative.
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
    Matrix J(set.rows(), s.model.velocity_size());
    Vector drift(set.rows());
    constraint_jacobian(s.model, set, work, s.q, s.v, J, drift);
    const Rows expected = rows_of(s.model, contacts, s.q, s.v);
    // A dozen changes of frame; worst seen 10 eps.
    EXPECT_LT(testing::relative(J, expected.J), 64 * kEps);
    EXPECT_LT(testing::relative(drift, expected.drift), 64 * kEps);
  }
}

// Rows of frames that few joints move depend on each other: the rank is not full and wishes
// contradict each other. Both sides then mean the shortest force that comes nearest.
TEST(Constrained, AgreesWithTheDenseSystem) {
  int deficient = 0;
  double worst_a = 0, worst_f = 0;
  for (const Sample& s : testing::samples(20)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.velocity_size();
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
    EXPECT_EQ(report.singular, -1);
    EXPECT_EQ(report.rows, set.rows());
    EXPECT_EQ(report.rank, A_inverse.rank);
    deficient += report.rank < report.rows;
    worst_a = std::max(worst_a, testing::relative(a, a_expected));
    worst_f = std::max(worst_f, testing::relative(f, f_expected));
    const Vector left = rows.J * a + rows.drift;
    EXPECT_NEAR(report.residual, left.norm(), 1e-9 * (1 + a.norm()));
    if (report.rank == report.rows) {
      EXPECT_LT(report.residual, 1e-9 * (1 + a.norm()));
    }
    // Newton's law with the forces found.
    const Vector law = M * a + h - s.tau - rows.J.transpose() * f;
    EXPECT_LT(law.norm(), 1e4 * kEps * (M * a).norm() + 1e4 * kEps * h.norm());
  }
  std::printf("worst a %.1e, f %.1e; %d robots of dependent rows\n", worst_a, worst_f, deficient);
  EXPECT_GT(deficient, 5);
  // Condition numbers of M and of J M^-1 J^T multiply: 1e4 each.
  EXPECT_LT(worst_a, 1e-8);
  EXPECT_LT(worst_f, 1e-8);
}

}  // namespace
}  // namespace limb
