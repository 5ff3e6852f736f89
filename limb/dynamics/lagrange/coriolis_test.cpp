// The Coriolis matrix: C v is the bias without gravity, dM/dt - 2 C is skew, and C follows from the
// Christoffel symbols.
#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/lagrange/christoffel_impl.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/textbook/featherstone.hpp"
#include "limb/dynamics/textbook/lagrange_impl.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/scalars.hpp"
#include "limb/model/core/build_model_impl.hpp"

namespace limb {
namespace {

using testing::Dual;
using testing::message;
using testing::Sample;
using testing::samples;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();
// Some 13 bodies with arms of up to 4 m; measured worst 25 eps of the norm of C.
constexpr double kTolerance = 128 * kEps;

template <typename T>
MatrixX<T> coriolis(const Model<T>& model, const VectorX<T>& q, const VectorX<T>& v) {
  Kinematics<T> kinematics(model);
  forward_kinematics<T>(model, q, v, kinematics);
  LagrangeScratch<T> scratch(model);
  MatrixX<T> C(model.nv(), model.nv());
  coriolis_matrix<T>(model, kinematics, scratch, C);
  return C;
}

TEST(CoriolisMatrix, TimesVelocityIsBiasWithoutGravity) {
  Worst worst;
  for (const auto& [name, model, q, v, a, tau] : samples(10)) {
    SCOPED_TRACE(name);
    const Matrix C = coriolis<double>(model, q, v);
    const Vector rest = Vector::Zero(v.size());
    const Vector expected = textbook::featherstone::rnea(model, q, v, rest) -
                            textbook::featherstone::rnea(model, q, rest, rest);
    const double error = (C * v - expected).norm() / (1 + C.norm() * v.norm());
    EXPECT_LT(error, kTolerance);
    worst.add(error);
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value() / kEps));
}

TEST(CoriolisMatrix, MassMatrixRateMinusTwiceItIsSkew) {
  Worst worst;
  for (const auto& [name, model, q, v, a, tau] : samples(10)) {
    SCOPED_TRACE(name);
    const Matrix C = coriolis<double>(model, q, v);
    const Model<Dual> dual_model = model.cast<Dual>();
    const VectorX<Dual> q_dual = testing::integrate_configuration<Dual>(
        dual_model, q.cast<Dual>(), testing::dual<-1, 1>(Vector::Zero(v.size()), v));
    const Matrix dM =
        testing::derivative<-1, -1>(textbook::lagrange::mass_matrix(dual_model, q_dual));
    const Matrix N = dM - 2 * C;
    const double error = (N + N.transpose()).norm() / (1 + C.norm());
    EXPECT_LT(error, kTolerance);
    worst.add(error);
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value() / kEps));
}

TEST(CoriolisMatrix, IsTheOneOfTheChristoffelSymbols) {
  Worst worst;
  for (const auto& [name, model, q, v, a, tau] : samples(10)) {
    SCOPED_TRACE(name);
    const int n = model.nv();
    Kinematics<double> kinematics(model);
    forward_kinematics(model, q, kinematics);
    LagrangeScratch<double> scratch(model);
    ChristoffelTensor<double> gamma(n);
    christoffel(model, kinematics, scratch, gamma);
    Matrix expected = Matrix::Zero(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int k = 0; k < n; ++k) expected(i, j) += gamma(i, j, k) * v[k];
      }
    }
    const double error = (coriolis<double>(model, q, v) - expected).norm() / (1 + expected.norm());
    EXPECT_LT(error, kTolerance);
    worst.add(error);
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value() / kEps));
}

// A robot a kilometre away has the same matrix. The rounding of its poses is eps times the
// distance, over arms of some decimetres: 1e4.
TEST(CoriolisMatrix, DoesNotDependOnWhereTheRobotIs) {
  const Sample s = samples(1)[2];
  Vector far = s.q;
  far.head<3>() += Vector3<double>(1000, -1000, 500);
  const Matrix C = coriolis<double>(s.model, s.q, s.v);
  EXPECT_LT((coriolis<double>(s.model, far, s.v) - C).norm(), 1e4 * kTolerance * C.norm());
}

// dC/dt along the motion by dual numbers, against a central difference: error of order
// step^2 = 1e-10 and of rounding over the step.
TEST(CoriolisMatrix, DualNumbersPassThrough) {
  for (const auto& [name, model, q, v, a, tau] : samples(1)) {
    SCOPED_TRACE(name);
    const Model<Dual> dual_model = model.cast<Dual>();
    const VectorX<Dual> q_dual = testing::integrate_configuration<Dual>(
        dual_model, q.cast<Dual>(), testing::dual<-1, 1>(Vector::Zero(v.size()), v));
    const Matrix found =
        testing::derivative<-1, -1>(coriolis<Dual>(dual_model, q_dual, testing::dual<-1, 1>(v, a)));
    const double step = 1e-5;
    const auto at = [&, &model = model, &q = q, &v = v, &a = a](double t) {
      const Vector moved = testing::integrate_configuration<double>(model, q, t * v);
      return coriolis<double>(model, moved, v + t * a);
    };
    const Matrix expected = (at(step) - at(-step)) / (2 * step);
    EXPECT_LT((found - expected).norm(), 1e-8 * (1 + expected.norm()));
  }
}

TEST(CoriolisMatrix, ErrorsNameTheCall) {
  const Sample s = samples(1)[0];
  Kinematics<double> kinematics(s.model);
  LagrangeScratch<double> scratch(s.model);
  Matrix C(2, 2);
  forward_kinematics(s.model, s.q, kinematics);
  EXPECT_EQ(message([&] { coriolis_matrix(s.model, kinematics, scratch, C); }),
            "coriolis_matrix: these kinematics are incomplete; call forward_kinematics with q "
            "and v first");
  forward_kinematics(s.model, s.q, s.v, kinematics);
  const std::string n = std::to_string(s.model.nv());
  EXPECT_EQ(message([&] { coriolis_matrix(s.model, kinematics, scratch, C); }),
            "coriolis_matrix: C is 2 x 2, expected " + n + " x " + n);
}

}  // namespace
}  // namespace limb
