// Inertias, solids and log-Cholesky with packs. Code cannot branch on a pack, so if this file
// compiles, the templates do not branch on values; the tests check that each lane equals the double
// result.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "limb/base/testing/worst.hpp"
#include "limb/math/inertia_solids.hpp"
#include "limb/math/log_cholesky.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/math/testing/scalars.hpp"

namespace limb {
namespace {

using testing::kLanes;
using testing::Pack;
using testing::Random;

/// Every result by name, as a list of numbers.
template <typename T>
using Results = std::vector<std::pair<std::string, std::vector<T>>>;

template <typename Derived>
auto numbers(const Eigen::MatrixBase<Derived>& x) {
  using T = typename Derived::Scalar;
  const Eigen::Matrix<T, Derived::RowsAtCompileTime, Derived::ColsAtCompileTime> plain = x;
  return std::vector<T>(plain.data(), plain.data() + plain.size());
}
template <typename T>
std::vector<T> numbers(const Inertia<T>& I) {
  return numbers(I.matrix());
}

/// Lengths a < b and c, masses m and n, a position p, a rotation vector w.
template <typename T>
struct Inputs {
  T a, b, c, m, n;
  Vector3<T> p, w;
};

template <typename T>
Results<T> solids(const Inputs<T>& x) {
  const Mass<T> mass{x.m};
  const Density<T> density{x.n};
  const Vector3<T> size(x.a, x.b, x.c);
  return {{"box", numbers(box_inertia(mass, size))},
          {"box by density", numbers(box_inertia(density, size))},
          {"hollow cylinder", numbers(hollow_cylinder_inertia(density, x.a, x.b, x.c))},
          {"cylinder", numbers(cylinder_inertia(density, x.a, x.c))},
          {"ellipsoid", numbers(ellipsoid_inertia(density, size))},
          {"sphere", numbers(sphere_inertia(density, x.a))},
          {"hollow sphere", numbers(hollow_sphere_inertia(density, x.a, x.b))},
          {"shell by mass", numbers(spherical_shell_inertia(mass, x.a))},
          {"shell by density", numbers(spherical_shell_inertia(density, x.a, x.b))},
          {"capsule", numbers(capsule_inertia(density, x.a, x.c))},
          {"cone", numbers(cone_inertia(density, x.a, x.c))}};
}

template <typename T>
Results<T> bodies(const Inputs<T>& x) {
  const Pose<T> X{so3::exp(x.w), x.p};
  const Motion<T> V{x.w, x.p};
  const Inertia<T> box = box_inertia(Mass<T>{x.m}, Vector3<T>(x.a, x.b, x.c));
  const Inertia<T> body = box.transformed(X);
  const std::vector<PointMass<T>> points = {{x.m, x.p}, {x.n, x.w}};
  // Near the mass centre: far from it, the shift to the centre loses digits by cancellation.
  const Vector10<T> theta = log_cholesky(box.transformed({X.R, T(0.1) * x.p}));
  return {{"transformed", numbers(body)},
          {"sum", numbers(body + box)},
          {"difference", numbers(body - Inertia<T>::point_mass(x.n, x.p))},
          {"points", numbers(Inertia<T>::from_point_masses(points))},
          {"from origin", numbers(Inertia<T>::from_origin(x.m, x.p, box.tensor()))},
          {"from entries", numbers(tensor_from_entries<T>(x.a, x.b, x.c, x.m, x.n, x.p[0]))},
          {"from products", numbers(tensor_from_products<T>(x.a, x.b, x.c, x.m, x.n, x.p[0]))},
          {"com", numbers(body.com())},
          {"about com", numbers(body.tensor_about_com())},
          {"about a point", numbers(body.tensor_about(x.w))},
          {"rotated", numbers(rotate_tensor<T>(X.R, body.tensor()))},
          {"momentum", numbers((body * V).vector())},
          {"energy", {kinetic_energy(body, V)}},
          {"pseudo", numbers(pseudo_inertia(body))},
          {"from pseudo", numbers(inertia_from_pseudo<T>(pseudo_inertia(body)))},
          {"log-Cholesky", numbers(theta)},
          {"from log-Cholesky", numbers(inertia_from_log_cholesky<T>(theta))}};
}

template <typename Function>
void expect_lanes_equal(const Function& function, unsigned random_seed, double roundings) {
  Random random(random_seed);
  SCOPED_TRACE(random.text());
  std::array<Inputs<double>, kLanes> one;
  Inputs<Pack> packed;
  for (int i = 0; i < kLanes; ++i) {
    one[i].a = packed.a.lane[i] = random.uniform(0.1, 0.4);
    one[i].b = packed.b.lane[i] = random.uniform(0.5, 1);
    one[i].c = packed.c.lane[i] = random.uniform(0.5, 1);
    one[i].m = packed.m.lane[i] = random.uniform(1, 2);
    one[i].n = packed.n.lane[i] = random.uniform(0.1, 0.5);
    one[i].p = random.vector<double>();
    one[i].w = random.vector<double>();
    for (int k = 0; k < 3; ++k) {
      packed.p[k].lane[i] = one[i].p[k];
      packed.w[k].lane[i] = one[i].w[k];
    }
  }
  const auto all = function(packed);
  for (int i = 0; i < kLanes; ++i) {
    const auto expected = function(one[i]);
    ASSERT_EQ(all.size(), expected.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto& [name, lanes] = all[k];
      const std::vector<double>& row = expected[k].second;
      ASSERT_EQ(lanes.size(), row.size()) << name;
      Worst scale;
      for (const double x : row) scale.add(std::abs(x));
      EXPECT_GT(scale.value(), 0) << name;
      const double tolerance = roundings * std::numeric_limits<double>::epsilon() * scale.value();
      for (std::size_t j = 0; j < row.size(); ++j) {
        EXPECT_LE(std::abs(lanes[j].lane[i] - row[j]), tolerance)
            << name << ", lane " << i << ", number " << j;
      }
    }
  }
}

// Products and sums of scalars, in the same order: the same bits.
TEST(InertiaOfPacks, SolidsAreTheSameBitsInEachLane) {
  for (unsigned random_seed = 1; random_seed <= 20; ++random_seed) {
    expect_lanes_equal([](const auto& x) { return solids(x); }, random_seed, 0);
  }
}

// Eigen adds up products of doubles two at a time, and tensors about a centre lose digits to
// cancellation. Worst of 2000 seeds, in eps of the largest number of each
// result: about the mass centre 62, about another point 31, all others below 10.
TEST(InertiaOfPacks, BodiesAreTheSameInEachLane) {
  for (unsigned random_seed = 1; random_seed <= 20; ++random_seed) {
    expect_lanes_equal([](const auto& x) { return bodies(x); }, random_seed, 64);
  }
}

}  // namespace
}  // namespace limb
