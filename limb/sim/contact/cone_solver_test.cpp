// The contact laws, checked on random problems with more contacts than degrees of freedom, and
// against closed forms for one contact.
#include "limb/sim/contact/cone_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

using Spins = std::vector<ConeSolver::Spin>;

/// A random robot with unit mass matrix: A = J J^T, b = J v.
void fill(testing::Random& random, int dofs, int contacts, int rows, ConeSolver& solver,
          const Spins& spins = {}) {
  solver.resize(contacts, rows, spins);
  const int n = solver.size();
  Matrix J(n, dofs);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < dofs; ++k) J(i, k) = random.uniform(-1, 1);
  }
  Vector v(dofs);
  for (int k = 0; k < dofs; ++k) v[k] = random.uniform(-1, 1);
  solver.A.topLeftCorner(n, n) = J * J.transpose();
  solver.b.head(n) = J * v;
  solver.p.head(n).setZero();
  for (int c = 0; c < contacts; ++c) solver.mu[c] = random.uniform(0, 1.2);
  for (int r = 0; r < rows; ++r) {
    solver.lower[r] = r % 2 == 0 ? 0 : -random.uniform(0, 0.2);
    solver.upper[r] = r % 2 == 0 ? std::numeric_limits<double>::infinity() : -solver.lower[r];
  }
}

/// The largest violation of the law as the header states it, independent of the solver's residual.
double violation(const ConeSolver& s, int rows = 0, const Spins& spins = {}) {
  const int n = s.size();
  const Vector u = s.A.topLeftCorner(n, n) * s.p.head(n) + s.b.head(n);
  Worst worst;
  for (int c = 0; c < s.contacts(); ++c) {
    const double p = s.p[3 * c], un = u[3 * c];
    const Eigen::Vector2d pt = s.p.segment<2>(3 * c + 1), ut = u.segment<2>(3 * c + 1);
    worst.add(-p, -un, std::min(p, un), pt.norm() - s.mu[c] * p);
    // Maximal dissipation: p_t . u_t = -mu p_n |u_t|.
    worst.add(std::abs(pt.dot(ut) + s.mu[c] * p * ut.norm()));
  }
  for (int r = 0; r < rows; ++r) {
    const double p = s.p[3 * s.contacts() + r], ur = u[3 * s.contacts() + r];
    worst.add(s.lower[r] - p, p - s.upper[r], std::min(p - s.lower[r], ur),
              std::min(s.upper[r] - p, -ur));
  }
  int i = 3 * s.contacts() + rows;
  for (const ConeSolver::Spin& spin : spins) {
    const Vector m = s.p.segment(i, spin.rows), w = u.segment(i, spin.rows);
    const double bound = spin.radius * s.p[3 * spin.contact];
    worst.add(m.norm() - bound, std::abs(m.dot(w) + bound * w.norm()));
    i += spin.rows;
  }
  EXPECT_EQ(i, n);
  return worst.value();
}

/// Many bodies that do not touch each other: the law holds, and the impulses are those of each
/// body alone, to the last bit. Contacts, rows and spins of the bodies alternate.
TEST(ConeSolver, BodiesApartAreSolvedOneByOne) {
  constexpr int kBodies = 12, kContacts = 4;  // each with one bounded row and two spins
  const Spins spins = {{0, 1, 0.05}, {2, 2, 0.02}};
  std::vector<ConeSolver> alone(kBodies);
  Spins all_spins;
  for (int c = 0; c < kContacts * kBodies; ++c) {
    const int local = c / kBodies;
    if (local == 0) all_spins.push_back({c, 1, 0.05});
    if (local == 2) all_spins.push_back({c, 2, 0.02});
  }
  ConeSolver together;
  together.resize(kContacts * kBodies, kBodies, all_spins);
  const int n = together.size();
  together.A.topLeftCorner(n, n).setZero();
  together.p.head(n).setZero();
  for (int body = 0; body < kBodies; ++body) {
    ConeSolver& one = alone[static_cast<std::size_t>(body)];
    testing::Random random(static_cast<unsigned>(body));
    fill(random, 9, kContacts, 1, one, spins);
    std::vector<int> rows;  // of the body in the problem of all
    for (int c = 0; c < kContacts; ++c) {
      for (int r = 0; r < 3; ++r) rows.push_back(3 * (c * kBodies + body) + r);
      together.mu[c * kBodies + body] = one.mu[c];
    }
    const int bounded = 3 * kContacts * kBodies;
    rows.push_back(bounded + body);
    together.lower[body] = one.lower[0];
    together.upper[body] = one.upper[0];
    rows.push_back(bounded + kBodies + body);
    rows.push_back(bounded + 2 * kBodies + 2 * body);
    rows.push_back(bounded + 2 * kBodies + 2 * body + 1);
    ASSERT_EQ(static_cast<int>(rows.size()), one.size());
    for (int k = 0; k < one.size(); ++k) {
      const int i = rows[static_cast<std::size_t>(k)];
      for (int l = 0; l < one.size(); ++l) {
        together.A(rows[static_cast<std::size_t>(l)], i) = one.A(l, k);
      }
      together.b[i] = one.b[k];
    }
  }
  const auto report = together.solve({});
  EXPECT_TRUE(report.converged);
  EXPECT_LT(violation(together, kBodies, all_spins), 1e-8);
  const Vector u = together.A.topLeftCorner(n, n) * together.p.head(n) + together.b.head(n);
  EXPECT_LT(max_abs(u - together.velocity().head(n)), 1e-12);
  for (int body = 0; body < kBodies; ++body) {
    ConeSolver& one = alone[static_cast<std::size_t>(body)];
    one.solve({});
    for (int c = 0; c < kContacts; ++c) {
      EXPECT_EQ(one.p.segment<3>(3 * c), together.p.segment<3>(3 * (c * kBodies + body)));
    }
    EXPECT_EQ(one.p[3 * kContacts], together.p[3 * kContacts * kBodies + body]);
  }
}

TEST(ConeSolver, ObeysTheLawOnRandomProblems) {
  int failed = 0, sweeps = 0;
  Worst worst;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    testing::Random random(seed);
    ConeSolver solver;
    const int contacts = 1 + static_cast<int>(seed % 8), rows = static_cast<int>(seed % 3);
    const int dofs = 3 + static_cast<int>(seed % 16);  // mostly fewer than rows
    fill(random, dofs, contacts, rows, solver);
    const auto report = solver.solve({1e-10, 1e-10, 400});
    failed += report.converged ? 0 : 1;
    sweeps += report.sweeps;
    const int n = solver.size();
    const Vector p = solver.p.head(n);
    const double change = p.dot(solver.b.head(n)) + p.dot(solver.A.topLeftCorner(n, n) * p) / 2;
    EXPECT_LT(change, 1e-9) << "seed " << seed;
    if (!report.converged) continue;
    const double scale = 1 + max_abs(solver.p.head(solver.size()));
    worst.add(violation(solver, rows) / scale);
  }
  std::printf("sweeps per problem %.1f, not solved %d, worst violation %.1e\n", sweeps / 2000.,
              failed, worst.value());
  // The residual is 1e-10; complementarity multiplies it by impulses of about 10.
  EXPECT_LT(worst.value(), 1e-8);
  EXPECT_EQ(failed, 0);
}

// The same with torsional and rolling friction of some contacts.
TEST(ConeSolver, ObeysTheLawOfSpins) {
  int failed = 0;
  Worst worst;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    testing::Random random(seed);
    ConeSolver solver;
    const int contacts = 1 + static_cast<int>(seed % 5), rows = static_cast<int>(seed % 3);
    Spins spins;
    for (int c = 0; c < contacts; ++c) {
      if ((seed + static_cast<unsigned>(c)) % 3 != 0) {
        spins.push_back({c, 1, random.uniform(0, 0.5)});
      }
      if ((seed + static_cast<unsigned>(c)) % 4 == 0) {
        spins.push_back({c, 2, random.uniform(0, 0.5)});
      }
    }
    fill(random, 6 + static_cast<int>(seed % 16), contacts, rows, solver, spins);
    const auto report = solver.solve({1e-10, 1e-10, 400});
    failed += report.converged ? 0 : 1;
    const int n = solver.size();
    const Vector p = solver.p.head(n);
    const double change = p.dot(solver.b.head(n)) + p.dot(solver.A.topLeftCorner(n, n) * p) / 2;
    EXPECT_LT(change, 1e-9) << "seed " << seed;
    if (!report.converged) continue;
    worst.add(violation(solver, rows, spins) / (1 + max_abs(p)));
  }
  std::printf("not solved %d, worst violation %.1e\n", failed, worst.value());
  EXPECT_LT(worst.value(), 1e-8);  // as above
  EXPECT_EQ(failed, 0);
}

// A unit mass with unit inertia that presses with p_n = 1 and turns with 1 rad/s about the normal
// and about a tangent: friction stops it, or its moment is r p_n.
TEST(ConeSolver, OneSpinInClosedForm) {
  for (const double radius : {0.0, 0.3, 0.999, 1.001, 2.0}) {
    ConeSolver solver;
    solver.resize(1, 0, Spins{{0, 1, radius}, {0, 2, radius}});
    solver.A.setIdentity();
    solver.b.head(6) << -1, 0, 0, 1, 0.6, -0.8;
    solver.p.setZero();
    solver.mu[0] = 0.5;
    EXPECT_TRUE(solver.solve({}).converged);
    const double moment = std::min(radius, 1.0);
    EXPECT_NEAR(solver.p[0], 1, 1e-15);
    EXPECT_NEAR(solver.p[3], -moment, 4e-15);
    EXPECT_NEAR(solver.p[4], -0.6 * moment, 4e-15);
    EXPECT_NEAR(solver.p[5], 0.8 * moment, 4e-15);
  }
}

// Problems of very different scales, jammed and redundant: whatever happens, the work is bounded,
// the impulses are finite, inside their cones and add no energy, and the report says if they are
// not exact.
TEST(ConeSolver, WorkIsBounded) {
  int most = 0, failed = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    testing::Random random(seed);
    ConeSolver solver;
    const int contacts = 4 + static_cast<int>(seed % 9);
    fill(random, 4, contacts, 3, solver);
    const int n = solver.size();
    const double speed = std::pow(10, random.uniform(-3, 8));
    for (int i = 0; i < n; ++i) {
      const double scale = std::pow(10, random.uniform(-4, 4));
      solver.A.row(i) *= scale;
      solver.A.col(i) *= scale;
      // No motion of the robot has these velocities: the exact law may have no solution.
      solver.b[i] = speed * random.uniform(-1, 1);
    }
    ConeSolver::Options options;
    options.max_newton_steps = 50;
    options.max_sweeps = 300;
    const auto report = solver.solve(options);
    failed += report.converged ? 0 : 1;
    most = std::max<int>(most, report.newton_steps);
    EXPECT_LE(report.newton_steps, options.max_newton_steps) << "seed " << seed;
    EXPECT_LT(report.sweeps, 2 * options.max_sweeps) << "seed " << seed;  // a round may begin
    const double acceptable = std::max(options.acceptable, 1e-9 * max_abs(solver.b.head(n)));
    EXPECT_EQ(report.converged, report.residual <= acceptable) << "seed " << seed;
    const Vector p = solver.p.head(n);
    ASSERT_TRUE(p.allFinite()) << "seed " << seed;
    const double work = p.dot(solver.b.head(n)), square = p.dot(solver.A.topLeftCorner(n, n) * p);
    EXPECT_LE(work + square / 2, 1e-9 * square) << "seed " << seed;
    for (int c = 0; c < contacts; ++c) {
      EXPECT_LE(p.segment<2>(3 * c + 1).norm(), solver.mu[c] * p[3 * c] * (1 + 1e-12));
    }
  }
  std::printf("at most %d Newton steps, not solved %d\n", most, failed);
  EXPECT_GT(failed, 0);
}

TEST(ConeSolver, NeverAddsEnergy) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    testing::Random random(seed);
    ConeSolver solver;
    fill(random, 6, 4, 0, solver);
    solver.solve({1e-10, 1e-10, 500});
    const int n = solver.size();
    const Vector p = solver.p.head(n);
    const double change = p.dot(solver.b.head(n)) + p.dot(solver.A.topLeftCorner(n, n) * p) / 2;
    EXPECT_LT(change, 1e-12) << "seed " << seed;
  }
}

// A unit point mass that lands with (1, 0, -1) m/s: friction stops it, or is mu times the normal
// impulse.
TEST(ConeSolver, OneContactInClosedForm) {
  for (const double mu : {0.0, 0.3, 0.999, 1.001, 2.0}) {
    ConeSolver solver;
    solver.resize(1, 0);
    solver.A.setIdentity();
    solver.b << -1, 1, 0;
    solver.p.setZero();
    solver.mu[0] = mu;
    EXPECT_TRUE(solver.solve({}).converged);
    EXPECT_NEAR(solver.p[0], 1, 1e-15);
    EXPECT_NEAR(solver.p[1], -std::min(mu, 1.0), 4e-15);
    EXPECT_NEAR(solver.p[2], 0, 1e-15);
  }
}

// Without friction the problem is a linear complementarity problem, here solved by enumerating all
// active sets.
TEST(ConeSolver, WithoutFrictionAgreesWithEnumeration) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    testing::Random random(seed);
    ConeSolver solver;
    constexpr int kContacts = 4;
    fill(random, 14, kContacts, 0, solver);
    solver.mu.setZero();
    EXPECT_TRUE(solver.solve({}).converged);
    Matrix A(kContacts, kContacts);
    Vector b(kContacts);
    for (int i = 0; i < kContacts; ++i) {
      b[i] = solver.b[3 * i];
      for (int j = 0; j < kContacts; ++j) A(i, j) = solver.A(3 * i, 3 * j);
    }
    int found = 0;
    for (int set = 0; set < 1 << kContacts; ++set) {
      Matrix K = Matrix::Identity(kContacts, kContacts);
      Vector rhs = Vector::Zero(kContacts);
      for (int i = 0; i < kContacts; ++i) {
        if ((set >> i & 1) == 0) continue;
        K.row(i) = A.row(i);
        rhs[i] = -b[i];
      }
      const Vector p = K.partialPivLu().solve(rhs), u = A * p + b;
      if ((p.array() < -1e-12).any() || (u.array() < -1e-12).any()) continue;
      ++found;
      for (int i = 0; i < kContacts; ++i) EXPECT_NEAR(solver.p[3 * i], p[i], 1e-8);
    }
    EXPECT_GE(found, 1);
  }
}

TEST(ConeSolver, SameProblemSameBitsNoAllocation) {
  testing::Random random(5);
  ConeSolver solver;
  fill(random, 7, 6, 2, solver);
  solver.solve({});
  const Vector first = solver.p;
  solver.p.setZero();
  if (testing::kCountsAllocations) {
    EXPECT_EQ(testing::allocations([&] { solver.solve({}); }), 0);
  } else {
    solver.solve({});
  }
  EXPECT_EQ(solver.p, first);
  // Started at its solution it needs no sweep.
  EXPECT_EQ(solver.solve({}).sweeps, 0);
}

}  // namespace
}  // namespace limb
