#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "limb/dynamics/derivatives/seeds.hpp"
#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/testing/sample.hpp"

/// Quantities of a robot and their derivatives along directions of its state: by Dual, by
/// ComplexStep, and by finite differences of the Robot facade in double.
namespace limb::testing {

/// A state with accelerations and joint torques.
template <typename S>
struct Inputs {
  VectorX<S> q, v, a, tau;
};

/// Named vectors of results.
template <typename S>
struct Record {
  std::vector<std::string> names;
  std::vector<VectorX<S>> numbers;

  template <typename Derived>
  void add(std::string name, const Eigen::MatrixBase<Derived>& m) {
    const MatrixX<S> whole = m;
    names.push_back(std::move(name));
    numbers.push_back(Eigen::Map<const VectorX<S>>(whole.data(), whole.size()));
  }
  void add(std::string name, const S& x) { add(std::move(name), VectorX<S>::Constant(1, x)); }
  void add(std::string name, const Motion<S>& V) { add(std::move(name), V.vector()); }
  void add(std::string name, const Force<S>& F) { add(std::move(name), F.vector()); }
};

/// Random directions for q, v, a and tau, stacked; one per column.
inline MatrixX<double> directions(int n, int count, unsigned seed) {
  Random random(seed);
  MatrixX<double> D(4 * n, count);
  for (int k = 0; k < count; ++k) D.col(k) = random_numbers(random, 4 * n);
  return D;
}

template <typename S>
Inputs<S> seeded(const Model<S>& model, const Sample& s, const MatrixX<double>& D) {
  const int n = model.nv();
  Inputs<S> x{VectorX<S>(s.q.size()), VectorX<S>(n), VectorX<S>(n), VectorX<S>(n)};
  VectorX<S> step(n);
  seed_position<S>(model, s.q, D.topRows(n), step, x.q);
  seed<S>(s.v, D.middleRows(n, n), x.v);
  seed<S>(s.a, D.middleRows(2 * n, n), x.a);
  seed<S>(s.tau, D.bottomRows(n), x.tau);
  return x;
}

inline Inputs<double> moved(const Robot& robot, const Sample& s, const MatrixX<double>& D,
                            double t) {
  const int n = robot.model().nv();
  const VectorX<double> d = t * D.col(0);
  Robot at = robot;
  at.set_position(s.q);
  return {at.integrate(d.head(n)), s.v + d.segment(n, n), s.a + d.segment(2 * n, n),
          s.tau + d.tail(n)};
}

template <typename S>
VectorX<double> values(const VectorX<S>& x) {
  return x.unaryExpr([](const S& entry) {
    if constexpr (requires { entry.real; }) {
      return entry.real;
    } else {
      return entry.value;
    }
  });
}
template <typename S>
VectorX<double> tangents(const VectorX<S>& x, int k) {
  return x.unaryExpr([k](const S& entry) { return tangent_of(entry, k); });
}

struct DirectionalTolerances {
  double value, scalars, difference;  ///< relative to the norm of the expected value, or to 1
  double step;                        ///< of the finite differences
};

/// Compares compute(model, inputs) for both scalars with facade(robot, inputs): values, derivatives
/// by finite differences, and the two scalars with each other along two directions.
template <typename Compute, typename Facade>
void expect_same_derivatives(const Sample& s, unsigned seed, const DirectionalTolerances& limits,
                             const Compute& compute, const Facade& facade) {
  using Two = Dual<double, 2>;
  using Complex = ComplexStep<double>;
  SCOPED_TRACE(s.name);
  const MatrixX<double> D = directions(s.model.nv(), 2, seed);
  const Model<Two> two = s.model.cast<Two>();
  const Model<Complex> complex = s.model.cast<Complex>();
  const Record<Two> dual = compute(two, seeded<Two>(two, s, D));
  const Record<Complex> first = compute(complex, seeded<Complex>(complex, s, D.leftCols(1)));
  const Record<Complex> second = compute(complex, seeded<Complex>(complex, s, D.rightCols(1)));
  const Robot robot(s.model);
  const Record<double> here = facade(robot, moved(robot, s, D, 0));
  const Record<double> after = facade(robot, moved(robot, s, D, limits.step));
  const Record<double> before = facade(robot, moved(robot, s, D, -limits.step));
  ASSERT_EQ(dual.names, here.names);
  const auto relative = [](const VectorX<double>& x, const VectorX<double>& y) {
    return (x - y).norm() / std::max(1.0, double(y.norm()));
  };
  for (std::size_t i = 0; i < here.names.size(); ++i) {
    SCOPED_TRACE(here.names[i]);
    ASSERT_EQ(dual.numbers[i].size(), here.numbers[i].size());
    EXPECT_LT(relative(values(dual.numbers[i]), here.numbers[i]), limits.value);
    EXPECT_LT(relative(values(first.numbers[i]), here.numbers[i]), limits.value);
    const VectorX<double> along = tangents(dual.numbers[i], 0);
    EXPECT_LT(relative(tangents(first.numbers[i], 0), along), limits.scalars);
    EXPECT_LT(relative(tangents(second.numbers[i], 0), tangents(dual.numbers[i], 1)),
              limits.scalars);
    EXPECT_LT(relative((after.numbers[i] - before.numbers[i]) / (2 * limits.step), along),
              limits.difference);
  }
}

}  // namespace limb::testing
