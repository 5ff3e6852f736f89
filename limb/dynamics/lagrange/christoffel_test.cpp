// Christoffel symbols against the derivatives of the mass matrix that define them.
#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/lagrange/christoffel_impl.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/textbook/featherstone.hpp"
#include "limb/dynamics/textbook/lagrange_impl.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/scalars.hpp"
#include "limb/model/core/build_model_impl.hpp"
#include "limb/model/core/builder.hpp"

namespace limb {
namespace {

using testing::Dual;
using testing::message;
using testing::Sample;
using testing::samples;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

/// dM along each velocity, by dual numbers through the mass-centre Jacobians.
std::vector<Matrix> mass_matrix_derivatives(const Model<double>& model, const Vector& q) {
  const Model<Dual> dual_model = model.cast<Dual>();
  std::vector<Matrix> dM;
  for (int k = 0; k < model.nv(); ++k) {
    const VectorX<Dual> step =
        testing::dual<-1, 1>(Vector::Zero(model.nv()), Vector::Unit(model.nv(), k));
    const VectorX<Dual> q_dual =
        testing::integrate_configuration<Dual>(dual_model, q.cast<Dual>(), step);
    dM.push_back(testing::derivative<-1, -1>(textbook::lagrange::mass_matrix(dual_model, q_dual)));
  }
  return dM;
}

ChristoffelTensor<double> symbols(const Model<double>& model, const Vector& q) {
  Kinematics<double> kinematics(model);
  forward_kinematics(model, q, kinematics);
  LagrangeScratch<double> scratch(model);
  ChristoffelTensor<double> gamma(model.nv());
  christoffel(model, kinematics, scratch, gamma);
  return gamma;
}

/// Commutator [e_j, e_k] of two velocities, as a velocity. Zero except inside a joint whose
/// velocities are in the child's axes, where it is the Lie bracket of the columns.
Vector commutator(const Model<double>& model, int j, int k) {
  Vector result = Vector::Zero(model.nv());
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const Body<double>& body = model.bodies()[i];
    const auto& row = model.coupling().rows()[i - 1];
    const JointType type = body.joint.type();
    if (type != JointType::free && type != JointType::spherical && type != JointType::planar) {
      continue;
    }
    const int first = row.terms[0].y, nv = body.joint.nv();
    if (j < first || k < first || j >= first + nv || k >= first + nv) continue;
    Motion<double> S[6];
    Vector q(body.joint.nq());
    body.joint.neutral(q.data());
    body.joint.subspace(q.data(), S);
    const Motion<double> bracket = cross(S[j - first], S[k - first]);
    for (int l = 0; l < nv; ++l) {  // the columns are orthonormal
      result[first + l] = S[l].vector().dot(bracket.vector());
    }
  }
  return result;
}

// Some 13 bodies with arms of up to 4 m; measured worst 9 eps of the largest symbol.
constexpr double kTolerance = 64 * kEps;

double largest(const std::vector<Matrix>& dM) {
  Worst size;
  size.add(1);
  for (const Matrix& m : dM) size.add(max_abs(m));
  return size.value();
}

TEST(Christoffel, OfRatesIsTheCombinationOfDerivativesOfTheMassMatrix) {
  Worst worst;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    for (const bool coupled : {false, true}) {
      testing::RandomTreeOptions options;
      options.joints = 9;
      options.with_couplings = coupled;
      options.types = {JointType::fixed,     JointType::revolute,   JointType::continuous,
                       JointType::prismatic, JointType::helical,    JointType::cylindrical,
                       JointType::universal, JointType::translation};
      const auto model = build_model(testing::random_tree(seed, options), Base::fixed);
      const Sample s = testing::sample_of("", model, seed);
      SCOPED_TRACE(seed);
      const auto dM = mass_matrix_derivatives(model, s.q);
      const auto gamma = symbols(model, s.q);
      const double size = largest(dM);
      const auto d = [&](int i, int j, int k) { return dM[static_cast<std::size_t>(k)](i, j); };
      for (int i = 0; i < gamma.size(); ++i) {
        for (int j = 0; j < gamma.size(); ++j) {
          for (int k = 0; k < gamma.size(); ++k) {
            const double expected = 0.5 * (d(i, j, k) + d(i, k, j) - d(j, k, i));
            const double error = std::abs(gamma(i, j, k) - expected) / size;
            worst.add(error);
            EXPECT_LT(error, kTolerance) << i << " " << j << " " << k;
          }
        }
      }
    }
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value() / kEps));
}

// Definition of the Levi-Civita connection (docs/derivations/christoffel.md): it is compatible with
// the mass matrix, and the two orders of a pair differ by the commutator of its velocities. The two
// properties determine it uniquely, so this is a complete test for all joints.
TEST(Christoffel, OfAllJointsIsMetricCompatibleAndTorsionFree) {
  Worst worst;
  for (const auto& [name, model, q, v, a, tau] : samples(4)) {
    SCOPED_TRACE(name);
    const auto dM = mass_matrix_derivatives(model, q);
    const Matrix M = textbook::featherstone::crba(model, q);
    const auto gamma = symbols(model, q);
    const double size = std::max(largest(dM), max_abs(M));
    for (int j = 0; j < gamma.size(); ++j) {
      for (int k = 0; k < gamma.size(); ++k) {
        const Vector torsion = M * commutator(model, k, j);
        for (int i = 0; i < gamma.size(); ++i) {
          const double metric =
              std::abs(gamma(i, j, k) + gamma(j, i, k) - dM[static_cast<std::size_t>(k)](i, j));
          const double order = std::abs(gamma(i, j, k) - gamma(i, k, j) - torsion[i]);
          EXPECT_LT(metric, kTolerance * size) << i << " " << j << " " << k;
          EXPECT_LT(order, kTolerance * size) << i << " " << j << " " << k;
          worst.add(metric / size, order / size);
        }
      }
    }
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value() / kEps));
}

// The same derivatives of M by central differences, without dual numbers. Error of order step^2 and
// of rounding over the step.
TEST(Christoffel, MatchesDifferencesOfTheMassMatrix) {
  const Sample s = samples(1)[3];
  const auto gamma = symbols(s.model, s.q);
  const int n = gamma.size();
  const double step = 1e-5;
  for (int k = 0; k < n; ++k) {
    const auto at = [&](double t) {
      return textbook::featherstone::crba(
          s.model, testing::integrate_configuration<double>(s.model, s.q, t * Vector::Unit(n, k)));
    };
    const Matrix dM = (at(step) - at(-step)) / (2 * step);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        EXPECT_NEAR(gamma(i, j, k) + gamma(j, i, k), dM(i, j), 1e-8 * (1 + dM.norm()));
      }
    }
  }
}

// A free rigid body: Gamma v v is Euler's w x I w at any pose.
TEST(Christoffel, OfAFreeBodyIsEulersEquation) {
  RobotBuilder<double> builder("brick");
  const Matrix3<double> I = Vector3<double>(0.3, 0.5, 0.7).asDiagonal();
  builder.link("brick", 2.0, {0, 0, 0}, I);
  const Model<double> model = builder.build(Base::free);
  const Sample s = testing::sample_of("", model, 7);
  const auto gamma = symbols(model, s.q);
  Vector found = Vector::Zero(6);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      for (int k = 0; k < 6; ++k) found[i] += gamma(i, j, k) * s.v[j] * s.v[k];
    }
  }
  const Vector3<double> v = s.v.head<3>(), w = s.v.tail<3>();
  const Vector3<double> f = 2.0 * w.cross(v), n = w.cross(I * w);
  // Six products per entry, well scaled; worst seen 1 eps.
  EXPECT_LT((found.head<3>() - f).norm(), 16 * kEps);
  EXPECT_LT((found.tail<3>() - n).norm(), 16 * kEps);
}

// The two matrices recombine the symbols; both orders of a pair share one column.
TEST(Split, SquaresAndProductsContainAllSymbols) {
  for (const auto& [name, model, q, v, a, tau] : samples(3)) {
    SCOPED_TRACE(name);
    const int n = model.nv();
    const auto gamma = symbols(model, q);
    Kinematics<double> kinematics(model);
    forward_kinematics(model, q, kinematics);
    LagrangeScratch<double> scratch(model);
    Matrix squares(n, n), products(n, n * (n - 1) / 2);
    centrifugal_coriolis_split(model, kinematics, scratch, squares, products);
    int column = 0;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        EXPECT_NEAR(squares(i, j), gamma(i, j, j), kTolerance * squares.norm());
      }
      for (int k = j + 1; k < n; ++k, ++column) {
        for (int i = 0; i < n; ++i) {
          EXPECT_NEAR(products(i, column), gamma(i, j, k) + gamma(i, k, j),
                      kTolerance * products.norm());
        }
      }
    }
    // Velocity-dependent torques: the bias without gravity.
    Vector pairs(n * (n - 1) / 2);
    velocity_products<double>(v, pairs);
    const Vector V = squares * v.cwiseAbs2() + products * pairs;
    const Vector rest = Vector::Zero(n);
    const Vector expected = textbook::featherstone::rnea(model, q, v, rest) -
                            textbook::featherstone::rnea(model, q, rest, rest);
    EXPECT_LT((V - expected).norm(), kTolerance * (squares.norm() + products.norm()));
  }
}

TEST(Christoffel, ErrorsNameTheCall) {
  const Sample s = samples(1)[0];
  Kinematics<double> kinematics(s.model);
  LagrangeScratch<double> scratch(s.model);
  ChristoffelTensor<double> gamma(2);
  EXPECT_EQ(message([&] { christoffel(s.model, kinematics, scratch, gamma); }),
            "christoffel: these kinematics are incomplete; call forward_kinematics with q "
            "first");
  forward_kinematics(s.model, s.q, kinematics);
  const std::string n = std::to_string(s.model.nv());
  EXPECT_EQ(message([&] { christoffel(s.model, kinematics, scratch, gamma); }),
            "christoffel: gamma has 2 entries, expected " + n +
                " (a free joint needs 7 numbers in q but 6 in v)");
  Matrix C(2, 3);
  EXPECT_EQ(message([&] { centrifugal_coriolis_split(s.model, kinematics, scratch, C, C); }),
            "centrifugal_coriolis_split: squares is 2 x 3, expected " + n + " x " + n);
}

}  // namespace
}  // namespace limb
